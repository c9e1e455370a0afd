//! A model server for tests: real HTTP/1.1 on 127.0.0.1, scripted replies, every request kept.
//!
//! Include it with `#[path = "../support/sse_model.rs"] mod sse_model;`. It runs on a thread of its own, so that tests with and without a tokio
//! runtime can use it, and ends when it is dropped. Requests for a list of models (`GET …/models`, `/api/tags`) and for what is known of one
//! (`/api/show`) are always answered, and take no reply from the script.

// Each test binary uses its own part of this.
#![allow(dead_code)]
// It is test code, and a broken script should end the test; clippy sees tests only inside `#[test]`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::time::sleep_until;

/// A request as it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// `POST`, `GET`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Recorded {
    /// The first header of that name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the request's body is JSON")
    }
}

/// How fast a recording is played.
#[derive(Debug, Clone, Copy)]
pub enum Pace {
    /// In one piece.
    AtOnce,
    /// As recorded: by its `.times.tsv`, or, without one, event by event at the speed that the server noted in it.
    Recorded,
    /// As recorded, times this.
    Scaled(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    /// The body ends properly.
    Whole,
    /// The connection is closed in the middle of the body.
    Cut,
    /// Nothing more comes until the client leaves.
    Hang,
}

/// One scripted reply.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    /// When (since the request) and what.
    pieces: Vec<(Duration, Vec<u8>)>,
    /// Before which piece what must be open.
    gates: Vec<(usize, Gate)>,
    end: End,
    /// Where it is noted when each piece goes out.
    times: Option<Times>,
}

/// When the pieces of a reply went out, as far as they did.
pub type Times = Arc<Mutex<Vec<Instant>>>;

/// Something that a test opens when it has seen what it wanted to see. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(watch::Sender<bool>);

impl Gate {
    /// Lets the reply go on.
    pub fn open(&self) {
        self.0.send_replace(true);
    }
}

impl Reply {
    fn new(content_type: &str, pieces: Vec<(Duration, Vec<u8>)>) -> Self {
        let headers = vec![("content-type".into(), content_type.into())];
        Self { status: 200, headers, pieces, gates: Vec::new(), end: End::Whole, times: None }
    }

    /// The same, but its piece of this number, from 0, and those behind it wait for the gate. Their delays count from its opening.
    pub fn gated(mut self, piece: usize, gate: &Gate) -> Self {
        self.gates.push((piece, gate.clone()));
        self
    }

    /// An event stream in one piece.
    pub fn sse(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new("text/event-stream", vec![(Duration::ZERO, bytes.into())])
    }

    /// An event stream in pieces, each after its delay.
    pub fn chunks(pieces: Vec<(Duration, Vec<u8>)>) -> Self {
        let mut at = Duration::ZERO;
        let timed = pieces.into_iter().map(|(delay, bytes)| {
            at += delay;
            (at, bytes)
        });
        Self::new("text/event-stream", timed.collect())
    }

    /// A body of another kind, in one piece.
    pub fn body(kind: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(kind, vec![(Duration::ZERO, bytes.into())])
    }

    /// A JSON body.
    pub fn json(value: &Value) -> Self {
        Self::new("application/json", vec![(Duration::ZERO, value.to_string().into_bytes())])
    }

    /// A recorded body. The path is relative to the package.
    pub fn recording(path: &str, pace: Pace) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let body = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kind = if body.starts_with(b"{") { "application/json" } else { "text/event-stream" };
        let factor = match pace {
            Pace::AtOnce => return Self::new(kind, vec![(Duration::ZERO, body)]),
            Pace::Recorded => 1.0,
            Pace::Scaled(factor) => factor,
        };
        let pieces = match std::fs::read_to_string(path.with_extension("times.tsv")) {
            Ok(times) => by_times(&body, &times, factor),
            Err(_) => by_speed(&body, factor),
        };
        Self::new(kind, pieces)
    }

    /// A status with headers and a body.
    pub fn status(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { status, headers, ..Self::new("", vec![(Duration::ZERO, body.into())]) }
    }

    /// An event stream that breaks off after these bytes.
    pub fn cut_after(bytes: impl Into<Vec<u8>>) -> Self {
        Self::sse(bytes).then_cut()
    }

    /// An event stream in which nothing ever comes.
    pub fn hang() -> Self {
        Self::new("text/event-stream", Vec::new()).then_hang()
    }

    /// The same, with another status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same; when each piece goes out is noted here.
    pub fn noting(mut self, times: &Times) -> Self {
        self.times = Some(Arc::clone(times));
        self
    }

    /// The same, but it breaks off at its end.
    pub fn then_cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// The same, but it stays open at its end.
    pub fn then_hang(mut self) -> Self {
        self.end = End::Hang;
        self
    }
}

