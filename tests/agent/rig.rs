//! An agent with everything real but the model: real files, real server processes, a model server on loopback.

use crate::fixture::fixture;
use crate::sse_model::ModelServer;
use mcpane::agent::machine::Limits;
use mcpane::agent::speaking::{Manner, Speaking};
use mcpane::agent::{Agent, Changes, Kit, Settings, journal, spawn};
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, ItemEvent, Op, PromptEvent, SessionEvent, ToolEvent, TurnEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::model::DialectKind;
use mcpane::domain::prompt::{Answer, Approval, Choose, Closed, Decision, Prompt, PromptKind, Scope};
use mcpane::domain::server::{ServerEntry, Source, Timeouts, Transport};
use mcpane::domain::tool::{ToolCall, ToolOutcome};
use mcpane::domain::{CallId, PromptId, ToolId, UserInput};
use mcpane::guard::Guard;
use mcpane::policy::{Effect, Place, Policy, Rules, Store};
use mcpane::provider::Provider;
use mcpane::provider::catalog::{Catalog, OpenOptions};
use mcpane::provider::demo::Demo;
use mcpane::redact::Redactor;
use mcpane::tools::scene::Setting;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tempfile::TempDir;

/// The built binary: the guard and the demo server are its subcommands.
pub const EXE: &str = env!("CARGO_BIN_EXE_mcpane");
/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// One guard for all tests, as a program has one.
fn guard() -> Guard {
    static GUARD: OnceLock<Guard> = OnceLock::new();
    GUARD.get_or_init(|| Guard::start(Path::new(EXE))).clone()
}

/// Settings with a list of servers that tests change.
struct Adjustable {
    servers: Arc<Mutex<Vec<ServerEntry>>>,
    redactor: Redactor,
}

impl Settings for Adjustable {
    fn servers(&mut self) -> Changes {
        Changes { servers: Some(self.servers.lock().unwrap().clone()), ..Changes::default() }
    }
    fn reload(&mut self) -> Changes {
        self.servers()
    }
    fn model_changed(&mut self, _name: &str) -> Changes {
        Changes::default()
    }
    fn trust(&mut self, _file: &str, _yes: bool) -> Changes {
        Changes::default()
    }
    fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }
}

/// How an agent is set up.
#[derive(Default)]
pub struct Plan {
    pub dialect: Option<DialectKind>,
    pub servers: Vec<ServerEntry>,
    pub limits: Limits,
    pub rules: Rules,
    pub redactor: Redactor,
    /// Models that the session can change to.
    pub models: Vec<Arc<dyn Provider>>,
}

impl Plan {
    /// A plan with these servers.
    pub fn with(servers: Vec<ServerEntry>) -> Self {
        Self { servers, ..Self::default() }
    }

    /// The same in the XML dialect.
    pub fn xml(mut self) -> Self {
        self.dialect = Some(DialectKind::Xml);
        self
    }

    /// The same with a rule.
    pub fn rule(mut self, effect: Effect, pattern: &str) -> Self {
        self.rules.add(effect, pattern, "a test", &Place { project: "/nowhere".into(), home: None }).unwrap();
        self
    }

    /// The same with everything allowed.
    pub fn allow_all(self) -> Self {
        self.rule(Effect::Allow, "*")
    }
}

/// A running agent and where it works.
pub struct Rig {
    pub agent: Agent,
    pub home: TempDir,
    pub seen: Vec<Event>,
    servers: Arc<Mutex<Vec<ServerEntry>>>,
}

/// A model served by a [`ModelServer`].
pub fn served(server: &ModelServer) -> Arc<dyn Provider> {
    open("openai:test-model", server, Duration::from_secs(60))
}

/// The same by the name of the server that the recordings come from.
pub fn local(server: &ModelServer) -> Arc<dyn Provider> {
    open("llamacpp:test-model", server, Duration::from_secs(60))
}

/// The same, given up when nothing comes for a while.
pub fn impatient(server: &ModelServer, idle: Duration) -> Arc<dyn Provider> {
    open("openai:test-model", server, idle)
}

