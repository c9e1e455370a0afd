//! OpenAI's Responses API.
//! Source: <https://platform.openai.com/docs/api-reference/responses> and its streaming events.
//!
//! Owns: the body of a request, and the reading of a reply ([`Decoder`]). Nothing is stored at the provider: the whole history travels each time,
//! with what the model thought as encrypted items.
//!
//! **Invariant:** the same request gives the same bytes.

mod decoder;
mod input;

pub use decoder::Decoder;

use super::{Decode, Facts, Quirks, Wire};
use crate::domain::model::{Request, ToolDecl};
use crate::provider::body::merge;
use crate::provider::listing::{self, Listed};
use crate::schema::lower::{Subset, lower};
use serde_json::{Map, Value, json};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai_responses"
    }

    fn path(&self, _model: &str) -> String {
        "/responses".to_owned()
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

/// The body of `POST /responses`. The API has no stop strings.
pub fn body(request: &Request, quirks: &Quirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    if !request.system.is_empty() {
        body.insert("instructions".into(), request.system.clone().into());
    }
    body.insert("input".into(), input::input(&request.messages, quirks).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
        if let Some(parallel) = quirks.parallel_calls {
            body.insert("parallel_tool_calls".into(), parallel.into());
        }
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    if let Some(limit) = request.max_tokens {
        body.insert("max_output_tokens".into(), limit.into());
    }
    body.insert("store".into(), false.into());
    body.insert("stream".into(), true.into());
    for (name, value) in &request.extra {
        merge(&mut body, name, value);
    }
    // Models that do not reason refuse the field. Where nothing is stored, the encrypted thoughts are all that can go back.
    if !body.contains_key("include") && (body.contains_key("reasoning") || reasons(&request.model)) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    Value::Object(body)
}

fn tool(tool: &ToolDecl) -> Value {
    let parameters = lower(&tool.schema, Subset::Object).schema;
    // Strict functions would demand every property of every call.
    json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": parameters, "strict": false })
}

/// Whether a model is one of OpenAI's that reason: the o series, GPT-5 and later (but for their chat variants), gpt-oss.
fn reasons(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let digit = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        rest.chars().next()?.to_digit(10)
    };
    let gpt = digit("gpt-").is_some_and(|version| version >= 5) && !name.contains("-chat");
    gpt || digit("o").is_some() || name.starts_with("gpt-oss") || name.starts_with("codex-")
}

#[cfg(test)]
mod tests {
    use super::reasons;

    #[test]
    fn models_that_reason() {
        for name in ["o1", "o4-mini", "gpt-5", "gpt-5.2", "openai/gpt-5-mini", "gpt-oss:20b", "codex-mini-latest"] {
            assert!(reasons(name), "{name}");
        }
        for name in ["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "omni", "llama", ""] {
            assert!(!reasons(name), "{name}");
        }
    }
}
