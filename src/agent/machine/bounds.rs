//! Bounds of the loop: how many steps, tries and reminders a turn has left.

use super::backoff::{Jitter, delay};
use super::repeat::Repeats;
use crate::domain::ToolCall;
use crate::domain::conversation::TurnEnd;
use crate::domain::model::{ModelError, ModelErrorKind};
use crate::domain::prompt::Decision;
use std::time::Duration;

/// What the model is told after a call that the limit of tokens cut off.
pub(super) const CUT_OFF: &str = "Your last reply was cut off by the token limit in the middle of a tool call, so nothing of it was run. Make one \
     call at a time and keep its arguments short; write long files in parts.";

/// What the model is told after a reply with neither a call nor a word for the user.
pub(super) const EMPTY: &str = "Your last reply was empty. Either call a tool or answer the user.";

/// Bounds of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of a turn before the user is asked whether to go on.
    pub steps: u32,
    /// Tries after a failed request.
    pub retries: u32,
    /// Different calls of one reply that are run; more are refused.
    pub calls: usize,
    /// The same calls so many steps in a row: the user is asked.
    pub repeats: u32,
    /// Replies against the format in a row that get a reminder; the next one stops the turn.
    pub reminders: u32,
    /// How long a cancelled call may take to end before it is given up.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 50, retries: 5, calls: 8, repeats: 3, reminders: 2, grace: Duration::from_secs(5) }
    }
}

/// What the current turn has left.
#[derive(Debug)]
pub(super) struct Bounds {
    pub limits: Limits,
    tries: u32,
    steps_left: u32,
    off_format: u32,
    repeats: Repeats,
    jitter: Jitter,
}

impl Bounds {
    pub fn new(limits: Limits, seed: u64) -> Self {
        let steps_left = limits.steps;
        Self { limits, tries: 0, steps_left, off_format: 0, repeats: Repeats::default(), jitter: Jitter(seed) }
    }

    /// A new turn has everything.
    pub fn new_turn(&mut self) {
        self.steps_left = self.limits.steps;
        self.off_format = 0;
        self.repeats.forget();
    }

    /// Takes a step, with all its tries; `false` when none is left.
    pub fn take_step(&mut self) -> bool {
        let left = self.steps_left > 0;
        self.steps_left = self.steps_left.saturating_sub(1);
        self.tries = 0;
        left
    }

    /// The user allows as many steps again.
    pub fn more_steps(&mut self) {
        self.steps_left = self.limits.steps;
    }

    /// A step that was cut off is taken again: it does not count twice.
    pub fn give_back_step(&mut self) {
        self.steps_left += 1;
    }

    /// Takes a try after a failure: its number and the wait before it. `None` when none is left.
    pub fn take_try(&mut self, error: &ModelError) -> Option<(u32, Duration)> {
        if self.tries >= self.limits.retries {
            return None;
        }
        self.tries += 1;
        Some((self.tries, delay(self.tries, error.retry_after_ms, &mut self.jitter)))
    }

    /// The user allows as many tries again.
    pub fn more_tries(&mut self) {
        self.tries = 0;
    }

    /// Takes a reminder; `false` when none is left.
    pub fn take_reminder(&mut self) -> bool {
        self.off_format += 1;
        self.off_format <= self.limits.reminders
    }

    /// A reply followed the format, or the user lets it pass: reminders count anew.
    pub fn forgive(&mut self) {
        self.off_format = 0;
    }

    /// Takes a step's calls: how often in a row they came, when that is too often.
    pub fn repeated<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>) -> Option<u32> {
        let times = self.repeats.step(calls);
        (times >= self.limits.repeats).then_some(times)
    }

    /// The user has seen the repetition.
    pub fn forget_repeats(&mut self) {
        self.repeats.forget();
    }
}

/// Whether another try by itself makes sense after a request that brought nothing.
pub(super) fn worth_a_try(kind: ModelErrorKind) -> bool {
    kind.is_retryable() || kind == ModelErrorKind::Cut
}

/// How a turn ends when the user stops it at a decision.
pub(super) fn end_of(on: &Decision) -> TurnEnd {
    match on {
        Decision::StepLimit { .. } => TurnEnd::StepLimit,
        Decision::Retry { error, .. } | Decision::GaveUp { error } | Decision::StreamCut { error } => {
            TurnEnd::Failed { problem: error.phrase() }
        }
        Decision::OffFormat | Decision::Repeated { .. } => TurnEnd::Stopped,
    }
}
