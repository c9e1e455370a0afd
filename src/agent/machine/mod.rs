//! The pure machine: `handle(Input) -> Vec<Effect>`. No async, no clock, no IO.
