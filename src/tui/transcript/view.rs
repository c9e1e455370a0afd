//! A window on the conversation: what one pane shows.
//!
//! Keys act on a *cursor*, a row of the content. `scroll` moves it by content rows and the window follows at once, so that it stays where it is on the
//! screen as long as the window can move. The entry under it is the *current* one: it is opened, folded, copied, looked at in detail.

use super::copy;
use super::gauge::Gauge;
use super::layout::{Layouts, Work};
use super::paint::{Line, Picture};
use super::search::{Search, shows};
use super::store::{SlotId, Store};
use super::terms::{Attention, Below, Direction, Drawn, Filter, Found, Scroll};
use super::walk::{Pin, Spot, Walk};
use super::window::Window;
use crate::domain::StepId;
use crate::tui::cell::{Company, Fold, Kind};
use crate::tui::look::Look;
use crate::tui::text::Signs;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;

/// Columns that the view keeps for itself: one for the mark of the current entry, one for a scrollbar or for air.
const MARGINS: u16 = 2;

/// A window on the conversation.
#[derive(Debug)]
pub struct View {
    filter: Filter,
    /// The entries it shows, in order, and how many of the store's it has looked at.
    entries: Vec<SlotId>,
    seen: usize,
    generation: u64,
    folds: HashMap<SlotId, Fold>,
    window: Window,
    layouts: Layouts,
    search: Option<Search>,
    gauge: Gauge,
    /// What stood where in the last frame.
    drawn: Vec<(u16, Spot)>,
}

/// What most methods do: everything a walk needs is borrowed, and the window with it.
macro_rules! walk {
    ($view:ident, $store:expr, $look:expr) => {
        Walk {
            store: $store,
            look: $look,
            entries: &$view.entries,
            company: company($view.filter),
            folds: &mut $view.folds,
            layouts: &mut $view.layouts,
        }
    };
}

fn company(filter: Filter) -> Company {
    if filter.shows(Kind::Thinking) && filter.shows(Kind::Answer) { Company::Mixed } else { Company::Own }
}

impl View {
    /// A window that shows these kinds, at the end and following it.
    pub fn new(filter: Filter) -> Self {
        Self {
            filter,
            entries: Vec::new(),
            seen: 0,
            generation: 0,
            folds: HashMap::new(),
            window: Window::default(),
            layouts: Layouts::default(),
            search: None,
            gauge: Gauge::default(),
            drawn: Vec::new(),
        }
    }

    /// What it shows.
    pub fn filter(&self) -> Filter {
        self.filter
    }

    /// What was done since the view was made.
    pub fn work(&self) -> Work {
        self.layouts.work
    }

    /// Rows that it keeps in memory.
    pub fn cached_rows(&self) -> usize {
        self.layouts.count_rows()
    }

    #[cfg(test)]
    pub(super) fn folds(&self) -> HashMap<SlotId, Fold> {
        self.folds.clone()
    }

    #[cfg(test)]
    pub(super) fn set_folds(&mut self, folds: HashMap<SlotId, Fold>) {
        self.folds = folds;
    }

    /// Takes in entries that are new. Answers whether there is a window to move in: something was drawn before.
    fn sync(&mut self, store: &Store) -> bool {
        if self.generation != store.generation() {
            let height = self.window.height;
            *self = Self::new(self.filter);
            self.generation = store.generation();
            self.window.height = height;
        }
        for index in self.seen..store.len() {
            let id = SlotId(index as u32);
            if store.get(id).is_some_and(|slot| self.filter.shows(slot.cell.kind())) {
                self.entries.push(id);
            }
        }
        self.seen = store.len();
        self.layouts.width() > 0
    }

