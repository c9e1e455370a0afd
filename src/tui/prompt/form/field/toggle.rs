//! Yes or no; neither, as long as nothing was chosen.

use super::{Focus, Press, Reaction, Size};
use crate::tui::command::Command;
use crate::tui::look::Look;
use crate::tui::prompt::form::choices::{self, Item, State};
use crate::tui::prompt::glyph::glyphs;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// Yes, no or neither.
#[derive(Debug, Clone, Copy)]
pub(in crate::tui::prompt::form) struct Toggle {
    yes: Option<bool>,
}

impl Toggle {
    pub(super) fn new(value: Option<&Value>) -> Self {
        Self { yes: value.and_then(Value::as_bool) }
    }

    pub(super) fn is_empty(self) -> bool {
        self.yes.is_none()
    }

    pub(super) fn value(self) -> Option<Value> {
        self.yes.map(Value::Bool)
    }

    pub(super) fn key(&mut self, press: Press) -> Reaction {
        let next = match (press.command, press.key.code) {
            (Some(Command::ChoiceLeft), _) | (None, KeyCode::Char('y' | 'Y' | '1')) => Some(true),
            (Some(Command::ChoiceRight), _) | (None, KeyCode::Char('n' | 'N' | '2')) => Some(false),
            (Some(Command::FieldToggle), _) => Some(!self.yes.unwrap_or(false)),
            (None, KeyCode::Backspace | KeyCode::Delete) => None,
            _ => return Reaction::Ignored,
        };
        if next == self.yes {
            return Reaction::Moved;
        }
        self.yes = next;
        Reaction::Changed
    }

    fn items<'a>(self, look: &'a Look<'_>, focus: Focus) -> [Item<'a>; 2] {
        let radio = glyphs(look).radio;
        let item = |yes: bool, title: &'a str| {
            let chosen = self.yes == Some(yes);
            // With nothing chosen the caret stands on the first. Seen from elsewhere that would look like an answer.
            let cursor = chosen || (self.yes.is_none() && yes && focus == Focus::Here);
            Item { mark: radio[usize::from(chosen)], title, state: if cursor { State::Cursor } else { State::Plain } }
        };
        [item(true, look.strings.get("form.yes")), item(false, look.strings.get("form.no"))]
    }

    pub(super) fn measure(self, columns: u16, look: &Look<'_>) -> Size {
        choices::measure(&self.items(look, Focus::Elsewhere), columns).1
    }

    pub(super) fn draw(self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, focus: Focus) -> Option<Position> {
        choices::draw(&self.items(look, focus), area, buffer, look, focus)
    }
}
