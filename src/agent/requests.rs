//! The request in hand: held back for servers, open, or none.
//!
//! A request waits a little for servers that start for the first time: their tools would be missing from it. It can be interrupted like a reply.

use super::machine::StreamId;
use super::speaking::Spoken;
use super::stream::{self, Batch};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long a request waits for servers.
const HOLD: Duration = Duration::from_secs(3);

/// See the module.
pub(super) struct Requests {
    batches: mpsc::Sender<Batch>,
    open: Option<stream::Open>,
    held: Option<(StreamId, Instant)>,
}

impl Requests {
    pub fn new(batches: mpsc::Sender<Batch>) -> Self {
        Self { batches, open: None, held: None }
    }

    /// Holds a request back.
    pub fn hold(&mut self, stream: StreamId) {
        self.held = Some((stream, Instant::now() + HOLD));
    }

    /// The request that need not wait any longer; `settled`: every server's tools are known.
    pub fn due(&mut self, settled: impl FnOnce() -> bool) -> Option<StreamId> {
        let (stream, until) = self.held?;
        if until > Instant::now() && !settled() {
            return None;
        }
        self.held = None;
        Some(stream)
    }

    /// When the request that is held back goes out anyway.
    pub fn held_until(&self) -> Option<Instant> {
        self.held.map(|(_, until)| until)
    }

    /// Sends a request.
    pub fn send(&mut self, stream: StreamId, spoken: Spoken) {
        let Spoken { provider, request, parser } = spoken;
        self.open = Some(stream::open(stream, provider, request, parser, self.batches.clone()));
    }

    /// Drops the request, wherever it is.
    pub fn close(&mut self) {
        self.open = None;
        self.held = None;
    }
}
