//! Choosing a theme by looking at it: the highlighted one is worn while choosing.

use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Layer, Outcome, Remember};
use crate::tui::theme::Role;
use crate::tui::widget::{Line, List, frame};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The layer.
#[derive(Debug)]
pub struct ThemePicker {
    names: Vec<String>,
    before: String,
    list: List,
}

impl ThemePicker {
    /// With the theme that is worn highlighted.
    pub fn new(names: Vec<String>, worn: &str) -> Self {
        let mut list = List::default();
        list.select(names.iter().position(|name| name == worn).unwrap_or(0));
        Self { names, before: worn.to_owned(), list }
    }

    fn chosen(&self) -> String {
        self.names.get(self.list.selected()).cloned().unwrap_or_default()
    }
}

impl Layer for ThemePicker {
    fn name(&self) -> &'static str {
        "theme"
    }

    fn key(&mut self, key: KeyEvent, _look: &Look<'_>) -> Outcome {
        match key.code {
            KeyCode::Esc => Outcome::Close(vec![Effect::UseTheme(self.before.clone())]),
            KeyCode::Enter => Outcome::Close(vec![Effect::UseTheme(self.chosen())]),
            KeyCode::Char('r') if key.modifiers.is_empty() => {
                let name = self.chosen();
                Outcome::Close(vec![Effect::UseTheme(name.clone()), Effect::Remember(Remember::Theme(name))])
            }
            _ if self.list.key(key, self.names.len()) => Outcome::Emit(vec![Effect::UseTheme(self.chosen())]),
            _ => Outcome::Ignored,
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let title = Line::of(look.strings.get("layer.theme_title"), Role::TitleFocused);
        let hints = frame::hints(
            look,
            &[("Enter", "layer.hint_use"), ("r", "layer.hint_use_and_remember"), ("Esc", "layer.hint_back")],
        );
        let rows = self.names.len().min(12) as u16;
        let inside = frame::card(area, (hints.width() + 4, rows), buffer, look, &title, &hints);
        let mark = look.glyphs().user;
        let window = self.list.window(self.names.len(), usize::from(inside.height));
        for (y, index) in (inside.y..).zip(window) {
            let row = Rect { y, height: 1, ..inside };
            let chosen = index == self.list.selected();
            let role = if chosen { Role::Selected } else { Role::Text };
            if chosen {
                buffer.set_style(row, look.theme.style(role));
            }
            let mut line = Line::of(if chosen { mark } else { " " }, role);
            line.push(" ", role).push(&self.names[index], role);
            line.draw(row, buffer, look.theme);
        }
        None
    }
}
