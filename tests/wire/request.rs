//! The bodies of requests in the Chat Completions format.

use mcpane::domain::Content;
use mcpane::domain::content::Blob;
use mcpane::domain::model::{CallRef, Message, Request, ToolDecl};
use mcpane::provider::wire::openai_chat::body;
use mcpane::provider::wire::{LimitField, Quirks};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn picture() -> Content {
    Content::Image { mime: "image/png".into(), data: Blob::from_base64("AAAA") }
}

fn assistant(text: &str, reasoning: Option<&str>, calls: &[(&str, Value)]) -> Message {
    let call = |(id, arguments): &(&str, Value)| CallRef {
        id: (*id).to_owned(),
        name: "files__read".to_owned(),
        arguments: arguments.clone(),
    };
    Message::Assistant {
        text: text.to_owned(),
        reasoning: reasoning.map(str::to_owned),
        opaque: vec![json!({ "signed": true })],
        calls: calls.iter().map(call).collect(),
    }
}

fn result(call: &str, content: Vec<Content>) -> Message {
    Message::Tool { call: call.to_owned(), name: "files__read".to_owned(), content, is_error: false }
}

fn messages(messages: Vec<Message>, quirks: &Quirks) -> Value {
    body(&Request { messages, ..Request::default() }, quirks)["messages"].clone()
}

#[test]
fn the_whole_body_byte_for_byte() {
    let tool = |name: &str| ToolDecl {
        name: name.to_owned(),
        description: "d".to_owned(),
        schema: Arc::new(json!({ "type": "object", "properties": { "z": {}, "a": {} } })),
    };
    let request = Request {
        model: "m".into(),
        system: "s".into(),
        messages: vec![
            user("hello"),
            assistant("", None, &[("c1", json!({ "path": "b", "a": 1 }))]),
            result("c1", vec![Content::text("one"), Content::Json { value: json!({ "k": [1] }) }]),
            assistant("done", Some("because"), &[]),
        ],
        tools: vec![tool("b"), tool("a")],
        stop: vec!["</x>".into(), "</y>".into(), "</z>".into()],
        temperature: Some(0.5),
        max_tokens: Some(100),
        extra: Map::from_iter([
            ("seed".to_owned(), json!(7)),
            ("stream_options".to_owned(), json!({ "more": true })),
            ("temperature".to_owned(), json!(0)),
        ]),
    };
    let quirks = Quirks { max_stop: 2, parallel_calls: Some(true), ..Quirks::default() };
    let parameters = r#"{"type":"object","properties":{"z":{},"a":{}}}"#;
    let expected = [
        r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hello"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"files__read","#,
        r#""arguments":"{\"path\":\"b\",\"a\":1}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"one\n{\"k\":[1]}"},"#,
        r#"{"role":"assistant","content":"done","reasoning_content":"because"}],"#,
        &format!(r#""tools":[{{"type":"function","function":{{"name":"b","description":"d","parameters":{parameters}}}}},"#),
        &format!(r#"{{"type":"function","function":{{"name":"a","description":"d","parameters":{parameters}}}}}],"#),
        r#""parallel_tool_calls":true,"stop":["</x>","</y>"],"temperature":0,"max_tokens":100,"stream":true,"#,
        r#""stream_options":{"include_usage":true,"more":true},"seed":7}"#,
    ]
    .concat();
    assert_eq!(body(&request, &quirks).to_string(), expected);
    assert_eq!(body(&request.clone(), &quirks).to_string(), expected);
}

#[test]
fn what_is_not_set_is_not_sent() {
    let bare = body(
        &Request { model: "m".into(), stop: vec!["x".into()], ..Request::default() },
        &Quirks { stream_usage: false, max_stop: 0, ..Quirks::default() },
    );
    assert_eq!(bare.to_string(), r#"{"model":"m","messages":[],"stream":true}"#);
    let limit = Quirks { limit_field: LimitField::MaxCompletionTokens, ..Quirks::default() };
    let limited = body(&Request { max_tokens: Some(5), ..Request::default() }, &limit);
    assert_eq!((&limited["max_completion_tokens"], limited.get("max_tokens")), (&json!(5), None));
}

#[test]
fn pictures_only_for_models_that_see() {
    let seeing = Quirks { images: true, ..Quirks::default() };
    let url = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } });
    let asked = || vec![Message::User { content: vec![Content::text("what is it?"), picture()] }];
    assert_eq!(
        messages(asked(), &seeing),
        json!([{ "role": "user", "content": [{ "type": "text", "text": "what is it?" }, url.clone()] }])
    );
    assert_eq!(
        messages(asked(), &Quirks::default()),
        json!([{ "role": "user", "content": "what is it?\n[image image/png, 3 bytes]" }])
    );
    // The pictures of results follow the last result in a row: nothing may stand between a call and its results.
    let results = vec![
        assistant("", None, &[("c1", json!({})), ("c2", json!({}))]),
        result("c1", vec![picture()]),
        result("c2", vec![Content::text("two")]),
        user("next"),
    ];
    let sent = messages(results, &seeing);
    let roles: Vec<&str> = sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["assistant", "tool", "tool", "user", "user"]);
    assert_eq!(sent[1]["content"], "[image image/png, 3 bytes]");
    assert_eq!(
        sent[3]["content"],
        json!([{ "type": "text", "text": "Pictures from the result of files__read:" }, url])
    );
}

#[test]
fn reasoning_goes_back_only_where_it_is_wanted() {
    let history = || vec![assistant("", Some("why"), &[("c1", json!({}))]), assistant("", None, &[("c2", json!({}))])];
    let plain = messages(history(), &Quirks::default());
    assert_eq!((&plain[0]["reasoning_content"], plain[1].get("reasoning_content")), (&json!("why"), None));
    // DeepSeek: a message that called never lacks the field.
    let back = messages(history(), &Quirks { reasoning_back: true, ..Quirks::default() });
    assert_eq!(back[1]["reasoning_content"], "");
}
