//! A finished line of the screen: wrapped, styled, sanitized.
//!
//! **Invariant:** a row's text holds no control byte and is no wider than the width it was laid out for.

use crate::tui::text::width;
use crate::tui::theme::{Paint, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A stretch of a row in one paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Bytes of the row's text.
    pub len: u32,
    /// How it looks.
    pub paint: Paint,
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
    /// Bytes of the source text it came from (for copying and searching); empty for decoration.
    pub source: Range<usize>,
}

impl Row {
    /// A row of one paint. The text must be sanitized already and fit.
    pub fn plain(text: impl Into<Box<str>>, paint: Paint) -> Self {
        let mut builder = RowBuilder::default();
        builder.push(&text.into(), paint);
        builder.finish(0..0)
    }

    /// Draws the row into `area`'s first line, cutting what does not fit at a grapheme's border. Cells it does not cover are left alone.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        if area.height == 0 {
            return;
        }
        let mut x = area.x;
        let right = area.x.saturating_add(area.width);
        let mut at = 0;
        for run in &self.runs {
            let end = at + run.len as usize;
            let style = theme.style(run.paint);
            for grapheme in self.text[at..end].graphemes(true) {
                let columns = width::of(grapheme);
                if columns == 0 {
                    continue;
                }
                if x + columns > right {
                    return;
                }
                width::put(buffer, x, area.y, grapheme, columns, style);
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
}

impl RowBuilder {
    /// Appends a piece. It must be sanitized already.
    pub fn push(&mut self, text: &str, paint: Paint) -> &mut Self {
        if text.is_empty() {
            return self;
        }
        self.text.push_str(text);
        self.width = self.width.saturating_add(width::of(text));
        match self.runs.last_mut() {
            Some(run) if run.paint == paint => run.len += text.len() as u32,
            _ => self.runs.push(Run { len: text.len() as u32, paint }),
        }
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
            source,
        };
        self.width = 0;
        row
    }
}
