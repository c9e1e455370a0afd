//! An agent with everything real but the model: real files, real server processes, a model server on loopback.

use crate::sse_model::ModelServer;
use mcpane::agent::machine::Limits;
use mcpane::agent::speaking::{Manner, Speaking};
use mcpane::agent::{Agent, Changes, Kit, Settings, journal, spawn};
use mcpane::contract::{Event, Op, PromptEvent, SessionEvent, TurnEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::model::DialectKind;
use mcpane::domain::prompt::{Answer, Prompt, PromptKind, Scope};
use mcpane::domain::server::{ServerEntry, Source, Timeouts, Transport};
use mcpane::domain::tool::{ToolCall, ToolOutcome};
use mcpane::domain::{CallId, ItemBody, PromptId, UserInput};
use mcpane::guard::Guard;
use mcpane::policy::{Place, Policy, Rules, Store};
use mcpane::provider::Provider;
use mcpane::provider::catalog::{Catalog, OpenOptions};
use mcpane::provider::demo::Demo;
use mcpane::redact::Redactor;
use mcpane::tools::scene::Setting;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// The built binary: the guard and the demo server are its subcommands.
pub const EXE: &str = env!("CARGO_BIN_EXE_mcpane");
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

struct Fixed(Vec<ServerEntry>);

impl Settings for Fixed {
    fn servers(&mut self) -> Changes {
        Changes { servers: Some(self.0.clone()), ..Changes::default() }
    }
    fn reload(&mut self) -> Changes {
        Changes::default()
    }
    fn model_changed(&mut self, _name: &str) -> Changes {
        Changes::default()
    }
    fn trust(&mut self, _file: &str, _yes: bool) -> Changes {
        Changes::default()
    }
    fn redactor(&self) -> Redactor {
        Redactor::default()
    }
}

/// How an agent is set up.
pub struct Plan {
    pub dialect: Option<DialectKind>,
    pub servers: Vec<ServerEntry>,
    pub limits: Limits,
    pub rules: Rules,
}

impl Default for Plan {
    fn default() -> Self {
        Self { dialect: None, servers: Vec::new(), limits: Limits::default(), rules: Rules::default() }
    }
}

/// A running agent and where it works.
pub struct Rig {
    pub agent: Agent,
    pub home: TempDir,
    pub seen: Vec<Event>,
}

/// A model served by a [`ModelServer`].
pub fn served(server: &ModelServer) -> Arc<dyn Provider> {
    let options = OpenOptions { base_url: Some(server.base_url()), ..OpenOptions::default() };
    Catalog::built_in().open("openai:test-model", &options).unwrap()
}

/// The scripted model, as fast as it can.
pub fn demo() -> Arc<dyn Provider> {
    Arc::new(Demo::with_pace(Duration::ZERO))
}

/// The embedded server, under the name that the scripted model knows.
pub fn demo_server() -> ServerEntry {
    stdio("demo", EXE, &["demo-server"])
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
        let other = Arc::clone(&model);
        let place = Place { project: work.to_string_lossy().into_owned(), home: None };
        let kit = Kit {
            cwd: work.clone(),
            speaking: Speaking::new(Some(model), Box::new(move |_| Ok(Arc::clone(&other))), manner),
            setting: Setting::new(&work, state.join("spill")),
            mcp: mcpane::mcp::Options {
                state_dir: state,
                roots: vec![work],
                version: "test".into(),
                guard: Guard::start(Path::new(EXE)),
                redactor: Redactor::default(),
                tap: None,
            },
            policy: Arc::new(Policy::new(plan.rules, place, Store::in_memory())),
            settings: Box::new(Fixed(plan.servers)),
            sessions: home.path().join("sessions"),
            resumed,
            limits: plan.limits,
            seed: 1,
        };
        Self { agent: spawn(kit).unwrap(), home, seen: Vec::new() }
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
    pub async fn approval(&mut self) -> (PromptId, ToolCall) {
        let prompt = self.prompt().await;
        match prompt.kind {
            PromptKind::Approval(approval) => (prompt.id, approval.call),
            other => panic!("not an approval: {other:?}"),
        }
    }

    pub async fn approve_next(&mut self) -> ToolCall {
        let (prompt, call) = self.approval().await;
        self.answer(prompt, Answer::Approve { scope: Scope::Once }).await;
        call
    }

    pub async fn ended(&mut self) -> TurnEnd {
        self.until(|event| match event {
            Event::Turn(TurnEvent::Ended { end, .. }) => Some(end.clone()),
            _ => None,
        })
        .await
    }

    pub async fn outcome(&mut self, wanted: CallId) -> ToolOutcome {
        self.until(|event| match event {
            Event::Tool(mcpane::contract::ToolEvent::Finished { call, outcome }) if *call == wanted => {
                Some(outcome.clone())
            }
            _ => None,
        })
        .await
    }

    /// All answer text so far.
    pub fn answers(&self) -> String {
        self.texts(mcpane::contract::event::TextKind::Answer)
    }

    pub fn texts(&self, wanted: mcpane::contract::event::TextKind) -> String {
        use mcpane::contract::ItemEvent;
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

    /// What happened, a line each, for failures.
    pub fn story(&self) -> String {
        self.seen.iter().map(|event| format!("{event:?}\n").chars().take(400).collect::<String>()).collect()
    }

    /// Ends the agent; everything it still says is kept.
    pub async fn shut_down(mut self) -> TempDir {
        self.op(Op::Shutdown).await;
        self.until(|event| matches!(event, Event::Session(SessionEvent::Closed)).then_some(())).await;
        tokio::time::timeout(PATIENCE, self.agent.task).await.unwrap().unwrap();
        self.home
    }
}

/// The messages of a request.
pub fn messages(body: &Value) -> &Vec<Value> {
    body["messages"].as_array().unwrap()
}

/// The texts of a message, joined.
pub fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Bodies of items of a kind.
pub fn is_answer(body: &ItemBody) -> bool {
    matches!(body, ItemBody::Answer { .. })
}
