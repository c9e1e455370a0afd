//! When a key may answer: no call is approved by a key that was meant for something else.
//!
//! The rule is for keys that would *answer* (or open a URL); moving, scrolling and typing are held up only where it says so:
//! - A key that comes by itself from being held down (reported as a repeat) never answers.
//! - A prompt that opened because the one before it was answered takes no key at all for [`UNSEEN`]: nobody can have read it, so what is typed
//!   ahead (`yy`) is for nothing. The same holds after a prompt was opened that had stood at the front for less than [`super::STANDS`], and for
//!   answers after its content was replaced (edited arguments were checked anew).
//! - `Enter` may have opened it, and the key that answered the one before may still be held down: until [`HELD`] has passed, or another key was
//!   pressed, that key is not taken. A held key's first repeat comes within that time on common settings.
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
    /// This key may be held down, until then.
    held: Option<(Chord, Instant)>,
    /// A key came too early, and none that counted since.
    refused: bool,
}

impl Quiet {
    pub(super) fn new(opening: Opening, now: Instant) -> Self {
        let unseen = now + UNSEEN;
        let enter = Chord::from(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
        let (ready, deaf_until, key) = match opening {
            Opening::Seen => (now, None, enter),
            Opening::Fresh => (unseen, None, enter),
            Opening::After(key) => (unseen, Some(unseen), key),
        };
        Self { ready, deaf_until, held: Some((key, now + HELD)), refused: false }
    }

    /// The content was replaced.
    pub(super) fn replaced(&mut self, now: Instant) {
        self.ready = self.ready.max(now + UNSEEN);
    }

    /// A key changed what the same key would do next (it went into a confirmation): it may be held.
    pub(super) fn turned(&mut self, key: KeyEvent, now: Instant) {
        self.held = Some((Chord::from(key), now + HELD));
    }

    /// Whether this key is taken at all.
    pub(super) fn hears(&mut self, key: KeyEvent, now: Instant) -> bool {
        let chord = Chord::from(key);
        // A key repeats only as long as no other one is pressed.
        self.held = self.held.filter(|(held, until)| *held == chord && now < *until);
        let deaf = self.deaf_until.is_some_and(|until| now < until);
        if let Some((_, until)) = &mut self.held {
            *until = (*until).max(now + PAUSE);
        }
        if deaf {
            self.deaf_until = self.deaf_until.max(Some(now + PAUSE));
        }
        if deaf || self.held.is_some() {
            self.refuse(now);
            return false;
        }
        self.refused = false;
        true
    }

    /// Whether this key, which was heard, answers.
    pub(super) fn admits(&mut self, key: KeyEvent, now: Instant) -> bool {
        if key.kind == KeyEventKind::Repeat || now < self.ready {
            self.refuse(now);
            return false;
        }
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
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert!(!quiet.hears(enter, now + ms(500)));
        assert!(quiet.hears(enter, now + ms(701)) && quiet.admits(enter, now + ms(701)));
        let mut quiet = Quiet::new(Opening::Seen, now);
        assert!(quiet.hears(key('y'), now) && quiet.admits(key('y'), now));
        // Another key in between: this one is not held.
        assert!(quiet.hears(enter, now + ms(50)) && quiet.admits(enter, now + ms(50)));
    }

    #[test]
    fn typing_ahead_answers_nothing() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::After(Chord::from(key('y'))), now);
        assert!(!quiet.hears(key('y'), now + ms(120)));
        assert!(quiet.has_refused());
        assert!(!quiet.hears(key('y'), now + ms(310)));
        assert!(quiet.hears(key('y'), now + ms(750)) && quiet.admits(key('y'), now + ms(750)));
        let mut quiet = Quiet::new(Opening::After(Chord::from(key('y'))), now);
        assert!(!quiet.hears(key('n'), now + ms(200)));
        assert!(quiet.hears(key('n'), now + ms(400)) && quiet.admits(key('n'), now + ms(400)));
    }

    #[test]
    fn a_held_key_never_gets_through() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::After(Chord::from(key('y'))), now);
        // The first repeat after 660 ms, then one every 30.
        for at in (660..5_000).step_by(30) {
            let at = now + ms(at);
            assert!(!(quiet.hears(key('y'), at) && quiet.admits(key('y'), at)));
        }
        let mut repeat = key('n');
        repeat.kind = KeyEventKind::Repeat;
        assert!(quiet.hears(repeat, now + ms(9_000)) && !quiet.admits(repeat, now + ms(9_000)));
    }

    #[test]
    fn new_content_must_be_read_first() {
        let now = Instant::now();
        let mut quiet = Quiet::new(Opening::Seen, now);
        quiet.replaced(now + ms(1_000));
        assert!(quiet.hears(key('y'), now + ms(1_100)) && !quiet.admits(key('y'), now + ms(1_100)));
        assert!(quiet.admits(key('y'), now + ms(1_301)));
    }
}
