//! Calls that have no outcome yet, and where each of them stands.
//!
//! Owns the state of every open call; the call itself stands in the conversation. **Invariant:** a call leaves this table exactly once,
//! when it gets its outcome. At most one call that writes files or runs a command runs at a time, in the order they were asked for.

use crate::domain::form::Form;
use crate::domain::policy::Check;
use crate::domain::tool::{Risk, ToolSpec};
use crate::domain::{CallId, PromptId, StepId};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// It waits for the user's word on its step (a repeated call).
    Held,
    /// It is being checked.
    Checking,
    /// It waits for the user. The prompt is registered.
    Asking(PromptId),
    /// It may run and waits for its turn.
    Ready,
    /// It runs.
    Running,
    /// It runs and was called off.
    Stopping,
}

/// An open call.
#[derive(Debug)]
pub(super) struct Open {
    pub step: StepId,
    pub stand: Stand,
    /// Which check of it counts.
    pub round: u32,
    /// Which check of it was the last to come back.
    pub seen: u32,
    /// The user allowed it as it was found then, while it was looked at once more: it runs if nothing has changed.
    pub allowed: Option<(Arc<str>, Box<Check>)>,
    /// Whether the user is asked whatever the policy says.
    pub always_ask: bool,
    /// Arguments that the user wrote and that are being checked; they become the call's own when they are found good.
    pub amendment: Option<Value>,
    pub found: Option<(Arc<ToolSpec>, Box<Check>, Form)>,
    /// How often what the user is shown about it changed.
    pub version: u32,
}

impl Open {
    /// Whether it is being looked at (again).
    pub fn is_looked_at(&self) -> bool {
        self.round > self.seen
    }

    fn is_exclusive(&self) -> bool {
        self.found.as_ref().is_some_and(|(spec, ..)| matches!(spec.risk, Risk::Write | Risk::Command))
    }
}

/// All open calls.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<CallId, Open>,
}

impl Calls {
    pub fn add(&mut self, call: CallId, step: StepId, stand: Stand, always_ask: bool) {
        self.open.insert(
            call,
            Open {
                step,
                stand,
                round: 0,
                seen: 0,
                allowed: None,
                always_ask,
                amendment: None,
                found: None,
                version: 0,
            },
        );
    }

    pub fn get_mut(&mut self, call: CallId) -> Option<&mut Open> {
        self.open.get_mut(&call)
    }

    pub fn get(&self, call: CallId) -> Option<&Open> {
        self.open.get(&call)
    }

    pub fn remove(&mut self, call: CallId) -> Option<Open> {
        self.open.remove(&call)
    }

    /// Open calls of a step, in the order they were asked for.
    pub fn of_step(&self, step: StepId) -> Vec<CallId> {
        self.open.iter().filter(|(_, c)| c.step == step).map(|(id, _)| *id).collect()
    }

    pub fn all(&self) -> Vec<CallId> {
        self.open.keys().copied().collect()
    }

    pub fn is_done(&self, step: StepId) -> bool {
        self.open.values().all(|c| c.step != step)
    }

    /// Calls whose turn it is to run now; they are marked as running.
    pub fn start_ready(&mut self) -> Vec<CallId> {
        let mut busy =
            self.open.values().any(|c| matches!(c.stand, Stand::Running | Stand::Stopping) && c.is_exclusive());
        let mut started = Vec::new();
        for (id, call) in &mut self.open {
            if call.stand != Stand::Ready {
                continue;
            }
            if call.is_exclusive() {
                if busy {
                    continue;
                }
                busy = true;
            }
            call.stand = Stand::Running;
            started.push(*id);
        }
        started
    }

    /// Calls that wait for the user and satisfy a test on what was found about them.
    pub fn asking(&self, test: impl Fn(&ToolSpec) -> bool) -> Vec<CallId> {
        self.open
            .iter()
            .filter(|(_, c)| matches!(c.stand, Stand::Asking(_)))
            .filter(|(_, c)| c.found.as_ref().is_some_and(|(spec, ..)| test(spec)))
            .map(|(id, _)| *id)
            .collect()
    }
}
