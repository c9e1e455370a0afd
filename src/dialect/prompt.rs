//! The system prompt, piece by piece.
//!
//! Owns: which pieces there are (`assets/prompts/NAME.md`), their order, and what their placeholders mean. Each piece can be
//! replaced by the user under its name; an empty replacement leaves it out. A line that names a built-in tool which is not
//! offered is left out of `choosing`, `formatting` and `guidelines`.
//! Does not: read files. **Invariants:** the same input gives the same bytes; a placeholder's value is never read for
//! placeholders again.
//!
//! | placeholder | in | value |
//! |---|---|---|
//! | `{builtins}` | `*.builtins` | every offered built-in: description, parameters, usage |
//! | `{servers}` | `*.servers` | every server: instructions, in the text dialects its tools with their schemas |
//! | `{cwd}`, `{system}` | `environment` | working directory; operating system and shell |
//! | `{language}` | `language` | the `language` setting; without one the piece is left out |
//! | `{instructions}` | `instructions` | the user's and the trusted project's; without any the piece is left out |
//! | `{server}`, `{tool}`, `{arguments}` | `*.examples.mcp` | a tool that is really offered, with sample arguments |
//! | `{problem}` | `*.reminder` | what is wrong with the model's message |

use super::{Prompting, ServerBrief, aliases, json};
use crate::domain::model::DialectKind;
use crate::domain::{ServerName, ToolSpec};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// How much of a server's own instructions is shown, in bytes.
const MAX_INSTRUCTIONS: usize = 2_000;

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        /// Every piece by name, with its built-in text.
        const ASSETS: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../assets/prompts/", $name, ".md")))),*];
    };
}

assets!(
    "native.intro",
    "xml.format",
    "xml.completion",
    "xml.mcp",
    "xml.resources",
    "xml.builtins",
    "xml.servers",
    "native.servers",
    "server.starting",
    "guidelines",
    "choosing",
    "formatting",
    "environment",
    "steps",
    "language",
    "instructions",
    "xml.examples",
    "xml.examples.file",
    "xml.examples.mcp",
    "xml.examples.plain",
    "xml.reminder",
    "native.reminder",
    "react.format",
    "react.builtins",
    "react.servers",
    "react.examples",
    "react.examples.file",
    "react.examples.mcp",
    "react.examples.plain",
    "react.reminder",
    "json.format",
    "json.builtins",
    "json.servers",
    "json.examples",
    "json.examples.file",
    "json.examples.mcp",
    "json.examples.plain",
    "json.reminder",
);

const XML: &[&str] = &[
    "xml.format",
    "xml.completion",
    "xml.mcp",
    "xml.resources",
    "xml.builtins",
    "xml.servers",
    "choosing",
    "formatting",
    "environment",
    "xml.examples",
    "xml.examples.file",
    "xml.examples.mcp",
    "xml.examples.plain",
    "guidelines",
    "steps",
    "language",
    "instructions",
];

const NATIVE: &[&str] = &[
    "native.intro",
    "native.servers",
    "choosing",
    "formatting",
    "environment",
    "guidelines",
    "steps",
    "language",
    "instructions",
];

const REACT: &[&str] = &[
    "react.format",
    "react.builtins",
    "react.servers",
    "choosing",
    "formatting",
    "environment",
    "react.examples",
    "react.examples.file",
    "react.examples.mcp",
    "react.examples.plain",
    "guidelines",
    "steps",
    "language",
    "instructions",
];

const JSON: &[&str] = &[
    "json.format",
    "json.builtins",
    "json.servers",
    "choosing",
    "formatting",
    "environment",
    "json.examples",
    "json.examples.file",
    "json.examples.mcp",
    "json.examples.plain",
    "guidelines",
    "steps",
    "language",
    "instructions",
];

/// Names and built-in texts of all pieces.
pub fn builtin_pieces() -> impl Iterator<Item = (&'static str, &'static str)> {
    ASSETS.iter().copied()
}

