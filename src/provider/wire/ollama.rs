//! Ollama's own chat endpoint.
//! Source: <https://docs.ollama.com/api/chat>, `/api/show`, `/api/tags`, and `api/types.go` of Ollama.
//!
//! Owns: the body of a request, with a context as large as the prompt needs ([`window`]), and the reading of a reply ([`Decoder`]): a JSON value
//! a line. Its OpenAI-style endpoint cannot set the context, and silently leaves out the beginning of a prompt that is larger.
//!
//! **Invariant:** the same request and facts give the same bytes.

mod decoder;
pub mod window;

pub use decoder::Decoder;

use super::{Decode, Facts, Quirks, Wire};
use crate::domain::Content;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{CallRef, Message, Request, ToolDecl};
use crate::provider::body::{merge, picture};
use crate::provider::listing::Listed;
use crate::provider::notices::Notices;
use crate::schema::lower::{Subset, lower};
use serde_json::{Map, Value, json};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Ollama;

impl Wire for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn path(&self, _model: &str) -> String {
        "/api/chat".to_owned()
    }

    /// For an Ollama behind a proxy, and for `ollama.com`.
    fn auth(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    /// People write the address of its OpenAI-style endpoint.
    fn base(&self, base: &str) -> String {
        let base = base.trim().trim_end_matches('/');
        let ends = ["/v1", "/api/chat", "/api"];
        let root = ends.iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base);
        root.trim_end_matches('/').to_owned()
    }

    fn question(&self, model: &str) -> Option<(&'static str, Value)> {
        Some(("/api/show", json!({ "model": model })))
    }

    fn facts(&self, answer: &Value) -> Facts {
        let can = |what: &str| {
            let list = answer.get("capabilities")?.as_array()?;
            Some(list.iter().any(|item| item == what))
        };
        let info = answer.get("model_info").and_then(Value::as_object);
        // `llama.context_length`: the architecture's name comes first.
        let context = info.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
        Facts {
            context: context.and_then(|(_, value)| value.as_u64()).filter(|size| *size > 0),
            window: answer.get("parameters").and_then(Value::as_str).and_then(window_of),
            tools: can("tools"),
            thinking: can("thinking"),
            images: can("vision"),
        }
    }

    fn body(&self, request: &Request, quirks: &Quirks, facts: &Facts) -> Value {
        body(request, quirks, facts)
    }

    fn subset(&self) -> Subset {
        Subset::Plain
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Decoder::default())
    }

    fn reader(&self, body: &Value, notices: &Notices) -> Box<dyn Decode> {
        Box::new(Decoder::watching(body, notices.clone()))
    }

    fn list(&self) -> &'static str {
        "/api/tags"
    }

    fn listed(&self, answer: &Value) -> Option<Vec<Listed>> {
        let models = answer.get("models")?.as_array()?;
        models
            .iter()
            .map(|model| Some(Listed::named(model.get("name").or_else(|| model.get("model"))?.as_str()?)))
            .collect()
    }
}

/// `num_ctx` of the parameters of a model file, a line each.
fn window_of(parameters: &str) -> Option<u64> {
    parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
}

/// The body of `POST /api/chat`.
pub fn body(request: &Request, quirks: &Quirks, facts: &Facts) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    body.insert("messages".into(), messages(request, quirks).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body.insert("stream".into(), true.into());
    if facts.thinking == Some(true) {
        body.insert("think".into(), true.into());
    }
    let mut options = Map::new();
    if let Some(temperature) = request.temperature {
        options.insert("temperature".into(), temperature.into());
    }
    if let Some(limit) = request.max_tokens {
        options.insert("num_predict".into(), limit.into());
    }
    let stop: Vec<&str> = request.stop.iter().map(String::as_str).take(quirks.max_stop).collect();
    if !stop.is_empty() {
        options.insert("stop".into(), stop.into());
    }
    options.insert("num_ctx".into(), 0.into());
    body.insert("options".into(), options.into());
    for (name, value) in &request.extra {
        merge(&mut body, name, value);
    }
    // Last, because it depends on everything else. What the user set is left alone.
    let needed = window::size(&body, facts);
    if let Some(place) =
        body.get_mut("options").and_then(|options| options.get_mut("num_ctx")).filter(|size| **size == 0)
    {
        *place = needed.into();
    }
    Value::Object(body)
}

fn tool(tool: &ToolDecl) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name, "description": tool.description, "parameters": lower(&tool.schema, Subset::Plain).schema,
        },
    })
}

fn messages(request: &Request, quirks: &Quirks) -> Vec<Value> {
    let mut out = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.is_empty() {
        out.push(json!({ "role": "system", "content": request.system }));
    }
    for message in &request.messages {
        out.push(match message {
            Message::User { content } => seen("user", content, plain, quirks),
            Message::Assistant { text, reasoning, calls, opaque: _ } => assistant(text, reasoning.as_deref(), calls),
            // The format has no mark for a failure; the dialect says it in the text.
            Message::Tool { call, name, content, is_error: _ } => {
                let mut message = seen("tool", content, beside_media, quirks);
                message["tool_name"] = name.as_str().into();
                message["tool_call_id"] = call.as_str().into();
                message
            }
        });
    }
    out
}

/// A message with its pictures beside the text.
fn seen(role: &str, content: &[Content], text: fn(&[Content]) -> String, quirks: &Quirks) -> Value {
    let pictures: Vec<&str> = content.iter().filter_map(picture).map(|(_, data)| &*data.base64).collect();
    if !quirks.images || pictures.is_empty() {
        return json!({ "role": role, "content": text(content) });
    }
    // What the pictures show is not described twice; a kind that is not sent still is.
    let rest: Vec<Content> = content.iter().filter(|block| picture(block).is_none()).cloned().collect();
    json!({ "role": role, "content": text(&rest), "images": pictures })
}

/// What was thought goes back only beside calls: the model goes on from there.
fn assistant(text: &str, reasoning: Option<&str>, calls: &[CallRef]) -> Value {
    let mut message = json!({ "role": "assistant", "content": text });
    if calls.is_empty() {
        return message;
    }
    if let Some(reasoning) = reasoning {
        message["thinking"] = reasoning.into();
    }
    let call = |call: &CallRef| {
        let arguments = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
        json!({ "id": call.id, "function": { "name": call.name, "arguments": arguments } })
    };
    message["tool_calls"] = calls.iter().map(call).collect();
    message
}
