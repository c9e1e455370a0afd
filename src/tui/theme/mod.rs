//! Colours, as data. The only place that knows any.
//!
//! A row says what a piece of text *is* ([`Role`]); the theme says how that looks. Themes are files (`themes/*.toml` built in, the user's own beside
//! the configuration), fitted to what the terminal can show when they are loaded. **Invariant:** no theme is needed to understand the screen: with
//! no colours at all every mark and word is still there.

mod colour;
mod library;
mod role;

pub use colour::Depth;
pub use library::{Library, Terminal};
pub use role::{Paint, ROLES, Role};

use ratatui::style::Style;

/// How every role looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    styles: [Style; ROLES],
}

impl Default for Theme {
    /// Everything in the terminal's own colours.
    fn default() -> Self {
        Self { styles: [Style::new(); ROLES] }
    }
}

impl Theme {
    /// How a paint looks.
    pub fn style(&self, paint: impl Into<Paint>) -> Style {
        let paint = paint.into();
        self.styles[paint.role as usize].add_modifier(paint.emphasis)
    }

    fn set(&mut self, role: Role, style: Style) {
        self.styles[role as usize] = style;
    }
}
