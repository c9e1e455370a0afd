//! What every test here needs: an MCP side with its signals, entries for the fixture server, and a look at processes.

use mcpane::domain::server::{
    ServerAsk, ServerEntry, ServerSignal, ServerState, ServerStatus, Source, Timeouts, Transport,
};
use mcpane::domain::{AskId, CallId, Content, ServerName, ToolId, ToolOutcome, ToolSignal, ToolSpec};
use mcpane::guard::Guard;
use mcpane::mcp::{Mcp, Options, Run};
use mcpane::redact::Redactor;
use mcpane::strings::{Language, Strings};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long anything here may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The fixture server's program.
pub fn fixture() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().and_then(Path::parent).unwrap().join("examples/fixture_server");
    // `cargo test` builds it; `cargo test --test mcp` does not.
    let modified = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources =
        ["tests/support/fixture_server", "src/demo_server"].map(|dir| std::fs::read_dir(root.join(dir)).unwrap());
    let newest = sources.into_iter().flatten().flatten().filter_map(|entry| modified(&entry.path())).max();
    let newest = newest.max(modified(&root.join("src/guard.rs")));
    assert!(modified(&path) > newest, "{} is missing or old: cargo build --example fixture_server", path.display());
    path
}

/// One guard for all tests, as a program has one.
pub fn guard() -> Guard {
    static GUARD: OnceLock<Guard> = OnceLock::new();
    GUARD.get_or_init(|| Guard::start(&fixture())).clone()
}

/// An MCP side, its signals, and a directory of its own.
pub struct Rig {
    pub mcp: Mcp,
    pub dir: Arc<tempfile::TempDir>,
    pub redactor: Redactor,
    /// The beginning of every line that passed.
    pub lines: Arc<Mutex<Vec<String>>>,
    signals: mpsc::UnboundedReceiver<ServerSignal>,
    /// Everything that was received so far.
    pub seen: Vec<ServerSignal>,
}

impl Rig {
    pub fn new() -> Self {
        Self::on(Arc::new(tempfile::tempdir().unwrap()))
    }

    /// Another one over the same directory: the next start of the program.
    pub fn on(dir: Arc<tempfile::TempDir>) -> Self {
        let (tx, signals) = mpsc::unbounded_channel();
        let (redactor, lines) = (Redactor::default(), Arc::new(Mutex::new(Vec::new())));
        let sink = Arc::clone(&lines);
        let options = Options {
            state_dir: dir.path().join("state"),
            roots: vec![dir.path().to_owned()],
            version: "0.0.0".into(),
            guard: guard(),
            redactor: redactor.clone(),
            tap: Some(Arc::new(move |server: &ServerName, direction, line: &[u8]| {
                let line = format!("{server} {direction:?} {}", String::from_utf8_lossy(&line[..line.len().min(200)]));
                sink.lock().unwrap().push(line);
            })),
        };
        let mcp = Mcp::new(options, move |signal| drop(tx.send(signal)));
        Self { mcp, dir, redactor, lines, signals, seen: Vec::new() }
    }

    /// One fixture server, started and ready, with its tools known.
    pub async fn with(args: &[&str]) -> Self {
        let mut rig = Self::new();
        let entry = rig.entry("s", args);
        rig.mcp.configure(vec![entry]);
        rig.ready("s").await;
        rig
    }

