//! One line of interface text, made of painted pieces and cut to the room there is.

use crate::tui::text::{Row, RowBuilder, sanitize, width};
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
            self.width = self.width.saturating_add(width::of(&clean));
            self.pieces.push((clean, paint.into()));
        }
        self
    }

    /// Appends all pieces of another line.
    pub fn append(&mut self, other: Self) -> &mut Self {
        self.width = self.width.saturating_add(other.width);
        self.pieces.extend(other.pieces);
        self
    }

    /// Columns it takes.
    pub fn width(&self) -> u16 {
        self.width
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

/// A text cut to the room there is, from the right.
pub fn cut(text: &str, room: u16) -> String {
    Line::of(text, Paint::default()).fit(room, "…").text.into()
}

/// A text of one paragraph broken into lines no wider than `room`, behind spaces where there are some. Newlines break too.
pub fn wrap(text: &str, room: u16) -> Vec<String> {
    let room = room.max(2);
    let mut out = Vec::new();
    for paragraph in text.split('\n') {
        let clean = sanitize::line(paragraph.trim_end_matches('\r'));
        let (mut line, mut columns) = (String::new(), 0);
        // Byte behind the last space, and the column there.
        let mut fold = (0, 0);
        for (piece, wide) in width::pieces(&clean) {
            if columns + wide > room && piece != " " {
                let (at, used) = if fold.0 > 0 { fold } else { (line.len(), columns) };
                let rest = line.split_off(at);
                out.push(line.trim_end().to_owned());
                (line, columns, fold) = (rest, columns - used, (0, 0));
            }
            line.push_str(piece);
            columns += wide;
            if piece == " " {
                fold = (line.len(), columns);
            }
        }
        out.push(line.trim_end().to_owned());
    }
    out
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
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh\n\nx", 4), ["abcd", "efgh", "", "x"]);
        assert_eq!(wrap("纽约明天", 4), ["纽约", "明天"]);
    }
}
