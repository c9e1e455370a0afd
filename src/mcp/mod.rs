//! The MCP client side: every connection to every server.
//!
//! Owns: the servers' processes and connections, their states, the catalogue of their tools, the calls in flight and the questions that servers ask.
//! Does not: read configuration files, decide whether a call may run (`policy`), validate arguments or cut results (`tools`), draw, or count down
//! questions (the agent answers [`AskAnswer::Cancel`] when the time it was told is up, because only it knows when the program is suspended).
//!
//! One thread with a single-threaded runtime owns everything; it starts with the first server that is configured ([`Mcp`]). On it:
//!
//! - `hub`: which servers there are; finds the right one.
//! - `connection`: one server: its states, single-flight start, who waits for it. `watch`: the tasks that tell it what happens. `shelf`: its tools. `entry`: what its entry says.
//! - `start`: from an entry of the configuration to a session: carrier, handshake, time limits.
//! - `ordered`: progress in order, before rmcp scatters it over tasks.
//! - `session`: one open session, whatever carries it: requests, lists. `calls`: one call from its request to its outcome. `reads`: one reading. `handler`: what servers
//!   send on their own. `asks`: their questions.
//! - `carrier`: what carries a session and is ended with it: a child's pipes (`launch`, `lines`, `transport`) or HTTP (`remote`). Both read what comes by
//!   `wire`, and tell what goes on by a `transport::Link`; `log`: what a server writes beside the protocol. `lost`: requests that a carrier could not carry.
//!   `backoff`: how often something is tried again.
//! - `convert`, `catalogue`, `reason`: MCP's JSON to the domain, tools on disk, facts to phrases.
//!
//! **Invariant:** every call gets exactly one outcome, whatever its server does: answers, dies, goes silent, or sends nonsense.
//! **Invariant:** one server's failure never touches another's calls or state.
//! **Invariant:** after [`Mcp::shutdown`] no process that was started here runs; and none after this process died, because the guard knows them.
//! **Boundary:** the only user of rmcp's client.

mod asks;
mod backoff;
mod calls;
mod carrier;
mod catalogue;
mod connection;
mod convert;
mod entry;
mod handler;
mod hub;
mod launch;
mod lines;
mod log;
mod lost;
mod ordered;
mod reads;
mod reason;
mod remote;
mod session;
mod shelf;
mod start;
mod transport;
mod watch;
mod wire;

pub use asks::AskAnswer;
pub use hub::Mcp;

use crate::domain::server::ServerSignal;
use crate::domain::{CallId, ServerName, ToolSignal, ToolSpec};
use crate::guard::Guard;
use crate::redact::Redactor;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;

/// What the MCP side needs to know of the program.
#[derive(Clone)]
pub struct Options {
    /// Where the catalogue of tools is kept.
    pub state_dir: PathBuf,
    /// The working directories, told to servers as their roots. Absolute.
    pub roots: Vec<PathBuf>,
    /// The version we call ourselves by.
    pub version: String,
    /// Who ends the servers when we die.
    pub guard: Guard,
    /// Masks what is told of servers. Variables and headers of an entry whose names are a secret's are registered with it.
    pub redactor: Redactor,
    /// Sees every line to and from every server.
    pub tap: Option<Tap>,
}

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// We wrote it.
    ToServer,
    /// The server wrote it.
    FromServer,
}

/// Sees lines as they pass, without their ends. Called on the MCP thread: it must not block.
pub type Tap = Arc<dyn Fn(&ServerName, Direction, &[u8]) + Send + Sync>;

/// How a call is told about and called off.
#[derive(Clone)]
pub struct Run {
    /// The call.
    pub call: CallId,
    /// Where its news go: everything but [`ToolSignal::Finished`]. Called on the MCP thread: it must not block.
    pub signals: Arc<dyn Fn(ToolSignal) + Send + Sync>,
    /// Called off when this is cancelled.
    pub cancel: CancellationToken,
}

/// What all connections share.
struct World {
    options: Options,
    emit: Box<dyn Fn(ServerSignal) + Send + Sync>,
    asks: asks::Asks,
    tools: RwLock<HashMap<ServerName, Vec<Arc<ToolSpec>>>>,
}

impl World {
    fn emit(&self, signal: ServerSignal) {
        (self.emit)(signal);
    }

    fn tools(&self, server: &ServerName) -> Vec<Arc<ToolSpec>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(server).cloned().unwrap_or_default()
    }

    fn set_tools(&self, server: &ServerName, tools: Vec<Arc<ToolSpec>>) {
        let mut all = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(server.clone(), tools);
    }

    fn forget_tools(&self, server: &ServerName) {
        self.tools.write().unwrap_or_else(PoisonError::into_inner).remove(server);
    }
}
