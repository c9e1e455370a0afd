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
//! | [`dialect`] | how calls are written in what a model says: native, XML, ReAct, JSON. Pure incremental parsers, the system prompt |
//! | [`mcp`] | MCP servers: processes, connections, states, calls. **Boundary:** the only user of rmcp's client |
//! | [`tools`] | everything a model may call: built-ins, servers' tools, names, results cut to size |
//! | [`agent`] | the loop, the journal, the driver |
//! | [`tui`] | the full-screen program. **Boundary:** knows nothing of the agent but the contract |
//! | [`demo_server`] | the embedded MCP server |
//! | [`guard`] | the process that ends our children if we die |
//! | [`redact`], [`disk`], [`strings`], [`telemetry`], [`desktop`] | secrets to marks · private files · texts · the log file · editor and browser |
//!
//! # Where the plan was changed, and why
//!
//! - *One store of cells, views over it* ([`tui::transcript`]): the three panes and the timeline show one list, so text is kept once. The unit of layout is a
//!   Markdown block, not a cell: a message of any length costs the rows in sight.
//! - *Retries are the machine's* and wait as a prompt (`Decision::Retry`), so that the countdown is visible, can be cut short, and is tested without a clock.
//! - *An edit of a waiting call is an `Op::Amend`*, checked anew before it can be approved: nobody approves what was not shown.
//! - *A tool may say `Stale`*: what it was inspected against changed, so it did nothing and is looked at again. Two edits of one file in one reply work.
//! - *Progress is taken out of the stream before rmcp*, which hands each notification to a task of its own and loses the order.
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
pub mod mcp;
pub mod policy;
pub mod provider;
pub mod redact;
pub mod schema;
pub mod strings;
pub mod telemetry;
pub mod tools;
pub mod tui;
