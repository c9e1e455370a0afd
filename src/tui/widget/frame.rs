//! Lines that separate, titles in them, and the two kinds of overlays: a sheet over everything, a card in the middle.

use crate::tui::look::Look;
use crate::tui::theme::{Paint, Role};
use crate::tui::widget::line::Line;
use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};

/// Whether what the line belongs to has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lit {
    /// It has.
    Bright,
    /// It has not.
    Dim,
}

impl Lit {
    /// How its lines look.
    pub fn border(self) -> Role {
        match self {
            Self::Bright => Role::BorderFocused,
            Self::Dim => Role::Border,
        }
    }

    /// How its title looks.
    pub fn title(self) -> Role {
        match self {
            Self::Bright => Role::TitleFocused,
            Self::Dim => Role::Title,
        }
    }
}

/// A horizontal line with a text near its left and one near its right end. The left one has precedence.
pub fn rule(area: Rect, buffer: &mut Buffer, look: &Look<'_>, lit: Lit, left: &Line, right: &Line) {
    if area.is_empty() {
        return;
    }
    let symbol = look.glyphs().line;
    let style = look.theme.style(lit.border());
    for x in area.x..area.right() {
        buffer.set_string(x, area.y, symbol, style);
    }
    let mut used = 1;
    if !left.is_empty() {
        let room = area.width.saturating_sub(4);
        used += inset(Rect { x: area.x + 1, width: room + 2, ..area }, buffer, look, left);
    }
    // A text is worth a place only whole.
    if !right.is_empty() && right.width() + 4 + used <= area.width {
        let columns = right.width() + 2;
        inset(Rect { x: area.right() - columns - 1, width: columns, ..area }, buffer, look, right);
    }
}

/// A text in a line, one space on both sides; returns the columns it took.
fn inset(area: Rect, buffer: &mut Buffer, look: &Look<'_>, text: &Line) -> u16 {
    let row = text.fit(area.width.saturating_sub(2), "…");
    let width = row.width + 2;
    // Text without a colour of its own would take that of the rule.
    blank(Rect { width, height: 1, ..area }, buffer, look);
    row.draw(Rect { x: area.x + 1, width: row.width, ..area }, buffer, look.theme);
    width
}

/// Blanks an area, so that nothing shines through.
pub fn blank(area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    let style = look.theme.style(Role::Text);
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
                cell.set_style(style);
            }
        }
    }
}

/// Lets what lies under an overlay step back.
pub fn shade(area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    buffer.set_style(area, look.theme.style(Role::Shade));
}

/// A sheet over the whole area: title line, content with a column of air on both sides, hints. Returns the content's area.
pub fn sheet(area: Rect, buffer: &mut Buffer, look: &Look<'_>, title: &Line, right: &Line, hints: &Line) -> Rect {
    blank(area, buffer, look);
    rule(Rect { height: 1.min(area.height), ..area }, buffer, look, Lit::Bright, title, right);
    if area.height < 3 {
        return Rect { height: 0, ..area };
    }
    let last = Rect { y: area.bottom() - 1, height: 1, ..area }.inner(Margin::new(1, 0));
    hints.draw(last, buffer, look.theme);
    // A row of air where there is room for it.
    let air = u16::from(area.height > 18);
    Rect { y: area.y + 1 + air, height: area.height - 2 - 2 * air, ..area }.inner(Margin::new(1, 0))
}

/// A card of this size in the upper middle of the area, with a line around it and its hints in the lower one. Returns the content's area.
pub fn card(
    area: Rect,
    (columns, rows): (u16, u16),
    buffer: &mut Buffer,
    look: &Look<'_>,
    title: &Line,
    hints: &Line,
) -> Rect {
    let columns = (columns + 4).min(area.width);
    let rows = (rows + 2).min(area.height);
    let y = area.y + (area.height - rows) / 3;
    let place = Rect::new(area.x + (area.width - columns) / 2, y, columns, rows);
    shade(area, buffer, look);
    blank(place, buffer, look);
    let side = look.glyphs().column;
    let corners = if joins(look) { ["╭", "╮", "╰", "╯"] } else { ["+"; 4] };
    let style = look.theme.style(Lit::Bright.border());
    rule(Rect { height: 1, ..place }, buffer, look, Lit::Bright, title, &Line::new());
    rule(Rect { y: place.bottom() - 1, height: 1, ..place }, buffer, look, Lit::Bright, hints, &Line::new());
    for y in place.y + 1..place.bottom() - 1 {
        buffer.set_string(place.x, y, side, style);
        buffer.set_string(place.right() - 1, y, side, style);
    }
    let ends = [
        (place.x, place.y),
        (place.right() - 1, place.y),
        (place.x, place.bottom() - 1),
        (place.right() - 1, place.bottom() - 1),
    ];
    for ((x, y), corner) in ends.into_iter().zip(corners) {
        buffer.set_string(x, y, corner, style);
    }
    place.inner(Margin::new(2, 1))
}

/// Whether lines can be joined: not in ASCII, nor where each of their pieces takes two columns.
pub fn joins(look: &Look<'_>) -> bool {
    look.glyphs().line == "─"
}

/// Joins a vertical line to the horizontal one that it ends at: to what lies over its end, else to what follows it.
pub fn join_below(divider: Rect, buffer: &mut Buffer, look: &Look<'_>) {
    if !joins(look) || divider.is_empty() {
        return;
    }
    for y in divider.y + 1..=divider.bottom() {
        let above = buffer.cell((divider.x, y - 1)).map_or("", |cell| cell.symbol());
        if !["│", "├", "┤"].contains(&above) {
            continue;
        }
        if let Some(cell) = buffer.cell_mut((divider.x, y)).filter(|cell| cell.symbol() == look.glyphs().line) {
            cell.set_symbol("┴");
        }
    }
}

/// Arrows in words.
fn named(key: &str) -> String {
    key.replace("↑↓", "Up/Down").replace("←→", "Left/Right").replace('↑', "Up").replace('↓', "Down")
}

/// Keys with what they do, for a line of hints: `Esc back · ↑↓ scroll`.
pub fn hints(look: &Look<'_>, keys: &[(&str, &str)]) -> Line {
    let mut line = Line::new();
    for (key, text) in keys {
        if key.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(look.glyphs().dot, Role::Dim);
        }
        let key = if look.ascii { named(key) } else { (*key).to_owned() };
        line.push(&key, Role::Key).push(" ", Role::Dim).push(look.strings.get(text), Paint::from(Role::Dim));
    }
    line
}

/// From this width on a list stands beside what is known of its entry.
const SIDE: u16 = 90;

/// Room for a list of so many entries and for what is known of one: side by side where there is room, else one above the other.
pub fn halves(area: Rect, columns: u16, entries: usize) -> (Rect, Rect) {
    if area.width >= SIDE {
        let list = Rect { width: columns, ..area };
        return (list, Rect { x: area.x + columns + 2, width: area.width - columns - 2, ..area });
    }
    let most = (area.height * 2 / 5).max(2).min(area.height);
    let rows = most.min(entries.min(usize::from(u16::MAX)) as u16);
    let below = Rect { y: area.y + rows + 1, height: area.height.saturating_sub(rows + 1), ..area };
    (Rect { height: rows, ..area }, below)
}
