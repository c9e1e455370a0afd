//! Anything the other kinds cannot hold, written as JSON.

use super::{Press, Reaction, Size};
use crate::domain::form::check::check_text;
use crate::domain::form::{Field, FieldError};
use crate::tui::look::Look;
use crate::tui::prompt::form::boxed;
use crate::tui::widget::input::{Input, Lines};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// JSON text being typed.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Json {
    input: Input,
}

impl Json {
    pub(super) fn new(value: Option<&Value>) -> Self {
        let text = value.and_then(|value| serde_json::to_string_pretty(value).ok()).unwrap_or_default();
        let mut input = Input::new(Lines::Many);
        input.set(&text);
        Self { input }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.input.text().trim().is_empty()
    }

    pub(super) fn text(&self) -> String {
        self.input.text()
    }

    pub(super) fn set_text(&mut self, text: &str) {
        self.input.set(text.strip_suffix('\n').unwrap_or(text));
    }

    pub(super) fn value(&self, field: &Field) -> Result<Option<Value>, FieldError> {
        check_text(field, &self.input.text())
    }

    pub(super) fn key(&mut self, press: Press) -> Reaction {
        if press.key.code == KeyCode::Enter {
            self.input.insert("\n");
            return Reaction::Changed;
        }
        self.input.key(press.key).into()
    }

    pub(super) fn paste(&mut self, text: &str) -> Reaction {
        self.input.insert(text);
        Reaction::Changed
    }

    pub(super) fn measure(&mut self, columns: u16) -> Size {
        boxed::measure_block(&mut self.input, columns)
    }

    pub(super) fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        boxed::draw(&mut self.input, area, buffer, look)
    }
}
