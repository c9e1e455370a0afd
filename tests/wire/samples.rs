//! Requests that every format must be able to say.

use mcpane::domain::Content;
use mcpane::domain::content::Blob;
use mcpane::domain::model::{CallRef, Message, Request, ToolDecl};
use serde_json::{Value, json};
use std::sync::Arc;

pub fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

pub fn picture() -> Content {
    Content::Image { mime: "image/png".into(), data: Blob::from_base64("AAAA") }
}

pub fn call(id: &str, name: &str, arguments: Value) -> CallRef {
    CallRef { id: id.into(), name: name.into(), arguments }
}

pub fn assistant(text: &str, opaque: Vec<Value>, calls: Vec<CallRef>) -> Message {
    Message::Assistant { text: text.into(), reasoning: None, opaque, calls }
}

pub fn result(call: &str, name: &str, content: Vec<Content>) -> Message {
    Message::Tool { call: call.into(), name: name.into(), content, is_error: false }
}

pub fn failed(call: &str, name: &str, text: &str) -> Message {
    Message::Tool { call: call.into(), name: name.into(), content: vec![Content::text(text)], is_error: true }
}

/// A signed block with its place.
pub fn kept(block: Value, calls: usize, chars: usize) -> Value {
    json!({ "block": block, "calls": calls, "chars": chars })
}

pub fn tool(name: &str, schema: Value) -> ToolDecl {
    ToolDecl { name: name.into(), description: format!("What {name} does."), schema: Arc::new(schema) }
}

pub fn tools() -> Vec<ToolDecl> {
    vec![
        tool("clock__now", json!({ "type": "object" })),
        tool(
            "weather__get_forecast",
            json!({
                "type": "object",
                "properties": {
                    "city": { "type": "string", "description": "Where.", "minLength": 1, "pattern": "^[A-Z]" },
                    "days": { "type": ["integer", "null"], "minimum": 1, "default": 1 },
                    "unit": { "$ref": "#/$defs/unit" },
                },
                "required": ["city"],
                "additionalProperties": false,
                "$defs": { "unit": { "enum": ["C", "F"] } },
            }),
        ),
    ]
}

/// A turn with two parallel calls, one of which failed, a picture in a result, and a word of the user's behind them; `blocks` are what the reply was
/// signed with.
pub fn turn(blocks: Vec<Value>) -> Request {
    Request {
        model: "test-model".into(),
        system: "You are a test.".into(),
        messages: vec![
            user("What is the weather in Oslo and in 京都?"),
            assistant(
                "I will look up both cities.",
                blocks,
                vec![
                    call("toolu_01A", "weather__get_forecast", json!({ "city": "Oslo", "days": 1 })),
                    call("functions.f:1", "weather__get_forecast", json!({ "city": "京都" })),
                ],
            ),
            result("toolu_01A", "weather__get_forecast", vec![Content::text("Rain."), picture()]),
            failed("functions.f:1", "weather__get_forecast", "No such city."),
            user("Hurry."),
        ],
        tools: tools(),
        stop: vec!["</x>".into(), " ".into()],
        temperature: Some(0.5),
        max_tokens: Some(1000),
        ..Request::default()
    }
}

pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}
