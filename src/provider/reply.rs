//! The bytes of a reply → events.
//!
//! Owns: lines, SSE events, JSON lines, the sign of life in every byte, the limits of waiting, and what a failure means by where it falls.
//! Does not: HTTP (`transport`), or know a wire format (the decoder it is given does).
//!
//! Bytes pass through [`Lines`] before the SSE parser: it sees comment lines and half events, which count as life, evens out line ends, mends
//! broken UTF-8, and passes on whole lines only, so that reading is linear in the bytes however they are cut.
//!
//! **Invariants:** any cutting of the same bytes gives the same events, [`StreamEvent::Alive`] aside; nothing follows a `Finish` or an error.

use super::EventStream;
use super::problem;
use super::wire::{Decode, Framing};
use crate::domain::model::{ModelError, ModelErrorKind, StreamEvent};
use bytes::{Buf, Bytes, BytesMut};
use eventsource_stream::{EventStream as SseStream, EventStreamError};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// Largest SSE event, or whole JSON body. More than that is not a reply.
const LARGEST_EVENT: usize = 64 << 20;

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Without a byte, before and during a reply.
    pub idle: Duration,
    /// For token counts, after the reason for the end came.
    pub settle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { idle: Duration::from_secs(300), settle: Duration::from_secs(3) }
    }
}

/// Reads a reply: an SSE stream, or one JSON body from a server that does not stream. Must be polled within a tokio runtime.
///
/// A failure after the first word is [`ModelErrorKind::Cut`], whatever broke: what came is kept, and the user decides. Before it, a break is
/// [`ModelErrorKind::Network`].
pub fn events<S>(body: S, decoder: Box<dyn Decode>, limits: Limits) -> EventStream
where
    S: Stream<Item = Result<Bytes, ModelError>> + Send + 'static,
{
    let reading = Reading {
        frames: Some(Frames::new(body.boxed(), decoder.framing())),
        decoder,
        limits,
        queue: VecDeque::new(),
        failure: None,
        settle_by: None,
        begun: false,
    };
    Box::pin(stream::unfold(reading, |mut reading| async move { reading.next().await.map(|item| (item, reading)) }))
}

struct Reading {
    /// `None` when the reply is over.
    frames: Option<Frames>,
    decoder: Box<dyn Decode>,
    limits: Limits,
    queue: VecDeque<StreamEvent>,
    /// Goes out after what is queued.
    failure: Option<ModelError>,
    settle_by: Option<Instant>,
    /// A word, a thought or a call went out.
    begun: bool,
}

impl Reading {
    async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                match event {
                    StreamEvent::Finish { .. } => self.close(),
                    StreamEvent::Alive | StreamEvent::Usage { .. } => {}
                    _ => self.begun = true,
                }
                return Some(Ok(event));
            }
            if let Some(error) = self.failure.take() {
                self.frames = None;
                return Some(Err(self.placed(error)));
            }
            let frames = self.frames.as_mut()?;
            let frame = wait(frames, self.limits, self.settle_by).await;
            if let Err(error) = self.take(frame) {
                self.failure = Some(error);
            }
        }
    }

    fn take(&mut self, frame: Result<Frame, ModelError>) -> Result<(), ModelError> {
        let mut out = Vec::new();
        let result = match frame {
            Ok(Frame::Alive) => {
                out.push(StreamEvent::Alive);
                Ok(())
            }
            Ok(Frame::Data(data)) => self.decoder.data(&data, &mut out).map_err(|error| self.torn(error)),
            Ok(Frame::End) => self.decoder.end(&mut out),
            // The reply is whole; only counts were missing.
            Err(_) if self.decoder.settled() => self.decoder.end(&mut out),
            Err(error) => Err(error),
        };
        self.queue.extend(out);
        if self.settle_by.is_none() && self.decoder.settled() {
            self.settle_by = Some(Instant::now() + self.limits.settle);
        }
        result
    }

    /// Half a payload at the end of the body is a cut, not a fault of the format.
    fn torn(&self, error: ModelError) -> ModelError {
        let over = self.frames.as_ref().is_some_and(Frames::is_over);
        match error.kind {
            ModelErrorKind::Protocol if over => {
                problem::error(ModelErrorKind::Cut, "the reply ended in the middle of an event")
            }
            _ => error,
        }
    }

    fn placed(&self, mut error: ModelError) -> ModelError {
        error.kind = match (error.kind, self.begun) {
            (ModelErrorKind::Cut, false) => ModelErrorKind::Network,
            (
                ModelErrorKind::Network
                | ModelErrorKind::Timeout
                | ModelErrorKind::Server
                | ModelErrorKind::Overloaded
                | ModelErrorKind::RateLimited,
                true,
            ) => ModelErrorKind::Cut,
            (kind, _) => kind,
        };
        error
    }

    /// Reads the few bytes that end the body in the background, so that the connection can be used again: the next step of a turn follows soon,
    /// and a new TLS handshake would cost it a tenth of a second.
    fn close(&mut self) {
        self.queue.clear();
        if let (Some(mut frames), Ok(runtime)) = (self.frames.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(timeout(Duration::from_secs(1), async move {
                while !matches!(frames.next().await, Ok(Frame::End) | Err(_)) {}
            }));
        }
    }
}

async fn wait(frames: &mut Frames, limits: Limits, settle_by: Option<Instant>) -> Result<Frame, ModelError> {
    let deadline = settle_by.unwrap_or_else(|| Instant::now() + limits.idle);
    timeout_at(deadline, frames.next()).await.unwrap_or_else(|_| {
        let text = format!("nothing came for {} s", limits.idle.as_secs_f64());
        Err(problem::error(ModelErrorKind::Timeout, text))
    })
}

