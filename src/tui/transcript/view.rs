//! A window on the conversation: what one pane shows.
//!
//! Keys act on a *cursor*, a row of the content. `scroll` moves it by content rows and the window follows at once, so that it stays where it is on the
//! screen as long as the window can move. The entry under it is the *current* one: it is opened, folded, copied, looked at in detail.

use super::store::{SlotId, Store};
use crate::domain::StepId;
use crate::tui::cell::Kind;
use crate::tui::look::Look;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Which kinds of entries a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Filter(u8);

impl Filter {
    /// The conversation itself: what the user sent, what the model said, how turns ended, notices.
    pub const ANSWER: Self = Self::of(&[Kind::User, Kind::Answer, Kind::Notice, Kind::Mark]);
    /// Thoughts.
    pub const THINKING: Self = Self::of(&[Kind::Thinking]);
    /// Calls.
    pub const TOOLS: Self = Self::of(&[Kind::Tool]);
    /// Everything in order.
    pub const TIMELINE: Self = Self(u8::MAX);

    /// A filter of these kinds.
    pub const fn of(kinds: &[Kind]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// Whether entries of this kind are shown.
    pub const fn shows(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// Whether the pane has the focus: only then its current entry is marked and a caret is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attention {
    /// It has.
    Focused,
    /// It has not.
    Elsewhere,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Towards the beginning.
    Back,
    /// Towards the end.
    Forward,
}

/// Where the window stands in the whole, for a scrollbar. Estimated from text lengths; exact at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Scroll {
    /// Share of the whole above the window, 0.0 – 1.0.
    pub above: f32,
    /// Share of the whole inside the window, 0.0 – 1.0; 1.0 when all of it is visible.
    pub inside: f32,
}

/// What lies below the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Below {
    /// Entries that begin below it.
    pub entries: usize,
    /// Whether something arrived there since the window left the end.
    pub fresh: bool,
}

/// What came of drawing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drawn {
    /// Where the caret stands (focused only).
    pub caret: Option<Position>,
    /// Something drawn shows an elapsed time or a spinner: it wants another frame soon.
    pub ticks: bool,
    /// Where the window stands.
    pub scroll: Scroll,
    /// What lies below; `None` at the end.
    pub below: Option<Below>,
}

/// What a search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    /// Which match is the current one, from 1; 0 when there is none.
    pub current: usize,
    /// How many there are.
    pub total: usize,
}

/// A window on the conversation.
#[derive(Debug)]
pub struct View {
    filter: Filter,
}

impl View {
    /// A window that shows these kinds, at the end and following it.
    pub fn new(filter: Filter) -> Self {
        Self { filter }
    }

    /// What it shows.
    pub fn filter(&self) -> Filter {
        self.filter
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
        let _ = (store, area, buffer, look, attention);
        Drawn::default()
    }

    /// Moves the cursor by rows, up when negative; the window goes along. While selecting, this extends the selection.
    pub fn scroll(&mut self, rows: i32, store: &Store, look: &Look<'_>) {
        let _ = (rows, store, look);
    }

    /// Moves the window by a page, less two rows.
    pub fn page(&mut self, direction: Direction, store: &Store, look: &Look<'_>) {
        let _ = (direction, store, look);
    }

    /// To the beginning.
    pub fn top(&mut self, store: &Store) {
        let _ = store;
    }

    /// To the end, and follow it.
    pub fn bottom(&mut self) {}

    /// Whether it stands at the end and follows what arrives.
    pub fn is_following(&self) -> bool {
        true
    }

    /// To the first entry of the step before or after the current one.
    pub fn step(&mut self, direction: Direction, store: &Store, look: &Look<'_>) {
        let _ = (direction, store, look);
    }

    /// Shows the first entry of a step, as it was selected in another pane. Does nothing when the view has none of it.
    pub fn show_step(&mut self, step: StepId, store: &Store, look: &Look<'_>) {
        let _ = (step, store, look);
    }

    /// Shows an entry and makes it the current one.
    pub fn show(&mut self, slot: SlotId, store: &Store, look: &Look<'_>) {
        let _ = (slot, store, look);
    }

    /// The current entry.
    pub fn current(&self, store: &Store) -> Option<SlotId> {
        store.iter().rev().find(|(_, slot)| self.filter.shows(slot.cell.kind())).map(|(id, _)| id)
    }

    /// The step of the current entry.
    pub fn current_step(&self, store: &Store) -> Option<StepId> {
        store.get(self.current(store)?)?.place.step
    }

    /// The entry drawn at this position, and makes it the current one (a click).
    pub fn click(&mut self, at: Position) -> Option<SlotId> {
        let _ = at;
        None
    }

    /// Opens or folds the current entry. Folds belong to the view: a thought folded in the timeline stays open in its own pane.
    pub fn toggle(&mut self, store: &Store) {
        let _ = store;
    }

    /// Starts a selection at the cursor, or ends it.
    pub fn toggle_selection(&mut self) {}

    /// Ends a selection. Answers whether there was one.
    pub fn end_selection(&mut self) -> bool {
        false
    }

    /// The selected text, or the current entry's, as it came (Markdown source, not wrapped rows).
    pub fn copy_text(&self, store: &Store) -> String {
        let _ = store;
        String::new()
    }

    /// Searches, from the cursor on; called again with each typed letter. An empty query ends the search. Lower case finds both cases.
    pub fn search(&mut self, query: &str, store: &Store, look: &Look<'_>) -> Found {
        let _ = (query, store, look);
        Found::default()
    }

    /// To the next or previous match, around the ends.
    pub fn search_next(&mut self, direction: Direction, store: &Store, look: &Look<'_>) -> Found {
        let _ = (direction, store, look);
        Found::default()
    }

    /// The query, while a search is on.
    pub fn query(&self) -> Option<&str> {
        None
    }

    /// How the search stands.
    pub fn found(&self) -> Found {
        Found::default()
    }
}
