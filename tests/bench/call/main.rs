//! What a tool call costs more through mcpane than on a bare pipe, with the same server: the embedded one, as a process.
//!
//! `cargo bench --bench call` prints rows of the README's table on standard output.

// A benchmark that cannot be set up should end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../meter.rs"]
mod meter;

use mcpane::domain::server::{ServerEntry, ServerSignal, ServerState, Source, Timeouts, Transport};
use mcpane::domain::{CallId, ToolId, ToolOutcome};
use mcpane::guard::Guard;
use mcpane::mcp::{Mcp, Options, Run};
use mcpane::redact::Redactor;
use meter::{Limit, median, ms, row};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const EXE: &str = env!("CARGO_BIN_EXE_mcpane");
const TOOL: &str = "get_forecast";
const CALLS: usize = 1_000;
/// Alternating between the two ways, so that what else the machine does hits both.
const ROUNDS: usize = 5;

fn arguments() -> Value {
    json!({ "latitude": 41.7, "longitude": -74.0 })
}

/// A server on a pipe, spoken to as plainly as can be.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    last: u64,
}

impl Pipe {
    fn new() -> Self {
        let mut child = Command::new(EXE)
            .arg("demo-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut pipe = Self { child, input, output, line: String::new(), last: 0 };
        pipe.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "pipe", "version": "1" } }),
        );
        pipe.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    fn tell(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.last += 1;
        self.tell(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        loop {
            self.line.clear();
            self.output.read_line(&mut self.line).expect("the server answers");
            let answer: Value = serde_json::from_str(&self.line).expect("JSON");
            if answer["id"] == self.last {
                assert!(answer["result"].is_object(), "{answer}");
                return;
            }
        }
    }

    fn time(&mut self) -> f64 {
        let params = json!({ "name": TOOL, "arguments": arguments() });
        let start = Instant::now();
        self.ask("tools/call", &params);
        ms(start.elapsed())
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The same server behind the hub.
struct Hub {
    mcp: Mcp,
    _dir: tempfile::TempDir,
    last: u64,
}

impl Hub {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let (tell, mut signals) = mpsc::unbounded_channel();
        let options = Options {
            state_dir: dir.path().to_owned(),
            roots: vec![dir.path().to_owned()],
            version: "0".into(),
            guard: Guard::start(Path::new(EXE)),
            redactor: Redactor::default(),
            tap: None,
        };
        let mcp = Mcp::new(options, move |signal| drop(tell.send(signal)));
        mcp.configure(vec![entry()]);
        loop {
            match signals.recv().await.expect("the hub lives") {
                ServerSignal::Status(status) if status.state == ServerState::Ready && status.tools.is_some() => break,
                _ => {}
            }
        }
        Self { mcp, _dir: dir, last: 0 }
    }

    async fn time(&mut self) -> f64 {
        self.last += 1;
        let run = Run { call: CallId(self.last), signals: Arc::new(|_| {}), cancel: CancellationToken::new() };
        let Value::Object(arguments) = arguments() else { unreachable!("an object") };
        let tool = ToolId::on(&"demo".into(), TOOL);
        let start = Instant::now();
        let outcome = self.mcp.call(tool, arguments, run).await;
        let time = ms(start.elapsed());
        assert!(matches!(outcome, ToolOutcome::Done { is_error: false, .. }), "{outcome:?}");
        time
    }
}

fn entry() -> ServerEntry {
    ServerEntry {
        name: "demo".into(),
        transport: Ok(Transport::Stdio {
            command: EXE.into(),
            args: vec!["demo-server".into()],
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
        fingerprint: "bench".into(),
    }
}

fn main() {
    if !meter::is_bench() {
        return;
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (mut pipe, mut hub) = (Pipe::new(), Hub::new().await);
        let (mut bare, mut through) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            for _ in 0..CALLS / ROUNDS {
                bare.push(tokio::task::block_in_place(|| pipe.time()));
            }
            for _ in 0..CALLS / ROUNDS {
                through.push(hub.time().await);
            }
        }
        let (bare, through) = (median(&bare), median(&through));
        row("A tool call on a bare pipe, median of 1,000", bare, "ms", Limit::None, "");
        row("… through mcpane's hub, more than that", through - bare, "ms", Limit::Most(1.0), "");
        hub.mcp.shutdown().await;
    });
}
