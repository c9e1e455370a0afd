//! The choices of a card: each with its key, one highlighted; arrows and digits highlight, `Enter` takes the highlighted one.

use super::glyph::glyphs;
use super::lines::fit;
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::text::{Row, RowBuilder, sanitize, width};
use crate::tui::theme::Role;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// What starts a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The key of this command in an opened call.
    Call(Command),
    /// The key of this command in a form.
    Form(Command),
    /// This letter.
    Letter(char),
}

impl Trigger {
    fn matches(self, key: KeyEvent, look: &Look<'_>) -> bool {
        match self {
            Self::Call(command) => look.keymap.find(Context::Call, key) == Some(command),
            Self::Form(command) => look.keymap.find(Context::Form, key) == Some(command),
            Self::Letter(letter) => {
                let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
                plain && matches!(key.code, KeyCode::Char(c) if c.eq_ignore_ascii_case(&letter))
            }
        }
    }

    fn name(self, look: &Look<'_>) -> String {
        let name = match self {
            Self::Call(command) => super::glyph::key_name(look, Context::Call, command),
            Self::Form(command) => super::glyph::key_name(look, Context::Form, command),
            Self::Letter(letter) => Some(letter.to_string()),
        };
        name.unwrap_or_default()
    }
}

/// A choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub trigger: Trigger,
    /// What stands beside the key.
    pub label: String,
    /// One line on what it does, shown while it is highlighted.
    pub about: String,
}

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picked {
    /// Not one of the menu's.
    Ignored,
    /// The highlight moved.
    Moved,
    /// This one was taken.
    Taken(usize),
}

/// Which choice is highlighted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Menu {
    at: usize,
}

impl Menu {
    pub(super) fn highlight(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn key(&mut self, key: KeyEvent, choices: &[Choice], look: &Look<'_>) -> Picked {
        if choices.is_empty() {
            return Picked::Ignored;
        }
        self.at = self.at.min(choices.len() - 1);
        if let Some(index) = choices.iter().position(|choice| choice.trigger.matches(key, look)) {
            return Picked::Taken(index);
        }
        let last = choices.len() - 1;
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match (look.keymap.find(Context::Call, key), key.code) {
            (Some(Command::Confirm), _) => return Picked::Taken(self.at),
            (Some(Command::Up), _) | (None, KeyCode::Left) => self.at = self.at.saturating_sub(1),
            (Some(Command::Down), _) | (None, KeyCode::Right) => self.at = (self.at + 1).min(last),
            (None, KeyCode::Char(c)) if plain => {
                let Some(index) = c.to_digit(10).and_then(|n| (n as usize).checked_sub(1)) else {
                    return Picked::Ignored;
                };
                self.at = if index <= last { index } else { self.at };
            }
            _ => return Picked::Ignored,
        }
        Picked::Moved
    }

    /// Rows it would like: the choices, and the line on the highlighted one.
    pub(super) fn height(self, choices: &[Choice], columns: u16, look: &Look<'_>) -> u16 {
        self.rows(choices, columns, look).0.len() as u16 + 1
    }

    /// Draws the choices at the bottom of `area`; on too little room only their keys. Returns where the highlighted one stands.
    pub(super) fn draw(self, choices: &[Choice], area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        if area.is_empty() || choices.is_empty() {
            return None;
        }
        let (mut rows, mut caret) = self.rows(choices, area.width, look);
        if rows.len() > usize::from(area.height) {
            (rows, caret) = self.compact(choices, area.width, look);
        }
        for (y, row) in rows.iter().enumerate() {
            row.draw(Rect { y: area.y + y as u16, height: 1, ..area }, buffer, look.theme);
        }
        let about = choices.get(self.at.min(choices.len() - 1)).map_or("", |choice| choice.about.as_str());
        let y = rows.len() as u16;
        if y < area.height {
            let text = fit(about, area.width.saturating_sub(1), glyphs(look).more);
            let row = Row::plain(format!(" {text}"), Role::Dim);
            row.draw(Rect { y: area.y + y, height: 1, ..area }, buffer, look.theme);
        }
        Some(Position::new(area.x + caret.0, area.y + caret.1))
    }

    fn rows(self, choices: &[Choice], columns: u16, look: &Look<'_>) -> (Vec<Row>, (u16, u16)) {
        let gap = if columns < 60 { 2 } else { 3 };
        let mut rows = Vec::new();
        let mut row = RowBuilder::default();
        let mut caret = (0, 0);
        for (index, choice) in choices.iter().enumerate() {
            let key = choice.trigger.name(look);
            let label = sanitize::line(&choice.label);
            let room = columns.saturating_sub(width::of(&key) + 3);
            let label = fit(&label, room, glyphs(look).more);
            let need = width::of(&key) + width::of(&label) + 2;
            if !row.is_empty() && row.width() + gap - 1 + need > columns {
                rows.push(row.finish(0..0));
            }
            if !row.is_empty() {
                row.push(&" ".repeat(usize::from(gap - 1)), Role::Text);
            }
            if index == self.at.min(choices.len() - 1) {
                caret = (row.width() + 1, rows.len() as u16);
                row.push(glyphs(look).pointer, Role::Accent);
                row.push(&format!("{key} {label}"), Role::Selected.with(Modifier::BOLD));
            } else {
                row.push(" ", Role::Text);
                row.push(&key, Role::Key).push(" ", Role::Text).push(&label, Role::Text);
            }
        }
        rows.push(row.finish(0..0));
        (rows, caret)
    }

    fn compact(self, choices: &[Choice], columns: u16, look: &Look<'_>) -> (Vec<Row>, (u16, u16)) {
        let mut row = RowBuilder::default();
        let mut caret = (0, 0);
        for (index, choice) in choices.iter().enumerate() {
            let key = choice.trigger.name(look);
            if index == self.at.min(choices.len() - 1) {
                caret = (row.width() + 1, 0);
                row.push(glyphs(look).pointer, Role::Accent);
                let others: u16 = choices.iter().map(|c| width::of(&c.trigger.name(look)) + 1).sum();
                let label = fit(&choice.label, columns.saturating_sub(others + 2), glyphs(look).more);
                row.push(&format!("{key} {label}"), Role::Selected.with(Modifier::BOLD));
            } else {
                row.push(" ", Role::Text).push(&key, Role::Key);
            }
        }
        (vec![row.finish(0..0)], caret)
    }
}
