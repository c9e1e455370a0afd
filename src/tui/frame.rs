//! When to draw. Pure: time is an argument.
//!
//! Keys and resizes are drawn at once, text that arrives in the next slot of [`SLOT`], spinners [`SPIN`] apart and only while one is in sight,
//! countdowns when their next second begins. **Invariant:** when nothing is due, [`FrameClock::due`] is `None`: no timer, no wake-up. While text waits for
//! its slot, more of it changes nothing ([`FrameClock::gathers`]): it is taken in when the slot comes, not one piece at a time.

use ratatui::layout::{Position, Rect};
use std::time::{Duration, Instant};

/// Frames are at least this far apart while nothing but text arrives.
pub const SLOT: Duration = Duration::from_millis(33);
/// Spinners move four times a second.
pub const SPIN: Duration = Duration::from_millis(250);

/// Whether something in sight moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// Nothing does.
    Still,
    /// A spinner or an elapsed time.
    Spinning,
}

/// What came of drawing a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Painted {
    /// Where the caret stands.
    pub caret: Option<Position>,
    /// Whether something in sight moves by itself.
    pub motion: Motion,
    /// When something in sight changes by itself.
    pub deadline: Option<Instant>,
    /// The insides of the panes that are in sight.
    pub panes: Vec<Rect>,
}

/// The clock.
#[derive(Debug, Default)]
pub struct FrameClock {
    last: Option<Instant>,
    due: Option<Instant>,
    /// Something that arrived waits for its slot.
    gathers: bool,
}

impl FrameClock {
    /// A key, a resize: draw at once.
    pub fn now(&mut self, now: Instant) {
        self.by(now);
    }

    /// Something arrived: draw in the next slot.
    pub fn soon(&mut self, now: Instant) {
        self.by(self.last.map_or(now, |last| now.max(last + SLOT)));
        self.gathers = true;
    }

    /// Whether a frame is on its way that shows what has arrived: what arrives before it need not wake anybody.
    pub fn gathers(&self) -> bool {
        self.gathers
    }

    fn by(&mut self, at: Instant) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }

    /// A frame was drawn. Says what in it will look different by itself, and when.
    pub fn drawn(&mut self, now: Instant, motion: Motion, deadline: Option<Instant>) {
        self.last = Some(now);
        self.gathers = false;
        let spin = match motion {
            Motion::Spinning => Some(now + SPIN),
            Motion::Still => None,
        };
        // A deadline that is past already must not spin the loop.
        let deadline = deadline.map(|at| at.max(now + SLOT));
        self.due = [spin, deadline].into_iter().flatten().min();
    }

    /// When the next frame is due.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether one is due now.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn keys_at_once_text_in_the_next_slot() {
        let (mut clock, start) = (FrameClock::default(), Instant::now());
        assert_eq!(clock.due(), None);
        clock.soon(start);
        assert!(clock.is_due(start), "the first text after idling is drawn at once");
        clock.drawn(start, Motion::Still, None);
        assert_eq!(clock.due(), None, "idle: no timer");
        assert!(!clock.gathers(), "what comes next is seen at once");
        clock.soon(start + 5 * MS);
        clock.soon(start + 20 * MS);
        assert_eq!(clock.due(), Some(start + SLOT));
        assert!(clock.gathers());
        clock.now(start + 21 * MS);
        assert!(clock.is_due(start + 21 * MS));
    }

    #[test]
    fn moves_only_while_something_moves() {
        let (mut clock, start) = (FrameClock::default(), Instant::now());
        clock.drawn(start, Motion::Spinning, Some(start + 100 * MS));
        assert_eq!(clock.due(), Some(start + 100 * MS));
        clock.drawn(start + 100 * MS, Motion::Spinning, None);
        assert_eq!(clock.due(), Some(start + 350 * MS));
        clock.drawn(start + 350 * MS, Motion::Still, Some(start));
        assert_eq!(clock.due(), Some(start + 350 * MS + SLOT), "a past deadline waits for a slot");
    }
}
