//! Arguments as JSON text.
//!
//! Owns: reading what a model wrote as arguments, and writing arguments the way models write them.
//! **Invariants:** only noise around or between the parts of a whole object is repaired (a code fence, a trailing comma, a line break in a
//! string that was not escaped, an object inside a JSON string); a text that ends too early is never completed. What is read is always an object.

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Value};
use std::io;

/// Reads arguments. Empty text and `null` mean no arguments.
///
/// # Errors
/// What is wrong, with line and column, as the model should read it.
pub fn arguments(text: &str) -> Result<Value, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let plain = match serde_json::from_str(text) {
        Ok(value) => return object(value),
        Err(error) => error,
    };
    let unfenced = unfence(text);
    let value = serde_json::from_str(unfenced).or_else(|_| serde_json::from_str(&repaired(unfenced)));
    value.map_or_else(|_: serde_json::Error| Err(format!("The arguments are not valid JSON: {plain}.")), object)
}

fn object(value: Value) -> Result<Value, String> {
    match value {
        Value::Object(_) => Ok(value),
        Value::Null => Ok(Value::Object(Map::new())),
        // Some models encode the object a second time.
        Value::String(inner) => match serde_json::from_str(inner.trim()) {
            Ok(Value::Object(map)) => Ok(Value::Object(map)),
            _ => Err("The arguments must be one JSON object, not a string.".to_owned()),
        },
        Value::Array(_) => Err("The arguments must be one JSON object, not a list.".to_owned()),
        Value::Bool(_) | Value::Number(_) => Err("The arguments must be one JSON object.".to_owned()),
    }
}

/// The inside of a text that is one fenced code block, else the text itself.
fn unfence(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else { return text };
    let inside = match inside.split_once('\n') {
        // The rest of the fence's line is the language.
        Some((language, rest)) if language.trim().chars().all(char::is_alphanumeric) => rest,
        _ => inside.strip_prefix("json").unwrap_or(inside),
    };
    inside.trim()
}

/// Leaves out commas that stand before a closing bracket, outside of strings, and escapes line breaks and tabs inside them.
fn repaired(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_string = false;
    let mut escaped = false;
    let mut comma = None;
    for c in text.chars() {
        if in_string {
            (in_string, escaped) = (escaped || c != '"', !escaped && c == '\\');
            match c {
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c => out.push(c),
            }
            continue;
        }
        match (c, comma) {
            (',', _) => comma = Some(out.len()),
            ('}' | ']', Some(at)) => {
                out.remove(at);
                comma = None;
            }
            _ if c.is_whitespace() => {}
            _ => comma = None,
        }
        in_string = c == '"';
        out.push(c);
    }
    out
}

/// JSON on one line with a space after `:` and `,`, as models mostly write it themselves.
pub fn spaced(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    match value.serialize(&mut writer) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_else(|_| value.to_string()),
        Err(_) => value.to_string(),
    }
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn noise_is_repaired() {
        let whole = json!({"a": 1, "b": [1, 2], "c": "x,}"});
        for text in [
            r#"{"a": 1, "b": [1, 2], "c": "x,}"}"#,
            r#"  {"a": 1, "b": [1, 2,], "c": "x,}",
            } "#,
            "```json\n{\"a\": 1, \"b\": [1, 2], \"c\": \"x,}\"}\n```",
            "```\n{\"a\": 1, \"b\": [1, 2 , ], \"c\": \"x,}\",}\n```",
            "```json{\"a\": 1, \"b\": [1, 2], \"c\": \"x,}\"}```",
            "{\"a\": 1, \"b\": [1, 2], \"c\": \"x,}\"\n}",
            r#""{\"a\": 1, \"b\": [1, 2], \"c\": \"x,}\"}""#,
        ] {
            assert_eq!(arguments(text), Ok(whole.clone()), "{text}");
        }
        for text in ["", "  \n", "null", "{}"] {
            assert_eq!(arguments(text), Ok(json!({})), "{text}");
        }
    }

    #[test]
    fn line_breaks_in_strings_are_kept() {
        assert_eq!(arguments("{\"a\": \"x\n\ty\\n\"}"), Ok(json!({"a": "x\n\ty\n"})));
        assert!(arguments("{\"a\": \"x\n").is_err());
    }

    #[test]
    fn the_rest_is_an_error_with_its_place() {
        assert_eq!(
            arguments(r#"{"city": "Oslo", "days":"#),
            Err("The arguments are not valid JSON: EOF while parsing a value at line 1 column 24.".to_owned())
        );
        for text in
            ["[1]", "3", "true", "\"x\"", "{'a': 1}", "{\"a\": 1}}", "{\"a\": 1,", "{\"a\": [1,", "```json\n{\"a\": 1"]
        {
            assert!(arguments(text).is_err(), "{text}");
        }
    }

    #[test]
    fn written_with_spaces() {
        assert_eq!(spaced(&json!({"a": [1, "b, c"], "d": {}})), r#"{"a": [1, "b, c"], "d": {}}"#);
    }

    proptest! {
        #[test]
        fn a_cut_object_is_never_read(key in "[a-z]{1,3}", text in ".{0,12}", n in any::<i32>(), cut in 1usize..200) {
            let whole = spaced(&json!({key: text, "n": [n, {"x": n}]}));
            let mut cut = cut % whole.len();
            while !whole.is_char_boundary(cut) { cut -= 1; }
            prop_assert!(arguments(&whole).is_ok());
            prop_assert!(cut == 0 || arguments(&whole[..cut]).is_err());
        }
    }
}
