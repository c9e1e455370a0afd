//! A model server for tests: OpenAI's chat completions over HTTP on 127.0.0.1, following a script. Knows nothing of mcpane.
//!
//! A reply is made of pieces, so that a test decides what arrives together, what waits for the test ([`Reply::gate`]), and how it ends.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a test waits for something here.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// `/v1/chat/completions`.
    pub path: String,
    /// Names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body; null when it is no JSON.
    pub body: Value,
}

impl Request {
    /// The messages of a conversation.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The text of the last message.
    pub fn last_text(&self) -> String {
        let content = self.messages().last().map(|message| message["content"].clone()).unwrap_or_default();
        match content {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug, Clone)]
enum Piece {
    Bytes(Vec<u8>),
    Pause(Duration),
    Gate(String),
    Hang,
    Cut,
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Piece>,
    calls: usize,
    ends: bool,
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

impl Reply {
    /// An empty stream, to be filled. Unless told otherwise it ends as it should.
    pub fn new() -> Self {
        Self { status: 200, headers: Vec::new(), pieces: Vec::new(), calls: 0, ends: true }
    }

    /// A reply of text alone.
    pub fn text(text: &str) -> Self {
        Self::new().say(text)
    }

    /// A reply of one call.
    pub fn tool(name: &str, arguments: Value) -> Self {
        Self::new().call(name, arguments)
    }

    /// An error instead of a stream.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({ "error": { "message": message, "type": "error" } }).to_string();
        Self { status, pieces: vec![Piece::Bytes(body.into_bytes())], ends: false, ..Self::new() }
    }

    /// A header of the response.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Text of the answer, word by word.
    pub fn say(mut self, text: &str) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.delta(json!({ "content": word }));
        }
        self
    }

    /// Text of the answer in one piece.
    pub fn say_at_once(self, text: &str) -> Self {
        self.delta(json!({ "content": text }))
    }

    /// Text of the answer, a word every so often.
    pub fn say_slowly(mut self, text: &str, every: Duration) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.delta(json!({ "content": word })).pause(every);
        }
        self
    }

    /// Reasoning, word by word.
    pub fn think(mut self, text: &str) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.delta(json!({ "reasoning_content": word }));
        }
        self
    }

    /// A call; several make parallel calls.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.call_raw(name, &arguments.to_string())
    }

    /// A call with its arguments as they are written.
    pub fn call_raw(mut self, name: &str, arguments: &str) -> Self {
        let index = self.calls;
        self.calls += 1;
        let id = format!("call_{index}_{:x}", arguments.len() + name.len() * 1000);
        let function = json!({ "name": name, "arguments": "" });
        self = self
            .delta(json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }));
        let half = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
        for part in [&arguments[..half], &arguments[half..]] {
            self = self.delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": part } }] }));
        }
        self
    }

    /// Nothing for so long.
    pub fn pause(mut self, time: Duration) -> Self {
        self.pieces.push(Piece::Pause(time));
        self
    }

    /// Nothing until the test opens this gate.
    pub fn gate(mut self, name: &str) -> Self {
        self.pieces.push(Piece::Gate(name.to_owned()));
        self
    }

    /// Nothing more, and the connection stays open.
    pub fn hang(mut self) -> Self {
        self.pieces.push(Piece::Hang);
        self.ends = false;
        self
    }

    /// The connection breaks off here.
    pub fn cut(mut self) -> Self {
        self.pieces.push(Piece::Cut);
        self.ends = false;
        self
    }

    /// The stream ends with this reason.
    pub fn finish(mut self, reason: &str) -> Self {
        self.ends = false;
        let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
        self.data(&last.to_string()).data("[DONE]")
    }

    /// A server-sent event as it is.
    pub fn data(mut self, data: &str) -> Self {
        self.pieces.push(Piece::Bytes(format!("data: {data}\n\n").into_bytes()));
        self
    }

    /// Bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.pieces.push(Piece::Bytes(bytes.to_vec()));
        self
    }

    fn delta(self, delta: Value) -> Self {
        self.data(&json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] }).to_string())
    }

    fn whole(self) -> Self {
        if !self.ends {
            return self;
        }
        let reason = if self.calls > 0 { "tool_calls" } else { "stop" };
        let usage =
            json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 } });
        let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
        self.data(&last.to_string()).data(&usage.to_string()).data("[DONE]")
    }
}

type Script = Box<dyn FnMut(&Request, usize) -> Reply + Send>;

struct Inner {
    script: Mutex<Script>,
    requests: Mutex<Vec<Request>>,
    gates: Mutex<HashSet<String>>,
    changed: Condvar,
    /// Streams that the client closed before their end.
    left: AtomicUsize,
    over: AtomicBool,
}

/// The server. It ends with its handle.
pub struct Model {
    port: u16,
    inner: Arc<Inner>,
}

impl Model {
    /// Gives these replies, one after the other. Behind the last one it answers with an error that says so.
    pub fn replies(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut rest: std::collections::VecDeque<Reply> = replies.into_iter().collect();
        Self::answering(move |_, _| rest.pop_front().unwrap_or_else(|| Reply::error(400, "the script is over")))
    }

