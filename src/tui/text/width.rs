//! One table of widths for everything that is drawn.
//!
//! Terminals agree on the width of single characters, not on that of sequences: a joined emoji (`👩` ZWJ `💻`) takes two columns in one and four in
//! the next. So text is drawn in [`pieces`] whose width every terminal sees alike; joiners and presentation selectors are sent only to a terminal
//! that says it joins (mode 2027). **Invariant:** the columns of a text are the sum of the columns of its pieces, and no terminal draws a piece wider.

use ratatui::buffer::{Buffer, CellDiffOption, CellWidth};
use ratatui::style::Style;
use std::num::NonZeroU16;
use std::sync::atomic::{AtomicBool, Ordering};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Set once at start-up from the setting; read by every layout. A terminal has one answer, so the process has one.
static AMBIGUOUS_WIDE: AtomicBool = AtomicBool::new(false);
/// Set when the terminal answers that it joins grapheme clusters (DECRQM 2027).
static JOINS: AtomicBool = AtomicBool::new(false);

const ZWJ: char = '\u{200d}';
/// A cluster with more bytes than this is cut when drawn: a pile of accents is not text.
const CLUSTER_BYTES: usize = 32;
/// A cluster with more bytes than this is taken apart.
const LONGEST_CLUSTER: usize = 64;

/// More columns than any screen has. No text counts for more, so that sums of a few widths, of texts that others made, never overflow.
pub const WIDEST: u16 = 0x1fff;

/// Says how wide this terminal draws ambiguous characters (● ℃ →).
pub fn set_ambiguous_wide(wide: bool) {
    AMBIGUOUS_WIDE.store(wide, Ordering::Relaxed);
}

/// Whether ambiguous characters take two columns.
pub fn ambiguous_wide() -> bool {
    AMBIGUOUS_WIDE.load(Ordering::Relaxed)
}

/// Says whether this terminal draws a grapheme cluster as one (mode 2027).
pub fn set_joins(joins: bool) {
    JOINS.store(joins, Ordering::Relaxed);
}

/// Changes whenever a width may have changed: part of the key of what was laid out.
pub fn epoch() -> u8 {
    u8::from(ambiguous_wide()) | u8::from(JOINS.load(Ordering::Relaxed)) << 1
}

/// Columns that a text takes; [`WIDEST`] at most.
pub fn of(text: &str) -> u16 {
    if text.is_ascii() {
        return text.len().min(usize::from(WIDEST)) as u16;
    }
    let columns: usize = pieces(text).map(|(_, columns)| usize::from(columns)).sum();
    columns.min(usize::from(WIDEST)) as u16
}

/// Columns of one grapheme cluster.
pub fn of_grapheme(cluster: &str) -> u16 {
    of(cluster)
}

/// The pieces a text is drawn in, each with its columns: grapheme clusters, taken apart where terminals disagree.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text, wide: ambiguous_wide(), joins: JOINS.load(Ordering::Relaxed) }
}

/// See [`pieces`].
#[derive(Debug, Clone)]
pub struct Pieces<'a> {
    rest: &'a str,
    wide: bool,
    joins: bool,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, u16);

    fn next(&mut self) -> Option<Self::Item> {
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        let second = chars.next();
        // Nearly all text: a character that combines with nothing, before another such one.
        if let Some(columns) = alone(first)
            && second.is_none_or(|c| alone(c).is_some())
        {
            return Some((self.take(first.len_utf8()), columns));
        }
        // No cluster that means anything is longer, and looking at all of an endless one for each of its pieces would take for ever.
        let most = self.rest.len().min(LONGEST_CLUSTER);
        let end = (0..=most).rev().find(|at| self.rest.is_char_boundary(*at)).unwrap_or(most);
        let cluster = self.rest[..end].graphemes(true).next()?;
        if self.joins {
            let columns = if self.wide { cluster.width_cjk() } else { cluster.width() };
            return Some((self.take(cluster.len()), columns.min(2) as u16));
        }
        // Up to the next character that a terminal without clusters would give columns of its own.
        let mut columns = self.of_char(first);
        let flag = is_regional(first);
        let mut end = first.len_utf8();
        for c in cluster[end..].chars() {
            let more = self.of_char(c);
            if more > 0 && !(flag && is_regional(c)) {
                break;
            }
            columns += more;
            end += c.len_utf8();
        }
        Some((self.take(end), columns))
    }
}