    /// An entry for the fixture server. It writes its pids and what it receives to files of the directory.
    pub fn entry(&self, name: &str, args: &[&str]) -> ServerEntry {
        let file = |what: &str| self.dir.path().join(format!("{name}.{what}")).display().to_string();
        let transport = Transport::Stdio {
            command: fixture().display().to_string(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: vec![("FIXTURE_PIDS".into(), file("pids")), ("FIXTURE_RECORD".into(), file("record"))],
            cwd: None,
        };
        entry(name, transport)
    }

    /// A fixture server that speaks HTTP, started by us; `args` before `--http`, `web` after it. It ends with what is returned.
    pub fn web(&self, name: &str, args: &[&str], web: &[&str]) -> Web {
        self.web_at(name, 0, args, web)
    }

    /// The same on a port that is known.
    pub fn web_at(&self, name: &str, port: u16, args: &[&str], web: &[&str]) -> Web {
        let file = |what: &str| self.dir.path().join(format!("{name}.{what}"));
        let mut child = Command::new(fixture())
            .args(args)
            .args(["--http", &port.to_string()])
            .args(web)
            .env("FIXTURE_PIDS", file("pids"))
            .env("FIXTURE_RECORD", file("record"))
            .env("FIXTURE_HTTP", file("http"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Web { child, url: line.trim().to_owned() }
    }

    /// The HTTP requests that a server received: method, path, headers.
    pub fn requests(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.dir.path().join(format!("{name}.http"))).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// One fixture server over HTTP, ready, with its tools known.
    pub async fn over_http(args: &[&str], web: &[&str]) -> (Self, Web) {
        let mut rig = Self::new();
        let web = rig.web("s", args, web);
        rig.mcp.configure(vec![web.entry("s")]);
        rig.ready("s").await;
        (rig, web)
    }

    /// The pids that a server wrote down: its own and its grandchildren's, of every start.
    pub fn pids(&self, name: &str) -> Vec<u32> {
        let text = std::fs::read_to_string(self.dir.path().join(format!("{name}.pids"))).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Messages that a server received.
    pub fn received(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.dir.path().join(format!("{name}.record"))).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Whether a server received a message with this method, looking for a while.
    pub async fn was_told(&self, name: &str, method: &str) -> bool {
        for _ in 0..200 {
            if self.received(name).iter().any(|message| message["method"] == method) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    /// Waits for a signal that `pick` picks something from.
    pub async fn until<T>(&mut self, mut pick: impl FnMut(&ServerSignal) -> Option<T>) -> T {
        let search = async {
            loop {
                let signal = self.signals.recv().await.expect("the MCP side is gone");
                let picked = pick(&signal);
                self.seen.push(signal);
                if let Some(picked) = picked {
                    return picked;
                }
            }
        };
        let picked = tokio::time::timeout(PATIENCE, search).await.ok();
        picked.unwrap_or_else(|| panic!("never came; seen: {:#?}", self.seen))
    }

    /// Everything that has arrived by now.
    pub fn drain(&mut self) -> &[ServerSignal] {
        while let Ok(signal) = self.signals.try_recv() {
            self.seen.push(signal);
        }
        &self.seen
    }

    pub async fn status(&mut self, name: &str, mut fits: impl FnMut(&ServerStatus) -> bool) -> ServerStatus {
        self.until(|signal| match signal {
            ServerSignal::Status(status) if status.name.as_str() == name && fits(status) => Some((**status).clone()),
            _ => None,
        })
        .await
    }

    pub async fn state(&mut self, name: &str, state: ServerState) -> ServerStatus {
        self.status(name, |status| status.state == state).await
    }

    /// Ready, with its tools read from the server itself.
    pub async fn ready(&mut self, name: &str) -> ServerStatus {
        self.status(name, |status| status.state == ServerState::Ready && status.tools.is_some() && !status.cached).await
    }

    pub async fn tools(&mut self, name: &str) -> (Vec<Arc<ToolSpec>>, Vec<(String, String)>) {
        self.until(|signal| match signal {
            ServerSignal::Tools { server, tools, rejected } if server.as_str() == name => {
                Some((tools.clone(), rejected.clone()))
            }
            _ => None,
        })
        .await
    }

    /// The next question of a server.
    pub async fn asked(&mut self) -> (AskId, Option<CallId>, ServerAsk) {
        self.until(|signal| match signal {
            ServerSignal::Asks { ask, call, what, .. } => Some((*ask, *call, what.clone())),
            _ => None,
        })
        .await
    }

    /// The states a server went through.
    pub fn states(&mut self, name: &str) -> Vec<ServerState> {
        let mut states = Vec::new();
        for signal in self.drain() {
            if let ServerSignal::Status(status) = signal
                && status.name.as_str() == name
                && states.last() != Some(&status.state)
            {
                states.push(status.state);
            }
        }
        states
    }

    /// Starts a call.
    pub fn begin(&self, server: &str, tool: &str, arguments: Value) -> Call {
        static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let id = CallId(1 + LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let (mcp, tool) = (self.mcp.clone(), ToolId::on(&server.into(), tool));
        let signals: Arc<Mutex<Vec<ToolSignal>>> = Arc::default();
        let cancel = CancellationToken::new();
        let sink = Arc::clone(&signals);
        let run = Run {
            call: id,
            signals: Arc::new(move |signal| sink.lock().unwrap().push(signal)),
            cancel: cancel.clone(),
        };
        let arguments = arguments.as_object().unwrap().clone();
        let outcome = tokio::spawn(async move { mcp.call(tool, arguments, run).await });
        Call { id, cancel, outcome, signals }
    }

    /// Calls and waits.
    pub async fn call(&self, server: &str, tool: &str, arguments: Value) -> ToolOutcome {
        self.begin(server, tool, arguments).end().await
    }

    /// Calls, waits, and takes the text of the answer.
    pub async fn text(&self, server: &str, tool: &str, arguments: Value) -> String {
        text(&self.call(server, tool, arguments).await)
    }
}

/// A server that speaks HTTP.
pub struct Web {
    child: std::process::Child,
    pub url: String,
}

impl Web {
    pub fn entry(&self, name: &str) -> ServerEntry {
        self.entry_at(name, "/mcp")
    }

    pub fn entry_at(&self, name: &str, path: &str) -> ServerEntry {
        entry(name, Transport::Http { url: format!("{}{path}", self.url), headers: Vec::new() })
    }

    pub fn sse_entry(&self, name: &str) -> ServerEntry {
        entry(name, Transport::Sse { url: format!("{}/sse", self.url), headers: Vec::new() })
    }

    pub fn port(&self) -> u16 {
        self.url.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A call under way.
pub struct Call {
    pub id: CallId,
    pub cancel: CancellationToken,
    outcome: tokio::task::JoinHandle<ToolOutcome>,
    signals: Arc<Mutex<Vec<ToolSignal>>>,
}

impl Call {
    pub async fn end(self) -> ToolOutcome {
        tokio::time::timeout(PATIENCE, self.outcome).await.expect("the call hangs").unwrap()
    }

    pub fn signals(&self) -> Vec<ToolSignal> {
        self.signals.lock().unwrap().clone()
    }

    /// Waits until it has told something.
    pub async fn told(&self, what: impl Fn(&ToolSignal) -> bool) {
        for _ in 0..3_000 {
            if self.signals().iter().any(&what) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("never told; got {:?}", self.signals());
    }

    /// Nobody waits for it any more.
    pub fn abandon(self) {
        self.outcome.abort();
    }

    pub fn signals_handle(&self) -> Arc<Mutex<Vec<ToolSignal>>> {
        Arc::clone(&self.signals)
    }
}

/// The text of an answer.
pub fn text(outcome: &ToolOutcome) -> String {
    match outcome {
        ToolOutcome::Done { content, is_error: false, .. } => match content.first() {
            Some(Content::Text { text }) => text.clone(),
            other => panic!("no text: {other:?}"),
        },
        other => panic!("not done: {other:?}"),
    }
}

/// Why it failed, and whether it may have run.
pub fn failure(outcome: &ToolOutcome) -> (String, bool) {
    match outcome {
        ToolOutcome::Failed { message, may_have_run } => (message.clone(), *may_have_run),
        other => panic!("not failed: {other:?}"),
    }
}

/// A status's reason in English.
pub fn reason(status: &ServerStatus) -> String {
    let strings = Strings::new(Language::En);
    let reason = status.reason.as_ref().unwrap_or_else(|| panic!("no reason: {status:?}"));
    assert!(reason.key == "literal" || strings.get(&reason.key) != reason.key, "no text for {}", reason.key);
    if let Some(fix) = &status.fix {
        assert_ne!(strings.get(&fix.key), fix.key, "no text");
    }
    strings.render(reason)
}

/// An entry with nothing special about it.
pub fn entry(name: &str, transport: Transport) -> ServerEntry {
    ServerEntry {
        name: ServerName::from(name),
        fingerprint: format!("{name}{transport:?}").into(),
        transport: Ok(transport),
        source: Source { file: "/etc/mcp.json".into(), line: 3, shadows: Vec::new() },
        disabled: false,
        untrusted: false,
        lazy: true,
        protocol: None,
        timeouts: Timeouts::default(),
        tool_timeouts: Vec::new(),
        allow_tools: Vec::new(),
        deny_tools: Vec::new(),
        trust_read_only: false,
    }
}

/// Whether a process runs; one that is dead and not reaped does not.
pub fn alive(pid: u32) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !matches!(stat.rsplit_once(')').unwrap().1.trim_start().chars().next(), Some('Z' | 'X')),
        Err(_) if Path::new("/proc/self").exists() => false,
        Err(_) => {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            rustix::process::test_kill_process(pid).is_ok()
        }
    }
}

/// Waits until none of these runs; those that still do after a while.
pub async fn survivors(pids: &[u32], patience: Duration) -> Vec<u32> {
    let until = std::time::Instant::now() + patience;
    loop {
        let left: Vec<u32> = pids.iter().copied().filter(|pid| alive(*pid)).collect();
        if left.is_empty() || std::time::Instant::now() > until {
            return left;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
