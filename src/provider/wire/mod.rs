//! HTTP wire formats, one file each. Pure: request → JSON, frame → events.
//!
//! Owns: what a format is, and the table of formats. To add one: a file here, and a line in [`FORMATS`].
//! Does not: send anything, read a clock, know a provider's address or key (`catalog`), or know a dialect.
//! Formats do not import each other.

pub mod anthropic;
pub mod gemini;
pub mod ollama;
pub mod openai_chat;
pub mod openai_responses;

use super::listing::Listed;
use super::notices::Notices;
use crate::domain::model::{ModelError, Request, StreamEvent};
use crate::schema::lower::Subset;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A wire format.
pub trait Wire: Send + Sync {
    /// Its name in `assets/providers.toml`.
    fn name(&self) -> &'static str;
    /// Where requests go, below the base URL; begins with `/`.
    fn path(&self, model: &str) -> String;
    /// The header that carries the key: name and value.
    fn auth(&self, key: &str) -> (&'static str, String);
    /// Further headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The base URL as it is meant: people leave its version out, or write that of another format.
    fn base(&self, base: &str) -> String {
        base.trim().trim_end_matches('/').to_owned()
    }
    /// What the endpoint is asked about a model before the first request to it: where, and the body of the POST.
    fn question(&self, _model: &str) -> Option<(&'static str, Value)> {
        None
    }
    /// Reads the answer to [`Wire::question`].
    fn facts(&self, _answer: &Value) -> Facts {
        Facts::default()
    }
    /// The body of a request. The same arguments give the same bytes.
    fn body(&self, request: &Request, quirks: &Quirks, facts: &Facts) -> Value;
    /// The schemas it takes for tools.
    fn subset(&self) -> Subset;
    /// A reader for a reply.
    fn decoder(&self) -> Box<dyn Decode>;
    /// A reader for the reply to this very body, which may have something to say to the user.
    fn reader(&self, _body: &Value, _notices: &Notices) -> Box<dyn Decode> {
        self.decoder()
    }
    /// Where the list of models is, below the base URL.
    fn list(&self) -> &'static str {
        "/models"
    }
    /// Reads that list; `None` when it is none.
    fn listed(&self, answer: &Value) -> Option<Vec<Listed>>;
}

/// What an endpoint said about a model. `None`: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Facts {
    /// Largest context, tokens.
    pub context: Option<u64>,
    /// The context that it is loaded with by itself, tokens.
    pub window: Option<u64>,
    /// It has function calling.
    pub tools: Option<bool>,
    /// It can think before it answers.
    pub thinking: Option<bool>,
    /// It reads pictures.
    pub images: Option<bool>,
}

/// How a body is cut into payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events, or one JSON value.
    Events,
    /// A JSON value a line.
    Lines,
}

/// Reads one reply, payload by payload. Any input gives events or an error, never a panic.
pub trait Decode: Send {
    /// Takes the payload of one frame (the data of an SSE event, or a whole JSON body) and appends what it means.
    /// A payload without content gives [`StreamEvent::Alive`]. After [`StreamEvent::Finish`] everything is ignored.
    fn data(&mut self, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ModelError>;
    /// The body is over: appends what was held back and the `Finish`, unless it went out already.
    /// A reply that was not finished is an error of kind `Cut`.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ModelError>;
    /// The reason for the end came: only counts can still follow, and they are not worth a long wait.
    fn settled(&self) -> bool;
    /// What the payloads are cut out of.
    fn framing(&self) -> Framing {
        Framing::Events
    }
}

/// Every format there is.
static FORMATS: &[&dyn Wire] = &[
    &openai_chat::OpenAiChat,
    &openai_responses::OpenAiResponses,
    &anthropic::Anthropic,
    &gemini::Gemini,
    &ollama::Ollama,
];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static dyn Wire> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// The names of all formats.
pub fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name())
}

/// What the field for the limit of tokens is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// What everyone took first.
    #[default]
    MaxTokens,
    /// What OpenAI demands of its reasoning models.
    MaxCompletionTokens,
}

/// In what an endpoint differs from others that speak the same format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quirks {
    /// The name of the field for the limit of tokens.
    pub limit_field: LimitField,
    /// It accepts `stream_options`. Mistral refuses the request over it.
    pub stream_usage: bool,
    /// How many stop strings it takes. 0: it refuses the field.
    pub max_stop: usize,
    /// `parallel_tool_calls`, sent only when set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// It wants `reasoning_content` back with every message that called, an empty one too.
    pub reasoning_back: bool,
    /// It reads pictures; otherwise they are described in words.
    pub images: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            limit_field: LimitField::MaxTokens,
            stream_usage: true,
            max_stop: 4,
            parallel_calls: None,
            reasoning_back: false,
            images: false,
        }
    }
}
