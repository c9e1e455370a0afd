//! Everything that waits for the user, by id.
//!
//! **Invariant:** an id is registered here before it is announced, and leaves at its first answer; whatever comes for an id that is not here
//! changes nothing.

use crate::domain::{AskId, CallId, PromptId, TimerId};
use std::collections::BTreeMap;

/// What a server wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Values.
    Form,
    /// That a link is visited.
    Link,
}

/// What a prompt is about, as far as answering it goes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum About {
    /// May this call run?
    Approval(CallId),
    /// The model's question, made by this call.
    Question(CallId),
    /// A server's question.
    Ask {
        /// The MCP side's number.
        ask: AskId,
        /// What it wants.
        wish: Wish,
        /// The values that are being checked against the server's schema.
        verifying: Option<serde_json::Map<String, serde_json::Value>>,
    },
    /// How should the loop go on?
    Decision,
    /// May this file's servers start?
    Trust(String),
}

/// An open prompt.
#[derive(Debug)]
pub(super) struct Open {
    pub about: About,
    pub timer: Option<TimerId>,
}

/// All open prompts.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    open: BTreeMap<PromptId, Open>,
}

impl Prompts {
    pub fn add(&mut self, id: PromptId, about: About, timer: Option<TimerId>) {
        self.open.insert(id, Open { about, timer });
    }

    pub fn get_mut(&mut self, id: PromptId) -> Option<&mut Open> {
        self.open.get_mut(&id)
    }

    pub fn about(&self, id: PromptId) -> Option<&About> {
        self.open.get(&id).map(|open| &open.about)
    }

    pub fn remove(&mut self, id: PromptId) -> Option<Open> {
        self.open.remove(&id)
    }

    pub fn by_timer(&self, timer: TimerId) -> Option<PromptId> {
        self.open.iter().find(|(_, open)| open.timer == Some(timer)).map(|(id, _)| *id)
    }

    pub fn by_ask(&self, wanted: AskId) -> Option<PromptId> {
        self.open
            .iter()
            .find(|(_, open)| matches!(open.about, About::Ask { ask, .. } if ask == wanted))
            .map(|(id, _)| *id)
    }

    pub fn asks(&self) -> Vec<(PromptId, AskId)> {
        self.open
            .iter()
            .filter_map(|(id, open)| match open.about {
                About::Ask { ask, .. } => Some((*id, ask)),
                _ => None,
            })
            .collect()
    }

    /// Ids of open prompts, oldest first (for tests of the invariants).
    pub fn ids(&self) -> Vec<PromptId> {
        self.open.keys().copied().collect()
    }
}
