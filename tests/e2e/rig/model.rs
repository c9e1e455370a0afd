//! The model: what it says in a test's words, over the model server that all tests share.
//!
//! A reply may wait in its middle until the test lets it go on ([`Reply::gate`]), and ends as it should unless told otherwise.

use super::sse_model::{self, Chat, Gate, ModelServer, Recorded};
use super::{PATIENCE, ms};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What was asked.
#[derive(Debug, Clone)]
pub struct Request {
    pub body: Value,
}

impl Request {
    fn new(recorded: &Recorded) -> Self {
        Self { body: recorded.json() }
    }

    /// The messages of the conversation.
    pub fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The content of the last message.
    pub fn last_text(&self) -> String {
        match self.messages().last().map(|message| message["content"].clone()).unwrap_or_default() {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Proper,
    Written,
    Cut,
    Hang,
}

/// What is answered.
#[derive(Clone)]
pub struct Reply {
    /// Instead of a stream.
    plain: Option<sse_model::Reply>,
    pieces: Vec<(Duration, Vec<u8>)>,
    gates: Vec<(usize, String)>,
    calls: u32,
    end: End,
}

impl Reply {
    /// An empty stream, to be filled.
    pub fn new() -> Self {
        Self { plain: None, pieces: Vec::new(), gates: Vec::new(), calls: 0, end: End::Proper }
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
        Self::error_with(status, message, &[])
    }

    /// The same with headers.
    pub fn error_with(status: u16, message: &str, headers: &[(&str, &str)]) -> Self {
        let body = json!({ "error": { "message": message, "type": "error" } }).to_string();
        Self { plain: Some(sse_model::Reply::status(status, headers, body)), ..Self::new() }
    }

    /// Text of the answer, word by word.
    pub fn say(self, text: &str) -> Self {
        self.say_slowly(text, Duration::ZERO)
    }

    /// The same, a word every so often.
    pub fn say_slowly(mut self, text: &str, every: Duration) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.delta(json!({ "content": word }), every);
        }
        self
    }

    /// Text of the answer in one piece.
    pub fn say_at_once(self, text: &str) -> Self {
        self.delta(json!({ "content": text }), Duration::ZERO)
    }

    /// Reasoning, word by word.
    pub fn think(mut self, text: &str) -> Self {
        for word in text.split_inclusive(' ') {
            self = self.delta(json!({ "reasoning_content": word }), Duration::ZERO);
        }
        self
    }

    /// A call; several make parallel calls.
    pub fn call(mut self, name: &str, arguments: Value) -> Self {
        let index = self.calls;
        self.calls += 1;
        let call = Chat::default().call(index, &format!("call_{index}_{}", ids()), name, &arguments);
        self.push(call.bytes(), Duration::ZERO)
    }

    /// The first so many bytes of a call's arguments.
    pub fn call_cut(mut self, name: &str, arguments: &Value, bytes: usize) -> Self {
        let text = &arguments.to_string()[..bytes];
        let function = json!({ "name": name, "arguments": text });
        let call =
            json!({ "index": self.calls, "id": format!("call_{}", ids()), "type": "function", "function": function });
        self.calls += 1;
        self.delta(json!({ "tool_calls": [call] }), Duration::ZERO)
    }

    /// Nothing more until the test opens this gate.
    pub fn gate(mut self, name: &str) -> Self {
        self.gates.push((self.pieces.len(), name.to_owned()));
        self
    }

    /// Nothing more, and the connection stays open.
    pub fn hang(mut self) -> Self {
        self.end = End::Hang;
        self
    }

    /// The connection breaks off.
    pub fn cut(mut self) -> Self {
        self.end = End::Cut;
        self
    }

    /// The stream ends with this reason.
    pub fn finish(mut self, reason: &str) -> Self {
        self.end = End::Written;
        let end = Chat::default().finish(reason).bytes();
        self.push([end, b"data: [DONE]\n\n".to_vec()].concat(), Duration::ZERO)
    }

