//! What carries a session over HTTP: the streamable transport and, where a server speaks only that, the older one with SSE.
//!
//! Owns ([`Remote`]): one session's open requests, the tasks that carry them, and the way of what comes in. Below it:
//!
//! - `streamable`: POST with JSON or a stream as the answer, the standing GET stream, resumption, the renewal of a session. `legacy`: a GET stream, and POST
//!   to the address that it names.
//! - `courier`: one exchange: headers, redirects, limits. `events`, `sse`: streams of events. `failure`: what went wrong, and what follows.
//!
//! rmcp's own client for this transport is not used. It reads answers into types before anybody else sees them, so that malformed ones vanish and their
//! requests hang; it retries for ever; and it can tell neither whether a tool may have run nor that it is reconnecting. Here every answer goes through
//! `wire` as over a pipe. Source: MCP 2025-11-25, "Transports"; 2024-11-05, "HTTP with SSE".
//!
//! **Invariant:** a request that was sent is never sent again unless it is certain that it did not run, or harmless to run it twice. A call of a tool is never
//! harmless.
//! **Invariant:** every request that was handed over ends: with the server's answer, with a [`Lost`], or with the link.
//! **Invariant:** no header and no message goes to another origin than the entry's.

mod courier;
mod events;
mod failure;
mod legacy;
mod sse;
mod streamable;

use super::lost::Lost;
use super::reason::Trouble;
use super::start::Plan;
use super::transport::{Answers, Fault, Link};
use super::wire::{Incoming, Pending};
use super::{Direction, Tap};
use crate::domain::{Phrase, ServerName};
use crate::redact::Redactor;
use bytes::Bytes;
use courier::Courier;
use failure::Failure;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerRequest,
    ServerResult,
};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use url::Url;

/// Messages that may wait to be taken in. A server that sends faster is read more slowly.
const INBOX: usize = 64;
/// How long a notification or an answer of ours may take to be accepted.
const NOTE: Duration = Duration::from_secs(30);
/// Most notifications and answers under way at once: each takes a connection.
const NOTES: usize = 16;
/// How long the stream of a call that was called off stays open, so that the server hears of it first.
const CALLED_OFF: Duration = Duration::from_secs(1);
/// How long the server may take to accept the end of the session.
const FAREWELL: Duration = Duration::from_secs(1);
/// Where noise of a remote server stands.
const NOISE: &str = "http";

/// Which of the two transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Streamable HTTP, or the other one where a server refuses this.
    Streamable,
    /// HTTP with SSE, of 2024-11-05.
    Sse,
}

/// The request whose answer a request of the server came with. Found among the extensions of that request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin(pub(super) RequestId);

/// What kind of message is handed over: it decides whether it may be handed over twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// The first one of a session.
    Handshake,
    /// The call of a tool.
    Call,
    /// A request without effects.
    Question,
    /// A notification, or an answer.
    Note,
}

/// One session with a server at a URL.
pub(super) struct Remote {
    server: ServerName,
    /// The file of its entry, for what to do.
    file: String,
    kind: Kind,
    courier: Courier,
    session: streamable::Session,
    endpoint: legacy::Endpoint,
    pending: Mutex<Pending>,
    posts: Mutex<HashMap<RequestId, CancellationToken>>,
    /// Answers that the server has not taken yet. Beyond a number of them nothing more is read from it.
    answers: Answers,
    notes: Semaphore,
    inbox: mpsc::Sender<ServerJsonRpcMessage>,
    link: Arc<Link>,
    tap: Option<Tap>,
    redactor: Redactor,
    /// How long a renewal may take.
    limit: Duration,
    /// Called when something that the server announced may have been missed.
    missed: Arc<dyn Fn() + Send + Sync>,
}

/// rmcp's transport over a [`Remote`].
pub(super) struct RemoteTransport {
    remote: Arc<Remote>,
    inbox: mpsc::Receiver<ServerJsonRpcMessage>,
}

