//! A number: typed, or stepped with `+` and `-`.
//!
//! `-` steps only where it cannot be meant as a sign: behind at least one character that is not an exponent's `e`.

use super::{Press, Reaction};
use crate::domain::form::check::{check_text, text_of};
use crate::domain::form::{Field, FieldError};
use crate::tui::look::Look;
use crate::tui::prompt::form::boxed;
use crate::tui::widget::input::Input;
use crossterm::event::{KeyCode, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Value;

/// A number being typed.
#[derive(Debug, Clone)]
pub(in crate::tui::prompt::form) struct Number {
    input: Input,
    integer: bool,
    min: Option<f64>,
    max: Option<f64>,
}

impl Number {
    pub(super) fn new(value: Option<&Value>, integer: bool, min: Option<f64>, max: Option<f64>) -> Self {
        let text = value.map(text_of).unwrap_or_default();
        Self { input: Input::line(&text), integer, min, max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.input.text().trim().is_empty()
    }

    pub(super) fn value(&self, field: &Field) -> Result<Option<Value>, FieldError> {
        check_text(field, &narrow(&self.input.text()))
    }

    pub(super) fn key(&mut self, press: Press) -> Reaction {
        let mut key = press.key;
        if let KeyCode::Char(c) = key.code
            && key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
        {
            let c = narrow_char(c);
            if let Some(by) = self.step_of(c) {
                return self.step(by);
            }
            key.code = KeyCode::Char(c);
        }
        self.input.key(key).into()
    }

    pub(super) fn paste(&mut self, text: &str) -> Reaction {
        self.input.insert(narrow(text).trim());
        Reaction::Changed
    }

    fn step_of(&self, c: char) -> Option<f64> {
        let text = self.input.text();
        let before = self.input.caret().1.checked_sub(1).and_then(|at| text.chars().nth(at));
        let sign_possible = matches!(before, None | Some('e' | 'E'));
        match c {
            '+' if !matches!(before, Some('e' | 'E')) => Some(1.0),
            '-' if !sign_possible => Some(-1.0),
            _ => None,
        }
    }

    /// Steps from what is typed; from nothing, to the nearest limit or zero. What is not a number is left alone.
    fn step(&mut self, by: f64) -> Reaction {
        let text = narrow(&self.input.text());
        let next = if text.trim().is_empty() {
            0.0
        } else {
            let Ok(number) = text.trim().parse::<f64>() else { return Reaction::Moved };
            // Beyond 2^53 a float cannot step by one.
            if !number.is_finite() || number.abs() >= 9_007_199_254_740_992.0 {
                return Reaction::Moved;
            }
            number + by * self.stride()
        };
        let next = next.max(self.min.unwrap_or(f64::MIN)).min(self.max.unwrap_or(f64::MAX));
        let next = if self.integer { next.round() } else { (next * 1e6).round() / 1e6 };
        let shown = format!("{next}");
        if shown == text {
            return Reaction::Moved;
        }
        self.input.set(&shown);
        Reaction::Changed
    }

    fn stride(&self) -> f64 {
        match (self.min, self.max) {
            (Some(min), Some(max)) if !self.integer && max - min <= 2.0 => 0.1,
            _ => 1.0,
        }
    }

    pub(super) fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        boxed::draw(&mut self.input, area, buffer, look)
    }
}

/// Digits and signs as an East Asian input method may write them, as ASCII.
fn narrow_char(c: char) -> char {
    match c {
        '０'..='９' | '＋' | '－' | '．' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        '。' => '.',
        '−' => '-',
        _ => c,
    }
}

fn narrow(text: &str) -> String {
    text.chars().map(narrow_char).collect()
}
