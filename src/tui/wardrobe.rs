//! The themes there are, which one is worn, and what is known of the terminal that must show it.

use crate::domain::Notice;
use crate::tui::theme::{Depth, Library, Terminal, Theme};

/// `auto`: the theme that goes with the terminal's background.
pub const AUTO: &str = "auto";

/// How many colours a terminal shows, by `TERM`, `COLORTERM` and whether `NO_COLOR` is set and not empty (no-color.org).
pub fn depth(term: &str, colorterm: &str, no_color: Option<&str>) -> Depth {
    match (term, colorterm) {
        _ if no_color.is_some_and(|value| !value.is_empty()) => Depth::None,
        ("dumb", _) => Depth::None,
        (_, "truecolor" | "24bit") => Depth::True,
        (term, _)
            if ["direct", "kitty", "ghostty", "alacritty", "wezterm", "foot"].iter().any(|t| term.contains(t)) =>
        {
            Depth::True
        }
        (term, _) if term.contains("256") => Depth::Indexed,
        _ => Depth::Ansi,
    }
}

/// The themes.
#[derive(Debug, Clone, Default)]
pub struct Wardrobe {
    library: Library,
    terminal: Terminal,
    current: String,
}

impl Wardrobe {
    /// The themes of a library, for a terminal with so many colours.
    pub fn new(library: Library, depth: Depth) -> Self {
        Self { library, terminal: Terminal { depth, background: None }, current: AUTO.to_owned() }
    }

    /// Names of all themes, `auto` first. Reads the directory of the user's own.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![AUTO.to_owned()];
        names.extend(self.library.names());
        names
    }

    /// The one that was chosen.
    pub fn current(&self) -> &str {
        &self.current
    }

    /// Puts on a theme by its name; says what was wrong with it.
    pub fn wear(&mut self, name: &str, theme: &mut Theme) -> Vec<Notice> {
        let (loaded, problems) = self.library.load(name, self.terminal);
        name.clone_into(&mut self.current);
        *theme = loaded;
        problems
    }

    /// The terminal's background is this: the theme that is worn is fitted to it. Its problems have been said.
    pub fn background(&mut self, rgb: (u8, u8, u8), theme: &mut Theme) {
        self.terminal.background = Some(rgb);
        let name = self.current.clone();
        self.wear(&name, theme);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_by_the_environment() {
        assert_eq!(depth("xterm-256color", "truecolor", None), Depth::True);
        assert_eq!(depth("xterm-256color", "truecolor", Some("1")), Depth::None);
        assert_eq!(depth("xterm-256color", "", Some("")), Depth::Indexed);
        assert_eq!(depth("xterm-kitty", "", None), Depth::True);
        assert_eq!(depth("linux", "", None), Depth::Ansi);
        assert_eq!(depth("dumb", "", None), Depth::None);
    }
}
