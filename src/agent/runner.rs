//! Tools at work: looking at calls, and running them. Each in a task of its own; a tool that panics is a failed call.
//!
//! Owns what can call a running call off. Everything a tool says comes back as a [`Wake`]. What was found out about the calls of a reply comes back in the
//! order of the calls, so that they wait for the user in that order.

use super::driver::Wake;
use super::machine::{Found, Input};
use crate::domain::tool::{Origin, ToolSpec};
use crate::domain::{CallId, ToolId, ToolOutcome, ToolSignal};
use crate::tools::toolbox::Toolbox;
use crate::tools::{Inspection, Invocation, Signals};
use futures::FutureExt;
use serde_json::Value;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// A look that hangs (a file system does not answer) holds up those behind it no longer than this.
const IN_ORDER: Duration = Duration::from_millis(500);

/// A call that a tool is to look at before it runs.
pub(super) struct Look {
    pub call: CallId,
    /// Which check of it.
    pub round: u32,
    pub spec: Arc<ToolSpec>,
    pub arguments: Value,
    pub origin: Origin,
}

/// See the module.
pub(super) struct Runner {
    wakes: mpsc::UnboundedSender<Wake>,
    running: HashMap<CallId, CancellationToken>,
    /// Ends with the look that began last.
    looking: Option<oneshot::Receiver<()>>,
}

impl Runner {
    pub fn new(wakes: mpsc::UnboundedSender<Wake>) -> Self {
        Self { wakes, running: HashMap::new(), looking: None }
    }

    /// Lets the tool look at a call.
    pub fn look(&mut self, look: Look, toolbox: &Toolbox) {
        let looking = toolbox.inspect(&look.spec.id, look.arguments.clone());
        let wakes = self.wakes.clone();
        let (done, end) = oneshot::channel();
        let before = self.looking.replace(end);
        tokio::spawn(async move {
            let seen: Result<Inspection, _> = AssertUnwindSafe(looking).catch_unwind().await;
            let wake = if let Ok(inspection) = seen {
                Wake::Inspected(Box::new((look, inspection)))
            } else {
                let message = format!("The tool {} failed while looking at the call.", look.spec.id);
                let found = Found::Invalid { message, problems: Vec::new() };
                Wake::Input(Input::Checked { call: look.call, round: look.round, found })
            };
            if let Some(before) = before {
                let _ = tokio::time::timeout(IN_ORDER, before).await;
            }
            let _ = wakes.send(wake);
            drop(done);
        });
    }

    /// Runs a call.
    pub fn run(&mut self, call: CallId, tool: ToolId, arguments: Value, toolbox: &Toolbox) {
        let cancel = CancellationToken::new();
        self.running.insert(call, cancel.clone());
        let wakes = self.wakes.clone();
        let news = wakes.clone();
        // A run that found its call stale did nothing: the call is looked at anew, and what this run returns is not its outcome.
        let stale = Arc::new(AtomicBool::new(false));
        let was_stale = Arc::clone(&stale);
        let signals: Signals = Arc::new(move |signal| {
            if signal == ToolSignal::Stale {
                stale.store(true, Ordering::Relaxed);
            }
            let _ = news.send(Wake::Input(Input::Tool { call, signal }));
        });
        let running = toolbox.run(&tool, Invocation { call, arguments, signals, cancel });
        tokio::spawn(async move {
            let outcome = AssertUnwindSafe(running).catch_unwind().await.unwrap_or_else(|_| ToolOutcome::Failed {
                message: format!("The tool {tool} broke while it ran."),
                may_have_run: true,
            });
            if !was_stale.load(Ordering::Relaxed) {
                let _ = wakes.send(Wake::Input(Input::Tool { call, signal: ToolSignal::Finished(outcome) }));
            }
        });
    }

    /// Calls a running call off. Its outcome comes as of any other.
    pub fn cancel(&self, call: CallId) {
        if let Some(cancel) = self.running.get(&call) {
            cancel.cancel();
        }
    }

    /// A call ended.
    pub fn ended(&mut self, call: CallId) {
        self.running.remove(&call);
    }
}
