//! From an entry of the configuration to an open session: the process, the handshake, and the time each may take.
//!
//! Owns nothing that lasts: what it makes goes to `connection`, and what it made in vain it ends itself.
//!
//! The server is *starting* until its first message, for as long as `timeout.start`: a launcher may have to download it first. From then on it is
//! *initializing*, for `timeout.init`. A failure leaves it in *start failed* or *init failed* accordingly.

use super::World;
use super::calls::Calls;
use super::handler::Handler;
use super::launch::{self, Process, Program};
use super::log::Log;
use super::ordered::InOrder;
use super::reason::{self, Trouble};
use super::session::Session;
use super::transport::{LineTransport, Link};
use crate::domain::server::{ServerEntry, ServerState, Transport};
use crate::domain::{Phrase, ServerName};
use crate::redact::Redactor;
use rmcp::model::{ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::Transport as Carrier;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::sync::watch;
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
    pub(super) process: Process,
    /// From the beginning of the start until now.
    pub(super) took: Duration,
}

/// A server that could not be started.
pub(super) struct Failed {
    pub(super) state: ServerState,
    pub(super) trouble: Trouble,
    /// What is left to be ended.
    pub(super) process: Option<Process>,
}

/// Starts a server. `initializing` is called once, with its first message.
pub(super) async fn start(plan: Plan, initializing: impl Fn()) -> Result<Live, Failed> {
    let began = Instant::now();
    let early = |trouble| Failed { state: ServerState::StartFailed, trouble, process: None };
    let version = wanted(plan.entry.protocol.as_deref()).map_err(early)?;
    let (command, args, env, cwd) = match &plan.entry.transport {
        Ok(Transport::Stdio { command, args, env, cwd }) => (command, args, env, cwd.as_deref()),
        Ok(Transport::Http { .. } | Transport::Sse { .. }) => return Err(early(not_built(&plan.entry.name))),
        Err(problem) => return Err(early(problem.clone().into())),
    };
    let program = Program { command, args, env, cwd };
    let (process, stdout, stdin) = launch::launch(&program, &plan.world.options.guard, Arc::clone(&plan.log))
        .map_err(|error| early(reason::launch(&error, command, &plan.entry.source.file)))?;
    let link = Arc::new(Link::new(Arc::clone(&plan.log)));
    let mut ended = watch_end(process.clone(), Arc::clone(&link), plan.world.options.redactor.clone());
    let calls = Arc::new(Calls::default());
    let name = plan.entry.name.clone();
    let transport = LineTransport::new(name, stdout, stdin, Arc::clone(&link), plan.world.options.tap.clone());
    let transport = InOrder::new(transport, Arc::clone(&calls));
    let handler = handler(&plan, &version, &calls, &link);
    let shaken = shake_hands(&plan, handler, transport, &link, &mut ended, &initializing).await;
    let service = match shaken.and_then(|service| agreed(service, &plan, &version)) {
        Ok(service) => service,
        Err(trouble) => {
            let trouble = trouble.masked(&plan.world.options.redactor);
            let state = if link.talking.is_cancelled() { ServerState::InitFailed } else { ServerState::StartFailed };
            return Err(Failed { state, trouble, process: Some(process) });
        }
    };
    let session = Arc::new(Session::new(service, calls, link, ended));
    Ok(Live { session, process, took: began.elapsed() })
}

fn not_built(server: &ServerName) -> Trouble {
    Phrase::new("server.no_transport").with("server", server).into()
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
async fn shake_hands<T: Carrier<RoleClient> + 'static>(
    plan: &Plan,
    handler: Handler,
    transport: T,
    link: &Link,
    ended: &mut watch::Receiver<Option<Trouble>>,
    initializing: &impl Fn(),
) -> Result<Service, Trouble> {
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
            trouble = end(ended) => return Err(trouble),
            () = tokio::time::sleep_until(until) => {
                return Err(reason::silent(&plan.entry.name, limit.0, limit.1, plan.log.tail(reason::quoted())));
            }
        };
        if link.talking.is_cancelled() && !said_so {
            initializing();
        }
        return match shaken {
            Ok(service) => Ok(service),
            Err(ClientInitializeError::JsonRpcError(error)) => Err(reason::refused(&error)),
            Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }) => {
                Err(end(ended).await)
            }
            Err(other) => Err(reason::garbled(other)),
        };
    }
}

/// rmcp accepts any answer; a revision that nobody knows cannot be spoken.
fn agreed(service: Service, plan: &Plan, wanted: &Wanted) -> Result<Service, Trouble> {
    let theirs = service.peer_info().map(|info| info.protocol_version.clone());
    let theirs = theirs.unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE);
    let fits = if wanted.only { theirs == wanted.offered } else { spoken().any(|version| *version == theirs) };
    if fits {
        return Ok(service);
    }
    tracing::info!(server = %plan.entry.name, %theirs, "unusable protocol revision");
    Err(reason::version(theirs.as_str(), wanted.offered.as_str()))
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
