//! The request in hand: held back for servers, open, or none.
//!
//! A request waits a little for servers that start for the first time: their tools would be missing from it. It can be interrupted like a reply.
//! **Invariant:** no server is waited for twice in vain: one that did not come in time holds no further request up.

use super::machine::StreamId;
use super::speaking::Spoken;
use super::stream::{self, Batch};
use crate::domain::ServerName;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a request waits for servers.
const HOLD: Duration = Duration::from_secs(3);

/// A request that is held back.
#[derive(Debug)]
struct Held {
    stream: StreamId,
    until: Instant,
    servers: Vec<ServerName>,
}

/// See the module.
pub(super) struct Requests {
    batches: mpsc::Sender<Batch>,
    open: Option<stream::Open>,
    held: Option<Held>,
    /// Servers that did not come in time.
    late: BTreeSet<ServerName>,
}

impl Requests {
    pub fn new(batches: mpsc::Sender<Batch>) -> Self {
        Self { batches, open: None, held: None, late: BTreeSet::new() }
    }

    /// Those of the servers that no request has waited for in vain.
    pub fn not_waited_for(&self, mut servers: Vec<ServerName>) -> Vec<ServerName> {
        servers.retain(|server| !self.late.contains(server));
        servers
    }

    /// Holds a request back for these servers.
    pub fn hold(&mut self, stream: StreamId, servers: Vec<ServerName>) {
        self.held = Some(Held { stream, until: Instant::now() + HOLD, servers });
    }

    /// The request that need not wait any longer; `unsettled`: the servers whose tools are not known.
    pub fn due(&mut self, unsettled: impl FnOnce() -> Vec<ServerName>) -> Option<StreamId> {
        let held = self.held.as_ref()?;
        let mut missing = unsettled();
        missing.retain(|server| held.servers.contains(server));
        if held.until > Instant::now() && !missing.is_empty() {
            return None;
        }
        self.late.extend(missing);
        self.held.take().map(|held| held.stream)
    }

    /// When the request that is held back goes out anyway.
    pub fn held_until(&self) -> Option<Instant> {
        self.held.as_ref().map(|held| held.until)
    }

    /// Sends a request.
    pub fn send(&mut self, stream: StreamId, spoken: Spoken) {
        let Spoken { provider, request, parser } = spoken;
        self.open = Some(stream::open(stream, provider, request, parser, self.batches.clone()));
    }

    /// Whether this is the request whose reply is read. What comes late from another one is of no use.
    pub fn is_open(&self, stream: StreamId) -> bool {
        self.open.as_ref().is_some_and(|open| open.stream() == stream)
    }

    /// Drops the request, wherever it is.
    pub fn close(&mut self) {
        self.open = None;
        self.held = None;
    }
}
