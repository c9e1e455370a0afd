//! The kinds of fields: what each holds, how it takes a key, how it is drawn. One file a kind; nothing here knows the form around it.

mod json;
mod multi;
mod number;
mod object;
mod select;
mod text;
mod toggle;

use super::Purpose;
use crate::domain::form::{Field, FieldError, FieldKind};
use crate::tui::command::Command;
use crate::tui::look::Look;
use crate::tui::widget::input::Typed;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

pub(super) use object::Group;

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Not the field's, or at its edge: the form decides.
    Ignored,
    /// Taken; the value is the same.
    Moved,
    /// Taken; the value is another one.
    Changed,
}

impl From<Typed> for Reaction {
    fn from(typed: Typed) -> Self {
        match typed {
            Typed::Ignored => Self::Ignored,
            Typed::Moved => Self::Moved,
            Typed::Changed => Self::Changed,
        }
    }
}

/// A key with what the form's keymap makes of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Press {
    pub key: KeyEvent,
    pub command: Option<Command>,
}

/// Where the focus is, seen from a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Here,
    Elsewhere,
}

/// Columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// Whether a field can be left without a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absence {
    /// There is an explicit *(none)*.
    Offered,
    /// Something is always chosen.
    Never,
}

/// What stands in a field.
#[derive(Debug, Clone)]
pub(super) enum Control {
    Text(text::Text),
    Number(number::Number),
    Toggle(toggle::Toggle),
    Select(select::Select),
    Multi(multi::Multi),
    Json(json::Json),
    Group(Group),
}

impl Control {
    /// A control for the field with this value in it.
    pub(super) fn new(field: &Field, value: Option<&Value>, purpose: Purpose) -> Self {
        match &field.kind {
            FieldKind::Text { multiline, .. } => Self::Text(text::Text::new(value, *multiline)),
            FieldKind::Number { integer, min, max } => Self::Number(number::Number::new(value, *integer, *min, *max)),
            FieldKind::Boolean => Self::Toggle(toggle::Toggle::new(value)),
            FieldKind::Choice { options } => Self::Select(select::Select::new(options, value, absence(field, purpose))),
            FieldKind::MultiChoice { options, .. } => Self::Multi(multi::Multi::new(options, value)),
            FieldKind::Object { .. } if value.is_none_or(Value::is_object) => Self::Group(Group::new(field, value)),
            FieldKind::Object { .. } | FieldKind::Json { .. } => Self::Json(json::Json::new(value)),
        }
    }

    /// Whether keys that print are text here.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Json(_))
    }

    /// Whether `Enter` makes a new line here.
    pub(super) fn is_block(&self) -> bool {
        match self {
            Self::Text(text) => text.is_block(),
            Self::Json(_) => true,
            _ => false,
        }
    }

    /// Whether nothing was put in.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Number(number) => number.is_empty(),
            Self::Toggle(toggle) => toggle.is_empty(),
            Self::Select(select) => select.is_empty(),
            Self::Multi(multi) => multi.is_empty(),
            Self::Json(json) => json.is_empty(),
            Self::Group(_) => true,
        }
    }

    /// The value; `None` where there is none. It is not yet checked against the field's limits.
    pub(super) fn value(&self, field: &Field) -> Result<Option<Value>, FieldError> {
        match self {
            Self::Text(text) => text.value(field),
            Self::Number(number) => number.value(field),
            Self::Toggle(toggle) => Ok(toggle.value()),
            Self::Select(select) => Ok(select.value()),
            Self::Multi(multi) => Ok(multi.value(field.required)),
            Self::Json(json) => json.value(field),
            Self::Group(_) => Ok(None),
        }
    }

    /// Takes a key.
    pub(super) fn key(&mut self, press: Press) -> Reaction {
        match self {
            Self::Text(text) => text.key(press),
            Self::Number(number) => number.key(press),
            Self::Toggle(toggle) => toggle.key(press),
            Self::Select(select) => select.key(press),
            Self::Multi(multi) => multi.key(press),
            Self::Json(json) => json.key(press),
            Self::Group(_) => Reaction::Ignored,
        }
    }

    /// Takes pasted text.
    pub(super) fn paste(&mut self, text: &str) -> Reaction {
        match self {
            Self::Text(field) => field.paste(text),
            Self::Number(field) => field.paste(text),
            Self::Json(field) => field.paste(text),
            Self::Select(field) => field.paste(text),
            Self::Toggle(_) | Self::Multi(_) | Self::Group(_) => Reaction::Ignored,
        }
    }

    /// Its text with the ending of a file for it, where it is one.
    pub(super) fn text(&self) -> Option<(String, &'static str)> {
        match self {
            Self::Text(text) => Some((text.text(), "txt")),
            Self::Json(json) => Some((json.text(), "json")),
            Self::Number(_) | Self::Toggle(_) | Self::Select(_) | Self::Multi(_) | Self::Group(_) => None,
        }
    }

    /// Puts another text in its place.
    pub(super) fn set_text(&mut self, text: &str) {
        match self {
            Self::Text(field) => field.set_text(text),
            Self::Json(field) => field.set_text(text),
            Self::Number(_) | Self::Toggle(_) | Self::Select(_) | Self::Multi(_) | Self::Group(_) => {}
        }
    }

    /// The room it takes of a width.
    pub(super) fn measure(&mut self, columns: u16, look: &Look<'_>) -> Size {
        match self {
            Self::Text(text) => text.measure(columns),
            Self::Number(_) => Size { columns, rows: 1 },
            Self::Toggle(toggle) => toggle.measure(columns, look),
            Self::Select(select) => select.measure(columns, look),
            Self::Multi(multi) => multi.measure(columns, look),
            Self::Json(json) => json.measure(columns),
            Self::Group(_) => Size::default(),
        }
    }

    /// Draws it; returns where its caret stands.
    pub(super) fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, focus: Focus) -> Option<Position> {
        match self {
            Self::Text(text) => text.draw(area, buffer, look),
            Self::Number(number) => number.draw(area, buffer, look),
            Self::Toggle(toggle) => toggle.draw(area, buffer, look, focus),
            Self::Select(select) => select.draw(area, buffer, look, focus),
            Self::Multi(multi) => multi.draw(area, buffer, look, focus),
            Self::Json(json) => json.draw(area, buffer, look),
            Self::Group(_) => None,
        }
    }
}

/// An optional choice may be left out where nothing is chosen from the start; a call's argument always may.
fn absence(field: &Field, purpose: Purpose) -> Absence {
    let starts_empty = field.default.as_ref().is_none_or(Value::is_null) || purpose == Purpose::Arguments;
    if !field.required && starts_empty { Absence::Offered } else { Absence::Never }
}
