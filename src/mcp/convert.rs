//! From MCP's JSON to the domain's types, leniently.
//!
//! Owns no state. Tools are read one by one from raw JSON: a malformed one is rejected and named, the others work. What is odd in a place that
//! only people read (a title, a hint) is left out; what is odd where the model or a validator relies on it rejects the tool.
//! Source: MCP 2025-11-25, `Tool`, `CallToolResult`, `ReadResourceResult`.

use crate::domain::tool::{Annotations, Progress, Risk};
use crate::domain::{Blob, Content, ServerName, ToolId, ToolSpec};
use crate::schema::definition_hash;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Longest name of a tool in characters.
const NAME: usize = 256;
/// Largest definition of one tool, as JSON text.
const DEFINITION: usize = 256 * 1024;
/// Longest message of a progress notification, bytes.
const MESSAGE: usize = 4 * 1024;
/// Longest part of a rejected name that is repeated.
const SHOWN: usize = 80;

/// The tools of a list, and those that cannot be used: name and what is wrong.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Tools {
    /// In the server's own order.
    pub(super) usable: Vec<Arc<ToolSpec>>,
    /// The others.
    pub(super) rejected: Vec<(String, String)>,
}

/// Reads a list of definitions. `allow` and `deny` are the entry's patterns: a tool they exclude is neither usable nor rejected.
pub(super) fn tools(server: &ServerName, raw: &[Value], allow: &[String], deny: &[String]) -> Tools {
    let mut out = Tools::default();
    let mut seen = HashSet::new();
    for (at, definition) in raw.iter().enumerate() {
        match tool(server, definition) {
            Ok(spec) if !permitted(&spec.id.name, allow, deny) => {}
            Ok(spec) if !seen.insert(Arc::clone(&spec.id.name)) => {
                out.rejected
                    .push((shown(definition, at), "the server lists this name twice; the first one counts".into()));
            }
            Ok(spec) => out.usable.push(Arc::new(spec)),
            Err(problem) => out.rejected.push((shown(definition, at), problem)),
        }
    }
    out
}

/// Whether an entry's patterns let a tool through.
pub(super) fn permitted(name: &str, allow: &[String], deny: &[String]) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
    (allow.is_empty() || any(allow)) && !any(deny)
}

/// Whether a pattern with `*` for any run of characters fits a whole name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let Some(tail) = parts.pop() else { return true };
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(tail)
}

/// A name to call a rejected definition by.
fn shown(definition: &Value, at: usize) -> String {
    match definition.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() && name.chars().count() > SHOWN => {
            name.chars().take(SHOWN).chain(['…']).collect()
        }
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => format!("#{}", at + 1),
    }
}

fn tool(server: &ServerName, raw: &Value) -> Result<ToolSpec, String> {
    let map = raw.as_object().ok_or("the definition is not an object")?;
    let name = map.get("name").and_then(Value::as_str).ok_or("it has no name")?;
    match name.chars().count() {
        0 => return Err("its name is empty".into()),
        length if length > NAME => return Err(format!("its name has {length} characters; {NAME} are allowed")),
        _ => {}
    }
    let size = raw.to_string().len();
    if size > DEFINITION {
        return Err(format!("its definition has {size} bytes; {DEFINITION} are allowed"));
    }
    let description = match map.get("description") {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) => text,
        Some(_) => return Err("its description is not a text".into()),
    };
    let input = match map.get("inputSchema") {
        None | Some(Value::Null) => json!({ "type": "object" }),
        Some(schema) => object_schema(schema)?,
    };
    let hints = map.get("annotations");
    let annotations = annotations(hints);
    let output = map.get("outputSchema").filter(|schema| schema.is_object());
    let title = text(map, "title").or_else(|| text(hints?.as_object()?, "title"));
    Ok(ToolSpec {
        hash: definition_hash(name, description, &input, output, &annotations),
        id: ToolId::on(server, name),
        title,
        description: description.to_owned(),
        input_schema: Arc::new(input),
        output_schema: output.cloned().map(Arc::new),
        annotations,
        risk: Risk::External,
    })
}

