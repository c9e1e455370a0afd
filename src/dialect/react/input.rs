//! What the input of an action means.
//!
//! Read in this order: a JSON object; in round brackets, `key=value` pairs; lines of `key: value`; a plain text, which is the first parameter of
//! a built-in tool. What fits nothing is malformed, and the model is told what is wanted.

use super::draft::Form;
use crate::dialect::aliases::aliases;
use crate::dialect::json;
use crate::domain::model::Arguments;
use crate::domain::names::Names;
use serde_json::{Map, Value};

const WANTED: &str = "The input of an action must be one JSON object, such as {\"path\": \"a.txt\"}.";

/// The arguments that the input means for this tool.
pub fn arguments(name: &str, input: &str, form: Form, names: &Names) -> Arguments {
    let text = inside_fence(input.trim());
    if text.is_empty() || text.starts_with('{') {
        return match json::arguments(text) {
            Ok(value) => Arguments::Parsed { value },
            Err(problem) => Arguments::Malformed { text: text.to_owned(), problem },
        };
    }
    if form == Form::Brackets
        && let Some(map) = pairs(text)
    {
        return Arguments::Parsed { value: Value::Object(map) };
    }
    let builtin = names.resolve(name).filter(|id| id.server.is_none()).map(|id| &*id.name);
    if form == Form::Block
        && let Some(map) = lines(text, builtin)
    {
        return Arguments::Parsed { value: Value::Object(map) };
    }
    match builtin.and_then(|tool| aliases().first_parameter(tool)).filter(|_| !text.starts_with('[')) {
        Some(parameter) => {
            let value = unquoted(text);
            Arguments::Parsed { value: Value::Object(Map::from_iter([(parameter.to_owned(), Value::from(value))])) }
        }
        None => Arguments::Malformed { text: text.to_owned(), problem: WANTED.to_owned() },
    }
}

/// Whether what stands in round brackets behind a name is an input, not a remark.
pub fn is_brackets(inside: &str) -> bool {
    let text = inside.trim();
    let quoted = |mark: char| text.len() > 1 && text.starts_with(mark) && text.ends_with(mark);
    text.is_empty() || text.starts_with('{') || quoted('"') || quoted('\'') || pairs(text).is_some()
}

fn inside_fence(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("```") else { return text.strip_suffix("```").unwrap_or(text).trim_end() };
    let rest = rest.split_once('\n').map_or(rest, |(_, inside)| inside);
    rest.trim_end().strip_suffix("```").unwrap_or(rest).trim()
}

fn unquoted(text: &str) -> String {
    if let Ok(Value::String(inside)) = serde_json::from_str(text) {
        return inside;
    }
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inside.filter(|inside| !inside.contains('\'')).unwrap_or(text).to_owned()
}

/// `a="x", b=3`: as a call is written in Python.
fn pairs(text: &str) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for piece in apart(text) {
        let (key, value) = piece.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        if !is_key(key) || value.is_empty() || map.insert(key.to_owned(), literal(value)?).is_some() {
            return None;
        }
    }
    (!map.is_empty()).then_some(map)
}

fn literal(text: &str) -> Option<Value> {
    match text {
        "True" => return Some(Value::Bool(true)),
        "False" => return Some(Value::Bool(false)),
        "None" => return Some(Value::Null),
        _ => {}
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut out = String::with_capacity(inside.len());
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    Some(Value::from(out))
}

/// The pieces between commas that stand in no brackets and no string.
fn apart(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut depth, mut quote, mut escaped) = (0, 0usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(mark), _) if mark == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{' | b'[' | b'(') => depth += 1,
            (None, b'}' | b']' | b')') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => {
                pieces.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[from..]);
    pieces
}

/// Lines of `key: value`. A built-in's keys are its parameters, and whole files run over the lines below; another tool's are taken as they are
/// where every line has one.
fn lines(text: &str, builtin: Option<&str>) -> Option<Map<String, Value>> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let pair = key_value(line).filter(|(key, _)| match builtin {
            Some(tool) => aliases().has_parameter(tool, key).unwrap_or(true),
            None => true,
        });
        let long = found.last().is_some_and(|(key, _)| aliases().is_long(key));
        let pair = pair.filter(|(key, _)| !long && !found.iter().any(|(known, _)| known == key));
        match (pair, found.last_mut()) {
            (Some((key, value)), _) => found.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) if builtin.is_some() && (long || !line.trim().is_empty()) => {
                if !value.is_empty() {
                    value.push('\n');
                }
                value.push_str(line);
            }
            (None, _) if line.trim().is_empty() => {}
            _ => return None,
        }
    }
    (!found.is_empty()).then(|| found.into_iter().map(|(key, value)| (key, Value::from(unquoted(&value)))).collect())
}

