//! Everything a model may call, under one roof.
//!
//! Owns: the trait of a tool, the built-in tools, the toolbox that finds a tool by name and runs it, the cutting of huge results.
//! Does not: decide whether a call may run (`policy`), or speak MCP (`mcp`).
//!
//! [`toolbox`] is the door; [`builtin`] are the tools; the rest is what they are made of: paths and files ([`place`], [`file`], [`scene`], [`seen`],
//! [`target`], [`walk`]), texts ([`change`], [`edit`], [`ends`], [`utf8`]), commands ([`process`], [`output`]), results ([`cut`], [`media`], [`spill`]).

pub mod builtin;
pub mod change;
pub mod cut;
pub mod edit;
pub mod ends;
pub mod file;
pub mod media;
pub mod output;
pub mod place;
pub mod process;
pub mod scene;
pub mod seen;
pub mod spill;
pub mod target;
pub mod toolbox;
pub mod utf8;
pub mod walk;

pub use scene::{Scene, Setting};
pub use toolbox::Toolbox;

use crate::domain::policy::{Facts, Preview};
use crate::domain::{CallId, Phrase, ToolOutcome, ToolSignal, ToolSpec};
use futures::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What a tool finds out about a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// For the policy.
    pub facts: Facts,
    /// For the user.
    pub preview: Preview,
    /// For the user, too.
    pub warnings: Vec<Phrase>,
}

/// Where a running call sends its news. Sending never blocks; the driver joins neighbouring pieces of output.
pub type Signals = Arc<dyn Fn(ToolSignal) + Send + Sync>;

/// A call that may run.
#[derive(Clone)]
pub struct Invocation {
    /// Its id.
    pub call: CallId,
    /// Its arguments, valid against the tool's schema.
    pub arguments: Value,
    /// Where its news go: everything but [`ToolSignal::Finished`], which the caller makes from the returned outcome.
    pub signals: Signals,
    /// Called off when this is cancelled. The tool then ends soon with [`ToolOutcome::Interrupted`].
    pub cancel: CancellationToken,
}

/// Something a model may call.
pub trait Tool: Send + Sync {
    /// Its definition.
    fn spec(&self) -> &Arc<ToolSpec>;
    /// What the call would do. Reads, never writes.
    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection>;
    /// Runs it. The call was inspected before with these very arguments, and runs only if what was seen then is still so; else it says
    /// [`ToolSignal::Stale`] and does nothing.
    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome>;
}
