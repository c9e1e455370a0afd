//! What the screen takes from the configuration, as plain values. Whoever starts it fills them in.

use crate::contract::ModelInfo;
use crate::tui::layout::Mode;
use crate::tui::ui::Dump;
use std::time::Duration;

/// Something that a test breaks on purpose, to see what becomes of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Drawing everything anew panics.
    Redraw,
}

/// Settings of the screen.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How the panes stand.
    pub layout: Mode,
    /// `auto`, or the name of a theme.
    pub theme: String,
    /// ASCII instead of lines and symbols.
    pub ascii: bool,
    /// Ambiguous characters are drawn two columns wide.
    pub ambiguous_wide: bool,
    /// How long a lone `Esc` byte is held.
    pub escape: Duration,
    /// Whether the transcript is written to the normal screen on leaving.
    pub dump: Dump,
    /// The working directory, for the header before the agent speaks.
    pub cwd: String,
    /// The user's home.
    pub home: String,
    /// The model that is configured, for the header before the agent speaks.
    pub model: ModelInfo,
    /// What is broken on purpose; debug builds only.
    pub fault: Fault,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            layout: Mode::Auto,
            theme: "auto".to_owned(),
            ascii: false,
            ambiguous_wide: false,
            escape: Duration::from_millis(50),
            dump: Dump::Off,
            cwd: String::new(),
            home: String::new(),
            model: ModelInfo::default(),
            fault: Fault::None,
        }
    }
}
