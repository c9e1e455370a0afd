//! What goes to a model and what comes from it, in no provider's format.
//!
//! Two vocabularies: [`StreamEvent`] is what a wire format yields (text, reasoning, pieces of function calls);
//! [`ModelEvent`] is what a dialect makes of it (thoughts, answers, whole calls). The agent's machine knows only the second.

use super::content::Content;
use super::id::CallId;
use super::tool::Origin;
use super::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// How calls are written in what the model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DialectKind {
    /// The provider's own function calling.
    Native,
    /// XML tags taught in the system prompt.
    Xml,
    /// Plain-text Thought / Action / Observation.
    React,
    /// One JSON object a reply.
    Json,
}

impl DialectKind {
    /// Every one, with the name that it has in settings and on the command line.
    pub const NAMES: [(&'static str, Self); 4] =
        [("native", Self::Native), ("xml", Self::Xml), ("react", Self::React), ("json", Self::Json)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name).unwrap_or_default()
    }

    /// The dialect of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }
}

/// Where a part of what the model is told stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptPlace {
    /// In the system prompt.
    System,
    /// Among the tools that are offered natively.
    Tool,
    /// Among the messages.
    Message,
}

/// A part of what the model is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptPart {
    /// Where it stands.
    pub place: PromptPlace,
    /// The name of the piece or the tool, or whose message it is.
    pub name: String,
    /// Its text, as it is sent.
    pub text: String,
    /// About how many tokens it is.
    pub tokens: usize,
}

/// A block that only its own provider and model understand (a signed thought), kept as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opaque {
    /// Provider and model it belongs to, `provider:model`.
    pub model: Arc<str>,
    /// The block.
    pub value: Value,
}

/// A tool as it is offered in a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDecl {
    /// The name on the wire.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Arc<Value>,
}

/// A call in the history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRef {
    /// The id that its result names.
    pub id: String,
    /// The name on the wire.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From the user (or the host on the user's side).
    User {
        /// Its blocks.
        content: Vec<Content>,
    },
    /// From the model.
    Assistant {
        /// What it said; empty when it only called.
        text: String,
        /// What it thought, for providers that want it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// Signed thoughts of this very provider and model.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        opaque: Vec<Value>,
        /// The calls it made natively.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<CallRef>,
    },
    /// The result of a native call.
    Tool {
        /// Which call.
        call: String,
        /// The tool's name on the wire.
        name: String,
        /// Its blocks.
        content: Vec<Content>,
        /// Whether it failed.
        is_error: bool,
    },
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Request {
    /// The model's name at its provider.
    pub model: String,
    /// The system prompt.
    pub system: String,
    /// The history and the new message.
    pub messages: Vec<Message>,
    /// Tools offered natively, sorted by name; empty in the text dialects.
    pub tools: Vec<ToolDecl>,
    /// Strings at which the provider should stop.
    pub stop: Vec<String>,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Limit of tokens in the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Further fields for the body, from the provider's entry.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done, or a stop string was reached.
    Stop,
    /// It wants its calls run.
    ToolCalls,
    /// The limit of tokens was reached: the last call may be cut off and is never run.
    Length,
    /// The provider held something back.
    Filtered,
    /// We closed the stream after the first complete call.
    Closed,
    /// Anything else, as the provider wrote it.
    Other(String),
}

/// What a wire format yields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamEvent {
    /// A sign of life without content: a comment line, an empty delta.
    Alive,
    /// Text of the reply.
    Text {
        /// The new piece.
        text: String,
    },
    /// Reasoning.
    Reasoning {
        /// The new piece.
        text: String,
    },
    /// A signed block to keep.
    Opaque {
        /// The block.
        value: Value,
    },
    /// A function call begins. `slot` tells the calls of one reply apart.
    CallStart {
        /// Which call of the reply.
        slot: u32,
        /// The provider's id, if it gave one.
        id: Option<String>,
        /// The name on the wire.
        name: String,
    },
    /// A piece of a call's arguments.
    CallArguments {
        /// Which call of the reply.
        slot: u32,
        /// The new piece of JSON text.
        text: String,
    },
    /// Token counts; a later one replaces an earlier one.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// The reply is over.
    Finish {
        /// Why.
        reason: FinishReason,
    },
}

