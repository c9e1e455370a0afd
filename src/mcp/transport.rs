//! Messages over a pair of byte streams, one JSON text a line: rmcp's `Transport` for a child process.
//!
//! Owns: the reading and the writing side of one connection, and what it can tell beside the messages ([`Link`]). What a line means is decided in
//! `wire`. Does not own the process, and never answers what it does not understand.
//!
//! **Invariant:** a line is written whole or the connection is over: writing is never cancelled in the middle.
//! **Invariant:** after a fault nothing more is read; the fault is set before rmcp hears of the end.
//! **Invariant:** a server that asks without end and does not read our answers cannot fill memory: beyond [`ANSWERS`] that wait to be written nothing
//! more is read from it. Our own requests do not count, so that a server which must be read before it reads is never waited for in vain.

use super::lines::{Line, LineReader};
use super::log::Log;
use super::lost::Lost;
use super::reason::Trouble;
use super::wire::{Incoming, Pending};
use super::{Direction, Tap};
use crate::domain::ServerName;
use crate::domain::server::ServerState;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// Longest line a server may send. A longer one is a fault: it cannot be kept, and its call could not end.
pub(super) const LINE_LIMIT: usize = 32 * 1024 * 1024;

/// Where noise of a child process stands.
const NOISE: &str = "stdout";
/// Most answers to the server's requests that may wait to be written.
const ANSWERS: usize = 1_024;

/// Longest quotation of a message that fits no request, bytes.
const STRAY: usize = 2 * 1024;

/// The writing side, shared with whoever has to close it. `None` once it is closed.
pub(super) type Writer<W> = Arc<tokio::sync::Mutex<Option<W>>>;

/// Why reading ended although the server did not end it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fault {
    /// A line beyond [`LINE_LIMIT`].
    LineTooLong,
    /// The pipe broke.
    Io(String),
    /// The connection to a remote server was lost; it can be made anew.
    Lost(Trouble),
    /// A remote server could not be reached any more, however often it was tried.
    Gone(Trouble),
    /// A remote server wants a login.
    Login(Trouble),
}

impl Fault {
    /// The state it leaves the server in.
    pub(super) const fn state(&self) -> ServerState {
        match self {
            Self::LineTooLong | Self::Io(_) => ServerState::Error,
            Self::Lost(_) | Self::Gone(_) => ServerState::Disconnected,
            Self::Login(_) => ServerState::NeedsAuth,
        }
    }
}

/// What a connection tells beside its messages. Shared by the transport and those who watch it.
#[derive(Debug)]
pub(super) struct Link {
    /// Set with the first message of the protocol.
    pub(super) talking: CancellationToken,
    /// Set when nothing more will be read.
    pub(super) ended: CancellationToken,
    /// Everything that is not a message goes here.
    pub(super) log: Arc<Log>,
    fault: OnceLock<Fault>,
    stray: Mutex<Option<String>>,
    lost: Mutex<HashMap<RequestId, Lost>>,
    wavers: watch::Sender<Option<Trouble>>,
}

impl Link {
    /// A connection that has not begun.
    pub(super) fn new(log: Arc<Log>) -> Self {
        Self {
            talking: CancellationToken::new(),
            ended: CancellationToken::new(),
            log,
            fault: OnceLock::new(),
            stray: Mutex::new(None),
            lost: Mutex::default(),
            wavers: watch::Sender::new(None),
        }
    }

    /// The connection is over, by this.
    pub(super) fn end(&self, fault: Fault) {
        let _ = self.fault.set(fault);
        self.ended.cancel();
    }

    /// Notes why a request has no answer, before its error is handed on.
    pub(super) fn lose(&self, id: RequestId, lost: Lost) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).insert(id, lost);
    }

    /// Why the carrier could not carry this request; `None` where the server itself answered.
    pub(super) fn take_lost(&self, id: &RequestId) -> Option<Lost> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }

    /// The same for the handshake, whose number only the library knows.
    pub(super) fn take_any_lost(&self) -> Option<Lost> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let id = lost.keys().next().cloned()?;
        lost.remove(&id)
    }

    /// The connection is being made again, for this reason; `None` when it is there.
    pub(super) fn waver(&self, why: Option<Trouble>) {
        self.wavers.send_if_modified(|now| {
            let other = now.is_some() != why.is_some();
            *now = why;
            other
        });
    }

    /// Tells when the connection is being made again, and when it is there.
    pub(super) fn wavering(&self) -> watch::Receiver<Option<Trouble>> {
        self.wavers.subscribe()
    }

    /// Why reading ended, where it was not the end of the stream.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// The newest message that fitted no request: it may explain why a request was never answered.
    pub(super) fn stray(&self) -> Option<String> {
        self.stray.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a message that fitted no request.
    pub(super) fn set_stray(&self, what: String) {
        *self.stray.lock().unwrap_or_else(PoisonError::into_inner) = Some(super::convert::clip(&what, STRAY));
    }
}

