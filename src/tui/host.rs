//! What the screen cannot do itself: start the user's editor and browser, write the user's configuration. Whoever starts it brings it along.

use crate::domain::Phrase;
use crate::tui::outcome::Remember;

/// The world outside of the screen. Its methods may block; they are called off the drawing thread.
pub trait Host: Send + Sync {
    /// Lets the user edit a text; the terminal is free meanwhile. The edited text, or what went wrong.
    fn edit(&self, text: &str, extension: &str) -> Result<String, Phrase>;
    /// Opens a URL in the user's browser.
    fn open_url(&self, url: &str) -> Result<(), Phrase>;
    /// Writes a choice to the user's configuration. What to tell the user, either way.
    fn remember(&self, what: &Remember) -> Result<Phrase, Phrase>;
}
