//! The agent: a pure machine, and the driver that performs its effects.

pub mod journal;
pub mod machine;
pub mod outlet;
pub mod stream;
pub mod surroundings;
pub mod timers;