    fn delta(self, delta: Value, after: Duration) -> Self {
        self.push(Chat::default().delta(delta).bytes(), after)
    }

    fn push(mut self, bytes: Vec<u8>, after: Duration) -> Self {
        self.pieces.push((after, bytes));
        self
    }

    fn build(mut self, gates: &Gates) -> sse_model::Reply {
        if let Some(plain) = self.plain {
            return plain;
        }
        if self.end == End::Proper {
            let reason = if self.calls > 0 { "tool_calls" } else { "stop" };
            let end = Chat::default().finish(reason).usage(100, 20).bytes();
            self = self.push([end, b"data: [DONE]\n\n".to_vec()].concat(), Duration::ZERO);
        }
        let (end, names, count) = (self.end, self.gates, self.pieces.len());
        let mut reply = sse_model::Reply::chunks(self.pieces);
        for (piece, name) in names {
            assert!(piece < count, "nothing comes behind the gate {name}");
            reply = reply.gated(piece, &gates.named(&name));
        }
        match end {
            End::Cut => reply.then_cut(),
            End::Hang => reply.then_hang(),
            End::Proper | End::Written => reply,
        }
    }
}

/// Ids of calls are never the same twice.
fn ids() -> usize {
    static LAST: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    LAST.fetch_add(1, std::sync::atomic::Ordering::SeqCst)
}

#[derive(Clone, Default)]
struct Gates(Arc<Mutex<HashMap<String, Gate>>>);

impl Gates {
    fn named(&self, name: &str) -> Gate {
        self.0.lock().unwrap().entry(name.to_owned()).or_default().clone()
    }
}

/// The model's server. It ends with its handle.
pub struct Model {
    server: ModelServer,
    gates: Gates,
}

impl Model {
    /// Gives these replies, one after the other. Behind the last one it answers with an error that says so.
    pub fn replies(replies: impl IntoIterator<Item = Reply>) -> Self {
        let mut rest: VecDeque<Reply> = replies.into_iter().collect();
        Self::answering(move |_| rest.pop_front().unwrap_or_else(|| Reply::error(400, "the script is over")))
    }

    /// Answers as it is told.
    pub fn answering(answer: impl FnMut(&Request) -> Reply + Send + 'static) -> Self {
        Self::on(0, answer).unwrap()
    }

    /// The same on a port; an error when that is taken.
    pub fn on(port: u16, mut answer: impl FnMut(&Request) -> Reply + Send + 'static) -> std::io::Result<Self> {
        let gates = Gates::default();
        let known = gates.clone();
        let answer = move |recorded: &Recorded| answer(&Request::new(recorded)).build(&known);
        Ok(Self { server: ModelServer::start_on(port, answer)?, gates })
    }

    /// The base URL.
    pub fn url(&self) -> String {
        self.server.base_url()
    }

    /// Every request for a completion so far.
    pub fn requests(&self) -> Vec<Request> {
        self.server.requests_now().iter().map(Request::new).collect()
    }

    /// Waits for the request with this number, from 0.
    #[track_caller]
    pub fn request(&self, number: usize) -> Request {
        let until = Instant::now() + PATIENCE;
        loop {
            let requests = self.requests();
            if let Some(request) = requests.get(number) {
                return request.clone();
            }
            assert!(Instant::now() < until, "only {} requests came: {requests:#?}", requests.len());
            std::thread::sleep(ms(10));
        }
    }

    /// Lets what waits at this gate go on.
    pub fn open(&self, gate: &str) {
        self.gates.named(gate).open();
    }

    /// Waits until the client has left so many replies before their end.
    #[track_caller]
    pub fn was_left(&self, times: usize) {
        let until = Instant::now() + PATIENCE;
        while self.server.left() < times {
            assert!(Instant::now() < until, "the client never left");
            std::thread::sleep(ms(10));
        }
    }
}