impl<'a> Pieces<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (piece, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        piece
    }

    fn of_char(&self, c: char) -> u16 {
        let columns = if self.wide { c.width_cjk() } else { c.width() };
        columns.unwrap_or(0) as u16
    }
}

/// Columns of a character that never joins with a neighbour of its own sort.
fn alone(c: char) -> Option<u16> {
    match c {
        ' '..='~' => Some(1),
        // Hiragana, Katakana, ideographs, Hangul syllables are left to the slow way where they have exceptions.
        '\u{3001}'..='\u{3029}'
        | '\u{3041}'..='\u{3096}'
        | '\u{309b}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ff01}'..='\u{ff5e}' => Some(2),
        _ => None,
    }
}

fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Puts a piece into the buffer. The cells that it covers beyond its first are blanked, so that nothing shines through.
pub fn put(buffer: &mut Buffer, x: u16, y: u16, piece: &str, columns: u16, style: Style) {
    if let Some(cell) = buffer.cell_mut((x, y)) {
        cell.set_diff_option(CellDiffOption::None);
        if piece.len() == 1 {
            cell.set_symbol(piece);
        } else {
            cell.set_symbol(&sent(piece));
            // The buffer's own idea of the width decides which cells it skips and when it moves the cursor; it must be ours.
            if cell.cell_width() != columns
                && let Some(columns) = NonZeroU16::new(columns)
            {
                cell.set_diff_option(CellDiffOption::ForcedWidth(columns));
            }
        }
        cell.set_style(style);
    }
    for covered in 1..columns {
        if let Some(cell) = buffer.cell_mut((x + covered, y)) {
            cell.set_symbol(" ").set_diff_option(CellDiffOption::None).set_style(style);
        }
    }
}

/// What is sent for a piece: without what only a joining terminal understands, and not endless.
fn sent(piece: &str) -> std::borrow::Cow<'_, str> {
    let drops = |c: char| matches!(c, ZWJ | '\u{fe0e}' | '\u{fe0f}');
    if piece.len() <= CLUSTER_BYTES && (JOINS.load(Ordering::Relaxed) || !piece.contains(drops)) {
        return piece.into();
    }
    let mut out = String::with_capacity(CLUSTER_BYTES);
    for c in piece.chars().filter(|&c| JOINS.load(Ordering::Relaxed) || !drops(c)) {
        if out.len() + c.len_utf8() > CLUSTER_BYTES {
            break;
        }
        out.push(c);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<(&str, u16)> {
        pieces(text).collect()
    }

    #[test]
    fn sequences_are_taken_apart_where_terminals_disagree() {
        assert_eq!(cut("a天"), [("a", 1), ("天", 2)]);
        assert_eq!(cut("e\u{301}x"), [("e\u{301}", 1), ("x", 1)]);
        assert_eq!(cut("👩\u{200d}💻"), [("👩\u{200d}", 2), ("💻", 2)]);
        assert_eq!(cut("👍\u{1f3fd}"), [("👍", 2), ("\u{1f3fd}", 2)]);
        assert_eq!(cut("❤\u{fe0f}"), [("❤\u{fe0f}", 1)]);
        assert_eq!(cut("🇩🇪🇫🇷"), [("🇩🇪", 2), ("🇫🇷", 2)]);
        assert_eq!(cut("か\u{3099}"), [("か\u{3099}", 2)]);
        assert_eq!(sent("❤\u{fe0f}"), "❤");
    }

    #[test]
    fn endless_clusters_are_cut_in_linear_time() {
        for (text, columns) in [("e".to_owned() + &"\u{301}".repeat(50_000), 1), ("👩\u{200d}".repeat(20_000), 40_000)]
        {
            assert_eq!(pieces(&text).map(|(_, columns)| u32::from(columns)).sum::<u32>(), columns);
            assert!(pieces(&text).all(|(piece, _)| piece.len() <= LONGEST_CLUSTER));
        }
    }

    proptest! {
        #[test]
        fn pieces_join_to_the_text(text in any::<String>()) {
            let joined: String = pieces(&text).map(|(piece, _)| piece).collect();
            prop_assert_eq!(&joined, &text);
            let columns: u32 = pieces(&text).map(|(_, columns)| u32::from(columns)).sum();
            prop_assert_eq!(u32::from(of(&text)), columns);
        }
    }
}
