//! Servers started for one command: what they say, until each has come to something.
//!
//! Owns the MCP side of the command. **Invariant:** only servers that may start are started; an entry that waits for trust never does.

use super::ground::Ground;
use crate::domain::server::{ServerAction, ServerEntry, ServerSignal, ServerState, ServerStatus};
use crate::domain::{ServerName, ToolSpec};
use crate::mcp::Mcp;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// Lines of standard error that are kept of a server.
const LINES: usize = 20;

/// What is known of a server.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Its state and why.
    pub status: Option<ServerStatus>,
    /// Its usable tools.
    pub tools: Vec<Arc<ToolSpec>>,
    /// The others, with what is wrong.
    pub rejected: Vec<(String, String)>,
    /// The last lines of its standard error.
    pub stderr: VecDeque<String>,
}

impl Seen {
    /// Whether nothing further will come of starting it.
    pub fn is_settled(&self) -> bool {
        let Some(status) = &self.status else { return false };
        match status.state {
            // Its tools are known from itself, or it said why they are not.
            ServerState::Ready => (status.tools.is_some() && !status.cached) || status.reason.is_some(),
            ServerState::Idle | ServerState::Starting | ServerState::Initializing | ServerState::Reconnecting => false,
            _ => true,
        }
    }

    /// Whether it can be called.
    pub fn is_ready(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.state == ServerState::Ready && status.reason.is_none())
    }
}

/// See the module.
pub struct Fleet {
    /// The handle.
    pub mcp: Mcp,
    signals: mpsc::UnboundedReceiver<ServerSignal>,
    /// What is known, by name.
    pub seen: BTreeMap<ServerName, Seen>,
}

impl Fleet {
    /// Starts these servers.
    pub fn start(ground: &Ground, entries: Vec<ServerEntry>) -> Self {
        let (tell, signals) = mpsc::unbounded_channel();
        let mcp = Mcp::new(ground.mcp_options(), move |signal| drop(tell.send(signal)));
        let entries: Vec<ServerEntry> = entries.into_iter().filter(|entry| !entry.untrusted).collect();
        let names: Vec<ServerName> = entries.iter().map(|entry| entry.name.clone()).collect();
        let seen = names.iter().map(|name| (name.clone(), Seen::default())).collect();
        mcp.configure(entries);
        for name in &names {
            mcp.act(name, ServerAction::Start);
        }
        Self { mcp, signals, seen }
    }

    /// The next news, taken in.
    pub async fn next(&mut self) -> Option<ServerSignal> {
        let signal = self.signals.recv().await?;
        match &signal {
            ServerSignal::Status(status) => {
                self.seen.entry(status.name.clone()).or_default().status = Some((**status).clone());
            }
            ServerSignal::Tools { server, tools, rejected } => {
                let seen = self.seen.entry(server.clone()).or_default();
                seen.tools.clone_from(tools);
                seen.rejected.clone_from(rejected);
            }
            ServerSignal::Stderr { server, lines } => {
                let kept = &mut self.seen.entry(server.clone()).or_default().stderr;
                kept.extend(lines.iter().cloned());
                let surplus = kept.len().saturating_sub(LINES);
                kept.drain(..surplus);
            }
            ServerSignal::Removed { .. } | ServerSignal::Asks { .. } | ServerSignal::AskWithdrawn { .. } => {}
        }
        Some(signal)
    }

    /// Waits until every server has come to something. Their own time limits bound it.
    pub async fn settle(&mut self) {
        while !self.seen.values().all(Seen::is_settled) {
            if self.next().await.is_none() {
                return;
            }
        }
        // What a failed one wrote last is announced a moment later.
        while let Ok(Some(_)) = tokio::time::timeout(std::time::Duration::from_millis(60), self.next()).await {}
    }

    /// Ends every server.
    pub async fn end(self) {
        self.mcp.shutdown().await;
    }
}

/// Runs a command on a runtime of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> std::io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(future);
    // Tasks that block must not keep the program from ending.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    Ok(done)
}

/// Waits for the user or the system to stop the program: the signal's number.
pub async fn stopped() -> i32 {
    let stream = |kind| async move {
        match signal(kind) {
            Ok(mut stream) => {
                stream.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
        kind.as_raw_value()
    };
    tokio::select! {
        number = stream(SignalKind::interrupt()) => number,
        number = stream(SignalKind::terminate()) => number,
        number = stream(SignalKind::hangup()) => number,
    }
}

/// The exit status after a signal.
pub fn status_of(number: i32) -> u8 {
    u8::try_from(128 + number).unwrap_or(1)
}
