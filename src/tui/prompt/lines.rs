//! Rows of text for a card: styled pieces wrapped to a width, labels beside values.
//!
//! Everything that is pushed is sanitized here. Nothing is cut unless its name says so.

use crate::tui::text::{Row, RowBuilder, sanitize, width};
use crate::tui::theme::Paint;
use unicode_segmentation::UnicodeSegmentation;

/// A stretch of text in one paint.
pub(super) type Piece<'a> = (&'a str, Paint);

/// Where lines may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words; inside a word only where it is wider than the line.
    Words,
    /// Anywhere, keeping every space: commands, URLs, code.
    Anywhere,
}

/// Rows under construction.
#[derive(Debug)]
pub(super) struct Lines {
    width: u16,
    rows: Vec<Row>,
}

impl Lines {
    pub(super) fn new(width: u16) -> Self {
        Self { width: width.max(1), rows: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn width(&self) -> u16 {
        self.width
    }

    pub(super) fn finish(self) -> Vec<Row> {
        self.rows
    }

    pub(super) fn blank(&mut self) {
        self.rows.push(Row::default());
    }

    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Wraps a text between words; its own line ends are kept.
    pub(super) fn text(&mut self, text: &str, paint: impl Into<Paint>) {
        self.hanging(&[(text, paint.into())], 0, Break::Words);
    }

    /// Wraps pieces; rows after the first are indented by `indent` columns.
    pub(super) fn hanging(&mut self, pieces: &[Piece<'_>], indent: u16, how: Break) {
        let indent = if indent.saturating_mul(2) > self.width { 0 } else { indent };
        let mut line = Vec::new();
        let mut room = self.width;
        for (text, paint) in pieces {
            for (i, part) in text.split('\n').enumerate() {
                if i > 0 {
                    room = self.wrap(&std::mem::take(&mut line), room, indent, how);
                }
                let part = part.strip_suffix('\r').unwrap_or(part);
                line.extend(sanitize::line(part).graphemes(true).map(|g| Cell::new(g, *paint)));
            }
        }
        self.wrap(&line, room, indent, how);
    }

    /// Emits one logical line as rows; returns the room of the next one.
    fn wrap(&mut self, line: &[Cell], first: u16, indent: u16, how: Break) -> u16 {
        let rest = self.width - indent;
        let mut room = first;
        let mut start = 0;
        loop {
            let end = reach(line, start, room);
            let stop = if end == line.len() || how == Break::Anywhere { end } else { break_before(line, start, end) };
            let shown = if end < line.len() && how == Break::Words { trimmed(line, start, stop) } else { stop };
            let pad = if room == first && room == self.width { 0 } else { indent };
            self.rows.push(row_of(&line[start..shown], pad));
            start = stop;
            room = rest;
            if start >= line.len() {
                return rest;
            }
        }
    }

    /// A label in its own column and pieces beside it, wrapped under themselves. Where the column would leave too little room, the label
    /// gets a row of its own.
    pub(super) fn labelled(&mut self, label: Piece<'_>, column: u16, pieces: &[Piece<'_>], how: Break) {
        if column.saturating_mul(5) > self.width.saturating_mul(3) {
            self.hanging(&[label], 0, Break::Words);
            self.indented(pieces, 2, how);
            return;
        }
        let name = fit(label.0, column.saturating_sub(1), "~");
        let pad = column.saturating_sub(width::of(&name));
        let pad = " ".repeat(usize::from(pad));
        let mut all = vec![(name.as_str(), label.1), (pad.as_str(), Paint::default())];
        all.extend_from_slice(pieces);
        self.hanging(&all, column, how);
    }

    /// Wraps pieces with every row indented.
    pub(super) fn indented(&mut self, pieces: &[Piece<'_>], indent: u16, how: Break) {
        let pad = " ".repeat(usize::from(indent));
        let mut all = vec![(pad.as_str(), Paint::default())];
        all.extend_from_slice(pieces);
        self.hanging(&all, indent, how);
    }
}

/// One grapheme with its paint.
struct Cell {
    text: Box<str>,
    columns: u16,
    paint: Paint,
}

impl Cell {
    fn new(text: &str, paint: Paint) -> Self {
        Self { text: text.into(), columns: width::of(text), paint }
    }

    fn is_space(&self) -> bool {
        &*self.text == " "
    }
}

/// The end of what fits into `room` from `start`; at least one cell.
fn reach(line: &[Cell], start: usize, room: u16) -> usize {
    let mut used = 0;
    for (i, cell) in line.iter().enumerate().skip(start) {
        used += cell.columns;
        if used > room && i > start {
            return i;
        }
    }
    line.len()
}

/// The best place to break in `start..=end`, where `end` is the first cell that does not fit.
fn break_before(line: &[Cell], start: usize, end: usize) -> usize {
    if line[end].is_space() {
        let spaces = line[end..].iter().take_while(|c| c.is_space()).count();
        return end + spaces;
    }
    (start + 1..=end).rev().find(|&at| breaks(line, at)).unwrap_or(end)
}

/// Whether a line may be broken before this cell: behind a space, and beside wide characters except before closing punctuation.
fn breaks(line: &[Cell], at: usize) -> bool {
    const NEVER_FIRST: &str = "，。、；：？！）】》」』’”…,.;:?!)]}";
    const NEVER_LAST: &str = "（【《「『‘“([{";
    let (before, here) = (&line[at - 1], &line[at]);
    if before.is_space() {
        return true;
    }
    (before.columns == 2 || here.columns == 2) && !NEVER_FIRST.contains(&*here.text) && !NEVER_LAST.contains(&*before.text)
}

fn trimmed(line: &[Cell], start: usize, stop: usize) -> usize {
    stop - line[start..stop].iter().rev().take_while(|c| c.is_space()).count()
}

fn row_of(cells: &[Cell], pad: u16) -> Row {
    let mut builder = RowBuilder::default();
    builder.push(&" ".repeat(usize::from(pad)), Paint::default());
    for cell in cells {
        builder.push(&cell.text, cell.paint);
    }
    builder.finish(0..0)
}

/// The text on one line, sanitized, cut to `columns` with a mark if it is wider.
pub(super) fn fit(text: &str, columns: u16, mark: &str) -> String {
    let clean = sanitize::line(text);
    if width::of(&clean) <= columns {
        return clean.into_owned();
    }
    let room = columns.saturating_sub(width::of(mark));
    let mut out = String::new();
    let mut used = 0;
    for grapheme in clean.graphemes(true) {
        used += width::of(grapheme);
        if used > room {
            break;
        }
        out.push_str(grapheme);
    }
    if width::of(mark) <= columns {
        out.push_str(mark);
    }
    out
}

/// A text that goes on where it is not shown: its end is replaced by the mark, or the mark is added where there is room.
pub(super) fn cut(text: &str, columns: u16, mark: &str) -> String {
    fit(&format!("{text}{mark}{mark}"), columns.min(width::of(text) + width::of(mark)), mark)
}

/// The first line of a text that says anything.
pub(super) fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Role;
    use proptest::prelude::*;

    fn texts(rows: &[Row]) -> Vec<&str> {
        rows.iter().map(|row| &*row.text).collect()
    }

    fn wrapped(text: &str, columns: u16, how: Break) -> Vec<String> {
        let mut lines = Lines::new(columns);
        lines.hanging(&[(text, Role::Text.into())], 0, how);
        texts(&lines.finish()).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn breaks_between_words_and_beside_wide_characters() {
        assert_eq!(wrapped("one two  three", 7, Break::Words), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4, Break::Words), ["unbr", "eaka", "ble"]);
        assert_eq!(wrapped("纽约明天，晴", 9, Break::Words), ["纽约明", "天，晴"]);
        assert_eq!(wrapped("a\n\nb", 9, Break::Words), ["a", "", "b"]);
        assert_eq!(wrapped("ls   -l", 4, Break::Anywhere), ["ls  ", " -l"]);
    }

    #[test]
    fn values_hang_beside_their_label() {
        let mut lines = Lines::new(20);
        lines.labelled(("path", Role::Label.into()), 6, &[("a long value here", Role::Value.into())], Break::Words);
        assert_eq!(texts(&lines.finish()), ["path  a long value", "      here"]);
        let mut lines = Lines::new(9);
        lines.labelled(("path", Role::Label.into()), 6, &[("value", Role::Value.into())], Break::Words);
        assert_eq!(texts(&lines.finish()), ["path", "  value"]);
    }

    #[test]
    fn cuts_with_a_mark() {
        assert_eq!(fit("纽约明天", 5, "…"), "纽约…");
        assert_eq!(fit("plain", 5, "…"), "plain");
        assert_eq!(fit("plain", 0, "…"), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn no_row_is_wider_and_nothing_is_lost(text in "[a-z 纽约（，]{0,40}", columns in 2_u16..20) {
            for how in [Break::Words, Break::Anywhere] {
                let rows = wrapped(&text, columns, how);
                for row in &rows {
                    prop_assert!(width::of(row) <= columns, "{row:?}");
                }
                let squeeze = |t: &str| t.replace(' ', "");
                prop_assert_eq!(squeeze(&rows.concat()), squeeze(&text));
                if how == Break::Anywhere {
                    prop_assert_eq!(rows.concat(), text.clone());
                }
            }
        }
    }
}
