//! OpenAI's Chat Completions, as everyone speaks it.
//! Source: <https://platform.openai.com/docs/api-reference/chat>, and what llama.cpp, vLLM, OpenRouter, DeepSeek, Mistral and Groq make of it.
//!
//! Owns: the body of a request, and the reading of a reply ([`Decoder`]).
//! **Invariant:** the same request gives the same bytes, so that prompt caches hold.

mod calls;
mod decoder;

pub use decoder::Decoder;

use super::{Decode, Facts, LimitField, Quirks, Wire};
use crate::domain::Content;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{CallRef, Message, Request, ToolDecl};
use crate::provider::body::{merge, picture as known_picture};
use crate::provider::listing::{self, Listed};
use crate::schema::lower::{Subset, lower};
use serde_json::{Map, Value, json};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiChat;

impl Wire for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai_chat"
    }

    fn path(&self, _model: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn auth(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, request: &Request, quirks: &Quirks, _facts: &Facts) -> Value {
        body(request, quirks)
    }

    fn subset(&self) -> Subset {
        Subset::Object
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Decoder::default())
    }

    fn listed(&self, answer: &Value) -> Option<Vec<Listed>> {
        listing::by_id(answer)
    }
}

/// The body of `POST /chat/completions`.
pub fn body(request: &Request, quirks: &Quirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    body.insert("messages".into(), messages(request, quirks).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if let Some(parallel) = quirks.parallel_calls {
            body.insert("parallel_tool_calls".into(), parallel.into());
        }
    }
    let stop: Vec<&str> = request.stop.iter().map(String::as_str).take(quirks.max_stop).collect();
    if !stop.is_empty() {
        body.insert("stop".into(), stop.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(limit) = request.max_tokens {
        let field = match quirks.limit_field {
            LimitField::MaxTokens => "max_tokens",
            LimitField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), limit.into());
    }
    body.insert("stream".into(), true.into());
    if quirks.stream_usage {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    for (name, value) in &request.extra {
        merge(&mut body, name, value);
    }
    Value::Object(body)
}

fn tool(tool: &ToolDecl) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": lower(&tool.schema, Subset::Object).schema },
    })
}

fn messages(request: &Request, quirks: &Quirks) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system }));
    }
    // Pictures of results: a tool message may hold only text, so they follow in a message of the user's side, after the last result in a row.
    let mut pictures: Vec<Value> = Vec::new();
    for message in &request.messages {
        if !matches!(message, Message::Tool { .. }) {
            flush(&mut pictures, &mut out);
        }
        match message {
            Message::User { content } => out.push(json!({ "role": "user", "content": parts(content, quirks) })),
            Message::Assistant { text, reasoning, calls, opaque: _ } => {
                out.push(assistant(text, reasoning.as_deref(), calls, quirks));
            }
            // The format has no mark for a failure; the dialect says it in the text.
            Message::Tool { call, name, content, is_error: _ } => {
                out.push(json!({ "role": "tool", "tool_call_id": call, "content": beside_media(content) }));
                if quirks.images && content.iter().any(is_image) {
                    pictures.push(json!({ "type": "text", "text": format!("Pictures from the result of {name}:") }));
                    pictures.extend(content.iter().filter_map(picture));
                }
            }
        }
    }
    flush(&mut pictures, &mut out);
    out
}

fn flush(pictures: &mut Vec<Value>, out: &mut Vec<Value>) {
    if !pictures.is_empty() {
        out.push(json!({ "role": "user", "content": std::mem::take(pictures) }));
    }
}

fn assistant(text: &str, reasoning: Option<&str>, calls: &[CallRef], quirks: &Quirks) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), "assistant".into());
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    message.insert("content".into(), content);
    match reasoning {
        Some(reasoning) => {
            message.insert("reasoning_content".into(), reasoning.into());
        }
        // DeepSeek refuses a history in which a message that called lacks the field, as it does after a change of model.
        None if quirks.reasoning_back && !calls.is_empty() => {
            message.insert("reasoning_content".into(), "".into());
        }
        None => {}
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.iter().map(call).collect());
    }
    Value::Object(message)
}

fn call(call: &CallRef) -> Value {
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": call.arguments.to_string() },
    })
}

/// Plain text where it is only that (every server reads it), a list of parts where there are pictures.
fn parts(content: &[Content], quirks: &Quirks) -> Value {
    if !quirks.images || !content.iter().any(is_image) {
        return plain(content).into();
    }
    content
        .iter()
        .map(|block| picture(block).unwrap_or_else(|| json!({ "type": "text", "text": block.to_plain() })))
        .collect()
}

fn is_image(block: &Content) -> bool {
    known_picture(block).is_some()
}

fn picture(block: &Content) -> Option<Value> {
    let (mime, data) = known_picture(block)?;
    Some(json!({ "type": "image_url", "image_url": { "url": format!("data:{mime};base64,{}", data.base64) } }))
}
