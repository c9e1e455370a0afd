//! The real driver with a scripted provider and real tools: what goes out, what comes back.

// Helpers of tests are tests; clippy sees tests only inside `#[test]`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../support/sse_model.rs"]
mod sse_model;

mod rig;
mod tour;
