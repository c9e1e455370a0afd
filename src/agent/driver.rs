//! The driver: performs the machine's effects and turns every completion back into an input.
//!
//! Owns everything that is not pure: the open request, running calls, timers, the journal, the handles to MCP, tools and policy. One task; it awaits
//! one message at a time. **Invariants:** what is announced as finished is in the journal already; no event is lost, however slow its reader is;
//! while events pile up, no more of the reply is read.

use super::checking;
use super::machine::{AskReply, Effect, Entry, Input, Limits, Machine, StreamId};
use super::offers::Offers;
use super::outlet::Outlet;
use super::requests::Requests;
use super::runner::{Look, Runner};
use super::servers::Servers;
use super::session::Session;
use super::speaking::{Speaking, no_model};
use super::stream::Batch;
use super::surroundings;
use super::timers::Timers;
use super::{Changes, Kit, Settings};
use crate::contract::{ClockOp, Event, Op, SessionEvent, SessionOp, TurnEvent};
use crate::dialect::{Environment, environment};
use crate::domain::model::ModelEvent;
use crate::domain::policy::Grant;
use crate::domain::prompt::Scope;
use crate::domain::server::ServerSignal;
use crate::domain::{CallId, Conversation, Notice, Phrase, StepId, ToolOutcome, ToolSignal, TurnId, Usage};
use crate::mcp::{AskAnswer, Mcp};
use crate::policy::Policy;
use crate::tools::Inspection;
use crate::tools::toolbox::{Offer, Toolbox};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Events that may wait before no more of the reply is read.
const FULL: usize = 2048;
/// Completions taken in one go before events are sent on.
const DRAIN: usize = 256;
/// How long ending may take before calls are given up.
const ENDING: Duration = Duration::from_secs(4);

/// A completion.
pub(super) enum Wake {
    /// For the machine as it is.
    Input(Input),
    /// A tool has looked at a call.
    Inspected(Box<(Look, Inspection)>),
    /// News from the MCP side.
    Server(ServerSignal),
    /// Something that the user should read.
    Notice(Notice),
}

/// The channels of a driver.
pub(super) struct Lines {
    pub ops: mpsc::Receiver<Op>,
    pub events: mpsc::Sender<Event>,
    pub wakes: (mpsc::UnboundedSender<Wake>, mpsc::UnboundedReceiver<Wake>),
    pub batches: (mpsc::Sender<Batch>, mpsc::Receiver<Batch>),
}

/// See the module.
pub(super) struct Driver {
    machine: Machine,
    limits: Limits,
    ops: mpsc::Receiver<Op>,
    wakes: (mpsc::UnboundedSender<Wake>, mpsc::UnboundedReceiver<Wake>),
    batches: mpsc::Receiver<Batch>,
    outlet: Outlet,
    timers: Timers,
    speaking: Speaking,
    offers: Offers,
    mcp: Mcp,
    servers: Servers,
    policy: Arc<Policy>,
    settings: Box<dyn Settings>,
    session: Session,
    cwd: PathBuf,
    requests: Requests,
    runner: Runner,
    step: Option<StepId>,
    total: Usage,
    ending: Option<Instant>,
}

impl Driver {
    pub fn new(kit: Kit, lines: Lines, mcp: Mcp, toolbox: Toolbox) -> (Self, Conversation, String) {
        let Kit { speaking, policy, settings, sessions, cwd, resumed, limits, seed, .. } = kit;
        let (journal, conversation, draft) = match resumed {
            Some(resumed) => (Some(resumed.journal), resumed.conversation, resumed.draft),
            None => (None, Conversation::default(), String::new()),
        };
        let requests = Requests::new(lines.batches.0.clone());
        let runner = Runner::new(lines.wakes.0.clone());
        let driver = Self {
            machine: Machine::new(conversation.clone(), limits, seed),
            limits,
            ops: lines.ops,
            wakes: lines.wakes,
            batches: lines.batches.1,
            outlet: Outlet::new(lines.events),
            timers: Timers::default(),
            speaking,
            offers: Offers::new(toolbox),
            mcp,
            servers: Servers::default(),
            policy,
            settings,
            session: Session::new(sessions, cwd.to_string_lossy().into_owned(), journal),
            cwd,
            requests,
            runner,
            step: None,
            total: Usage::default(),
            ending: None,
        };
        (driver, conversation, draft)
    }

