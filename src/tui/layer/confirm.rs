//! A question with yes and no. No stands first: it is what Enter means until another key said otherwise.

use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Layer, Outcome};
use crate::tui::theme::Role;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Line, frame};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    No,
    Yes,
}

/// The layer.
#[derive(Debug)]
pub struct Confirm {
    question: String,
    yes: Vec<Effect>,
    choice: Choice,
}

impl Confirm {
    /// Asks this.
    pub fn new(question: String, yes: Vec<Effect>) -> Self {
        Self { question, yes, choice: Choice::No }
    }

    fn answer(&mut self, choice: Choice) -> Outcome {
        Outcome::Close(if choice == Choice::Yes { std::mem::take(&mut self.yes) } else { Vec::new() })
    }
}

impl Layer for Confirm {
    fn name(&self) -> &'static str {
        "confirm"
    }

    fn key(&mut self, key: KeyEvent, _look: &Look<'_>) -> Outcome {
        match key.code {
            KeyCode::Char('y') if key.modifiers.is_empty() => self.answer(Choice::Yes),
            KeyCode::Char('n') if key.modifiers.is_empty() => self.answer(Choice::No),
            KeyCode::Esc => self.answer(Choice::No),
            KeyCode::Enter => self.answer(self.choice),
            KeyCode::Left | KeyCode::Right | KeyCode::Up | KeyCode::Down | KeyCode::Tab | KeyCode::BackTab => {
                self.choice = if self.choice == Choice::No { Choice::Yes } else { Choice::No };
                Outcome::Consumed
            }
            _ => Outcome::Ignored,
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let hints = frame::hints(look, &[("y", "layer.yes"), ("n", "layer.no"), ("←→ Enter", "layer.hint_choose")]);
        let columns = 60.min(area.width.saturating_sub(6));
        let lines = paragraphs(&self.question, columns);
        let inside = frame::card(area, (columns, lines.len() as u16 + 2), buffer, look, &Line::new(), &hints);
        for (y, line) in (inside.y..inside.bottom()).zip(&lines) {
            Line::of(line, Role::Text).draw(Rect { y, height: 1, ..inside }, buffer, look.theme);
        }
        let row = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
        let mut line = Line::new();
        let pointer = look.glyphs().user;
        let mut caret = row.x;
        for (choice, key) in [(Choice::No, "layer.no"), (Choice::Yes, "layer.yes")] {
            let chosen = choice == self.choice;
            let role = if chosen { Role::Selected } else { Role::Text };
            if chosen {
                caret = row.x + line.width();
            }
            line.push(if chosen { pointer } else { " " }, role);
            line.push(look.strings.get(key), role).push("   ", Role::Text);
        }
        line.draw(row, buffer, look.theme);
        Some(Position::new(caret, row.y))
    }
}