enum Frame {
    /// The payload of an event.
    Data(String),
    /// Bytes came, but no event was finished by them.
    Alive,
    /// The body is over.
    End,
}

/// What [`Lines`], inside the parser, tells the outside.
#[derive(Default)]
struct Signs {
    heard: AtomicBool,
    over: AtomicBool,
}

struct Frames {
    events: Pin<Box<SseStream<Lines>>>,
    signs: Arc<Signs>,
}

impl Frames {
    fn new(body: BoxStream<'static, Result<Bytes, ModelError>>, framing: Framing) -> Self {
        let signs = Arc::new(Signs::default());
        let lines = Lines {
            body,
            signs: Arc::clone(&signs),
            buffer: BytesMut::new(),
            scanned: 0,
            event_bytes: 0,
            form: match framing {
                Framing::Events => Form::Unknown,
                Framing::Lines => Form::Lines,
            },
            begun: false,
            last: None,
        };
        Self { events: Box::pin(SseStream::new(lines)), signs }
    }

    async fn next(&mut self) -> Result<Frame, ModelError> {
        poll_fn(|cx| match self.events.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(event))) => {
                self.signs.heard.store(false, Ordering::Relaxed);
                Poll::Ready(Ok(Frame::Data(event.data)))
            }
            Poll::Ready(Some(Err(error))) => Poll::Ready(Err(match error {
                EventStreamError::Transport(error) => error,
                EventStreamError::Utf8(_) | EventStreamError::Parser(_) => {
                    problem::error(ModelErrorKind::Protocol, "the reply is not an event stream")
                }
            })),
            Poll::Ready(None) => Poll::Ready(Ok(Frame::End)),
            Poll::Pending if self.signs.heard.swap(false, Ordering::Relaxed) => Poll::Ready(Ok(Frame::Alive)),
            Poll::Pending => Poll::Pending,
        })
        .await
    }

    fn is_over(&self) -> bool {
        self.signs.over.load(Ordering::Relaxed)
    }
}

/// What the body is.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Only blank lines so far.
    Unknown,
    /// An event stream.
    Sse,
    /// One JSON value; its lines are passed on as the data of one event.
    Json,
    /// A JSON value a line; each line is passed on as an event.
    Lines,
}

/// Cuts the body into lines for the SSE parser. Line ends are LF, CR or CRLF (HTML Living Standard, 9.2.5) and go out as LF.
struct Lines {
    body: BoxStream<'static, Result<Bytes, ModelError>>,
    signs: Arc<Signs>,
    buffer: BytesMut,
    /// No line ends before here.
    scanned: usize,
    event_bytes: usize,
    form: Form,
    /// A line that is not blank came.
    begun: bool,
    /// After the body: the empty line that ends an event which its server left open.
    last: Option<&'static str>,
}

impl Stream for Lines {
    type Item = Result<String, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(line) = this.line() {
                return Poll::Ready(Some(Ok(line)));
            }
            if this.is_over() {
                return Poll::Ready(this.last.take().map(|text| Ok(text.to_owned())));
            }
            match this.body.as_mut().poll_next(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(bytes))) => {
                    this.signs.heard.store(true, Ordering::Relaxed);
                    this.buffer.extend_from_slice(&bytes);
                    if this.buffer.len() + this.event_bytes > LARGEST_EVENT {
                        return Poll::Ready(Some(Err(this.stop("an event of the reply is too large"))));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    this.stop("");
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => {
                    this.signs.over.store(true, Ordering::Relaxed);
                    this.last = Some("\n");
                }
            }
        }
    }
}

impl Lines {
    fn is_over(&self) -> bool {
        self.signs.over.load(Ordering::Relaxed)
    }

    fn stop(&mut self, why: &str) -> ModelError {
        self.signs.over.store(true, Ordering::Relaxed);
        self.buffer.clear();
        self.scanned = 0;
        problem::error(ModelErrorKind::Protocol, why)
    }

    /// The next whole line with one LF behind it.
    fn line(&mut self) -> Option<String> {
        let end = self.buffer[self.scanned..].iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let (end, mark) = match end.map(|at| at + self.scanned) {
            // A CR at the very end may be half of a CRLF.
            Some(at) if self.buffer[at] == b'\r' && at + 1 == self.buffer.len() && !self.is_over() => {
                self.scanned = at;
                return None;
            }
            Some(at) => (at, if self.buffer[at..].starts_with(b"\r\n") { 2 } else { 1 }),
            None if self.is_over() && !self.buffer.is_empty() => (self.buffer.len(), 0),
            None => {
                self.scanned = self.buffer.len();
                return None;
            }
        };
        let bytes = self.buffer.split_to(end);
        self.buffer.advance(mark);
        self.scanned = 0;
        self.event_bytes = if bytes.is_empty() { 0 } else { self.event_bytes + bytes.len() };
        Some(self.shaped(&String::from_utf8_lossy(&bytes)))
    }

    fn shaped(&mut self, line: &str) -> String {
        let line = if self.begun { line } else { line.trim_start_matches('\u{feff}') };
        let blank = line.trim().is_empty();
        if self.form == Form::Unknown && !blank {
            // No line of an event stream that means anything begins with a brace.
            self.form = if line.trim_start().starts_with(['{', '[']) { Form::Json } else { Form::Sse };
        }
        self.begun |= !blank;
        match self.form {
            Form::Json => format!("data: {line}\n"),
            Form::Lines if !blank => {
                self.event_bytes = 0;
                format!("data: {line}\n\n")
            }
            Form::Unknown | Form::Sse | Form::Lines => format!("{line}\n"),
        }
    }
}
