//! What goes into the machine and what comes out of it.

use crate::contract::{Event, Op};
use crate::domain::conversation::{TurnEnd, TurnKind};
use crate::domain::form::{FieldError, Form};
use crate::domain::model::{FinishReason, ModelEvent, ProposedCall};
use crate::domain::policy::{Check, Grant};
use crate::domain::prompt::{PromptKind, Scope, TrustRequest};
use crate::domain::tool::{ToolOutcome, ToolSignal};
use crate::domain::{
    AskId, CallId, Item, PromptId, ServerName, StepEnd, StepId, TimerId, ToolId, ToolSpec, TurnId, Usage, UserInput,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// One open request to the model. What arrives for another one is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamId(pub u64);

/// What was found out about a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It can run, if policy and user agree.
    Ready {
        /// The tool.
        spec: Arc<ToolSpec>,
        /// What it would do and whether it may.
        check: Box<Check>,
        /// A form over its arguments.
        form: Form,
    },
    /// A rule forbids it.
    Denied {
        /// What was found, for the card.
        check: Box<Check>,
        /// Why, for the model.
        message: String,
    },
    /// It cannot run as it was written: unknown tool, arguments against the schema, a text that is not there.
    Invalid {
        /// Why, for the model.
        message: String,
        /// The same by field, for a form that the user is editing.
        problems: Vec<(String, FieldError)>,
    },
}

/// Everything that can wake the machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An intent of the user.
    Op(Op),
    /// The environment part of a turn's message is ready; its first request can go out.
    Prepared {
        /// Which turn.
        turn: TurnId,
        /// The environment part.
        environment: Option<String>,
    },
    /// News of the reply. Calls come as [`Input::Proposed`] instead.
    Model {
        /// Of which request.
        stream: StreamId,
        /// What it is.
        event: ModelEvent,
    },
    /// The reply holds a whole call; its name was looked up.
    Proposed {
        /// Of which request.
        stream: StreamId,
        /// The call.
        call: ProposedCall,
        /// The tool it means, if any.
        tool: Option<Arc<ToolSpec>>,
    },
    /// A call was checked.
    Checked {
        /// Which.
        call: CallId,
        /// Which check of it; an older one is dropped.
        round: u32,
        /// What was found.
        found: Found,
    },
    /// News of a running call.
    Tool {
        /// Which.
        call: CallId,
        /// What it is.
        signal: ToolSignal,
    },
    /// The tools of a server are others now, or were read anew.
    ToolsChanged {
        /// Which server.
        server: ServerName,
    },
    /// A server asks the user.
    Asked {
        /// The MCP side's number.
        ask: AskId,
        /// The call it belongs to.
        call: Option<CallId>,
        /// What it asks.
        kind: PromptKind,
        /// How long it may wait.
        expires: Duration,
    },
    /// A server took its question back, or died.
    AskWithdrawn {
        /// Which question.
        ask: AskId,
    },
    /// A filled form was checked against the server's whole schema.
    Verified {
        /// Which prompt.
        prompt: PromptId,
        /// What is wrong; empty when it may go.
        problems: Vec<(String, FieldError)>,
    },
    /// A project's file would start servers.
    TrustAsked(TrustRequest),
    /// A timer went off.
    Timer(TimerId),
}

/// What the machine wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Gather the environment part of a turn's message.
    Prepare {
        /// Which turn.
        turn: TurnId,
    },
    /// Send a request built from the conversation as it stands now.
    OpenStream {
        /// Its number.
        stream: StreamId,
    },
    /// Drop the open request.
    CloseStream,
    /// Look a call up, validate and inspect it, ask the policy.
    Check {
        /// Which call.
        call: CallId,
        /// Which check of it.
        round: u32,
    },
    /// Run a call.
    Run {
        /// Which.
        call: CallId,
    },
    /// Call a running call off.
    Cancel {
        /// Which.
        call: CallId,
    },
    /// Check a filled form against the server's schema; comes back as [`Input::Verified`].
    Verify {
        /// Which prompt.
        prompt: PromptId,
        /// The server's question.
        ask: AskId,
        /// The values.
        values: Map<String, Value>,
    },
    /// Answer a server.
    Reply {
        /// Its question.
        ask: AskId,
        /// The answer.
        reply: Reply,
    },
    /// Keep a grant.
    Remember {
        /// What it allows.
        grant: Grant,
        /// For how long.
        scope: Scope,
    },
    /// Trust a project's file, or not.
    Trust {
        /// Which file.
        file: String,
        /// Yes or no.
        yes: bool,
    },
    /// Write to the journal, durably, before the effects that follow.
    Record(Entry),
    /// Wake the machine later.
    Arm {
        /// The timer.
        timer: TimerId,
        /// When.
        after: Duration,
    },
    /// Do not wake it.
    Disarm {
        /// The timer.
        timer: TimerId,
    },
    /// Tell whoever watches.
    Emit(Event),
}

/// An answer to a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Values.
    Accept(Map<String, Value>),
    /// The user visited the URL.
    Visited,
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// A turn began.
    Turn {
        /// Its id.
        turn: TurnId,
        /// Task or hand-run tool.
        #[serde(default)]
        kind: TurnKind,
        /// What the user sent.
        input: UserInput,
    },
    /// The environment part of its message.
    Environment {
        /// Which turn.
        turn: TurnId,
        /// The text.
        text: String,
    },
    /// A step began.
    Step {
        /// Its turn.
        turn: TurnId,
        /// Its id.
        step: StepId,
    },
    /// A thought or an answer is whole, or a call is written.
    Item {
        /// Its step.
        step: StepId,
        /// The item; a call has no outcome yet.
        item: Item,
    },
    /// The reply arrived whole: its calls may run.
    Reply {
        /// Its step.
        step: StepId,
        /// Why it ended.
        reason: FinishReason,
        /// What it used.
        usage: Usage,
        /// The model declared the task done in it.
        #[serde(default)]
        completed: bool,
    },
    /// A call's arguments were changed by the user, or its tool became known.
    Call {
        /// Which.
        call: CallId,
        /// Its tool.
        tool: Option<ToolId>,
        /// Its arguments now.
        arguments: Value,
    },
    /// A call is about to run.
    Started {
        /// Which.
        call: CallId,
    },
    /// A call has its outcome.
    Outcome {
        /// Which.
        call: CallId,
        /// The outcome.
        outcome: ToolOutcome,
    },
    /// A step ended.
    StepEnd {
        /// Which.
        step: StepId,
        /// How.
        end: StepEnd,
        /// What the model is told after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reminder: Option<String>,
    },
    /// The user's hint after a step that had ended.
    Hint {
        /// Which step.
        step: StepId,
        /// What the model is told.
        text: String,
    },
    /// A turn ended.
    TurnEnd {
        /// Which.
        turn: TurnId,
        /// How.
        end: TurnEnd,
    },
}

/// Server names that a message of a server carries; kept here so that the driver need not look into prompts.
pub fn asker(kind: &PromptKind) -> Option<&ServerName> {
    match kind {
        PromptKind::Form(form) => Some(&form.server),
        PromptKind::Link(link) => Some(&link.server),
        _ => None,
    }
}
