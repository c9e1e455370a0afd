//! Moving over the rows of a view without ever counting them from the beginning.

use super::layout::{Layouts, PartLayout};
use super::store::{SlotId, Store};
use crate::tui::cell::{Company, Fold, Kind, Shown};
use crate::tui::look::Look;
use crate::tui::text::row::Row;
use std::collections::HashMap;
use std::sync::Arc;

/// A row: which entry of the view, which part of it, which block of that, which row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Spot {
    pub entry: usize,
    pub part: usize,
    pub block: usize,
    pub row: usize,
}

/// A row that is found again after its entry was laid out anew: by part and place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pin {
    pub spot: Spot,
    key: u16,
    offset: usize,
}

impl Pin {
    /// A place in a part of an entry, before anything is known of its rows.
    pub fn at(entry: usize, key: u16, offset: usize) -> Self {
        Self { spot: Spot { entry, part: 0, block: 0, row: 0 }, key, offset }
    }

    /// Whether this place stands behind a place of the same entry, as far as that can be told.
    pub fn is_behind(&self, key: u16, offset: usize) -> bool {
        self.key == key && offset < self.offset
    }
}

/// What one walk needs. Lives for one call.
pub(super) struct Walk<'a, 'l> {
    pub store: &'a Store,
    pub look: &'a Look<'l>,
    pub entries: &'a [SlotId],
    pub company: Company,
    pub folds: &'a mut HashMap<SlotId, Fold>,
    pub layouts: &'a mut Layouts,
}

impl Walk<'_, '_> {
    /// The parts of an entry.
    pub fn parts(&mut self, entry: usize) -> &[PartLayout] {
        let Some((&id, slot)) = self.entries.get(entry).and_then(|id| Some((id, self.store.get(*id)?))) else {
            return &[];
        };
        let company = self.company;
        // How an entry is shown is settled when it is first seen: nothing folds by itself under a reader's eyes.
        let fold = *self.folds.entry(id).or_insert_with(|| slot.cell.default_fold(company));
        let lead = self.lead(entry);
        self.layouts.parts(id, slot, Shown { fold, company }, lead)
    }

    /// Empty rows before an entry.
    fn lead(&self, entry: usize) -> usize {
        let slot = |entry: usize| self.entries.get(entry).and_then(|id| self.store.get(*id));
        let (Some(before), Some(this)) = (entry.checked_sub(1).and_then(slot), slot(entry)) else { return 0 };
        match (before.cell.kind(), this.cell.kind()) {
            (Kind::Tool, Kind::Tool) if before.place.step == this.place.step => 0,
            (Kind::Notice, Kind::Notice) => 0,
            (_, Kind::User) => 2,
            _ => 1,
        }
    }

    /// The rows of a block.
    pub fn rows(&mut self, spot: Spot) -> Arc<[Row]> {
        match self.entries.get(spot.entry) {
            Some(&id) => self.layouts.rows(id, spot.part, spot.block, self.store, self.look),
            None => Arc::new([]),
        }
    }

    /// The first row there is.
    pub fn first(&mut self) -> Option<Spot> {
        let start = Spot { entry: 0, part: 0, block: 0, row: 0 };
        if self.parts(0).first().is_some_and(|part| part.blocks() > 0) && !self.rows(start).is_empty() {
            return Some(start);
        }
        self.next_block(start)
    }

    /// The last row there is.
    pub fn last(&mut self) -> Option<Spot> {
        self.block_before(Spot { entry: self.entries.len(), part: 0, block: 0, row: 0 })
    }

    /// The last row of the nearest block before this one that has rows.
    pub fn block_before(&mut self, mut spot: Spot) -> Option<Spot> {
        loop {
            if spot.block > 0 {
                spot.block -= 1;
            } else if spot.part > 0 {
                spot.part -= 1;
                spot.block = self.parts(spot.entry)[spot.part].blocks();
                continue;
            } else if spot.entry > 0 {
                spot.entry -= 1;
                spot.part = self.parts(spot.entry).len();
                continue;
            } else {
                return None;
            }
            let rows = self.rows(spot).len();
            if rows > 0 {
                return Some(Spot { row: rows - 1, ..spot });
            }
        }
    }

