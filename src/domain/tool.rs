//! Tools: what they are called, what a call is, what can become of it.

use super::content::Content;
use super::id::{CallId, ServerName};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The true name of a tool: where it lives and what it is called there. Shown as `server:tool`, or `tool` for a built-in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolId {
    /// The server, or `None` for a built-in tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerName>,
    /// The tool's name as its server lists it.
    pub name: Arc<str>,
}

impl ToolId {
    /// A built-in tool.
    pub fn builtin(name: &str) -> Self {
        Self { server: None, name: Arc::from(name) }
    }

    /// A tool of an MCP server.
    pub fn on(server: &ServerName, name: &str) -> Self {
        Self { server: Some(server.clone()), name: Arc::from(name) }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.server {
            Some(server) => write!(f, "{server}:{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Hints a server gives about its tool. They are shown, and believed only where the user's own configuration says so.
/// Source: MCP 2025-11-25, `ToolAnnotations`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Annotations {
    /// `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

/// What kind of thing a tool does, as far as mcpane itself knows. Built-ins declare it; MCP tools are always `External`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads files.
    Read,
    /// Writes files.
    Write,
    /// Runs a command.
    Command,
    /// Whatever a server does.
    External,
    /// Only asks the user something.
    Question,
}

/// The definition of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its true name.
    pub id: ToolId,
    /// A title for people, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, as the model reads it.
    pub description: String,
    /// JSON Schema of its arguments, in the server's own order.
    pub input_schema: Arc<Value>,
    /// JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Arc<Value>>,
    /// The server's hints.
    #[serde(default)]
    pub annotations: Annotations,
    /// What it does as far as mcpane knows.
    pub risk: Risk,
    /// SHA-256 (hex) over name, description, schemas and annotations; a grant names it and is void when it changes.
    pub hash: Arc<str>,
}

/// How a call was written by the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The provider's function calling.
    Native,
    /// The XML protocol.
    Xml,
    /// Plain-text ReAct.
    React,
    /// One JSON object a reply.
    Json,
    /// Recovered from text of a model that should have called natively. Always asks.
    Recovered,
    /// Run by hand by the user.
    Hand,
}

/// A call that a model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Our id.
    pub id: CallId,
    /// The provider's id, for the history sent back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The name as the model wrote it.
    pub asked: String,
    /// The tool it was resolved to; `None` when no tool has that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolId>,
    /// The arguments; an object unless the model wrote something else.
    pub arguments: Value,
    /// How it was written.
    pub origin: Origin,
}

impl ToolCall {
    /// The name to show: the true one where it was resolved, else what the model wrote.
    pub fn shown_name(&self) -> String {
        self.tool.as_ref().map_or_else(|| self.asked.clone(), ToString::to_string)
    }
}

/// How far something has come. Source: MCP `notifications/progress`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Done so far, in the server's own unit.
    pub done: f64,
    /// The whole, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is happening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// News from a call that was handed to its tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolSignal {
    /// It waits for its server to be ready.
    WaitingForServer {
        /// Which one.
        server: ServerName,
    },
    /// It runs now.
    Started,
    /// It has come this far.
    Progress(Progress),
    /// Text that it produced so far (a command's output).
    Output {
        /// The new piece.
        text: String,
    },
    /// It is suspended until the user answers its server.
    Suspended,
    /// It goes on.
    Resumed,
    /// What it was inspected against has changed, so it did nothing; it must be looked at anew.
    Stale,
    /// It ended.
    Finished(ToolOutcome),
}

/// What became of a call. Every call gets exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ToolOutcome {
    /// The tool ran and answered.
    Done {
        /// What it answered, whole.
        content: Vec<Content>,
        /// The tool says that it failed (MCP `isError`).
        #[serde(default)]
        is_error: bool,
        /// Text for the model where it differs from `content`: cut to size, with where the rest is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_model: Option<String>,
        /// File that holds the whole result when it was too large for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spilled: Option<String>,
        /// How long it ran, milliseconds.
        #[serde(default)]
        millis: u64,
    },
    /// It could not run or broke: unknown tool, invalid arguments, dead server, time-out. The model reads `message`.
    Failed {
        /// What went wrong, for the model and the user.
        message: String,
        /// Whether the tool may have had effects before it failed.
        #[serde(default)]
        may_have_run: bool,
    },
    /// The user or a rule said no; it did not run.
    Rejected {
        /// The reason given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The user wrote the result instead of running the tool.
    ByHand {
        /// What the user wrote.
        text: String,
    },
    /// It was called off before it ran.
    Cancelled,
    /// It was called off while it ran: it may have had effects.
    Interrupted,
    /// The same call stood in the same reply already; its result is that one's.
    SameAs {
        /// The call that ran.
        call: CallId,
    },
}

impl ToolOutcome {
    /// A finished call with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Done { content: vec![Content::text(text)], is_error: false, for_model: None, spilled: None, millis: 0 }
    }

    /// A failure that had no effects.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), may_have_run: false }
    }

    /// Whether the model should read it as an error.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Done { is_error, .. } => *is_error,
            Self::ByHand { .. } | Self::SameAs { .. } => false,
            Self::Failed { .. } | Self::Rejected { .. } | Self::Cancelled | Self::Interrupted => true,
        }
    }
}
