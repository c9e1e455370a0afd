//! Wire formats and dialects against recorded streams.

// Helpers of tests are tests; clippy sees tests only inside `#[test]`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../support/sse_model.rs"]
mod sse_model;

mod anthropic;
mod dialect_native;
mod dialect_recordings;
mod dialect_request;
mod dialect_support;
mod dialect_xml;
mod formats;
mod gemini;
mod hints;
mod ollama;
mod openai_chat;
mod openai_responses;
mod request;
mod samples;
mod tls;
mod transport;
