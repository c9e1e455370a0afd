//! Notices a model that makes the same call step after step.

use crate::domain::ToolCall;
use serde_json::Value;

/// Counts how often in a row the same call came.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    last: Vec<(String, Value)>,
    times: u32,
}

impl Repeats {
    /// Takes the calls of a step; returns how often in a row these very calls have come.
    pub fn step<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>) -> u32 {
        let mut signature: Vec<(String, Value)> = Vec::new();
        for call in calls {
            let one = (call.shown_name(), call.arguments.clone());
            if !signature.contains(&one) {
                signature.push(one);
            }
        }
        if !signature.is_empty() && signature == self.last {
            self.times += 1;
        } else {
            self.last = signature;
            self.times = 1;
        }
        self.times
    }

    /// The user has seen it, or a new turn began: counting starts over.
    pub fn forget(&mut self) {
        self.last.clear();
        self.times = 0;
    }
}