/// The pieces of the system prompt in order, as they are sent. Pieces without a use in this session are left out.
pub fn pieces(dialect: DialectKind, prompting: &Prompting<'_>) -> Vec<(&'static str, String)> {
    let names = match dialect {
        DialectKind::Native => NATIVE,
        DialectKind::Xml => XML,
        DialectKind::React => REACT,
        DialectKind::Json => JSON,
    };
    let piece = |name: &&'static str| {
        let text = piece(name, dialect, prompting)?;
        (!text.trim().is_empty()).then(|| (*name, text.trim().to_owned()))
    };
    names.iter().filter_map(piece).collect()
}

/// The whole system prompt.
pub fn system(dialect: DialectKind, prompting: &Prompting<'_>) -> String {
    let pieces: Vec<String> = pieces(dialect, prompting).into_iter().map(|(_, text)| text).collect();
    pieces.join("\n\n")
}

/// The built-in text of the dialect's reminder.
fn reminder_text(dialect: DialectKind) -> &'static str {
    let name = match dialect {
        DialectKind::Native => "native.reminder",
        DialectKind::Xml => "xml.reminder",
        DialectKind::React => "react.reminder",
        DialectKind::Json => "json.reminder",
    };
    ASSETS.iter().find(|(piece, _)| *piece == name).map(|(_, text)| text.trim_end()).unwrap_or_default()
}

/// What the model is told when its message could not be used.
pub fn reminder(dialect: DialectKind, problem: &str) -> String {
    fill(reminder_text(dialect), &[("problem", problem)])
}

/// A reminder that may have been written for another dialect, in this one: the same problem, this dialect's form. Any other text stays as it is.
pub fn reminder_in(dialect: DialectKind, text: &str) -> Cow<'_, str> {
    let form = |dialect| reminder_text(dialect).trim_start_matches("{problem}");
    let others = [DialectKind::Native, DialectKind::Xml, DialectKind::React, DialectKind::Json];
    let found = others.into_iter().filter(|other| *other != dialect).find(|other| text.contains(form(*other)));
    found.map_or(Cow::Borrowed(text), |other| Cow::Owned(text.replacen(form(other), form(dialect), 1)))
}

/// The template with `{name}` replaced by values, in one pass.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = values.iter().find_map(|(name, value)| {
            let after = rest[1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((*value, after))
        });
        if let Some((value, after)) = found {
            out.push_str(value);
            rest = after;
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

/// The user's text of a piece, or the built-in one.
fn template<'a>(name: &str, prompting: &Prompting<'a>) -> &'a str {
    let own = prompting.overrides.iter().find(|(piece, _)| piece == name);
    own.map(|(_, text)| text.as_str())
        .or_else(|| ASSETS.iter().find(|(piece, _)| *piece == name).map(|(_, text)| *text))
        .unwrap_or_default()
}

