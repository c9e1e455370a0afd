//! An MCP server for tests, written by hand so that it can misbehave. Speaks JSON-RPC over its standard streams and knows no MCP library.
//!
//! How it starts is decided by options, how a call goes wrong by the call:
//!
//! | option | effect |
//! |---|---|
//! | `--stderr TEXT` | writes the line to standard error at once (repeatable) |
//! | `--banner` | writes garbage to standard output, before and between messages |
//! | `--delay MS` | waits before it answers `initialize` |
//! | `--init ok\|never\|error\|die\|idless\|wrong-id\|no-version\|half` | what it does at `initialize`; `half` answers nothing after a first notification |
//! | `--exit CODE` | the exit code of `--init die` and `--list die` (default 3) |
//! | `--version REV` | answers `initialize` with this revision |
//! | `--style plain\|bare\|batch\|string-id\|crlf\|bom` | how every message is written; `bare` leaves `jsonrpc` out |
//! | `--list ok\|never\|error\|die\|loop\|pages\|malformed\|hostile\|many\|restless` | what `tools/list` gives |
//! | `--canned FILE` | lists the tools of the file and answers their calls from it (see `canned`) |
//! | `--grandchild` | starts a process in a group of its own that ignores TERM, HUP and INT; its pid is appended to the file `$FIXTURE_PIDS` |
//! | `--linger` | lives on when its standard input ends |
//!
//! | `--http PORT` | speaks HTTP on that port (0: any), and says its address; the options of `http::Options` follow: `--reply sse\|json`, `--ids`, `--retry MS`, |
//! | | `--no-get`, `--stale STATUS`, `--no-session`, `--token VALUE`, `--refusal STATUS`, `--status STATUS`, `--flaky COUNT`, `--only-sse`, `--short`, `--endpoint URL` |
//!
//! Its own pid is the first line of `$FIXTURE_PIDS`; every line it receives is appended to `$FIXTURE_RECORD`.
//! First words instead of options: `guard` (mcpane's guard process), `demo-server` (mcpane's), `host STATE_DIR COUNT [URL…]` (a host with servers, and remote ones) and
//! `hold COUNT` (a holder of a guard with process groups), both to be killed.
// The children that are left running are the point.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::zombie_processes)]

mod canned;
mod host;
mod http;
mod tools;

use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

/// What the options say.
#[derive(Clone)]
struct Options {
    init: String,
    list: String,
    style: String,
    version: Option<String>,
    exit: i32,
    delay: u64,
    banner: bool,
    linger: bool,
    canned: Option<String>,
    http: Option<http::Options>,
}

/// What the threads share.
struct Server {
    options: Options,
    out: Mutex<std::io::Stdout>,
    /// Requests of ours that wait for the client.
    asked: Mutex<HashMap<i64, mpsc::Sender<Value>>>,
    next: AtomicI64,
    /// Requests of the client that run, by their id as JSON text.
    running: Mutex<HashMap<String, Arc<AtomicBool>>>,
    /// Tools that appeared later.
    added: AtomicBool,
    /// Standard input is no longer read, and stays open.
    deaf: AtomicBool,
    /// Set where it speaks HTTP.
    web: OnceLock<Arc<http::Web>>,
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let mut options = Options {
        init: "ok".into(),
        list: "ok".into(),
        style: "plain".into(),
        version: None,
        exit: 3,
        delay: 0,
        banner: false,
        linger: false,
        canned: None,
        http: None,
    };
    let mut grandchild = false;
    let value = |args: &mut dyn Iterator<Item = String>| args.next().expect("a value");
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "guard" => return mcpane::guard::run(),
            "demo-server" => return mcpane::demo_server::run(),
            "host" => {
                return host::run(&value(&mut args), value(&mut args).parse().unwrap(), &args.collect::<Vec<_>>());
            }
            "hold" => return host::hold(value(&mut args).parse().unwrap()),
            "--stderr" => eprintln!("{}", value(&mut args)),
            "--banner" => options.banner = true,
            "--linger" => options.linger = true,
            "--canned" => options.canned = Some(value(&mut args)),
            "--grandchild" => grandchild = true,
            "--delay" => options.delay = value(&mut args).parse().unwrap(),
            "--exit" => options.exit = value(&mut args).parse().unwrap(),
            "--init" => options.init = value(&mut args),
            "--list" => options.list = value(&mut args),
            "--style" => options.style = value(&mut args),
            "--version" => options.version = Some(value(&mut args)),
            "--http" => options.http = Some(web_options(value(&mut args).parse().unwrap(), &mut args)),
            other => panic!("unknown option {other}"),
        }
    }
    append("FIXTURE_PIDS", &std::process::id().to_string());
    if grandchild {
        let script = r#"trap "" TERM HUP INT; echo $$ >> "$FIXTURE_PIDS"; while :; do sleep 1; done"#;
        let mut child = std::process::Command::new("sh");
        child.args(["-c", script]);
        // In a group of its own, as a shell with job control starts its children. Only Linux tells which session it is of.
        if cfg!(target_os = "linux") {
            child.process_group(0);
        }
        child.spawn().unwrap();
    }
    serve(options)
}