    /// Answers as it is told, for the request and its number from 0.
    pub fn answering(script: impl FnMut(&Request, usize) -> Reply + Send + 'static) -> Self {
        Self::on(0, script).expect("a port")
    }

    /// The same on a port; an error when that is taken.
    pub fn on(port: u16, script: impl FnMut(&Request, usize) -> Reply + Send + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        let port = listener.local_addr()?.port();
        let inner = Arc::new(Inner {
            script: Mutex::new(Box::new(script)),
            requests: Mutex::default(),
            gates: Mutex::default(),
            changed: Condvar::new(),
            left: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        });
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.over.load(Ordering::SeqCst) {
                    break;
                }
                let inner = Arc::clone(&shared);
                // A client that goes away is part of the tests.
                std::thread::spawn(move || serve(&inner, stream));
            }
        });
        Ok(Self { port, inner })
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Everything that was asked for a completion.
    pub fn requests(&self) -> Vec<Request> {
        self.inner.requests.lock().unwrap().clone()
    }

    /// Waits for the request with this number, from 0.
    #[track_caller]
    pub fn request(&self, number: usize) -> Request {
        let until = Instant::now() + PATIENCE;
        let mut requests = self.inner.requests.lock().unwrap();
        while requests.len() <= number {
            assert!(Instant::now() < until, "only {} requests came: {requests:#?}", requests.len());
            requests = self.inner.changed.wait_timeout(requests, Duration::from_millis(100)).unwrap().0;
        }
        requests[number].clone()
    }

    /// Lets what waits at this gate go on.
    pub fn open(&self, gate: &str) {
        self.inner.gates.lock().unwrap().insert(gate.to_owned());
        self.inner.changed.notify_all();
    }

    /// Waits until the client has left so many streams before their end.
    #[track_caller]
    pub fn was_left(&self, times: usize) {
        let until = Instant::now() + PATIENCE;
        while self.inner.left.load(Ordering::SeqCst) < times {
            assert!(Instant::now() < until, "the client never left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.inner.over.store(true, Ordering::SeqCst);
        self.inner.changed.notify_all();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn serve(inner: &Inner, stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut out = stream;
    while let Some(request) = read(&mut reader) {
        if request.path.ends_with("/models") {
            let body = json!({ "object": "list", "data": [{ "id": "test-model", "object": "model" }] }).to_string();
            head(&mut out, 200, &[("Content-Length".into(), body.len().to_string())], "application/json")?;
            out.write_all(body.as_bytes()).ok()?;
            continue;
        }
        let reply = {
            let mut requests = inner.requests.lock().unwrap();
            let number = requests.len();
            requests.push(request.clone());
            inner.changed.notify_all();
            drop(requests);
            (inner.script.lock().unwrap())(&request, number).whole()
        };
        answer(inner, &mut out, reply)?;
    }
    Some(())
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn head(out: &mut TcpStream, status: u16, headers: &[(String, String)], kind: &str) -> Option<()> {
    let mut text = format!("HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    out.write_all(text.as_bytes()).ok()
}

fn answer(inner: &Inner, out: &mut TcpStream, mut reply: Reply) -> Option<()> {
    let kind = if reply.status == 200 { "text/event-stream" } else { "application/json" };
    reply.headers.push(("Transfer-Encoding".into(), "chunked".into()));
    head(out, reply.status, &reply.headers, kind)?;
    for piece in reply.pieces {
        let done = match piece {
            Piece::Bytes(bytes) => {
                let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
                out.write_all(&chunk).ok()
            }
            Piece::Pause(time) => wait(inner, out, |_| false, Some(time)),
            Piece::Gate(name) => wait(inner, out, |open| open.contains(&name), None),
            Piece::Hang => wait(inner, out, |_| false, None),
            Piece::Cut => return None,
        };
        if done.is_none() {
            inner.left.fetch_add(1, Ordering::SeqCst);
            return None;
        }
    }
    out.write_all(b"0\r\n\r\n").ok()
}

/// Waits for a gate or a time; `None` when the client has gone.
fn wait(inner: &Inner, out: &TcpStream, open: impl Fn(&HashSet<String>) -> bool, time: Option<Duration>) -> Option<()> {
    let until = time.map(|time| Instant::now() + time);
    let mut gates = inner.gates.lock().unwrap();
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if open(&gates) || left == Some(Duration::ZERO) {
            return Some(());
        }
        if inner.over.load(Ordering::SeqCst) || is_gone(out) {
            return None;
        }
        let slice = left.unwrap_or(Duration::MAX).min(Duration::from_millis(50));
        gates = inner.changed.wait_timeout(gates, slice).unwrap().0;
    }
}

fn is_gone(out: &TcpStream) -> bool {
    if out.set_nonblocking(true).is_err() {
        return true;
    }
    let peeked = out.peek(&mut [0]);
    let _ = out.set_nonblocking(false);
    match peeked {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}