fn piece(name: &str, dialect: DialectKind, prompting: &Prompting<'_>) -> Option<String> {
    let template = template(name, prompting);
    let on_servers = prompting.tools.iter().any(|tool| tool.id.server.is_some());
    // What the dialects have in common is made alike.
    let kind = name.split_once('.').map_or(name, |(_, kind)| kind);
    let text = match kind {
        "mcp" => on_servers.then(|| template.to_owned())?,
        "examples.mcp" => server_example(template, dialect, prompting)?,
        "resources" => offers_resources(prompting).then(|| template.to_owned())?,
        "examples.file" => {
            let offered = ["read_file", "write_to_file"].iter().all(|name| is_offered(name, prompting));
            offered.then(|| template.to_owned())?
        }
        "builtins" => fill(template, &[("builtins", &non_empty(builtins(dialect, prompting))?)]),
        "servers" => fill(template, &[("servers", &non_empty(servers(dialect, prompting))?)]),
        "choosing" | "formatting" if prompting.tools.is_empty() => return None,
        "guidelines" | "choosing" | "formatting" => about_offered(template, prompting)?,
        "environment" => fill(template, &[("cwd", prompting.cwd), ("system", prompting.system)]),
        "language" => fill(template, &[("language", prompting.language?)]),
        "instructions" => fill(template, &[("instructions", prompting.instructions?)]),
        _ => template.to_owned(),
    };
    Some(text)
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

fn is_offered(name: &str, prompting: &Prompting<'_>) -> bool {
    prompting.tools.iter().any(|tool| tool.id.server.is_none() && &*tool.id.name == name)
}

fn offers_resources(prompting: &Prompting<'_>) -> bool {
    is_offered("access_mcp_resource", prompting) && prompting.servers.iter().any(|server| server.resources)
}

/// The template without lines about built-ins that are not offered; nothing if only its heading is left.
fn about_offered(template: &str, prompting: &Prompting<'_>) -> Option<String> {
    let absent: Vec<&str> = aliases().tools().filter(|name| !is_offered(name, prompting)).collect();
    let lines: Vec<&str> = template.lines().filter(|line| !absent.iter().any(|name| line.contains(name))).collect();
    let left = lines.iter().filter(|line| !line.trim().is_empty()).count();
    (left > 1).then(|| lines.join("\n"))
}

/// Every offered built-in. In XML `access_mcp_resource` has a piece of its own.
fn builtins(dialect: DialectKind, prompting: &Prompting<'_>) -> String {
    let resources = dialect != DialectKind::Xml && offers_resources(prompting);
    let shown =
        |tool: &&Arc<ToolSpec>| tool.id.server.is_none() && (resources || &*tool.id.name != "access_mcp_resource");
    prompting.tools.iter().filter(shown).map(|tool| builtin(dialect, tool)).collect::<Vec<_>>().join("\n\n")
}

fn builtin(dialect: DialectKind, tool: &ToolSpec) -> String {
    let mut out = format!("## {}\n{}\n", tool.id.name, tool.description.trim());
    for (key, schema) in properties(tool) {
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        let need = if is_required(tool, key) { "required" } else { "optional" };
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let colon = if about.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "- {key} ({kind}, {need}){colon}{about}");
    }
    match dialect {
        DialectKind::Xml | DialectKind::Native => out.push_str(&usage_in_tags(tool)),
        // How a call looks stands in the format; one line for each tool is enough.
        DialectKind::React => {
            let _ = write!(out, "Action: {}\nAction Input: {}", tool.id.name, json::spaced(&usage(tool)));
        }
        DialectKind::Json => {
            let mut call = Map::new();
            call.insert("tool".to_owned(), Value::from(&*tool.id.name));
            call.insert("arguments".to_owned(), usage(tool));
            out.push_str(&json::spaced(&Value::Object(call)));
        }
    }
    out
}

fn properties(tool: &ToolSpec) -> impl Iterator<Item = (&String, &Value)> {
    tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn is_required(tool: &ToolSpec, key: &str) -> bool {
    let list = tool.input_schema.get("required").and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|one| one == key))
}

/// The parameters that a usual call has, with something in their place. Of several ways to say the same at length, the first is shown.
fn usual(tool: &ToolSpec) -> impl Iterator<Item = (&String, &Value)> {
    let mut long_shown = false;
    properties(tool).filter(move |(key, schema)| {
        let first = aliases().is_long(key) && !long_shown;
        long_shown |= first;
        first || is_required(tool, key) || schema.get("type").and_then(Value::as_str) == Some("array")
    })
}

fn usage(tool: &ToolSpec) -> Value {
    let sample = |(key, schema): (&String, &Value)| {
        let list = schema.get("type").and_then(Value::as_str) == Some("array");
        (key.clone(), if list { serde_json::json!(["first", "second"]) } else { Value::from(format!("{key} here")) })
    };
    Value::Object(usual(tool).map(sample).collect())
}