    /// Draws it. `area` is the whole inside of the pane: the view keeps its first column for the mark of the current entry and leaves its last one
    /// empty for a scrollbar or for air.
    pub fn draw(
        &mut self,
        store: &Store,
        area: Rect,
        buffer: &mut Buffer,
        look: &Look<'_>,
        attention: Attention,
    ) -> Drawn {
        let area = area.intersection(buffer.area);
        self.sync(store);
        self.layouts.prepare(store, area.width.saturating_sub(MARGINS), look);
        self.layouts.begin();
        self.window.height = usize::from(area.height);
        self.drawn.clear();
        let mut walk = walk!(self, store, look);
        let top = if area.width > MARGINS { self.window.top(&mut walk) } else { None };
        let Some(top) = top.filter(|_| area.height > 0) else {
            return Drawn { scroll: Scroll { above: 0.0, inside: 1.0 }, ..Drawn::default() };
        };
        let lines = lines(top, self.window.height, &mut walk);
        let last = lines.last().map_or(top, |line| line.spot);
        let at_end = walk.last() == Some(last);
        let at_start = walk.first() == Some(top);
        let cursor = self.window.settle(top, last, &mut walk);
        let selection = cursor.and_then(|cursor| self.window.selected(cursor, &mut walk));
        let picture = Picture { area, theme: look.theme, signs: Signs::of(look), lines: &lines };
        picture.rows(buffer);
        if let Some(search) = &self.search {
            picture.matches(search, buffer);
        }
        let mut caret = None;
        if attention == Attention::Focused {
            picture.selection(selection, buffer);
            caret = picture.cursor(cursor, buffer);
        }
        self.drawn.extend(lines.iter().enumerate().map(|(y, line)| (area.y + y as u16, line.spot)));
        self.layouts.end(self.window.height);
        self.gauge.update(store, &self.entries);
        let share = |spot: Spot, offset: usize| {
            let id = self.entries.get(spot.entry);
            id.map_or(0.0, |id| self.gauge.share(spot, offset, *id, &self.layouts))
        };
        let source = |line: Option<&Line>| line.and_then(Line::row).map_or(0..0, |row| row.source.clone());
        let above = if at_start { 0.0 } else { share(top, source(lines.first()).start) };
        let end = if at_end { 1.0 } else { share(last, source(lines.last()).end).max(above) };
        Drawn {
            caret,
            ticks: lines.iter().any(|line| line.ticks),
            scroll: Scroll { above, inside: end - above },
            below: (!at_end).then(|| self.below(last, store)),
        }
    }

    fn below(&self, last: Spot, store: &Store) -> Below {
        let newest = self.entries.last().and_then(|id| store.get(*id));
        Below {
            entries: self.entries.len().saturating_sub(last.entry + 1),
            fresh: newest.is_some_and(|slot| self.window.is_fresh(slot.revision)),
        }
    }

    /// Moves the cursor by rows, up when negative; the window goes along as far as it can. While selecting, this extends the selection.
    pub fn scroll(&mut self, rows: i32, store: &Store, look: &Look<'_>) {
        if self.sync(store) {
            let direction = if rows < 0 { Direction::Back } else { Direction::Forward };
            self.window.scroll(direction, rows.unsigned_abs() as usize, &mut walk!(self, store, look));
        }
    }

    /// Moves the cursor and the window by a page, less two rows.
    pub fn page(&mut self, direction: Direction, store: &Store, look: &Look<'_>) {
        if self.sync(store) {
            let rows = self.window.height.saturating_sub(2).max(1);
            self.window.scroll(direction, rows, &mut walk!(self, store, look));
        }
    }

    /// To the beginning.
    pub fn top(&mut self, store: &Store, look: &Look<'_>) {
        if self.sync(store) {
            self.window.go_to_top(&mut walk!(self, store, look));
        }
    }

    /// To the end, and follow it.
    pub fn bottom(&mut self) {
        self.window.go_to_bottom();
    }

    /// Whether it stands at the end and follows what arrives.
    pub fn is_following(&self) -> bool {
        self.window.is_following()
    }

