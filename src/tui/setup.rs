//! What the loop is given, and what it answers.

use crate::contract::{Event, Op};
use crate::domain::Notice;
use crate::strings::Strings;
use crate::tui::clipboard::Through;
use crate::tui::host::Host;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Found;
use crate::tui::settings::Settings;
use crate::tui::wardrobe::Wardrobe;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Everything the screen needs.
pub struct Setup {
    /// To the agent; of size 64.
    pub ops: mpsc::Sender<Op>,
    /// From the agent; of size 1024.
    pub events: mpsc::Receiver<Event>,
    /// Settings.
    pub settings: Settings,
    /// Texts.
    pub strings: Strings,
    /// Keys.
    pub keymap: Keymap,
    /// Themes.
    pub wardrobe: Wardrobe,
    /// What the user should read first: warnings of the loaders.
    pub notices: Vec<Notice>,
    /// A task to send at once.
    pub prompt: Option<String>,
    /// File of what was sent before.
    pub history: Option<PathBuf>,
    /// File that copied texts are written to beside the clipboard.
    pub copies: Option<PathBuf>,
    /// What lies between us and the terminal.
    pub through: Through,
    /// Editor, browser, configuration.
    pub host: Arc<dyn Host>,
    /// Nothing is configured: show the welcome, and fill it from here.
    pub found: Option<mpsc::Receiver<Found>>,
}

/// Why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The user left.
    Quit,
    /// A signal said so: its number.
    Signal(i32),
    /// The terminal is gone.
    Hangup,
}