/// rmcp's transport over a reading and a writing stream.
pub(super) struct LineTransport<R, W> {
    server: ServerName,
    lines: LineReader<R>,
    writer: Writer<W>,
    pending: Pending,
    queue: VecDeque<ServerJsonRpcMessage>,
    link: Arc<Link>,
    tap: Option<Tap>,
    answers: Answers,
}

/// Counts the answers that wait to be written.
#[derive(Debug)]
pub(super) struct Answers(Arc<Semaphore>);

impl Answers {
    /// None waits.
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ANSWERS)))
    }

    /// Counts a message until the permit is dropped, if it is an answer. What was asked before reading stopped may go beyond the limit.
    pub(super) fn count(&self, message: &ClientJsonRpcMessage) -> Option<OwnedSemaphorePermit> {
        match message {
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {
                Arc::clone(&self.0).try_acquire_owned().ok()
            }
            ClientJsonRpcMessage::Request(_) | ClientJsonRpcMessage::Notification(_) => None,
        }
    }

    /// Waits until there is room for another one.
    pub(super) async fn room(&self) {
        let _ = self.0.acquire().await;
    }
}

impl<R: AsyncRead + Unpin, W> LineTransport<R, W> {
    /// A transport over `input` and `writer`. `tap` sees every line both ways, without its end.
    pub(super) fn new(server: ServerName, input: R, writer: Writer<W>, link: Arc<Link>, tap: Option<Tap>) -> Self {
        Self {
            server,
            lines: LineReader::new(input, LINE_LIMIT),
            writer,
            pending: Pending::default(),
            queue: VecDeque::new(),
            link,
            tap,
            answers: Answers::new(),
        }
    }

    /// Reads one line into the queue; `false` at the end.
    async fn fill(&mut self) -> bool {
        // Whoever watches the process may end the reading: something it left behind can hold the pipe open for ever.
        let read = tokio::select! {
            biased;
            () = self.link.ended.cancelled() => return false,
            read = async {
                self.answers.room().await;
                self.lines.next().await
            } => read,
        };
        let fault = match read {
            Ok(Some(Line::Whole(line))) => {
                if let Some(tap) = &self.tap {
                    tap(&self.server, Direction::FromServer, line);
                }
                take(line, &mut self.pending, &mut self.queue, &self.link);
                return true;
            }
            Ok(Some(Line::Cut(_))) => Some(Fault::LineTooLong),
            Ok(None) => None,
            Err(error) => Some(Fault::Io(error.to_string())),
        };
        match fault {
            Some(fault) => self.link.end(fault),
            None => self.link.ended.cancel(),
        }
        false
    }
}

fn take(line: &[u8], pending: &mut Pending, queue: &mut VecDeque<ServerJsonRpcMessage>, link: &Link) {
    for incoming in pending.read(line) {
        match incoming {
            Incoming::Message(message) => {
                link.talking.cancel();
                queue.push_back(*message);
            }
            Incoming::Noise if line.trim_ascii().is_empty() => {}
            Incoming::Noise => link.log.noise(NOISE, line),
            Incoming::Stray(what) => {
                link.log.noise(NOISE, line);
                link.set_stray(what);
            }
            Incoming::Late => {}
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.pending.sent(&item);
        let line = serde_json::to_vec(&item);
        if let (Some(tap), Ok(line)) = (&self.tap, &line) {
            tap(&self.server, Direction::ToServer, line);
        }
        let writer = Arc::clone(&self.writer);
        let waits = self.answers.count(&item);
        async move {
            let _waits = waits;
            let mut line = line?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let out = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            out.write_all(&line).await?;
            out.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.take();
        Ok(())
    }
}
