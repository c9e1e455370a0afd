//! One server: its states, and everybody who waits for it.
//!
//! Owns: the status that the rest of the program sees, the session and its process while there is one, and the list of tools. An actor: one message
//! after another, none of which waits for anything slow.
//!
//! **Invariant:** at most one start at a time; whoever needs the server meanwhile waits for that one.
//! **Invariant:** a new process is started only when the one before is gone.
//! **Invariant:** a lost connection is made again a bounded number of times; a process that ended is started again only when it is needed.
//! **Invariant:** messages of an earlier run (its end, its list) change nothing in a later one.

use super::World;
use super::backoff::Tries;
use super::calls::{self, CallRequest, Source};
use super::convert;
use super::entry;
use super::log::Log;
use super::reads::{self, ReadRequest};
use super::reason::Trouble;
use super::session::{Listing, RequestError, Session};
use super::shelf::Shelf;
use super::start::{self, Failed, Live, Plan};
use super::transport::Fault;
use super::watch;
use crate::domain::server::{ServerAction, ServerEntry, ServerSignal, ServerState, ServerStatus};
use crate::domain::{Phrase, ToolOutcome, ToolSignal};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Most calls of one server at once, waiting ones included.
const CALLS: usize = 256;
/// How often a lost connection is made again in a row.
const AGAIN: u32 = 6;
/// A connection that lived this long was a good one.
const LIVED: Duration = Duration::from_secs(30);
/// Longest instructions of a server, bytes.
const INSTRUCTIONS: usize = 64 * 1024;

/// What a connection is told.
pub(super) enum Msg {
    /// Its entry, again or changed.
    Configure(Box<ServerEntry>),
    /// What the user wants done.
    Act(ServerAction),
    /// A call.
    Call(Box<CallRequest>),
    /// A resource to be read.
    Read(Box<ReadRequest>),
    /// End everything; the connection is over when the sender is dropped.
    Close,
    /// The start of this run got its first message.
    Initializing(u64),
    /// The start of this run is over.
    Started(u64, Result<Live, Failed>),
    /// This run's list is there.
    Listed(u64, Result<Listing, RequestError>),
    /// This run's list is another one.
    ToolsChanged(u64),
    /// This run's connection is being made again, for this reason; or it is there again.
    Wavers(u64, Option<Trouble>),
    /// This run is over.
    Ended(u64, Trouble),
    /// The pause after this run is over.
    Again(u64),
    /// A call has its outcome.
    CallDone,
    /// The count of noise is another one.
    Noise,
}

/// Who waits for the session, and is told why there is none.
type Waiting = oneshot::Sender<Result<Arc<Session>, String>>;

enum Phase {
    Down,
    Starting { abort: CancellationToken, task: JoinHandle<()> },
    Up(Live),
}

/// The actor.
pub(super) struct Connection {
    world: Arc<World>,
    me: mpsc::UnboundedSender<Msg>,
    entry: Arc<ServerEntry>,
    status: ServerStatus,
    log: Arc<Log>,
    phase: Phase,
    /// Number of the current start; those of earlier ones are history.
    run: u64,
    waiting: Vec<Waiting>,
    /// How often a lost connection may still be made again.
    again: Tries,
    /// Since when the last one was there.
    since: Instant,
    shelf: Shelf,
    /// Processes of earlier runs that are being ended.
    ending: Vec<JoinHandle<()>>,
}

impl Connection {
    /// A connection for an entry. Nothing is started before [`Self::run`].
    pub(super) fn new(world: Arc<World>, entry: ServerEntry, me: mpsc::UnboundedSender<Msg>) -> Self {
        Self {
            shelf: Shelf::new(Arc::clone(&world)),
            log: Arc::new(Log::new(world.options.redactor.clone())),
            status: entry::status(&entry, &world.options.redactor),
            world,
            me,
            entry: Arc::new(entry),
            phase: Phase::Down,
            run: 0,
            waiting: Vec::new(),
            again: Tries::new(AGAIN),
            since: Instant::now(),
            ending: Vec::new(),
        }
    }