    /// The first row of the nearest block behind this one that has rows.
    pub fn next_block(&mut self, mut spot: Spot) -> Option<Spot> {
        loop {
            spot.row = 0;
            spot.block += 1;
            while spot.entry < self.entries.len() {
                let parts = self.parts(spot.entry);
                match parts.get(spot.part) {
                    Some(part) if spot.block < part.blocks() => break,
                    Some(_) => (spot.part, spot.block) = (spot.part + 1, 0),
                    None => (spot.entry, spot.part, spot.block) = (spot.entry + 1, 0, 0),
                }
            }
            if spot.entry >= self.entries.len() {
                return None;
            }
            if !self.rows(spot).is_empty() {
                return Some(spot);
            }
        }
    }

    /// So many rows up, as far as there are some. Answers where that is and how many rows it was.
    pub fn up(&mut self, from: Spot, rows: usize) -> (Spot, usize) {
        let mut spot = from;
        let mut left = rows;
        loop {
            let here = left.min(spot.row);
            spot.row -= here;
            left -= here;
            if left == 0 {
                return (spot, rows);
            }
            let Some(before) = self.block_before(spot) else { return (spot, rows - left) };
            spot = before;
            left -= 1;
        }
    }

    /// So many rows down, as far as there are some.
    pub fn down(&mut self, from: Spot, rows: usize) -> (Spot, usize) {
        let mut spot = from;
        let mut left = rows;
        loop {
            let here = left.min(self.rows(spot).len().saturating_sub(spot.row + 1));
            spot.row += here;
            left -= here;
            if left == 0 {
                return (spot, rows);
            }
            let Some(next) = self.next_block(spot) else { return (spot, rows - left) };
            spot = next;
            left -= 1;
        }
    }

    /// The first row of an entry, after the empty rows before it; of the next one if it has none.
    pub fn head(&mut self, entry: usize) -> Option<Spot> {
        self.next_block(Spot { entry, part: 0, block: 0, row: 0 })
    }

    /// Remembers a row.
    pub fn pin(&mut self, spot: Spot) -> Pin {
        let key = self.parts(spot.entry).get(spot.part).map_or(0, |part| part.key);
        let offset = self.rows(spot).get(spot.row).map_or(0, |row| row.source.start);
        Pin { spot, key, offset }
    }

    /// Finds a remembered row.
    pub fn find(&mut self, pin: Pin) -> Option<Spot> {
        let Spot { entry, part, block, row } = pin.spot;
        let parts = self.parts(entry);
        let same = parts.get(part).is_some_and(|found| found.key == pin.key);
        let found = if same { Some(part) } else { parts.iter().position(|part| part.key == pin.key) };
        let Some(part) = found else {
            // The part is gone: the nearest there is.
            let part = part.min(parts.len().saturating_sub(1));
            return self.near(Spot { entry, part, block: 0, row: 0 });
        };
        let old = Spot { entry, part, block, row };
        let blocks = parts[part].blocks();
        let Some(block) = parts[part].block_at(pin.offset) else {
            let block = block.min(blocks.saturating_sub(1));
            let rows = self.rows(Spot { block, ..old }).len();
            return self.near(Spot { block, row: row.min(rows.saturating_sub(1)), ..old });
        };
        if old.block < blocks && self.rows(old).get(row).is_some_and(|row| row.source.start == pin.offset) {
            return Some(old);
        }
        let spot = Spot { block, row: 0, ..old };
        let rows = self.rows(spot);
        let row = rows.iter().rposition(|row| row.source.start <= pin.offset).unwrap_or(0);
        self.near(Spot { row, ..spot })
    }

    /// This row, or the nearest there is.
    fn near(&mut self, spot: Spot) -> Option<Spot> {
        let exists = self.parts(spot.entry).get(spot.part).is_some_and(|part| spot.block < part.blocks());
        if exists && spot.row < self.rows(spot).len() {
            return Some(spot);
        }
        match self.next_block(spot) {
            Some(next) => Some(next),
            None => self.last(),
        }
    }
}
