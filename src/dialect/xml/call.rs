//! From the parts of a written call to a call.
//!
//! Owns: which tool is meant, and its arguments as JSON. A built-in's parameters stay strings (the tool's schema is not known
//! here; see [`crate::dialect::coerce`]); the arguments of a server's tool are the JSON that was written.

use super::draft::{Draft, Target};
use super::text::{self, Length};
use crate::dialect::json;
use crate::domain::model::Arguments;
use crate::domain::names::Names;
use serde_json::{Map, Value};

/// A name and arguments, or what is wrong with a call that names no tool.
pub type Reading = Result<(String, Arguments), String>;

/// Reads a complete call.
pub fn read(draft: &Draft, names: &Names) -> Reading {
    let fields = match draft.object().map(json::arguments) {
        Some(Ok(Value::Object(map))) => map.into_iter().collect(),
        Some(Ok(_)) => Vec::new(),
        Some(Err(problem)) => {
            let text = draft.object().unwrap_or_default().to_owned();
            let name = (*draft.target() != Target::Mcp).then(|| draft.tag().to_owned());
            return name.map(|name| (name, Arguments::Malformed { text, problem: problem.clone() })).ok_or(problem);
        }
        None => fields(draft),
    };
    match draft.target() {
        Target::Mcp => on_server(fields, names, draft.raw()),
        Target::Builtin(tool) => Ok((draft.tag().to_owned(), builtin(tool, fields, draft.raw()))),
        Target::Direct => Ok((draft.tag().to_owned(), distinct(fields, draft.raw()))),
    }
}

/// The tool as far as it is named, for a call that is not complete.
pub fn name(draft: &Draft, names: &Names) -> Option<String> {
    if *draft.target() != Target::Mcp {
        return draft.is_certain().then(|| draft.tag().to_owned());
    }
    let closed = |wanted: &str| draft.closed().find(|(name, _)| *name == wanted).map(|(_, raw)| raw.trim());
    match (closed("server_name"), closed("tool_name")) {
        (Some(server), Some(tool)) => Some(qualified(server, tool, names)),
        (None, Some(tool)) if draft.has_begun("arguments") => Some(qualified("", tool, names)),
        _ => None,
    }
}

fn fields(draft: &Draft) -> Vec<(String, Value)> {
    let value = |(name, raw): (&str, &str)| {
        // JSON is read as it stands; entities in it are looked at only where it is no JSON (see `on_server`).
        if *draft.target() == Target::Mcp && name == "arguments" {
            return (name.to_owned(), Value::from(raw));
        }
        let length = if draft.is_long(name) { Length::Long } else { Length::Short };
        (name.to_owned(), Value::from(text::read(raw, length)))
    };
    draft.closed().map(value).collect()
}

fn on_server(fields: Vec<(String, Value)>, names: &Names, raw: &str) -> Reading {
    let mut server = String::new();
    let mut tool = String::new();
    let mut arguments = None;
    let mut others = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("server_name", Value::String(text)) => server = text,
            ("tool_name", Value::String(text)) => tool = text,
            ("arguments", value) => arguments = Some(value),
            (_, value) => others.push((name, value)),
        }
    }
    if tool.is_empty() {
        return Err("<use_mcp_tool> needs <server_name> and <tool_name>.".to_owned());
    }
    let arguments = match (arguments, others.first()) {
        (Some(_), Some((name, _))) => {
            let problem = format!("<{name}> is no part of <use_mcp_tool>: put it into the JSON object of <arguments>.");
            Arguments::Malformed { text: raw.to_owned(), problem }
        }
        (Some(Value::String(text)), None) => json_arguments(&text),
        (Some(value), None) => Arguments::Parsed { value },
        // Arguments as tags: what they mean is clear, and the schema gives them their types.
        (None, _) => distinct(others, raw),
    };
    Ok((qualified(&server, &tool, names), arguments))
}

