//! When a key may answer: no call is approved by a key that was meant for something else.
//!
//! The rule, for keys that would *answer* (or open a URL); moving, scrolling and typing into an opened card is never held up:
//! - A key that comes by itself from being held down (reported as a repeat) never answers.
//! - A prompt that opened because the one before it was answered takes no key at all for [`UNSEEN`]: nobody can have read it, so what is typed
//!   ahead (`yy`) is for nothing. The same holds after a prompt was opened that had stood at the front for less than [`super::STANDS`], and for
//!   answers after its content was replaced (edited arguments were checked anew).
//! - `Enter` may have opened it, and the key that answered the one before may still be held: they answer only after [`HELD`]. A held key's
//!   first repeat comes within that time on common settings.
//! - A key that came too early must be followed by [`PAUSE`] without one: a held key never gets through, however long it is held.

use crate::tui::keymap::Chord;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// How long nobody can have read what is new.
pub const UNSEEN: Duration = Duration::from_millis(300);
/// How long a key may be held before it repeats.
pub const HELD: Duration = Duration::from_millis(700);
/// How long it must be quiet after a key that came too early.
pub const PAUSE: Duration = Duration::from_millis(150);

/// How a prompt came to be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// The user opened it and had seen it in the dock.
    Seen,
    /// The user opened it the moment it came.
    Fresh,
    /// The one before was answered with this key.
    After(Chord),
}

/// Decides whether a key is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quiet {
    /// No answer before.
    ready: Instant,
    /// No key at all before.
    deaf_until: Option<Instant>,
    /// This key (it may be held) does not answer before.
    held: (Chord, Instant),
    /// A key came too early, and none that counted since.
    refused: bool,
}

fn enter() -> Chord {
    Chord::from(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))
}

impl Quiet {
    pub(super) fn new(opening: Opening, now: Instant) -> Self {
        let unseen = now + UNSEEN;
        let (ready, deaf_until, key) = match opening {
            Opening::Seen => (now, None, enter()),
            Opening::Fresh => (unseen, None, enter()),
            Opening::After(key) => (unseen, Some(unseen), key),
        };
        Self { ready, deaf_until, held: (key, now + HELD), refused: false }
    }

    /// The content was replaced.
    pub(super) fn replaced(&mut self, now: Instant) {
        self.ready = self.ready.max(now + UNSEEN);
    }

    /// A key changed what the same key would do next (it went into a confirmation): it may be held.
    pub(super) fn turned(&mut self, key: KeyEvent, now: Instant) {
        self.held = (Chord::from(key), now + HELD);
    }

    /// Whether keys are taken at all.
    pub(super) fn hears(&mut self, now: Instant) -> bool {
        if self.deaf_until.is_some_and(|until| now < until) {
            self.refuse(now);
            self.deaf_until = self.deaf_until.map(|until| until.max(now + PAUSE));
            return false;
        }
        self.refused = false;
        true
    }

    /// Whether this key answers.
    pub(super) fn admits(&mut self, key: KeyEvent, now: Instant) -> bool {
        let same = Chord::from(key) == self.held.0;
        let ready = if same { self.ready.max(self.held.1) } else { self.ready };
        if key.kind == KeyEventKind::Repeat || now < ready {
            self.refuse(now);
            if same {
                self.held.1 = self.held.1.max(now + PAUSE);
            }
            return false;
        }
        self.refused = false;
        true
    }

    fn refuse(&mut self, now: Instant) {
        self.ready = self.ready.max(now + PAUSE);
        self.refused = true;
    }

    /// Whether the user should be told that a key came too early.
    pub(super) fn has_refused(&self) -> bool {
        self.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn what_was_seen_is_answered_at_once_but_not_by_the_key_that_opened_it() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::Seen, now);
        assert!(quiet.hears(now) && quiet.admits(key('y'), now));
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert!(!quiet.admits(enter, now + ms(500)));
        assert!(quiet.admits(enter, now + ms(701)));
    }

    #[test]
    fn typing_ahead_answers_nothing() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::After(Chord::from(key('y'))), now);
        assert!(!quiet.hears(now + ms(120)));
        assert!(quiet.has_refused());
        assert!(quiet.hears(now + ms(310)) && quiet.admits(key('n'), now + ms(310)));
        assert!(!quiet.admits(key('y'), now + ms(500)));
        assert!(quiet.admits(key('y'), now + ms(900)));
    }

    #[test]
    fn a_held_key_never_gets_through() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::After(Chord::from(key('y'))), now);
        // The first repeat after 660 ms, then one every 30.
        for at in (660..5_000).step_by(30) {
            let at = now + ms(at);
            assert!(!(quiet.hears(at) && quiet.admits(key('y'), at)));
        }
        let mut repeat = key('n');
        repeat.kind = KeyEventKind::Repeat;
        assert!(!quiet.admits(repeat, now + ms(9_000)));
    }

    #[test]
    fn new_content_must_be_read_first() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::Seen, now);
        quiet.replaced(now + ms(1_000));
        assert!(quiet.hears(now + ms(1_100)) && !quiet.admits(key('y'), now + ms(1_100)));
        assert!(quiet.admits(key('y'), now + ms(1_301)));
    }
}
