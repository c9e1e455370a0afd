//! Reads one reply: provider → dialect → the driver.
//!
//! Owns the task of one open request, and how often what it brings is handed on. Dropping its handle ends the task, which drops the stream, which cancels the request.

use super::machine::StreamId;
use crate::dialect::{Flow, Parser};
use crate::domain::model::{ModelError, ModelEvent, Request};
use crate::provider::{EventStream, Provider};
use futures::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// What is only to be shown is handed on this far apart: a frame of the screen shows what came within this time anyway, and it is drawn as soon as that
/// was handed on, since frames may follow each other faster.
const PACE: Duration = Duration::from_millis(38);
/// Events in one batch at most.
const MOST: usize = 256;

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
    parser: Box<dyn Parser>,
    batches: mpsc::Sender<Batch>,
) {
    match provider.stream(request).await {
        Ok(reply) => pour(stream, reply, parser, &batches).await,
        Err(error) => {
            let _ = batches.send(Batch { stream, events: vec![ModelEvent::Failed { error }] }).await;
        }
    }
}

async fn pour(stream: StreamId, mut reply: EventStream, mut parser: Box<dyn Parser>, batches: &mpsc::Sender<Batch>) {
    let mut events = Vec::new();
    let mut shown = Instant::now();
    loop {
        match take(&mut reply, parser.as_mut(), &mut events, shown).await {
            Took::Over => {
                parser.end(&mut events);
                break;
            }
            Took::Failed(error) => {
                events.push(ModelEvent::Failed { error });
                break;
            }
            Took::Some => {
                shown = Instant::now() + PACE;
                if !events.is_empty() {
                    let batch = Batch { stream, events: std::mem::take(&mut events) };
                    if batches.send(batch).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
    // The request ends before anybody acts on the reply.
    drop(reply);
    let _ = batches.send(Batch { stream, events }).await;
}

/// What reading brought.
enum Took {
    /// Something, and the reply goes on.
    Some,
    /// The reply is over.
    Over,
    /// It broke.
    Failed(ModelError),
}

/// Waits for the next event, then takes what comes until `shown`, and what is there already. What is not only to be shown is not held.
async fn take(reply: &mut EventStream, parser: &mut dyn Parser, events: &mut Vec<ModelEvent>, shown: Instant) -> Took {
    let mut next = reply.next().await;
    let mut looked = 0;
    for count in 1_usize.. {
        match next {
            None => return Took::Over,
            Some(Err(error)) => return Took::Failed(error),
            Some(Ok(event)) => {
                if parser.feed(event, events) == Flow::Stop {
                    return Took::Over;
                }
            }
        }
        let held = events[looked..].iter().all(only_shown);
        looked = events.len();
        if count == MOST || !held {
            return Took::Some;
        }
        next = match reply.next().now_or_never() {
            Some(next) => next,
            None => match timeout_at(shown, reply.next()).await {
                Ok(next) => next,
                Err(_) => return Took::Some,
            },
        };
    }
    Took::Over
}

/// Whether all that follows from an event is that somebody sees it.
fn only_shown(event: &ModelEvent) -> bool {
    matches!(
        event,
        ModelEvent::Thinking { .. }
            | ModelEvent::Answer { .. }
            | ModelEvent::CallStarted { .. }
            | ModelEvent::CallGrew { .. }
            | ModelEvent::Alive
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::StreamEvent;

    struct Plain;

    impl Parser for Plain {
        fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow {
            if let StreamEvent::Text { text } = event {
                out.push(ModelEvent::Answer { text });
            }
            Flow::Continue
        }

        fn end(&mut self, _: &mut Vec<ModelEvent>) {}
    }

    /// So many numbers with a pause before each; the numbers of each batch, and how long all of it took.
    async fn read_all(count: usize, pause: Duration) -> (Vec<Vec<String>>, Duration) {
        let (wire, reply) = futures::channel::mpsc::unbounded();
        tokio::spawn(async move {
            for number in 0..count {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                wire.unbounded_send(Ok(StreamEvent::Text { text: format!("{number} ") })).unwrap();
            }
        });
        let (sender, mut batches) = mpsc::channel(8);
        let began = Instant::now();
        let stream = StreamId(1);
        tokio::spawn(async move { pour(stream, Box::pin(reply), Box::new(Plain), &sender).await });
        let mut all: Vec<Vec<String>> = Vec::new();
        while let Some(batch) = batches.recv().await {
            let text = |event: ModelEvent| match event {
                ModelEvent::Answer { text } => text,
                other => panic!("{other:?}"),
            };
            all.push(batch.events.into_iter().map(text).collect());
        }
        let whole: String = (0..count).map(|number| format!("{number} ")).collect();
        assert_eq!(all.iter().flatten().map(String::as_str).collect::<String>(), whole);
        (all, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_trickle_is_handed_on_once_a_frame() {
        let (batches, _) = read_all(1_000, Duration::from_millis(5)).await;
        assert_eq!(batches[0], ["0 "], "the first word is not waited for");
        assert!(batches.len() < 200, "{} batches for 1,000 pieces in five seconds", batches.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_not_slowed_down() {
        let (batches, took) = read_all(20_000, Duration::ZERO).await;
        assert!(batches.iter().all(|batch| batch.len() <= MOST));
        assert!(took < Duration::from_millis(100), "{took:?}");
    }
}
