//! The hub: which servers there are, and the handle that everybody else holds.
//!
//! Owns: the thread that every connection lives on, and the map from a server's name to its connection. Does nothing itself: each message goes to the
//! connection it is for.

use super::calls::CallRequest;
use super::connection::{Connection, Msg};
use super::reads::ReadRequest;
use super::{AskAnswer, Options, Run, World};
use crate::domain::server::{ServerAction, ServerEntry, ServerSignal};
use crate::domain::{AskId, Content, ServerName, ToolId, ToolOutcome, ToolSpec};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long all servers together may take to end.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// The MCP side, as the rest of the program holds it. Clones share it. When the last one is dropped its servers are ended.
#[derive(Clone)]
pub struct Mcp {
    inner: Arc<Inner>,
}

struct Inner {
    world: Arc<World>,
    hub: OnceLock<mpsc::UnboundedSender<Command>>,
}

enum Command {
    Configure(Vec<ServerEntry>),
    Tell(ServerName, Msg),
    Shutdown(oneshot::Sender<()>),
}

impl Mcp {
    /// The MCP side. Cheap: starts no thread, no process and reads no file. `signals` is called on the MCP thread and must not block.
    pub fn new(options: Options, signals: impl Fn(ServerSignal) + Send + Sync + 'static) -> Self {
        let world = World {
            options,
            emit: Box::new(signals),
            asks: super::asks::Asks::default(),
            tools: std::sync::RwLock::default(),
        };
        Self { inner: Arc::new(Inner { world: Arc::new(world), hub: OnceLock::new() }) }
    }

    /// The servers there are from now on. Those that start as before are left alone, changed ones are restarted if they run, missing ones are ended.
    pub fn configure(&self, entries: Vec<ServerEntry>) {
        if entries.is_empty() && self.inner.hub.get().is_none() {
            return;
        }
        self.send(Command::Configure(entries));
    }

    /// Starts, stops or restarts a server.
    pub fn act(&self, server: &ServerName, action: ServerAction) {
        self.tell(server, Msg::Act(action));
    }

    /// Calls a tool; its server is started if it does not run. Always ends with an outcome. Dropping the future calls the call off.
    pub async fn call(&self, tool: ToolId, arguments: Map<String, Value>, run: Run) -> ToolOutcome {
        let Some(server) = tool.server.clone() else {
            return ToolOutcome::failed(format!("{tool} is not a tool of an MCP server."));
        };
        let (reply, outcome) = oneshot::channel();
        self.tell(&server, Msg::Call(Box::new(CallRequest { tool, arguments, run, reply })));
        outcome.await.unwrap_or_else(|_| ToolOutcome::failed(unknown(&server)))
    }

    /// The contents of a resource; its server is started if it does not run. The error is for the model and the user.
    pub async fn read_resource(
        &self,
        server: &ServerName,
        uri: &str,
        cancel: CancellationToken,
    ) -> Result<Vec<Content>, String> {
        let (reply, outcome) = oneshot::channel();
        self.tell(server, Msg::Read(Box::new(ReadRequest { uri: uri.to_owned(), cancel, reply })));
        outcome.await.unwrap_or_else(|_| Err(unknown(server)))
    }

    /// Answers what a server asked. Nothing happens where it is no longer asked.
    pub fn answer(&self, ask: AskId, answer: AskAnswer) {
        self.inner.world.asks.answer(ask, answer);
    }

    /// The usable tools of a server as they are known now, from it or from the catalogue.
    pub fn tools(&self, server: &ServerName) -> Vec<Arc<ToolSpec>> {
        self.inner.world.tools(server)
    }

    /// Ends every server: calls are called off, inputs closed, then TERM, then KILL. Takes five seconds at most; nothing can be called afterwards.
    pub async fn shutdown(&self) {
        let Some(hub) = self.inner.hub.get() else { return };
        let (done, wait) = oneshot::channel();
        if hub.send(Command::Shutdown(done)).is_ok() && tokio::time::timeout(SHUTDOWN, wait).await.is_err() {
            tracing::warn!("not all servers ended in time; the guard will end the rest");
        }
    }

    fn tell(&self, server: &ServerName, message: Msg) {
        self.send(Command::Tell(server.clone(), message));
    }

    fn send(&self, command: Command) {
        let _ = self.inner.hub.get_or_init(|| spawn(Arc::clone(&self.inner.world))).send(command);
    }
}

fn unknown(server: &ServerName) -> String {
    format!("There is no MCP server named {server}, or the program is ending.")
}

/// Starts the thread. Where that is impossible the channel is closed, and every call fails.
fn spawn(world: Arc<World>) -> mpsc::UnboundedSender<Command> {
    let (tx, rx) = mpsc::unbounded_channel();
    let thread = std::thread::Builder::new().name("mcp".to_owned()).spawn(move || {
        match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(Hub { world, servers: HashMap::new(), leaving: Vec::new() }.run(rx)),
            Err(error) => tracing::error!(%error, "the MCP thread has no runtime"),
        }
    });
    if let Err(error) = thread {
        tracing::error!(%error, "the MCP thread could not be started");
    }
    tx
}

struct Hub {
    world: Arc<World>,
    servers: HashMap<ServerName, Server>,
    /// Connections of servers that are no longer configured, until they have ended.
    leaving: Vec<JoinHandle<()>>,
}

struct Server {
    tell: mpsc::UnboundedSender<Msg>,
    task: JoinHandle<()>,
    entry: ServerEntry,
}

impl Hub {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        let mut done = None;
        while let Some(command) = inbox.recv().await {
            match command {
                Command::Configure(entries) => self.configure(entries),
                // A message for nobody is dropped, and with it the way to reply: that is the answer.
                Command::Tell(server, message) => {
                    if let Some(server) = self.servers.get(&server) {
                        let _ = server.tell.send(message);
                    }
                }
                Command::Shutdown(reply) => {
                    done = Some(reply);
                    break;
                }
            }
        }
        for (_, server) in self.servers.drain() {
            let _ = server.tell.send(Msg::Close);
            self.leaving.push(server.task);
        }
        for task in self.leaving {
            let _ = task.await;
        }
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    fn configure(&mut self, entries: Vec<ServerEntry>) {
        self.leaving.retain(|task| !task.is_finished());
        let names: HashSet<&ServerName> = entries.iter().map(|entry| &entry.name).collect();
        let gone: Vec<ServerName> = self.servers.keys().filter(|name| !names.contains(name)).cloned().collect();
        for name in gone {
            self.remove(&name);
        }
        for entry in entries {
            match self.servers.get_mut(&entry.name) {
                Some(server) if server.entry == entry => {}
                Some(server) => {
                    server.entry = entry.clone();
                    let _ = server.tell.send(Msg::Configure(Box::new(entry)));
                }
                None => self.add(entry),
            }
        }
    }

    fn add(&mut self, entry: ServerEntry) {
        let (tell, inbox) = mpsc::unbounded_channel();
        let connection = Connection::new(Arc::clone(&self.world), entry.clone(), tell.clone());
        let task = tokio::spawn(connection.run(inbox));
        self.servers.insert(entry.name.clone(), Server { tell, task, entry });
    }

    fn remove(&mut self, name: &ServerName) {
        let Some(server) = self.servers.remove(name) else { return };
        let _ = server.tell.send(Msg::Close);
        self.leaving.push(server.task);
        self.world.forget_tools(name);
        self.world.emit(ServerSignal::Removed { server: name.clone() });
    }
}
