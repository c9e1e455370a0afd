//! The full-screen program.
//!
//! One owner ([`ui`](self)) holds the panes as plain fields; overlays stand on a stack. **Boundary:** imports only `contract`, `domain`, `strings`
//! and the settings types of `config`; nothing of the agent.

pub mod cell;
pub mod command;
pub mod facts;
pub mod focus;
pub mod frame;
pub mod input;
pub mod keymap;
pub mod layout;
pub mod look;
pub mod outcome;
pub mod prompt;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod transcript;
pub mod widget;
