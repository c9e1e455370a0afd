//! What a part of the screen answers to a key: data, never a closure.

use crate::contract::Op;
use crate::domain::Notice;
use crate::domain::policy::FileDiff;
use crate::tui::command::Command;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;
use std::sync::Arc;

use super::facts::Facts;
use super::look::Look;

/// One part of a long text in the details layer.
#[derive(Debug, Clone, PartialEq)]
pub enum DetailBody {
    /// Plain text, unsanitized; wrapped when drawn.
    Text(String),
    /// A JSON value, shown indented.
    Json(Arc<Value>),
    /// A change to a file, whole.
    Diff(FileDiff),
    /// Names and values, one a line.
    Fields(Vec<(String, String)>),
}

/// What the details layer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// Its title, already in the user's language.
    pub title: String,
    /// Headings (may be empty, already in the user's language) with what stands under them.
    pub sections: Vec<(String, DetailBody)>,
}

/// A choice that the user wants kept for the next start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remember {
    /// The model, `provider:name`.
    Model(String),
    /// The theme.
    Theme(String),
}

/// Something for the owner of the screen, or the loop around it, to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Tell the agent.
    Op(Op),
    /// Put a text on the clipboard (OSC 52, tmux, file) and say which way worked.
    Copy(String),
    /// Open a URL in the user's browser. Only after the user said so.
    OpenUrl(String),
    /// Let the user edit this text in `$VISUAL` or `$EDITOR`; the result comes back to whoever has the focus.
    Edit {
        /// The text as it is.
        text: String,
        /// Ending of the temporary file, for the editor's colours.
        extension: &'static str,
    },
    /// Show a notice.
    Notice(Notice),
    /// Show a long text in a layer of its own.
    Details(Box<Details>),
    /// Ask the user a question; do these when the answer is yes.
    Confirm {
        /// The question, already in the user's language.
        question: String,
        /// What yes means.
        yes: Vec<Effect>,
    },
    /// Write a choice to the user's configuration. Only after the user said so.
    Remember(Remember),
    /// Use this theme from now on; with [`Effect::Remember`] also next time.
    UseTheme(String),
    /// Carry out a command as if its key had been pressed.
    Command(Command),
    /// Stop the process as Ctrl-Z does.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Leave.
    Quit,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Not mine.
    Ignored,
    /// Taken; nothing further to do.
    Consumed,
    /// Taken; do this.
    Emit(Vec<Effect>),
    /// Taken; do this, and close me.
    Close(Vec<Effect>),
}

impl Outcome {
    /// What is to be done, whether something closes or not.
    pub fn effects(self) -> Vec<Effect> {
        match self {
            Self::Ignored | Self::Consumed => Vec::new(),
            Self::Emit(effects) | Self::Close(effects) => effects,
        }
    }
}

/// How an overlay shares the screen and the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It was opened by the user: it covers the screen and takes the keys.
    Modal,
    /// It appeared by itself: it leaves the composer in sight, and has only keys that type nothing, while nothing is written.
    Guest,
}

/// An overlay. One file each under `layer/`.
pub trait Layer {
    /// A name for tests and hints, e.g. `help`.
    fn name(&self) -> &'static str;
    /// Takes a key.
    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome;
    /// How it shares the screen.
    fn manner(&self) -> Manner {
        Manner::Modal
    }
    /// Learns what is known: when it is opened, and again whenever that has changed.
    fn learn(&mut self, facts: &Facts) {
        let _ = facts;
    }
    /// Takes pasted text.
    fn paste(&mut self, text: &str) -> Outcome {
        let _ = text;
        Outcome::Ignored
    }
    /// Takes back the text that went out with [`Effect::Edit`].
    fn edited(&mut self, text: &str) {
        let _ = text;
    }
    /// Draws itself into the whole screen area below the header; returns where the caret stands, if it has one.
    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position>;
}
