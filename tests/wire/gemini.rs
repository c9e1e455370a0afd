//! Google's Gemini API.

use crate::hints::{arguments, collect, finish, merged, opaque, read_as, reasoning, reference, referred, start, text};
use crate::samples::{assistant, call, kept, pretty, result, tool, turn, user};
use crate::sse_model::{ModelServer, Reply};
use mcpane::domain::model::FinishReason::{Filtered, Length, Other, Stop, ToolCalls};
use mcpane::domain::model::{FinishReason, ModelErrorKind, Request, StreamEvent};
use mcpane::domain::{Content, Usage};
use mcpane::provider::catalog::{Catalog, OpenOptions};
use mcpane::provider::wire::gemini::body;
use mcpane::provider::wire::{Quirks, find};
use serde_json::{Value, json};

fn usage(input: u64, output: u64, cached: u64, reasoning: u64) -> StreamEvent {
    StreamEvent::Usage { usage: Usage { input, output, cached, reasoning, written: 0 } }
}

#[test]
fn every_part_of_a_reply() {
    let on_call = json!({ "on": "call", "name": "weather__get_forecast", "signature": "b3Nsbw==" });
    let said: Vec<StreamEvent> = referred("gemini", "gemini.every_part.sse")
        .into_iter()
        .filter(|event| !matches!(event, StreamEvent::Usage { .. }))
        .collect();
    // Counts come between the pieces.
    assert_eq!(
        merged(&said),
        [
            reasoning("**Weather**\n\nThe user wants two cities. 🌦"),
            text("I will look up both cities."),
            opaque(json!({ "on": "text", "signature": "dGV4dA==" }), 0, 22),
            opaque(on_call, 0, 22),
            start(0, None, "weather__get_forecast"),
            arguments(0, r#"{"city":"Oslo","days":1}"#),
            start(1, None, "weather__get_forecast"),
            arguments(1, r#"{"city":"京都"}"#),
            start(2, Some("fc1"), "3d__draw"),
            opaque(json!({ "on": "text", "signature": "bGFzdA==" }), 3, 22),
            finish(ToolCalls),
        ]
    );
    let counts: Vec<StreamEvent> = referred("gemini", "gemini.every_part.sse")
        .into_iter()
        .filter(|event| matches!(event, StreamEvent::Usage { .. }))
        .collect();
    assert_eq!(counts, [usage(95, 0, 0, 0), usage(95, 31, 0, 31), usage(95, 35, 0, 31), usage(95, 71, 64, 31)]);
}

#[test]
fn a_call_that_the_api_could_not_read_goes_back_to_the_model() {
    let said = r#"Malformed function call: print(default_api.weather__get_forecast(city="Oslo")"#;
    assert_eq!(
        referred("gemini", "gemini.malformed_call.sse"),
        [start(0, None, "malformed_function_call"), arguments(0, said), usage(95, 0, 0, 0), finish(ToolCalls)]
    );
}

#[test]
fn reasons_for_the_end() {
    let ends = |reason: &str| {
        let frame = json!({ "candidates": [{ "content": { "parts": [{ "text": "a" }] }, "finishReason": reason }] });
        let (events, error) = read_as("gemini", vec![format!("data: {frame}\n\n").into_bytes()]);
        assert_eq!(error, None);
        events.last().cloned()
    };
    let cases: [(&str, FinishReason); 8] = [
        ("STOP", Stop),
        ("MAX_TOKENS", Length),
        ("SAFETY", Filtered),
        ("RECITATION", Filtered),
        ("PROHIBITED_CONTENT", Filtered),
        ("BLOCKLIST", Filtered),
        ("UNEXPECTED_TOOL_CALL", Other("UNEXPECTED_TOOL_CALL".into())),
        ("OTHER", Other("OTHER".into())),
    ];
    for (said, meant) in cases {
        assert_eq!(ends(said), Some(finish(meant)), "{said}");
    }
    assert_eq!(referred("gemini", "gemini.max_tokens.sse").last(), Some(&finish(Length)));
    assert_eq!(referred("gemini", "gemini.safety.sse"), [usage(95, 0, 0, 0), finish(Filtered)]);
    assert_eq!(referred("gemini", "gemini.answer.sse").last(), Some(&finish(Stop)));
}

#[test]
fn prompts_that_are_blocked_and_replies_that_break() {
    let broken = |body: &[u8]| {
        let (events, error) = read_as("gemini", vec![body.to_vec()]);
        let error = error.unwrap();
        (merged(&events).len(), error.kind, error.message)
    };
    let blocked = broken(&reference("gemini.blocked.sse"));
    assert_eq!(blocked, (0, ModelErrorKind::BadRequest, "the prompt was blocked (PROHIBITED_CONTENT)".to_owned()));
    let error = json!({ "error": { "code": 503, "message": "m", "status": "UNAVAILABLE" } });
    assert_eq!(broken(format!("data: {error}\n\n").as_bytes()).1, ModelErrorKind::Overloaded);
    let whole = String::from_utf8(reference("gemini.answer.sse")).unwrap();
    let first = &whole[..whole.rfind("data: ").unwrap()];
    assert_eq!(broken(first.as_bytes()).1, ModelErrorKind::Cut);
    assert_eq!(broken(b"").1, ModelErrorKind::Network);
    assert_eq!(broken(b"data: {\"hello\":1}\n\n").1, ModelErrorKind::Protocol);
    // Without `alt=sse`, one list of frames.
    let frames: Vec<&str> = whole.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let (events, error) = read_as("gemini", vec![format!("[{}]", frames.join(",\n")).into_bytes()]);
    assert_eq!((events.last(), error), (Some(&finish(Stop)), None));
}

#[tokio::test]
async fn refusals_say_what_they_mean() {
    let refused = |status, details: Value| async move {
        let body =
            json!([{ "error": { "code": status, "message": "m", "status": "INVALID_ARGUMENT", "details": details } }]);
        let server = ModelServer::start(vec![Reply::status(status, &[], body.to_string())]);
        let options =
            OpenOptions { base_url: Some(format!("http://127.0.0.1:{}", server.port())), ..OpenOptions::default() };
        let model = Catalog::built_in().open("gemini:m", &options).unwrap();
        model.stream(Request { messages: vec![user("a")], ..Request::default() }).await.err().unwrap()
    };
    let key = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID" }]);
    assert_eq!(refused(400, key).await.kind, ModelErrorKind::Auth);
    let wait = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "26.5s" }]);
    let error = refused(429, wait).await;
    assert_eq!((error.kind, error.retry_after_ms), (ModelErrorKind::RateLimited, Some(26_500)));
    assert_eq!(refused(400, json!([])).await.kind, ModelErrorKind::BadRequest);
}

