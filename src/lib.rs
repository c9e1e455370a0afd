//! mcpane: a full-screen terminal MCP host.
//!
//! This page is the map of the house. *Invariant* and *Boundary* marks are held by tests (`tests/tidy`, property tests beside the code).
//!
//! # Shape
//!
//! ```text
//!             Op ─────────────►                 ┌───────────┐  Effect ─►  provider (HTTP), tools, mcp, journal, timers
//!  tui                            agent::driver │  machine  │
//!             ◄───────────── Event              └───────────┘  ◄─ Input
//! ```
//!
//! 1. The agent is a pure machine ([`agent::machine`]): `handle(Input) -> Vec<Effect>`, no async, no clock, no IO. One task, the driver, performs the
//!    effects and turns every completion back into an input.
//! 2. The screen has one owner ([`tui::ui`]) with its panes as plain fields; overlays stand on a stack and answer with data.
//! 3. The seam between them is [`contract`]: `Op` goes in, `Event` comes out, both plain data.
//!
//! # Rooms
//!
//! | room | what it owns |
//! |---|---|
//! | [`app`] | the composition root: the only room that knows every layer |
//! | [`cli`] | flags and subcommands, with texts from the catalogue |
//! | [`config`] | layered settings, MCP server files, trust; the only reader of environment variables |
//! | [`domain`] | plain data: conversation, calls, prompts, forms, servers. **Boundary:** imports nothing of ours |
//! | [`contract`] | `Op` and `Event`. **Boundary:** imports `domain` only |
//! | [`schema`] | JSON Schema: to a form, validation without the network, the hash of a definition |
//! | [`policy`] | may this call run: rules, grants, the pins that void them |
//! | [`provider`] | models: the catalogue of endpoints, HTTP and SSE, wire formats, the scripted model |
//! | [`dialect`] | how calls are written in what a model says: native, XML. Pure incremental parsers, the system prompt |
//! | [`mcp`] | MCP servers: processes, connections, states, calls. **Boundary:** the only user of rmcp's client |
//! | [`tools`] | everything a model may call: built-ins, servers' tools, names, results cut to size |
//! | [`agent`] | the loop, the journal, the driver |
//! | [`tui`] | the full-screen program. **Boundary:** knows nothing of the agent but the contract |
//! | [`demo_server`] | the embedded MCP server |
//! | [`guard`] | the process that ends our children if we die |
//! | [`web`] | HTTP clients for models and servers: proxies, certificates, built when first needed |
//! | [`headless`] | `mcpane run`: the same agent without a terminal; recordings and their playback. **Boundary:** knows nothing of the agent but the contract |
//! | [`redact`], [`sanitize`], [`disk`], [`strings`], [`telemetry`], [`desktop`] | secrets to marks · text made safe to show · private files · texts · the log file · editor and browser |
//!
//! # As a library
//!
//! [`agent::spawn`] starts an agent; [`contract::Op`]s go in, [`contract::Event`]s come out. Whoever reads them stands where the screen stands: what would
//! ask comes as a prompt and waits for an answer. [`agent::Kit::plain`] has defaults for everything; its fields are open.
//!
//! ```
//! use futures::FutureExt;
//! use futures::future::BoxFuture;
//! use mcpane::agent::{self, Kit};
//! use mcpane::contract::event::TextKind;
//! use mcpane::contract::{Event, ItemEvent, Op, PromptEvent, SessionEvent, TurnEvent};
//! use mcpane::domain::policy::{Facts, Preview};
//! use mcpane::domain::prompt::{Answer, Choose, PromptKind, Scope};
//! use mcpane::domain::tool::{Annotations, Risk};
//! use mcpane::domain::{ToolId, ToolOutcome, ToolSpec, UserInput};
//! use mcpane::provider::demo::Demo;
//! use mcpane::schema::definition_hash;
//! use mcpane::tools::{Inspection, Invocation, Tool};
//! use serde_json::{Value, json};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! /// A tool of one's own.
//! struct Dice(Arc<ToolSpec>);
//!
//! impl Dice {
//!     fn new() -> Self {
//!         let (name, description, annotations) = ("roll_dice", "Rolls a die.", Annotations::default());
//!         let schema = json!({ "type": "object", "properties": { "sides": { "type": "integer", "minimum": 2 } } });
//!         let hash = definition_hash(name, description, &schema, None, &annotations);
//!         Self(Arc::new(ToolSpec {
//!             id: ToolId::builtin(name),
//!             title: None,
//!             description: description.to_owned(),
//!             input_schema: Arc::new(schema),
//!             output_schema: None,
//!             annotations,
//!             // What kind of thing it does decides whether it asks.
//!             risk: Risk::External,
//!             hash,
//!         }))
//!     }
//! }
//!
//! impl Tool for Dice {
//!     fn spec(&self) -> &Arc<ToolSpec> {
//!         &self.0
//!     }
//!     fn inspect<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Inspection> {
//!         async { Inspection { facts: Facts::default(), preview: Preview::Arguments, warnings: Vec::new() } }.boxed()
//!     }
//!     fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
//!         async move { ToolOutcome::text(format!("4 of {}", call.arguments["sides"].as_u64().unwrap_or(6))) }.boxed()
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (cwd, state) = (folder.path().join("work"), folder.path().join("state"));
//! # std::fs::create_dir(&cwd)?;
//! tokio::runtime::Runtime::new()?.block_on(async {
//!     // A real one: Catalog::built_in().open("ollama:qwen3", &OpenOptions::default())
//!     let model = Arc::new(Demo::with_pace(Duration::ZERO));
//!     let mut kit = Kit::plain(&cwd, &state, model);
//!     kit.setting.tools.push(Arc::new(Dice::new()));
//!     let mut agent = agent::spawn(kit)?;
//!     agent.ops.send(Op::Submit { input: UserInput::text("hello, who are you?") }).await?;
//!
//!     let (mut answer, mut writing) = (String::new(), None);
//!     while let Some(event) = agent.events.recv().await {
//!         match event {
//!             Event::Item(ItemEvent::Started { item, kind: TextKind::Answer, .. }) => writing = Some(item),
//!             Event::Item(ItemEvent::Delta { item, text }) if writing == Some(item) => answer.push_str(&text),
//!             Event::Prompt(PromptEvent::Opened { prompt }) => {
//!                 let answer = match prompt.kind {
//!                     PromptKind::Approval(approval) if approval.spec.id == ToolId::builtin("roll_dice") => {
//!                         Answer::Approve { scope: Scope::Once, version: Some(approval.version) }
//!                     }
//!                     PromptKind::Approval(_) => Answer::Reject { reason: Some("only dice may be rolled".into()) },
//!                     PromptKind::Decision(_) => Answer::Choose(Choose::Stop),
//!                     _ => Answer::Cancel,
//!                 };
//!                 agent.ops.send(Op::Answer { prompt: prompt.id, answer }).await?;
//!             }
//!             Event::Turn(TurnEvent::Ended { .. }) => agent.ops.send(Op::Shutdown).await?,
//!             Event::Session(SessionEvent::Closed) => break,
//!             _ => {}
//!         }
//!     }
//!     agent.task.await?;
//!     assert!(answer.contains("scripted model"));
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # Where the plan was changed, and why
//!
//! - *One store of cells, views over it* ([`tui::transcript`]): the three panes and the timeline show one list, so text is kept once. The unit of layout is a
//!   Markdown block, not a cell: a message of any length costs the rows in sight.
//! - *Retries are the machine's* and wait as a prompt (`Decision::Retry`), so that the countdown is visible, can be cut short, and is tested without a clock.
//! - *An edit of a waiting call is an `Op::Amend`*, checked anew before it can be approved: nobody approves what was not shown.
//! - *A tool may say `Stale`*: what it was inspected against changed, so it did nothing and is looked at again. Two edits of one file in one reply work.
//! - *Progress is taken out of the stream before rmcp*, which hands each notification to a task of its own and loses the order.
//! - *MCP over HTTP is our own transport* ([`mcp`]): rmcp's reads answers into types first, so that malformed ones vanish and their calls hang, retries
//!   without end, and cannot tell whether a call may have run. rmcp's service runs on ours as it does over a pipe.
//! - *The terminal's bytes are read by our own parser* ([`tui::input`]): answers to queries must not be typed into the composer, and a lone `Esc` is held.
//! - `demo_server` and `guard` start before anything else is made: one must outlive us, the other is started by us.

pub mod agent;
pub mod app;
pub mod cli;
pub mod config;
pub mod contract;
pub mod demo_server;
pub mod desktop;
pub mod dialect;
pub mod disk;
pub mod domain;
pub mod guard;
pub mod headless;
pub mod mcp;
pub mod policy;
pub mod provider;
pub mod redact;
pub mod sanitize;
pub mod schema;
pub mod strings;
pub mod telemetry;
pub mod tools;
pub mod tui;
pub mod web;