/// Cuts a body where its recording says that a piece had come.
fn by_times(body: &[u8], times: &str, factor: f64) -> Vec<(Duration, Vec<u8>)> {
    let mut from = 0;
    let mut pieces = Vec::new();
    for line in times.lines().filter(|line| !line.trim().is_empty()) {
        let (millis, bytes) = line.split_once('\t').expect("milliseconds TAB bytes");
        let at = Duration::from_secs_f64(millis.parse::<f64>().expect("milliseconds") * factor / 1000.0);
        let to = bytes.trim().parse::<usize>().expect("bytes").min(body.len());
        if to > from {
            pieces.push((at, body[from..to].to_vec()));
            from = to;
        }
    }
    let last = pieces.last().map_or(Duration::ZERO, |(at, _)| *at);
    if from < body.len() {
        pieces.push((last, body[from..].to_vec()));
    }
    pieces
}

/// One event (a token) after another, at the speed that llama.cpp noted in the last one.
fn by_speed(body: &[u8], factor: f64) -> Vec<(Duration, Vec<u8>)> {
    let text = String::from_utf8_lossy(body);
    let noted = text.rsplit_once("\"predicted_per_token_ms\":").map(|(_, rest)| rest);
    let number = noted.and_then(|rest| rest.split(['}', ',']).next()?.parse::<f64>().ok());
    let each = number.expect("a recording without times notes its speed") * factor / 1000.0;
    let events = text.split_inclusive("\n\n").enumerate();
    events.map(|(i, event)| (Duration::from_secs_f64(each * i as f64), event.as_bytes().to_vec())).collect()
}

/// Builds a reply as OpenAI's Chat Completions stream it, one chunk a call.
#[derive(Debug, Clone, Default)]
pub struct Chat {
    events: Vec<String>,
    every: Duration,
}

impl Chat {
    /// Begins a reply.
    pub fn new() -> Self {
        Self::default().delta(json!({ "role": "assistant", "content": null }))
    }

    /// The time between two chunks; none by default.
    pub fn every(mut self, pause: Duration) -> Self {
        self.every = pause;
        self
    }

    /// Any event, as JSON.
    pub fn event(mut self, value: &Value) -> Self {
        self.events.push(format!("data: {value}\n\n"));
        self
    }

    /// A line of comment.
    pub fn comment(mut self, text: &str) -> Self {
        self.events.push(format!(": {text}\n\n"));
        self
    }

    /// A chunk with this delta.
    pub fn delta(self, delta: Value) -> Self {
        self.event(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": null }],
        }))
    }

    /// Text.
    pub fn text(self, text: &str) -> Self {
        self.delta(json!({ "content": text }))
    }

    /// Text, one chunk a word.
    pub fn words(self, text: &str) -> Self {
        text.split_inclusive(' ').fold(self, Self::text)
    }

    /// Reasoning.
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(json!({ "reasoning_content": text }))
    }

    /// A whole call, its arguments in two pieces.
    pub fn call(self, index: u32, id: &str, name: &str, arguments: &Value) -> Self {
        let text = arguments.to_string();
        let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        self.call_start(index, id, name, &text[..middle]).call_more(index, &text[middle..])
    }

    /// The first piece of a call.
    pub fn call_start(self, index: u32, id: &str, name: &str, arguments: &str) -> Self {
        let function = json!({ "name": name, "arguments": arguments });
        self.delta(json!({ "tool_calls": [{ "index": index, "id": id, "type": "function", "function": function }] }))
    }

    /// A further piece of a call.
    pub fn call_more(self, index: u32, arguments: &str) -> Self {
        self.delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": arguments } }] }))
    }

    /// Why it ends.
    pub fn finish(self, reason: &str) -> Self {
        self.event(&json!({
            "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }],
        }))
    }

    /// Token counts.
    pub fn usage(self, input: u64, output: u64) -> Self {
        let usage = json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output });
        self.event(&json!({ "object": "chat.completion.chunk", "choices": [], "usage": usage }))
    }

    /// The bytes so far, without `[DONE]`.
    pub fn bytes(&self) -> Vec<u8> {
        self.events.concat().into_bytes()
    }

    /// The reply, ended with `[DONE]`.
    pub fn done(mut self) -> Reply {
        self.events.push("data: [DONE]\n\n".to_owned());
        self.open()
    }

    /// The reply as it is, without `[DONE]`.
    pub fn open(self) -> Reply {
        if self.every.is_zero() {
            return Reply::sse(self.bytes());
        }
        Reply::chunks(self.events.into_iter().map(|event| (self.every, event.into_bytes())).collect())
    }
}

