//! What the details layer shows of things: an entry of the transcript, a tool, the model.

use crate::contract::ToolInfo;
use crate::domain::ToolSpec;
use crate::domain::model::{PromptPart, PromptPlace};
use crate::domain::policy::{ArgumentRule, Grant, Preview};
use crate::domain::tool::{Annotations, Risk};
use crate::strings::Strings;
use crate::tui::cell::Cell;
use crate::tui::facts::Facts;
use crate::tui::outcome::{DetailBody, Details};
use std::sync::Arc;

fn section(strings: &Strings, key: &str, body: DetailBody) -> (String, DetailBody) {
    (strings.get(key).to_owned(), body)
}

/// The model in use.
pub fn model(facts: &Facts, strings: &Strings) -> Details {
    let mut fields = Vec::new();
    let mut field = |key: &str, value: String| fields.push((strings.get(key).to_owned(), value));
    let model = &facts.model;
    let name = if model.name.is_empty() { strings.get("pane.no_model").to_owned() } else { model.name.clone() };
    field("layer.model_name", name);
    if let Some(dialect) = model.dialect {
        field("layer.model_dialect", dialect.name().to_owned());
    }
    if let Some(context) = model.context {
        field("layer.model_context", context.to_string());
    }
    field("layer.model_last", facts.context.to_string());
    field("layer.model_input", facts.total.input.to_string());
    field("layer.model_cached", facts.total.cached.to_string());
    field("layer.model_output", facts.total.output.to_string());
    field("layer.model_reasoning", facts.total.reasoning.to_string());
    let how = DetailBody::Text(strings.get("layer.model_how").to_owned());
    Details {
        title: strings.get("layer.model_title").to_owned(),
        sections: vec![(String::new(), DetailBody::Fields(fields)), (String::new(), how)],
    }
}

/// What the model is told, part by part.
pub fn prompt(parts: &[PromptPart], strings: &Strings) -> Details {
    let about = |tokens: usize| strings.fill("layer.prompt_tokens", &[("tokens", &tokens.to_string())]);
    let mut fields = Vec::new();
    for (place, key) in [
        (PromptPlace::System, "layer.prompt_system"),
        (PromptPlace::Tool, "layer.prompt_tools"),
        (PromptPlace::Message, "layer.prompt_messages"),
    ] {
        let tokens: usize = parts.iter().filter(|part| part.place == place).map(|part| part.tokens).sum();
        fields.push((strings.get(key).to_owned(), about(tokens)));
    }
    fields.push((strings.get("layer.prompt_all").to_owned(), about(parts.iter().map(|part| part.tokens).sum())));
    let mut sections = vec![(String::new(), DetailBody::Fields(fields))];
    let how = strings.get("layer.prompt_how").to_owned();
    sections.push((String::new(), DetailBody::Text(how)));
    for part in parts {
        let heading = match part.place {
            PromptPlace::System => format!("{}.md", part.name),
            PromptPlace::Tool | PromptPlace::Message => part.name.clone(),
        };
        sections.push((format!("{heading} · {}", about(part.tokens)), DetailBody::Text(part.text.clone())));
    }
    Details { title: strings.get("layer.prompt_title").to_owned(), sections }
}

/// A tool with all that is known of it.
pub fn tool(info: &ToolInfo, strings: &Strings) -> Details {
    let spec = &info.spec;
    let mut fields = vec![(strings.get("layer.tool_wire").to_owned(), info.wire_name.clone())];
    fields.push((strings.get("layer.tool_hints").to_owned(), does(spec, strings)));
    for grant in &info.grants {
        fields.push((strings.get("layer.tool_grant").to_owned(), self::grant(grant, strings)));
    }
    let mut sections = vec![
        (String::new(), DetailBody::Fields(fields)),
        section(strings, "layer.tool_description", DetailBody::Text(spec.description.clone())),
        section(strings, "prompt.details.schema", DetailBody::Json(Arc::clone(&spec.input_schema))),
    ];
    if let Some(output) = &spec.output_schema {
        sections.push(section(strings, "layer.tool_output", DetailBody::Json(Arc::clone(output))));
    }
    Details { title: spec.id.to_string(), sections }
}

/// What a tool does as far as is known: our own word for a built-in, the server's hints for another, said to be hints.
pub fn does(spec: &ToolSpec, strings: &Strings) -> String {
    let key = match spec.risk {
        Risk::Read => "layer.risk_read",
        Risk::Write => "layer.risk_write",
        Risk::Command => "layer.risk_command",
        Risk::Question => "layer.risk_question",
        Risk::External if spec.id.server.is_none() => "layer.risk_external",
        Risk::External => {
            return strings.fill("prompt.call.says", &[("hints", &hints(&spec.annotations, strings))]);
        }
    };
    strings.get(key).to_owned()
}

/// What a server's hints about its tool say.
pub fn hints(hints: &Annotations, strings: &Strings) -> String {
    let pairs = [
        (hints.read_only, ["prompt.hint.changes", "prompt.hint.read_only"]),
        (hints.destructive, ["prompt.hint.not_destructive", "prompt.hint.destructive"]),
        (hints.idempotent, ["prompt.hint.not_idempotent", "prompt.hint.idempotent"]),
        (hints.open_world, ["prompt.hint.closed_world", "prompt.hint.open_world"]),
    ];
    let said = pairs.into_iter().filter_map(|(hint, keys)| hint.map(|yes| strings.get(keys[usize::from(yes)])));
    let said: Vec<&str> = said.collect();
    if said.is_empty() {
        strings.get("prompt.hint.none").to_owned()
    } else {
        said.join(strings.get("prompt.hint.between"))
    }
}

/// What a grant covers, in words.
pub fn grant(grant: &Grant, strings: &Strings) -> String {
    let project = ("project", &*grant.project);
    match &grant.arguments {
        ArgumentRule::Any => strings.fill("layer.grant_any", &[project]),
        ArgumentRule::Exactly { arguments } => {
            strings.fill("layer.grant_exactly", &[("arguments", &arguments.to_string()), project])
        }
        ArgumentRule::Inside { directory } => strings.fill("layer.grant_inside", &[("directory", directory), project]),
    }
}

/// An entry of the transcript: `text` is what copying it would give.
pub fn entry(cell: &Cell, text: String, strings: &Strings) -> Details {
    let Cell::Tool(call) = cell else {
        return Details { title: String::new(), sections: vec![(String::new(), DetailBody::Text(text))] };
    };
    let mut sections = Vec::new();
    if let Some(Preview::Diff(diff)) = call.check().map(|check| &check.preview) {
        sections.push(section(strings, "layer.entry_change", DetailBody::Diff(diff.clone())));
    }
    sections.push(section(strings, "layer.entry_call", DetailBody::Text(text)));
    if let Some(spec) = call.spec() {
        let hints = does(spec, strings);
        sections.push(section(strings, "layer.entry_hints", DetailBody::Text(hints)));
        sections.push(section(strings, "layer.tool_description", DetailBody::Text(spec.description.clone())));
        sections.push(section(strings, "prompt.details.schema", DetailBody::Json(Arc::clone(&spec.input_schema))));
    }
    Details { title: call.name().to_owned(), sections }
}
