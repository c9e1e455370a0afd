//! JSON Schema, as far as a host needs it.
//!
//! Owns: making a form of a schema ([`form::form`]), checking arguments against a schema ([`validate`]), the hash of a tool's definition
//! ([`hash::definition_hash`]), lowering a schema to what a provider accepts ([`lower`]). Does not: fetch anything — a `$ref` to another document is never followed — or draw, or ask.
//! **Invariant:** schemas come from servers and are hostile until shown otherwise. Whatever they say, nothing here panics, recurses without a
//! limit or runs for long; what could not be understood is reported, never guessed.

pub mod form;
pub mod hash;
pub mod lower;
mod prepare;
mod problem;
pub mod validate;
mod view;

pub use form::form;
pub use hash::definition_hash;
pub use lower::lower;
pub use validate::{Problem, Validator, Validators};
