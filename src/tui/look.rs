//! What drawing needs to know, handed down by the owner of the screen. Nothing here is changed while a frame is drawn.

use crate::strings::Strings;
use crate::tui::keymap::Keymap;
use crate::tui::text::{Glyphs, Signs};
use crate::tui::theme::Theme;
use std::time::Instant;

/// The look of a frame.
pub struct Look<'a> {
    /// Colours.
    pub theme: &'a Theme,
    /// Texts.
    pub strings: &'a Strings,
    /// Keys, to name them in hints.
    pub keymap: &'a Keymap,
    /// Time of the frame, for countdowns and elapsed times. The program's suspended time is not in it.
    pub now: Instant,
    /// Draw with ASCII only: `+--+` instead of lines, words instead of symbols.
    pub ascii: bool,
    /// Whether things may move (spinners). Off in accessible mode.
    pub animate: bool,
    /// The terminal reports Shift-Enter (kitty keyboard protocol is on), so it may be hinted.
    pub shift_enter: bool,
}

impl Look<'_> {
    /// The signs to draw with.
    pub fn glyphs(&self) -> &'static Glyphs {
        Signs::of(self).glyphs()
    }
}
