//! What the user wants, in the imperative.

use crate::domain::model::DialectKind;
use crate::domain::prompt::Answer;
use crate::domain::server::ServerAction;
use crate::domain::{CallId, PromptId, ServerName, ToolId, UserInput};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An intent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Start a turn; while one runs, queue this as the next message.
    Submit {
        /// What to send.
        input: UserInput,
    },
    /// Take the newest queued message back (it comes back as [`super::SessionEvent::Unqueued`]).
    Unqueue,
    /// Answer what waits.
    Answer {
        /// Which prompt.
        prompt: PromptId,
        /// The answer.
        answer: Answer,
    },
    /// Change the arguments of a call that waits for approval. The prompt stays open and is checked anew.
    Amend {
        /// Which prompt.
        prompt: PromptId,
        /// The new arguments.
        arguments: Value,
    },
    /// Stop the running turn.
    Interrupt,
    /// Stop one running call; the turn goes on.
    CancelCall {
        /// Which.
        call: CallId,
    },
    /// Run a tool without a model.
    RunTool {
        /// Which.
        tool: ToolId,
        /// With what.
        arguments: Value,
    },
    /// Forget a stored grant of a tool.
    Revoke {
        /// Which tool.
        tool: ToolId,
    },
    /// Do something with a server.
    Server {
        /// Which.
        server: ServerName,
        /// What.
        action: ServerAction,
    },
    /// Read the MCP configuration files again and take in what changed.
    Reload,
    /// Use another model, named `provider:name`.
    UseModel {
        /// Which.
        model: String,
    },
    /// Use another dialect; `None` chooses by what the model can do.
    UseDialect {
        /// Which.
        dialect: Option<DialectKind>,
    },
    /// Something about the session.
    Session(SessionOp),
    /// The program is about to be suspended, or is back.
    Clock(ClockOp),
    /// Something about the recording that is played. An agent has none.
    Playback(PlaybackOp),
    /// End: cancel what runs, stop the servers, close the journal.
    Shutdown,
}

/// What concerns the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "session", rename_all = "snake_case")]
pub enum SessionOp {
    /// Begin a new, empty one.
    New,
    /// Keep what is being typed, so that a crash does not lose it.
    Draft {
        /// The whole draft.
        text: String,
    },
}

/// How a recording is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaybackOp {
    /// Go on to the next thing that is to be seen, now.
    Step,
    /// Pause, or go on in its own time.
    Pause,
    /// Twice as fast.
    Faster,
    /// Half as fast.
    Slower,
}

/// Timers of waiting prompts stand still while the program is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockOp {
    /// Hold the timers. Confirmed by [`super::SessionEvent::Held`].
    Hold,
    /// Let them go on.
    Go,
}
