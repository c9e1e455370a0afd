//! The words of the transcript: what is asked of a view and what it answers.

use crate::tui::cell::Kind;
use ratatui::layout::Position;

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
