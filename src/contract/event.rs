//! What happened, in the past tense.

use crate::domain::conversation::{TurnEnd, TurnKind};
use crate::domain::form::{FieldError, Form};
use crate::domain::model::{DialectKind, FinishReason};
use crate::domain::policy::{Check, Grant};
use crate::domain::prompt::{Approval, Closed, Prompt};
use crate::domain::server::ServerSignal;
use crate::domain::tool::{Progress, ToolCall, ToolOutcome, ToolSpec};
use crate::domain::{
    CallId, Conversation, ItemId, Notice, PromptId, ServerName, SessionId, StepEnd, StepId, ToolId, TurnId, Usage,
    UserInput,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// About the session.
    Session(SessionEvent),
    /// About a turn and its steps.
    Turn(TurnEvent),
    /// About a thought or an answer.
    Item(ItemEvent),
    /// About a call.
    Tool(ToolEvent),
    /// About something that waits for the user.
    Prompt(PromptEvent),
    /// From the MCP side.
    Server(ServerSignal),
    /// Every tool there is, sent when the list changes.
    Tools {
        /// All of them, sorted by name.
        tools: Vec<ToolInfo>,
    },
    /// Something the user should read.
    Notice(Notice),
}

/// The model in use.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelInfo {
    /// `provider:name`; empty when none is configured.
    pub name: String,
    /// The dialect it is spoken to in.
    pub dialect: Option<DialectKind>,
    /// Context size in tokens, where known.
    pub context: Option<u64>,
    /// Whether the model is the scripted one.
    pub scripted: bool,
}

/// About the session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum SessionEvent {
    /// A session is open. Everything shown so far belongs to another one.
    Opened {
        /// Its id.
        id: SessionId,
        /// Where it works.
        cwd: String,
        /// What happened in it before; empty for a new one.
        conversation: Conversation,
        /// The draft that was being typed when it ended.
        draft: String,
    },
    /// The model or the dialect is another one.
    Model {
        /// The new one.
        model: ModelInfo,
    },
    /// A message waits for the turn to end.
    Queued {
        /// The message.
        input: UserInput,
        /// How many wait now.
        waiting: usize,
    },
    /// The newest waiting message was taken back.
    Unqueued {
        /// The message.
        input: UserInput,
        /// How many wait now.
        waiting: usize,
    },
    /// Timers are held: the program may stop itself now.
    Held,
    /// How full the model's context is.
    Context {
        /// Tokens of the last request and reply.
        tokens: u64,
        /// All tokens used in this session.
        total: Usage,
    },
    /// A recording is played, and has come this far.
    Playback {
        /// Events told.
        at: usize,
        /// All of them.
        of: usize,
        /// How many times as fast as it was; `None` while it waits for a key.
        speed: Option<f64>,
    },
    /// The agent has ended; nothing follows.
    Closed,
}

/// About a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum TurnEvent {
    /// A turn began.
    Started {
        /// Its id.
        turn: TurnId,
        /// Task or hand-run tool.
        kind: TurnKind,
        /// What the user sent.
        input: UserInput,
    },
    /// A step began: a request goes to the model.
    StepStarted {
        /// Its turn.
        turn: TurnId,
        /// Its id.
        step: StepId,
        /// Which step of the turn, from 1.
        number: u32,
    },
    /// The request waits a little for servers that are starting, so that their tools can be offered.
    Holding {
        /// Which step.
        step: StepId,
        /// The servers.
        servers: Vec<ServerName>,
    },
    /// The model gave a sign of life before its first word.
    Alive {
        /// Which step.
        step: StepId,
    },
    /// A step ended.
    StepEnded {
        /// Which.
        step: StepId,
        /// How.
        end: StepEnd,
        /// Why the reply ended, if it did.
        reason: Option<FinishReason>,
        /// What its request used.
        usage: Usage,
    },
    /// A turn ended.
    Ended {
        /// Which.
        turn: TurnId,
        /// How.
        end: TurnEnd,
    },
}

/// Which text an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// A thought.
    Thinking,
    /// An answer.
    Answer,
}

/// About a thought or an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ItemEvent {
    /// It began.
    Started {
        /// Its id.
        item: ItemId,
        /// Its step.
        step: StepId,
        /// What it is.
        kind: TextKind,
    },
    /// It grew.
    Delta {
        /// Which.
        item: ItemId,
        /// The new piece.
        text: String,
    },
    /// It is whole (or cut off with its step); nothing is added any more. Already in the journal.
    Finished {
        /// Which.
        item: ItemId,
    },
}

/// About a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ToolEvent {
    /// The model is writing a call.
    Writing {
        /// Its future id.
        call: CallId,
        /// Its step.
        step: StepId,
        /// The name so far.
        name: String,
        /// Bytes of its arguments so far.
        bytes: usize,
    },
    /// What was being written will never be a call (the reply was cut off or interrupted).
    Abandoned {
        /// Which.
        call: CallId,
    },
    /// A call is written whole.
    Proposed {
        /// Its step.
        step: StepId,
        /// The call.
        call: ToolCall,
        /// The definition of the tool it names.
        spec: Option<Arc<ToolSpec>>,
    },
    /// It was checked: what it would do, and whether anybody is asked.
    Checked {
        /// Which.
        call: CallId,
        /// What was found out.
        check: Box<Check>,
    },
    /// It waits for its server.
    WaitingForServer {
        /// Which.
        call: CallId,
        /// For which server.
        server: ServerName,
    },
    /// It runs.
    Started {
        /// Which.
        call: CallId,
    },
    /// It has come this far.
    Progress {
        /// Which.
        call: CallId,
        /// How far.
        progress: Progress,
    },
    /// It produced text.
    Output {
        /// Which.
        call: CallId,
        /// The new piece.
        text: String,
    },
    /// It is suspended until the user answers its server.
    Suspended {
        /// Which.
        call: CallId,
    },
    /// It goes on.
    Resumed {
        /// Which.
        call: CallId,
    },
    /// It ended. Already in the journal.
    Finished {
        /// Which.
        call: CallId,
        /// How.
        outcome: ToolOutcome,
    },
}

/// About something that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum PromptEvent {
    /// It waits now.
    Opened {
        /// What waits.
        prompt: Prompt,
    },
    /// Its call was changed by the user and checked anew.
    Amended {
        /// Which prompt.
        prompt: PromptId,
        /// The approval as it stands now.
        approval: Box<Approval>,
    },
    /// An answer was not good enough; it still waits.
    Refused {
        /// Which prompt.
        prompt: PromptId,
        /// What is wrong, by field (empty name: the whole).
        problems: Vec<(String, FieldError)>,
    },
    /// It no longer waits.
    Closed {
        /// Which prompt.
        prompt: PromptId,
        /// Why.
        why: Closed,
    },
}

/// A tool as the tool list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// Its definition.
    pub spec: Arc<ToolSpec>,
    /// Its name on the wire.
    pub wire_name: String,
    /// A form over its schema.
    pub form: Form,
    /// What the user has granted it.
    pub grants: Vec<Grant>,
}

impl ToolInfo {
    /// Its true name.
    pub fn id(&self) -> &ToolId {
        &self.spec.id
    }
}

macro_rules! into_event {
    ($($part:ident => $variant:ident),* $(,)?) => {$(
        impl From<$part> for Event {
            fn from(part: $part) -> Self {
                Self::$variant(part)
            }
        }
    )*};
}

into_event! {
    SessionEvent => Session,
    TurnEvent => Turn,
    ItemEvent => Item,
    ToolEvent => Tool,
    PromptEvent => Prompt,
    ServerSignal => Server,
    Notice => Notice,
}
