//! Messages that wait for the turn to end.

use super::ledger::Outbox;
use crate::contract::SessionEvent;
use crate::domain::UserInput;
use std::collections::VecDeque;

/// Oldest first.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<UserInput>);

impl Queue {
    /// Another one waits.
    pub fn push(&mut self, input: UserInput, out: &mut Outbox) {
        self.0.push_back(input.clone());
        out.emit(SessionEvent::Queued { input, waiting: self.0.len() });
    }

    /// The newest goes back to where it was written.
    pub fn take_back(&mut self, out: &mut Outbox) {
        if let Some(input) = self.0.pop_back() {
            out.emit(SessionEvent::Unqueued { input, waiting: self.0.len() });
        }
    }

    /// All go back: what was to follow a turn that did not end well may no longer be wanted.
    pub fn give_back(&mut self, out: &mut Outbox) {
        while !self.0.is_empty() {
            self.take_back(out);
        }
    }

    /// The next one's turn has come.
    pub fn next(&mut self) -> Option<UserInput> {
        self.0.pop_front()
    }
}
