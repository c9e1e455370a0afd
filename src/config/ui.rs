//! Settings of the screen, as plain types that `tui` may import.
//!
//! Owns nothing but the types. What they mean on screen is `tui`'s; where they come from is `settings`'.

use crate::strings::Language;

/// How the panes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// By the size of the terminal.
    #[default]
    Auto,
    /// Side by side.
    Split,
    /// One at a time.
    Stack,
    /// All kinds in order in one pane.
    Timeline,
}

impl Layout {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("split", Self::Split), ("stack", Self::Stack), ("timeline", Self::Timeline)];

    /// The name in settings and flags.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, layout)| *layout == self).map_or("auto", |(name, _)| *name)
    }
}

/// How wide the terminal draws characters such as ● ℃ →.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AmbiguousWidth {
    /// By language and terminal.
    #[default]
    Auto,
    /// One column.
    One,
    /// Two columns.
    Two,
}

/// Which notices the user wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notices {
    /// The welcome when nothing is configured.
    pub welcome: bool,
    /// A configuration file changed.
    pub file_changes: bool,
    /// A server's tools changed.
    pub tool_changes: bool,
}

impl Default for Notices {
    fn default() -> Self {
        Self { welcome: true, file_changes: true, tool_changes: true }
    }
}

/// Settings of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ui {
    /// Language of the interface.
    pub lang: Language,
    /// `auto`, or the name of a theme.
    pub theme: String,
    /// How the panes stand.
    pub layout: Layout,
    /// Width of ambiguous characters.
    pub ambiguous_width: AmbiguousWidth,
    /// Whether the mouse is taken from the terminal.
    pub mouse: bool,
    /// How long a lone `Esc` byte is held, milliseconds.
    pub esc_hold_ms: u64,
    /// Normal screen, no animation, no borders.
    pub accessible: bool,
    /// Which notices are shown.
    pub notices: Notices,
}

impl Default for Ui {
    fn default() -> Self {
        Self {
            lang: Language::En,
            theme: "auto".to_owned(),
            layout: Layout::Auto,
            ambiguous_width: AmbiguousWidth::Auto,
            mouse: false,
            esc_hold_ms: 50,
            accessible: false,
            notices: Notices::default(),
        }
    }
}

/// What the environment says about the terminal and the programs beside it. `NO_COLOR`: <https://no-color.org>.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// `TERM`.
    pub term: String,
    /// `NO_COLOR` is there and not empty.
    pub no_color: bool,
    /// `COLORTERM` says 24 bits.
    pub truecolor: bool,
    /// `TERM=dumb`.
    pub dumb: bool,
    /// Inside tmux.
    pub tmux: bool,
    /// Over SSH.
    pub ssh: bool,
    /// `VISUAL`, else `EDITOR`.
    pub editor: Option<String>,
    /// `BROWSER`.
    pub browser: Option<String>,
}
