//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod focus;
mod keys;
mod pty;
mod script;
mod stage;
mod states;
