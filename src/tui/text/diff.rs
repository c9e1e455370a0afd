//! What a write would change, as rows: line numbers, a sign *and* a colour for each line, and what changed inside a line made stronger.

use crate::domain::policy::{DiffLine, FileDiff};
use crate::strings::Strings;
use crate::tui::text::glyph::Signs;
use crate::tui::text::row::Row;
use crate::tui::text::width;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::{Paint, Role};
use std::ops::Range;

/// Lines that are drawn at a time: a diff has as many chunks as it needs.
pub const CHUNK: usize = 64;

/// One line of the drawing.
enum Line<'a> {
    /// Between two hunks.
    Break,
    /// A line of the file, and the line that replaces it or that it replaces.
    Text(&'a DiffLine, Option<&'a DiffLine>),
    /// So many lines are not shown.
    Omitted(usize),
}

/// How many lines a diff has when drawn; a long one takes several rows.
pub fn len(diff: &FileDiff) -> usize {
    let breaks = diff.hunks.len().saturating_sub(1);
    diff.hunks.iter().map(Vec::len).sum::<usize>() + breaks + usize::from(diff.omitted > 0)
}

/// All of its rows.
pub fn rows(diff: &FileDiff, columns: u16, signs: Signs, strings: &Strings) -> Vec<Row> {
    part(diff, 0..len(diff), columns, signs, strings)
}

/// The rows of some of its lines.
pub fn part(diff: &FileDiff, range: Range<usize>, columns: u16, signs: Signs, strings: &Strings) -> Vec<Row> {
    let number = diff.hunks.iter().flatten().filter_map(|line| line.new.max(line.old)).max().unwrap_or(0);
    let digits = number.to_string().len() as u16;
    let glyphs = signs.glyphs();
    let mut out = Vec::new();
    for line in lines(diff).skip(range.start).take(range.len()) {
        match line {
            Line::Break => {
                let gutter = " ".repeat(usize::from(digits.saturating_sub(width::of(glyphs.more))));
                wrap(&[decoration(format!("{gutter}{}", glyphs.more), Role::Dim)], &Frame::plain(columns), 0, &mut out);
            }
            Line::Omitted(count) => {
                let text = strings.fill("cell.lines_left_out", &[("n", &count.to_string())]);
                wrap(&[decoration(text, Role::Dim)], &Frame::plain(columns), 0, &mut out);
            }
            Line::Text(line, other) => text_rows(line, other, digits, columns, &mut out),
        }
    }
    out
}

fn decoration(text: String, role: Role) -> Span<'static> {
    Span { text: text.into(), paint: role.into(), source: 0..0 }
}

fn lines(diff: &FileDiff) -> impl Iterator<Item = Line<'_>> {
    let hunks = diff.hunks.iter().enumerate().flat_map(|(i, hunk)| {
        let line_break = (i > 0).then_some(Line::Break);
        line_break.into_iter().chain((0..hunk.len()).map(|at| Line::Text(&hunk[at], counterpart(hunk, at))))
    });
    hunks.chain((diff.omitted > 0).then_some(Line::Omitted(diff.omitted)))
}

/// The line at the same place of the neighbouring block of removed or added lines.
fn counterpart(hunk: &[DiffLine], at: usize) -> Option<&DiffLine> {
    let sign = hunk[at].sign;
    let start = hunk[..at].iter().rposition(|line| line.sign != sign).map_or(0, |before| before + 1);
    match sign {
        '-' => {
            let end = at + hunk[at..].iter().take_while(|line| line.sign == '-').count();
            hunk.get(end + at - start).filter(|_| hunk[end..=end + at - start].iter().all(|line| line.sign == '+'))
        }
        '+' => {
            let removed = hunk[..start].iter().rev().take_while(|line| line.sign == '-').count();
            (at - start < removed).then(|| &hunk[start - removed + (at - start)])
        }
        _ => None,
    }
}

fn text_rows(line: &DiffLine, other: Option<&DiffLine>, digits: u16, columns: u16, out: &mut Vec<Row>) {
    let (role, word) = match line.sign {
        '+' => (Role::Added, Role::AddedWord),
        '-' => (Role::Removed, Role::RemovedWord),
        _ => (Role::Text, Role::Text),
    };
    let number = if line.sign == '-' { line.old } else { line.new };
    let number = number.map_or_else(String::new, |n| n.to_string());
    let gutter = format!("{number:>width$} ", width = usize::from(digits));
    let blank = " ".repeat(gutter.len() + 2);
    let frame = Frame {
        width: columns,
        first: vec![(gutter.into(), Role::Dim.into()), (format!("{} ", line.sign).into(), role.into())],
        rest: vec![(blank.into(), Role::Dim.into())],
        under: role,
        bare: digits + 1,
    };
    let changed = other.map_or(0..0, |other| changed(&line.text, &other.text));
    let piece = |range: Range<usize>, role: Role| Span {
        text: line.text[range].into(),
        paint: Paint::from(role),
        source: 0..0,
    };
    let spans =
        [piece(0..changed.start, role), piece(changed.clone(), word), piece(changed.end..line.text.len(), role)];
    wrap(&spans, &frame, 0, out);
}

/// What of a line is not in the other, as one range; nothing where the lines have too little in common for that to help.
fn changed(line: &str, other: &str) -> Range<usize> {
    let same = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
        a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let start = same(&mut line.chars(), &mut other.chars());
    let end = same(&mut line[start..].chars().rev(), &mut other[start..].chars().rev());
    if start + end < line.len() / 3 { 0..0 } else { start..line.len() - end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sign: char, old: Option<u32>, new: Option<u32>, text: &str) -> DiffLine {
        DiffLine { sign, old, new, text: text.into() }
    }

    fn diff(hunks: Vec<Vec<DiffLine>>, omitted: usize) -> FileDiff {
        FileDiff { path: "a".into(), exists: true, added: 1, removed: 1, hunks, omitted }
    }

    #[test]
    fn numbers_signs_and_what_changed() {
        let diff = diff(
            vec![
                vec![
                    line(' ', Some(9), Some(9), "fn main() {"),
                    line('-', Some(10), None, "    let x = 1;"),
                    line('+', None, Some(10), "    let x = 22;"),
                ],
                vec![line('+', None, Some(40), "天气很好天气很好")],
            ],
            3,
        );
        let rows = rows(&diff, 20, Signs::Symbols, &Strings::default());
        let texts: Vec<&str> = rows.iter().map(|row| &*row.text).collect();
        assert_eq!(
            texts[..6],
            [" 9   fn main() {", "10 -     let x = 1;", "10 +     let x = 22;", " …", "40 + 天气很好天气很", "     好"]
        );
        assert_eq!(rows.len(), 7);
        assert_eq!(len(&diff), 6);
        let words =
            |row: &Row| row.runs.iter().filter(|run| run.paint.role == Role::AddedWord).map(|run| run.len).sum::<u32>();
        assert_eq!(words(&rows[2]), 2, "the number only");
        assert!(rows.iter().all(|row| row.width <= 20));
    }
}
