//! The parts of the screen that are always there.

pub mod composer;
pub mod content;
pub mod header;
pub mod status;
