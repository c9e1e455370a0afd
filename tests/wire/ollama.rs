//! Ollama's own chat endpoint.

use crate::hints::{arguments, collect, finish, merged, read_as, reasoning, reference, referred, start, text, usage};
use crate::samples::{pretty, turn, user};
use crate::sse_model::{ModelServer, Reply};
use mcpane::domain::model::FinishReason::{Length, Other, Stop, ToolCalls};
use mcpane::domain::model::{Message, ModelErrorKind, Request};
use mcpane::provider::Provider;
use mcpane::provider::catalog::{Catalog, OpenOptions};
use mcpane::provider::listing::{Listed, models};
use mcpane::provider::wire::ollama::body;
use mcpane::provider::wire::{Facts, Quirks, find};
use serde_json::{Map, json};
use std::sync::Arc;

fn quirks() -> Quirks {
    Quirks { images: true, ..Catalog::built_in().find("ollama").unwrap().quirks.clone() }
}

fn answer() -> Reply {
    Reply::body("application/x-ndjson", reference("ollama.answer.ndjson"))
}

#[test]
fn every_line_of_a_reply() {
    assert_eq!(
        referred("ollama", "ollama.every_line.ndjson"),
        [
            reasoning("The user wants the weather. 🌦"),
            text("I will look up both cities."),
            start(0, None, "weather__get_forecast"),
            arguments(0, r#"{"city":"Oslo","days":1}"#),
            start(1, Some("call_x"), "weather__get_forecast"),
            arguments(1, r#"{"city":"京都"}"#),
            start(2, None, "clock__now"),
            arguments(2, "{}"),
            usage(426, 87, 0),
            finish(ToolCalls),
        ]
    );
}

#[test]
fn reasons_for_the_end() {
    let ends = |name: &str| referred("ollama", name).pop();
    assert_eq!(ends("ollama.answer.ndjson"), Some(finish(Stop)));
    assert_eq!(ends("ollama.length.ndjson"), Some(finish(Length)));
    assert_eq!(ends("ollama.load.ndjson"), Some(finish(Other("load".into()))));
}

#[test]
fn errors_and_breaks() {
    let broken = |body: &[u8]| {
        let (events, error) = read_as("ollama", vec![body.to_vec()]);
        let error = error.unwrap();
        (merged(&events).len(), error.kind, error.message)
    };
    let error = reference("ollama.error.ndjson");
    let (events, kind, message) = broken(&error);
    assert_eq!((events, kind), (1, ModelErrorKind::Cut));
    assert!(message.ends_with("unexpected EOF"));
    // Before the first word it may be tried again.
    let alone = error.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(broken(&error[alone..]).1, ModelErrorKind::Server);
    // No newline at the end; half a line; nothing; something else.
    let whole = reference("ollama.answer.ndjson");
    let (events, failure) = read_as("ollama", vec![whole[..whole.len() - 1].to_vec()]);
    assert_eq!((merged(&events).len(), failure), (3, None));
    assert_eq!(broken(&whole[..whole.len() - 9]).1, ModelErrorKind::Cut);
    assert_eq!(broken(b"").1, ModelErrorKind::Network);
    assert_eq!(broken(b"{\"hello\":1}\n").1, ModelErrorKind::Protocol);
    assert_eq!(broken(b"data: {}\n\n").1, ModelErrorKind::Protocol);
}

#[test]
fn a_request() {
    let facts = Facts { context: Some(8192), thinking: Some(true), ..Facts::default() };
    let mut request = turn(vec![]);
    for message in &mut request.messages {
        if let Message::Assistant { reasoning, .. } = message {
            *reasoning = Some("Two cities.".into());
        }
    }
    let sent = body(&request, &quirks(), &facts);
    insta::assert_snapshot!("ollama_request", pretty(&sent));
    assert_eq!(sent.to_string(), body(&request.clone(), &quirks(), &facts).to_string());
}

#[test]
fn what_the_user_set_is_sent() {
    let extra = Map::from_iter([
        ("options".to_owned(), json!({ "num_ctx": 12_345, "top_k": 5 })),
        ("think".to_owned(), json!("low")),
        ("keep_alive".to_owned(), json!("1h")),
    ]);
    let request = Request { messages: vec![user("a")], extra, ..Request::default() };
    let sent = body(&request, &Quirks::default(), &Facts { thinking: Some(true), ..Facts::default() });
    assert_eq!(sent["options"], json!({ "num_ctx": 12_345, "top_k": 5 }));
    assert_eq!((&sent["think"], &sent["keep_alive"]), (&json!("low"), &json!("1h")));
    let plain =
        body(&Request { messages: vec![user("a")], ..Request::default() }, &Quirks::default(), &Facts::default());
    assert_eq!((plain.get("think"), plain.get("tools"), &plain["options"]), (None, None, &json!({ "num_ctx": 4096 })));
}

#[test]
fn what_is_said_about_a_model() {
    let wire = find("ollama").unwrap();
    let facts = wire.facts(&json!({
        "parameters": "stop                           \"<|im_end|>\"\nnum_ctx                        16384\n",
        "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 40_960, "qwen3.block_count": 36 },
        "capabilities": ["completion", "tools", "thinking"],
    }));
    let said = Facts {
        context: Some(40_960),
        window: Some(16_384),
        tools: Some(true),
        thinking: Some(true),
        images: Some(false),
    };
    assert_eq!(facts, said);
    assert_eq!(wire.facts(&json!({})), Facts::default());
    assert_eq!(wire.question("m"), Some(("/api/show", json!({ "model": "m" }))));
    for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/api", "http://h:1/api/chat"] {
        assert_eq!(wire.base(base), "http://h:1", "{base}");
    }
}

fn open(server: &ModelServer, name: &str) -> Arc<dyn Provider> {
    let options = OpenOptions { base_url: Some(server.base_url()), ..OpenOptions::default() };
    Catalog::built_in().open(name, &options).unwrap()
}

fn asking(text: &str) -> Request {
    Request { messages: vec![user(text)], ..Request::default() }
}

#[tokio::test]
async fn the_model_is_asked_about_once() {
    let server = ModelServer::start(vec![answer(), answer()]);
    let model = open(&server, "ollama:m");
    for _ in 0..2 {
        let (events, error) = collect(model.stream(asking("hello")).await.unwrap()).await;
        assert_eq!((merged(&events)[0].clone(), error), (text("Rain in Oslo, sun in 京都."), None));
    }
    let paths: Vec<String> = server.all_requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/api/show", "/api/chat", "/api/chat"]);
    let sent = server.requests_now()[0].json();
    assert_eq!((&sent["think"], &sent["model"]), (&json!(true), &json!("m")));
    assert_eq!(model.notices(), []);
}

#[tokio::test]
async fn tools_for_a_model_without_them_and_a_server_that_does_not_say() {
    let server = ModelServer::start(vec![answer(), answer()]);
    server.show(json!({ "capabilities": ["completion"] }));
    let error = open(&server, "ollama:m").stream(turn(vec![])).await.err().unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.message.contains("--dialect xml"), "{}", error.message);
    assert!(open(&server, "ollama:m").stream(asking("hello")).await.is_ok());
    server.show(json!("old"));
    assert!(open(&server, "ollama:m").stream(turn(vec![])).await.is_ok());
}

