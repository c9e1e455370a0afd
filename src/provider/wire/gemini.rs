//! Google's Gemini API, `streamGenerateContent`.
//! Source: <https://ai.google.dev/api/generate-content>, its pages on function calling, thinking and thought signatures.
//!
//! Owns: the body of a request, and the reading of a reply ([`Decoder`]).
//!
//! **Invariants:** the same request gives the same bytes; results follow their calls in one message; signatures go back on the part that they came on.

mod contents;
mod decoder;

pub use decoder::Decoder;

use super::{Decode, Facts, Quirks, Wire};
use crate::domain::model::{Request, ToolDecl};
use crate::provider::body::merge;
use crate::provider::listing::Listed;
use crate::schema::lower::{Subset, lower};
use serde_json::{Map, Value, json};

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Gemini;

impl Wire for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn path(&self, model: &str) -> String {
        // Tuned models carry their collection in the name.
        let collection = if model.contains('/') { "" } else { "models/" };
        format!("/{collection}{model}:streamGenerateContent?alt=sse")
    }

    /// In the header, not in the address, where the examples have it: addresses are logged.
    fn auth(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    /// Where others say "base URL" without the version, it is added; that of the OpenAI-style endpoint is understood.
    fn base(&self, base: &str) -> String {
        let base = base.trim().trim_end_matches('/');
        let base = base.strip_suffix("/openai").unwrap_or(base);
        let has_version = base.rsplit('/').next().is_some_and(|last| last.starts_with("v1"));
        if has_version { base.to_owned() } else { format!("{base}/v1beta") }
    }

    fn body(&self, request: &Request, quirks: &Quirks, _facts: &Facts) -> Value {
        body(request, quirks)
    }

    fn subset(&self) -> Subset {
        Subset::OpenApi
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Decoder::default())
    }

    fn list(&self) -> &'static str {
        "/models?pageSize=1000"
    }

    fn listed(&self, answer: &Value) -> Option<Vec<Listed>> {
        let models = answer.get("models")?.as_array()?;
        // Models for embeddings and pictures cannot chat.
        let chats = |model: &&Value| {
            let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
            methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
        };
        models.iter().filter(chats).map(listed).collect()
    }
}

fn listed(model: &Value) -> Option<Listed> {
    let name = model.get("name")?.as_str()?;
    Some(Listed {
        name: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        title: model.get("displayName").and_then(Value::as_str).map(str::to_owned),
        context: model.get("inputTokenLimit").and_then(Value::as_u64),
        thinking: model.get("thinking").and_then(Value::as_bool),
        ..Listed::default()
    })
}

/// The body of `POST /models/…:streamGenerateContent`.
pub fn body(request: &Request, quirks: &Quirks) -> Value {
    let mut body = Map::new();
    if !request.system.is_empty() {
        body.insert("systemInstruction".into(), json!({ "parts": [{ "text": request.system }] }));
    }
    body.insert("contents".into(), contents::contents(request, quirks).into());
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.insert("tools".into(), json!([{ "functionDeclarations": declarations }]));
    }
    let mut config = Map::new();
    if let Some(temperature) = request.temperature {
        config.insert("temperature".into(), temperature.into());
    }
    if let Some(limit) = request.max_tokens {
        config.insert("maxOutputTokens".into(), limit.into());
    }
    let stop: Vec<&str> = request.stop.iter().map(String::as_str).take(quirks.max_stop).collect();
    if !stop.is_empty() {
        config.insert("stopSequences".into(), stop.into());
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), config.into());
    }
    for (name, value) in &request.extra {
        merge(&mut body, name, value);
    }
    Value::Object(body)
}

fn declaration(tool: &ToolDecl) -> Value {
    let mut out = json!({ "name": sent(&tool.name), "description": tool.description });
    let schema = lower(&tool.schema, Subset::OpenApi).schema;
    // An object without properties is refused; no parameters are fine.
    if schema.get("properties").is_some() {
        out["parameters"] = schema;
    }
    out
}

/// Whether a name begins, after low lines, with what no name may begin with here.
fn is_shifted(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_digit() || c == '-')
}

/// A tool's name as it is sent: it must begin with a letter or a low line. [`received`] is the way back.
fn sent(name: &str) -> String {
    if is_shifted(name) { format!("_{name}") } else { name.to_owned() }
}

/// A name as it came, in our spelling.
fn received(name: &str) -> &str {
    name.strip_prefix('_').filter(|rest| is_shifted(rest)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_with_a_digit_come_back() {
        for name in ["read", "3d__draw", "_3d", "__3d", "-x", "_", "", "_a3"] {
            assert_eq!(received(&sent(name)), name);
            assert!(!sent(name).starts_with(|c: char| c.is_ascii_digit() || c == '-'));
        }
        assert_eq!((sent("3d"), sent("_3d"), sent("read")), ("_3d".into(), "__3d".into(), "read".into()));
    }
}
