//! Which models an endpoint offers.
//!
//! Owns: what is known of a listed model, and asking for the list. Does not read it: the wire format does.

use super::catalog::{Entry, OpenError, OpenOptions};
use super::endpoint;
use super::problem;
use super::transport;
use super::wire;
use crate::domain::model::{ModelError, ModelErrorKind};
use serde_json::Value;
use std::time::Duration;

/// How long a list may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// A model in a list. `None`: the list does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// Its name, as it stands behind `provider:`.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Context size, tokens.
    pub context: Option<u64>,
    /// It has function calling.
    pub tools: Option<bool>,
    /// It reads pictures.
    pub images: Option<bool>,
    /// It can think before it answers.
    pub thinking: Option<bool>,
}

impl Listed {
    /// A model of which only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// Asks an endpoint for its models, in its own order.
pub async fn models(entry: &Entry, options: &OpenOptions) -> Result<Vec<Listed>, ModelError> {
    let unknown = || {
        let error = OpenError::UnknownWire { provider: entry.name.clone(), wire: entry.wire.clone() };
        problem::error(ModelErrorKind::BadRequest, error.to_string())
    };
    let wire = wire::find(&entry.wire).ok_or_else(unknown)?;
    let headers = endpoint::headers(entry, wire, options)?;
    let base = wire.base(options.base_url.as_deref().unwrap_or(&entry.base_url));
    let url = format!("{base}{}", wire.list());
    let answer = transport::get_json(&url, &headers, PATIENCE, &options.redactor).await?;
    let none = || problem::error(ModelErrorKind::Protocol, format!("{} sent no list of models", entry.title));
    wire.listed(&answer).ok_or_else(none)
}

/// A list in OpenAI's form, with what OpenRouter, Mistral, vLLM, Groq and LM Studio add.
pub(super) fn by_id(answer: &Value) -> Option<Vec<Listed>> {
    let list = answer.get("data").or(Some(answer))?.as_array()?;
    list.iter().map(one).collect()
}

fn one(model: &Value) -> Option<Listed> {
    let count = |name: &str| model.get(name).and_then(Value::as_u64);
    let context =
        ["context_length", "context_window", "max_context_length", "max_model_len"].iter().find_map(|name| count(name));
    let has = |list: &str, what: &str| {
        let list = model.pointer(list)?.as_array()?;
        Some(list.iter().any(|item| item == what))
    };
    let able = |what: &str| model.pointer(&format!("/capabilities/{what}")).and_then(Value::as_bool);
    Some(Listed {
        name: model.get("id")?.as_str()?.to_owned(),
        title: ["display_name", "name"].iter().find_map(|name| model.get(*name)?.as_str()).map(str::to_owned),
        context,
        tools: able("function_calling").or_else(|| has("/supported_parameters", "tools")),
        images: able("vision").or_else(|| has("/architecture/input_modalities", "image")),
        thinking: has("/supported_parameters", "reasoning"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_in_openais_form() {
        let list = json!({ "object": "list", "data": [
            { "id": "plain", "object": "model" },
            {
                "id": "a/b", "name": "A: B", "context_length": 131_072,
                "architecture": { "input_modalities": ["text", "image"] }, "supported_parameters": ["tools", "temperature"],
            },
            { "id": "m", "max_context_length": 32_000, "capabilities": { "function_calling": true, "vision": false } },
        ] });
        let routed = Listed {
            name: "a/b".into(),
            title: Some("A: B".into()),
            context: Some(131_072),
            tools: Some(true),
            images: Some(true),
            thinking: Some(false),
        };
        let m = Listed { context: Some(32_000), tools: Some(true), images: Some(false), ..Listed::named("m") };
        assert_eq!(by_id(&list), Some(vec![Listed::named("plain"), routed, m]));
        // Together sends the bare list.
        assert_eq!(by_id(&json!([{ "id": "x" }])), Some(vec![Listed::named("x")]));
        assert_eq!(by_id(&json!({ "hello": "world" })), None);
        assert_eq!(by_id(&json!({ "data": [{ "no": "id" }] })), None);
    }
}