    /// To the first entry of the step before or after the current one. What the user sent counts as a step.
    pub fn step(&mut self, direction: Direction, store: &Store, look: &Look<'_>) {
        if !self.sync(store) {
            return;
        }
        let Some((_, cursor)) = self.window.stand(&mut walk!(self, store, look)) else { return };
        let place = |entry: usize| {
            let slot = store.get(*self.entries.get(entry)?)?;
            Some((slot.place, slot.cell.kind() == Kind::User))
        };
        let here = place(cursor.entry);
        let begins = |entry: usize| entry == 0 || place(entry - 1) != place(entry);
        let target = match direction {
            Direction::Back => (0..cursor.entry).rev().find(|&entry| place(entry) != here && begins(entry)),
            Direction::Forward => (cursor.entry + 1..self.entries.len()).find(|&entry| place(entry) != here),
        };
        if let Some(entry) = target {
            self.show_entry(entry, store, look);
        }
    }

    /// Shows the first entry of a step, as it was selected in another pane. Does nothing when the view has none of it.
    pub fn show_step(&mut self, step: StepId, store: &Store, look: &Look<'_>) {
        self.sync(store);
        let Some(first) = store.first_of_step(step) else { return };
        let entry = self.entries.partition_point(|id| *id < first);
        let is_of_it = |id: &SlotId| store.get(*id).is_some_and(|slot| slot.place.step == Some(step));
        if self.entries.get(entry).is_some_and(is_of_it) {
            self.show_entry(entry, store, look);
        }
    }

    /// Shows an entry and makes it the current one.
    pub fn show(&mut self, slot: SlotId, store: &Store, look: &Look<'_>) {
        self.sync(store);
        if let Ok(entry) = self.entries.binary_search(&slot) {
            self.show_entry(entry, store, look);
        }
    }

    fn show_entry(&mut self, entry: usize, store: &Store, look: &Look<'_>) {
        let mut walk = walk!(self, store, look);
        if walk.layouts.width() > 0
            && let Some(head) = walk.head(entry)
        {
            self.window.reveal(head, 0, &mut walk);
        }
    }

    /// The current entry.
    pub fn current(&self, store: &Store) -> Option<SlotId> {
        if self.generation != store.generation() {
            return None;
        }
        match self.window.cursor() {
            Some(spot) => self.entries.get(spot.entry).copied(),
            None => self.entries.last().copied(),
        }
    }

    /// The step of the current entry.
    pub fn current_step(&self, store: &Store) -> Option<StepId> {
        store.get(self.current(store)?)?.place.step
    }

    /// The entry drawn at this position; it becomes the current one (a click).
    pub fn click(&mut self, at: Position, store: &Store, look: &Look<'_>) -> Option<SlotId> {
        let spot = self.drawn.iter().find(|(y, _)| *y == at.y)?.1;
        let id = *self.entries.get(spot.entry)?;
        self.window.reveal(spot, 0, &mut walk!(self, store, look));
        Some(id)
    }

    /// Opens or folds the current entry; the row it begins with stays where it is, or goes up as far as the rest needs room. Folds belong to the view: a thought folded in the timeline stays
    /// open in its own pane. Answers whether there was something to open or fold.
    pub fn toggle(&mut self, store: &Store, look: &Look<'_>) -> bool {
        if !self.sync(store) {
            return false;
        }
        let mut walk = walk!(self, store, look);
        let Some((_, cursor)) = self.window.stand(&mut walk) else { return false };
        let Some(&id) = walk.entries.get(cursor.entry) else { return false };
        if !store.get(id).is_some_and(|slot| slot.cell.folds()) {
            return false;
        }
        let above = self.window.rows_above(cursor.entry, &mut walk);
        let fold = walk.folds.entry(id).or_insert(Fold::Closed);
        *fold = if *fold == Fold::Open { Fold::Closed } else { Fold::Open };
        walk.layouts.forget(id);
        self.window.hold_head(cursor.entry, above.unwrap_or(0), &mut walk);
        true
    }

    /// Whether the current entry is opened.
    pub fn is_open(&self, store: &Store) -> bool {
        self.current(store).is_some_and(|id| self.folds.get(&id) == Some(&Fold::Open))
    }

    /// Starts a selection at the cursor, or ends it.
    pub fn toggle_selection(&mut self, store: &Store, look: &Look<'_>) {
        if !self.window.end_selection() && self.sync(store) {
            self.window.select(&mut walk!(self, store, look));
        }
    }