fn json_arguments(raw: &str) -> Arguments {
    let error = match json::arguments(raw) {
        Ok(value) => return Arguments::Parsed { value },
        Err(error) => error,
    };
    if let Ok(value) = json::arguments(&text::read(raw, Length::Short)) {
        return Arguments::Parsed { value };
    }
    let problem = if raw.trim_start().starts_with('<') {
        "<arguments> must hold one JSON object, not tags.".to_owned()
    } else {
        error
    };
    Arguments::Malformed { text: raw.trim().to_owned(), problem }
}

/// The name that finds the tool: `server:tool`, or the wire name where that would not find it.
fn qualified(server: &str, tool: &str, names: &Names) -> String {
    let (server, tool) = (server.trim(), tool.trim());
    if server.is_empty() {
        return tool.to_owned();
    }
    let shown = format!("{server}:{tool}");
    if let Some(id) = names.on_server(server, tool) {
        let wire = names.wire(id).filter(|_| names.resolve(&shown) != Some(id));
        return wire.map_or(shown, str::to_owned);
    }
    // The tool with its server in front: `weather:get_forecast`, `weather__get_forecast`.
    match names.resolve(tool) {
        Some(id) if id.server.as_ref().is_some_and(|known| known.as_str() == server) => tool.to_owned(),
        _ => shown,
    }
}

fn builtin(tool: &str, fields: Vec<(String, Value)>, raw: &str) -> Arguments {
    let fields = if tool == "ask_followup_question" { with_options(fields) } else { fields };
    distinct(fields, raw)
}

/// Fields as an object, unless one is given twice.
fn distinct(fields: Vec<(String, Value)>, raw: &str) -> Arguments {
    let mut map = Map::new();
    for (name, value) in fields {
        if map.contains_key(&name) {
            let problem = format!("<{name}> stands there twice. Use one call with one <{name}> per message.");
            return Arguments::Malformed { text: raw.to_owned(), problem };
        }
        map.insert(name, value);
    }
    Arguments::Parsed { value: Value::Object(map) }
}

/// Proposed answers as a list, however they were written: a JSON list, tags, lines.
fn with_options(fields: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let mut out: Vec<(String, Value)> = Vec::new();
    let mut single = Vec::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("option" | "suggest", Value::String(text)) => single.push(Value::from(text)),
            ("options" | "follow_up" | "choices" | "suggestions", Value::String(text)) => {
                out.push((name, Value::Array(options(&text))));
            }
            (_, value) => out.push((name, value)),
        }
    }
    if !single.is_empty() {
        out.push(("options".to_owned(), Value::Array(single)));
    }
    out
}

fn options(text: &str) -> Vec<Value> {
    if let Ok(Value::Array(list)) = serde_json::from_str(text) {
        return apart(list.into_iter().map(label).collect());
    }
    for tag in ["option", "suggest"] {
        let (opening, closing) = (format!("<{tag}>"), format!("</{tag}>"));
        if text.contains(&opening) {
            let pieces = text.split(&opening).skip(1);
            return pieces.map(|piece| Value::from(piece.split(&closing).next().unwrap_or(piece).trim())).collect();
        }
    }
    apart(text.lines().map(without_bullet).filter(|line| !line.is_empty()).map(Value::from).collect())
}

/// Each option once. One option is none: small models write `Red, Blue` on one line.
fn apart(options: Vec<Value>) -> Vec<Value> {
    let pieces: Vec<Value> = match options.as_slice() {
        [Value::String(only)] if only.contains(", ") => {
            only.split(", ").map(|piece| Value::from(piece.trim())).collect()
        }
        _ => options,
    };
    let mut distinct: Vec<Value> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if !distinct.contains(&piece) {
            distinct.push(piece);
        }
    }
    distinct
}

fn label(option: Value) -> Value {
    let named = ["label", "text", "value", "title"].iter().find_map(|key| option.get(key)?.as_str().map(Value::from));
    match option {
        Value::String(_) => option,
        other => named.unwrap_or_else(|| Value::from(other.to_string())),
    }
}

/// `- a`, `* a`, `1. a`, `1) a` → `a`.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
        return rest.trim_start();
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")) {
        Some(rest) if digits.len() < line.len() => rest.trim_start(),
        _ => line,
    }
}
