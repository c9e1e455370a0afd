//! JSON Schema: to a form, validation (never the network), lowering for providers.
