//! How a form is laid out: labels in a column, controls beside them, messages beside those; one below the other where that is too wide.
//!
//! A plan is made for a width; blocks are made by it, one for each field; they are drawn through a window of any height.

use super::field::{Control, Focus, Size};
use super::tree::{Entry, Tree};
use super::words;
use crate::tui::look::Look;
use crate::tui::prompt::glyph::glyphs;
use crate::tui::prompt::lines::{Break, Lines, fit};
use crate::tui::text::{Row, sanitize, width};
use crate::tui::theme::{Paint, Role};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;

/// Widest text field; a longer text scrolls in it.
const BOX: u16 = 44;
/// Widest field of a number.
const NUMBER: u16 = 18;
/// Narrowest text field beside its label.
const NARROW: u16 = 14;
/// Columns left of the labels: the bar of the focused field, and air.
const MARGIN: u16 = 2;
const GAP: u16 = 2;

/// Columns of a form in a width.
#[derive(Debug, Clone, Copy)]
struct Plan {
    columns: u16,
    /// Where controls begin; `None`: below their labels.
    value: Option<u16>,
    /// Width of a text field.
    field: u16,
}

impl Plan {
    fn new(tree: &Tree, columns: u16, look: &Look<'_>) -> Self {
        let most = columns * 2 / 5;
        let labels = tree.entries.iter().filter(|entry| !entry.is_group());
        let widths = labels.map(|entry| indent(entry) + width::of(&sanitize::line(&words::label(&entry.field, look))));
        let label = widths.filter(|width| *width <= most).max().unwrap_or(MARGIN);
        let value = label + GAP;
        let room = columns.saturating_sub(value);
        let message = (room * 2 / 5).clamp(16, 36);
        let field = room.saturating_sub(message + GAP).min(BOX);
        if columns < 46 || field < NARROW {
            return Self { columns, value: None, field: columns.saturating_sub(MARGIN + 2) };
        }
        Self { columns, value: Some(value), field }
    }
}

fn indent(entry: &Entry) -> u16 {
    MARGIN + entry.depth.min(8) * 2
}

enum Body {
    Rows(Vec<Row>),
    Control(Size),
}

/// Something at a place within a block.
struct Part {
    x: u16,
    y: usize,
    body: Body,
}

/// A stretch of the form: text above it, a group's heading, or a field.
pub(super) struct Block {
    entry: Option<usize>,
    pub height: usize,
    parts: Vec<Part>,
}

impl Block {
    /// A text over the whole width.
    pub(super) fn text(text: &str, role: Role, columns: u16) -> Self {
        let mut lines = Lines::new(columns);
        lines.text(text.trim_end(), role);
        Self::rows(lines.finish(), 0)
    }

    /// An empty row.
    pub(super) fn air() -> Self {
        Self { entry: None, height: 1, parts: Vec::new() }
    }

    fn rows(rows: Vec<Row>, x: u16) -> Self {
        Self { entry: None, height: rows.len(), parts: vec![Part { x, y: 0, body: Body::Rows(rows) }] }
    }

    fn put(&mut self, x: u16, y: usize, rows: Vec<Row>) {
        self.height = self.height.max(y + rows.len());
        self.parts.push(Part { x, y, body: Body::Rows(rows) });
    }

    fn put_control(&mut self, x: u16, y: usize, size: Size) {
        self.height = self.height.max(y + usize::from(size.rows));
        self.parts.push(Part { x, y, body: Body::Control(size) });
    }
}

/// The fields as blocks.
pub(super) fn blocks(tree: &mut Tree, columns: u16, focused: Option<usize>, look: &Look<'_>) -> Vec<Block> {
    let plan = Plan::new(tree, columns, look);
    let mut out = Vec::with_capacity(tree.entries.len());
    for (index, entry) in tree.entries.iter_mut().enumerate() {
        let focus = if focused == Some(index) { Focus::Here } else { Focus::Elsewhere };
        let mut block = match (entry.is_group(), plan.value) {
            (true, _) => heading(entry, plan, look),
            (false, Some(value))
                if indent(entry) + width::of(&sanitize::line(&words::label(&entry.field, look))) + GAP <= value =>
            {
                beside(entry, plan, value, focus, look)
            }
            (false, _) => below(entry, plan, focus, look),
        };
        block.entry = Some(index);
        out.push(block);
    }
    out
}

