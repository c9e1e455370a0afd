//! The transport against a real server on loopback.

use crate::hints::{collect, finish, merged, reading, recording, text};
use crate::sse_model::{Chat, ModelServer, Pace, Reply};
use futures::StreamExt;
use mcpane::domain::Content;
use mcpane::domain::model::FinishReason::Stop;
use mcpane::domain::model::{Message, ModelError, ModelErrorKind, Request, StreamEvent};
use mcpane::provider::Provider;
use mcpane::provider::catalog::{Catalog, OpenOptions};
use mcpane::provider::probe::{self, Found, Place};
use mcpane::provider::reply::Limits;
use mcpane::provider::transport::Tap;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

fn options(base_url: &str) -> OpenOptions {
    let limits = Limits { idle: Duration::from_secs(5), settle: Duration::from_millis(100) };
    OpenOptions { base_url: Some(base_url.to_owned()), limits, ..OpenOptions::default() }
}

fn open(options: &OpenOptions) -> Arc<dyn Provider> {
    Catalog::built_in().open("openai:m", options).unwrap()
}

fn request() -> Request {
    Request { messages: vec![Message::User { content: vec![Content::text("hello")] }], ..Request::default() }
}

async fn ask(server: &ModelServer) -> Result<(Vec<StreamEvent>, Option<ModelError>), ModelError> {
    Ok(collect(open(&options(&server.base_url())).stream(request()).await?).await)
}

async fn refused(reply: Reply) -> ModelError {
    let server = ModelServer::start(vec![reply]);
    ask(&server).await.unwrap_err()
}

async fn told(reply: Reply) -> (Vec<StreamEvent>, Option<ModelError>) {
    let server = ModelServer::start(vec![reply]);
    let (events, error) = ask(&server).await.unwrap();
    (merged(&events), error)
}

fn hello() -> Reply {
    Chat::new().words("hello to you").finish("stop").done()
}

