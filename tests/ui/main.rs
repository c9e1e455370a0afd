//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

mod script;
mod stage;