/// A model behind one of the catalogue's endpoints.
pub fn served_as(provider: &str, server: &ModelServer) -> Arc<dyn Provider> {
    open(&format!("{provider}:test-model"), server, Duration::from_secs(60))
}

fn open(name: &str, server: &ModelServer, idle: Duration) -> Arc<dyn Provider> {
    let limits = mcpane::provider::reply::Limits { idle, ..Default::default() };
    // Each format has its own version in the path.
    let base_url =
        if name.starts_with("gemini:") { server.base_url().replace("/v1", "/v1beta") } else { server.base_url() };
    let options = OpenOptions { base_url: Some(base_url), limits, ..OpenOptions::default() };
    Catalog::built_in().open(name, &options).unwrap()
}

/// The scripted model, as fast as it can.
pub fn demo() -> Arc<dyn Provider> {
    Arc::new(Demo::with_pace(Duration::ZERO))
}

/// The embedded server, under the name that the scripted model knows.
pub fn demo_server() -> ServerEntry {
    stdio("demo", EXE, &["demo-server"])
}

/// The fixture server.
pub fn fixture_server(name: &str, args: &[&str]) -> ServerEntry {
    stdio(name, &fixture().display().to_string(), args)
}

/// The same, which writes what it receives to a file, and its pids to another.
pub fn recorded_server(name: &str, args: &[&str], directory: &Path) -> ServerEntry {
    let mut entry = fixture_server(name, args);
    if let Ok(Transport::Stdio { env, .. }) = &mut entry.transport {
        for (variable, what) in [("FIXTURE_RECORD", "record"), ("FIXTURE_PIDS", "pids")] {
            env.push((variable.into(), directory.join(format!("{name}.{what}")).display().to_string()));
        }
    }
    entry
}

