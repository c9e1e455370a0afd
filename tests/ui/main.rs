//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

mod prompt_calls;
mod prompt_forms;
mod prompt_kit;
mod prompt_queue;
mod prompt_random;
mod prompt_screens;
mod script;
mod stage;
