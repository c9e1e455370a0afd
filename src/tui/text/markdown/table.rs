//! Tables with fitted columns. What does not fit is wrapped inside its cell; what cannot be a table any more becomes a list of records.

use crate::tui::text::glyph::Glyphs;
use crate::tui::text::row::{Row, RowBuilder};
use crate::tui::text::width;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::{Paint, Role};
use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use std::ops::Range;

/// A cell: its lines (`<br>` begins a new one).
pub(super) type Cell<'a> = Vec<Vec<Span<'a>>>;

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct Table<'a> {
    pub alignments: Vec<Alignment>,
    /// The first row is the head.
    pub rows: Vec<(Vec<Cell<'a>>, Range<usize>)>,
    /// The head is shown elsewhere: this is a later part of a long table.
    pub headless: bool,
}

/// Columns between two cells: a space, a line, a space.
const BETWEEN: u16 = 3;
/// A column that would have to be narrower than this makes the table a list.
const NARROWEST: u16 = 5;

impl<'a> Table<'a> {
    /// Lays the table out in a frame.
    pub fn rows(mut self, frame: &Frame, glyphs: &Glyphs, out: &mut Vec<Row>) {
        let columns = self.alignments.len();
        if columns == 0 || frame.width == 0 {
            return;
        }
        for (cells, _) in &mut self.rows {
            cells.resize_with(columns, Vec::new);
        }
        let prefix: u16 = frame.rest.iter().map(|(text, _)| width::of(text)).sum();
        let room = frame.width.saturating_sub(prefix);
        match self.fit(room) {
            Some(widths) => self.grid(&widths, frame, glyphs, out),
            None => self.records(frame, out),
        }
    }

    /// The widths of the columns, if they fit at all.
    fn fit(&self, room: u16) -> Option<Vec<u16>> {
        let columns = self.alignments.len();
        let lines = BETWEEN.checked_mul(columns as u16 - 1)?;
        let room = room.checked_sub(lines)?;
        let mut natural = vec![1_u16; columns];
        for (cells, _) in &self.rows {
            for (wide, cell) in natural.iter_mut().zip(cells) {
                let longest = cell.iter().map(|line| line.iter().map(|span| shown_width(span)).sum::<u32>()).max();
                *wide = (*wide).max(longest.unwrap_or(0).min(u32::from(u16::MAX)) as u16);
            }
        }
        let total: u32 = natural.iter().map(|&wide| u32::from(wide)).sum();
        if total <= u32::from(room) {
            return Some(natural);
        }
        if columns > 1 && room / (columns as u16) < NARROWEST {
            return None;
        }
        Some(share(&natural, room))
    }

    fn grid(&self, widths: &[u16], frame: &Frame, glyphs: &Glyphs, out: &mut Vec<Row>) {
        let first = out.len();
        let mut wrapped = false;
        let mut rules = Vec::new();
        for (index, (cells, source)) in self.rows.iter().enumerate() {
            if index == 0 && self.headless {
                continue;
            }
            let before = out.len();
            self.visual_rows(cells, source, widths, frame, glyphs, index == 0, out);
            wrapped |= index > 0 && out.len() - before > 1;
            if index + 1 < self.rows.len() || index == 0 {
                rules.push((out.len(), index == 0, source.end));
            }
        }
        // A line below the head; lines between all rows only where rows are taller than a line and would run together.
        for (at, head, source) in rules.into_iter().rev() {
            if head || wrapped {
                out.insert(at, rule(widths, frame, glyphs, source));
            }
        }
        if let Some(row) = out.get_mut(first)
            && !frame.first.is_empty()
        {
            prepend(row, &frame.first, &frame.rest);
        }
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one row of one table; everything is needed and nothing belongs together"
    )]
    fn visual_rows(
        &self,
        cells: &[Cell<'a>],
        source: &Range<usize>,
        widths: &[u16],
        frame: &Frame,
        glyphs: &Glyphs,
        head: bool,
        out: &mut Vec<Row>,
    ) {
        let laid: Vec<Vec<Row>> = cells
            .iter()
            .zip(widths)
            .map(|(cell, &wide)| {
                let mut rows = Vec::new();
                for line in cell {
                    wrap(line, &Frame::plain(wide), source.start, &mut rows);
                }
                rows
            })
            .collect();
        let height = laid.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for y in 0..height {
            let mut builder = RowBuilder::default();
            for (text, paint) in &frame.rest {
                builder.push(text, *paint);
            }
            for (x, (rows, &wide)) in laid.iter().zip(widths).enumerate() {
                if x > 0 {
                    builder.push(" ", Role::Text).push(glyphs.column, Role::Marker).push(" ", Role::Text);
                }
                let start = builder.width();
                if let Some(row) = rows.get(y) {
                    let spare = wide.saturating_sub(row.width);
                    let left = match self.alignments.get(x) {
                        Some(Alignment::Right) => spare,
                        Some(Alignment::Center) => spare / 2,
                        _ => 0,
                    };
                    builder.pad_to(start + left);
                    push_row(&mut builder, row, head);
                }
                if x + 1 < widths.len() {
                    builder.pad_to(start + wide);
                }
            }
            out.push(builder.finish(source.clone()));
        }
    }

    /// Each row as lines of `head: value`, for panes too narrow for a table.
    fn records(&self, frame: &Frame, out: &mut Vec<Row>) {
        let head = self.rows.first().map(|(cells, _)| cells.as_slice()).unwrap_or_default();
        let mut frame = frame.clone();
        for (index, (cells, source)) in self.rows.iter().skip(1).enumerate() {
            if index > 0 {
                wrap(&[], &frame, source.start, out);
            }
            for (name, cell) in head.iter().zip(cells) {
                let mut line: Vec<Span<'_>> = name.iter().flatten().map(bold).collect();
                line.push(Span { text: ": ".into(), paint: Role::Marker.into(), source: source.start..source.start });
                line.extend(cell.iter().flatten().cloned());
                wrap(&line, &frame, source.start, out);
                frame.first.clone_from(&frame.rest);
            }
        }
        if self.rows.len() == 1 {
            for cell in head {
                wrap(&cell.iter().flatten().map(bold).collect::<Vec<_>>(), &frame, 0, out);
                frame.first.clone_from(&frame.rest);
            }
        }
    }
}

