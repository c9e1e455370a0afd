//! Small parts that panes, prompts and layers are built of. None of them knows what it is used for.

pub mod input;

pub use input::{Input, Typed};
