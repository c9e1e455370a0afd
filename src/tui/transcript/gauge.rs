//! Where a window stands in the whole, estimated: the whole is never laid out.

use super::layout::Layouts;
use super::store::{SlotId, Store};
use super::walk::Spot;

/// Entries this late may still change; what stands before them is weighed once.
const LATE: usize = 64;

/// Estimated rows before each entry.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    before: Vec<u64>,
    total: u64,
}

impl Gauge {
    /// Weighs what is new or may have changed.
    pub fn update(&mut self, store: &Store, entries: &[SlotId]) {
        let weight = |id: &SlotId| store.get(*id).map_or(0, |slot| u64::from(slot.cell.weight()));
        let from = self.before.len().min(entries.len().saturating_sub(LATE));
        self.before.truncate(from);
        let mut sum = if from == 0 { 0 } else { self.before[from - 1] + weight(&entries[from - 1]) };
        for id in &entries[from..] {
            self.before.push(sum);
            sum += weight(id);
        }
        self.total = sum;
    }

    /// Share of the whole that stands before a place of a row's source, 0.0 – 1.0.
    pub fn share(&self, spot: Spot, offset: usize, id: SlotId, layouts: &Layouts) -> f32 {
        let before = self.before.get(spot.entry).copied().unwrap_or(0);
        let after = self.before.get(spot.entry + 1).copied().unwrap_or(self.total);
        let (mut done, mut all) = (0, 1);
        for (i, part) in layouts.known_parts(id).iter().enumerate() {
            let (at, bytes) = part.progress(spot.block, offset);
            all += bytes;
            done += match i.cmp(&spot.part) {
                std::cmp::Ordering::Less => bytes,
                std::cmp::Ordering::Equal => at,
                std::cmp::Ordering::Greater => 0,
            };
        }
        let inside = (after - before) as f64 * (done as f64 / all as f64);
        ((before as f64 + inside) / self.total.max(1) as f64) as f32
    }
}