/// An input schema must describe an object: arguments are always one.
fn object_schema(schema: &Value) -> Result<Value, String> {
    let map = schema.as_object().ok_or("its inputSchema is not an object")?;
    match map.get("type") {
        None => Ok(schema.clone()),
        Some(Value::String(kind)) if kind == "object" => Ok(schema.clone()),
        Some(other) => Err(format!("its inputSchema is of type {other}, not \"object\"")),
    }
}

fn annotations(value: Option<&Value>) -> Annotations {
    let hint = |name: &str| value?.get(name)?.as_bool();
    Annotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
    }
}

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

/// What a tool answered: its content, and whether it says that it failed. Nothing the server sent is lost.
pub(super) fn call_result(result: Value) -> (Vec<Content>, bool) {
    let Value::Object(mut map) = result else {
        return (if result.is_null() { Vec::new() } else { vec![Content::Json { value: result }] }, false);
    };
    let is_error = map.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let known = map.contains_key("content") || map.contains_key("structuredContent");
    if !known {
        for noted in ["_meta", "isError", "resultType"] {
            map.remove(noted);
        }
        let rest = if map.is_empty() { Vec::new() } else { vec![Content::Json { value: Value::Object(map) }] };
        return (rest, is_error);
    }
    let mut content: Vec<Content> = match map.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        Some(Value::String(text)) => vec![Content::text(text)],
        None | Some(Value::Null) => Vec::new(),
        Some(other) => vec![block(other)],
    };
    match map.remove("structuredContent") {
        None | Some(Value::Null) => {}
        Some(value) => content.push(Content::Json { value }),
    }
    (content, is_error)
}

/// One content block. A block of an unknown kind, or a malformed one, is kept whole.
pub(super) fn block(raw: Value) -> Content {
    known_block(&raw).unwrap_or(Content::Unknown { raw })
}

fn known_block(raw: &Value) -> Option<Content> {
    let map = raw.as_object()?;
    let media = || Some((text(map, "mimeType")?, Blob::from_base64(text(map, "data")?)));
    match map.get("type")?.as_str()? {
        "text" => Some(Content::Text { text: text(map, "text")? }),
        "image" => media().map(|(mime, data)| Content::Image { mime, data }),
        "audio" => media().map(|(mime, data)| Content::Audio { mime, data }),
        "resource" => resource(map.get("resource")?),
        "resource_link" => {
            let uri = text(map, "uri")?;
            Some(Content::ResourceLink {
                name: text(map, "name").unwrap_or_else(|| uri.clone()),
                uri,
                title: text(map, "title"),
                description: text(map, "description"),
                mime: text(map, "mimeType"),
                size: map.get("size").and_then(Value::as_u64),
            })
        }
        _ => None,
    }
}

fn resource(raw: &Value) -> Option<Content> {
    let map = raw.as_object()?;
    Some(Content::Resource {
        uri: text(map, "uri")?,
        mime: text(map, "mimeType"),
        text: text(map, "text"),
        blob: text(map, "blob").map(Blob::from_base64),
    })
}

/// The contents of a resource.
pub(super) fn resource_contents(result: Value) -> Vec<Content> {
    match result.get("contents") {
        Some(Value::Array(items)) => {
            items.iter().map(|item| resource(item).unwrap_or_else(|| Content::Unknown { raw: item.clone() })).collect()
        }
        _ => call_result(result).0,
    }
}

/// Text of at most `limit` bytes; where it is longer, cut at a character and marked.
pub(super) fn clip(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", &text[..end])
}

