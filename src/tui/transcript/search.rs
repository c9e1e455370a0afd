//! Searching the source text of a view's entries, folded parts included.

use super::layout::Layouts;
use super::store::{SlotId, Store};
use super::terms::{Direction, Found};
use super::walk::Pin;
use crate::tui::cell::{Company, Fold, Shown};
use crate::tui::text::row::Row;
use crate::tui::text::width;
use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// More matches than this are not counted.
const MOST: usize = 100_000;

/// A match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub entry: usize,
    pub key: u16,
    pub start: usize,
}

/// A running search.
#[derive(Debug)]
pub(super) struct Search {
    pub query: String,
    pattern: Regex,
    hits: Vec<Hit>,
    current: Option<usize>,
    /// Where the cursor stood when it began.
    pub origin: Option<Pin>,
    revision: u64,
}

impl Search {
    /// A search for a text as it stands; lower case finds both cases. `None` for an empty one.
    pub fn new(query: &str, origin: Option<Pin>) -> Option<Self> {
        let any_case = !query.chars().any(char::is_uppercase);
        let pattern = RegexBuilder::new(&regex::escape(query)).case_insensitive(any_case).build().ok()?;
        if query.is_empty() {
            return None;
        }
        Some(Self { query: query.to_owned(), pattern, hits: Vec::new(), current: None, origin, revision: 0 })
    }

    /// Looks through the entries, again if anything changed since.
    pub fn refresh(&mut self, store: &Store, entries: &[SlotId], company: Company) {
        if self.revision == store.revision() {
            return;
        }
        let before = self.current.and_then(|current| self.hits.get(current)).copied();
        self.revision = store.revision();
        self.hits.clear();
        let mut parts = Vec::new();
        for (entry, id) in entries.iter().enumerate() {
            let Some(slot) = store.get(*id) else { continue };
            slot.cell.parts(Shown { fold: Fold::Open, company }, &mut parts);
            for part in parts.drain(..) {
                let found = self.pattern.find_iter(part.text).map(|m| Hit { entry, key: part.key, start: m.start() });
                self.hits.extend(found.take(MOST - self.hits.len()));
            }
            if self.hits.len() >= MOST {
                break;
            }
        }
        self.current = before.and_then(|hit| self.hits.iter().position(|h| *h == hit));
    }

    /// How it stands.
    pub fn found(&self) -> Found {
        Found { current: self.current.map_or(0, |current| current + 1), total: self.hits.len() }
    }

    /// The current match.
    pub fn hit(&self) -> Option<Hit> {
        self.hits.get(self.current?).copied()
    }

    /// Makes the first match at or behind an entry's place the current one, else the first of all. `after` says whether a match of the same entry
    /// stands before that place.
    pub fn from(&mut self, entry: usize, mut before: impl FnMut(Hit) -> bool) {
        let start = self.hits.partition_point(|hit| hit.entry < entry);
        let found = (start..self.hits.len()).find(|&i| self.hits[i].entry > entry || !before(self.hits[i]));
        self.current = if self.hits.is_empty() { None } else { Some(found.unwrap_or(0)) };
    }

    /// The next or previous match, around the ends.
    pub fn turn(&mut self, direction: Direction) {
        let Some(last) = self.hits.len().checked_sub(1) else { return };
        self.current = Some(match (direction, self.current) {
            (Direction::Forward, Some(current)) if current < last => current + 1,
            (Direction::Forward, _) => 0,
            (Direction::Back, Some(current)) if current > 0 => current - 1,
            (Direction::Back, _) => last,
        });
    }

    /// Where matches stand in rows that follow each other: row, first column, columns, whether it is the current one. What wrapping tore apart is
    /// found too.
    pub fn columns(&self, rows: &[&Row], current: Option<usize>) -> Vec<(usize, Range<u16>, bool)> {
        let mut text = String::new();
        // Per row: where it begins in the joined text, and how many bytes of the row were left out there.
        let mut starts = Vec::with_capacity(rows.len());
        for (i, row) in rows.iter().enumerate() {
            let skipped = if i == 0 { 0 } else { row.text.len() - row.text.trim_start().len() };
            if i > 0 && rows[i - 1].source.end < row.source.start {
                text.push(' ');
            }
            starts.push((text.len(), skipped));
            text.push_str(&row.text[skipped..]);
        }
        let mut out = Vec::new();
        let mut marked = false;
        for found in self.pattern.find_iter(&text) {
            let first = starts.partition_point(|(start, _)| *start <= found.start()).saturating_sub(1);
            let is_current =
                !marked && current.is_some_and(|at| rows[first].source.contains(&at) || rows[first].source.start > at);
            marked |= is_current;
            for (i, (start, skipped)) in starts.iter().enumerate().skip(first) {
                let end = start + rows[i].text.len() - skipped;
                if *start >= found.end() {
                    break;
                }
                let from = found.start().max(*start) - start + skipped;
                let to = found.end().min(end).max(*start) - start + skipped;
                let column = |at: usize| width::of(&rows[i].text[..at]);
                if to > from {
                    out.push((i, column(from)..column(to), is_current));
                }
            }
        }
        out
    }
}

/// Whether an entry shows a part in the fold it is in.
pub(super) fn shows(layouts: &Layouts, id: SlotId, key: u16) -> bool {
    layouts.known_parts(id).iter().any(|part| part.key == key)
}