/// A session to be opened; nothing is sent before its first message.
pub(super) fn open(
    plan: &Plan,
    kind: Kind,
    url: &str,
    headers: &[(String, String)],
    link: &Arc<Link>,
) -> Result<(Arc<Remote>, RemoteTransport), Trouble> {
    let entry = &plan.entry;
    let fix = |key| Phrase::new(key).with("server", &entry.name).with("file", &entry.source.file);
    let url = Url::parse(url)
        .map_err(|error| Trouble::new(Phrase::new("server.bad_url").with("error", error), fix("server.fix_url")))?;
    let courier = Courier::new(url, headers)
        .map_err(|name| Trouble::new(Phrase::new("server.bad_header").with("name", name), fix("server.fix_header")))?;
    let (tx, inbox) = mpsc::channel(INBOX);
    let remote = Arc::new(Remote {
        server: entry.name.clone(),
        file: entry.source.file.clone(),
        kind,
        courier,
        session: streamable::Session::default(),
        endpoint: legacy::Endpoint::default(),
        pending: Mutex::default(),
        posts: Mutex::default(),
        answers: Answers::new(),
        notes: Semaphore::new(NOTES),
        inbox: tx,
        link: Arc::clone(link),
        tap: plan.world.options.tap.clone(),
        redactor: plan.world.options.redactor.clone(),
        limit: super::entry::seconds(entry.timeouts.start),
        missed: Arc::clone(&plan.tools_changed),
    });
    Ok((Arc::clone(&remote), RemoteTransport { remote, inbox }))
}

impl Remote {
    /// Ends the session: everything under way is dropped, and the server is told.
    pub(super) async fn end(&self) {
        self.link.ended.cancel();
        if let Some(headers) = self.session.leave() {
            let farewell = self.courier.send(courier::Verb::Delete, headers);
            let _ = tokio::time::timeout(FAREWELL, farewell).await;
        }
    }

