//! The same server over HTTP, by hand: streamable at `/mcp`, the older transport at `/sse`, and what can go wrong with either.
//!
//! Every POST has a [`Stream`]: a log of lines that whoever runs on its behalf writes to, and that connections read from. A connection that is cut leaves the
//! log: a GET with `Last-Event-ID` reads on. What is said on behalf of nobody goes to the standing stream.

use super::{Server, append, object};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What the options say.
#[derive(Clone)]
pub struct Options {
    /// Where to listen; 0 is any port.
    pub port: u16,
    /// `sse` or `json`: how a request is answered.
    pub reply: String,
    /// Events have ids, so that a cut stream can be taken up again.
    pub ids: bool,
    /// Tells with every stream after what pause it may be taken up again, milliseconds.
    pub retry: Option<u64>,
    /// There is a GET stream.
    pub standing: bool,
    /// What becomes of a request with an unknown session.
    pub stale: u16,
    /// Sessions are kept.
    pub sessions: bool,
    /// Only requests with this header of authorization are served.
    pub token: Option<String>,
    /// How the others are answered.
    pub refusal: u16,
    /// Every POST is refused with this.
    pub status: Option<u16>,
    /// So many requests are refused with 503 first.
    pub flaky: u64,
    /// Only the older transport is spoken, at every path.
    pub only_sse: bool,
    /// The older transport's stream is cut when it has answered the list of tools.
    pub short: bool,
    /// The address that the older transport names.
    pub endpoint: Option<String>,
}

/// What one request wrote.
#[derive(Default)]
pub struct Stream {
    number: u64,
    state: Mutex<Log>,
    wake: Condvar,
}

#[derive(Default)]
struct Log {
    lines: Vec<String>,
    half: Vec<u8>,
    over: bool,
    /// The next connection that comes here is cut, or ended in order.
    cut: Option<(usize, Cut)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Hard,
    Polite,
}

thread_local! {
    static SINK: RefCell<Option<Arc<Sink>>> = const { RefCell::new(None) };
}

/// The way to a stream; when the last one is dropped, the stream is over.
pub struct Sink(Arc<Stream>);

impl Drop for Sink {
    fn drop(&mut self) {
        self.0.state.lock().unwrap().over = true;
        self.0.wake.notify_all();
    }
}

/// The sink of the request that this thread works for.
pub fn sink() -> Option<Arc<Sink>> {
    SINK.with_borrow(Clone::clone)
}

/// Works for that request from now on.
pub fn work_for(sink: Option<Arc<Sink>>) {
    SINK.set(sink);
}

/// The request stays open although nobody works for it any more.
pub fn keep_open() {
    std::mem::forget(sink());
}

/// Writes to the request's stream; `false` if there is none.
pub fn write(bytes: &[u8]) -> bool {
    let Some(sink) = sink() else { return false };
    sink.0.push(bytes);
    true
}

/// Cuts the request's stream here, without or with an orderly end.
pub fn cut(politely: bool) {
    if let Some(sink) = sink() {
        let mut log = sink.0.state.lock().unwrap();
        log.cut = Some((log.lines.len(), if politely { Cut::Polite } else { Cut::Hard }));
        sink.0.wake.notify_all();
    }
}

impl Stream {
    fn push(&self, bytes: &[u8]) {
        let mut log = self.state.lock().unwrap();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            log.half.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&log.half).trim_end().to_owned();
                log.half.clear();
                log.lines.push(line);
            }
        }
        self.wake.notify_all();
    }
}

/// What all connections share.
pub struct Web {
    options: Options,
    server: Arc<Server>,
    streams: Mutex<HashMap<u64, Arc<Stream>>>,
    sessions: Mutex<HashSet<String>>,
    legacy: Mutex<HashMap<String, Arc<Sink>>>,
    standing: Arc<Sink>,
    next: AtomicU64,
    requests: AtomicU64,
    /// It says nothing to a handshake any more.
    mute: AtomicBool,
}

/// Serves until it is killed.
pub fn serve(server: Arc<Server>, options: Options) -> ExitCode {
    let listener = TcpListener::bind(("127.0.0.1", options.port)).expect("the port is free");
    let standing = Arc::new(Stream::default());
    let web = Arc::new(Web {
        server,
        options,
        streams: Mutex::new(HashMap::from([(0, Arc::clone(&standing))])),
        sessions: Mutex::default(),
        legacy: Mutex::default(),
        standing: Arc::new(Sink(standing)),
        next: AtomicU64::new(1),
        requests: AtomicU64::new(0),
        mute: AtomicBool::new(false),
    });
    let _ = web.server.web.set(Arc::clone(&web));
    let line = format!("http://{}\n", listener.local_addr().unwrap());
    std::io::stdout().write_all(line.as_bytes()).unwrap();
    for socket in listener.incoming().flatten() {
        let web = Arc::clone(&web);
        socket.set_nodelay(true).unwrap();
        std::thread::spawn(move || while web.one(&socket).unwrap_or(false) {});
    }
    ExitCode::SUCCESS
}