fn seeing() -> Quirks {
    Quirks { images: true, ..Quirks::default() }
}

#[test]
fn a_request() {
    let blocks = vec![
        kept(json!({ "on": "text", "signature": "dGV4dA==" }), 0, 22),
        kept(json!({ "on": "call", "name": "weather__get_forecast", "signature": "b3Nsbw==" }), 0, 22),
    ];
    let request = turn(blocks);
    let sent = body(&request, &seeing());
    insta::assert_snapshot!("gemini_request", pretty(&sent));
    assert_eq!(sent.to_string(), body(&request.clone(), &seeing()).to_string());
}

fn replayed(model: &str, blocks: Vec<Value>, calls: &[&str]) -> Value {
    let calls: Vec<_> = calls.iter().map(|name| call(name, name, json!({}))).collect();
    let messages = vec![
        user("before"),
        assistant("", vec![], vec![call("o", "old", json!({}))]),
        result("o", "old", vec![Content::text("r")]),
        user("now"),
        assistant("", blocks, calls),
        result("f", "f", vec![Content::text("r")]),
    ];
    body(&Request { model: model.into(), messages, ..Request::default() }, &Quirks::default())["contents"].clone()
}

#[test]
fn calls_of_another_model_are_marked_where_signatures_are_checked() {
    let dummy = json!("skip_thought_signature_validator");
    let contents = replayed("gemini-3.1-pro", vec![], &["f", "g"]);
    assert_eq!(
        (&contents[3]["parts"][0]["thoughtSignature"], contents[3]["parts"][1].get("thoughtSignature")),
        (&dummy, None)
    );
    assert_eq!(contents[1]["parts"][0].get("thoughtSignature"), None, "only the turn at hand is checked");
    let older = replayed("gemini-2.5-flash", vec![], &["f", "g"]);
    assert!(!older.to_string().contains("thoughtSignature"));
    let block = kept(json!({ "on": "call", "name": "g", "signature": "s" }), 1, 0);
    let signed = replayed("gemini-flash-latest", vec![block.clone()], &["f", "g"]);
    assert_eq!(
        (signed[3]["parts"][0].get("thoughtSignature"), &signed[3]["parts"][1]["thoughtSignature"]),
        (None, &json!("s"))
    );
    // A call that is no longer there takes its signature with it.
    let gone = replayed("gemini-flash-latest", vec![block], &["f", "h"]);
    assert!(!gone.to_string().contains("\"s\""));
    let thought = kept(json!({ "on": "thought", "text": "hm", "signature": "t" }), 0, 0);
    let thought = replayed("gemini-2.5-flash", vec![thought], &["f"]);
    assert_eq!(thought[3]["parts"][0], json!({ "text": "hm", "thought": true, "thoughtSignature": "t" }));
}

