//! What carries a session, and has to be ended with it: a process of ours, or the session that a remote server keeps.
//!
//! Owns nothing beside it.

use super::launch::Process;
use super::remote::Remote;
use std::sync::Arc;

/// A carrier.
#[derive(Clone)]
pub(super) enum Carrier {
    /// A child and its pipes.
    Process(Process),
    /// HTTP.
    Remote(Arc<Remote>),
}

impl Carrier {
    /// The process id of a child.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Process(process) => Some(process.pid),
            Self::Remote(_) => None,
        }
    }

    /// `stdio`, `http` or `sse`: what is really spoken.
    pub(super) fn spoken(&self) -> &'static str {
        match self {
            Self::Process(_) => "stdio",
            Self::Remote(remote) => remote.spoken(),
        }
    }

    /// Waits until the server can tell of changes, but not for long.
    pub(super) async fn settle(&self) {
        if let Self::Remote(remote) = self {
            remote.settle().await;
        }
    }

    /// Ends it. Takes a few seconds at most.
    pub(super) async fn end(&self) {
        match self {
            Self::Process(process) => process.end().await,
            Self::Remote(remote) => remote.end().await,
        }
    }
}
