//! From one screen to the next in few bytes. Pure.
//!
//! Only cells that changed are written. A short stretch of unchanged cells between two changes is written again where that is shorter than moving the
//! cursor; colours and emphasis are sent as far as they differ from the last; a pane whose rows moved up is scrolled by the terminal itself, which is
//! what a growing answer does all the time. **Invariant:** after the bytes the terminal shows `next`, its colours are reset, and the cursor stands on the
//! caret or is hidden.

use crate::tui::text::sanitize;
use crossterm::style::Colored;
use ratatui::backend::IntoCrossterm;
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth};
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use std::io::{self, Write};

/// Unchanged cells that are cheaper to write than to jump over: a jump within a row takes four bytes or more.
const BRIDGE: u16 = 4;
/// A pane is scrolled by so many rows at most.
const FARTHEST: u16 = 8;

/// What is known of the terminal and of the frame.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// What is on the screen is not known: all of it is written.
    pub unknown: bool,
    /// Where the caret stood.
    pub was: Option<Position>,
    /// Where it stands now.
    pub caret: Option<Position>,
    /// The terminal shows a frame at once (mode 2026), so that half-done ones are not seen.
    pub synchronized: bool,
    /// Where rows may have moved up together: the insides of the panes.
    pub panes: Vec<Rect>,
}

/// Appends the bytes that turn `shown` into `next`: none when nothing changed. `shown` is used up.
pub fn encode(bytes: &mut Vec<u8>, shown: &mut Buffer, next: &Buffer, frame: &Frame) -> io::Result<()> {
    let mut changes = shown.diff(next);
    if changes.is_empty() && !frame.unknown && frame.was == frame.caret {
        return Ok(());
    }
    bytes.extend_from_slice(b"\x1b[?2026h");
    if frame.unknown {
        bytes.extend_from_slice(b"\x1b[?25l\x1b[0m\x1b[2J");
    } else if frame.was.is_some() && (!changes.is_empty() || frame.caret.is_none()) {
        bytes.extend_from_slice(b"\x1b[?25l");
    }
    if !frame.unknown && scroll(bytes, shown, next, frame, changes.len())? {
        changes = shown.diff(next);
    }
    let mut pen = Pen { out: bytes, at: None, last: Cell::default() };
    let mut changes = changes.into_iter().peekable();
    while let Some((x, y, cell)) = changes.next() {
        pen.go(x, y, next)?;
        pen.put(cell)?;
        // Half of a wide character may be left over behind it, and that looks different from terminal to terminal.
        let last = x + cell.cell_width().max(1) - 1;
        let halved = shown.cell((last, y)).is_some_and(|cell| cell.cell_width() == 2);
        let covers = halved && next.cell((last, y)).is_some_and(|cell| cell.cell_width() < 2);
        let follows = changes.peek().is_some_and(|(nx, ny, _)| (*nx, *ny) == (last + 1, y));
        if let Some(rest) = next.cell((last + 1, y)).filter(|_| covers && !follows) {
            pen.go(last + 1, y, next)?;
            pen.put(rest)?;
        }
    }
    pen.reset()?;
    if let Some(caret) = frame.caret {
        write!(bytes, "\x1b[{};{}H\x1b[?25h", caret.y + 1, caret.x + 1)?;
    }
    bytes.extend_from_slice(b"\x1b[?2026l");
    Ok(())
}

/// Lets the terminal move the rows of a pane up where that spares much. Whole rows move: beside a pane that is not as wide as the screen the others must be
/// mended, which nobody may see. Whether it did.
fn scroll(bytes: &mut Vec<u8>, shown: &mut Buffer, next: &Buffer, frame: &Frame, changes: usize) -> io::Result<bool> {
    for pane in &frame.panes {
        let whole = pane.width == shown.area.width;
        if !(whole || frame.synchronized) || pane.intersection(shown.area) != *pane {
            continue;
        }
        let Some(rows) = moved(shown, next, *pane) else { continue };
        let mut after = shown.clone();
        shift(&mut after, *pane, rows);
        if after.diff(next).len() * 10 > changes * 7 {
            continue;
        }
        // Lines are deleted inside margins: every terminal knows how.
        write!(bytes, "\x1b[{};{}r\x1b[{};1H\x1b[{rows}M\x1b[r", pane.y + 1, pane.bottom(), pane.y + 1)?;
        *shown = after;
        return Ok(true);
    }
    Ok(false)
}

/// By how many rows most of a pane moved up.
fn moved(shown: &Buffer, next: &Buffer, pane: Rect) -> Option<u16> {
    let same = |from: u16, to: u16| row(shown, pane, from) == row(next, pane, to);
    let stayed = (0..pane.height).filter(|y| same(*y, *y)).count();
    if pane.height < 6 || stayed * 2 > usize::from(pane.height) {
        return None;
    }
    (1..=FARTHEST.min(pane.height / 2)).find(|by| {
        let rows = pane.height - by;
        let moved = (0..rows).filter(|y| same(y + by, *y)).count();
        moved * 3 >= usize::from(rows) * 2
    })
}