    /// `http` or `sse`: what is really spoken.
    pub(super) fn spoken(&self) -> &'static str {
        if self.kind == Kind::Sse || self.endpoint.get().is_some() { "sse" } else { "http" }
    }

    /// Waits until it is clear whether the server announces changes, but not for long. What it announces later than that is asked for again.
    pub(super) async fn settle(&self) {
        if self.endpoint.get().is_none() {
            self.session.settle().await;
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn posts(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something for as long as the session lasts.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let link = Arc::clone(&self.link);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = link.ended.cancelled() => {}
                () = task => {}
            }
        });
    }

    // --- out

    /// Takes a message over. What is returned resolves at once for a request, whose failure is told as its answer; else when the server accepted it.
    fn take(self: &Arc<Self>, item: &ClientJsonRpcMessage) -> Going {
        self.pending().sent(item);
        let body = match serde_json::to_vec(item) {
            Ok(body) => Bytes::from(body),
            Err(error) => return Box::pin(std::future::ready(Err(error.into()))),
        };
        if let Some(tap) = &self.tap {
            tap(&self.server, Direction::ToServer, &body);
        }
        let remote = Arc::clone(self);
        match item {
            JsonRpcMessage::Request(request) => {
                let what = match request.request.method() {
                    "initialize" => {
                        self.session.remember(item);
                        What::Handshake
                    }
                    "tools/call" => What::Call,
                    _ => What::Question,
                };
                let (id, off) = (request.id.clone(), CancellationToken::new());
                self.posts().insert(id.clone(), off.clone());
                self.spawn(async move {
                    tokio::select! {
                        biased;
                        () = off.cancelled() => {}
                        () = remote.request(&id, what, body) => {}
                    }
                    remote.posts().remove(&id);
                });
                Box::pin(std::future::ready(Ok(())))
            }
            JsonRpcMessage::Notification(note) => match &note.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    let off = cancelled.params.request_id.as_ref().and_then(|id| self.posts().remove(id));
                    Box::pin(remote.call_off(body, off))
                }
                ClientNotification::InitializedNotification(_) => Box::pin(remote.initialized(body)),
                _ => Box::pin(remote.note(body)),
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                let waits = self.answers.count(item);
                Box::pin(async move {
                    let _waits = waits;
                    remote.note(body).await
                })
            }
        }
    }

    /// Carries a request; whatever becomes of it, it ends.
    async fn request(self: &Arc<Self>, id: &RequestId, what: What, body: Bytes) {
        let carried = match what {
            What::Handshake => self.handshake(id, body).await,
            _ if self.endpoint.get().is_some() => legacy::request(self, id, what, body).await,
            _ => streamable::request(self, id, what, body).await,
        };
        let Err(failure) = carried else { return };
        let lost = self.lost(&failure);
        self.fail(id, lost.clone()).await;
        if what != What::Handshake {
            self.end_by(&failure, lost.trouble);
        }
    }

    async fn handshake(self: &Arc<Self>, id: &RequestId, body: Bytes) -> Result<(), Failure> {
        if self.kind == Kind::Streamable {
            match streamable::handshake(self, id, body.clone()).await {
                Err(refused) if refused.suggests_sse() => {
                    // What the endpoint itself said counts, where there is no other server behind it; and that is told when the time is up.
                    self.waver(&refused);
                    legacy::open(self, 0).await.map_err(|_| refused)?;
                }
                other => return other,
            }
        } else {
            legacy::open(self, streamable::HANDSHAKES).await?;
        }
        legacy::request(self, id, What::Handshake, body).await
    }

    /// Tells the server that the handshake is over; then it may speak on its own.
    async fn initialized(self: Arc<Self>, body: Bytes) -> io::Result<()> {
        if let Err(failure) = self.post(What::Note, body).await {
            let trouble = self.lost(&failure).trouble;
            let login = failure.wants_login();
            self.link.end(if login { Fault::Login(trouble) } else { Fault::Gone(trouble) });
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.endpoint.get().is_none() {
            streamable::listen(&self);
        }
        Ok(())
    }

    async fn note(self: Arc<Self>, body: Bytes) -> io::Result<()> {
        let posted = async {
            let _place = self.notes.acquire().await;
            self.post(What::Note, body).await
        };
        let posted = tokio::select! {
            biased;
            () = self.link.ended.cancelled() => return Err(io::ErrorKind::BrokenPipe.into()),
            posted = tokio::time::timeout(NOTE, posted) => posted,
        };
        match posted {
            Ok(Ok(())) => Ok(()),
            Ok(Err(failure)) => {
                tracing::info!(server = %self.server, ?failure, "the server did not take a message");
                Err(io::ErrorKind::BrokenPipe.into())
            }
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    async fn call_off(self: Arc<Self>, body: Bytes, off: Option<CancellationToken>) -> io::Result<()> {
        let told = tokio::time::timeout(CALLED_OFF, Arc::clone(&self).note(body)).await;
        if let Some(off) = off {
            off.cancel();
        }
        told.unwrap_or(Err(io::ErrorKind::TimedOut.into()))
    }

    async fn post(self: &Arc<Self>, what: What, body: Bytes) -> Result<(), Failure> {
        if self.endpoint.get().is_some() {
            legacy::post(self, what, body).await.map(drop)
        } else {
            streamable::post(self, what, body).await.map(drop)
        }
    }

    // --- in

    /// Takes in what the server sent; `request` is the one whose answer it came with.
    async fn deliver(&self, text: &[u8], request: Option<&RequestId>) {
        self.answers.room().await;
        if let Some(tap) = &self.tap {
            tap(&self.server, Direction::FromServer, text);
        }
        let incoming = self.pending().read_of(text, request);
        for one in incoming {
            match one {
                Incoming::Message(mut message) => {
                    match &mut *message {
                        JsonRpcMessage::Response(response) => {
                            if let ServerResult::InitializeResult(result) = &response.result {
                                self.session.agree(result.protocol_version.as_str());
                            }
                        }
                        JsonRpcMessage::Request(asked) => {
                            if let (ServerRequest::CustomRequest(asked), Some(id)) = (&mut asked.request, request) {
                                asked.extensions.insert(Origin(id.clone()));
                            }
                        }
                        JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => {}
                    }
                    let _ = self.inbox.send(*message).await;
                }
                Incoming::Noise if text.trim_ascii().is_empty() => {}
                Incoming::Noise => self.link.log.noise(NOISE, text),
                Incoming::Stray(what) => {
                    self.link.log.noise(NOISE, text);
                    self.link.set_stray(what);
                }
                Incoming::Late => {}
            }
        }
    }

    // --- failures

    fn lost(&self, failure: &Failure) -> Lost {
        let mut lost = failure.lost(self.server.as_str(), &self.file);
        lost.trouble = lost.trouble.masked(&self.redactor);
        lost
    }

    async fn fail(&self, id: &RequestId, lost: Lost) {
        let failed = self.pending().fail(id, lost.trouble.text());
        let Some(message) = failed else { return };
        self.link.lose(id.clone(), lost);
        let _ = self.inbox.send(message).await;
    }

    /// Some failures of one request are the end of the session.
    fn end_by(&self, failure: &Failure, trouble: Trouble) {
        if failure.wants_login() {
            self.link.end(Fault::Login(trouble));
        } else if failure.never_sent() {
            self.link.end(Fault::Gone(trouble));
        }
    }

    /// The server is being reached again.
    fn waver(&self, failure: &Failure) {
        self.link.waver(Some(self.lost(failure).trouble));
    }
}

type Going = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl Transport<RoleClient> for RemoteTransport {
    type Error = io::Error;

    fn send(&mut self, item: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.remote.take(&item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        tokio::select! {
            biased;
            // What came before the end counts.
            message = self.inbox.recv() => message,
            () = self.remote.link.ended.cancelled() => None,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inbox.close();
        Ok(())
    }
}
