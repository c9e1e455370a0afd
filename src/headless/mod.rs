//! The agent without a screen: `mcpane run`, and recordings.
//!
//! Owns: the loop that stands where a screen would stand ([`run`]), what is answered when nobody is there to ask ([`stand_in`], [`answers`]), what became of
//! the task ([`course`]), what is printed of it ([`output`]), recordings and their playback ([`record`], [`playback`]).
//! Does not: make an agent, read settings or the command line, draw. It is one more consumer of [`crate::contract`], so everything that holds for the
//! screen holds here: the same policy, the same journal, the same servers.
//!
//! **Invariants:** nothing runs that would ask, unless the user said so beforehand. Standard output holds the answer (or the events) and nothing else. Text
//! of models and servers reaches a terminal only sanitized, and known secrets reach neither stream.

pub mod answers;
pub mod course;
pub mod output;
pub mod playback;
mod progress;
pub mod record;
pub mod run;
mod sink;
pub mod stand_in;
mod stop;
mod story;
pub mod tale;

pub use answers::Answers;
pub use course::{Course, End};
pub use output::Output;
pub use run::{Job, run};
pub use stand_in::{Approve, Elicit, StandIn};