fn row(buffer: &Buffer, pane: Rect, y: u16) -> &[Cell] {
    let start = buffer.index_of(pane.x, pane.y + y);
    &buffer.content[start..start + usize::from(pane.width)]
}

fn shift(buffer: &mut Buffer, pane: Rect, by: u16) {
    let width = usize::from(buffer.area.width);
    let from = usize::from(pane.y) * width;
    let to = usize::from(pane.bottom()) * width;
    let by = usize::from(by) * width;
    buffer.content[from..to].rotate_left(by);
    for cell in &mut buffer.content[to - by..to] {
        cell.reset();
    }
}

/// Whether two cells look alike, whatever they say.
fn alike(a: &Cell, b: &Cell) -> bool {
    (a.fg, a.bg, a.underline_color, a.modifier) == (b.fg, b.bg, b.underline_color, b.modifier)
}

/// Each emphasis with how it is switched on and off. Bold and faint are switched off together.
const EMPHASES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

struct Pen<'a> {
    out: &'a mut Vec<u8>,
    /// Where the terminal's cursor stands, where that is sure.
    at: Option<(u16, u16)>,
    /// A cell that looks as the terminal writes now.
    last: Cell,
}

impl Pen<'_> {
    fn go(&mut self, x: u16, y: u16, next: &Buffer) -> io::Result<()> {
        match self.at {
            Some(at) if at == (x, y) => return Ok(()),
            Some((from, row)) if row == y && from < x => {
                let gap = x - from;
                if gap <= BRIDGE && self.bridge(from, x, y, next)? {
                    return Ok(());
                }
                if gap == 1 { self.out.extend_from_slice(b"\x1b[C") } else { write!(self.out, "\x1b[{gap}C")? }
            }
            _ => write!(self.out, "\x1b[{};{}H", y + 1, x + 1)?,
        }
        self.at = Some((x, y));
        Ok(())
    }

    /// Writes the unchanged cells in between, if they are plain and look like what was written last.
    fn bridge(&mut self, from: u16, to: u16, y: u16, next: &Buffer) -> io::Result<bool> {
        let start = next.index_of(from, y);
        let cells = &next.content[start..start + usize::from(to - from)];
        let plain = |cell: &Cell| {
            cell.symbol().len() == 1 && cell.diff_option == CellDiffOption::None && alike(cell, &self.last)
        };
        if !cells.iter().all(plain) {
            return Ok(false);
        }
        for cell in cells {
            self.put(cell)?;
        }
        Ok(true)
    }

    fn put(&mut self, cell: &Cell) -> io::Result<()> {
        self.dress(cell)?;
        let symbol = sanitize::cell(cell.symbol());
        self.out.extend_from_slice(symbol.as_bytes());
        // Where a width was forced, terminals may differ: the next cell says where it stands.
        let sure = !matches!(cell.diff_option, CellDiffOption::ForcedWidth(_)) && symbol == cell.symbol();
        self.at = self.at.filter(|_| sure).map(|(x, y)| (x + cell.cell_width(), y));
        Ok(())
    }

    fn dress(&mut self, cell: &Cell) -> io::Result<()> {
        if alike(cell, &self.last) {
            return Ok(());
        }
        let mut separator = "\x1b[";
        let mut push = |out: &mut Vec<u8>, code: &dyn std::fmt::Display| {
            let done = write!(out, "{separator}{code}");
            separator = ";";
            done
        };
        let gone = self.last.modifier - cell.modifier;
        let mut still = self.last.modifier & cell.modifier;
        for (emphasis, _, off) in EMPHASES {
            if gone.contains(emphasis) {
                push(self.out, &off)?;
                if off == 22 {
                    still -= Modifier::BOLD | Modifier::DIM;
                }
            }
        }
        for (emphasis, on, _) in EMPHASES {
            if (cell.modifier - still).contains(emphasis) {
                push(self.out, &on)?;
            }
        }
        if cell.fg != self.last.fg {
            push(self.out, &Colored::ForegroundColor(cell.fg.into_crossterm()))?;
        }
        if cell.bg != self.last.bg {
            push(self.out, &Colored::BackgroundColor(cell.bg.into_crossterm()))?;
        }
        if cell.underline_color != self.last.underline_color {
            push(self.out, &Colored::UnderlineColor(cell.underline_color.into_crossterm()))?;
        }
        self.out.push(b'm');
        self.last = cell.clone();
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        if alike(&self.last, &Cell::default()) {
            return Ok(());
        }
        self.out.write_all(b"\x1b[0m")
    }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