fn heading(entry: &Entry, plan: Plan, look: &Look<'_>) -> Block {
    let x = indent(entry);
    let mut lines = Lines::new(plan.columns.saturating_sub(x));
    lines.text(&words::label(&entry.field, look), Role::Heading);
    if let Some(description) = &entry.field.description {
        lines.text(description.trim(), Role::Dim);
    }
    Block::rows(lines.finish(), x)
}

fn label_paint(focus: Focus) -> Paint {
    match focus {
        Focus::Here => Role::Label.with(Modifier::BOLD),
        Focus::Elsewhere => Role::Label.into(),
    }
}

fn error_rows(entry: &Entry, columns: u16, look: &Look<'_>) -> Option<Vec<Row>> {
    let error = words::error(entry.error.as_ref()?, look);
    let mut lines = Lines::new(columns);
    let bad: Paint = Role::Bad.into();
    lines.hanging(&[(glyphs(look).cross, bad), (" ", bad)], &[(&error, bad)], Break::Words);
    Some(lines.finish())
}

fn hint_rows(entry: &Entry, columns: u16, look: &Look<'_>) -> Vec<Row> {
    let hint = words::hint(entry, look);
    if hint.is_empty() { Vec::new() } else { vec![Row::plain(fit(&hint, columns, glyphs(look).more), Role::Dim)] }
}

fn label_rows(entry: &Entry, columns: u16, focus: Focus, look: &Look<'_>) -> Vec<Row> {
    let mut lines = Lines::new(columns);
    lines.hanging(&[], &[(&words::label(&entry.field, look), label_paint(focus))], Break::Words);
    lines.finish()
}

/// How wide a control may be.
fn control_columns(control: &Control, field: u16, room: u16) -> u16 {
    match control {
        Control::Number(_) => field.min(NUMBER),
        _ if control.is_text() && !control.is_block() => field,
        _ => room,
    }
}

/// Label, control and message in three columns. The message goes below where the control fills its room.
fn beside(entry: &mut Entry, plan: Plan, value: u16, focus: Focus, look: &Look<'_>) -> Block {
    let room = plan.columns - value;
    let mut block = Block::rows(label_rows(entry, value - indent(entry), focus, look), indent(entry));
    let columns = control_columns(&entry.control, plan.field, room);
    let size = entry.control.measure(columns, look);
    block.put_control(value, 0, size);
    let at = value + plan.field.max(size.columns) + GAP;
    let left = plan.columns.saturating_sub(at);
    if left >= 12 && size.rows == 1 {
        let rows = error_rows(entry, left, look).unwrap_or_else(|| hint_rows(entry, left, look));
        block.put(at, 0, rows);
    } else {
        let rows = error_rows(entry, room, look).unwrap_or_else(|| hint_rows(entry, room, look));
        block.put(value, usize::from(size.rows), rows);
    }
    block
}

/// Label, then control, then message, one below the other.
fn below(entry: &mut Entry, plan: Plan, focus: Focus, look: &Look<'_>) -> Block {
    let x = indent(entry);
    let room = plan.columns.saturating_sub(x).max(1);
    let labels = label_rows(entry, room, focus, look);
    let label_end = labels.last().map_or(0, |row| row.width) + GAP;
    let mut y = labels.len();
    let mut block = Block::rows(labels, x);
    let hints = hint_rows(entry, room.saturating_sub(label_end), look);
    if room.saturating_sub(label_end) >= 6 {
        block.put(x + label_end, y.saturating_sub(1), hints);
    }
    let room = room.saturating_sub(2).max(1);
    let columns = control_columns(&entry.control, plan.field.min(room), room);
    let size = entry.control.measure(columns, look);
    block.put_control(x + 2, y, size);
    y += usize::from(size.rows);
    if let Some(rows) = error_rows(entry, room, look) {
        block.put(x + 2, y, rows);
    }
    block
}

