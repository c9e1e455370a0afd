//! Everything that can wait for the user: one queue, one id space, one answer type.
//!
//! **Invariant:** an id is registered before it is announced; the first answer wins; an answer for a closed prompt changes nothing.

use super::error::Phrase;
use super::form::{FieldError, Form};
use super::id::{CallId, PromptId, ServerName, StepId};
use super::model::ModelError;
use super::policy::Check;
use super::tool::{ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its id.
    pub id: PromptId,
    /// The call it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The step it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepId>,
    /// What is asked.
    pub kind: PromptKind,
    /// Milliseconds until it answers itself; `None` waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// An approval: may this call run?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The call, with the arguments it would run with.
    pub call: ToolCall,
    /// The tool's definition.
    pub spec: Arc<ToolSpec>,
    /// What was found out about it.
    pub check: Check,
    /// A form over the tool's schema, to edit the arguments.
    pub form: Form,
    /// Arguments that were edited but do not satisfy the schema: what is wrong, by field (empty name: the whole).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<(String, FieldError)>,
    /// Which version of this card it is: it counts up whenever what would run, or what is known of it, changed. See [`Answer::Approve`].
    #[serde(default)]
    pub version: u32,
}

/// A server's question (MCP elicitation, form mode).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormRequest {
    /// Who asks.
    pub server: ServerName,
    /// What it says.
    pub message: String,
    /// What to fill in. No fields: a confirmation.
    pub form: Form,
}

/// A server's wish that the user visits a URL (MCP elicitation, URL mode).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkRequest {
    /// Who asks.
    pub server: ServerName,
    /// What it says.
    pub message: String,
    /// Where to go.
    pub url: String,
}

/// A question of the model (`ask_followup_question`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Proposed answers; the user may always write another.
    pub options: Vec<String>,
}

/// Something the loop itself cannot decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "topic", rename_all = "snake_case")]
pub enum Decision {
    /// A failed request is tried again when the time is up.
    Retry {
        /// Which try comes next, from 1.
        attempt: u32,
        /// How many there are.
        of: u32,
        /// Why the last one failed.
        error: ModelError,
    },
    /// The stream broke in the middle; what came is kept on screen.
    StreamCut {
        /// How.
        error: ModelError,
    },
    /// No tries are left.
    GaveUp {
        /// Why the last one failed.
        error: ModelError,
    },
    /// The limit of steps is reached.
    StepLimit {
        /// The limit.
        limit: u32,
    },
    /// The same call over and over.
    Repeated {
        /// The tool as shown.
        tool: String,
        /// How often in a row.
        times: u32,
    },
    /// The reply broke its dialect's format again and again; the raw text is in the answer pane.
    OffFormat,
}

/// What the user can choose at a [`Decision`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "choice", rename_all = "snake_case")]
pub enum Choose {
    /// Go on; at a retry: now.
    Continue,
    /// Go on, after telling the model this.
    Hint {
        /// What to tell it.
        text: String,
    },
    /// End the turn.
    Stop,
}

/// Servers that a project's file would start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrustRequest {
    /// The file.
    pub file: String,
    /// What trusting it would start: server name and its command line or URL.
    pub servers: Vec<(ServerName, String)>,
    /// The file as it was when it was trusted last, against now; empty the first time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<super::policy::DiffLine>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "prompt", rename_all = "snake_case")]
pub enum PromptKind {
    /// May this call run?
    Approval(Box<Approval>),
    /// A server's form.
    Form(FormRequest),
    /// A server's URL.
    Link(LinkRequest),
    /// The model's question.
    Question(Question),
    /// How should the loop go on?
    Decision(Decision),
    /// May this project's servers start?
    Trust(TrustRequest),
}

/// How long an approval holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call.
    Once,
    /// Calls under the shown grant until the session ends.
    Session,
    /// Calls under the shown grant from now on.
    Always,
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Run it.
    Approve {
        /// For how long.
        scope: Scope,
        /// The version of the card that was on the screen: another one is not approved by this. `None`: as it stands, whatever that is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// Do not run it.
    Reject {
        /// Why; the model reads it.
        reason: Option<String>,
    },
    /// Do not run it; this is its result.
    ByHand {
        /// The result.
        text: String,
    },
    /// A filled form; for a link: it was visited.
    Submit {
        /// Values of the fields; optional fields left empty are not in it.
        values: Map<String, Value>,
    },
    /// No, said to the server.
    Decline,
    /// Neither yes nor no: the form was put away.
    Cancel,
    /// The answer to a question.
    Text {
        /// What was chosen or written.
        text: String,
    },
    /// The answer to a decision.
    Choose(Choose),
    /// Whether the file's servers may start.
    Trust {
        /// Yes or no.
        yes: bool,
    },
}

/// Why a prompt is no longer open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "closed", rename_all = "snake_case")]
pub enum Closed {
    /// The user answered.
    Answered {
        /// The answer.
        answer: Answer,
    },
    /// Its time ran out; a form answered *cancel*, a retry went ahead.
    Expired,
    /// Whoever asked took it back, died, or the turn was interrupted.
    Withdrawn {
        /// Why.
        why: Phrase,
    },
}
