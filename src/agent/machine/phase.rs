//! Where the task's turn stands.

use crate::domain::prompt::Decision;
use crate::domain::{PromptId, StepId, TimerId, TurnId};

/// Where the task's turn stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Phase {
    /// No turn runs.
    Idle,
    /// The environment part of its message is being gathered.
    Preparing { turn: TurnId },
    /// A reply is arriving.
    Streaming { turn: TurnId },
    /// The reply's calls are on their way to their outcomes.
    Acting { turn: TurnId, step: StepId },
    /// The user is asked how to go on.
    Deciding { turn: TurnId, step: Option<StepId>, prompt: PromptId, on: Decision },
    /// It was interrupted; running calls have until the timer to end.
    Stopping { turn: TurnId, step: StepId, grace: TimerId },
}
