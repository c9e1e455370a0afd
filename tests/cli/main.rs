//! The commands without a screen: the real program, real files in homes of their own, the fixture server.

// All of this is test code, not only what stands in `#[test]` functions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod call;
mod doctor;
mod import;
#[allow(dead_code, unused_imports, reason = "the rig of the end-to-end tests; not all of it is needed here")]
#[path = "../e2e/rig/mod.rs"]
mod rig;
mod servers;
mod stage;
