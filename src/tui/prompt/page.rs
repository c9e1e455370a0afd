//! What of something taller than its window is in sight.

use super::glyph::glyphs;
use crate::tui::look::Look;
use crate::tui::text::{Row, width};
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What decides which rows are in sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum By {
    /// The reader: from the start, and after turning pages.
    #[default]
    Reading,
    /// What has the focus.
    Following,
}

/// A window on rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Page {
    top: usize,
    by: By,
    height: usize,
    total: usize,
}

impl Page {
    /// The first row in sight.
    pub(super) fn top(self) -> usize {
        self.top
    }

    /// Back to the first row, to be read.
    pub(super) fn rewind(&mut self) {
        self.top = 0;
        self.by = By::Reading;
    }

    /// From now on what has the focus is kept in sight.
    pub(super) fn follow(&mut self) {
        self.by = By::Following;
    }

    /// Turns a page up (-1) or down (1); whether there was anything to turn to.
    pub(super) fn turn(&mut self, by: i32) -> bool {
        let page = i32::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(i32::MAX);
        self.scroll(by.saturating_mul(page))
    }

    /// Moves by rows; whether there was anything to move to.
    pub(super) fn scroll(&mut self, by: i32) -> bool {
        self.by = By::Reading;
        let last = self.total.saturating_sub(self.height);
        let to = self.top.saturating_add_signed(by as isize).min(last);
        std::mem::replace(&mut self.top, to) != to
    }

    /// Fits the window to what is there, however many rows that are: nobody may approve what cannot be scrolled to. While following, `keep` (first row,
    /// row behind the last) stays in sight.
    pub(super) fn settle(&mut self, total: usize, height: u16, keep: Option<(usize, usize)>) {
        let height = usize::from(height);
        self.total = total;
        self.height = height;
        if let (By::Following, Some((from, to))) = (self.by, keep) {
            if to > self.top.saturating_add(height) {
                self.top = to.saturating_sub(height);
            }
            self.top = self.top.min(from);
        }
        self.top = self.top.min(total.saturating_sub(height));
    }

    /// Rows below the window.
    pub(super) fn below(self) -> usize {
        self.total.saturating_sub(self.top.saturating_add(self.height))
    }

    /// Draws a mark into the last column of the window's area: which part of the whole is in sight.
    pub(super) fn mark(self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
        if self.total <= usize::from(area.height) || area.is_empty() {
            return;
        }
        let g = glyphs(look);
        let x = area.right() - 1;
        let height = usize::from(area.height);
        let thumb = (height * height / self.total).max(1);
        let from = (self.top * height / self.total).min(height - thumb);
        for y in from..from + thumb {
            put(g.thumb, x, area.y + y as u16, Role::Dim, buffer, look);
        }
        if self.top > 0 {
            put(g.up, x, area.y, Role::Accent, buffer, look);
        }
        if self.below() > 0 {
            put(g.down, x, area.bottom() - 1, Role::Accent, buffer, look);
        }
    }
}

fn put(text: &str, x: u16, y: u16, role: Role, buffer: &mut Buffer, look: &Look<'_>) {
    // A symbol that this terminal draws wide would hang over the edge.
    let text = if width::of(text) == 1 { text } else { "|" };
    Row::plain(text, role).draw(Rect::new(x, y, 1, 1), buffer, look.theme);
}