#[tokio::test]
async fn a_prompt_that_was_cut_is_said() {
    let server = ModelServer::start(vec![answer(), answer()]);
    server.show(json!({ "model_info": { "x.context_length": 4096 }, "capabilities": ["tools"] }));
    let model = open(&server, "ollama:m");
    // Far more than 426 tokens, and more than the context.
    let (_, error) = collect(model.stream(asking(&"some words ".repeat(3000))).await.unwrap()).await;
    assert_eq!(error, None);
    let notices = model.notices();
    assert_eq!(notices.len(), 1);
    assert_eq!(&*notices[0].text.key, "model.prompt_cut");
    assert!(notices[0].text.args.iter().any(|(name, value)| name == "read" && value == "426"));
    assert_eq!(server.requests_now()[0].json()["options"]["num_ctx"], 4096);
    // One that fits.
    collect(model.stream(asking(&"some words ".repeat(100))).await.unwrap()).await;
    assert_eq!(model.notices(), []);
}

#[tokio::test]
async fn each_endpoint_lists_its_models() {
    let server = ModelServer::start(vec![]);
    let catalog = Catalog::built_in();
    for (provider, base, path) in [
        ("ollama", "/v1", "/api/tags"),
        ("openai", "/v1", "/v1/models"),
        ("openai-responses", "/v1", "/v1/models"),
        ("anthropic", "", "/v1/models?limit=1000"),
        ("gemini", "", "/v1beta/models?pageSize=1000"),
    ] {
        let options = OpenOptions {
            base_url: Some(format!("http://127.0.0.1:{}{base}", server.port())),
            api_key: Some("sk-testkey".into()),
            ..OpenOptions::default()
        };
        let list = models(catalog.find(provider).unwrap(), &options).await.unwrap();
        let names: Vec<&str> = list.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["test-model"], "{provider}");
        let asked = server.all_requests().pop().unwrap();
        assert_eq!((asked.path.as_str(), asked.path.contains("sk-")), (path, false));
        assert!(asked.headers.iter().any(|(_, value)| value.ends_with("sk-testkey")));
        if provider == "gemini" {
            let known = Listed { title: Some("Test".into()), context: Some(1000), ..Listed::named("test-model") };
            assert_eq!(list, [known]);
        }
    }
    let keyless = models(catalog.find("gemini").unwrap(), &OpenOptions::default()).await.unwrap_err();
    assert_eq!(
        (keyless.kind, keyless.message.as_str()),
        (ModelErrorKind::Auth, "Google Gemini needs an API key: set GEMINI_API_KEY")
    );
}
