//! The MCP client against real server processes: the fixture server with its faults always, pinned public servers when `MCPANE_LIVE=1`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asks;
mod calls;
mod demo;
mod faults;
mod lifecycle;
mod live;
mod processes;
mod rig;
mod tools;
