//! A call: how it is written, asked for, run, and what became of it.

use crate::domain::policy::Check;
use crate::domain::tool::Progress;
use crate::domain::{CallId, ServerName, ToolCall, ToolOutcome, ToolSpec};
use std::sync::Arc;
use std::time::Instant;

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The model is still writing it.
    Writing,
    /// What was being written will never be a call.
    Abandoned,
    /// It is written and being checked.
    Proposed,
    /// It waits for the user.
    Asks,
    /// It may run and is about to.
    Cleared,
    /// It waits for its server.
    WaitsForServer,
    /// It runs.
    Running,
    /// It is suspended until the user answers its server.
    Suspended,
    /// It ended; see its outcome.
    Ended,
}

/// How a call changes; follows `contract::ToolEvent`.
#[derive(Debug)]
pub enum ToolChange<'a> {
    /// The model has written so much of it.
    Writing {
        /// The name so far.
        name: &'a str,
        /// Bytes of its arguments so far.
        bytes: usize,
    },
    /// It will never be a call.
    Abandoned,
    /// It is written whole, or its arguments were changed by the user.
    Proposed {
        /// The call.
        call: Box<ToolCall>,
        /// The tool's definition.
        spec: Option<Arc<ToolSpec>>,
    },
    /// It was checked.
    Checked(Box<Check>),
    /// It waits for its server.
    WaitingForServer(ServerName),
    /// It runs.
    Started {
        /// Since when, on the clock of `Look::now`.
        at: Instant,
    },
    /// It has come this far.
    Progress(Progress),
    /// It produced text.
    Output(&'a str),
    /// It is suspended until the user answers its server.
    Suspended,
    /// It goes on.
    Resumed,
    /// It ended.
    Finished {
        /// How.
        outcome: ToolOutcome,
        /// When, on the clock of `Look::now`; `None` where that is not known (a session read back).
        at: Option<Instant>,
    },
}

/// A call.
#[derive(Debug)]
pub struct Tool {
    call: CallId,
    name: String,
    stage: Stage,
}

impl Tool {
    pub(super) fn new(call: CallId) -> Self {
        Self { call, name: String::new(), stage: Stage::Writing }
    }

    /// Which call it is.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// Where it stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Its name as shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn change(&mut self, change: ToolChange<'_>) {
        self.stage = match change {
            ToolChange::Writing { name, .. } => {
                name.clone_into(&mut self.name);
                Stage::Writing
            }
            ToolChange::Abandoned => Stage::Abandoned,
            ToolChange::Proposed { call, .. } => {
                self.name = call.shown_name();
                Stage::Proposed
            }
            ToolChange::Checked(_) => Stage::Asks,
            ToolChange::WaitingForServer(_) => Stage::WaitsForServer,
            ToolChange::Started { .. } | ToolChange::Resumed => Stage::Running,
            ToolChange::Progress(_) | ToolChange::Output(_) => self.stage,
            ToolChange::Suspended => Stage::Suspended,
            ToolChange::Finished { .. } => Stage::Ended,
        };
    }
}
