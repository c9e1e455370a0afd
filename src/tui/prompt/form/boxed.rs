//! How a text field is drawn: an underlined stretch with the text in it.

use super::field::Size;
use crate::tui::look::Look;
use crate::tui::text::width;
use crate::tui::theme::Role;
use crate::tui::widget::input::Input;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// Fewest and most rows of a field of many lines.
const ROWS: (usize, usize) = (2, 8);

/// The room that a field of many lines takes.
pub(super) fn measure_block(input: &mut Input, columns: u16) -> Size {
    let rows = input.height(columns).clamp(ROWS.0, ROWS.1);
    Size { columns, rows: rows as u16 }
}

/// Draws the field; returns where its caret stands.
pub(super) fn draw(input: &mut Input, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let line = look.theme.style(Role::Dim.with(Modifier::UNDERLINED));
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            width::put(buffer, x, y, " ", 1, line);
        }
    }
    Some(input.draw(area, buffer, look.theme, Role::Value.with(Modifier::UNDERLINED)))
}
