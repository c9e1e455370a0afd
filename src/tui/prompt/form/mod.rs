//! The form: fields, buttons, errors beside the fields. It serves a server's elicitation, the editing of a call's arguments and running a
//! tool by hand.

use crate::domain::form::{FieldError, Form};
use crate::tui::look::Look;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};

/// What the form is for: its buttons, and what an empty optional field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A server asks: Submit, Decline, Cancel. Defaults are filled in.
    Elicit,
    /// A call's arguments are edited: Apply, Cancel. What is absent stays absent unless typed.
    Arguments,
    /// A tool is run by hand: Run, Cancel. Defaults are filled in.
    Run,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum FormOutcome {
    /// Not the form's; for whoever handles keys that work anywhere.
    Ignored,
    /// Taken.
    Consumed,
    /// Filled in and valid. Fields left empty are not in it.
    Submit(Map<String, Value>),
    /// Declined.
    Decline,
    /// Put away.
    Cancel,
    /// Edit this text in the external editor; the result comes back through [`FormView::edited`].
    Edit {
        /// The text.
        text: String,
        /// Ending of the temporary file.
        extension: &'static str,
    },
}

/// A form on the screen.
pub struct FormView {
    form: Form,
    #[allow(dead_code)]
    purpose: Purpose,
}

impl FormView {
    /// A form with these values in it (for [`Purpose::Arguments`] the call's; else usually none).
    pub fn new(form: Form, _values: &Map<String, Value>, purpose: Purpose) -> Self {
        Self { form, purpose }
    }

    /// What it was made from.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Takes a key.
    pub fn key(&mut self, _key: KeyEvent, _look: &Look<'_>) -> FormOutcome {
        FormOutcome::Ignored
    }

    /// Takes pasted text into the focused field.
    pub fn paste(&mut self, _text: &str) {}

    /// Takes back the text that went out with [`FormOutcome::Edit`].
    pub fn edited(&mut self, _text: &str) {}

    /// Shows what whoever checked the answer found wrong, by field name (empty: the whole).
    pub fn refuse(&mut self, _problems: &[(String, FieldError)]) {}

    /// Whether anything was typed or chosen.
    pub fn is_touched(&self) -> bool {
        false
    }

    /// Rows it would like at this width: fields, help and buttons.
    pub fn height(&mut self, _width: u16, _look: &Look<'_>) -> u16 {
        0
    }

    /// Draws it; the buttons stay in sight whatever the height. Returns where the caret stands.
    pub fn draw(&mut self, _area: Rect, _buffer: &mut Buffer, _look: &Look<'_>) -> Option<Position> {
        None
    }

    /// The keys that work now, for a footer: `Enter next · ←→ choose · …`.
    pub fn hints(&self, _look: &Look<'_>) -> String {
        String::new()
    }
}
