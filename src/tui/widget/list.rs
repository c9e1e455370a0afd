//! Which entry of a list is selected and which are in sight. Drawing them is the owner's.

use crate::tui::look::Look;
use crate::tui::widget::scrollbar;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// Selection and window of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct List {
    selected: usize,
    top: usize,
    page: usize,
}

impl List {
    /// The selected entry; of an empty list 0.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Selects an entry.
    pub fn select(&mut self, index: usize) {
        self.selected = index;
    }

    /// Takes a key that moves the selection in a list of so many entries; false for any other.
    pub fn key(&mut self, key: KeyEvent, len: usize) -> bool {
        let last = len.saturating_sub(1);
        let page = self.page.max(2) - 1;
        self.selected = self.selected.min(last);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        self.selected = match key.code {
            KeyCode::Up => self.selected.saturating_sub(1),
            KeyCode::Down => (self.selected + 1).min(last),
            KeyCode::Char('p') if ctrl => self.selected.saturating_sub(1),
            KeyCode::Char('n') if ctrl => (self.selected + 1).min(last),
            KeyCode::PageUp => self.selected.saturating_sub(page),
            KeyCode::PageDown => (self.selected + page).min(last),
            KeyCode::Home => 0,
            KeyCode::End => last,
            _ => return false,
        };
        true
    }

    /// The entries in sight of so many, in so many rows; the selected one is among them.
    pub fn window(&mut self, len: usize, rows: usize) -> Range<usize> {
        self.page = rows;
        self.selected = self.selected.min(len.saturating_sub(1));
        let highest = (self.selected + 1).saturating_sub(rows);
        self.top = self.top.clamp(highest, self.selected.max(highest)).min(len.saturating_sub(rows));
        self.top..(self.top + rows).min(len)
    }

    /// Shows in a column which part of so many entries is in sight, if not all are. After [`Self::window`].
    pub fn thumb(&self, edge: Rect, buffer: &mut Buffer, look: &Look<'_>, len: usize) {
        scrollbar::draw(Rect { width: 1, ..edge }, buffer, look, scrollbar::of_rows(self.top, self.page, len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_entry_stays_in_sight() {
        let mut list = List::default();
        assert_eq!(list.window(10, 4), 0..4);
        let press = |list: &mut List, code| list.key(KeyEvent::new(code, KeyModifiers::NONE), 10);
        assert!(press(&mut list, KeyCode::End));
        assert_eq!((list.selected(), list.window(10, 4)), (9, 6..10));
        assert!(press(&mut list, KeyCode::PageUp));
        assert_eq!((list.selected(), list.window(10, 4)), (6, 6..10));
        assert!(press(&mut list, KeyCode::Up));
        assert_eq!(list.window(10, 4), 5..9);
        assert!(!press(&mut list, KeyCode::Char('x')));
        assert_eq!(list.window(2, 4), 0..2, "a list that became shorter");
        assert_eq!(list.window(0, 4), 0..0);
    }
}
