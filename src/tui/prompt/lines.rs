//! Rows of text for a card: styled pieces wrapped to a width, labels beside values.
//!
//! Over the wrapping of `text::wrap`, which sanitizes. Nothing is cut unless its name says so.

use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::text::{Row, RowBuilder, row, sanitize, width};
use crate::tui::theme::Paint;

/// A stretch of text in one paint.
pub(super) type Piece<'a> = (&'a str, Paint);

/// Where lines may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words; inside a word only where it is wider than the line. Spaces at a break are dropped.
    Words,
    /// Anywhere, keeping every space: commands, URLs.
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
        Self { width: width.max(2), rows: Vec::new() }
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

    pub(super) fn extend(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
    }

    /// Wraps a text between words; its own line ends are kept.
    pub(super) fn text(&mut self, text: &str, paint: impl Into<Paint>) {
        self.hanging(&[], &[(text, paint.into())], Break::Words);
    }

    /// Wraps pieces behind a prefix; rows after the first are indented by as much.
    pub(super) fn hanging(&mut self, prefix: &[Piece<'_>], pieces: &[Piece<'_>], how: Break) {
        let clean = |(text, paint): &Piece<'_>| (sanitize::line(text).into_owned().into_boxed_str(), *paint);
        let mut first: Vec<(Box<str>, Paint)> = prefix.iter().map(clean).collect();
        let columns = first.iter().map(|(text, _)| width::of(text)).sum();
        let rest: Vec<(Box<str>, Paint)> = vec![(blanks(columns).into(), Paint::default())];
        for line in logical(pieces) {
            let frame =
                Frame { width: self.width, first: first.clone(), rest: rest.clone(), ..Frame::plain(self.width) };
            match how {
                Break::Words => wrap(&line, &frame, 0, &mut self.rows),
                Break::Anywhere => anywhere(&line, &frame, &mut self.rows),
            }
            first.clone_from(&rest);
        }
    }

    /// A label in its own column and pieces beside it, wrapped under themselves. Where the column would leave too little room, the label
    /// gets a row of its own.
    pub(super) fn labelled(&mut self, label: Piece<'_>, column: u16, pieces: &[Piece<'_>], how: Break) {
        if column.saturating_mul(5) > self.width.saturating_mul(3) {
            self.hanging(&[], &[label], Break::Words);
            self.hanging(&[("  ", Paint::default())], pieces, how);
            return;
        }
        let name = fit(label.0, column.saturating_sub(1), "~");
        let pad = blanks(column.saturating_sub(width::of(&name)));
        self.hanging(&[(&name, label.1), (&pad, Paint::default())], pieces, how);
    }
}

fn blanks(columns: u16) -> String {
    " ".repeat(usize::from(columns))
}

/// The pieces cut at line ends.
fn logical<'a>(pieces: &[Piece<'a>]) -> Vec<Vec<Span<'a>>> {
    let mut lines = vec![Vec::new()];
    for (text, paint) in pieces {
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            let part = part.strip_suffix('\r').unwrap_or(part);
            if let Some(line) = lines.last_mut() {
                line.push(Span { text: part.into(), paint: *paint, source: 0..0 });
            }
        }
    }
    lines
}

/// Fills row after row to its end.
fn anywhere(line: &[Span<'_>], frame: &Frame, out: &mut Vec<Row>) {
    let mut builder = RowBuilder::default();
    let begin = |builder: &mut RowBuilder, prefix: &[(Box<str>, Paint)]| {
        let columns: u16 = prefix.iter().map(|(text, _)| width::of(text)).sum();
        // Where the prefix leaves no room it is left out.
        for (text, paint) in prefix.iter().filter(|_| columns + 2 <= frame.width) {
            builder.push(text, *paint);
        }
        builder.width()
    };
    let mut start = begin(&mut builder, &frame.first);
    for span in line {
        let clean = sanitize::line(&span.text);
        for (piece, columns) in width::pieces(&clean) {
            if builder.width() + columns > frame.width && builder.width() > start {
                out.push(builder.finish(0..0));
                start = begin(&mut builder, &frame.rest);
            }
            builder.push(piece, span.paint);
        }
    }
    out.push(builder.finish(0..0));
}

/// The text on one line, sanitized, cut to `columns` with a mark if it is wider.
pub(super) fn fit(text: &str, columns: u16, mark: &str) -> String {
    let clean = sanitize::line(text);
    let (head, was_cut) = row::cut(&clean, columns, mark);
    if was_cut { format!("{head}{mark}") } else { head.to_owned() }
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
        lines.hanging(&[], &[(text, Role::Text.into())], how);
        texts(&lines.finish()).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn words_are_kept_whole_and_commands_to_the_last_space() {
        assert_eq!(wrapped("one two  three", 7, Break::Words), ["one two", "three"]);
        assert_eq!(wrapped("a\n\nb", 9, Break::Words), ["a", "", "b"]);
        assert_eq!(wrapped("ls   -l", 4, Break::Anywhere), ["ls  ", " -l"]);
        assert_eq!(wrapped("a\nb", 4, Break::Anywhere), ["a", "b"]);
    }

    #[test]
    fn values_hang_beside_their_label() {
        let mut lines = Lines::new(20);
        lines.labelled(("path", Role::Label.into()), 6, &[("a long value here", Role::Value.into())], Break::Words);
        assert_eq!(texts(&lines.finish()), ["path  a long value", "      here"]);
        let mut lines = Lines::new(9);
        lines.labelled(("path", Role::Label.into()), 6, &[("value", Role::Value.into())], Break::Words);
        assert_eq!(texts(&lines.finish()), ["path", "value"]);
    }

    #[test]
    fn cuts_with_a_mark() {
        assert_eq!(fit("纽约明天", 5, "…"), "纽约…");
        assert_eq!(fit("plain", 5, "…"), "plain");
        assert_eq!(cut("plain", 5, "…"), "plai…");
        assert_eq!(cut("plain", 9, "…"), "plain…");
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