type Answer = Box<dyn FnMut(&Recorded) -> Reply + Send>;

struct Shared {
    requests: Mutex<Vec<Recorded>>,
    /// Connections that the client closed in the middle of a reply.
    left: Mutex<usize>,
    /// Connections taken.
    taken: Mutex<usize>,
    answer: Mutex<Answer>,
    /// What `/api/show` says of every model.
    shown: Mutex<Value>,
}

/// The server.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl ModelServer {
    /// Answers with these replies in order; after the last one with a 500 that says so.
    pub fn start(replies: Vec<Reply>) -> Self {
        let mut replies = VecDeque::from(replies);
        Self::start_with(move |_| {
            let over = || Reply::status(500, &[], "the test's script has no further reply");
            replies.pop_front().unwrap_or_else(over)
        })
    }

    /// Answers each request with what the function makes of it.
    pub fn start_with(answer: impl FnMut(&Recorded) -> Reply + Send + 'static) -> Self {
        Self::start_on(0, answer).expect("a port")
    }

    /// The same on a port of the caller's; an error when that is taken.
    pub fn start_on(port: u16, answer: impl FnMut(&Recorded) -> Reply + Send + 'static) -> std::io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            left: Mutex::default(),
            taken: Mutex::default(),
            answer: Mutex::new(Box::new(answer)),
            shown: Mutex::new(
                json!({ "capabilities": ["completion", "tools", "thinking"], "model_info": { "test.context_length": 32768 } }),
            ),
        });
        let (stop, stopped) = oneshot::channel();
        let inner = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = accept(listener, inner) => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The base URL for a provider's entry.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What `/api/show` says of every model from now on.
    pub fn show(&self, about: Value) {
        *self.shared.shown.lock().expect("not poisoned") = about;
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The requests to the model so far (not those for the list of models).
    pub fn requests_now(&self) -> Vec<Recorded> {
        let all = self.shared.requests.lock().expect("not poisoned");
        all.iter().filter(|request| request.method == "POST" && request.path != SHOW).cloned().collect()
    }

    /// The same, for tests that read better with it.
    #[allow(clippy::unused_async)]
    pub async fn requests(&self) -> Vec<Recorded> {
        self.requests_now()
    }

    /// Every request so far.
    pub fn all_requests(&self) -> Vec<Recorded> {
        self.shared.requests.lock().expect("not poisoned").clone()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        *self.shared.taken.lock().expect("not poisoned")
    }

    /// Waits until there are that many requests to the model, at most ten seconds.
    pub async fn wait_requests(&self, count: usize) -> Vec<Recorded> {
        until(|| self.requests_now().len() >= count, "requests").await;
        self.requests_now()
    }

    /// The same, without a runtime.
    pub fn wait_requests_blocking(&self, count: usize) -> Vec<Recorded> {
        let start = Instant::now();
        while self.requests_now().len() < count {
            assert!(start.elapsed() < Duration::from_secs(10), "{count} requests did not come");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.requests_now()
    }

    /// Waits until the client has left that many replies in the middle, at most ten seconds.
    pub async fn wait_left(&self, count: usize) {
        until(|| *self.shared.left.lock().expect("not poisoned") >= count, "the client to leave").await;
    }

    /// How many replies the client left in the middle.
    pub fn left(&self) -> usize {
        *self.shared.left.lock().expect("not poisoned")
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of its thread has been printed already.
            let _ = thread.join();
        }
    }
}

