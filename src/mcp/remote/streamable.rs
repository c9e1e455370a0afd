//! Streamable HTTP, the transport of 2025-03-26 and later.
//!
//! Owns: the session's id and revision, the standing stream, and the renewal of a session that the server has forgotten.
//!
//! A message is a POST; its answer is JSON or a stream of events. A stream whose events have ids is taken up again where it was cut; one without is the end of
//! its request. What the server says on its own comes by a GET stream, if it has one.

use super::courier::{Body, Reply, Verb};
use super::events::Events;
use super::failure::Failure;
use super::sse::Event;
use super::{NOISE, Remote, What};
use crate::domain::Phrase;
use crate::mcp::backoff::Tries;
use crate::mcp::reason::Trouble;
use crate::mcp::transport::Fault;
use crate::mcp::wire::{Incoming, Pending};
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderValue};
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, InitializedNotification, JsonRpcMessage, RequestId, ServerResult,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a message is handed over again, or a stream taken up again.
pub(super) const TRIES: u32 = 5;
/// The same for a server's first message: an address where nothing is should soon be told.
pub(super) const HANDSHAKES: u32 = 3;
/// The same for the standing stream, which nobody waits for.
const LISTENS: u32 = 8;
/// Longest pause on a server's word while somebody waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// A standing stream that lived this long was a good one.
const LIVED: Duration = Duration::from_secs(5);
/// How long the answer to the first GET may keep the tools waiting.
const SETTLE: Duration = Duration::from_millis(250);
/// How long what follows an answer on its stream is still read, so that the connection can be used again.
const REST: Duration = Duration::from_secs(1);

/// How long the end of a session waits for those who have to be told something better.
const TOLD: Duration = Duration::from_millis(20);

const SESSION_ID: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// A session as the server knows it.
#[derive(Debug, Default)]
pub(super) struct Session {
    state: Mutex<State>,
    /// Held while the session is being renewed.
    renewing: tokio::sync::Mutex<()>,
    /// The first message, to be said again.
    hello: OnceLock<ClientJsonRpcMessage>,
    /// Set when the first GET was answered.
    settled: CancellationToken,
    /// Nobody waited for that any longer.
    late: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// Number of renewals.
    generation: u64,
    /// An error with status 400 did not mean that the session is gone.
    no_guesses: bool,
    listener: Option<CancellationToken>,
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the first message.
    pub(super) fn remember(&self, hello: &ClientJsonRpcMessage) {
        let _ = self.hello.set(hello.clone());
    }

    /// Notes the revision that was agreed on.
    pub(super) fn agree(&self, version: &str) {
        self.lock().version = HeaderValue::from_str(version).ok();
    }

    /// What the server is told of the session with every request, and the session's number.
    fn headers(&self) -> (HeaderMap, u64) {
        let state = self.lock();
        let named = [(SESSION_ID, &state.id), (VERSION, &state.version)];
        let mut headers = HeaderMap::new();
        for (name, value) in named {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        (headers, state.generation)
    }

    /// Takes the id that the server gave with its first answer. Source: visible ASCII, which is what a header can hold.
    fn begin(&self, reply: &Reply) {
        let mut state = self.lock();
        state.id = reply.headers.get(SESSION_ID).filter(|id| !id.is_empty()).cloned().map(|mut id| {
            id.set_sensitive(true);
            id
        });
    }

    /// The headers to end the session with, if there is one to be ended; there is none afterwards.
    pub(super) fn leave(&self) -> Option<HeaderMap> {
        let headers = self.headers().0;
        self.lock().id.take().map(|_| headers)
    }

    /// Waits for the answer to the first GET, but not for long.
    pub(super) async fn settle(&self) {
        if tokio::time::timeout(SETTLE, self.settled.cancelled()).await.is_err() {
            self.late.store(true, Ordering::Relaxed);
        }
    }

    fn is_stale(&self, failure: &Failure) -> bool {
        let state = self.lock();
        state.id.is_some() && failure.is_stale() && !(state.no_guesses && failure.is_stale_by_error())
    }
}

impl What {
    /// Doing it twice does no harm.
    const fn harmless(self) -> bool {
        matches!(self, Self::Handshake | Self::Question)
    }