fn bold<'a>(span: &Span<'a>) -> Span<'a> {
    let paint = Paint { emphasis: span.paint.emphasis | Modifier::BOLD, ..span.paint };
    Span { text: span.text.clone(), paint, source: span.source.clone() }
}

/// Columns a span takes; what is sanitized may take a column where it took none.
fn shown_width(span: &Span<'_>) -> u32 {
    u32::from(width::of(&crate::tui::text::sanitize::line(&span.text)))
}

/// Shares the room: columns that need less than an even share keep what they need, the rest is divided among the others by their need.
fn share(natural: &[u16], room: u16) -> Vec<u16> {
    let mut widths = vec![0_u16; natural.len()];
    let mut open: Vec<usize> = (0..natural.len()).collect();
    let mut left = room;
    loop {
        let even = left / open.len().max(1) as u16;
        let (small, large): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&i| natural[i] <= even);
        if small.is_empty() || large.is_empty() {
            break;
        }
        for i in small {
            widths[i] = natural[i];
            left -= natural[i];
        }
        open = large;
    }
    // The square root keeps one long column from starving the others.
    let need: f64 = open.iter().map(|&i| f64::from(natural[i]).sqrt()).sum();
    let floor = (left / open.len().max(1) as u16).min(NARROWEST);
    let mut given = 0;
    for (n, &i) in open.iter().enumerate() {
        let last = n + 1 == open.len();
        let wish = (f64::from(left) * f64::from(natural[i]).sqrt() / need) as u16;
        let after = (open.len() - n - 1) as u16 * floor;
        widths[i] =
            if last { left - given } else { wish.clamp(floor, (left - given).saturating_sub(after).max(floor)) };
        given += widths[i];
    }
    widths
}

fn push_row(builder: &mut RowBuilder, row: &Row, head: bool) {
    let mut at = 0;
    for run in &row.runs {
        let end = at + run.len as usize;
        let mut paint = run.paint;
        if head {
            paint.emphasis |= Modifier::BOLD;
        }
        builder.push(&row.text[at..end], paint);
        at = end;
    }
}

fn rule(widths: &[u16], frame: &Frame, glyphs: &Glyphs, at: usize) -> Row {
    let mut builder = RowBuilder::default();
    for (text, paint) in &frame.rest {
        builder.push(text, *paint);
    }
    for (x, &wide) in widths.iter().enumerate() {
        if x > 0 {
            builder.push(glyphs.line, Role::Marker).push(glyphs.cross, Role::Marker).push(glyphs.line, Role::Marker);
        }
        builder.push(&glyphs.line.repeat(usize::from(wide)), Role::Marker);
    }
    builder.finish(at..at)
}

/// Puts the first row's own prefix in the place of the others'.
fn prepend(row: &mut Row, first: &[(Box<str>, Paint)], rest: &[(Box<str>, Paint)]) {
    let skip: usize = rest.iter().map(|(text, _)| text.len()).sum();
    let mut builder = RowBuilder::default();
    for (text, paint) in first {
        builder.push(text, *paint);
    }
    let mut at = 0;
    for run in &row.runs {
        let end = at + run.len as usize;
        if end > skip {
            builder.push(&row.text[at.max(skip)..end], run.paint);
        }
        at = end;
    }
    *row = builder.finish(row.source.clone());
}