    /// Lives until it is told to close.
    pub(super) async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Msg>) {
        let publisher = tokio::spawn(watch::log(
            Arc::clone(&self.world),
            Arc::clone(&self.log),
            self.me.clone(),
            self.entry.name.clone(),
        ));
        self.open();
        while let Some(message) = inbox.recv().await {
            if matches!(message, Msg::Close) {
                break;
            }
            self.handle(message);
        }
        self.close(&mut inbox).await;
        publisher.abort();
    }

    fn handle(&mut self, message: Msg) {
        match message {
            Msg::Configure(entry) => self.configure(*entry),
            Msg::Act(action) => self.act(action),
            Msg::Call(request) => self.call(*request),
            Msg::Read(request) => self.read(*request),
            Msg::Started(run, Ok(live)) if run != self.run => self.discard(live),
            Msg::Initializing(run)
            | Msg::Started(run, _)
            | Msg::Listed(run, _)
            | Msg::ToolsChanged(run)
            | Msg::Wavers(run, _)
            | Msg::Again(run)
                if run != self.run => {}
            Msg::Initializing(_) => self.set(ServerState::Initializing, None),
            Msg::Started(_, Ok(live)) => self.up(live),
            Msg::Started(_, Err(failed)) => self.failed(failed),
            Msg::Listed(_, listed) => self.listed(listed),
            Msg::ToolsChanged(_) => self.list_tools(),
            Msg::Wavers(_, Some(trouble)) => self.set(ServerState::Reconnecting, Some(trouble)),
            Msg::Wavers(_, None) => self.set(ServerState::Ready, None),
            Msg::Ended(run, trouble) => self.ended(run, trouble),
            Msg::Again(_) => self.begin(),
            Msg::CallDone => {
                self.status.calls = self.status.calls.saturating_sub(1);
                self.announce();
            }
            Msg::Noise => {
                self.status.noise = self.log.noise_count();
                self.announce();
            }
            Msg::Close => {}
        }
    }

    // --- configuration and what the user wants

    /// Takes a new entry's state, remembered tools, and starts it if that is due.
    fn open(&mut self) {
        let (state, trouble) = entry::resting(&self.entry);
        if state == ServerState::Idle {
            self.remember();
        }
        self.set(state, trouble);
        if state == ServerState::Idle && (!self.entry.lazy || self.shelf.is_empty()) {
            self.begin();
        }
    }

    /// What is known from an earlier start of exactly this entry.
    fn remember(&mut self) {
        let Some((known, tools)) = self.shelf.load(&self.entry) else { return };
        self.status.cached = true;
        self.status.identity = known.identity;
        self.status.protocol = known.protocol;
        self.status.instructions = known.instructions;
        self.status.resources = known.resources;
        self.status.tools = Some(tools);
    }

    fn configure(&mut self, entry: ServerEntry) {
        let old = std::mem::replace(&mut self.entry, Arc::new(entry));
        if entry::starts_alike(&old, &self.entry) {
            self.status.source = self.entry.source.clone();
            if (&old.allow_tools, &old.deny_tools) != (&self.entry.allow_tools, &self.entry.deny_tools) {
                self.status.tools = self.shelf.publish(&self.entry);
            }
            self.announce();
            if !self.entry.lazy && matches!(self.phase, Phase::Down) && self.status.state == ServerState::Idle {
                self.begin();
            }
            return;
        }
        let ran = !matches!(self.phase, Phase::Down);
        self.down();
        self.status = entry::status(&self.entry, &self.world.options.redactor);
        self.shelf.clear(&self.entry.name);
        self.open();
        if self.status.state == ServerState::Idle && (ran || !self.waiting.is_empty()) {
            self.begin();
        }
        if matches!(self.phase, Phase::Down) {
            self.turn_away();
        }
    }

    fn act(&mut self, action: ServerAction) {
        if !entry::startable(&self.entry) {
            return;
        }
        match action {
            ServerAction::Start => self.begin(),
            ServerAction::Stop => {
                self.down();
                self.turn_away();
                self.set(ServerState::Stopped, None);
            }
            ServerAction::Restart => {
                self.down();
                self.begin();
            }
        }
    }

    // --- a run, from its start to its end

    /// Starts the server unless it runs or is being started.
    fn begin(&mut self) {
        if !matches!(self.phase, Phase::Down) || !entry::startable(&self.entry) {
            return;
        }
        self.run += 1;
        let run = self.run;
        self.shelf.end_reading();
        let abort = CancellationToken::new();
        let changed = self.me.clone();
        let plan = Plan {
            world: Arc::clone(&self.world),
            entry: Arc::clone(&self.entry),
            log: Arc::clone(&self.log),
            tools_changed: Arc::new(move || drop(changed.send(Msg::ToolsChanged(run)))),
            abort: abort.clone(),
        };
        let before = std::mem::take(&mut self.ending);
        let task = tokio::spawn(start::bring_up(plan, before, run, self.me.clone()));
        self.phase = Phase::Starting { abort, task };
        self.status.start_millis = None;
        self.status.noise = 0;
        self.set(ServerState::Starting, None);
    }

    fn up(&mut self, live: Live) {
        self.status.pid = live.carrier.pid();
        live.carrier.spoken().clone_into(&mut self.status.transport);
        self.since = Instant::now();
        self.status.start_millis = Some(u64::try_from(live.took.as_millis()).unwrap_or(u64::MAX));
        if let Some(info) = live.session.info() {
            self.status.protocol = Some(info.protocol_version.to_string());
            self.status.instructions = info.instructions.as_deref().map(|text| convert::clip(text, INSTRUCTIONS));
            self.status.resources = info.capabilities.resources.is_some();
            self.status.identity = info.server_info.as_ref().and_then(|us| entry::identity(&us.name, &us.version));
        }
        tokio::spawn(watch::session(Arc::clone(&live.session), self.run, self.me.clone()));
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(Ok(Arc::clone(&live.session)));
        }
        self.phase = Phase::Up(live);
        self.set(ServerState::Ready, None);
        self.list_tools();
    }

    fn failed(&mut self, failed: Failed) {
        // Its task goes on to end what is left of the process.
        if let Phase::Starting { task, .. } = std::mem::replace(&mut self.phase, Phase::Down) {
            self.ending.push(task);
        }
        self.refuse_waiting(&failed.trouble);
        // Only what has been there is waited for.
        if !(failed.passes && self.again.begun() && self.come_back(&failed.trouble)) {
            self.set(failed.state, Some(failed.trouble));
        }
    }

    /// The server went away by itself.
    fn ended(&mut self, run: u64, trouble: Trouble) {
        if run != self.run || !matches!(self.phase, Phase::Up(_)) {
            return;
        }
        let Phase::Up(live) = std::mem::replace(&mut self.phase, Phase::Down) else { return };
        let fault = live.session.link.fault().cloned();
        self.discard(live);
        self.status.pid = None;
        if self.since.elapsed() > LIVED {
            self.again.reset();
        }
        if !(matches!(fault, Some(Fault::Lost(_))) && self.come_back(&trouble)) {
            self.set(fault.map_or(ServerState::Disconnected, |fault| fault.state()), Some(trouble));
        }
    }

    /// Makes the connection again after a pause; `false` if that was done often enough.
    fn come_back(&mut self, trouble: &Trouble) -> bool {
        let Some(pause) = self.again.next(None) else {
            self.again.reset();
            return false;
        };
        let (me, run) = (self.me.clone(), self.run);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let _ = me.send(Msg::Again(run));
        });
        self.set(ServerState::Reconnecting, Some(trouble.clone()));
        true
    }

    /// Ends the current run, whatever it has come to, and calls off its calls. Who waits for the next one goes on waiting.
    fn down(&mut self) {
        self.run += 1;
        self.status.pid = None;
        match std::mem::replace(&mut self.phase, Phase::Down) {
            Phase::Down => {}
            Phase::Starting { abort, task } => {
                abort.cancel();
                self.ending.push(task);
            }
            Phase::Up(live) => self.discard(live),
        }
    }

    /// Ends a session and what carries it.
    fn discard(&mut self, live: Live) {
        self.ending.push(tokio::spawn(live.end()));
    }

    fn refuse_waiting(&mut self, trouble: &Trouble) {
        for waiting in self.waiting.drain(..) {
            let _ = waiting.send(Err(trouble.text()));
        }
    }

    /// Nobody is served any more.
    fn turn_away(&mut self) {
        self.refuse_waiting(&Phrase::new("server.aborted").into());
    }

    /// Ends everything and waits for it.
    async fn close(&mut self, inbox: &mut mpsc::UnboundedReceiver<Msg>) {
        self.down();
        self.turn_away();
        for task in self.ending.drain(..) {
            let _ = task.await;
        }
        // A start that was too late to be aborted.
        while let Ok(message) = inbox.try_recv() {
            if let Msg::Started(_, Ok(live)) = message {
                live.end().await;
            }
        }
    }

    // --- calls

    fn call(&mut self, request: CallRequest) {
        let refusal = match () {
            () if self.status.calls >= CALLS => {
                Some(format!("Server {} has {CALLS} calls waiting already.", self.entry.name))
            }
            () if !convert::permitted(&request.tool.name, &self.entry.allow_tools, &self.entry.deny_tools) => Some(
                format!("The configuration of server {} excludes the tool {}.", self.entry.name, request.tool.name),
            ),
            () => None,
        };
        if let Some(refusal) = refusal {
            let _ = request.reply.send(ToolOutcome::failed(refusal));
            return;
        }
        let limits = entry::limits(&self.entry, &request.tool.name);
        let source = match self.session() {
            Ok(source) => source,
            Err(why) => {
                let _ = request.reply.send(ToolOutcome::failed(why));
                return;
            }
        };
        if matches!(source, Source::Awaited(_)) {
            (request.run.signals)(ToolSignal::WaitingForServer { server: self.entry.name.clone() });
        }
        self.status.calls += 1;
        self.announce();
        let me = self.me.clone();
        tokio::spawn(async move {
            calls::perform(request, source, limits).await;
            let _ = me.send(Msg::CallDone);
        });
    }

    fn read(&mut self, request: ReadRequest) {
        let source = match self.session() {
            Ok(source) => source,
            Err(why) => {
                let _ = request.reply.send(Err(why));
                return;
            }
        };
        let limit = entry::seconds(self.entry.timeouts.call);
        tokio::spawn(reads::perform(request, source, limit));
    }

    /// The session, or the promise of one: a server that does not run is started. The error says why there will be none.
    fn session(&mut self) -> Result<Source, String> {
        if let Phase::Up(live) = &self.phase {
            return Ok(Source::Open(Arc::clone(&live.session)));
        }
        if self.status.state == ServerState::Stopped {
            return Err(format!("Server {} was stopped by the user.", self.entry.name));
        }
        if !entry::startable(&self.entry) {
            let (_, trouble) = entry::resting(&self.entry);
            let why = trouble.map_or_else(|| "it is switched off or not trusted".to_owned(), |trouble| trouble.text());
            return Err(format!("Server {} cannot be used: {why}", self.entry.name));
        }
        self.begin();
        let (tell, awaited) = oneshot::channel();
        self.waiting.push(tell);
        Ok(Source::Awaited(awaited))
    }

    /// Reads the list of tools; while it is being read, notes that it has to be read again.
    fn list_tools(&mut self) {
        let Phase::Up(live) = &self.phase else { return };
        let Some(at) = self.shelf.begin_reading() else { return };
        let limit = entry::seconds(self.entry.timeouts.list);
        tokio::spawn(watch::list(Arc::clone(&live.session), at, limit, self.run, self.me.clone()));
    }

    fn listed(&mut self, listed: Result<Listing, RequestError>) {
        if self.shelf.end_reading() {
            self.list_tools();
        }
        match listed {
            Ok(listing) => {
                self.status.cached = false;
                self.status.tools = Some(self.shelf.put(&self.entry, listing, &self.status));
                if self.status.state == ServerState::Ready {
                    (self.status.reason, self.status.fix) = (None, None);
                }
            }
            // The end of the connection is told by itself.
            Err(RequestError::Ended(_)) => return,
            Err(error) => {
                self.status.reason = Some(Phrase::new("server.list_failed").with("error", error.text()));
                self.status.fix = Some(Phrase::new("server.fix_restart"));
            }
        }
        self.announce();
    }

    // --- status

    fn set(&mut self, state: ServerState, trouble: Option<Trouble>) {
        self.status.state = state;
        (self.status.reason, self.status.fix) = trouble.map_or((None, None), |it| (Some(it.reason), it.fix));
        self.announce();
    }

    fn announce(&self) {
        self.world.emit(ServerSignal::Status(Box::new(self.status.clone())));
    }
}
