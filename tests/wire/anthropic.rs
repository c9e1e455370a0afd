//! Anthropic's Messages API.

use crate::hints::{arguments, finish, merged, opaque, read_as, reasoning, reference, referred, start, text};
use crate::samples::{assistant, call, kept, pretty, result, tool, turn, user};
use mcpane::domain::model::FinishReason::{Filtered, Length, Other, Stop, ToolCalls};
use mcpane::domain::model::{FinishReason, ModelErrorKind, Request, StreamEvent};
use mcpane::domain::{Content, Usage};
use mcpane::provider::wire::anthropic::body;
use mcpane::provider::wire::{Quirks, find};
use serde_json::{Map, Value, json};

fn played(name: &str) -> Vec<StreamEvent> {
    referred("anthropic", name)
}

fn usage(input: u64, cached: u64, written: u64, output: u64, reasoning: u64) -> StreamEvent {
    StreamEvent::Usage { usage: Usage { input, output, cached, written, reasoning } }
}

fn told(events: &[Value]) -> Vec<StreamEvent> {
    let lines: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let (events, error) = read_as("anthropic", vec![lines.into_bytes()]);
    assert_eq!(error, None);
    merged(&events)
}

#[test]
fn every_event_of_a_reply() {
    let thought = "The user wants the weather in Oslo and in 京都. 🌦";
    let signed = json!({ "type": "thinking", "thinking": thought, "signature": "EqoBCkgIARABGAIiQL2Uoe==" });
    let second = json!({ "type": "thinking", "thinking": "Now the second one.", "signature": "c2Vjb25k" });
    assert_eq!(
        played("anthropic.every_event.sse"),
        [
            usage(2312, 2000, 300, 1, 0),
            reasoning(thought),
            opaque(signed, 0, 0),
            opaque(json!({ "type": "redacted_thinking", "data": "EmwKAhgBEgy3va" }), 0, 0),
            text("I will look up both cities."),
            start(0, Some("toolu_01A"), "weather__get_forecast"),
            arguments(0, r#"{"city": "Oslo", "days": 1}"#),
            reasoning("Now the second one."),
            opaque(second, 1, 22),
            start(1, Some("toolu_01B"), "weather__get_forecast"),
            arguments(1, r#"{"city": "京都"}"#),
            start(2, Some("toolu_01C"), "clock__now"),
            usage(2312, 2000, 300, 187, 40),
            finish(ToolCalls),
        ]
    );
}

#[test]
fn a_call_cut_off_by_the_limit() {
    let events = played("anthropic.max_tokens.sse");
    assert_eq!(
        events[1..],
        [
            start(0, Some("toolu_01A"), "files__write"),
            arguments(0, r#"{"path": "a.txt", "text": "half of"#),
            usage(2312, 2000, 300, 32, 0),
            finish(Length)
        ]
    );
}

#[test]
fn errors_inside_a_reply() {
    let (events, error) = read_as("anthropic", vec![reference("anthropic.overloaded.sse")]);
    let error = error.unwrap();
    assert_eq!(
        (merged(&events).len(), error.kind, error.message.as_str()),
        (1, ModelErrorKind::Overloaded, "Overloaded")
    );
    assert!(error.kind.is_retryable());
    // In the middle of an answer what came is kept, and nothing is tried again unasked.
    let mut body = String::from_utf8(reference("anthropic.answer.sse")).unwrap();
    body.truncate(body.find("event: content_block_stop").unwrap());
    let cut = |rest: &str| read_as("anthropic", vec![format!("{body}{rest}").into_bytes()]);
    let (events, error) =
        cut("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"m\"}}\n\n");
    assert_eq!((merged(&events).len(), error.unwrap().kind), (2, ModelErrorKind::Cut));
    let (events, error) = cut("");
    assert_eq!((merged(&events).len(), error.unwrap().kind), (2, ModelErrorKind::Cut));
    let (_, error) = read_as("anthropic", vec![b"data: {\"choices\":[]}\n\n".to_vec()]);
    assert_eq!(error.unwrap().kind, ModelErrorKind::Protocol);
    let (_, error) = read_as("anthropic", vec![]);
    assert_eq!(error.unwrap().kind, ModelErrorKind::Network);
}

#[test]
fn reasons_for_the_end() {
    let ends = |reason: &str| {
        let delta = json!({ "type": "message_delta", "delta": { "stop_reason": reason } });
        told(&[delta, json!({ "type": "message_stop" })]).pop()
    };
    let cases: [(&str, FinishReason); 8] = [
        ("end_turn", Stop),
        ("stop_sequence", Stop),
        ("max_tokens", Length),
        ("model_context_window_exceeded", Length),
        ("tool_use", ToolCalls),
        ("refusal", Filtered),
        ("pause_turn", Other("pause_turn".into())),
        ("weird", Other("weird".into())),
    ];
    for (said, meant) in cases {
        assert_eq!(ends(said), Some(finish(meant)), "{said}");
    }
    assert_eq!(played("anthropic.refusal.sse").last(), Some(&finish(Filtered)));
    assert_eq!(played("anthropic.answer.sse")[1], text("Rain in Oslo, sun in 京都."));
}

#[test]
fn habits_of_servers_that_imitate_it() {
    // A whole message; the input at once; "end_turn" although there is a call; a thought without a signature.
    let message = json!({
        "type": "message", "role": "assistant", "stop_reason": "end_turn", "usage": { "input_tokens": 3, "output_tokens": 4 },
        "content": [
            { "type": "thinking", "thinking": "hm" },
            { "type": "text", "text": "a" },
            { "type": "tool_use", "id": "t", "name": "f", "input": { "x": 1 } },
        ],
    });
    let expected = [
        reasoning("hm"),
        text("a"),
        start(0, Some("t"), "f"),
        arguments(0, r#"{"x":1}"#),
        usage(3, 0, 0, 4, 0),
        finish(ToolCalls),
    ];
    let (events, error) = read_as("anthropic", vec![pretty(&message).into_bytes()]);
    assert_eq!((merged(&events), error), (expected.to_vec(), None));
    // No stop of a block, no `message_delta`, two blocks of one index.
    let block = |id: &str| json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": id, "name": "f", "input": { "n": id } } });
    let events = told(&[block("a"), block("b"), json!({ "type": "message_stop" })]);
    assert_eq!(
        events,
        [
            start(0, Some("a"), "f"),
            arguments(0, r#"{"n":"a"}"#),
            start(1, Some("b"), "f"),
            arguments(1, r#"{"n":"b"}"#),
            finish(ToolCalls)
        ]
    );
}

fn seeing() -> Quirks {
    Quirks { images: true, parallel_calls: Some(false), ..Quirks::default() }
}

#[test]
fn a_request() {
    let signed = json!({ "type": "thinking", "thinking": "Both.", "signature": "s" });
    let redacted = json!({ "type": "redacted_thinking", "data": "d" });
    let between = json!({ "type": "thinking", "thinking": "Now the second.", "signature": "t" });
    let request = turn(vec![kept(signed, 0, 0), kept(redacted, 0, 0), kept(between, 1, 22)]);
    let sent = body(&request, &seeing());
    insta::assert_snapshot!("anthropic_request", pretty(&sent));
    assert_eq!(sent.to_string(), body(&request.clone(), &seeing()).to_string());
    let marks = sent.to_string().matches("cache_control").count();
    assert_eq!(marks, 4, "tools, system and twice in the history: the API takes no more");
}

fn thinking(messages: Vec<mcpane::domain::model::Message>, thinking: Value, limit: Option<u32>) -> Value {
    let extra = Map::from_iter([("thinking".to_owned(), thinking)]);
    let request = Request { messages, temperature: Some(0.5), max_tokens: limit, extra, ..Request::default() };
    body(&request, &Quirks::default())
}

#[test]
fn what_thinking_demands() {
    let adaptive = || json!({ "type": "adaptive" });
    let budget = json!({ "type": "enabled", "budget_tokens": 8192 });
    let sent = thinking(vec![user("a")], budget.clone(), Some(1000));
    assert_eq!((&sent["max_tokens"], sent.get("temperature")), (&json!(9192), None));
    let sent = thinking(vec![user("a")], json!({ "type": "disabled" }), None);
    assert_eq!((&sent["max_tokens"], &sent["temperature"]), (&json!(8192), &json!(0.5)));
    // Calls that another model made: no thought of this one stands before them.
    let called = |blocks: Vec<Value>| {
        let made = assistant("", blocks, vec![call("c", "f", json!({}))]);
        vec![user("a"), made, result("c", "f", vec![Content::text("r")])]
    };
    let sent = thinking(called(vec![]), adaptive(), None);
    assert_eq!((sent.get("thinking"), &sent["temperature"]), (None, &json!(0.5)));
    let own = vec![kept(json!({ "type": "thinking", "thinking": "t", "signature": "s" }), 0, 0)];
    assert_eq!(thinking(called(own), adaptive(), None)["thinking"], adaptive());
    let mut over = called(vec![]);
    over.push(user("next"));
    assert_eq!(thinking(over, adaptive(), None)["thinking"], adaptive(), "a new turn may think");
}

#[test]
fn roles_alternate_and_nothing_is_empty() {
    let history = vec![
        user("a"),
        user("b"),
        assistant(" \n", vec![], vec![]),
        assistant("x", vec![], vec![]),
        assistant("y", vec![], vec![call("c", "f", json!("no object"))]),
        result("c", "f", vec![]),
        user("c"),
    ];
    let sent = body(&Request { messages: history, ..Request::default() }, &Quirks::default());
    let cached = json!({ "type": "ephemeral" });
    let expected = json!([
        { "role": "user", "content": [{ "type": "text", "text": "a" }, { "type": "text", "text": "b", "cache_control": cached }] },
        { "role": "assistant", "content": [
            { "type": "text", "text": "x" }, { "type": "text", "text": "y" }, { "type": "tool_use", "id": "c", "name": "f", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "c", "content": [] }, { "type": "text", "text": "c", "cache_control": cached },
        ] },
    ]);
    assert_eq!(sent["messages"], expected);
}

#[test]
fn schemas_that_it_would_refuse() {
    let odd = json!({
        "anyOf": [
            { "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] },
            { "type": "object", "properties": { "b": { "$ref": "#/$defs/n" }, "no name": {} } },
        ],
        "$defs": { "n": { "type": "number" } },
    });
    let sent = body(&Request { tools: vec![tool("f", odd)], ..Request::default() }, &Quirks::default());
    assert_eq!(
        sent["tools"][0]["input_schema"],
        json!({
            "$defs": { "n": { "type": "number" } }, "type": "object",
            "properties": { "a": { "type": "string" }, "b": { "$ref": "#/$defs/n" } },
        })
    );
}

#[test]
fn addresses_and_keys() {
    let wire = find("anthropic").unwrap();
    for base in ["https://h", "https://h/", "https://h/v1", " https://h/v1/messages "] {
        assert_eq!(wire.base(base), "https://h/v1", "{base}");
    }
    assert_eq!(wire.auth("sk"), ("x-api-key", "sk".to_owned()));
    let list =
        json!({ "data": [{ "type": "model", "id": "claude-x", "display_name": "Claude X" }], "has_more": false });
    let listed = wire.listed(&list).unwrap();
    assert_eq!((listed[0].name.as_str(), listed[0].title.as_deref()), ("claude-x", Some("Claude X")));
}
