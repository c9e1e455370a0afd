//! Anthropic's Messages API.
//! Source: <https://platform.claude.com/docs/en/api/messages>, its pages on streaming, tool use, extended thinking and prompt caching.
//!
//! Owns: the body of a request, and the reading of a reply ([`Decoder`]).
//!
//! **Invariants:** the same request gives the same bytes; signed thoughts go back as they came and where they stood; results stand at the
//! beginning of the message that follows their calls; at most four cache breakpoints are set.

mod decoder;
mod messages;

pub use decoder::Decoder;

use super::{Decode, Facts, Quirks, Wire};
use crate::domain::model::{Request, ToolDecl};
use crate::provider::body::merge;
use crate::provider::listing::{self, Listed};
use crate::schema::lower::{Subset, lower};
use serde_json::{Map, Value, json};

/// The API wants a limit; this one every model of today takes.
const LIMIT: u32 = 8192;
/// The version of the API that is spoken here.
const VERSION: &str = "2023-06-01";

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn path(&self, _model: &str) -> String {
        "/messages".to_owned()
    }

    fn auth(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }

    /// Where others say "base URL" without the version, it is added.
    fn base(&self, base: &str) -> String {
        let base = base.trim().trim_end_matches('/');
        let base = base.strip_suffix("/messages").unwrap_or(base);
        if base.ends_with("/v1") { base.to_owned() } else { format!("{base}/v1") }
    }

    fn body(&self, request: &Request, quirks: &Quirks, _facts: &Facts) -> Value {
        body(request, quirks)
    }

    fn subset(&self) -> Subset {
        Subset::NamedObject
    }

    fn decoder(&self) -> Box<dyn Decode> {
        Box::new(Decoder::default())
    }

    fn list(&self) -> &'static str {
        "/models?limit=1000"
    }

    fn listed(&self, answer: &Value) -> Option<Vec<Listed>> {
        listing::by_id(answer)
    }
}

/// The body of `POST /messages`.
pub fn body(request: &Request, quirks: &Quirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.clone().into());
    body.insert("max_tokens".into(), request.max_tokens.unwrap_or(LIMIT).into());
    if !request.system.is_empty() {
        body.insert("system".into(), json!([{ "type": "text", "text": request.system, "cache_control": cached() }]));
    }
    body.insert("messages".into(), messages::messages(&request.messages, quirks).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), tools(&request.tools).into());
        if let Some(parallel) = quirks.parallel_calls {
            body.insert("tool_choice".into(), json!({ "type": "auto", "disable_parallel_tool_use": !parallel }));
        }
    }
    // Strings of white space alone are refused.
    let stop = request.stop.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).take(quirks.max_stop);
    let stop: Vec<&str> = stop.collect();
    if !stop.is_empty() {
        body.insert("stop_sequences".into(), stop.into());
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".into(), temperature.into());
    }
    body.insert("stream".into(), true.into());
    for (name, value) in &request.extra {
        merge(&mut body, name, value);
    }
    settle_thinking(&mut body, request);
    Value::Object(body)
}

/// A breakpoint: everything up to here may come from the cache.
fn cached() -> Value {
    json!({ "type": "ephemeral" })
}

fn tools(tools: &[ToolDecl]) -> Vec<Value> {
    let mut all: Vec<Value> = tools
        .iter()
        .map(|tool| {
            let schema = lower(&tool.schema, Subset::NamedObject).schema;
            json!({ "name": tool.name, "description": tool.description, "input_schema": schema })
        })
        .collect();
    if let Some(last) = all.last_mut() {
        last["cache_control"] = cached();
    }
    all
}

/// What the API demands of a request that asks for thinking: no temperature, a limit above the budget, and signed thoughts before the calls whose
/// results it brings. A turn that another model began has none, so it is finished without thinking.
fn settle_thinking(body: &mut Map<String, Value>, request: &Request) {
    let Some(thinking) = body.get("thinking") else { return };
    let kind = thinking.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind == "disabled" {
        return;
    }
    if messages::is_foreign_turn(&request.messages) {
        body.shift_remove("thinking");
        return;
    }
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
    let limit = body.get("max_tokens").and_then(Value::as_u64);
    if let (Some(budget), Some(limit)) = (budget, limit)
        && limit <= budget
    {
        body.insert("max_tokens".into(), budget.saturating_add(limit).into());
    }
    body.shift_remove("temperature");
}