/// The options that follow `--http`; what is none of them ends them, so they come last.
fn web_options(port: u16, args: &mut dyn Iterator<Item = String>) -> http::Options {
    let mut web = http::Options {
        port,
        reply: "sse".into(),
        ids: false,
        retry: None,
        standing: true,
        stale: 404,
        sessions: true,
        token: None,
        refusal: 401,
        status: None,
        flaky: 0,
        only_sse: false,
        short: false,
        endpoint: None,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("a value");
        match arg.as_str() {
            "--reply" => web.reply = value(),
            "--ids" => web.ids = true,
            "--retry" => web.retry = Some(value().parse().unwrap()),
            "--no-get" => web.standing = false,
            "--stale" => web.stale = value().parse().unwrap(),
            "--no-session" => web.sessions = false,
            "--token" => web.token = Some(value()),
            "--refusal" => web.refusal = value().parse().unwrap(),
            "--status" => web.status = Some(value().parse().unwrap()),
            "--flaky" => web.flaky = value().parse().unwrap(),
            "--only-sse" => web.only_sse = true,
            "--short" => web.short = true,
            "--endpoint" => web.endpoint = Some(value()),
            other => panic!("unknown option {other} after --http"),
        }
    }
    web
}

fn serve(options: Options) -> ExitCode {
    let linger = options.linger;
    let server = Arc::new(Server {
        options,
        out: Mutex::new(std::io::stdout()),
        asked: Mutex::default(),
        next: AtomicI64::new(1000),
        running: Mutex::default(),
        added: AtomicBool::new(false),
        deaf: AtomicBool::new(false),
        web: OnceLock::new(),
    });
    if let Some(file) = &server.options.canned {
        canned::watch(Arc::clone(&server), file.clone());
    }
    if let Some(web) = server.options.http.clone() {
        return http::serve(server, web);
    }
    if server.options.banner {
        server.raw(b"Fixture server v1 (c) nobody\n\x1b[32mready\x1b[0m on stdio\n{\"level\":\"info\",\"msg\":\"not rpc\"}\n\xff\xfe\n\n");
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        append("FIXTURE_RECORD", &line);
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        server.receive(message);
        while server.deaf.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if linger {
        std::thread::sleep(Duration::from_secs(3600));
    }
    ExitCode::SUCCESS
}

fn append(variable: &str, line: &str) {
    let Ok(path) = std::env::var(variable) else { return };
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

impl Server {
    /// Writes bytes as they are.
    fn raw(&self, bytes: &[u8]) {
        if http::write(bytes) {
            return;
        }
        let mut out = self.out.lock().unwrap();
        // The client may be gone.
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// Writes a message in the chosen style.
    fn send(&self, mut message: Value) {
        if let Some(map) = message.as_object_mut()
            && self.options.style != "bare"
        {
            map.insert("jsonrpc".into(), "2.0".into());
        }
        let line = match self.options.style.as_str() {
            "batch" => format!("{}\n", json!([message])),
            "crlf" => format!("{message}\r\n"),
            "bom" => format!("\u{feff}{message}\n"),
            _ => format!("{message}\n"),
        };
        if self.options.banner {
            self.raw(b"DEBUG about to answer\n");
        }
        self.raw(line.as_bytes());
    }

    /// The id in a response, in the chosen style.
    fn id(&self, id: &Value) -> Value {
        if self.options.style == "string-id" { Value::String(id.to_string()) } else { id.clone() }
    }

    fn answer(&self, id: &Value, result: Value) {
        self.send(json!({ "id": self.id(id), "result": result }));
    }

    fn error(&self, id: &Value, code: i64, message: &str) {
        self.send(json!({ "id": self.id(id), "error": { "code": code, "message": message } }));
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "method": method, "params": params }));
    }

    /// Asks the client and waits for its answer: `result` or `error`, whole.
    fn ask(&self, method: &str, params: Value) -> Value {
        let (id, answer) = self.begin_ask(method, params);
        let answer = answer.recv().unwrap_or(Value::Null);
        self.asked.lock().unwrap().remove(&id);
        answer
    }

    fn begin_ask(&self, method: &str, params: Value) -> (i64, mpsc::Receiver<Value>) {
        let id = self.next.fetch_add(1, Ordering::SeqCst);
        let (tx, rx) = mpsc::channel();
        self.asked.lock().unwrap().insert(id, tx);
        self.send(json!({ "id": id, "method": method, "params": params }));
        (id, rx)
    }

    fn receive(self: &Arc<Self>, mut message: Value) {
        let id = message.get("id").cloned();
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str).map(str::to_owned);
        match (method.as_deref(), id) {
            (Some("initialize"), Some(id)) => self.initialize(&id, &params),
            (Some("tools/list"), Some(id)) => self.list(&id, &params),
            (Some("resources/read"), Some(id)) => self.read(&id, &params),
            (Some("tools/call"), Some(id)) => {
                let cancelled = Arc::new(AtomicBool::new(false));
                self.running.lock().unwrap().insert(id.to_string(), Arc::clone(&cancelled));
                let (server, sink) = (Arc::clone(self), http::sink());
                std::thread::spawn(move || {
                    http::work_for(sink);
                    tools::call(&server, &id, &params, &cancelled);
                    server.running.lock().unwrap().remove(&id.to_string());
                });
            }
            (Some("notifications/cancelled"), _) => {
                let id = params["requestId"].to_string();
                if let Some(flag) = self.running.lock().unwrap().get(&id) {
                    flag.store(true, Ordering::SeqCst);
                }
            }
            (Some(_), Some(id)) => self.error(&id, -32601, "Method not found"),
            (None, Some(id)) => {
                let waiting = id.as_i64().and_then(|id| self.asked.lock().unwrap().get(&id).cloned());
                if let Some(waiting) = waiting {
                    let _ = waiting.send(message);
                }
            }
            _ => {}
        }
    }

    fn initialize(&self, id: &Value, params: &Value) {
        std::thread::sleep(Duration::from_millis(self.options.delay));
        let theirs = params["protocolVersion"].as_str().unwrap_or("2025-11-25").to_owned();
        let version = self.options.version.clone().unwrap_or(theirs);
        let mut result = json!({
            "protocolVersion": version,
            "capabilities": { "tools": { "listChanged": true }, "resources": {} },
            "serverInfo": { "name": "fixture", "version": "1.0" },
            "instructions": "Only for tests.",
        });
        match self.options.init.as_str() {
            "never" => http::keep_open(),
            "half" => {
                self.notify("notifications/message", json!({ "level": "info", "data": "loading" }));
                http::keep_open();
            }
            "die" => {
                eprintln!("fixture: cannot import name 'Server'");
                http::keep_open();
                std::process::exit(self.options.exit);
            }
            "error" => self.error(id, -32000, "no licence"),
            "idless" => self.send(json!({ "id": null, "error": { "code": -32700, "message": "Parse error" } })),
            "wrong-id" => self.answer(&json!(4711), result),
            "no-version" => {
                result.as_object_mut().unwrap().remove("protocolVersion");
                self.answer(id, result);
            }
            _ => self.answer(id, result),
        }
    }

    fn list(&self, id: &Value, params: &Value) {
        let mut all = match &self.options.canned {
            Some(file) => canned::definitions(file),
            None => tools::definitions(),
        };
        if self.added.load(Ordering::SeqCst) {
            all.push(
                json!({ "name": "added", "description": "Was not there before.", "inputSchema": { "type": "object" } }),
            );
        }
        if self.options.list == "restless" {
            self.notify("notifications/tools/list_changed", json!({}));
        }
        let cursor = params.get("cursor").and_then(Value::as_str);
        let result = match (self.options.list.as_str(), cursor) {
            ("never", _) => return http::keep_open(),
            ("error", _) => return self.error(id, -32000, "the list is not available"),
            ("die", _) => std::process::exit(self.options.exit),
            ("loop", _) => {
                json!({ "tools": [{ "name": format!("again_{}", cursor.unwrap_or("0")), "inputSchema": { "type": "object" } }], "nextCursor": "again" })
            }
            ("pages", None) => json!({ "tools": all[..2], "nextCursor": "2" }),
            ("pages", Some(_)) => json!({ "tools": all[2..], "nextCursor": "" }),
            ("malformed", _) => {
                all.extend(tools::malformed());
                json!({ "tools": all })
            }
            ("hostile", _) => json!({ "tools": tools::hostile() }),
            ("many", _) => {
                json!({ "tools": (0..1_000).map(|n| json!({ "name": format!("tool_{n}"), "inputSchema": { "type": "object" } })).collect::<Vec<_>>() })
            }
            _ => json!({ "tools": all }),
        };
        self.answer(id, result);
    }

    fn read(&self, id: &Value, params: &Value) {
        match params["uri"].as_str() {
            Some("fixture://note") => self.answer(
                id,
                json!({ "contents": [{ "uri": "fixture://note", "mimeType": "text/plain", "text": "a note" }] }),
            ),
            Some("fixture://never") => http::keep_open(),
            _ => self.error(id, -32002, "Resource not found"),
        }
    }
}

/// An object with these members.
fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
