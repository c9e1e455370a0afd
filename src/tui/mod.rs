//! The full-screen program.
//!
//! One owner ([`ui`](self)) holds the panes as plain fields; overlays stand on a stack. **Boundary:** imports only `contract`, `domain`, `strings`
//! and the settings types of `config`; nothing of the agent.

pub mod about;
pub mod activity;
pub mod cell;
pub mod clipboard;
pub mod command;
pub mod commands;
pub mod draft;
pub mod dress;
pub mod encode;
pub mod facts;
pub mod farewell;
pub mod focus;
pub mod frame;
pub mod harness;
pub mod hints;
pub mod history;
pub mod host;
pub mod input;
pub mod keymap;
pub mod layer;
pub mod layout;
pub mod leaving;
pub mod look;
mod maybe;
pub mod msg;
pub mod outbox;
pub mod outcome;
pub mod pane;
pub mod panes;
pub mod playback;
pub mod project;
pub mod prompt;
pub mod run;
pub mod scene;
pub mod settings;
pub mod setup;
pub mod signals;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod transcript;
pub mod ui;
pub mod wardrobe;
pub mod widget;
