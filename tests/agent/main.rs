//! The real driver with a scripted provider and real tools: what goes out, what comes back.

// Helpers of tests are tests; clippy sees tests only inside `#[test]`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../support/fixture.rs"]
mod fixture;
#[path = "../support/speech.rs"]
mod speech;
#[path = "../support/sse_model.rs"]
mod sse_model;

mod body;
mod calls;
mod edits;
mod elicitation;
mod limits;
mod offices;
mod plain;
mod random;
mod recorded_native;
mod recorded_xml;
mod retries;
mod rig;
mod servers;
mod sessions;
mod stops;
mod tour;
mod wires;