/// What went wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelErrorKind {
    /// 401 or 403, or no key where one is needed.
    Auth,
    /// Another 4xx.
    BadRequest,
    /// The prompt is larger than the model's context.
    ContextOverflow,
    /// No such model or path.
    NotFound,
    /// 429.
    RateLimited,
    /// The provider says that it is overloaded.
    Overloaded,
    /// 408, 409, another 5xx.
    Server,
    /// The connection could not be made or broke before the reply began.
    Network,
    /// TLS refused the certificate.
    Certificate,
    /// Nothing came for longer than the idle limit.
    Timeout,
    /// The stream broke in the middle of the reply.
    Cut,
    /// What came could not be understood.
    Protocol,
}

impl ModelErrorKind {
    /// Whether a new try by itself makes sense.
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimited | Self::Overloaded | Self::Server | Self::Network | Self::Timeout)
    }
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelError {
    /// What kind of failure.
    pub kind: ModelErrorKind,
    /// What the provider or the system said, masked.
    pub message: String,
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's `Retry-After`, milliseconds: never try earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ModelError {
    /// The failure as a phrase for people.
    pub fn phrase(&self) -> super::error::Phrase {
        let key = match self.kind {
            ModelErrorKind::Auth => "model.error.auth",
            ModelErrorKind::BadRequest => "model.error.bad_request",
            ModelErrorKind::ContextOverflow => "model.error.context_overflow",
            ModelErrorKind::NotFound => "model.error.not_found",
            ModelErrorKind::RateLimited => "model.error.rate_limited",
            ModelErrorKind::Overloaded => "model.error.overloaded",
            ModelErrorKind::Server => "model.error.server",
            ModelErrorKind::Network => "model.error.network",
            ModelErrorKind::Certificate => "model.error.certificate",
            ModelErrorKind::Timeout => "model.error.timeout",
            ModelErrorKind::Cut => "model.error.cut",
            ModelErrorKind::Protocol => "model.error.protocol",
        };
        super::error::Phrase::new(key).with("message", &self.message)
    }
}

/// Arguments as the model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Arguments {
    /// JSON.
    Parsed {
        /// The value.
        value: Value,
    },
    /// Not JSON; the model gets `problem` back. Never stored in history as a call.
    Malformed {
        /// What it wrote.
        text: String,
        /// What is wrong, with the position.
        problem: String,
    },
    /// Cut off by the limit of tokens: never run.
    CutOff {
        /// What came.
        text: String,
    },
}

/// A call as a dialect read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProposedCall {
    /// Which call of the reply; the same number as in [`ModelEvent::CallStarted`].
    pub slot: u32,
    /// The provider's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The name as the model wrote it (a wire name, an alias or `server:tool`).
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
    /// How it was written.
    pub origin: Origin,
}

/// What a dialect makes of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ModelEvent {
    /// A sign of life.
    Alive,
    /// A piece of a thought.
    Thinking {
        /// The new piece.
        text: String,
    },
    /// A piece of an answer.
    Answer {
        /// The new piece.
        text: String,
    },
    /// A signed block that belongs to the current thought.
    Opaque {
        /// The block.
        value: Value,
    },
    /// A call is being written.
    CallStarted {
        /// Which call of the reply.
        slot: u32,
        /// Its name so far.
        name: String,
    },
    /// The call being written has grown to this size.
    CallGrew {
        /// Which call of the reply.
        slot: u32,
        /// Bytes of its arguments so far.
        bytes: usize,
    },
    /// A call is written.
    Call(ProposedCall),
    /// The model declared the task done (`<attempt_completion>`); the result went out as an answer.
    Completion {
        /// A command that shows the result; it is run only after approval.
        command: Option<String>,
    },
    /// The reply does not follow its dialect. The machine reminds the model, or stops.
    OffFormat {
        /// What to tell the model.
        reminder: String,
    },
    /// Token counts so far.
    Usage {
        /// The counts.
        usage: Usage,
    },
    /// The reply is over.
    Finished {
        /// Why.
        reason: FinishReason,
    },
    /// The request failed.
    Failed {
        /// How.
        error: ModelError,
    },
}

impl ModelEvent {
    /// Whether nothing follows it.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Finished { .. } | Self::Failed { .. })
    }
}

/// The wire id of a call that its provider gave none.
pub fn call_wire_id(id: CallId) -> String {
    format!("call_{id}")
}
