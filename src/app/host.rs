//! What the screen asks of the world: editor, browser, settings file.

use crate::config::write;
use crate::desktop;
use crate::domain::Phrase;
use crate::tui::host::Host;
use crate::tui::outcome::Remember;
use std::path::PathBuf;

/// See the module.
pub struct Desk {
    /// `VISUAL` or `EDITOR`.
    pub editor: Option<String>,
    /// `BROWSER`.
    pub browser: Option<String>,
    /// The user's settings.
    pub file: PathBuf,
}

impl Host for Desk {
    fn edit(&self, text: &str, extension: &str) -> Result<String, Phrase> {
        desktop::edit(self.editor.as_deref(), text, extension)
    }

    fn open_url(&self, url: &str) -> Result<(), Phrase> {
        desktop::open_url(self.browser.as_deref(), url)
    }

    fn remember(&self, what: &Remember) -> Result<Phrase, Phrase> {
        let (key, value) = match what {
            Remember::Model(name) => ("model", name),
            Remember::Theme(name) => ("theme", name),
        };
        write::set(&self.file, &[key], value.as_str())?;
        Ok(Phrase::new("app.remembered").with("value", value).with("file", self.file.display()))
    }
}
