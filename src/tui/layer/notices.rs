//! Everything the user should have read, newest first.

use crate::domain::Notice;
use crate::tui::facts::Facts;
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Layer, Outcome};
use crate::tui::pane::status::notice_line;
use crate::tui::theme::Role;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Line, Pager, frame, line};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The layer.
#[derive(Debug, Default)]
pub struct Notices {
    notices: Vec<Notice>,
    pager: Pager,
}

impl Notices {
    /// Knows none yet.
    pub fn new() -> Self {
        Self::default()
    }
}

fn lines(notices: &[Notice], width: u16, look: &Look<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    if notices.is_empty() {
        lines.push(Line::of(look.strings.get("layer.no_notices"), Role::Dim));
    }
    for notice in notices {
        let whole = notice_line(notice, look);
        if whole.width() <= width {
            lines.push(whole);
            continue;
        }
        let text = look.strings.render(&notice.text);
        for (number, part) in paragraphs(&text, width.saturating_sub(4)).into_iter().enumerate() {
            if number == 0 {
                let first = Notice { level: notice.level, text: crate::domain::Phrase::literal(part) };
                lines.push(notice_line(&first, look));
            } else {
                lines.push(Line::of(&format!("    {part}"), Role::Text));
            }
        }
    }
    lines
}

impl Layer for Notices {
    fn name(&self) -> &'static str {
        "notices"
    }

    fn learn(&mut self, facts: &Facts) {
        self.notices = facts.notices.iter().rev().cloned().collect();
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => Outcome::Close(Vec::new()),
            KeyCode::Char('c') if key.modifiers.is_empty() => {
                let texts: Vec<String> = self.notices.iter().map(|n| look.strings.render(&n.text)).collect();
                Outcome::Emit(vec![Effect::Copy(texts.join("\n"))])
            }
            _ if self.pager.key(key) => Outcome::Consumed,
            _ => Outcome::Ignored,
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let title = Line::of(look.strings.get("layer.notices_title"), Role::TitleFocused);
        let hints =
            frame::hints(look, &[("Esc", "layer.hint_back"), ("↑↓", "layer.hint_scroll"), ("c", "layer.hint_copy")]);
        let inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
        let lines = lines(&self.notices, inside.width.saturating_sub(1), look);
        self.pager.draw(inside, buffer, look, &line::rows(&lines, inside.width));
        None
    }
}
