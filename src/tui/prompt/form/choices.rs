//! Choices that are all in sight: side by side where they fit, else one below the other.

use super::field::{Focus, Size};
use crate::tui::look::Look;
use crate::tui::prompt::lines::{Break, Lines};
use crate::tui::text::{Row, sanitize, width};
use crate::tui::theme::{Paint, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// How choices are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Flow {
    /// Side by side.
    #[default]
    Row,
    /// One below the other.
    Column,
}

/// One choice: its mark (`›`, `[x]`, `(•)`), its title, and whether it is chosen.
pub(super) struct Item<'a> {
    pub mark: &'a str,
    pub title: &'a str,
    pub state: State,
}

/// What a choice is at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Neither chosen nor under the cursor.
    Plain,
    /// Chosen.
    Chosen,
    /// Under the cursor; whether it is chosen, its mark says.
    Cursor,
}

const GAP: u16 = 2;

fn columns_of(item: &Item<'_>) -> u16 {
    width::of(&sanitize::line(item.title)).saturating_add(width::of(item.mark) + 1)
}

/// The layout of the choices in a width, and its size.
pub(super) fn measure(items: &[Item<'_>], columns: u16) -> (Flow, Size) {
    let total: u32 = items.iter().map(|item| u32::from(columns_of(item)) + u32::from(GAP)).sum();
    let total = total.saturating_sub(u32::from(GAP));
    if total <= u32::from(columns) && !items.iter().any(|item| item.title.contains('\n')) {
        return (Flow::Row, Size { columns: total as u16, rows: 1 });
    }
    let rows: Vec<Vec<Row>> = items.iter().map(|item| rows_of(item, columns, Focus::Elsewhere)).collect();
    let widest = rows.iter().flatten().map(|row| row.width).max().unwrap_or(0);
    (Flow::Column, Size { columns: widest, rows: rows.iter().map(Vec::len).sum::<usize>().min(4096) as u16 })
}

fn paints(item: &Item<'_>, focus: Focus) -> (Paint, Paint) {
    match (item.state, focus) {
        (State::Cursor, Focus::Here) => (Role::Accent.into(), Role::Accent.with(Modifier::BOLD | Modifier::UNDERLINED)),
        (State::Chosen, Focus::Here) => (Role::Accent.into(), Role::Value.into()),
        (State::Chosen | State::Cursor, _) => (Role::Value.into(), Role::Value.into()),
        (State::Plain, _) => (Role::Dim.into(), Role::Dim.into()),
    }
}

fn rows_of(item: &Item<'_>, columns: u16, focus: Focus) -> Vec<Row> {
    let (mark, title) = paints(item, focus);
    let mut lines = Lines::new(columns);
    lines.hanging(&[(item.mark, mark), (" ", Paint::default())], &[(item.title, title)], Break::Words);
    lines.finish()
}

/// Draws the choices; returns where the one under the cursor stands (its first column of text).
pub(super) fn draw(
    items: &[Item<'_>],
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
    focus: Focus,
) -> Option<Position> {
    let (flow, _) = measure(items, area.width);
    let (mut x, mut y) = (area.x, area.y);
    let mut caret = None;
    for item in items {
        let rows = rows_of(item, area.width, focus);
        if item.state == State::Cursor {
            caret = Some(Position::new(x + width::of(item.mark) + 1, y));
        }
        for row in &rows {
            if y >= area.bottom() {
                return caret;
            }
            row.draw(Rect::new(x, y, area.right().saturating_sub(x), 1), buffer, look.theme);
            if flow == Flow::Column {
                y += 1;
            }
        }
        if flow == Flow::Row {
            x = x.saturating_add(columns_of(item)).saturating_add(GAP).min(area.right());
        }
    }
    caret
}