struct Request {
    method: String,
    path: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

fn read(socket: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut input = BufReader::new(socket);
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_ascii_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    // A proxy is asked for the whole address.
    let path = match path.strip_prefix("http://") {
        Some(rest) => format!("/{}", rest.split_once('/').map_or("", |(_, path)| path)),
        None => path,
    };
    Ok(Some(Request { method, path, headers, body }))
}

fn respond(mut socket: &TcpStream, status: u16, headers: &str, body: &str) -> std::io::Result<bool> {
    let text = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
    socket.write_all(text.as_bytes())?;
    Ok(true)
}

fn message(status: u16) -> String {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": format!("status {status}") } })
        .to_string()
}

const JSON: &str = "content-type: application/json\r\n";

impl Web {
    /// Forgets all sessions, as a restart does.
    pub fn forget(&self) {
        self.sessions.lock().unwrap().clear();
    }

    /// Speaks on behalf of nobody.
    pub fn aside<T>(&self, speak: impl FnOnce() -> T) -> T {
        let own = sink();
        work_for(Some(Arc::clone(&self.standing)));
        let said = speak();
        work_for(own);
        said
    }

    /// One request of a connection; `false` when the connection is over.
    fn one(self: &Arc<Self>, socket: &TcpStream) -> std::io::Result<bool> {
        let Some(request) = read(socket)? else { return Ok(false) };
        let headers: serde_json::Map<String, Value> =
            request.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let line = json!({ "method": request.method, "path": request.path, "headers": headers });
        append("FIXTURE_HTTP", &line.to_string());
        if self.requests.fetch_add(1, Ordering::SeqCst) < self.options.flaky {
            return respond(socket, 503, "", "not yet");
        }
        if let Some(token) = &self.options.token
            && request.headers.get("authorization") != Some(token)
        {
            let challenge = if self.options.refusal == 401 { "www-authenticate: Bearer\r\n" } else { "" };
            let said = format!(
                "{{\"error\":\"invalid_token\",\"error_description\":\"bad {:?}\"}}",
                request.headers.get("authorization")
            );
            return respond(socket, self.options.refusal, challenge, &said.replace("\\\"", ""));
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        match (request.method.as_str(), path) {
            (_, "/moved") => respond(socket, 307, "location: /mcp\r\n", ""),
            (_, "/round") => respond(socket, 307, "location: /round\r\n", ""),
            (_, "/away") => respond(socket, 307, &format!("location: {query}\r\n"), ""),
            (_, "/page") => respond(socket, 200, "content-type: text/html\r\n", "<html>hello</html>"),
            (_, "/plain") => respond(socket, 200, "content-type: text/plain\r\n", "hello"),
            (_, "/nothing") => respond(socket, 404, "", ""),
            (_, "/accepts") => respond(socket, 202, "", ""),
            (_, "/drops") => Ok(false),
            (_, "/silent") => {
                std::thread::sleep(Duration::from_secs(3600));
                Ok(false)
            }
            ("POST", "/message") => self.legacy_post(socket, &request, query),
            ("GET", _) if path == "/sse" || self.options.only_sse => self.legacy_get(socket),
            ("POST", _) if path == "/sse" || self.options.only_sse => respond(socket, 405, "", ""),
            ("POST", _) => self.post(socket, &request),
            ("GET", _) if self.options.standing => self.get(socket, &request),
            ("DELETE", _) => {
                self.sessions.lock().unwrap().retain(|known| Some(known) != request.headers.get("mcp-session-id"));
                respond(socket, 200, "", "")
            }
            _ => respond(socket, 405, "", ""),
        }
    }

    fn known(&self, request: &Request) -> bool {
        let id = request.headers.get("mcp-session-id");
        !self.options.sessions || id.is_some_and(|id| self.sessions.lock().unwrap().contains(id))
    }

    fn post(self: &Arc<Self>, socket: &TcpStream, request: &Request) -> std::io::Result<bool> {
        append("FIXTURE_RECORD", &String::from_utf8_lossy(&request.body));
        if let Some(status) = self.options.status {
            return respond(socket, status, "", &message(status));
        }
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return respond(socket, 400, "", "") };
        let begins = body["method"] == "initialize";
        if begins && self.mute.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_secs(3600));
        }
        if !begins && !self.known(request) {
            return respond(socket, self.options.stale, JSON, &message(self.options.stale));
        }
        let arguments = &body["params"]["arguments"];
        match arguments["kind"].as_str() {
            Some("status") => {
                let status = arguments["status"].as_u64().unwrap() as u16;
                let said = arguments["body"].as_str().map_or_else(|| message(status), str::to_owned);
                let wait =
                    arguments["wait"].as_str().map(|wait| format!("retry-after: {wait}\r\n")).unwrap_or_default();
                return respond(socket, status, &wait, &said);
            }
            Some("drop") => return Ok(false),
            Some("html") => return respond(socket, 200, "content-type: text/html\r\n", "<p>log in</p>"),
            Some("half_json") => {
                let mut socket = socket;
                socket.write_all(
                    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"json",
                )?;
                return Ok(false);
            }
            _ => {}
        }
        let is_request = body.get("method").is_some() && body.get("id").is_some();
        let stream = self.stream();
        let (server, sink) = (Arc::clone(&self.server), Arc::new(Sink(Arc::clone(&stream))));
        let standing = Arc::clone(&self.standing);
        std::thread::spawn(move || {
            work_for(Some(if is_request { sink } else { standing }));
            server.receive(body);
            work_for(None);
        });
        if !is_request {
            return respond(socket, 202, "", "");
        }
        let mut headers = String::new();
        if begins && self.options.sessions {
            let id = format!("session-{}", self.next.fetch_add(1, Ordering::SeqCst));
            headers = format!("mcp-session-id: {id}\r\n");
            self.sessions.lock().unwrap().insert(id);
        }
        if self.options.reply == "json" {
            return json_reply(socket, &stream, &headers);
        }
        // Nobody knows whether it is reached before it says something.
        if begins {
            let log = stream.state.lock().unwrap();
            drop(stream.wake.wait_while(log, |log| log.lines.is_empty() && !log.over).unwrap());
        }
        self.pump(socket, &stream, 0, &headers)
    }

    fn stream(&self) -> Arc<Stream> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let stream = Arc::new(Stream { number, ..Stream::default() });
        self.streams.lock().unwrap().insert(number, Arc::clone(&stream));
        stream
    }

    fn get(&self, socket: &TcpStream, request: &Request) -> std::io::Result<bool> {
        if !self.known(request) {
            return respond(socket, self.options.stale, JSON, &message(self.options.stale));
        }
        let last = request.headers.get("last-event-id").and_then(|id| id.split_once('-'));
        let (number, from) = match last {
            Some((number, lines)) => (number.parse().unwrap(), lines.parse::<usize>().unwrap()),
            None => (0, self.standing.0.state.lock().unwrap().lines.len()),
        };
        let stream = self.streams.lock().unwrap().get(&number).cloned();
        match stream {
            Some(stream) => self.pump(socket, &stream, from, ""),
            None => respond(socket, 400, "", ""),
        }
    }

    /// Copies a stream to a connection, from a line on, until it is over or cut.
    fn pump(&self, mut socket: &TcpStream, stream: &Stream, from: usize, headers: &str) -> std::io::Result<bool> {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{headers}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        socket.write_all(head.as_bytes())?;
        let chunk =
            |mut socket: &TcpStream, text: &str| socket.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
        let retry = self.options.retry.map(|retry| format!("retry: {retry}\n")).unwrap_or_default();
        let mut at = from;
        if self.options.ids {
            // A place before the first event, so that even a stream without any can be taken up again.
            chunk(socket, &format!(": hello\n{retry}id: {}-{from}\ndata:\n\n", stream.number))?;
        }
        loop {
            let (line, cut) = {
                let log = stream.state.lock().unwrap();
                let idle =
                    |log: &mut Log| at >= log.lines.len() && !log.over && log.cut.is_none_or(|(place, _)| place != at);
                let mut log = stream.wake.wait_while(log, idle).unwrap();
                let cut = log.cut.take_if(|(place, _)| *place == at).map(|(_, cut)| cut);
                (log.lines.get(at).cloned(), cut)
            };
            match (cut, line) {
                (Some(Cut::Hard), _) => {
                    socket.flush()?;
                    return Ok(false);
                }
                (Some(Cut::Polite), _) | (None, None) => break,
                (None, Some(line)) => {
                    let id =
                        if self.options.ids { format!("id: {}-{}\n", stream.number, at + 1) } else { String::new() };
                    chunk(socket, &format!("event: message\n{id}data: {line}\n\n"))?;
                    at += 1;
                }
            }
        }
        socket.write_all(b"0\r\n\r\n")?;
        Ok(true)
    }

    // --- the older transport

    fn legacy_get(&self, mut socket: &TcpStream) -> std::io::Result<bool> {
        let stream = self.stream();
        let name = format!("s{}", stream.number);
        self.legacy.lock().unwrap().insert(name.clone(), Arc::new(Sink(Arc::clone(&stream))));
        let endpoint = self.options.endpoint.clone().unwrap_or_else(|| format!("/message?{name}"));
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")?;
        socket.write_all(format!(": hi\r\n\r\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n").as_bytes())?;
        let mut at = 0;
        loop {
            let (lines, cut) = {
                let log = stream.state.lock().unwrap();
                let log =
                    stream.wake.wait_while(log, |log| at >= log.lines.len() && !log.over && log.cut.is_none()).unwrap();
                (log.lines[at..].to_vec(), log.over || log.cut.is_some())
            };
            for line in &lines {
                socket.write_all(format!("event: message\ndata: {line}\n\n").as_bytes())?;
            }
            at += lines.len();
            if cut || (self.options.short && lines.iter().any(|line| line.contains("inputSchema"))) {
                self.legacy.lock().unwrap().remove(&name);
                return Ok(false);
            }
        }
    }

    fn legacy_post(&self, socket: &TcpStream, request: &Request, session: &str) -> std::io::Result<bool> {
        append("FIXTURE_RECORD", &String::from_utf8_lossy(&request.body));
        let Some(sink) = self.legacy.lock().unwrap().get(session).cloned() else { return respond(socket, 404, "", "") };
        let Ok(body) = serde_json::from_slice::<Value>(&request.body) else { return respond(socket, 400, "", "") };
        let arguments = &body["params"]["arguments"];
        match arguments["kind"].as_str() {
            Some("status") => {
                let status = arguments["status"].as_u64().unwrap() as u16;
                return respond(socket, status, "", &message(status));
            }
            Some("drop") => return Ok(false),
            _ => {}
        }
        let server = Arc::clone(&self.server);
        std::thread::spawn(move || {
            work_for(Some(sink));
            server.receive(body);
            work_for(None);
        });
        respond(socket, 202, "", "Accepted")
    }
}

