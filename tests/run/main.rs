//! `mcpane run` and what belongs to it: the real binary without a terminal, a local model server, real MCP server processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod ends;
mod leave;
mod outputs;
mod rig;
mod sessions;
mod status;