    /// Runs until it is told to end, or nobody listens any more.
    pub async fn run(mut self, conversation: Conversation, draft: String) {
        self.begin(conversation, draft);
        loop {
            self.settle();
            if self.is_over() {
                break;
            }
            self.wait().await;
        }
        self.requests.close();
        self.mcp.shutdown().await;
        self.outlet.push(SessionEvent::Closed.into());
        self.outlet.drain().await;
    }

    fn begin(&mut self, conversation: Conversation, draft: String) {
        self.offers.set_name_rule(self.speaking.name_rule());
        self.open_session(conversation, draft);
        self.outlet.push(SessionEvent::Model { model: self.speaking.info() }.into());
        let changes = self.settings.servers();
        self.take_changes(changes);
    }

    /// What follows from anything that happened: the list of tools, a held request, events on their way.
    fn settle(&mut self) {
        if let Some(tools) = self.offers.news(&self.policy) {
            self.outlet.push(tools);
        }
        if let Some(stream) = self.requests.due(|| self.servers.unsettled()) {
            self.send_request(stream);
        }
        self.outlet.flush();
    }

    fn is_over(&mut self) -> bool {
        if self.outlet.is_closed() && self.ending.is_none() {
            self.shut_down();
        }
        self.ending.is_some_and(|until| self.machine.is_idle() || until <= Instant::now())
    }

    /// Awaits one message, then takes what is there without waiting.
    async fn wait(&mut self) {
        let deadline = self.ending.into_iter().chain(self.requests.held_until()).min();
        let reading = self.outlet.waiting() < FULL;
        tokio::select! {
            biased;
            op = self.ops.recv() => match op {
                Some(op) => self.op(op),
                None => self.shut_down(),
            },
            Some(wake) = self.wakes.1.recv() => self.wake(wake),
            timer = self.timers.next() => self.input(Input::Timer(timer)),
            Some(batch) = self.batches.recv(), if reading => self.batch(batch),
            open = self.outlet.room(), if self.outlet.waiting() > 0 => if !open { self.shut_down() },
            () = sleep_until(deadline) => {}
        }
        for _ in 0..DRAIN {
            if let Ok(wake) = self.wakes.1.try_recv() {
                self.wake(wake);
            } else if self.outlet.waiting() < FULL
                && let Ok(batch) = self.batches.try_recv()
            {
                self.batch(batch);
            } else {
                break;
            }
        }
    }

