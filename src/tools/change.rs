//! What a write would change.
//!
//! Owns: the diff between a file and what it would become, and the shape of a text file (byte order mark, line ends) that a write keeps.
//! Does not: read or write files.

use crate::domain::policy::{DiffLine, FileDiff};
use similar::{ChangeTag, TextDiff};
use std::borrow::Cow;
use std::time::Duration;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Lines of a diff that are kept to be shown.
const MOST_LINES: usize = 2_000;
/// Bytes of one line that are kept to be shown.
const MOST_BYTES: usize = 4_000;
/// Time for finding the smallest diff; then a coarser one is taken.
const PATIENCE: Duration = Duration::from_millis(250);

/// How a text file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    bom: bool,
    crlf: bool,
}

const BOM: char = '\u{feff}';

impl Shape {
    /// The shape of a text. Line ends count as CRLF only where all of them are.
    pub fn of(text: &str) -> Self {
        let newlines = text.matches('\n').count();
        Self { bom: text.starts_with(BOM), crlf: newlines > 0 && text.matches("\r\n").count() == newlines }
    }

    /// The text without its mark, lines ended by `\n` (mixed line ends stay as they are).
    pub fn plain(self, text: &str) -> String {
        let text = if self.bom { text.trim_start_matches(BOM) } else { text };
        if self.crlf { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// A text that models write with `\n`, in this shape. One that has line ends of the other kind already was meant so.
    pub fn dress(self, text: &str) -> String {
        let lines =
            if self.crlf && !text.contains('\r') { Cow::Owned(text.replace('\n', "\r\n")) } else { text.into() };
        if self.bom && !lines.starts_with(BOM) { format!("{BOM}{lines}") } else { lines.into_owned() }
    }

    /// What is kept, in words for the model; nothing where there is nothing to say.
    pub fn note(self) -> &'static str {
        if self.crlf { " Line ends stay CRLF." } else { "" }
    }
}

/// The diff from `old` (`None`: no such file) to `new`.
pub fn diff(path: &str, old: Option<&str>, new: &str) -> FileDiff {
    let before = old.unwrap_or_default();
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, new);
    let (mut added, mut removed) = (0, 0);
    for op in diff.ops() {
        let (tag, old, new) = op.as_tag_tuple();
        if tag != similar::DiffTag::Equal {
            removed += old.len();
            added += new.len();
        }
    }
    let mut hunks = Vec::new();
    let (mut kept, mut omitted) = (0, 0);
    for group in diff.grouped_ops(CONTEXT) {
        let mut hunk = Vec::new();
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if kept == MOST_LINES {
                omitted += 1;
                continue;
            }
            kept += 1;
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            hunk.push(DiffLine {
                sign,
                old: change.old_index().map(number),
                new: change.new_index().map(number),
                text: shorten(change.value()),
            });
        }
        if !hunk.is_empty() {
            hunks.push(hunk);
        }
    }
    FileDiff { path: path.to_owned(), exists: old.is_some(), added, removed, hunks, omitted }
}

/// A diff that says only how much would change, for files too large to compare.
pub fn sizes(path: &str, old_lines: usize, new: &str) -> FileDiff {
    let added = new.lines().count();
    FileDiff {
        path: path.to_owned(),
        exists: true,
        added,
        removed: old_lines,
        hunks: Vec::new(),
        omitted: added + old_lines,
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn shorten(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    if line.len() <= MOST_BYTES {
        return line.to_owned();
    }
    format!("{}…", &line[..super::ends::floor(line, MOST_BYTES)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hunks_with_three_lines_of_context() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("10\n", "ten\n").replace("20\n", "");
        let diff = diff("f", Some(&old), &new);
        assert_eq!((diff.added, diff.removed, diff.hunks.len(), diff.omitted), (1, 2, 2, 0));
        let lines: Vec<String> = diff.hunks[0].iter().map(|l| format!("{}{}", l.sign, l.text)).collect();
        assert_eq!(lines, [" 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"]);
        assert_eq!((diff.hunks[0][3].old, diff.hunks[0][3].new), (Some(10), None));
        assert_eq!((diff.hunks[0][4].old, diff.hunks[0][4].new), (None, Some(10)));
    }

    #[test]
    fn a_new_file_is_all_added_and_too_much_is_counted() {
        let new = "x\n".repeat(MOST_LINES + 5);
        let diff = diff("f", None, &new);
        assert!(!diff.exists);
        assert_eq!((diff.added, diff.removed, diff.omitted), (MOST_LINES + 5, 0, 5));
        assert_eq!(diff.hunks[0].len(), MOST_LINES);
    }

    #[test]
    fn shape_is_kept() {
        let shape = Shape::of("\u{feff}a\r\nb\r\n");
        assert_eq!(shape.plain("\u{feff}a\r\nb\r\n"), "a\nb\n");
        assert_eq!(shape.dress("x\ny"), "\u{feff}x\r\ny");
        assert_eq!(Shape::of("a\r\nb\n"), Shape::default(), "mixed line ends are nobody's style");
        assert_eq!(Shape::of("a"), Shape::default());
    }

    proptest! {
        #[test]
        fn dressing_gives_the_text_back(text in "\u{feff}?([ab]{0,3}\r\n){0,5}|([ab]{0,3}\n){0,5}[a]?") {
            let shape = Shape::of(&text);
            prop_assert_eq!(shape.dress(&shape.plain(&text)), text);
        }

        #[test]
        fn a_diff_applied_gives_the_new_text(old in "([ab]\n){0,30}", new in "([ab]\n){0,30}") {
            let diff = diff("f", Some(&old), &new);
            let old: Vec<&str> = old.lines().collect();
            let (mut out, mut at) = (Vec::new(), 0);
            for line in diff.hunks.iter().flatten() {
                if let Some(number) = line.old {
                    while at + 1 < number as usize { out.push(old[at].to_owned()); at += 1; }
                    prop_assert_eq!(old[at], &line.text);
                    at += 1;
                } else {
                    let before = line.new.unwrap() as usize - 1 - out.len();
                    for _ in 0..before { out.push(old[at].to_owned()); at += 1; }
                }
                if line.sign != '-' { out.push(line.text.clone()); }
            }
            out.extend(old[at..].iter().map(|line| (*line).to_owned()));
            prop_assert_eq!(out, new.lines().collect::<Vec<_>>());
        }
    }
}
