//! Putting the rows of a window into the buffer. Knows where things are; decides nothing.

use super::layout::LEAD;
use super::search::Search;
use super::walk::Spot;
use crate::tui::cell::Sign;
use crate::tui::text::row::Row;
use crate::tui::text::{Signs, width};
use crate::tui::theme::{Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::sync::Arc;

/// A row of the window.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub spot: Spot,
    /// The rows of its block.
    pub rows: Arc<[Row]>,
    pub key: u16,
    pub inset: u16,
    pub sign: Option<Sign>,
    pub under: Role,
    pub ticks: bool,
}

impl Line {
    /// The row itself.
    pub fn row(&self) -> Option<&Row> {
        self.rows.get(self.spot.row)
    }

    fn is_lead(&self) -> bool {
        self.key == LEAD
    }
}

/// A window while it is drawn.
pub(super) struct Picture<'a> {
    pub area: Rect,
    pub theme: &'a Theme,
    pub signs: Signs,
    pub lines: &'a [Line],
}

impl Picture<'_> {
    fn at(&self, y: usize) -> Rect {
        Rect { y: self.area.y + y as u16, height: 1, ..self.area }
    }

    /// The columns of a row's text.
    fn text(&self, y: usize, inset: u16) -> Rect {
        let area = self.at(y);
        let left = (1 + inset).min(area.width);
        Rect { x: area.x + left, width: area.width.saturating_sub(left + 1), ..area }
    }

    /// The rows themselves.
    pub fn rows(&self, buffer: &mut Buffer) {
        for (y, line) in self.lines.iter().enumerate() {
            let Some(row) = line.row() else { continue };
            if line.under != Role::Text {
                buffer.set_style(self.at(y), self.theme.style(line.under));
            }
            if let (Some(sign), 0) = (line.sign, line.spot.row) {
                let (sign, role) = sign.drawn(self.signs);
                let row = Row::plain(sign, role);
                // It stands right before the text, whatever its width.
                let x = line.inset.saturating_sub(width::of(sign) + 1);
                row.draw(self.text(y, x), buffer, self.theme);
            }
            row.draw(self.text(y, line.inset), buffer, self.theme);
        }
    }

    /// The mark beside the current entry; answers where the caret stands.
    pub fn cursor(&self, cursor: Option<Spot>, buffer: &mut Buffer) -> Option<Position> {
        let cursor = cursor?;
        let mut caret = None;
        for (y, line) in self.lines.iter().enumerate() {
            let area = self.at(y);
            if line.spot.entry == cursor.entry && !line.is_lead() {
                let style = self.theme.style(if line.spot == cursor { Role::Accent } else { Role::Marker });
                width::put(buffer, area.x, area.y, self.signs.glyphs().current, 1, style);
            }
            if line.spot == cursor {
                caret = Some(Position { x: area.x, y: area.y });
            }
        }
        caret
    }

    /// What is selected.
    pub fn selection(&self, selection: Option<(Spot, Spot)>, buffer: &mut Buffer) {
        let Some((from, to)) = selection else { return };
        for (y, line) in self.lines.iter().enumerate() {
            if line.spot >= from && line.spot <= to {
                buffer.set_style(self.text(y, 0), self.theme.style(Role::Selection));
            }
        }
    }

    /// The matches of a search.
    pub fn matches(&self, search: &Search, buffer: &mut Buffer) {
        let hit = search.hit();
        let mut y = 0;
        while y < self.lines.len() {
            // Neighbouring rows of one text are looked at together: a match may go on in the next row.
            let same = |a: &Line, b: &Line| {
                (a.spot.entry, a.spot.part, a.spot.block) == (b.spot.entry, b.spot.part, b.spot.block)
            };
            let count = self.lines[y..].iter().take_while(|line| same(line, &self.lines[y])).count();
            let line = &self.lines[y];
            let rows: Vec<&Row> = self.lines[y..y + count].iter().filter_map(Line::row).collect();
            let current = hit.filter(|hit| hit.entry == line.spot.entry && hit.key == line.key).map(|hit| hit.start);
            // The current match may stand in another block of the same text.
            let current = current.filter(|at| {
                rows.last().is_some_and(|row| *at <= row.source.end)
                    && rows.first().is_some_and(|row| *at >= row.source.start)
            });
            for (row, columns, is_current) in search.columns(&rows, current) {
                let role = if is_current { Role::MatchCurrent } else { Role::Match };
                let area = self.text(y + row, line.inset);
                let rect = Rect { x: area.x + columns.start, width: columns.end - columns.start, ..area };
                buffer.set_style(rect.intersection(area), self.theme.style(role));
            }
            y += count;
        }
    }
}
