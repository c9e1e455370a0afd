//! From an entry of the configuration to an open session: the carrier, the handshake, and the time each may take.
//!
//! Owns nothing that lasts: what it makes goes to `connection`, and what it made in vain it ends itself.
//!
//! The server is *starting* until its first message (a remote one: until it answers), for as long as `timeout.start`: a launcher may have to download it
//! first. From then on it is *initializing*, for `timeout.init`. A failure leaves it in *start failed* or *init failed* accordingly.

use super::World;
use super::calls::Calls;
use super::carrier::Carrier;
use super::connection::Msg;
use super::handler::Handler;
use super::launch::{self, Process, Program};
use super::log::Log;
use super::ordered::InOrder;
use super::reason::{self, Trouble};
use super::remote;
use super::session::Session;
use super::transport::{Fault, LineTransport, Link};
use crate::domain::Phrase;
use crate::domain::server::{ServerEntry, ServerState, Transport};
use crate::redact::Redactor;
use rmcp::model::{ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport as Speech;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// After the process ended: how long what it wrote may take to be read.
const READ_OUT: Duration = Duration::from_millis(300);
/// After its output ended: how long it may take to end itself, so that its exit status can be told.
const EXIT_SOON: Duration = Duration::from_millis(500);

/// What a start needs.
pub(super) struct Plan {
    pub(super) world: Arc<World>,
    pub(super) entry: Arc<ServerEntry>,
    pub(super) log: Arc<Log>,
    /// Told when the list of tools changed.
    pub(super) tools_changed: Arc<dyn Fn() + Send + Sync>,
    /// Gives the start up.
    pub(super) abort: CancellationToken,
}

/// A server that can be called.
pub(super) struct Live {
    pub(super) session: Arc<Session>,
    /// What carries the session.
    pub(super) carrier: Carrier,
    /// From the beginning of the start until now.
    pub(super) took: Duration,
}

impl Live {
    /// Calls off its calls, and ends the session and what carries it.
    pub(super) async fn end(self) {
        self.session.close().await;
        self.carrier.end().await;
    }
}

/// A server that could not be started.
pub(super) struct Failed {
    pub(super) state: ServerState,
    pub(super) trouble: Trouble,
    /// It may go away by itself.
    pub(super) passes: bool,
    /// What is left to be ended.
    pub(super) carrier: Option<Carrier>,
}

/// Waits for the carriers before to be gone, starts the server, says how it went, and ends what a failed start leaves.
pub(super) async fn bring_up(plan: Plan, before: Vec<JoinHandle<()>>, run: u64, me: mpsc::UnboundedSender<Msg>) {
    for task in before {
        let _ = task.await;
    }
    let abort = plan.abort.clone();
    if abort.is_cancelled() {
        return;
    }
    plan.log.begin();
    let started = start(plan, || drop(me.send(Msg::Initializing(run)))).await;
    match started {
        Ok(live) => drop(me.send(Msg::Started(run, Ok(live)))),
        Err(mut failed) => {
            let carrier = failed.carrier.take();
            let _ = me.send(Msg::Started(run, Err(failed)));
            if let Some(carrier) = carrier {
                carrier.end().await;
            }
        }
    }
}

/// Starts a server. `initializing` is called once, with its first message.
async fn start(plan: Plan, initializing: impl Fn()) -> Result<Live, Failed> {
    let began = Instant::now();
    let early = |trouble| Failed { state: ServerState::StartFailed, trouble, passes: false, carrier: None };
    let version = wanted(plan.entry.protocol.as_deref()).map_err(early)?;
    let link = Arc::new(Link::new(Arc::clone(&plan.log)));
    let redactor = plan.world.options.redactor.clone();
    match &plan.entry.transport {
        Ok(Transport::Stdio { command, args, env, cwd }) => {
            let program = Program { command, args, env, cwd: cwd.as_deref() };
            let (process, stdout, stdin) =
                launch::launch(&program, &plan.world.options.guard, Arc::clone(&plan.log))
                    .map_err(|error| early(reason::launch(&error, command, &plan.entry.source.file)))?;
            let ended = watch_end(process.clone(), Arc::clone(&link), redactor);
            let (name, tap) = (plan.entry.name.clone(), plan.world.options.tap.clone());
            let speech = LineTransport::new(name, stdout, stdin, Arc::clone(&link), tap);
            let opened = Opened { carrier: Carrier::Process(process), link, ended, version, began };
            introduce(&plan, opened, speech, &initializing).await
        }
        Ok(transport @ (Transport::Http { url, headers } | Transport::Sse { url, headers })) => {
            let sse = matches!(transport, Transport::Sse { .. });
            let kind = if sse { remote::Kind::Sse } else { remote::Kind::Streamable };
            let (remote, speech) = remote::open(&plan, kind, url, headers, &link).map_err(early)?;
            let ended = watch_link(Arc::clone(&link), redactor);
            let opened = Opened { carrier: Carrier::Remote(remote), link, ended, version, began };
            introduce(&plan, opened, speech, &initializing).await
        }
        Err(problem) => Err(early(problem.clone().into())),
    }
}

/// A carrier before the handshake.
struct Opened {
    carrier: Carrier,
    link: Arc<Link>,
    ended: watch::Receiver<Option<Trouble>>,
    version: Wanted,
    began: Instant,
}

/// The handshake over an open carrier.
async fn introduce<T: Speech<RoleClient> + 'static>(
    plan: &Plan,
    opened: Opened,
    speech: T,
    initializing: &impl Fn(),
) -> Result<Live, Failed> {
    let Opened { carrier, link, mut ended, version, began } = opened;
    let calls = Arc::new(Calls::default());
    let speech = InOrder::new(speech, Arc::clone(&calls));
    let handler = handler(plan, &version, &calls, &link);
    let shaken = shake_hands(plan, handler, speech, &link, &mut ended, initializing).await;
    let service = match shaken.and_then(|service| agreed(service, plan, &version)) {
        Ok(service) => service,
        Err(Broken { trouble, state, passes }) => {
            let trouble = trouble.masked(&plan.world.options.redactor);
            let reached = link.talking.is_cancelled();
            let usual = if reached { ServerState::InitFailed } else { ServerState::StartFailed };
            return Err(Failed { state: state.unwrap_or(usual), trouble, passes, carrier: Some(carrier) });
        }
    };
    let tools = service.peer_info().and_then(|info| info.capabilities.tools.clone());
    if tools.is_some_and(|tools| tools.list_changed == Some(true)) {
        carrier.settle().await;
    }
    let session = Arc::new(Session::new(service, calls, link, ended));
    Ok(Live { session, carrier, took: began.elapsed() })
}

