//! The agent: a pure machine, and the driver that performs its effects.
//!
//! Owns the loop think → act → observe, the conversation, the journal. Does not draw, read settings or parse the command line. Whoever watches
//! sends [`Op`]s and reads [`Event`]s; nothing else passes.

mod bridge;
mod checking;
mod driver;
pub mod journal;
pub mod machine;
mod offers;
mod outlet;
mod plain;
mod requests;
mod runner;
mod servers;
mod session;
pub mod speaking;
mod stream;
mod surroundings;
mod timers;

pub use plain::Fixed;

use crate::contract::{Event, Op};
use crate::dialect;
use crate::domain::Notice;
use crate::domain::prompt::TrustRequest;
use crate::domain::server::ServerEntry;
use crate::mcp::{self, Mcp};
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::tools::scene::{Scene, Setting};
use crate::tools::toolbox::Toolbox;
use driver::{Driver, Lines, Wake};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What the configuration says after something about it changed.
#[derive(Debug, Default)]
pub struct Changes {
    /// The servers there are from now on; `None` leaves them alone.
    pub servers: Option<Vec<ServerEntry>>,
    /// Files that want to be trusted.
    pub trust: Vec<TrustRequest>,
    /// What the user should read.
    pub notices: Vec<Notice>,
}

/// The configuration as far as it changes while the agent runs.
pub trait Settings: Send {
    /// The servers as they are configured now.
    fn servers(&mut self) -> Changes;
    /// Reads the files again.
    fn reload(&mut self) -> Changes;
    /// Another model is used from now on.
    fn model_changed(&mut self, name: &str) -> Changes;
    /// The user trusts a project's file, or not.
    fn trust(&mut self, file: &str, yes: bool) -> Changes;
    /// Masks what is written.
    fn redactor(&self) -> Redactor;
}

/// What an agent is made from.
pub struct Kit {
    /// The working directory.
    pub cwd: PathBuf,
    /// The model and how it is spoken to.
    pub speaking: speaking::Speaking,
    /// Where the built-in tools work. Resources and the guard are filled in here.
    pub setting: Setting,
    /// What the MCP side needs.
    pub mcp: mcp::Options,
    /// Who may do what.
    pub policy: Arc<Policy>,
    /// The configuration as far as it changes.
    pub settings: Box<dyn Settings>,
    /// Directory of this project's journals.
    pub sessions: PathBuf,
    /// A session to go on with.
    pub resumed: Option<journal::Resumed>,
    /// Bounds of the loop.
    pub limits: machine::Limits,
    /// Feeds the jitter of retries.
    pub seed: u64,
}

/// Sends notices through an agent, from any thread.
#[derive(Clone)]
pub struct Notices(mpsc::UnboundedSender<Wake>);

impl Notices {
    /// Sends one. Nothing happens when the agent has ended.
    pub fn send(&self, notice: Notice) {
        let _ = self.0.send(Wake::Notice(notice));
    }
}

/// A running agent.
pub struct Agent {
    /// Where intents go.
    pub ops: mpsc::Sender<Op>,
    /// Where notices of others go, to come out among the facts.
    pub notices: Notices,
    /// Where facts come from. Dropping it ends the agent.
    pub events: mpsc::Receiver<Event>,
    /// Resolves when the agent has ended and every server with it.
    pub task: JoinHandle<()>,
}

/// Starts an agent. Fails only where the working directory cannot be used.
pub fn spawn(kit: Kit) -> std::io::Result<Agent> {
    let (ops, ops_in) = mpsc::channel(64);
    let (events_out, events) = mpsc::channel(1024);
    let wakes = mpsc::unbounded_channel();
    let news = wakes.0.clone();
    let mcp = Mcp::new(kit.mcp.clone(), move |signal| drop(news.send(Wake::Server(signal))));
    let notices = Notices(wakes.0.clone());
    let servers = bridge::Servers(mcp.clone());
    let mut setting = kit.setting.clone();
    setting.watch = Arc::new(kit.mcp.guard.clone());
    setting.redactor = kit.settings.redactor();
    setting.resources = Some(Arc::new(servers.clone()));
    let scene = Scene::new(setting)?;
    let toolbox = Toolbox::new(&scene, Arc::new(servers), dialect::aliases().names().collect());
    let lines = Lines { ops: ops_in, events: events_out, wakes, batches: mpsc::channel(64) };
    let (driver, conversation, draft) = Driver::new(kit, lines, mcp, toolbox);
    let task = tokio::spawn(driver.run(conversation, draft));
    Ok(Agent { ops, notices, events, task })
}
