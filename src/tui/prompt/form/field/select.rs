//! One of several values. The highlighted one *is* the value; leaving the field empty is a choice of its own where the schema allows it.

use super::{Absence, Focus, Press, Reaction, Size};
use crate::domain::form::Choice;
use crate::tui::command::Command;
use crate::tui::look::Look;
use crate::tui::prompt::form::choices::{self, Flow, Item, State};
use crate::tui::prompt::glyph::glyphs;
use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// A choice being made.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Select {
    options: Vec<Choice>,
    absence: Absence,
    chosen: Option<usize>,
    flow: Flow,
}

impl Select {
    pub(super) fn new(options: &[Choice], value: Option<&Value>, absence: Absence) -> Self {
        let known = value.and_then(|value| options.iter().position(|option| option.value == *value));
        let first = (absence == Absence::Never && value.is_none() && !options.is_empty()).then_some(0);
        Self { options: options.to_vec(), absence, chosen: known.or(first), flow: Flow::Row }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_none()
    }

    pub(super) fn value(&self) -> Option<Value> {
        self.options.get(self.chosen?).map(|option| option.value.clone())
    }

    pub(super) fn key(&mut self, press: Press) -> Reaction {
        let column = self.flow == Flow::Column;
        match (press.command, press.key.code) {
            (Some(Command::ChoiceLeft), _) => self.step(-1),
            (Some(Command::ChoiceRight), _) => self.step(1),
            (Some(Command::Up), _) if column => self.step_or_leave(-1),
            (Some(Command::Down), _) if column => self.step_or_leave(1),
            (Some(Command::FieldToggle), _) => self.cycle(),
            (None, KeyCode::Home) => self.choose(self.places().first().copied().flatten()),
            (None, KeyCode::End) => self.choose(self.options.len().checked_sub(1)),
            (None, KeyCode::Backspace | KeyCode::Delete) if self.absence == Absence::Offered => self.choose(None),
            (None, KeyCode::Char(c)) if press.key.modifiers.difference(KeyModifiers::SHIFT).is_empty() => self.jump(c),
            _ => Reaction::Ignored,
        }
    }

    /// A pasted value or title chooses it.
    pub(super) fn paste(&mut self, text: &str) -> Reaction {
        let text = text.trim();
        let found = self.options.iter().position(|o| o.title == text || o.value.as_str() == Some(text));
        found.map_or(Reaction::Ignored, |index| self.choose(Some(index)))
    }

    /// Everything that can be chosen, in the order shown.
    fn places(&self) -> Vec<Option<usize>> {
        let none = (self.absence == Absence::Offered).then_some(None);
        none.into_iter().chain((0..self.options.len()).map(Some)).collect()
    }

    fn choose(&mut self, chosen: Option<usize>) -> Reaction {
        if chosen == self.chosen {
            return Reaction::Moved;
        }
        self.chosen = chosen;
        Reaction::Changed
    }

    fn step(&mut self, by: isize) -> Reaction {
        match self.step_or_leave(by) {
            Reaction::Ignored => Reaction::Moved,
            other => other,
        }
    }

    fn step_or_leave(&mut self, by: isize) -> Reaction {
        let places = self.places();
        let next = match places.iter().position(|place| *place == self.chosen) {
            Some(at) => at.checked_add_signed(by),
            None => Some(0),
        };
        match next.and_then(|next| places.get(next)) {
            Some(place) => self.choose(*place),
            None => Reaction::Ignored,
        }
    }

    fn cycle(&mut self) -> Reaction {
        let places = self.places();
        let at = places.iter().position(|place| *place == self.chosen).map_or(0, |at| at + 1);
        places.get(at % places.len().max(1)).copied().map_or(Reaction::Moved, |place| self.choose(place))
    }

    /// A digit chooses by number, a letter the next one that begins with it.
    fn jump(&mut self, c: char) -> Reaction {
        if let Some(number) = c.to_digit(10) {
            let index = (number as usize).checked_sub(1).filter(|index| *index < self.options.len());
            return index.map_or(Reaction::Moved, |index| self.choose(Some(index)));
        }
        let wanted: String = c.to_lowercase().collect();
        let start = self.chosen.map_or(0, |at| at + 1);
        let count = self.options.len();
        let found = (0..count)
            .map(|i| (start + i) % count)
            .find(|i| self.options[*i].title.trim_start().to_lowercase().starts_with(&wanted));
        found.map_or(Reaction::Ignored, |index| self.choose(Some(index)))
    }

    fn items<'a>(&'a self, look: &'a Look<'_>) -> Vec<Item<'a>> {
        let pointer = glyphs(look).pointer;
        let item = |place: Option<usize>| {
            let title = place.map_or_else(|| look.strings.get("form.none"), |i| self.options[i].title.as_str());
            let chosen = place == self.chosen;
            Item {
                mark: if chosen { pointer } else { " " },
                title,
                state: if chosen { State::Cursor } else { State::Plain },
            }
        };
        self.places().into_iter().map(item).collect()
    }

    pub(super) fn measure(&mut self, columns: u16, look: &Look<'_>) -> Size {
        let (flow, size) = choices::measure(&self.items(look), columns);
        self.flow = flow;
        size
    }

    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, focus: Focus) -> Option<Position> {
        let at_start = Position::new(area.x, area.y);
        choices::draw(&self.items(look), area, buffer, look, focus).or(Some(at_start))
    }
}
