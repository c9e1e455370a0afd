//! Where a view stands: its first row, its cursor, its selection.
//!
//! **Invariants:** a place is a row of an entry, never a number of rows from the beginning. What arrives moves a window only while it stands at the
//! end. The window never shows nothing below the last row while there is something above the first.

use super::terms::Direction;
use super::walk::{Pin, Spot, Walk};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Anchor {
    /// At the end, following it.
    #[default]
    Bottom,
    /// Its first row is this one.
    At(Pin),
}

/// Where a view stands.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Rows of the window.
    pub height: usize,
    anchor: Anchor,
    /// The row keys act on; `None` is the last one.
    cursor: Option<Pin>,
    /// Where the selection began.
    selection: Option<Pin>,
    /// How far the store was when the window left the end.
    left_at: u64,
}

impl Window {
    /// Rows between the first and the last of the window.
    fn span(&self) -> usize {
        self.height.max(1) - 1
    }

    /// The lowest row that may be the first of the window, and the last row of all.
    fn lowest(&self, walk: &mut Walk<'_, '_>) -> Option<(Spot, Spot)> {
        let last = walk.last()?;
        Some((walk.up(last, self.span()).0, last))
    }

    /// The first row of the window.
    pub fn top(&mut self, walk: &mut Walk<'_, '_>) -> Option<Spot> {
        let (lowest, _) = self.lowest(walk)?;
        match self.anchor {
            Anchor::Bottom => Some(lowest),
            Anchor::At(pin) => Some(walk.find(pin)?.min(lowest)),
        }
    }

    /// The first row of the window and the cursor, if there is anything.
    pub fn stand(&mut self, walk: &mut Walk<'_, '_>) -> Option<(Spot, Spot)> {
        let top = self.top(walk)?;
        let bottom = walk.down(top, self.span()).0;
        let cursor = match self.cursor {
            Some(pin) => walk.find(pin)?.clamp(top, bottom),
            None => bottom,
        };
        Some((top, cursor))
    }

    /// Stands with this first row, as far down as that may be, and this cursor.
    fn stand_at(&mut self, top: Spot, cursor: Spot, walk: &mut Walk<'_, '_>) {
        let Some((lowest, last)) = self.lowest(walk) else { return };
        let top = top.min(lowest);
        let (top_pin, cursor_pin) = (walk.pin(top), walk.pin(cursor));
        let at_end = top == lowest && cursor == last;
        if self.is_following() && !at_end {
            self.left_at = walk.store.revision();
        }
        self.anchor = if at_end { Anchor::Bottom } else { Anchor::At(top_pin) };
        self.cursor = if cursor == last { None } else { Some(cursor_pin) };
    }

    /// The cursor, kept among the rows that are drawn.
    pub fn settle(&mut self, first: Spot, last: Spot, walk: &mut Walk<'_, '_>) -> Option<Spot> {
        let Some(pin) = self.cursor else { return Some(last) };
        let spot = walk.find(pin)?.clamp(first, last);
        self.cursor = Some(walk.pin(spot));
        Some(spot)
    }

    /// The first and the last selected row, with the cursor here.
    pub fn selected(&self, cursor: Spot, walk: &mut Walk<'_, '_>) -> Option<(Spot, Spot)> {
        let from = walk.find(self.selection?)?;
        Some((from.min(cursor), from.max(cursor)))
    }

    /// The cursor moves by so many rows, and the window with it.
    pub fn scroll(&mut self, direction: Direction, rows: usize, walk: &mut Walk<'_, '_>) {
        let Some((top, cursor)) = self.stand(walk) else { return };
        let (top, cursor) = match direction {
            Direction::Back => {
                let (cursor, moved) = walk.up(cursor, rows);
                (walk.up(top, moved).0, cursor)
            }
            Direction::Forward => {
                let (cursor, moved) = walk.down(cursor, rows);
                (walk.down(top, moved).0, cursor)
            }
        };
        self.stand_at(top, cursor, walk);
    }

    /// To the first row of all.
    pub fn go_to_top(&mut self, walk: &mut Walk<'_, '_>) {
        if let Some(first) = walk.first() {
            self.stand_at(first, first, walk);
        }
    }

    /// To the end, and follow it.
    pub fn go_to_bottom(&mut self) {
        self.anchor = Anchor::Bottom;
        self.cursor = None;
    }

    /// The cursor goes to a row. The window moves only if it must, and then leaves so many rows above.
    pub fn reveal(&mut self, spot: Spot, above: usize, walk: &mut Walk<'_, '_>) {
        let Some(top) = self.top(walk) else { return };
        let bottom = walk.down(top, self.span()).0;
        let top = if spot < top || spot > bottom { walk.up(spot, above).0 } else { top };
        self.stand_at(top, spot, walk);
    }

    /// How many rows above the head of an entry the window begins; `None` when that head is not in the window.
    pub fn rows_above(&mut self, entry: usize, walk: &mut Walk<'_, '_>) -> Option<usize> {
        let mut at = self.top(walk)?;
        let head = walk.head(entry)?;
        for rows in 0..self.height {
            if at == head {
                return Some(rows);
            }
            at = walk.down(at, 1).0;
        }
        None
    }

    /// The cursor goes to the head of an entry, which stands so many rows below the first of the window, or higher if its end would be out of sight.
    pub fn hold_head(&mut self, entry: usize, rows_above: usize, walk: &mut Walk<'_, '_>) {
        let Some(head) = walk.head(entry) else { return };
        let mut at = head;
        let mut rows = 1;
        while rows < self.height {
            let (next, moved) = walk.down(at, 1);
            if moved == 0 || next.entry != entry {
                break;
            }
            (at, rows) = (next, rows + 1);
        }
        let top = walk.up(head, rows_above.min(self.height.saturating_sub(rows))).0;
        self.stand_at(top, head, walk);
    }

    /// The cursor's row as it was last known; `None` is the last row.
    pub fn cursor(&self) -> Option<Spot> {
        self.cursor.map(|pin| pin.spot)
    }

    /// Whether it stands at the end and follows what arrives.
    pub fn is_following(&self) -> bool {
        self.anchor == Anchor::Bottom
    }

    /// Whether a revision is newer than what was there when the window left the end.
    pub fn is_fresh(&self, revision: u64) -> bool {
        revision > self.left_at
    }

    /// Begins a selection at the cursor. From then on nothing that arrives moves the window.
    pub fn select(&mut self, walk: &mut Walk<'_, '_>) {
        if let Some((top, cursor)) = self.stand(walk) {
            if self.is_following() {
                self.left_at = walk.store.revision();
            }
            self.anchor = Anchor::At(walk.pin(top));
            self.selection = Some(walk.pin(cursor));
            self.cursor = self.selection;
        }
    }

    /// Ends a selection. Answers whether there was one.
    pub fn end_selection(&mut self) -> bool {
        self.selection.take().is_some()
    }

    /// Whether rows are being selected.
    pub fn is_selecting(&self) -> bool {
        self.selection.is_some()
    }
}