/// What a server of [`recorded_server`] has received.
pub fn received(name: &str, directory: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(directory.join(format!("{name}.record"))).unwrap_or_default();
    // The last line may be half there.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A fixture server with the tools and results of a JSON value; see `fixture_server/canned.rs`. The file is kept beside the directory's other things.
pub fn canned_server(name: &str, directory: &Path, content: &Value) -> ServerEntry {
    let file = directory.join(format!("{name}.canned.json"));
    can(&file, content);
    fixture_server(name, &["--canned", &file.display().to_string()])
}

/// Replaces what a canned server has.
pub fn can(file: &Path, content: &Value) {
    let new = file.with_extension("new");
    std::fs::write(&new, content.to_string()).unwrap();
    std::fs::rename(&new, file).unwrap();
}

/// A server on standard input and output.
pub fn stdio(name: &str, command: &str, args: &[&str]) -> ServerEntry {
    ServerEntry {
        name: name.into(),
        transport: Ok(Transport::Stdio {
            command: command.into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: Vec::new(),
            cwd: None,
        }),
        source: Source::default(),
        disabled: false,
        untrusted: false,
        lazy: true,
        protocol: None,
        timeouts: Timeouts::default(),
        tool_timeouts: Vec::new(),
        allow_tools: Vec::new(),
        deny_tools: Vec::new(),
        trust_read_only: false,
        fingerprint: format!("{name} {command} {args:?}").into(),
    }
}

impl Rig {
    pub fn new(model: Arc<dyn Provider>, plan: Plan) -> Self {
        Self::in_home(tempfile::tempdir().unwrap(), model, plan, None)
    }

    pub fn in_home(home: TempDir, model: Arc<dyn Provider>, plan: Plan, resumed: Option<journal::Resumed>) -> Self {
        let work = home.path().join("work");
        let state = home.path().join("state");
        std::fs::create_dir_all(&work).unwrap();
        let work = work.canonicalize().unwrap();
        let manner = Manner {
            dialect: plan.dialect,
            cwd: work.to_string_lossy().into_owned(),
            system: "Linux, sh".into(),
            ..Manner::default()
        };
        let (other, models) = (Arc::clone(&model), plan.models);
        let place = Place { project: work.to_string_lossy().into_owned(), home: None };
        let servers = Arc::new(Mutex::new(plan.servers));
        let kit = Kit {
            cwd: work.clone(),
            speaking: Speaking::new(
                Some(model),
                Box::new(move |name| {
                    let named = models.iter().find(|model| model.name() == name);
                    Ok(Arc::clone(named.unwrap_or(&other)))
                }),
                manner,
            ),
            setting: Setting::new(&work, state.join("spill")),
            mcp: mcpane::mcp::Options {
                state_dir: state,
                roots: vec![work],
                version: "test".into(),
                guard: guard(),
                redactor: plan.redactor.clone(),
                tap: None,
            },
            policy: Arc::new(Policy::new(plan.rules, place, Store::in_memory())),
            settings: Box::new(Adjustable { servers: Arc::clone(&servers), redactor: plan.redactor }),
            sessions: home.path().join("sessions"),
            resumed,
            limits: plan.limits,
            seed: 1,
        };
        Self { agent: spawn(kit).unwrap(), home, seen: Vec::new(), servers }
    }

    pub fn work(&self) -> std::path::PathBuf {
        self.home.path().join("work")
    }

    pub async fn op(&self, op: Op) {
        self.agent.ops.send(op).await.unwrap();
    }

    pub async fn submit(&self, text: &str) {
        self.op(Op::Submit { input: UserInput::text(text) }).await;
    }

    pub async fn answer(&self, prompt: PromptId, answer: Answer) {
        self.op(Op::Answer { prompt, answer }).await;
    }

    pub async fn next(&mut self) -> Event {
        let event = tokio::time::timeout(PATIENCE, self.agent.events.recv()).await;
        let Ok(Some(event)) = event else { panic!("nothing came ({event:?}); before that:\n{}", self.story()) };
        self.seen.push(event.clone());
        event
    }

    /// Reads events until one is wanted.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        loop {
            let event = self.next().await;
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    }

    pub async fn prompt(&mut self) -> Prompt {
        self.until(|event| match event {
            Event::Prompt(PromptEvent::Opened { prompt }) => Some(prompt.clone()),
            _ => None,
        })
        .await
    }

    /// The next thing that waits must be an approval.
    pub async fn asked(&mut self) -> (PromptId, Approval) {
        let prompt = self.prompt().await;
        match prompt.kind {
            PromptKind::Approval(approval) => (prompt.id, *approval),
            other => panic!("not an approval: {other:?}"),
        }
    }

    pub async fn approval(&mut self) -> (PromptId, ToolCall) {
        let (prompt, approval) = self.asked().await;
        (prompt, approval.call)
    }

    pub async fn approve(&self, prompt: PromptId) {
        self.answer(prompt, Answer::Approve { scope: Scope::Once, version: None }).await;
    }

    pub async fn approve_next(&mut self) -> ToolCall {
        let (prompt, call) = self.approval().await;
        self.approve(prompt).await;
        call
    }

    /// The next thing that waits must be a decision.
    pub async fn decision(&mut self) -> (Prompt, Decision) {
        let prompt = self.prompt().await;
        match prompt.kind.clone() {
            PromptKind::Decision(decision) => (prompt, decision),
            other => panic!("not a decision: {other:?}"),
        }
    }

    pub async fn choose(&self, prompt: PromptId, choice: Choose) {
        self.answer(prompt, Answer::Choose(choice)).await;
    }

    /// Why a prompt was closed.
    pub async fn closed(&mut self, wanted: PromptId) -> Closed {
        self.until(|event| match event {
            Event::Prompt(PromptEvent::Closed { prompt, why }) if *prompt == wanted => Some(why.clone()),
            _ => None,
        })
        .await
    }

    pub async fn ended(&mut self) -> TurnEnd {
        self.until(|event| match event {
            Event::Turn(TurnEvent::Ended { end, .. }) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    /// The turn ends, and nothing waits before it does.
    pub async fn ended_unasked(&mut self) -> TurnEnd {
        let from = self.seen.len();
        let end = self.ended().await;
        let asked = self.seen[from..].iter().find(|event| matches!(event, Event::Prompt(PromptEvent::Opened { .. })));
        assert!(asked.is_none(), "{asked:?}");
        end
    }

    pub async fn outcome(&mut self, wanted: CallId) -> ToolOutcome {
        self.until(|event| match event {
            Event::Tool(ToolEvent::Finished { call, outcome }) if *call == wanted => Some(outcome.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until a call runs.
    pub async fn started(&mut self, wanted: CallId) {
        self.until(|event| matches!(event, Event::Tool(ToolEvent::Started { call }) if *call == wanted).then_some(()))
            .await;
    }

    /// Waits until the list of tools fits.
    pub async fn tools(&mut self, mut fits: impl FnMut(&[ToolId]) -> bool) {
        self.until(|event| match event {
            Event::Tools { tools } => {
                let ids: Vec<ToolId> = tools.iter().map(|tool| tool.id().clone()).collect();
                fits(&ids).then_some(())
            }
            _ => None,
        })
        .await;
    }

    /// Waits until a tool is offered, by its shown name.
    pub async fn offers(&mut self, name: &str) {
        self.tools(|ids| ids.iter().any(|id| id.to_string() == name)).await;
    }

    /// Outcomes of all calls so far, in the order in which they ended.
    pub fn outcomes(&self) -> Vec<(CallId, ToolOutcome)> {
        let pick = |event: &Event| match event {
            Event::Tool(ToolEvent::Finished { call, outcome }) => Some((*call, outcome.clone())),
            _ => None,
        };
        self.seen.iter().filter_map(pick).collect()
    }

    /// Calls that ran so far.
    pub fn ran(&self) -> Vec<CallId> {
        let pick = |event: &Event| match event {
            Event::Tool(ToolEvent::Started { call }) => Some(*call),
            _ => None,
        };
        self.seen.iter().filter_map(pick).collect()
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<ToolCall> {
        let pick = |event: &Event| match event {
            Event::Tool(ToolEvent::Proposed { call, .. }) => Some(call.clone()),
            _ => None,
        };
        self.seen.iter().filter_map(pick).collect()
    }

    /// All answer text so far.
    pub fn answers(&self) -> String {
        self.texts(TextKind::Answer)
    }

    pub fn texts(&self, wanted: TextKind) -> String {
        let mut items = Vec::new();
        let mut out = String::new();
        for event in &self.seen {
            match event {
                Event::Item(ItemEvent::Started { item, kind, .. }) if *kind == wanted => items.push(*item),
                Event::Item(ItemEvent::Delta { item, text }) if items.contains(item) => out.push_str(text),
                _ => {}
            }
        }
        out
    }

    /// The servers are these from now on.
    pub async fn reconfigure(&self, servers: Vec<ServerEntry>) {
        *self.servers.lock().unwrap() = servers;
        self.op(Op::Reload).await;
    }

    /// The journals of this home.
    pub fn journals(&self) -> Vec<std::path::PathBuf> {
        journals(self.home.path())
    }

    /// What happened, a line each, for failures.
    pub fn story(&self) -> String {
        self.seen.iter().map(|event| format!("{event:?}").chars().take(300).collect::<String>() + "\n").collect()
    }

    /// Ends the agent; everything it still says is kept.
    pub async fn shut_down(mut self) -> TempDir {
        self.op(Op::Shutdown).await;
        self.until(|event| matches!(event, Event::Session(SessionEvent::Closed)).then_some(())).await;
        tokio::time::timeout(PATIENCE, self.agent.task).await.unwrap().unwrap();
        self.home
    }
}

/// The journals of a home, oldest name first.
pub fn journals(home: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(home.join("sessions")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

/// The text of a result.
pub fn result_text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done { content, is_error: false, .. } => mcpane::domain::content::plain(content),
        other => panic!("not done: {other:?}"),
    }
}

/// Waits until something is so.
pub async fn eventually(what: &str, mut test: impl FnMut() -> bool) {
    let until = std::time::Instant::now() + PATIENCE;
    while !test() {
        assert!(std::time::Instant::now() < until, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