#[tokio::test]
async fn the_request_as_the_server_sees_it() {
    let server = ModelServer::start(vec![hello()]);
    let key = OpenOptions { api_key: Some("sk-testkey".into()), ..options(&server.base_url()) };
    let (events, error) = collect(open(&key).stream(request()).await.unwrap()).await;
    assert_eq!((merged(&events), error), (vec![text("hello to you"), finish(Stop)], None));
    let seen = &server.requests().await[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(seen.header("authorization"), Some("Bearer sk-testkey"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert!(seen.header("accept").unwrap().contains("text/event-stream"));
    assert!(seen.header("user-agent").unwrap().starts_with("mcpane/"));
    assert_eq!(seen.json()["messages"][0]["content"], "hello");
}

#[tokio::test]
async fn each_status_has_its_kind() {
    use ModelErrorKind::{Auth, BadRequest, NotFound, Overloaded, RateLimited, Server};
    for (status, kind) in [
        (400, BadRequest),
        (401, Auth),
        (402, BadRequest),
        (403, Auth),
        (404, NotFound),
        (408, Server),
        (409, Server),
        (413, BadRequest),
        (422, BadRequest),
        (429, RateLimited),
        (500, Server),
        (502, Server),
        (503, Server),
        (529, Overloaded),
    ] {
        let error = refused(Reply::status(status, &[], r#"{"error":{"message":"why"}}"#)).await;
        assert_eq!((error.kind, error.status, error.message.as_str()), (kind, Some(status), "why"));
    }
    let moved = refused(Reply::status(308, &[("location", "https://elsewhere.example/v1")], "")).await;
    assert_eq!(moved.kind, BadRequest);
    assert!(moved.message.contains("https://elsewhere.example/v1"));
}

#[tokio::test]
async fn recorded_refusals() {
    let of = |name: &str, status| {
        refused(Reply::recording(&format!("tests/fixtures/recordings/{name}"), Pace::AtOnce).with_status(status))
    };
    let error = of("qwen0.5b-host.g_bad_request.sse", 400).await;
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::BadRequest, "Expected 'messages' to be an array")
    );
    let error = of("qwen0.5b-host.g_context_overflow.sse", 400).await;
    assert_eq!(error.kind, ModelErrorKind::ContextOverflow);
    assert!(error.message.starts_with("request (21620 tokens) exceeds"));
    let error = of("server.401.json", 401).await;
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::Auth, "Invalid API Key"));
    let error = of("server.404.json", 404).await;
    assert_eq!((error.kind, error.message.as_str()), (ModelErrorKind::NotFound, "File Not Found"));
}

#[tokio::test]
async fn retry_after_and_masked_bounded_messages() {
    let body = json!({ "error": { "message": format!("key sk-secret99 is used up {}", "x".repeat(900)) } }).to_string();
    let server = ModelServer::start(vec![Reply::status(429, &[("Retry-After", "7")], body)]);
    let key = OpenOptions { api_key: Some("sk-secret99".into()), ..options(&server.base_url()) };
    let error = open(&key).stream(request()).await.err().unwrap();
    assert_eq!((error.kind, error.retry_after_ms), (ModelErrorKind::RateLimited, Some(7000)));
    assert!(error.message.starts_with("key ••• is used up xxx"), "{}", error.message);
    assert!(error.message.chars().count() <= 500);

    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
    let date = then.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let error = refused(Reply::status(503, &[("Retry-After", &date)], "")).await;
    assert!((85_000..=90_000).contains(&error.retry_after_ms.unwrap()), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_breaks() {
    let said = Chat::new().words("one two");
    let (events, error) = told(said.clone().open().then_cut()).await;
    assert_eq!((events, error.unwrap().kind), (vec![text("one two")], ModelErrorKind::Cut));
    // In the middle of an event, in the middle of a character.
    let mut bytes = said.bytes();
    bytes.extend_from_slice("data: {\"choices\":[{\"delta\":{\"content\":\"é".as_bytes());
    bytes.pop();
    let (events, error) = told(Reply::cut_after(bytes)).await;
    assert_eq!((events, error.unwrap().kind), (vec![text("one two")], ModelErrorKind::Cut));
    // Before the first word it is only a broken connection, which is tried again.
    let (events, error) = told(Chat::new().open().then_cut()).await;
    assert_eq!((events, error.unwrap().kind), (vec![], ModelErrorKind::Network));
    // After the reason for the end nothing is missing.
    let (events, error) = told(said.finish("stop").open().then_cut()).await;
    assert_eq!((events, error), (vec![text("one two"), finish(Stop)], None));
}

#[tokio::test]
async fn silence_is_a_timeout() {
    let server = ModelServer::start(vec![Reply::hang(), Chat::new().text("one").open().then_hang()]);
    let mut short = options(&server.base_url());
    short.limits.idle = Duration::from_millis(150);
    let provider = open(&short);
    let (_, error) = collect(provider.stream(request()).await.unwrap()).await;
    assert_eq!(error.unwrap().kind, ModelErrorKind::Timeout);
    // After the first word it is a cut.
    let (events, error) = collect(provider.stream(request()).await.unwrap()).await;
    assert_eq!((merged(&events), error.unwrap().kind), (vec![text("one")], ModelErrorKind::Cut));
}

#[tokio::test]
async fn silence_before_the_reply_is_a_timeout_too() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut short = options(&format!("http://{}/v1", listener.local_addr().unwrap()));
    short.limits.idle = Duration::from_millis(100);
    let error = open(&short).stream(request()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
}

#[tokio::test]
async fn comments_alone_keep_a_reply_alive() {
    let pause = Duration::from_millis(60);
    let waiting = (0..8).map(|_| (pause, b": PROCESSING\n\n".to_vec()));
    let reply = Reply::chunks(waiting.chain([(pause, Chat::new().text("a").finish("stop").bytes())]).collect());
    let server = ModelServer::start(vec![reply]);
    let mut short = options(&server.base_url());
    // Shorter than the comments take together, longer than between two of them.
    short.limits.idle = Duration::from_millis(300);
    let (events, error) = collect(open(&short).stream(request()).await.unwrap()).await;
    assert_eq!((merged(&events), error), (vec![text("a"), finish(Stop)], None));
    assert!(events.iter().filter(|event| **event == StreamEvent::Alive).count() >= 8, "{events:?}");
}

#[tokio::test]
async fn an_end_without_done_on_an_open_connection() {
    let server = ModelServer::start(vec![Chat::new().text("a").finish("stop").open().then_hang()]);
    let start = Instant::now();
    let (events, error) = ask(&server).await.unwrap();
    assert_eq!((merged(&events), error), (vec![text("a"), finish(Stop)], None));
    assert!(start.elapsed() < Duration::from_secs(2), "only counts were missing");
}

#[tokio::test]
async fn dropping_the_stream_cancels_the_request() {
    let server = ModelServer::start(vec![Chat::new().text("a").open().then_hang(), Reply::hang()]);
    let provider = open(&options(&server.base_url()));
    let mut stream = provider.stream(request()).await.unwrap();
    while stream.next().await.unwrap().unwrap() == StreamEvent::Alive {}
    assert_eq!(server.left(), 0);
    drop(stream);
    server.wait_left(1).await;
    // And so does dropping a reply that has not said anything.
    drop(provider.stream(request()).await.unwrap());
    server.wait_left(2).await;
}

#[tokio::test]
async fn a_finished_reply_leaves_its_connection_for_the_next() {
    // The body ends a little later than the reply.
    let said = Chat::new().text("a").finish("stop").event(&json!("[DONE]")).bytes();
    let said = String::from_utf8(said).unwrap().replace("\"[DONE]\"", "[DONE]").into_bytes();
    let reply = Reply::chunks(vec![(Duration::ZERO, said), (Duration::from_millis(20), b": bye\n\n".to_vec())]);
    let server = ModelServer::start(vec![reply; 4]);
    let provider = open(&options(&server.base_url()));
    for _ in 0..4 {
        let (_, error) = collect(provider.stream(request()).await.unwrap()).await;
        assert_eq!(error, None);
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
    assert_eq!((server.requests().await.len(), server.connections()), (4, 1));
}

#[tokio::test]
async fn errors_inside_a_good_reply() {
    let error = json!({ "error": { "message": "no capacity", "code": 502 } });
    let (events, failure) = told(Chat::default().comment("PROCESSING").event(&error).done()).await;
    assert_eq!((events, failure.unwrap().kind), (vec![], ModelErrorKind::Server));
    let page = Reply::status(200, &[("content-type", "text/html; charset=utf-8")], "<html></html>");
    assert_eq!(refused(page).await.kind, ModelErrorKind::Protocol);
    let (_, failure) = told(Reply::json(&json!({ "hello": "world" }))).await;
    assert_eq!(failure.unwrap().kind, ModelErrorKind::Protocol);
    let (_, failure) = told(Reply::json(&json!({ "error": "model not loaded" }))).await;
    assert_eq!(failure.unwrap().message, "model not loaded");
}

#[tokio::test]
async fn pieces_that_split_characters_and_line_ends() {
    let body = String::from_utf8(Chat::new().words("naïve 🌅 text").finish("stop").bytes()).unwrap();
    let body = format!("\u{feff}{}", body.replace('\n', "\r\n"));
    let pieces = body.as_bytes().chunks(7).map(|bytes| (Duration::from_micros(300), bytes.to_vec())).collect();
    let (events, error) = told(Reply::chunks(pieces)).await;
    assert_eq!((events, error), (vec![text("naïve 🌅 text"), finish(Stop)], None));
}

#[tokio::test]
async fn a_recording_at_its_own_pace() {
    let name = "qwen1.5b-host.b_tools_parallel.sse";
    let path = format!("tests/fixtures/recordings/{name}");
    let server = ModelServer::start(vec![Reply::recording(&path, Pace::Scaled(0.1))]);
    let start = Instant::now();
    let (events, _) = ask(&server).await.unwrap();
    assert_eq!(merged(&events), merged(&reading(vec![recording(name)]).await.0));
    assert!(start.elapsed() > Duration::from_millis(250), "it took 3 s when it was recorded");
    // One without times goes by the speed that the server noted.
    let path = "tests/fixtures/recordings/qwen1.5b-host.loop-native.turn1.sse";
    let server = ModelServer::start(vec![Reply::recording(path, Pace::Scaled(0.02))]);
    let start = Instant::now();
    ask(&server).await.unwrap();
    assert!(start.elapsed() > Duration::from_millis(100));
}

#[tokio::test]
async fn nobody_there() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = open(&options(&format!("http://{free}/v1"))).stream(request()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.starts_with(&format!("{free}: ")) && error.message.contains("refused"), "{}", error.message);
    let error = open(&options("ftp://x/v1")).stream(request()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    let bad = OpenOptions { api_key: Some("sk-with\nnewline".into()), ..options("http://127.0.0.1:1/v1") };
    let error = open(&bad).stream(request()).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::Auth);
    assert!(!error.message.contains("sk-with"));
}

#[derive(Default)]
struct Bytes(Mutex<(Vec<u8>, Vec<u8>)>);

impl Tap for Bytes {
    fn sent(&self, body: &[u8]) {
        self.0.lock().unwrap().0.extend_from_slice(body);
    }

    fn received(&self, bytes: &[u8]) {
        self.0.lock().unwrap().1.extend_from_slice(bytes);
    }
}

#[tokio::test]
async fn a_tap_sees_the_raw_bytes() {
    let chat = Chat::new().comment("PROCESSING").text("a").finish("stop");
    let server = ModelServer::start(vec![chat.clone().open()]);
    let tap = Arc::new(Bytes::default());
    let tapped = OpenOptions { tap: Some(tap.clone()), ..options(&server.base_url()) };
    collect(open(&tapped).stream(request()).await.unwrap()).await;
    let (sent, received) = std::mem::take(&mut *tap.0.lock().unwrap());
    assert_eq!(sent, server.requests().await[0].body);
    assert_eq!(received, chat.bytes());
}

#[tokio::test]
async fn local_servers_are_found_quickly() {
    let (model, web) = (ModelServer::start(vec![]), ModelServer::start_with(|_| Reply::json(&json!({ "hello": 1 }))));
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let place = |provider: &str, base_url: String| {
        let wire = Catalog::built_in().find(provider).unwrap().wire.clone();
        Place { provider: provider.into(), base_url, wire }
    };
    let places = [
        place("ollama", model.base_url()),
        // The fragment keeps `/models` from being sent: the answer is JSON, but no list of models.
        place("llamacpp", format!("{}#", web.base_url())),
        place("lmstudio", format!("http://{}/v1", silent.local_addr().unwrap())),
        place("vllm", format!("http://{free}/v1")),
    ];
    let start = Instant::now();
    let found = probe::local(&places, Duration::from_millis(200)).await;
    assert!(start.elapsed() < Duration::from_secs(2));
    let models = vec!["test-model".to_owned()];
    assert_eq!(found, [Found { provider: "ollama".into(), base_url: model.base_url(), models }]);
    assert_eq!((model.all_requests().len(), web.all_requests().len()), (1, 1));
    let usual: Vec<String> = probe::places(&Catalog::built_in()).into_iter().map(|place| place.base_url).collect();
    assert_eq!(usual, ["http://127.0.0.1:8080/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:11434"]);
}