#[test]
fn names_addresses_and_keys() {
    let tools = vec![tool("3d__draw", json!({ "type": "object", "properties": {} }))];
    let sent = body(&Request { tools, ..Request::default() }, &Quirks::default());
    assert_eq!(
        sent["tools"][0]["functionDeclarations"],
        json!([{ "name": "_3d__draw", "description": "What 3d__draw does." }])
    );
    let wire = find("gemini").unwrap();
    assert_eq!(wire.path("gemini-x"), "/models/gemini-x:streamGenerateContent?alt=sse");
    assert_eq!(wire.path("tunedModels/x"), "/tunedModels/x:streamGenerateContent?alt=sse");
    for base in ["https://h", "https://h/v1beta/", "https://h/v1beta/openai"] {
        assert_eq!(wire.base(base), "https://h/v1beta");
    }
    assert_eq!(wire.auth("k"), ("x-goog-api-key", "k".to_owned()));
}

#[tokio::test]
async fn a_schema_that_lost_something_is_said_once() {
    let answer = || Reply::sse(reference("gemini.answer.sse"));
    let server = ModelServer::start(vec![answer(), answer()]);
    let options = OpenOptions {
        base_url: Some(format!("http://127.0.0.1:{}", server.port())),
        api_key: Some("sk-testkey".into()),
        ..OpenOptions::default()
    };
    let model = Catalog::built_in().open("gemini:m", &options).unwrap();
    let free = json!({ "type": "object", "properties": { "p": { "type": "object", "additionalProperties": { "type": "string" } } } });
    let mut request = turn(vec![]);
    request.tools.push(tool("free", free));
    collect(model.stream(request.clone()).await.unwrap()).await;
    let notices = model.notices();
    assert_eq!((notices.len(), &*notices[0].text.key), (1, "model.schemas_lowered"));
    assert!(notices[0].text.args.contains(&("tools".into(), "free".into())));
    collect(model.stream(request).await.unwrap()).await;
    assert_eq!(model.notices(), []);
    let seen = &server.requests_now()[0];
    assert_eq!(seen.path, "/v1beta/models/test-model:streamGenerateContent?alt=sse");
    assert_eq!((seen.header("x-goog-api-key"), seen.header("authorization")), (Some("sk-testkey"), None));
}