    fn shut_down(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(Instant::now() + ENDING);
            self.timers.go();
            self.input(Input::Op(Op::Shutdown));
        }
    }

    // --- what comes in

    fn op(&mut self, op: Op) {
        if self.ending.is_some() {
            return;
        }
        match op {
            Op::Server { server, action } => self.mcp.act(&server, action),
            Op::Reload => {
                let changes = self.settings.reload();
                self.take_changes(changes);
            }
            Op::UseModel { model } => self.use_model(&model),
            Op::UseDialect { dialect } => {
                self.speaking.manner.dialect = dialect;
                self.outlet.push(SessionEvent::Model { model: self.speaking.info() }.into());
            }
            Op::Revoke { tool } => {
                let notice = self.policy.revoke(&tool).err();
                self.notify(notice);
                self.offers.grants_changed();
            }
            Op::Session(SessionOp::New) => self.new_session(),
            Op::Session(SessionOp::Draft { text }) => self.session.keep_draft(&text),
            Op::Clock(ClockOp::Hold) => {
                self.timers.hold();
                self.outlet.push(SessionEvent::Held.into());
            }
            Op::Clock(ClockOp::Go) => self.timers.go(),
            Op::Playback(_) => {}
            Op::Shutdown => self.shut_down(),
            Op::Submit { .. } if self.speaking.model().is_none() => {
                self.outlet.push(Notice::error(Phrase::new("agent.no_model")).into());
                self.input(Input::Op(op));
            }
            op => self.input(Input::Op(op)),
        }
    }

    fn wake(&mut self, wake: Wake) {
        match wake {
            Wake::Input(input) => {
                if let Input::Tool { call, signal: ToolSignal::Finished(_) | ToolSignal::Stale } = &input {
                    self.runner.ended(*call);
                }
                self.input(input);
            }
            Wake::Inspected(seen) => {
                let (Look { call, round, spec, arguments, origin }, inspection) = *seen;
                let found = checking::judge(&self.policy, &self.servers, spec, &arguments, origin, inspection);
                self.input(Input::Checked { call, round, found });
            }
            Wake::Server(signal) => self.server(signal),
            Wake::Notice(notice) => self.outlet.push(notice.into()),
        }
    }

    fn batch(&mut self, batch: Batch) {
        let stream = batch.stream;
        let over = |event: &ModelEvent| matches!(event, ModelEvent::Finished { .. } | ModelEvent::Failed { .. });
        if batch.events.iter().any(over) {
            self.notify(self.speaking.notices());
        }
        for event in batch.events {
            let input = match event {
                ModelEvent::Call(mut call) => {
                    let tool = checking::resolve(&self.offers.toolbox, &mut call);
                    Input::Proposed { stream, call, tool }
                }
                ModelEvent::Opaque { value } => {
                    Input::Model { stream, event: ModelEvent::Opaque { value: self.speaking.sign(value) } }
                }
                event => Input::Model { stream, event },
            };
            self.input(input);
        }
    }

    fn server(&mut self, signal: ServerSignal) {
        match signal.clone() {
            ServerSignal::Status(status) => {
                self.servers.status(*status);
                self.offers.set_resources(if self.servers.any_resources() { Offer::Shown } else { Offer::Hidden });
            }
            ServerSignal::Removed { server } => self.servers.removed(&server),
            ServerSignal::Asks { ask, server, call, what, expires_ms } => {
                let kind = self.servers.ask(ask, server, what);
                let expires = Duration::from_millis(expires_ms);
                return self.input(Input::Asked { ask, call, kind, expires });
            }
            ServerSignal::AskWithdrawn { ask } => {
                self.servers.forget(ask);
                return self.input(Input::AskWithdrawn { ask });
            }
            ServerSignal::Tools { .. } | ServerSignal::Stderr { .. } => {}
        }
        let (problems, changed) = self.offers.hear(&signal);
        self.notify(problems.into_iter().map(Notice::warning));
        self.outlet.push(signal.into());
        if let Some(server) = changed {
            self.input(Input::ToolsChanged { server });
        }
    }

    // --- what goes out

    fn input(&mut self, input: Input) {
        let effects = self.machine.handle(input);
        let entries: Vec<Entry> = effects
            .iter()
            .filter_map(|effect| if let Effect::Record(entry) = effect { Some(entry.clone()) } else { None })
            .collect();
        let notice = self.session.record(&entries);
        self.notify(notice);
        for effect in effects {
            self.perform(effect);
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Record(_) => {}
            Effect::Emit(event) => self.emit(event),
            Effect::Prepare { turn } => self.prepare(turn),
            Effect::OpenStream { stream } => self.open_stream(stream),
            Effect::CloseStream => self.requests.close(),
            Effect::Check { call, round } => self.check(call, round),
            Effect::Run { call } => self.run_call(call),
            Effect::Cancel { call } => self.runner.cancel(call),
            Effect::Verify { prompt, ask, values } => {
                let problems = self.servers.verify(ask, &values);
                self.input(Input::Verified { prompt, problems });
            }
            Effect::Reply { ask, reply } => {
                self.servers.forget(ask);
                let answer = match reply {
                    AskReply::Accept(values) => AskAnswer::Accept(values),
                    AskReply::Visited => AskAnswer::Visited,
                    AskReply::Decline => AskAnswer::Decline,
                    AskReply::Cancel => AskAnswer::Cancel,
                };
                self.mcp.answer(ask, answer);
            }
            Effect::Remember { grant, scope } => self.remember(grant, scope),
            Effect::Trust { file, yes } => {
                let changes = self.settings.trust(&file, yes);
                self.take_changes(changes);
            }
            Effect::Arm { timer, after } => self.timers.arm(timer, after),
            Effect::Disarm { timer } => self.timers.disarm(timer),
        }
    }

    fn emit(&mut self, event: Event) {
        match &event {
            Event::Turn(TurnEvent::StepStarted { step, .. }) => self.step = Some(*step),
            Event::Turn(TurnEvent::StepEnded { usage, .. }) if *usage != Usage::default() => {
                self.total.add(*usage);
                let context = SessionEvent::Context { tokens: usage.input + usage.output, total: self.total };
                self.outlet.push(event);
                return self.outlet.push(context.into());
            }
            _ => {}
        }
        self.outlet.push(event);
    }

    // --- requests

    fn prepare(&mut self, turn: TurnId) {
        let (read, written) = surroundings::touched(self.machine.conversation());
        let cwd = self.cwd.clone();
        let system = self.speaking.manner.system.clone();
        let wakes = self.wakes.0.clone();
        tokio::task::spawn_blocking(move || {
            let (files, more) = surroundings::files(&cwd);
            let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z, %A").to_string();
            let text = environment(&Environment {
                cwd: &cwd.to_string_lossy(),
                files: &files,
                more,
                read: &read,
                written: &written,
                time: &time,
                system: &system,
            });
            let _ = wakes.send(Wake::Input(Input::Prepared { turn, environment: Some(text) }));
        });
    }

    fn open_stream(&mut self, stream: StreamId) {
        let servers = self.requests.not_waited_for(self.servers.unsettled());
        if servers.is_empty() {
            return self.send_request(stream);
        }
        if let Some(step) = self.step {
            self.outlet.push(TurnEvent::Holding { step, servers: servers.clone() }.into());
        }
        self.requests.hold(stream, servers);
    }

    fn send_request(&mut self, stream: StreamId) {
        let briefs = self.servers.briefs();
        let asked = self.speaking.request(self.machine.conversation(), &self.offers.toolbox, &briefs);
        match asked {
            Some(spoken) => self.requests.send(stream, spoken),
            None => self.input(Input::Model { stream, event: ModelEvent::Failed { error: no_model() } }),
        }
    }

    fn use_model(&mut self, name: &str) {
        match self.speaking.use_model(name) {
            Ok(()) => {
                self.offers.set_name_rule(self.speaking.name_rule());
                self.outlet.push(SessionEvent::Model { model: self.speaking.info() }.into());
                let changes = self.settings.model_changed(name);
                self.take_changes(changes);
            }
            Err(problem) => self.outlet.push(Notice::error(problem).into()),
        }
    }

    // --- calls

    fn check(&mut self, call: CallId, round: u32) {
        let Some((stored, arguments)) = self.machine.to_check(call) else { return };
        match checking::validate(&self.offers.toolbox, stored, arguments) {
            Err(found) => self.input(Input::Checked { call, round, found }),
            Ok(spec) => {
                let look = Look { call, round, spec, arguments: arguments.clone(), origin: stored.origin };
                self.runner.look(look, &self.offers.toolbox);
            }
        }
    }

    fn run_call(&mut self, call: CallId) {
        let stored = self.machine.conversation().call(call).map(|(stored, _)| stored.clone());
        if let Some((tool, arguments)) = stored.and_then(|stored| Some((stored.tool?, stored.arguments))) {
            return self.runner.run(call, tool, arguments, &self.offers.toolbox);
        }
        let outcome = ToolOutcome::failed("There is no such tool.");
        self.input(Input::Tool { call, signal: ToolSignal::Finished(outcome) });
    }

    fn remember(&mut self, grant: Grant, scope: Scope) {
        let Some(spec) = self.offers.toolbox.find(&grant.tool).cloned() else { return };
        let notice = self.policy.remember(scope, grant, &spec).err();
        self.notify(notice);
        self.offers.grants_changed();
    }

    // --- servers and sessions

    fn take_changes(&mut self, changes: Changes) {
        if let Some(entries) = changes.servers {
            self.servers.configure(&entries);
            self.mcp.configure(entries);
        }
        self.notify(changes.notices);
        for request in changes.trust {
            self.input(Input::TrustAsked(request));
        }
    }

    fn open_session(&mut self, conversation: Conversation, draft: String) {
        let (id, notice) = self.session.open(self.settings.redactor());
        self.notify(notice);
        let cwd = self.session.cwd().to_owned();
        self.outlet.push(SessionEvent::Opened { id, cwd, conversation, draft }.into());
    }

    fn new_session(&mut self) {
        if !self.machine.is_idle() {
            return self.outlet.push(Notice::warning(Phrase::new("agent.busy")).into());
        }
        self.session.leave();
        self.total = Usage::default();
        let seed = fastrand::u64(..);
        self.machine = Machine::new(Conversation::default(), self.limits, seed);
        self.open_session(Conversation::default(), String::new());
    }

    fn notify(&mut self, notice: impl IntoIterator<Item = Notice>) {
        for notice in notice {
            self.outlet.push(notice.into());
        }
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
