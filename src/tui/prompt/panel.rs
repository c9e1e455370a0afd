//! The inside of a card that is not a form: rows that scroll, and below them what is always in sight.

use super::card::Act;
use super::page::Page;
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::text::{Row, RowBuilder, width};
use crate::tui::theme::Role;
use crate::tui::widget::input::Input;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// Rows for a body and what is pinned below it, with an empty row between.
pub(super) fn height(body: usize, pinned: u16) -> u16 {
    let body = body.min(usize::from(u16::MAX / 2)) as u16;
    body.saturating_add(u16::from(body > 0)).saturating_add(pinned)
}

/// Draws the body; returns the area of what is pinned. On little room the body keeps a row, at half the room its share.
pub(super) fn draw_body(
    body: &[Row],
    pinned: u16,
    page: &mut Page,
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> Rect {
    draw_body_keeping(body, pinned, (page, None), area, buffer, look)
}

/// The same, with some of the rows (first, and behind the last) kept in sight.
pub(super) fn draw_body_keeping(
    body: &[Row],
    pinned: u16,
    (page, keep): (&mut Page, Option<(usize, usize)>),
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> Rect {
    let total = u16::try_from(body.len()).unwrap_or(u16::MAX);
    let least = total.min(area.height.div_ceil(2));
    // On little room the first thing to go is the line that explains.
    let tight = total.saturating_add(pinned) > area.height && pinned > 1;
    let pinned = pinned - u16::from(tight);
    let pinned = pinned.min(area.height - least.min(area.height));
    let air = u16::from(total > 0 && total.saturating_add(pinned) < area.height);
    let window = Rect { height: (area.height - pinned - air).min(total), ..area };
    page.settle(body.len(), window.height, keep);
    let shown = body.iter().skip(page.top()).take(usize::from(window.height));
    let columns = area.width.saturating_sub(1);
    for (y, row) in shown.enumerate() {
        row.draw(Rect { y: window.y + y as u16, width: columns, height: 1, ..window }, buffer, look.theme);
    }
    page.mark(window, buffer, look);
    let top = window.height + air;
    Rect { y: area.y + top, height: area.height - top, ..area }
}

/// Columns of a body's rows in an area: the last column is for the mark of what is out of sight.
pub(super) fn columns(area: u16) -> u16 {
    area.saturating_sub(1).max(1)
}

/// Keys that scroll the body; whether it was one.
pub(super) fn scroll_key(key: KeyEvent, page: &mut Page, look: &Look<'_>) -> bool {
    let shift = key.modifiers == KeyModifiers::SHIFT;
    if look.keymap.find(Context::Call, key).is_some() && !shift {
        return false;
    }
    match key.code {
        KeyCode::PageUp => page.turn(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => page.turn(1),
        KeyCode::Home => page.scroll(i32::MIN),
        KeyCode::End => page.scroll(i32::MAX),
        KeyCode::Up if shift => page.scroll(-1),
        KeyCode::Down if shift => page.scroll(1),
        _ => return false,
    };
    true
}

/// Draws a text being written, with a mark before it; returns where its caret stands.
pub(super) fn draw_input(
    input: &mut Input,
    mark: &str,
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> Option<Position> {
    let margin = width::of(mark) + 1;
    if area.is_empty() || area.width <= margin + 1 {
        return None;
    }
    Row::plain(mark, Role::Accent).draw(area, buffer, look.theme);
    let inner = Rect { x: area.x + margin, width: area.width - margin, ..area };
    let line = look.theme.style(Role::Dim.with(Modifier::UNDERLINED));
    for y in inner.top()..inner.bottom() {
        for x in inner.left()..inner.right() {
            width::put(buffer, x, y, " ", 1, line);
        }
    }
    Some(input.draw(inner, buffer, look.theme, Role::Value.with(Modifier::UNDERLINED)))
}

/// Draws one line; returns where a caret on its last piece stands.
pub(super) fn draw_line(pieces: &[(&str, Role)], area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let mut row = RowBuilder::default();
    let mut last = 0;
    for (text, role) in pieces {
        last = row.width();
        row.push(text, *role);
    }
    row.finish(0..0).draw(area, buffer, look.theme);
    Some(Position::new(area.x + last.min(area.width - 1), area.y))
}

/// A key for a text being written. What works anywhere is left to its owner; nothing else is.
pub(super) fn write(input: &mut Input, key: KeyEvent, look: &Look<'_>) -> Act {
    let prints = matches!(key.code, KeyCode::Char(_)) && key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
    if !prints {
        if look.keymap.find(Context::Composer, key) == Some(Command::Editor) {
            return Act::Emit(vec![Effect::Edit { text: input.text(), extension: "md" }]);
        }
        if look.keymap.find(Context::Global, key).is_some() {
            return Act::Ignored;
        }
    }
    input.key(key);
    Act::Consumed
}
