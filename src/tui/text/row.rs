//! A finished line of the screen: wrapped, styled, sanitized.
//!
//! **Invariant:** a row's text holds no control byte and is no wider than the width it was laid out for.

use crate::tui::text::width;
use crate::tui::theme::{Paint, Role, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// A stretch of a row in one paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Bytes of the row's text.
    pub len: u32,
    /// How it looks.
    pub paint: Paint,
}

/// What lies under a row, from one of its columns to the edge of the area: the background of a code block, of the user's words, of a diff line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fill {
    /// What it is; [`Role::Text`] is nothing.
    pub role: Role,
    /// First column.
    pub from: u16,
}

/// A finished line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// What it shows.
    pub text: Box<str>,
    /// Its paints, covering `text` from the start.
    pub runs: Box<[Run]>,
    /// Columns it takes.
    pub width: u16,
    /// What lies under it.
    pub fill: Fill,
    /// Bytes of the source text it came from (for copying and searching). Empty for decoration, which still says where it stands.
    pub source: Range<usize>,
}

impl Row {
    /// A row of one paint. The text must be sanitized already and fit.
    pub fn plain(text: impl Into<Box<str>>, paint: impl Into<Paint>) -> Self {
        let mut builder = RowBuilder::default();
        builder.push(&text.into(), paint.into());
        builder.finish(0..0)
    }

    /// An empty row that stands at a place of the source.
    pub fn blank(at: usize) -> Self {
        Self { source: at..at, ..Self::default() }
    }

    /// Draws the row into `area`'s first line, cutting what does not fit at a piece's border. Cells it does not cover are left alone.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let right = area.right();
        if self.fill.role != Role::Text {
            // What is drawn on it keeps its background unless it has one of its own.
            let from = area.x.saturating_add(self.fill.from).min(right);
            let under = theme.style(self.fill.role);
            buffer.set_style(Rect { x: from, y: area.y, width: right - from, height: 1 }, under);
        }
        let mut x = area.x;
        let mut at = 0;
        for run in &self.runs {
            let end = at + run.len as usize;
            let style = theme.style(run.paint);
            for (piece, columns) in width::pieces(&self.text[at..end]) {
                if columns == 0 {
                    continue;
                }
                if columns > right - x {
                    return;
                }
                width::put(buffer, x, area.y, piece, columns, style);
                x += columns;
            }
            at = end;
        }
    }
}

/// Builds a row piece by piece; neighbouring pieces of one paint are joined.
#[derive(Debug, Default)]
pub struct RowBuilder {
    text: String,
    runs: Vec<Run>,
    width: u16,
    fill: Fill,
}

impl RowBuilder {
    /// Appends a piece. It must be sanitized already.
    pub fn push(&mut self, text: &str, paint: impl Into<Paint>) -> &mut Self {
        let paint = paint.into();
        if text.is_empty() {
            return self;
        }
        self.text.push_str(text);
        self.width = (self.width + width::of(text)).min(width::WIDEST);
        match self.runs.last_mut() {
            Some(run) if run.paint == paint => run.len += text.len() as u32,
            _ => self.runs.push(Run { len: text.len() as u32, paint }),
        }
        self
    }

    /// Appends what fits into `columns` columns, with a sign of more where something was cut. It must be sanitized already.
    pub fn push_cut(&mut self, text: &str, columns: u16, more: &str, paint: impl Into<Paint>) -> &mut Self {
        let paint = paint.into();
        let cut = cut(text, columns, more);
        self.push(cut.0, paint);
        if cut.1 { self.push(more, paint) } else { self }
    }

    /// Appends spaces up to a column.
    pub fn pad_to(&mut self, column: u16) -> &mut Self {
        for _ in self.width..column {
            self.push(" ", Role::Text);
        }
        self
    }

    /// Puts something under the row, from the column reached.
    pub fn fill(&mut self, role: Role) -> &mut Self {
        self.fill = Fill { role, from: self.width };
        self
    }

    /// Columns so far.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Whether nothing was pushed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The finished row; the builder starts over.
    pub fn finish(&mut self, source: Range<usize>) -> Row {
        let row = Row {
            text: std::mem::take(&mut self.text).into_boxed_str(),
            runs: std::mem::take(&mut self.runs).into_boxed_slice(),
            width: self.width,
            fill: self.fill,
            source,
        };
        self.width = 0;
        self.fill = Fill::default();
        row
    }
}

/// The part of a text that fits into `columns` columns, and whether something was cut (then there is room for `more` behind it).
pub fn cut<'a>(text: &'a str, columns: u16, more: &str) -> (&'a str, bool) {
    // Most texts fit, and a text is no wider than its bytes times two.
    if text.len() <= usize::from(columns) && text.is_ascii() {
        return (text, false);
    }
    let room = columns.saturating_sub(width::of(more));
    let (mut used, mut at, mut fits) = (0_u16, 0, 0);
    for (piece, wide) in width::pieces(text) {
        if used + wide > columns {
            return if width::of(more) > columns { ("", false) } else { (&text[..fits], true) };
        }
        used += wide;
        at += piece.len();
        if used <= room {
            fits = at;
        }
    }
    (text, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_a_border_and_says_so() {
        assert_eq!(cut("weather", 7, "…"), ("weather", false));
        assert_eq!(cut("weather", 5, "…"), ("weat", true));
        assert_eq!(cut("天气很好", 5, "…"), ("天气", true));
        assert_eq!(cut("天气很好", 4, "…"), ("天", true));
        assert_eq!(cut("abc", 2, "..."), ("", false));
    }

    #[test]
    fn a_row_never_leaves_its_area() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 4, 1));
        Row::plain("天气天气", Role::Text).draw(Rect::new(1, 0, 9, 1), &mut buffer, &Theme::default());
        assert_eq!(buffer.cell((3, 0)).unwrap().symbol(), " ");
        assert_eq!(buffer.cell((1, 0)).unwrap().symbol(), "天");
    }
}
