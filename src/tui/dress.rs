//! How the screen looks and speaks: colours, texts, keys. Changed by settings and by what the terminal says of itself, never while a frame is drawn.

use crate::strings::Strings;
use crate::tui::keymap::Keymap;
use crate::tui::look::Look;
use crate::tui::theme::Theme;
use std::time::Instant;

/// The look, owned.
#[derive(Debug, Default)]
pub struct Dress {
    /// Colours.
    pub theme: Theme,
    /// Texts.
    pub strings: Strings,
    /// Keys.
    pub keymap: Keymap,
    /// ASCII only.
    pub ascii: bool,
    /// Whether things may move.
    pub animate: bool,
    /// The terminal tells Shift-Enter from Enter.
    pub shift_enter: bool,
}

impl Dress {
    /// The look of a frame.
    pub fn look(&self, now: Instant) -> Look<'_> {
        Look {
            theme: &self.theme,
            strings: &self.strings,
            keymap: &self.keymap,
            now,
            ascii: self.ascii,
            animate: self.animate,
            shift_enter: self.shift_enter,
        }
    }
}