fn key_value(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let at = line.find([':', '=', '：'])?;
    let key = line[..at].trim().trim_matches(['"', '`', '\'', '*']);
    let value = line[at..].trim_start_matches([':', '=', '：']).trim();
    is_key(key).then_some((key, value))
}

fn is_key(key: &str) -> bool {
    let mut chars = key.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ToolId;
    use crate::domain::names::NameRule;
    use serde_json::json;

    fn read(name: &str, input: &str, form: Form) -> Option<Value> {
        let tools = ["read_file", "write_to_file", "execute_command"].map(ToolId::builtin);
        let tools = tools.into_iter().chain([ToolId::on(&"weather".into(), "get_forecast")]).collect::<Vec<_>>();
        let names = Names::new(&tools, NameRule::default(), aliases().names());
        match arguments(name, input, form, &names) {
            Arguments::Parsed { value } => Some(value),
            _ => None,
        }
    }

    #[test]
    fn every_form() {
        for (name, input, form, value) in [
            ("get_forecast", "", Form::Block, json!({})),
            ("get_forecast", " {\"a\": 1} ", Form::Block, json!({"a": 1})),
            ("get_forecast", "```json\n{\"a\": 1,}\n```", Form::Block, json!({"a": 1})),
            ("get_forecast", "city: Oslo\ndays: 2", Form::Block, json!({"city": "Oslo", "days": "2"})),
            ("get_forecast", "- city = \"Oslo\"\n\n- days：2", Form::Block, json!({"city": "Oslo", "days": "2"})),
            (
                "get_forecast",
                "city='it\\'s', days=2, ok=True, at=[1, 2]",
                Form::Brackets,
                json!({"city": "it's", "days": 2, "ok": true, "at": [1, 2]}),
            ),
            ("read_file", "\"notes, a.txt\"", Form::Brackets, json!({"path": "notes, a.txt"})),
            ("read_file", "notes/b.txt", Form::Block, json!({"path": "notes/b.txt"})),
            ("read", "path: b.txt", Form::Block, json!({"path": "b.txt"})),
            ("execute_command", "git log --format=%h", Form::Block, json!({"command": "git log --format=%h"})),
            ("execute_command", "echo a: b", Form::Square, json!({"command": "echo a: b"})),
            (
                "write_to_file",
                "path: a.md\ncontent:\n# A\n\nb: c\npath: d",
                Form::Block,
                json!({"path": "a.md", "content": "# A\n\nb: c\npath: d"}),
            ),
        ] {
            assert_eq!(read(name, input, form), Some(value), "{input}");
        }
        for (name, input) in
            [("get_forecast", "Oslo"), ("get_forecast", "{\"a\": 1"), ("get_forecast", "[1]"), ("x", "a: 1\nb")]
        {
            assert_eq!(read(name, input, Form::Block), None, "{input}");
        }
    }

    #[test]
    fn remarks_in_brackets_are_no_input() {
        assert!(["", "{\"a\": 1}", "'x'", "a=1", "\"a (b)\""].iter().all(|text| is_brackets(text)));
        assert!(["weather", "the tool", "see a = b?"].iter().all(|text| !is_brackets(text)));
    }
}