    /// Ends a selection. Answers whether there was one.
    pub fn end_selection(&mut self) -> bool {
        self.window.end_selection()
    }

    /// Whether rows are being selected.
    pub fn is_selecting(&self) -> bool {
        self.window.is_selecting()
    }

    /// The selected text, or the current entry's, as it came (Markdown source, not wrapped rows).
    pub fn copy_text(&mut self, store: &Store, look: &Look<'_>) -> String {
        if !self.sync(store) {
            return String::new();
        }
        let mut walk = walk!(self, store, look);
        let Some((_, cursor)) = self.window.stand(&mut walk) else { return String::new() };
        if let Some((from, to)) = self.window.selected(cursor, &mut walk) {
            return copy::between(&mut walk, from, to);
        }
        let slot = self.entries.get(cursor.entry).and_then(|id| store.get(*id));
        slot.map(|slot| slot.cell.copy_text(look)).unwrap_or_default()
    }

    /// Searches, from where the cursor stood when the search began; called again with each typed letter. An empty query ends the search. Lower case
    /// finds both cases.
    pub fn search(&mut self, query: &str, store: &Store, look: &Look<'_>) -> Found {
        let ready = self.sync(store);
        let origin = match self.search.take() {
            Some(search) => search.origin,
            None if ready => {
                let mut walk = walk!(self, store, look);
                let stand = self.window.stand(&mut walk);
                stand.map(|(_, cursor)| walk.pin(cursor))
            }
            None => None,
        };
        let Some(mut search) = Search::new(query, origin) else { return Found::default() };
        search.refresh(store, &self.entries, company(self.filter));
        let (entry, place) = origin.map_or((0, None), |origin| (origin.spot.entry, Some(origin)));
        search.from(entry, |hit| place.is_some_and(|place| place.is_behind(hit.key, hit.start)));
        self.search = Some(search);
        self.go_to_hit(store, look)
    }

    /// To the next or previous match, around the ends.
    pub fn search_next(&mut self, direction: Direction, store: &Store, look: &Look<'_>) -> Found {
        self.sync(store);
        let Some(search) = &mut self.search else { return Found::default() };
        search.refresh(store, &self.entries, company(self.filter));
        search.turn(direction);
        self.go_to_hit(store, look)
    }

    fn go_to_hit(&mut self, store: &Store, look: &Look<'_>) -> Found {
        if let Some(hit) = self.search.as_ref().and_then(Search::hit)
            && let Some(&id) = self.entries.get(hit.entry)
            && self.layouts.width() > 0
        {
            let mut walk = walk!(self, store, look);
            walk.parts(hit.entry);
            if !shows(walk.layouts, id, hit.key) {
                walk.folds.insert(id, Fold::Open);
                walk.layouts.forget(id);
            }
            if let Some(spot) = walk.find(Pin::at(hit.entry, hit.key, hit.start)) {
                self.window.reveal(spot, self.window.height / 3, &mut walk);
            }
        }
        self.found()
    }

    /// The query, while a search is on.
    pub fn query(&self) -> Option<&str> {
        self.search.as_ref().map(|search| search.query.as_str())
    }

    /// How the search stands.
    pub fn found(&self) -> Found {
        self.search.as_ref().map_or(Found::default(), Search::found)
    }
}

/// The rows of a window from this one on.
fn lines(top: Spot, height: usize, walk: &mut Walk<'_, '_>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(height);
    let mut next = Some(top);
    while let Some(spot) = next {
        let rows = walk.rows(spot);
        let Some(part) = walk.parts(spot.entry).get(spot.part) else { break };
        let line = Line {
            spot,
            rows: rows.clone(),
            key: part.key,
            inset: part.inset,
            sign: part.sign.filter(|_| spot.block == 0),
            under: part.under,
            ticks: part.ticks(),
        };
        for row in spot.row..rows.len() {
            if lines.len() == height {
                return lines;
            }
            lines.push(Line { spot: Spot { row, ..spot }, ..line.clone() });
        }
        next = walk.next_block(spot);
    }
    lines
}
