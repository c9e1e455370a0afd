//! The real program in a pseudo terminal, with a place of its own: home, working directory, servers, processes.

#[path = "../../support/speech.rs"]
pub mod speech;
#[path = "../../support/sse_model.rs"]
pub mod sse_model;

pub mod keys;
pub mod model;
pub mod place;
pub mod procs;
pub mod program;
pub mod screen;
pub mod terminal;

pub use model::{Model, Reply};
pub use place::Place;
pub use program::{Launch, Program};
pub use terminal::Terminal;

use std::time::Duration;

/// How long anything may take before a test fails. Nothing waits that long when it works.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// Milliseconds.
pub const fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}
