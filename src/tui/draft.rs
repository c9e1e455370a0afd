//! When the draft is told to the agent, so that a crash loses at most a second of typing. Pure: time is an argument.

use std::time::{Duration, Instant};

/// A change is told at most so long after it was made.
pub const DELAY: Duration = Duration::from_secs(1);

/// The keeper of the draft.
#[derive(Debug, Default)]
pub struct DraftKeeper {
    told: u64,
    since: Option<Instant>,
}

impl DraftKeeper {
    /// Notes which revision the draft has now.
    pub fn saw(&mut self, revision: u64, now: Instant) {
        if revision != self.told {
            self.since.get_or_insert(now);
        }
    }

    /// When the draft must be told; `None` when the agent knows it.
    pub fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + DELAY)
    }

    /// Whether it must be told now; then it counts as told.
    pub fn take(&mut self, revision: u64, now: Instant) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.told(revision);
        }
        due
    }

    /// It was told.
    pub fn told(&mut self, revision: u64) {
        self.told = revision;
        self.since = None;
    }

    /// Whether there is something to tell.
    pub fn is_dirty(&self) -> bool {
        self.since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn told_a_second_after_the_first_change() {
        let (mut keeper, start) = (DraftKeeper::default(), Instant::now());
        keeper.saw(0, start);
        assert_eq!(keeper.due(), None, "no timer while nothing is written");
        keeper.saw(1, start);
        keeper.saw(2, start + DELAY / 2);
        assert!(!keeper.take(2, start + DELAY / 2));
        assert!(keeper.take(2, start + DELAY));
        assert_eq!(keeper.due(), None);
    }
}
