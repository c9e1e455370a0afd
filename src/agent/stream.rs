//! Reads one reply: provider → dialect → the driver.
//!
//! Owns the task of one open request. Dropping its handle ends the task, which drops the stream, which cancels the request.

use super::machine::StreamId;
use crate::dialect::{Flow, Parser};
use crate::domain::model::{ModelEvent, Request};
use crate::provider::Provider;
use futures::StreamExt;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// What a reply brought, in order.
#[derive(Debug)]
pub struct Batch {
    /// Which request.
    pub stream: StreamId,
    /// What came.
    pub events: Vec<ModelEvent>,
}

/// An open request. Dropping it cancels the request.
#[derive(Debug)]
pub struct Open {
    stream: StreamId,
    task: AbortHandle,
}

impl Open {
    /// Which request.
    pub fn stream(&self) -> StreamId {
        self.stream
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends a request and reads the reply into `batches`.
pub fn open(
    stream: StreamId,
    provider: Arc<dyn Provider>,
    request: Request,
    parser: Box<dyn Parser>,
    batches: mpsc::Sender<Batch>,
) -> Open {
    let task = tokio::spawn(read(stream, provider, request, parser, batches));
    Open { stream, task: task.abort_handle() }
}

async fn read(
    stream: StreamId,
    provider: Arc<dyn Provider>,
    request: Request,
    mut parser: Box<dyn Parser>,
    batches: mpsc::Sender<Batch>,
) {
    let mut events = Vec::new();
    match provider.stream(request).await {
        Err(error) => events.push(ModelEvent::Failed { error }),
        Ok(mut reply) => {
            let mut failure = None;
            while let Some(event) = reply.next().await {
                match event {
                    Ok(event) => {
                        let flow = parser.feed(event, &mut events);
                        if !events.is_empty() {
                            let batch = Batch { stream, events: std::mem::take(&mut events) };
                            if batches.send(batch).await.is_err() {
                                return;
                            }
                        }
                        if flow == Flow::Stop {
                            break;
                        }
                    }
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            match failure {
                Some(error) => events.push(ModelEvent::Failed { error }),
                None => parser.end(&mut events),
            }
        }
    }
    let _ = batches.send(Batch { stream, events }).await;
}
