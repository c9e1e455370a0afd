//! A thumb at the right edge, only where there is something to scroll.

use crate::tui::look::Look;
use crate::tui::theme::Role;
use crate::tui::transcript::Scroll;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the thumb into a column.
pub fn draw(area: Rect, buffer: &mut Buffer, look: &Look<'_>, scroll: Scroll) {
    let Some((from, rows)) = thumb(area.height, scroll) else { return };
    let symbol = if look.glyphs().line == "-" { "|" } else { "▐" };
    for y in from..from + rows {
        buffer.set_string(area.x, area.y + y, symbol, look.theme.style(Role::Border));
    }
}

/// For a text of rows: how much of it is where.
pub fn of_rows(top: usize, shown: usize, all: usize) -> Scroll {
    if all == 0 || shown >= all {
        return Scroll { above: 0.0, inside: 1.0 };
    }
    Scroll { above: top as f32 / all as f32, inside: shown as f32 / all as f32 }
}

fn thumb(height: u16, scroll: Scroll) -> Option<(u16, u16)> {
    if height < 3 || scroll.inside >= 1.0 || scroll.inside <= 0.0 {
        return None;
    }
    let all = f32::from(height);
    let rows = ((all * scroll.inside).round() as u16).clamp(1, height);
    let room = height - rows;
    let share = scroll.above / (1.0 - scroll.inside).max(f32::EPSILON);
    let from = ((f32::from(room) * share).round() as u16).min(room);
    Some((from, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thumb_reaches_both_ends() {
        let at = |above, inside| thumb(10, Scroll { above, inside });
        assert_eq!(at(0.0, 0.5), Some((0, 5)));
        assert_eq!(at(0.5, 0.5), Some((5, 5)));
        assert_eq!(at(0.99, 0.001), Some((9, 1)));
        assert_eq!(at(0.0, 1.0), None);
    }
}
