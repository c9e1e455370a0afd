//! Ctrl-C with nothing left to interrupt or clear: the first asks, the second leaves. Pure: time is an argument.

use std::time::{Duration, Instant};

/// A second one within this time leaves.
const WINDOW: Duration = Duration::from_secs(2);

/// Whether the first one was pressed. **Invariant:** only the very next key can be the second.
#[derive(Debug, Default)]
pub struct Leaving {
    asked: Option<Instant>,
    /// The key at hand is the one that asked.
    fresh: bool,
}

impl Leaving {
    /// The key was pressed with nothing else to do. Whether it is the second.
    pub fn press(&mut self, now: Instant) -> bool {
        if self.asked.is_some_and(|at| now.saturating_duration_since(at) < WINDOW) {
            return true;
        }
        (self.asked, self.fresh) = (Some(now), true);
        false
    }

    /// A key has been dealt with, whatever it was.
    pub fn passed(&mut self) {
        if !std::mem::take(&mut self.fresh) {
            self.asked = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_key_and_only_in_time() {
        let (mut leaving, now) = (Leaving::default(), Instant::now());
        assert!(!leaving.press(now));
        leaving.passed();
        assert!(leaving.press(now + WINDOW / 2));
        let mut leaving = Leaving::default();
        assert!(!leaving.press(now));
        leaving.passed();
        leaving.passed();
        assert!(!leaving.press(now + WINDOW / 2), "another key came between");
        leaving.passed();
        assert!(!leaving.press(now + WINDOW * 2), "too late");
    }
}