/// Why there is no session.
struct Broken {
    trouble: Trouble,
    /// The state it leaves the server in, where that does not follow from how far it got.
    state: Option<ServerState>,
    /// It may go away by itself.
    passes: bool,
}

impl From<Trouble> for Broken {
    fn from(trouble: Trouble) -> Self {
        Self { trouble, state: None, passes: false }
    }
}

impl From<Phrase> for Broken {
    fn from(phrase: Phrase) -> Self {
        Trouble::from(phrase).into()
    }
}

/// The revision to offer, and whether it is the only one that will do.
struct Wanted {
    offered: ProtocolVersion,
    only: bool,
}

/// Revisions with an `initialize` handshake: what this kind of start speaks.
fn spoken() -> impl Iterator<Item = &'static ProtocolVersion> {
    ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize())
}

fn wanted(pin: Option<&str>) -> Result<Wanted, Trouble> {
    let pin = pin.filter(|pin| *pin != "auto");
    let Some(pin) = pin else {
        return Ok(Wanted { offered: ProtocolVersion::LATEST_WITH_INITIALIZE, only: false });
    };
    if let Some(version) = spoken().find(|version| version.as_str() == pin) {
        return Ok(Wanted { offered: version.clone(), only: true });
    }
    let known: Vec<&str> = spoken().map(ProtocolVersion::as_str).collect();
    Err(reason::pinned(pin, &known.join(", ")))
}

fn handler(plan: &Plan, version: &Wanted, calls: &Arc<Calls>, link: &Arc<Link>) -> Handler {
    let us = Implementation::new("mcpane", plan.world.options.version.clone());
    // Not sampling: nobody could answer it. Written as JSON because rmcp marks roots as deprecated.
    let capabilities = json!({ "roots": {}, "elicitation": { "form": {}, "url": {} } });
    let capabilities = serde_json::from_value(capabilities).unwrap_or_default();
    let changed = Arc::clone(&plan.tools_changed);
    Handler {
        server: plan.entry.name.clone(),
        world: Arc::clone(&plan.world),
        calls: Arc::clone(calls),
        link: Arc::clone(link),
        config: ClientConfig::new(capabilities, us).with_protocol_version(version.offered.clone()),
        elicit_ms: plan.entry.timeouts.elicit.saturating_mul(1_000),
        tools_changed: changed,
        asking: AtomicUsize::new(0),
    }
}

type Service = RunningService<RoleClient, Handler>;

