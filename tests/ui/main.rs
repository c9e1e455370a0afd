//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cells;
mod focus;
mod gallery;
mod keys;
mod markdown;
mod prompt_calls;
mod prompt_forms;
mod prompt_kit;
mod prompt_queue;
mod prompt_random;
mod prompt_screens;
mod pty;
mod script;
mod sheet;
mod stage;
mod states;
mod wide;
