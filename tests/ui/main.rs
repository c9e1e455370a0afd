//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

mod focus;
mod script;
mod stage;