fn usage_in_tags(tool: &ToolSpec) -> String {
    let name = &tool.id.name;
    let mut usage = format!("<{name}>\n");
    for (key, schema) in usual(tool) {
        let list = schema.get("type").and_then(Value::as_str) == Some("array");
        let sample = if list { r#"["first", "second"]"# } else { &*format!("{key} here") };
        let line = if aliases().is_long(key) { "\n" } else { "" };
        let _ = writeln!(usage, "<{key}>{line}{sample}{line}</{key}>");
    }
    let _ = write!(usage, "</{name}>");
    usage
}

fn servers(dialect: DialectKind, prompting: &Prompting<'_>) -> String {
    let mut tools: BTreeMap<&ServerName, Vec<&Arc<ToolSpec>>> = BTreeMap::new();
    for tool in prompting.tools {
        if let Some(server) = &tool.id.server {
            tools.entry(server).or_default().push(tool);
        }
    }
    let mut briefs: BTreeMap<&ServerName, Option<&ServerBrief>> = tools.keys().map(|name| (*name, None)).collect();
    briefs.extend(prompting.servers.iter().map(|brief| (&brief.name, Some(brief))));
    let starting = template("server.starting", prompting).trim();
    let mut parts = Vec::new();
    for (name, brief) in briefs {
        let mut part = format!("# {name}");
        if let Some(instructions) = brief.and_then(|brief| brief.instructions.as_deref()) {
            let _ = write!(part, "\n{}", shortened(instructions.trim()));
        }
        let own = tools.get(name).map(Vec::as_slice).unwrap_or_default();
        if brief.is_some_and(|brief| brief.starting) && own.is_empty() {
            let _ = write!(part, "\n{starting}");
        }
        match dialect {
            DialectKind::Native => {}
            DialectKind::Xml => part.extend(own.iter().map(|tool| on_server(tool, &tool.id.name))),
            DialectKind::React | DialectKind::Json => {
                part.extend(own.iter().map(|tool| on_server(tool, prompting.names.wire(&tool.id).unwrap_or_default())));
            }
        }
        parts.push(part);
    }
    parts.join("\n\n")
}

fn on_server(tool: &ToolSpec, name: &str) -> String {
    let mut schema = (*tool.input_schema).clone();
    if let Value::Object(map) = &mut schema {
        map.shift_remove("$schema");
    }
    format!("\n- {name}: {}\n  Arguments: {}", tool.description.trim(), json::spaced(&schema))
}

/// The example of a call on a server. It names a real tool: small models call the made-up ones of examples.
fn server_example(template: &str, dialect: DialectKind, prompting: &Prompting<'_>) -> Option<String> {
    let mut on_servers = prompting.tools.iter().filter(|tool| tool.id.server.is_some());
    let first = on_servers.clone().next()?;
    let tool = on_servers.find(|tool| !samples(&tool.input_schema).is_empty()).unwrap_or(first);
    let server = tool.id.server.as_ref().map(ToString::to_string)?;
    let arguments = json::spaced(&Value::Object(samples(&tool.input_schema)));
    let name = if dialect == DialectKind::Xml { &*tool.id.name } else { prompting.names.wire(&tool.id)? };
    Some(fill(template, &[("server", &server), ("tool", name), ("arguments", &arguments)]))
}

/// Required arguments with values of the right type.
fn samples(schema: &Value) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let sample = |name: &str| {
        let about = schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        let given = ["const", "default"].iter().find_map(|key| about.get(key));
        let listed = ["enum", "examples"].iter().find_map(|key| about.get(key)?.as_array()?.first());
        given.or(listed).cloned().unwrap_or_else(|| match about.get("type").and_then(Value::as_str) {
            Some("integer" | "number") => about.get("minimum").cloned().unwrap_or_else(|| Value::from(1)),
            Some("boolean") => Value::Bool(true),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Value::Object(Map::new()),
            _ => Value::from("abc"),
        })
    };
    required.map(|name| (name.to_owned(), sample(name))).collect()
}

fn shortened(text: &str) -> String {
    if text.len() <= MAX_INSTRUCTIONS {
        return text.to_owned();
    }
    let cut = (0..=MAX_INSTRUCTIONS).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    format!("{}…", &text[..cut])
}

#[cfg(test)]
mod tests;