/// The handshake, or what prevented it.
async fn shake_hands<T: Speech<RoleClient> + 'static>(
    plan: &Plan,
    handler: Handler,
    transport: T,
    link: &Link,
    ended: &mut watch::Receiver<Option<Trouble>>,
    initializing: &impl Fn(),
) -> Result<Service, Broken> {
    let mut handshake = pin!(serve_client_with_lifecycle(handler, transport, ClientLifecycleMode::Initialize));
    let limits = plan.entry.timeouts;
    let mut said_so = false;
    let mut limit = ("start", limits.start);
    let mut until = Instant::now() + Duration::from_secs(limits.start);
    loop {
        let shaken = tokio::select! {
            biased;
            shaken = &mut handshake => shaken,
            () = link.talking.cancelled(), if !said_so => {
                initializing();
                said_so = true;
                limit = ("init", limits.init);
                until = Instant::now() + Duration::from_secs(limits.init);
                continue;
            }
            () = plan.abort.cancelled() => return Err(Phrase::new("server.aborted").into()),
            trouble = end(ended) => return Err(over(trouble, link)),
            () = tokio::time::sleep_until(until) => {
                // It was not silence where it was tried again and again.
                if let Some(trouble) = link.wavering().borrow().clone() {
                    return Err(trouble.into());
                }
                let said = plan.log.tail(reason::quoted());
                return Err(reason::silent(&plan.entry.name, limit.0, limit.1, said).into());
            }
        };
        if link.talking.is_cancelled() && !said_so {
            initializing();
        }
        return match shaken {
            Ok(service) => Ok(service),
            Err(ClientInitializeError::JsonRpcError(error)) => Err(match link.take_any_lost() {
                Some(lost) => Broken { trouble: lost.trouble, state: lost.state, passes: lost.passes },
                None => reason::refused(&error).into(),
            }),
            Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }) => {
                let trouble = end(ended).await;
                Err(over(trouble, link))
            }
            Err(other) => Err(reason::garbled(other).into()),
        };
    }
}

/// The carrier ended under the handshake.
fn over(trouble: Trouble, link: &Link) -> Broken {
    let state = link.fault().map(Fault::state).filter(|state| *state == ServerState::NeedsAuth);
    Broken { trouble, state, passes: matches!(link.fault(), Some(Fault::Lost(_))) }
}

/// rmcp accepts any answer; a revision that nobody knows cannot be spoken.
fn agreed(service: Service, plan: &Plan, wanted: &Wanted) -> Result<Service, Broken> {
    let theirs = service.peer_info().map(|info| info.protocol_version.clone());
    let theirs = theirs.unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let fits = if wanted.only { theirs == wanted.offered } else { spoken().any(|version| *version == theirs) };
    if fits {
        return Ok(service);
    }
    tracing::info!(server = %plan.entry.name, %theirs, "unusable protocol revision");
    Err(reason::version(theirs.as_str(), wanted.offered.as_str()).into())
}

async fn end(ended: &mut watch::Receiver<Option<Trouble>>) -> Trouble {
    match ended.wait_for(Option::is_some).await {
        Ok(trouble) => trouble.clone(),
        Err(_) => None,
    }
    .unwrap_or_else(|| Phrase::new("server.closed").into())
}

/// Watches a process and its output; says why it is over as soon as that is known.
fn watch_end(process: Process, link: Arc<Link>, redactor: Redactor) -> watch::Receiver<Option<Trouble>> {
    let (tell, ended) = watch::channel(None);
    tokio::spawn(async move {
        let exit = tokio::select! {
            biased;
            () = link.ended.cancelled() => tokio::time::timeout(EXIT_SOON, process.exited()).await.ok().flatten(),
            exit = process.exited() => {
                // What it wrote before it ended still counts.
                let _ = tokio::time::timeout(READ_OUT, link.ended.cancelled()).await;
                exit
            }
        };
        if exit.is_some() {
            let _ = tokio::time::timeout(READ_OUT, process.last_words()).await;
        }
        let trouble = reason::ended(exit, link.fault(), link.log.tail(reason::quoted()));
        let _ = tell.send(Some(trouble.masked(&redactor)));
        link.ended.cancel();
    });
    ended
}

/// Says why a remote session is over as soon as that is known.
fn watch_link(link: Arc<Link>, redactor: Redactor) -> watch::Receiver<Option<Trouble>> {
    let (tell, ended) = watch::channel(None);
    tokio::spawn(async move {
        link.ended.cancelled().await;
        let trouble = match link.fault() {
            None => Phrase::new("server.disconnected").into(),
            fault => reason::ended(None, fault, None),
        };
        let _ = tell.send(Some(trouble.masked(&redactor)));
    });
    ended
}