/// Waits for the answer and gives it as one JSON text.
fn json_reply(socket: &TcpStream, stream: &Stream, headers: &str) -> std::io::Result<bool> {
    let is_answer = |line: &String| line.contains("\"result\"") || line.contains("\"error\"");
    let log = stream.state.lock().unwrap();
    let log = stream.wake.wait_while(log, |log| !log.lines.iter().any(is_answer) && !log.over).unwrap();
    let answer = log.lines.iter().find(|line| is_answer(line)).or(log.lines.first()).cloned();
    drop(log);
    match answer {
        Some(answer) => respond(socket, 200, &format!("{headers}{JSON}"), &answer),
        None => respond(socket, 202, headers, ""),
    }
}

/// Runs what a call over HTTP asks for, if it is about HTTP; `false` if it is something else.
pub fn fault(server: &Server, id: &Value, arguments: &Value) -> bool {
    let Some(web) = server.web.get() else { return false };
    let pause = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(50));
    let done =
        || json!({ "content": [{ "type": "text", "text": arguments["text"].as_str().unwrap_or("after the cut") }] });
    match arguments["kind"].as_str().unwrap_or_default() {
        "cut" | "cut_politely" => {
            server.send(Value::Object(object([
                ("method", json!("notifications/message")),
                ("params", json!({ "level": "info", "data": "before the cut" })),
            ])));
            cut(arguments["kind"] == "cut_politely");
            std::thread::sleep(pause);
            server.answer(id, done());
        }
        // Nothing more: the stream ends without an answer.
        "empty" => {}
        "garbage" => server.raw(b"<<< not json >>>\n[1,2,\n"),

        "forget" => {
            server.answer(id, done());
            web.mute.store(arguments["mute"] == true, Ordering::SeqCst);
            web.forget();
        }
        "cut_standing" => {
            web.aside(|| cut(arguments["politely"] == true));
            server.answer(id, done());
        }
        "speak_aside" => {
            web.aside(|| server.notify("notifications/tools/list_changed", json!({})));
            server.answer(id, done());
        }
        _ => return false,
    }
    true
}
