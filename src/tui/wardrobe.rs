//! The themes there are, and which one is worn.

use crate::domain::{Notice, Phrase};
use crate::tui::theme::Theme;

/// The themes.
#[derive(Debug, Default)]
pub struct Wardrobe {
    current: String,
}

impl Wardrobe {
    /// Names of all themes.
    pub fn names(&self) -> Vec<String> {
        vec!["auto".to_owned()]
    }

    /// The one that was chosen.
    pub fn current(&self) -> &str {
        &self.current
    }

    /// Puts on a theme by its name.
    pub fn wear(&mut self, name: &str, theme: &mut Theme) -> Result<(), Notice> {
        if !self.names().iter().any(|known| known == name) {
            return Err(Notice::warning(Phrase::new("pane.unknown_value").with("value", name)));
        }
        name.clone_into(&mut self.current);
        *theme = Theme::default();
        Ok(())
    }

    /// The terminal's background is this: `auto` follows it.
    pub fn background(&mut self, _rgb: (u8, u8, u8), _theme: &mut Theme) {}
}
