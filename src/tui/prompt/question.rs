//! The model's question: proposed answers to pick from, and always a line to write another.
//!
//! The highlighted answer is the one that `Enter` sends. Typing goes to the line at once; what was written stays there.

use super::card::{Act, Place, Summary, Title};
use super::glyph::{Hints, glyphs};
use super::lines::{Break, Lines, first_line};
use super::page::Page;
use super::panel;
use crate::domain::prompt::{Answer, Question};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::text::Row;
use crate::tui::theme::{Paint, Role};
use crate::tui::widget::input::{self, Input, Typed};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// A question on the screen.
#[derive(Debug, Clone)]
pub(super) struct QuestionCard {
    question: Question,
    /// The highlighted option; behind the last one is the line.
    at: usize,
    input: Input,
    page: Page,
}

impl QuestionCard {
    pub(super) fn new(question: Question) -> Self {
        Self { question, at: 0, input: Input::new(input::Lines::Many), page: Page::default() }
    }

    fn writes(&self) -> bool {
        self.at >= self.question.options.len()
    }

    pub(super) fn key(&mut self, key: KeyEvent, _: Place, look: &Look<'_>) -> Act {
        let plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => return Act::Back,
            KeyCode::Enter if plain && key.modifiers.is_empty() => return self.send(),
            KeyCode::PageUp | KeyCode::PageDown => {
                panel::scroll_key(key, &mut self.page, look);
                return Act::Consumed;
            }
            _ => {}
        }
        if self.writes() { self.write(key, look) } else { self.pick(key, plain, look) }
    }

    fn send(&self) -> Act {
        let text = match self.question.options.get(self.at) {
            Some(option) => option.clone(),
            None => self.input.text(),
        };
        if text.trim().is_empty() { Act::Consumed } else { Act::Answer(Answer::Text { text }) }
    }

    fn go(&mut self, to: usize) -> Act {
        self.at = to.min(self.question.options.len());
        self.page.follow();
        Act::Consumed
    }

    fn pick(&mut self, key: KeyEvent, plain: bool, look: &Look<'_>) -> Act {
        match key.code {
            KeyCode::Up if plain => self.go(self.at.saturating_sub(1)),
            KeyCode::Down | KeyCode::Tab if plain => self.go(self.at + 1),
            KeyCode::BackTab => self.go(self.at.saturating_sub(1)),
            KeyCode::Char(c) if plain => {
                let index = c.to_digit(10).and_then(|n| (n as usize).checked_sub(1));
                if let Some(index) = index.filter(|index| *index < self.question.options.len()) {
                    return self.go(index);
                }
                self.go(usize::MAX);
                self.write(key, look)
            }
            _ if look.keymap.find(Context::Global, key).is_some() => Act::Ignored,
            _ => Act::Consumed,
        }
    }

    fn write(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        if look.keymap.find(Context::Composer, key) == Some(Command::NewLine) {
            self.input.insert("\n");
            return Act::Consumed;
        }
        match key.code {
            KeyCode::BackTab => self.go(self.at.saturating_sub(1)),
            KeyCode::Tab => self.go(0),
            KeyCode::Up if self.input.key(key) == Typed::Ignored => self.go(self.at.saturating_sub(1)),
            KeyCode::Up => Act::Consumed,
            _ => panel::write(&mut self.input, key, look),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.go(usize::MAX);
        self.input.insert(text);
    }

    pub(super) fn edited(&mut self, text: &str) {
        self.go(usize::MAX);
        self.input.set(text.trim_end_matches('\n'));
    }

    pub(super) fn summary(&self, _: Place, look: &Look<'_>) -> Summary {
        Summary {
            head: look.strings.get("prompt.question.asks").to_owned(),
            rest: first_line(&self.question.text).to_owned(),
        }
    }

    pub(super) fn title(look: &Look<'_>) -> Title {
        vec![(look.strings.get("prompt.question.asks").to_owned(), Role::TitleFocused)]
    }

    pub(super) fn hints<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        let hints = Hints::new(look);
        let hints = if self.question.options.is_empty() {
            hints
        } else {
            hints.pair(Context::Call, [Command::Up, Command::Down], "prompt.key.choose")
        };
        let hints = hints.keys("Enter", "prompt.key.send");
        let hints = if self.writes() {
            hints.key(Context::Composer, Command::NewLine, "prompt.key.line")
        } else {
            hints.keys("a-z", "prompt.key.other")
        };
        hints.key(Context::Call, Command::Escape, "prompt.key.back")
    }

    /// The rows, and which of them belong to the highlighted option.
    fn rows(&self, columns: u16, look: &Look<'_>) -> (Vec<Row>, (usize, usize)) {
        let mut lines = Lines::new(columns);
        lines.text(self.question.text.trim(), Role::Text);
        let mut keep = (0, 0);
        let pointer = glyphs(look).pointer;
        for (index, option) in self.question.options.iter().enumerate() {
            if index == 0 {
                lines.blank();
            }
            let here = index == self.at;
            let from = lines.len();
            let number = format!("{} ", index + 1);
            let paint: Paint = if here { Role::Selected.with(Modifier::BOLD) } else { Role::Text.into() };
            let mark = if here { pointer } else { " " };
            let prefix = [(mark, Role::Accent.into()), (number.as_str(), Role::Key.into())];
            lines.hanging(&prefix, &[(option.trim(), paint)], Break::Words);
            if here {
                keep = (from, lines.len());
            }
        }
        (lines.finish(), keep)
    }

    fn pinned(&mut self, columns: u16) -> u16 {
        self.input.height(columns.saturating_sub(2)).clamp(1, 6) as u16
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        panel::height(self.rows(panel::columns(columns), look).0.len(), self.pinned(columns))
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let (rows, keep) = self.rows(panel::columns(area.width), look);
        let pinned = self.pinned(area.width);
        let keep = (!self.writes()).then_some(keep);
        let rest = panel::draw_body_keeping(&rows, pinned, (&mut self.page, keep), area, buffer, look);
        let mark = if self.writes() { glyphs(look).pointer } else { " " };
        let on_line = self.draw_line(mark, rest, buffer, look);
        match keep {
            Some((from, _)) => {
                let y = u16::try_from(from.checked_sub(self.page.top())?).ok()?;
                let y = area.y.saturating_add(y);
                (y < rest.y).then(|| Position::new(area.x + 1, y))
            }
            None => on_line,
        }
    }

    fn draw_line(&mut self, mark: &str, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let caret = panel::draw_input(&mut self.input, mark, area, buffer, look);
        if self.input.is_empty() && area.width > 4 && area.height > 0 {
            let key = if self.question.options.is_empty() { "prompt.question.write" } else { "prompt.question.other" };
            let inner = Rect { x: area.x + 3, width: area.width - 3, height: 1, ..area };
            panel::draw_line(&[(look.strings.get(key), Role::Dim)], inner, buffer, look);
        }
        caret
    }

    pub(super) fn below(&self) -> usize {
        self.page.below()
    }
}
