//! The frame around what waits: one line while it is docked, title and hints around the card while it is open.

use super::card::{Card, Place, Summary, Title};
use super::decision::seconds_of;
use super::glyph::{glyphs, key_name};
use super::lines::fit;
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::text::{Row, RowBuilder, sanitize, width};
use crate::tui::theme::Role;
use crate::tui::widget::Line;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use std::time::Duration;

/// Columns that the docked line keeps for who waits.
const HEAD: u16 = 25;
/// Fewest rows in which hints are still shown.
const HINTS_FROM: u16 = 5;

/// From here on a countdown is a warning.
const SOON: Duration = Duration::from_secs(30);

/// What stands in the line of hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Foot {
    /// The keys that work.
    Hints,
    /// Something the user must know instead.
    Says(String),
}

/// Rows for an opened card.
pub(super) fn height(card: &mut Card, columns: u16, place: Place, look: &Look<'_>) -> u16 {
    card.height(columns.saturating_sub(2), place, look).saturating_add(2)
}

/// `4:51`, and plain seconds below ten.
fn clock(left: Duration) -> String {
    let seconds = seconds_of(left);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Draws the one line of what waits first.
pub(super) fn draw_line(card: &Card, place: Place, area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    let g = glyphs(look);
    let Summary { head, rest } = card.summary(place, look);
    let ends = [End::Whole, End::Short, End::Key].map(|end| right_end(card, place, end, look));
    // On a narrow screen the head matters more.
    let right = ends.into_iter().find(|right| right.width + HEAD <= area.width);
    let right_columns = right.as_ref().map_or(0, |right| right.width + 1);
    let mut row = RowBuilder::default();
    row.push(" ", Role::Text).push(g.waits, Role::Waiting).push(" ", Role::Text);
    let room = area.width.saturating_sub(right_columns + row.width() + 1);
    let head = fit(&head, room, g.more);
    row.push(&head, Role::Text.with(Modifier::BOLD));
    let rest = sanitize::line(&rest).into_owned();
    let room = area.width.saturating_sub(right_columns + row.width() + 4);
    if !rest.is_empty() && room >= 8 {
        row.push(g.dot, Role::Dim).push(&fit(&rest, room, g.more), Role::Dim);
    }
    row.push(" ", Role::Text);
    rule(&mut row, area.width.saturating_sub(right_columns + u16::from(right_columns > 0)), Role::Border, look);
    row.finish(0..0).draw(area, buffer, look.theme);
    if let Some(right) = right {
        let x = area.right() - right_columns;
        right.draw(Rect { x, width: right.width, height: 1, ..area }, buffer, look.theme);
    }
}

/// How much is said at the right end of the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// How many wait, the time that is left, and what the key does.
    Whole,
    /// The same without what the key does.
    Short,
    /// The key alone.
    Key,
}

fn right_end(card: &Card, place: Place, end: End, look: &Look<'_>) -> Row {
    let g = glyphs(look);
    let mut right = RowBuilder::default();
    if place.of > 1 && end != End::Key {
        let count = look.strings.fill("prompt.waiting", &[("count", &place.of.to_string())]);
        right.push(&count, Role::Waiting).push(g.dot, Role::Dim);
    }
    let counts = matches!(card, Card::Form(_) | Card::Link(_)) && end != End::Key;
    if let Some(left) = place.left.filter(|_| counts) {
        right.push(&clock(left), Role::Dim).push(g.dot, Role::Dim);
    }
    right.push(&key_name(look, Context::Global, Command::OpenWaiting).unwrap_or_default(), Role::Key);
    if end == End::Whole {
        right.push(" ", Role::Text).push(look.strings.get("prompt.opens"), Role::Dim);
    }
    right.finish(0..0)
}

