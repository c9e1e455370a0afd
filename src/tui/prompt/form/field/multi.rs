//! Some of several values.

use super::{Focus, Press, Reaction, Size};
use crate::domain::form::Choice;
use crate::tui::command::Command;
use crate::tui::look::Look;
use crate::tui::prompt::form::choices::{self, Flow, Item, State};
use crate::tui::prompt::glyph::glyphs;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// Check boxes with a cursor.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Multi {
    options: Vec<Choice>,
    checked: Vec<bool>,
    cursor: usize,
    flow: Flow,
}

impl Multi {
    pub(super) fn new(options: &[Choice], value: Option<&Value>) -> Self {
        let values = value.and_then(Value::as_array);
        let checked = options.iter().map(|option| values.is_some_and(|values| values.contains(&option.value)));
        Self { options: options.to_vec(), checked: checked.collect(), cursor: 0, flow: Flow::Row }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.checked.contains(&true)
    }

    /// The checked values in the server's order. Nothing checked is an empty list where an answer is required, else no answer.
    pub(super) fn value(&self, required: bool) -> Option<Value> {
        let pairs = self.options.iter().zip(&self.checked);
        let values: Vec<Value> = pairs.filter(|(_, on)| **on).map(|(option, _)| option.value.clone()).collect();
        (required || !values.is_empty()).then_some(Value::Array(values))
    }

    pub(super) fn key(&mut self, press: Press) -> Reaction {
        let column = self.flow == Flow::Column;
        match (press.command, press.key.code) {
            (Some(Command::ChoiceLeft), _) => self.go(-1, Reaction::Moved),
            (Some(Command::ChoiceRight), _) => self.go(1, Reaction::Moved),
            (Some(Command::Up), _) if column => self.go(-1, Reaction::Ignored),
            (Some(Command::Down), _) if column => self.go(1, Reaction::Ignored),
            (Some(Command::FieldToggle), _) => self.toggle(self.cursor),
            (None, KeyCode::Char(c)) => {
                let index = c.to_digit(10).and_then(|n| (n as usize).checked_sub(1));
                index.filter(|index| *index < self.options.len()).map_or(Reaction::Ignored, |index| {
                    self.cursor = index;
                    self.toggle(index)
                })
            }
            _ => Reaction::Ignored,
        }
    }

    fn go(&mut self, by: isize, at_edge: Reaction) -> Reaction {
        match self.cursor.checked_add_signed(by).filter(|next| *next < self.options.len()) {
            Some(next) => {
                self.cursor = next;
                Reaction::Moved
            }
            None => at_edge,
        }
    }

    fn toggle(&mut self, index: usize) -> Reaction {
        let Some(on) = self.checked.get_mut(index) else { return Reaction::Moved };
        *on = !*on;
        Reaction::Changed
    }

    fn items<'a>(&'a self, look: &'a Look<'_>, focus: Focus) -> Vec<Item<'a>> {
        let check = glyphs(look).check;
        let item = |(index, option): (usize, &'a Choice)| {
            let on = self.checked[index];
            let state = match (focus == Focus::Here && index == self.cursor, on) {
                (true, _) => State::Cursor,
                (false, true) => State::Chosen,
                (false, false) => State::Plain,
            };
            Item { mark: check[usize::from(on)], title: &option.title, state }
        };
        self.options.iter().enumerate().map(item).collect()
    }

    pub(super) fn measure(&mut self, columns: u16, look: &Look<'_>) -> Size {
        let (flow, size) = choices::measure(&self.items(look, Focus::Elsewhere), columns);
        self.flow = flow;
        size
    }

    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, focus: Focus) -> Option<Position> {
        choices::draw(&self.items(look, focus), area, buffer, look, focus)
    }
}
