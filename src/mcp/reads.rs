//! One reading of a resource.
//!
//! Owns no state.

use super::calls::Source;
use super::convert;
use crate::domain::Content;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A resource to be read.
pub(super) struct ReadRequest {
    /// Which.
    pub(super) uri: String,
    /// Called off when this is cancelled.
    pub(super) cancel: CancellationToken,
    /// Where its contents go, or what is wrong.
    pub(super) reply: oneshot::Sender<Result<Vec<Content>, String>>,
}

/// Reads it and replies.
pub(super) async fn perform(request: ReadRequest, source: Source, limit: Duration) {
    let ReadRequest { uri, cancel, mut reply } = request;
    let read = async {
        let session = match source {
            Source::Open(session) => session,
            Source::Awaited(awaited) => awaited.await.map_err(|_| "The server was stopped.".to_owned())??,
        };
        let result = session.read_resource(&uri, limit).await.map_err(|error| error.text())?;
        Ok(convert::resource_contents(result))
    };
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => Err("Called off.".to_owned()),
        () = reply.closed() => return,
        outcome = read => outcome,
    };
    let _ = reply.send(outcome);
}
