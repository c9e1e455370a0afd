//! What can happen to the screen: one message at a time, nested by who it is for.

use crate::contract::Event;
use crate::domain::Notice;
use crossterm::event::KeyEvent;
use ratatui::layout::Size;

/// A model server that was found on this computer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What it is: `Ollama`, `llama.cpp`.
    pub name: String,
    /// Where it listens.
    pub url: String,
    /// What it offers, as `provider:name`, ready for `Op::UseModel`.
    pub models: Vec<String>,
}

/// A key that was found in the environment. Never its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKey {
    /// The variable's name.
    pub variable: String,
    /// A model it opens, as `provider:name`, ready for `Op::UseModel`.
    pub model: String,
}

/// What was found for someone who has configured nothing. Comes in pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A model server.
    Server(LocalServer),
    /// A key.
    Key(FoundKey),
    /// The search is over.
    Done,
}

/// Whether the terminal has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It has.
    Here,
    /// It has not: nothing needs to move.
    Away,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// A key.
    Key(KeyEvent),
    /// Pasted text.
    Paste(String),
    /// The screen has this size.
    Resize(Size),
    /// The terminal gained or lost the focus.
    Presence(Presence),
    /// The terminal says Shift-Enter apart from Enter.
    ShiftEnter,
    /// The terminal's background: red, green, blue.
    Background(u8, u8, u8),
    /// From the agent.
    Agent(Event),
    /// The external editor is done; `None`: it failed, and the text is as it was.
    Edited(Option<String>),
    /// Found for someone who has configured nothing.
    Found(Found),
    /// The loop itself has something to say.
    Notice(Notice),
    /// The program is about to stop; time stands still from here.
    Hold,
    /// It is back.
    Go,
    /// A moment that [`super::ui::Ui::due`] named.
    Time,
}