async fn until(ready: impl Fn() -> bool, what: &str) {
    let start = Instant::now();
    while !ready() {
        assert!(start.elapsed() < Duration::from_secs(10), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        *shared.taken.lock().expect("not poisoned") += 1;
        tokio::spawn(serve(socket, Arc::clone(&shared)));
    }
}

/// `None` ends the connection.
async fn serve(socket: TcpStream, shared: Arc<Shared>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let (reader, mut writer) = socket.into_split();
    let mut client = Client { reader, buffer: Vec::new() };
    loop {
        let request = client.request().await?;
        shared.requests.lock().expect("not poisoned").push(request.clone());
        let reply = match listing(&request) {
            Some(list) => Reply::json(&list),
            None if request.path == SHOW => Reply::json(&shared.shown.lock().expect("not poisoned")),
            None => (shared.answer.lock().expect("not poisoned"))(&request),
        };
        if client.while_there(answer(&mut writer, &reply)).await.is_none() {
            *shared.left.lock().expect("not poisoned") += 1;
            return None;
        }
        if reply.end == End::Cut {
            return None;
        }
    }
}

/// Where Ollama is asked about a model.
const SHOW: &str = "/api/show";

/// The list of models that a request asks for, in the form of its API.
fn listing(request: &Recorded) -> Option<Value> {
    let path = request.path.split('?').next().unwrap_or_default();
    match path {
        _ if request.method != "GET" => None,
        "/api/tags" => Some(json!({ "models": [{ "name": "test-model", "model": "test-model" }] })),
        "/v1beta/models" => Some(json!({ "models": [
            { "name": "models/test-model", "displayName": "Test", "inputTokenLimit": 1000, "supportedGenerationMethods": ["generateContent"] },
            { "name": "models/embedder", "supportedGenerationMethods": ["embedContent"] },
        ] })),
        path if path.ends_with("/models") => {
            Some(json!({ "object": "list", "data": [{ "id": "test-model", "object": "model" }] }))
        }
        _ => None,
    }
}

async fn answer(writer: &mut OwnedWriteHalf, reply: &Reply) -> Option<()> {
    let mut start = tokio::time::Instant::now();
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    writer.write_all(head.as_bytes()).await.ok()?;
    let mut last = Duration::ZERO;
    for (number, (at, bytes)) in reply.pieces.iter().enumerate() {
        for (_, gate) in reply.gates.iter().filter(|(piece, _)| *piece == number) {
            gate.0.subscribe().wait_for(|open| *open).await.ok()?;
            start = tokio::time::Instant::now() - last;
        }
        last = *at;
        if bytes.is_empty() {
            continue;
        }
        if !at.is_zero() {
            sleep_until(start + *at).await;
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        if let Some(times) = &reply.times {
            times.lock().expect("not poisoned").push(Instant::now());
        }
        writer.write_all(&chunk).await.ok()?;
    }
    match reply.end {
        End::Whole => writer.write_all(b"0\r\n\r\n").await.ok()?,
        End::Cut => writer.shutdown().await.ok()?,
        End::Hang => std::future::pending().await,
    }
    Some(())
}

struct Client {
    reader: OwnedReadHalf,
    buffer: Vec<u8>,
}

impl Client {
    async fn more(&mut self) -> Option<()> {
        let read = self.reader.read_buf(&mut self.buffer).await.ok()?;
        (read > 0).then_some(())
    }

    async fn request(&mut self) -> Option<Recorded> {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break at;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.buffer.drain(..end + 4);
        let mut lines = head.lines();
        let mut first = lines.next()?.split(' ');
        let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
        let split = |line: &str| line.split_once(':').map(|(n, v)| (n.trim().to_lowercase(), v.trim().to_owned()));
        let headers: Vec<(String, String)> = lines.filter_map(split).collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
        while self.buffer.len() < length {
            self.more().await?;
        }
        let body = self.buffer.drain(..length).collect();
        Some(Recorded { method, path, headers, body })
    }

    /// Runs the future as long as the client has not closed the connection.
    async fn while_there(&mut self, work: impl Future<Output = Option<()>>) -> Option<()> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                more = self.more() => more?,
            }
        }
    }
}
