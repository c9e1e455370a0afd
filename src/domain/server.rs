//! MCP servers as the rest of the program sees them.

use super::error::Phrase;
use super::id::{AskId, CallId, ServerName};
use super::tool::ToolSpec;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The state of a server's connection. Calls in flight are counted beside it, not in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// Configured, not needed yet.
    Idle,
    /// Its process is being started or its URL reached.
    Starting,
    /// The MCP handshake is under way.
    Initializing,
    /// It can be called.
    Ready,
    /// The connection was lost.
    Disconnected,
    /// It is being connected again.
    Reconnecting,
    /// Its process or URL could not be started or reached.
    StartFailed,
    /// The handshake failed.
    InitFailed,
    /// It broke in a way that needs the user.
    Error,
    /// It wants a login.
    NeedsAuth,
    /// A login is under way in the browser.
    WaitingForBrowser,
    /// The user stopped it.
    Stopped,
    /// Its configuration switches it off.
    Disabled,
    /// It stands in a project's file that is not trusted yet.
    Untrusted,
}

impl ServerState {
    /// The key of its name in the catalogue of texts.
    pub fn text_key(self) -> &'static str {
        match self {
            Self::Idle => "layer.state_idle",
            Self::Starting => "layer.state_starting",
            Self::Initializing => "layer.state_initializing",
            Self::Ready => "layer.state_ready",
            Self::Disconnected => "layer.state_disconnected",
            Self::Reconnecting => "layer.state_reconnecting",
            Self::StartFailed => "layer.state_start_failed",
            Self::InitFailed => "layer.state_init_failed",
            Self::Error => "layer.state_error",
            Self::NeedsAuth => "layer.state_needs_auth",
            Self::WaitingForBrowser => "layer.state_browser",
            Self::Stopped => "layer.state_stopped",
            Self::Disabled => "layer.state_disabled",
            Self::Untrusted => "layer.state_untrusted",
        }
    }
}

impl ServerState {
    /// Whether it cannot be used without somebody doing something.
    pub fn is_failed(self) -> bool {
        matches!(self, Self::StartFailed | Self::InitFailed | Self::Error)
    }
}

/// Where a server's entry stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    /// The file.
    pub file: String,
    /// Line of the entry, from 1; 0 where it is not known.
    pub line: u32,
    /// Files with an entry of the same name that this one replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
}

/// All that is known about a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: ServerName,
    /// Its state.
    pub state: ServerState,
    /// Why it is in that state, where that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Phrase>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Phrase>,
    /// Where its entry stands.
    pub source: Source,
    /// `stdio`, `http` or `sse`.
    pub transport: String,
    /// Its command line or URL, masked.
    pub address: String,
    /// Calls in flight.
    pub calls: usize,
    /// Process id of a stdio server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Protocol revision that was agreed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Name and version that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Number of tools; `None` before they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Whether its tools come from the catalogue of an earlier start.
    pub cached: bool,
    /// How long the last start took until ready, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_millis: Option<u64>,
    /// Non-protocol lines it wrote to standard output, which were passed over.
    pub noise: u64,
    /// Whether it has resources to read.
    #[serde(default)]
    pub resources: bool,
    /// The server's own instructions for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// What a server asks of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum ServerAsk {
    /// Fill in a form.
    Form {
        /// What it says.
        message: String,
        /// The requested schema, as received.
        schema: Arc<Value>,
    },
    /// Visit a URL.
    Link {
        /// What it says.
        message: String,
        /// Where to go.
        url: String,
    },
}

/// News from the MCP side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum ServerSignal {
    /// A server's status changed.
    Status(Box<ServerStatus>),
    /// A server is no longer configured.
    Removed {
        /// Which.
        server: ServerName,
    },
    /// A server's tools are known or changed.
    Tools {
        /// Which server.
        server: ServerName,
        /// All its usable tools.
        tools: Vec<Arc<ToolSpec>>,
        /// Tools that could not be used, by name, with what is wrong.
        rejected: Vec<(String, String)>,
    },
    /// Lines that a server wrote to standard error.
    Stderr {
        /// Which server.
        server: ServerName,
        /// The new lines.
        lines: Vec<String>,
    },
    /// A server asks the user something.
    Asks {
        /// The MCP side's number for it.
        ask: AskId,
        /// Which server.
        server: ServerName,
        /// The call it belongs to, where that is known.
        call: Option<CallId>,
        /// What it asks.
        #[serde(rename = "question")]
        what: ServerAsk,
        /// How long it may wait, milliseconds.
        expires_ms: u64,
    },
    /// A server no longer wants its answer (it cancelled, or died).
    AskWithdrawn {
        /// Which question.
        ask: AskId,
    },
}

/// What the user wants done with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerAction {
    /// Start it if it does not run.
    Start,
    /// Stop it and keep it stopped.
    Stop,
    /// Stop it and start it again.
    Restart,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Transport {
    /// A child process speaking over its standard input and output.
    Stdio {
        /// Program, expanded.
        command: String,
        /// Arguments, expanded.
        args: Vec<String>,
        /// Environment variables added to ours, expanded. In file order.
        env: Vec<(String, String)>,
        /// Working directory; ours where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Streamable HTTP.
    Http {
        /// Endpoint, expanded.
        url: String,
        /// Headers of every request, expanded.
        headers: Vec<(String, String)>,
    },
    /// The older HTTP with SSE.
    Sse {
        /// Endpoint, expanded.
        url: String,
        /// Headers of every request, expanded.
        headers: Vec<(String, String)>,
    },
}

/// Time limits of a server, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// Until its process answers or its URL is reached.
    pub start: u64,
    /// The handshake.
    pub init: u64,
    /// A list request.
    pub list: u64,
    /// A call without news: progress starts it anew.
    pub call: u64,
    /// A call altogether.
    pub call_max: u64,
    /// How long a question to the user may wait.
    pub elicit: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { start: 30, init: 10, list: 5, call: 120, call_max: 3600, elicit: 300 }
    }
}

/// One server of the configuration, ready to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerEntry {
    /// Its name.
    pub name: ServerName,
    /// How it is reached; an error where a variable is unset or the entry cannot be used (that server fails with it).
    pub transport: Result<Transport, Phrase>,
    /// Where it stands.
    pub source: Source,
    /// Switched off.
    pub disabled: bool,
    /// Stands in a project's file that is not trusted yet.
    pub untrusted: bool,
    /// Start only when needed.
    pub lazy: bool,
    /// Protocol revision to use, or `None` for automatic.
    pub protocol: Option<String>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Time limits of single tools: idle time of a call, seconds.
    pub tool_timeouts: Vec<(String, u64)>,
    /// Only these tools, where not empty. `*` matches any run of characters.
    pub allow_tools: Vec<String>,
    /// Never these tools.
    pub deny_tools: Vec<String>,
    /// The user's own configuration believes its `readOnlyHint`.
    pub trust_read_only: bool,
    /// SHA-256 (hex) over what decides how it starts; keys its catalogue of tools.
    pub fingerprint: Arc<str>,
}
