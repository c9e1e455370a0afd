//! From the terminal's bytes to keys: a reader thread, a pure parser, a pure guess about pastes.
//!
//! We read the terminal ourselves because the answers to our own queries (background colour, keyboard protocol) arrive among the keys and must not be
//! typed into the composer, and because a lone `Esc` byte has to be told from the beginning of a sequence with a time limit that the user can set.
//!
//! **Invariants:** no typed key is lost; how the bytes are cut into reads changes nothing but the moment; an unknown sequence is swallowed whole.

pub mod burst;
mod csi;
pub mod parser;
pub mod pump;
pub mod reader;

use crossterm::event::KeyEvent;

pub use burst::Burst;
pub use parser::{Parser, Wait};
pub use pump::Pump;
pub use reader::{Read, Reader};

/// Something the terminal sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A key.
    Key(KeyEvent),
    /// Pasted text; line ends are `\n`.
    Paste(String),
    /// The terminal has the focus again.
    Focused,
    /// The terminal lost the focus.
    Unfocused,
    /// The answer to a query of ours.
    Answer(Answer),
}

/// What the terminal says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Its background: red, green, blue.
    Background(u8, u8, u8),
    /// It speaks the kitty keyboard protocol; these enhancements are on.
    Keyboard(u32),
    /// It shows a frame at once (mode 2026 is known).
    Synchronizes,
    /// It draws a grapheme cluster as one (mode 2027 is on).
    Joins,
    /// What it is (DA1). The last answer of those that we ask for: what was not answered before it never will be.
    Attributes,
}
