//! A window on rows that are already laid out: scrolling by keys, a thumb at the edge.

use crate::tui::look::Look;
use crate::tui::text::Row;
use crate::tui::widget::scrollbar;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Where the window stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pager {
    top: usize,
    page: usize,
    len: usize,
}

impl Pager {
    /// Takes a key that scrolls; false for any other.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        if key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) {
            return false;
        }
        let last = self.len.saturating_sub(self.page);
        let page = self.page.max(2) - 1;
        self.top = match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => (self.top + 1).min(last),
            KeyCode::PageUp => self.top.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ') => (self.top + page).min(last),
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => last,
            _ => return false,
        };
        true
    }

    /// Scrolls so that a line is in sight, a third from the top.
    pub fn show(&mut self, line: usize) {
        if line < self.top || line >= self.top + self.page {
            self.top = line.saturating_sub(self.page / 3);
        }
    }

    /// Back to the beginning.
    pub fn to_top(&mut self) {
        self.top = 0;
    }

    /// Draws the rows in sight; the last column is the thumb's.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, rows: &[Row]) {
        self.page = usize::from(area.height);
        self.len = rows.len();
        self.top = self.top.min(self.len.saturating_sub(self.page));
        let width = area.width.saturating_sub(1);
        for (y, row) in (area.y..area.bottom()).zip(&rows[self.top..]) {
            row.draw(Rect { y, width, height: 1, ..area }, buffer, look.theme);
        }
        let edge = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
        scrollbar::draw(edge, buffer, look, scrollbar::of_rows(self.top, self.page, self.len));
    }
}
