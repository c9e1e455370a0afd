//! The agent: a pure machine, and the driver that performs its effects.

pub mod journal;
pub mod machine;
