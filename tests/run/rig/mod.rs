//! The real program without a terminal, with a place of its own. What it shares with the tests on a terminal is taken from there.

// Parts of it are for those tests alone.
#![allow(dead_code)]

#[path = "../../support/sse_model.rs"]
pub mod sse_model;

#[path = "../../e2e/rig/model.rs"]
pub mod model;
#[path = "../../e2e/rig/place.rs"]
pub mod place;
#[path = "../../e2e/rig/procs.rs"]
pub mod procs;
pub mod program;

pub use model::{Model, Reply};
pub use place::Place;
pub use program::{Launch, Ran};

use std::time::Duration;

/// How long anything may take before a test fails.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// Milliseconds.
pub const fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Arguments of a task for this model, with more before it.
pub fn task<'a>(model: &'a str, more: &[&'a str], task: &'a str) -> Vec<&'a str> {
    let mut args = vec!["run", "-m", "test-model", "--base-url", model];
    args.extend(more);
    if !task.is_empty() {
        args.extend(["--", task]);
    }
    args
}