/// Rows of all blocks together.
pub(super) fn height(blocks: &[Block]) -> usize {
    blocks.iter().map(|block| block.height).sum()
}

/// First row and row behind the last of an entry's block.
pub(super) fn span_of(blocks: &[Block], entry: usize) -> (usize, usize) {
    let mut top = 0;
    for block in blocks {
        if block.entry == Some(entry) {
            return (top, top + block.height);
        }
        top += block.height;
    }
    (0, 0)
}

/// Draws the blocks through a window whose first row is `top`; returns where the caret of the focused control stands, if it is in sight.
pub(super) fn draw(
    blocks: &[Block],
    tree: &mut Tree,
    focused: Option<usize>,
    (area, top): (Rect, usize),
    buffer: &mut Buffer,
    look: &Look<'_>,
) -> Option<Position> {
    let window = Window { area, top };
    let mut caret = None;
    let mut at = 0;
    for block in blocks {
        let focus = if block.entry.is_some() && block.entry == focused { Focus::Here } else { Focus::Elsewhere };
        if focus == Focus::Here {
            for y in at..at + block.height {
                window.row(&Row::plain(glyphs(look).bar, Role::Accent), 0, y, buffer, look);
            }
        }
        for part in &block.parts {
            match &part.body {
                Body::Rows(rows) => {
                    for (y, row) in (at + part.y..).zip(rows) {
                        window.row(row, part.x, y, buffer, look);
                    }
                }
                Body::Control(size) => {
                    let control =
                        block.entry.and_then(|entry| tree.entries.get_mut(entry)).map(|entry| &mut entry.control);
                    let found = control.and_then(|control| {
                        window.control(control, (part.x, at + part.y), *size, focus, (&mut *buffer, look))
                    });
                    caret = caret.or(found);
                }
            }
        }
        at += block.height;
    }
    caret
}

/// What of the form is in sight.
struct Window {
    area: Rect,
    top: usize,
}

impl Window {
    /// The row of the screen for a row of the form.
    fn y(&self, y: usize) -> Option<u16> {
        let y = u16::try_from(y.checked_sub(self.top)?).ok().filter(|y| *y < self.area.height)?;
        Some(self.area.y + y)
    }

    fn row(&self, row: &Row, x: u16, y: usize, buffer: &mut Buffer, look: &Look<'_>) {
        if let Some(y) = self.y(y) {
            let columns = self.area.width.saturating_sub(x);
            row.draw(Rect::new(self.area.x + x, y, columns, 1), buffer, look.theme);
        }
    }

    /// Draws a control aside, and shows what of it is in sight.
    fn control(
        &self,
        control: &mut Control,
        (x, y): (u16, usize),
        size: Size,
        focus: Focus,
        (buffer, look): (&mut Buffer, &Look<'_>),
    ) -> Option<Position> {
        if y >= self.top + usize::from(self.area.height) || y + usize::from(size.rows) <= self.top {
            return None;
        }
        let columns = size.columns.min(self.area.width.saturating_sub(x));
        let mut aside = Buffer::empty(Rect::new(0, 0, columns, size.rows));
        let caret = control.draw(aside.area, &mut aside, look, focus);
        for row in 0..size.rows {
            let Some(to) = self.y(y + usize::from(row)) else { continue };
            for column in 0..columns {
                if let Some(cell) = buffer.cell_mut((self.area.x + x + column, to)) {
                    *cell = aside[(column, row)].clone();
                }
            }
        }
        let caret = caret.filter(|_| focus == Focus::Here)?;
        Some(Position::new(self.area.x + x + caret.x, self.y(y + usize::from(caret.y))?))
    }
}
