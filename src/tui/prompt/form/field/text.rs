//! A text: one line, or several where the schema or the value says so.

use super::{Press, Reaction, Size};
use crate::domain::form::check::{check_text, text_of};
use crate::domain::form::{Field, FieldError};
use crate::tui::look::Look;
use crate::tui::prompt::form::boxed;
use crate::tui::widget::input::{Input, Lines};
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// A text being typed.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Text {
    input: Input,
    lines: Lines,
}

impl Text {
    pub(super) fn new(value: Option<&Value>, multiline: bool) -> Self {
        let text = value.map(text_of).unwrap_or_default();
        let lines = if multiline || text.contains('\n') { Lines::Many } else { Lines::One };
        let mut input = Input::new(lines);
        input.set(&text);
        Self { input, lines }
    }

    pub(super) fn is_block(&self) -> bool {
        self.lines == Lines::Many
    }

    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty()
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
        if press.key.code == KeyCode::Enter && self.is_block() {
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
        if self.is_block() { boxed::measure_block(&mut self.input, columns) } else { Size { columns, rows: 1 } }
    }

    pub(super) fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        boxed::draw(&mut self.input, area, buffer, look)
    }
}
