//! What servers ask of the user, until it is answered.
//!
//! Owns: the numbers and the open questions. **Invariant:** a question is registered before it is announced; the first answer wins; an answer for a
//! closed question changes nothing.

use crate::domain::AskId;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::oneshot;

/// The user's answer to a server.
#[derive(Debug, Clone, PartialEq)]
pub enum AskAnswer {
    /// The filled form; optional fields left empty are not in it.
    Accept(Map<String, Value>),
    /// No, said to the server.
    Decline,
    /// Neither yes nor no: put away, or its time ran out.
    Cancel,
    /// The URL was visited.
    Visited,
}

impl AskAnswer {
    /// The result of `elicitation/create`. Source: MCP 2025-11-25, `ElicitResult`.
    pub(super) fn into_result(self) -> Value {
        match self {
            Self::Accept(content) => json!({ "action": "accept", "content": content }),
            Self::Visited => json!({ "action": "accept" }),
            Self::Decline => json!({ "action": "decline" }),
            Self::Cancel => json!({ "action": "cancel" }),
        }
    }
}

/// The open questions of all servers.
#[derive(Debug, Default)]
pub(super) struct Asks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    open: HashMap<AskId, oneshot::Sender<AskAnswer>>,
}

impl Asks {
    /// Registers a question.
    pub(super) fn open(&self) -> (AskId, oneshot::Receiver<AskAnswer>) {
        let (tx, rx) = oneshot::channel();
        let mut state = self.lock();
        state.last += 1;
        let id = AskId(state.last);
        state.open.insert(id, tx);
        (id, rx)
    }

    /// Answers a question; nothing happens where it is no longer open.
    pub(super) fn answer(&self, id: AskId, answer: AskAnswer) {
        let waiting = self.lock().open.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.send(answer);
        }
    }

    /// Forgets a question; `true` if it was still open.
    pub(super) fn close(&self, id: AskId) -> bool {
        self.lock().open.remove(&id).is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_wins_and_late_ones_change_nothing() {
        let asks = Asks::default();
        let (one, mut first) = asks.open();
        let (two, mut second) = asks.open();
        assert_ne!(one, two);
        asks.answer(two, AskAnswer::Decline);
        asks.answer(two, AskAnswer::Visited);
        assert_eq!(second.try_recv(), Ok(AskAnswer::Decline));
        assert!(first.try_recv().is_err());
        assert!(asks.close(one));
        assert!(!asks.close(one));
        asks.answer(one, AskAnswer::Cancel);
        assert!(first.try_recv().is_err());
    }
}