/// A progress notification, without the token. `None` where it says nothing.
pub(super) fn progress(params: &Value) -> Option<Progress> {
    let number = |key: &str| params.get(key).and_then(Value::as_f64);
    let message = params.get("message").and_then(Value::as_str).map(|text| clip(text, MESSAGE));
    let done = number("progress");
    if done.is_none() && message.is_none() {
        return None;
    }
    Some(Progress { done: done.unwrap_or_default(), total: number("total"), message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ServerName {
        "s".into()
    }

    fn read(list: Value) -> Tools {
        tools(&server(), list.as_array().unwrap(), &[], &[])
    }

    #[test]
    fn a_malformed_tool_is_named_and_the_others_work() {
        let list = json!([
            { "name": "good", "description": "d", "inputSchema": { "type": "object", "properties": { "z": {}, "a": {} } } },
            { "name": "hints", "inputSchema": { "type": "object" }, "title": 5, "icons": "x",
              "annotations": { "title": "From hints", "readOnlyHint": "yes", "destructiveHint": false } },
            { "name": "none" },
            { "name": "array", "inputSchema": [] },
            { "name": "string", "inputSchema": { "type": "string" } },
            { "name": "words", "description": 7 },
            { "description": "no name" },
            { "name": "" },
            "text",
            { "name": "good" },
            { "name": "x".repeat(1_000_000) },
            { "name": "huge", "description": "d".repeat(300_000) },
        ]);
        let read = read(list);
        let names: Vec<&str> = read.usable.iter().map(|spec| &*spec.id.name).collect();
        assert_eq!(names, ["good", "hints", "none"]);
        assert_eq!(
            read.usable[0].input_schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(),
            ["z", "a"]
        );
        assert_eq!(read.usable[1].title.as_deref(), Some("From hints"));
        assert_eq!((read.usable[1].annotations.read_only, read.usable[1].annotations.destructive), (None, Some(false)));
        let rejected: Vec<&str> = read.rejected.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(rejected[..7], ["array", "string", "words", "#7", "#8", "#9", "good"]);
        assert_eq!(rejected[7].chars().count(), SHOWN + 1);
        assert_eq!(rejected[8], "huge");
        assert!(read.rejected[1].1.contains("\"string\""), "{:?}", read.rejected[1]);
    }

    #[test]
    fn patterns_of_the_entry() {
        assert!(permitted("read_file", &[], &[]));
        assert!(permitted("read_file", &["read_*".into()], &["*_dir".into()]));
        assert!(!permitted("read_dir", &["read_*".into()], &["*_dir".into()]));
        assert!(!permitted("write", &["read_*".into()], &[]));
        for (pattern, name, fits) in [
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "ab", false),
            ("a*a", "a", false),
            ("ab", "abc", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn every_kind_of_content_and_none_lost() {
        let (content, is_error) = call_result(json!({
            "content": [
                { "type": "text", "text": "t" },
                { "type": "image", "mimeType": "image/png", "data": "AAAA" },
                { "type": "audio", "mimeType": "audio/wav", "data": "AAA=" },
                { "type": "resource", "resource": { "uri": "a://1", "mimeType": "text/plain", "text": "x" } },
                { "type": "resource", "resource": { "uri": "a://2", "blob": "AA==" } },
                { "type": "resource_link", "uri": "a://3", "name": "n", "size": 7 },
                { "type": "hologram", "depth": 3 },
                { "type": "image", "data": 5 },
                "loose"
            ],
            "structuredContent": { "z": 1, "a": 2 },
            "isError": true
        }));
        assert!(is_error);
        assert_eq!(content[0], Content::text("t"));
        assert_eq!(content[1], Content::Image { mime: "image/png".into(), data: Blob::from_base64("AAAA") });
        assert!(matches!(&content[2], Content::Audio { data, .. } if data.bytes == 2));
        assert!(matches!(&content[3], Content::Resource { text: Some(text), .. } if text == "x"));
        assert!(matches!(&content[4], Content::Resource { blob: Some(blob), .. } if blob.bytes == 1));
        assert!(matches!(&content[5], Content::ResourceLink { size: Some(7), .. }));
        assert!(content[6..9].iter().all(|block| matches!(block, Content::Unknown { .. })));
        assert_eq!(content[9].to_plain(), r#"{"z":1,"a":2}"#);
    }

    #[test]
    fn clipping_never_splits_a_character() {
        assert_eq!(
            (clip("abc", 3).as_str(), clip("abcd", 3).as_str(), clip("纽约", 4).as_str()),
            ("abc", "abc…", "纽…")
        );
    }

    #[test]
    fn results_that_are_none() {
        assert_eq!(call_result(json!({})), (vec![], false));
        assert_eq!(call_result(json!(null)), (vec![], false));
        assert_eq!(call_result(json!({ "_meta": {}, "isError": true })), (vec![], true));
        assert_eq!(call_result(json!({ "content": "plain" })), (vec![Content::text("plain")], false));
        assert_eq!(call_result(json!({ "toolResult": 5 })).0[0].to_plain(), r#"{"toolResult":5}"#);
        assert_eq!(call_result(json!([1])).0[0].to_plain(), "[1]");
    }
}
