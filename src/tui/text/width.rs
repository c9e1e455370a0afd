//! One table of widths for everything that is drawn.
//!
//! Columns of a text by grapheme cluster, as `unicode-width` counts them; ambiguous characters (● ℃ →) count as the setting
//! `ambiguous_width` says.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use std::sync::atomic::{AtomicBool, Ordering};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Set once at start-up from the setting; read by every layout. A terminal has one answer, so the process has one.
static AMBIGUOUS_WIDE: AtomicBool = AtomicBool::new(false);

/// Says how wide this terminal draws ambiguous characters.
pub fn set_ambiguous_wide(wide: bool) {
    AMBIGUOUS_WIDE.store(wide, Ordering::Relaxed);
}

/// Columns that a text takes.
pub fn of(text: &str) -> u16 {
    if text.is_ascii() {
        return text.len().min(usize::from(u16::MAX)) as u16;
    }
    let columns: usize = text.graphemes(true).map(|g| usize::from(of_grapheme(g))).sum();
    columns.min(usize::from(u16::MAX)) as u16
}

/// Columns that one grapheme cluster takes.
pub fn of_grapheme(grapheme: &str) -> u16 {
    let columns = if AMBIGUOUS_WIDE.load(Ordering::Relaxed) {
        UnicodeWidthStr::width_cjk(grapheme)
    } else {
        UnicodeWidthStr::width(grapheme)
    };
    columns.min(2) as u16
}

/// Puts a grapheme into the buffer. The cells that it covers beyond its first are blanked, so that nothing shines through.
pub fn put(buffer: &mut Buffer, x: u16, y: u16, grapheme: &str, columns: u16, style: Style) {
    if let Some(cell) = buffer.cell_mut((x, y)) {
        cell.set_symbol(grapheme).set_style(style);
    }
    for covered in 1..columns {
        if let Some(cell) = buffer.cell_mut((x + covered, y)) {
            cell.reset();
            cell.set_style(style);
        }
    }
}