/// Fills a row up to a column with the line that separates.
fn rule(row: &mut RowBuilder, until: u16, role: Role, look: &Look<'_>) {
    let g = glyphs(look);
    let rest = until.saturating_sub(row.width());
    // A terminal may draw the line's character two columns wide.
    let count = rest / width::of(g.rule).max(1);
    row.push(&g.rule.repeat(usize::from(count)), role);
    row.push(&" ".repeat(usize::from(until.saturating_sub(row.width()))), Role::Text);
}

/// Draws an opened card; returns where the caret stands.
pub(super) fn draw_open(
    card: &mut Card,
    (place, foot): (Place, &Foot),
    area: Rect,
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> Option<Position> {
    if area.height < 2 {
        return None;
    }
    let hints = u16::from(area.height >= HINTS_FROM || matches!(foot, Foot::Says(_)));
    let title_area = Rect { height: 1, ..area };
    let margin = u16::from(area.width > 2);
    let inner =
        Rect { x: area.x + margin, y: area.y + 1, width: area.width - 2 * margin, height: area.height - 1 - hints };
    let caret = card.draw(inner, place, buffer, look);
    draw_title(card, place, title_area, buffer, look);
    if hints > 0 {
        draw_hints(card, foot, Rect { y: area.bottom() - 1, height: 1, ..inner }, buffer, look);
    }
    caret
}

fn draw_title(card: &Card, place: Place, area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    let g = glyphs(look);
    let mut right = title_right(card, place, look);
    let columns: u16 = right.iter().map(|(text, _)| width::of(text)).sum();
    // The right part stands whole or not at all, and leaves the title room to be known by.
    if columns + 18 > area.width {
        right.clear();
    }
    let right_columns = if right.is_empty() { 0 } else { columns + 3 };
    let mut row = RowBuilder::default();
    row.push(g.rule, Role::BorderFocused).push(" ", Role::Text);
    for (text, role) in card.title(place, look) {
        let room = area.width.saturating_sub(right_columns + row.width() + 1);
        let bold = if role == Role::TitleFocused { Modifier::BOLD } else { Modifier::empty() };
        row.push(&fit(&text, room, g.more), role.with(bold));
    }
    row.push(" ", Role::Text);
    rule(&mut row, area.width.saturating_sub(right_columns), Role::BorderFocused, look);
    if !right.is_empty() {
        row.push(" ", Role::Text);
        for (text, role) in &right {
            row.push(text, *role);
        }
        row.push(" ", Role::Text);
        rule(&mut row, area.width, Role::BorderFocused, look);
    }
    row.finish(0..0).draw(area, buffer, look.theme);
}

fn title_right(card: &Card, place: Place, look: &Look<'_>) -> Title {
    let mut out = Title::new();
    if let Some(left) = place.left.filter(|_| !matches!(card, Card::Decision(_))) {
        let text = look.strings.fill("prompt.left", &[("time", &clock(left))]);
        out.push((text, if left < SOON { Role::Warning } else { Role::Dim }));
    }
    if place.of > 1 && !matches!(card, Card::Form(_)) {
        if !out.is_empty() {
            out.push((glyphs(look).dot.to_owned(), Role::Dim));
        }
        let args = [("at", place.at.to_string()), ("count", place.of.to_string())];
        let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
        out.push((look.strings.fill("prompt.at_of_waiting", &args), Role::Waiting));
    }
    out
}

fn draw_hints(card: &Card, foot: &Foot, area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    let more = glyphs(look).more;
    let below = card.below();
    let right = if below > 0 {
        let key = if area.width < 60 { "" } else { " PgDn" };
        Row::plain(format!("{} {below}{key}", glyphs(look).down), Role::Accent)
    } else {
        Row::default()
    };
    let room = area.width.saturating_sub(if right.width > 0 { right.width + 2 } else { 0 });
    let line = match foot {
        Foot::Hints => card.hints(look).within(room),
        Foot::Says(text) => Line::of(text, Role::Warning),
    };
    line.fit(room, more).draw(area, buffer, look.theme);
    let x = area.right().saturating_sub(right.width);
    right.draw(Rect { x, width: right.width, ..area }, buffer, look.theme);
}
