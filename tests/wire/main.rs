//! Wire formats and dialects against recorded streams.

mod dialect_native;
mod dialect_recordings;
mod dialect_request;
mod dialect_support;
mod dialect_xml;
