//! The program on screen, without a terminal: headless `Ui`, pressed keys, snapshots.

mod cells;
mod gallery;
mod markdown;
mod sheet;
mod wide;
