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

use ratatui::style::{Color, Style};

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

    /// A theme in which a style says which role it is: for tests, with [`Theme::role_of`]. Foreground and background both say it.
    pub fn probe() -> Self {
        let mut theme = Self::default();
        for role in Role::ALL {
            let code = Color::Indexed(*role as u8);
            theme.set(*role, Style::new().fg(code).bg(code));
        }
        theme
    }

    /// The role that a colour of the probe stands for.
    pub fn role_of(colour: Color) -> Option<Role> {
        match colour {
            Color::Indexed(index) => Role::ALL.get(usize::from(index)).copied(),
            _ => None,
        }
    }

    fn set(&mut self, role: Role, style: Style) {
        self.styles[role as usize] = style;
    }
}
