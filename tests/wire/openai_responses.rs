//! OpenAI's Responses API.

use crate::hints::{arguments, finish, merged, opaque, read_as, reasoning, reference, referred, start, text};
use crate::samples::{kept, pretty, turn, user};
use mcpane::domain::Usage;
use mcpane::domain::model::FinishReason::{Filtered, Length, Other, Stop, ToolCalls};
use mcpane::domain::model::{ModelErrorKind, Request, StreamEvent};
use mcpane::provider::wire::Quirks;
use mcpane::provider::wire::openai_responses::body;
use serde_json::{Map, Value, json};

fn counts() -> StreamEvent {
    StreamEvent::Usage { usage: Usage { input: 328, output: 140, cached: 256, written: 0, reasoning: 64 } }
}

fn block() -> Value {
    json!({
        "type": "reasoning", "id": "rs_1",
        "summary": [
            { "type": "summary_text", "text": "The user wants the weather. 🌦" }, { "type": "summary_text", "text": "Two cities." },
        ],
        "encrypted_content": "gAAAAB",
    })
}

fn whole() -> Vec<StreamEvent> {
    vec![
        reasoning("The user wants the weather. 🌦\n\nTwo cities."),
        opaque(block(), 0, 0),
        text("I will look up both cities."),
        start(0, Some("call_1"), "weather__get_forecast"),
        arguments(0, r#"{"city":"Oslo","days":1}"#),
        start(1, Some("call_2"), "weather__get_forecast"),
        arguments(1, r#"{"city":"京都"}"#),
        counts(),
        finish(ToolCalls),
    ]
}

#[test]
fn every_event_of_a_reply() {
    assert_eq!(referred("openai_responses", "openai_responses.every_event.sse"), whole());
}

#[test]
fn a_reply_from_a_server_that_says_only_the_end() {
    let stream = String::from_utf8(reference("openai_responses.every_event.sse")).unwrap();
    let last = stream.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Value = serde_json::from_str(last).unwrap();
    let (events, error) = read_as("openai_responses", vec![format!("data: {event}\n\n").into_bytes()]);
    assert_eq!((merged(&events), error), (whole(), None));
    let (events, error) = read_as("openai_responses", vec![pretty(&event["response"]).into_bytes()]);
    assert_eq!((merged(&events), error), (whole(), None));
}

#[test]
fn ends() {
    assert_eq!(
        referred("openai_responses", "openai_responses.refusal.sse"),
        [text("I cannot do that."), counts(), finish(Stop)]
    );
    assert_eq!(
        referred("openai_responses", "openai_responses.incomplete.sse"),
        [
            start(0, Some("call_1"), "files__write"),
            arguments(0, r#"{"path":"a.txt","text":"half of"#),
            counts(),
            finish(Length)
        ]
    );
    let ends = |details: Value| {
        let event = json!({ "type": "response.incomplete", "response": { "status": "incomplete", "incomplete_details": details } });
        read_as("openai_responses", vec![format!("data: {event}\n\n").into_bytes()]).0.pop()
    };
    assert_eq!(ends(json!({ "reason": "content_filter" })), Some(finish(Filtered)));
    assert_eq!(ends(json!({ "reason": "odd" })), Some(finish(Other("odd".into()))));
    assert_eq!(ends(json!(null)), Some(finish(Length)));
}

#[test]
fn errors_and_breaks() {
    let broken = |body: &[u8]| {
        let (events, error) = read_as("openai_responses", vec![body.to_vec()]);
        let error = error.unwrap();
        (merged(&events).len(), error.kind, error.message)
    };
    let failed = "The model failed to generate a response.".to_owned();
    assert_eq!(broken(&reference("openai_responses.failed.sse")), (0, ModelErrorKind::Server, failed));
    let limited = broken(&reference("openai_responses.error.sse"));
    assert_eq!(limited, (0, ModelErrorKind::RateLimited, "Slow down.".to_owned()));
    let stream = String::from_utf8(reference("openai_responses.refusal.sse")).unwrap();
    let cut = &stream[..stream.find("event: response.refusal.done").unwrap()];
    assert_eq!(broken(cut.as_bytes()).1, ModelErrorKind::Cut);
    assert_eq!(broken(b"").1, ModelErrorKind::Network);
    assert_eq!(broken(b"data: {\"choices\":[]}\n\n").1, ModelErrorKind::Protocol);
    assert_eq!(broken(b"data: {\"error\":{\"message\":\"m\",\"code\":429}}\n\n").1, ModelErrorKind::RateLimited);
}

#[test]
fn a_request() {
    let quirks = Quirks { images: true, parallel_calls: Some(true), ..Quirks::default() };
    let request = Request { model: "gpt-5-mini".into(), ..turn(vec![kept(block(), 0, 0)]) };
    let sent = body(&request, &quirks);
    insta::assert_snapshot!("openai_responses_request", pretty(&sent));
    assert_eq!(sent.to_string(), body(&request.clone(), &quirks).to_string());
}

#[test]
fn thoughts_are_asked_for_only_where_there_are_any() {
    let include = |model: &str, extra: Value| {
        let extra: Map<String, Value> = extra.as_object().unwrap().clone();
        let request = Request { model: model.into(), messages: vec![user("a")], extra, ..Request::default() };
        body(&request, &Quirks::default()).get("include").cloned()
    };
    let encrypted = Some(json!(["reasoning.encrypted_content"]));
    assert_eq!(include("gpt-4.1", json!({})), None);
    assert_eq!(include("gpt-5-mini", json!({})), encrypted);
    assert_eq!(include("local", json!({ "reasoning": { "summary": "auto" } })), encrypted);
    assert_eq!(include("gpt-5", json!({ "include": [] })), Some(json!([])));
}
