//! The real binary in a PTY, with a local model server and real MCP server processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod calls;
mod crash;
mod dead;
mod forms;
mod hostile;
mod manners;
mod remote;
mod replay;
mod rig;
mod screens;
mod start;
mod tour;
mod trust;
mod wires;

// `support/speech.rs` stands beside it everywhere.
use rig::sse_model;
