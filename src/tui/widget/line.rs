//! One line of interface text, made of painted pieces and cut to the room there is.

use crate::tui::text::wrap::wrap;
use crate::tui::text::{Frame, Row, RowBuilder, Span, sanitize, width};
use crate::tui::theme::{Paint, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A line being built.
#[derive(Debug, Default, Clone)]
pub struct Line {
    pieces: Vec<(String, Paint)>,
    width: u16,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of one piece.
    pub fn of(text: &str, paint: impl Into<Paint>) -> Self {
        let mut line = Self::new();
        line.push(text, paint);
        line
    }

    /// Appends a piece; it is made safe to draw, newlines become spaces.
    pub fn push(&mut self, text: &str, paint: impl Into<Paint>) -> &mut Self {
        if !text.is_empty() {
            let flat = if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text.to_owned() };
            let clean = sanitize::line(&flat).into_owned();
            self.width = (self.width + width::of(&clean)).min(width::WIDEST);
            self.pieces.push((clean, paint.into()));
        }
        self
    }

    /// Appends all pieces of another line.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.width = (self.width + other.width).min(width::WIDEST);
        self.pieces.extend(other.pieces);
        self
    }

    /// Columns it takes.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Whether its first piece is this.
    pub fn starts_with(&self, text: &str) -> bool {
        self.pieces.first().is_some_and(|(first, _)| first == text)
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The finished row, no wider than `room`; what was cut is said by `…`.
    pub fn fit(&self, room: u16, ellipsis: &str) -> Row {
        let mut builder = RowBuilder::default();
        if self.width <= room {
            for (text, paint) in &self.pieces {
                builder.push(text, *paint);
            }
            return builder.finish(0..0);
        }
        let room = room.saturating_sub(width::of(ellipsis));
        for (text, paint) in &self.pieces {
            for (piece, columns) in width::pieces(text) {
                if builder.width() + columns > room {
                    builder.push(ellipsis, *paint);
                    return builder.finish(0..0);
                }
                builder.push(piece, *paint);
            }
        }
        builder.finish(0..0)
    }

    /// Draws it into the first row of an area.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        self.fit(area.width, "…").draw(area, buffer, theme);
    }

    /// Draws it at the right end of the first row of an area; returns the columns it took.
    pub fn draw_right(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> u16 {
        let row = self.fit(area.width, "…");
        let start = Rect { x: area.right() - row.width, width: row.width, ..area };
        row.draw(start, buffer, theme);
        row.width
    }
}

/// Lines as rows of a window of this width, whose last column is the thumb's.
pub fn rows(lines: &[Line], width: u16) -> Vec<Row> {
    lines.iter().map(|line| line.fit(width.saturating_sub(1), "…")).collect()
}

/// A text broken into lines no wider than `room`, and where it breaks itself. Safe to draw.
pub fn paragraphs(text: &str, room: u16) -> Vec<String> {
    let mut out = Vec::new();
    for paragraph in text.split('\n') {
        let text = paragraph.trim_end_matches('\r');
        let span = Span { text: text.into(), paint: Paint::default(), source: 0..text.len() };
        wrap(&[span], &Frame::plain(room.max(2)), 0, &mut out);
    }
    out.into_iter().map(|row| row.text.into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Role;

    #[test]
    fn fits_with_an_ellipsis_and_never_half_a_character() {
        let line = Line::of("纽约 forecast", Role::Text);
        assert_eq!(&*line.fit(20, "…").text, "纽约 forecast");
        assert_eq!(&*line.fit(4, "…").text, "纽…");
        assert_eq!(&*line.fit(0, "…").text, "…");
    }

    #[test]
    fn wraps_behind_spaces() {
        assert_eq!(paragraphs("one two three", 8), ["one two", "three"]);
        assert_eq!(paragraphs("abcdefgh\n\nx", 4), ["abcd", "efgh", "", "x"]);
        assert_eq!(paragraphs("纽约明天", 4), ["纽约", "明天"]);
    }
}