    const fn tries(self) -> u32 {
        if matches!(self, Self::Handshake) { HANDSHAKES } else { TRIES }
    }
}

/// Says the first message, takes the session's id, and reads the answer.
pub(super) async fn handshake(remote: &Arc<Remote>, id: &RequestId, body: Bytes) -> Result<(), Failure> {
    let reply = post(remote, What::Handshake, body).await?;
    remote.link.talking.cancel();
    remote.session.begin(&reply);
    receive(remote, id, reply).await
}

/// Carries a request to its answer.
pub(super) async fn request(remote: &Arc<Remote>, id: &RequestId, what: What, body: Bytes) -> Result<(), Failure> {
    let reply = post(remote, what, body).await?;
    receive(remote, id, reply).await
}

/// Hands a message over until there is an answer or a failure that stays.
pub(super) async fn post(remote: &Arc<Remote>, what: What, body: Bytes) -> Result<Reply, Failure> {
    let session = &remote.session;
    let mut tries = Tries::new(what.tries());
    let mut renewed = false;
    loop {
        drop(session.renewing.lock().await);
        let (headers, generation) = session.headers();
        let failure = match remote.courier.send(Verb::Post(body.clone()), headers).await {
            Ok(reply) => {
                if tries.begun() {
                    remote.link.waver(None);
                }
                return Ok(reply);
            }
            Err(failure) => failure,
        };
        // A note belongs to the session that is gone.
        if !renewed && !matches!(what, What::Note | What::Handshake) && session.is_stale(&failure) {
            renewed = true;
            if renew(remote, generation).await {
                continue;
            }
            return Err(Failure::NoSession);
        }
        if renewed && failure.is_stale_by_error() {
            session.lock().no_guesses = true;
        }
        let again = failure.never_sent() || (what.harmless() && failure.passes());
        let asked = failure.wait();
        let pause = if again && asked.is_none_or(|asked| asked <= PATIENCE) { tries.next(asked) } else { None };
        let Some(pause) = pause else { return Err(failure) };
        // A start that runs out of time tells this.
        if failure.never_sent() || what == What::Handshake {
            remote.waver(&failure);
        }
        tokio::time::sleep(pause).await;
    }
}

async fn receive(remote: &Arc<Remote>, id: &RequestId, reply: Reply) -> Result<(), Failure> {
    match reply.body {
        Body::Json(body) => remote.deliver(&body, Some(id)).await,
        Body::Events(events) => return follow(remote, id, *events).await,
        Body::Empty => {}
    }
    if remote.pending().is_open(id) {
        return Err(Failure::Unanswered { status: reply.status.as_u16() });
    }
    Ok(())
}

/// Reads the stream that answers a request, and takes it up again where it can be, until the answer is there.
async fn follow(remote: &Arc<Remote>, id: &RequestId, mut events: Events) -> Result<(), Failure> {
    let mut tries = Tries::new(TRIES);
    loop {
        let why = loop {
            match events.next().await {
                Ok(Some(Event::Message { data, .. })) => {
                    tries.reset();
                    remote.deliver(&data, Some(id)).await;
                    if !remote.pending().is_open(id) {
                        read_on(remote, id, events);
                        return Ok(());
                    }
                }
                Ok(Some(Event::TooLarge)) => return Err(Failure::TooLarge),
                Ok(None) => break "the stream ended without an answer".to_owned(),
                Err(why) => break why,
            }
        };
        events = resume(remote, &events, why, &mut tries).await?;
    }
}

/// Takes a cut stream up again after its last event, if events have ids.
async fn resume(remote: &Arc<Remote>, events: &Events, mut why: String, tries: &mut Tries) -> Result<Events, Failure> {
    let place = events.place.clone();
    let Some(last) = events.last_id().and_then(|id| HeaderValue::from_str(id).ok()) else {
        return Err(Failure::Cut { place, why });
    };
    let mut asked = events.retry();
    loop {
        let Some(pause) = tries.next(asked) else { return Err(Failure::Cut { place, why }) };
        tokio::time::sleep(pause).await;
        let headers = remote.session.headers().0;
        match remote.courier.send(Verb::Get(Some(last.clone())), headers).await {
            Ok(Reply { body: Body::Events(events), .. }) => {
                remote.link.waver(None);
                return Ok(*events);
            }
            Err(failure) if failure.passes() => {
                if failure.never_sent() {
                    remote.waver(&failure);
                }
                asked = failure.wait().or(asked);
                if let Failure::Unreachable { why: other, .. } | Failure::Broken { why: other, .. } = failure {
                    why = other;
                }
            }
            Ok(_) | Err(_) => return Err(Failure::Cut { place, why }),
        }
    }
}

/// Reads what comes after an answer; the server should end the stream now.
fn read_on(remote: &Arc<Remote>, id: &RequestId, mut events: Events) {
    let (reader, id) = (Arc::clone(remote), id.clone());
    remote.spawn(async move {
        let rest = async {
            while let Ok(Some(event)) = events.next().await {
                if let Event::Message { data, .. } = event {
                    reader.deliver(&data, Some(&id)).await;
                }
            }
        };
        let _ = tokio::time::timeout(REST, rest).await;
    });
}

// --- the standing stream

/// Opens the standing stream of the session, in place of an earlier session's.
pub(super) fn listen(remote: &Arc<Remote>) {
    let off = CancellationToken::new();
    if let Some(before) = remote.session.lock().listener.replace(off.clone()) {
        before.cancel();
    }
    let listener = Arc::clone(remote);
    remote.spawn(async move {
        tokio::select! {
            biased;
            () = off.cancelled() => {}
            () = hear(&listener) => {}
        }
    });
}

async fn hear(remote: &Arc<Remote>) {
    let mut ear = Ear { tries: Tries::new(LISTENS), last: None, retry: None, opened: false };
    loop {
        let (headers, generation) = remote.session.headers();
        let failure = match remote.courier.send(Verb::Get(ear.last.clone()), headers).await {
            Ok(Reply { body: Body::Events(events), .. }) => ear.follow(remote, *events).await,
            // It has none.
            Ok(_) => return remote.session.settled.cancel(),
            Err(failure) => failure,
        };
        remote.session.settled.cancel();
        let passes = failure.passes() && (ear.opened || failure.never_sent());
        if !passes {
            // It was there, so it is the session that is gone.
            if ear.opened && remote.session.is_stale(&failure) {
                renew(remote, generation).await;
            }
            return;
        }
        let Some(pause) = ear.tries.next(ear.retry.or(failure.wait())) else {
            if ear.opened && failure.never_sent() {
                remote.link.end(Fault::Gone(remote.lost(&failure).trouble));
            }
            return remote.link.waver(None);
        };
        if ear.opened && failure.never_sent() {
            remote.waver(&failure);
        }
        tokio::time::sleep(pause).await;
    }
}

/// What is known of the standing stream.
struct Ear {
    tries: Tries,
    last: Option<HeaderValue>,
    retry: Option<Duration>,
    opened: bool,
}

impl Ear {
    /// Reads the stream to its end; how it ended.
    async fn follow(&mut self, remote: &Arc<Remote>, mut events: Events) -> Failure {
        remote.session.settled.cancel();
        let late = remote.session.late.swap(false, Ordering::Relaxed);
        // What was announced before it opened, or between two streams, is not said again.
        if late || (self.opened && self.last.is_none()) {
            (remote.missed)();
        }
        self.opened = true;
        if self.tries.begun() {
            remote.link.waver(None);
        }
        let began = Instant::now();
        let why = loop {
            match events.next().await {
                Ok(Some(Event::Message { data, .. })) => {
                    self.tries.reset();
                    remote.deliver(&data, None).await;
                }
                Ok(Some(Event::TooLarge)) => remote.link.log.noise(NOISE, b"(an event that is too large)"),
                Ok(None) => break "the stream ended".to_owned(),
                Err(why) => break why,
            }
        };
        if began.elapsed() > LIVED {
            self.tries.reset();
        }
        self.last = events.last_id().and_then(|id| HeaderValue::from_str(id).ok());
        self.retry = events.retry().or(self.retry);
        Failure::Cut { place: events.place, why }
    }
}

// --- renewal

/// Begins a new session in place of number `generation`, which the server has forgotten; whoever comes second uses what the first one got. `false` if there
/// is none: then the link is over. Source: MCP 2025-11-25, "Session Management".
async fn renew(remote: &Arc<Remote>, generation: u64) -> bool {
    let (tell, done) = oneshot::channel();
    let renewer = Arc::clone(remote);
    // In a task of its own: a call that is called off meanwhile must not leave half a session behind.
    remote.spawn(async move {
        let _only = renewer.session.renewing.lock().await;
        if renewer.session.headers().1 != generation {
            let _ = tell.send(true);
            return;
        }
        let replaced = replace(&renewer, generation).await;
        let _ = tell.send(replaced.is_ok());
        if let Err(fault) = replaced {
            // Who was refused is told first: that did not run.
            tokio::time::sleep(TOLD).await;
            renewer.link.end(fault);
        }
    });
    done.await.unwrap_or(false)
}

async fn replace(remote: &Arc<Remote>, generation: u64) -> Result<(), Fault> {
    let expired = Trouble::new(Phrase::new("server.expired"), Phrase::new("server.fix_restart"));
    remote.link.waver(Some(expired));
    match tokio::time::timeout(remote.limit, begin_again(remote, generation)).await {
        Ok(Ok(true)) => {
            listen(remote);
            (remote.missed)();
            remote.link.waver(None);
            Ok(())
        }
        Ok(Err(failure)) if failure.wants_login() => Err(Fault::Login(remote.lost(&failure).trouble)),
        Ok(Err(failure)) => Err(Fault::Lost(remote.lost(&failure).trouble)),
        Ok(Ok(false)) | Err(_) => Err(Fault::Lost(remote.lost(&Failure::NoSession).trouble)),
    }
}

/// The handshake anew; `false` if its answer is none.
async fn begin_again(remote: &Arc<Remote>, generation: u64) -> Result<bool, Failure> {
    let session = &remote.session;
    let Some(JsonRpcMessage::Request(mut hello)) = session.hello.get().cloned() else { return Ok(false) };
    // The library counts its requests in numbers: a text is none of them.
    let id = RequestId::String(format!("again-{}", generation + 1).into());
    hello.id = id.clone();
    let hello = JsonRpcMessage::Request(hello);
    let mut own = Pending::default();
    own.sent(&hello);
    let body = serde_json::to_vec(&hello).unwrap_or_default();
    let reply = remote.courier.send(Verb::Post(body.into()), HeaderMap::new()).await?;
    let headers = Reply { status: reply.status, headers: reply.headers, body: Body::Empty };
    let version = match reply.body {
        Body::Json(body) => agreed(own.read_of(&body, Some(&id))),
        Body::Events(mut events) => loop {
            match events.next().await {
                Ok(Some(Event::Message { data, .. })) => {
                    let read = own.read_of(&data, Some(&id));
                    if !own.is_open(&id) {
                        break agreed(read);
                    }
                }
                _ => break None,
            }
        },
        Body::Empty => None,
    };
    let Some(version) = version else { return Ok(false) };
    session.begin(&headers);
    session.agree(&version);
    let done = ClientNotification::InitializedNotification(InitializedNotification::default());
    let body = serde_json::to_vec(&ClientJsonRpcMessage::notification(done)).unwrap_or_default();
    remote.courier.send(Verb::Post(body.into()), session.headers().0).await?;
    session.lock().generation += 1;
    Ok(true)
}

/// The revision in the answer to a handshake.
fn agreed(read: Vec<Incoming>) -> Option<String> {
    read.into_iter().find_map(|incoming| match incoming {
        Incoming::Message(message) => match *message {
            JsonRpcMessage::Response(response) => match response.result {
                ServerResult::InitializeResult(result) => Some(result.protocol_version.to_string()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    })
}
