//! JSON for people: pretty-printed, one token a role, and in one line where it is folded.

use crate::tui::text::wrap::Span;
use crate::tui::theme::Role;
use serde_json::Value;

/// Pretty-printed, two spaces a level. Short arrays and objects of plain values stay in one line.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out
}

/// A container of plain values is kept in one line up to this many bytes.
const SHORT: usize = 60;

fn write(value: &Value, depth: usize, out: &mut String) {
    let (open, close, empty) = match value {
        Value::Array(items) => ('[', ']', items.is_empty()),
        Value::Object(fields) => ('{', '}', fields.is_empty()),
        plain => {
            out.push_str(&plain.to_string());
            return;
        }
    };
    if empty {
        out.extend([open, close]);
        return;
    }
    if is_flat(value) {
        let line = compact(value);
        if line.len() <= SHORT {
            out.push_str(&line);
            return;
        }
    }
    out.push(open);
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', depth * 2));
    };
    let mut first = true;
    let mut next = |out: &mut String| {
        if !std::mem::take(&mut first) {
            out.push(',');
        }
        indent(out, depth + 1);
    };
    match value {
        Value::Array(items) => {
            for item in items {
                next(out);
                write(item, depth + 1, out);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                next(out);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                write(field, depth + 1, out);
            }
        }
        _ => {}
    }
    indent(out, depth);
    out.push(close);
}

fn is_flat(value: &Value) -> bool {
    let plain = |value: &Value| !matches!(value, Value::Array(_) | Value::Object(_));
    match value {
        Value::Array(items) => items.iter().all(plain),
        Value::Object(fields) => fields.values().all(plain),
        _ => true,
    }
}

/// In one line, with spaces after commas and colons.
pub fn compact(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, field)| format!("{}: {}", Value::from(key.as_str()), compact(field)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        plain => plain.to_string(),
    }
}

/// A line of pretty-printed JSON in roles. `at` is its place in the source. (A string never goes on in the next line.)
pub fn spans(line: &str, at: usize) -> Vec<Span<'_>> {
    let mut out = Vec::new();
    let mut from = 0;
    while from < line.len() {
        let rest = &line[from..];
        let (len, role) = token(rest);
        out.push(Span { text: rest[..len].into(), paint: role.into(), source: at + from..at + from + len });
        from += len;
    }
    out
}

fn token(rest: &str) -> (usize, Role) {
    let bytes = rest.as_bytes();
    let run = |fits: fn(u8) -> bool| bytes.iter().take_while(|&&b| fits(b)).count();
    match bytes[0] {
        b'"' => {
            let mut end = 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += 1 + usize::from(bytes[end] == b'\\');
            }
            let mut end = (end + 1).min(bytes.len());
            while !rest.is_char_boundary(end) {
                end += 1;
            }
            let key = rest[end..].trim_start().starts_with(':');
            (end, if key { Role::SynVariable } else { Role::SynString })
        }
        b'-' | b'0'..=b'9' => (run(|b| matches!(b, b'-' | b'+' | b'.' | b'0'..=b'9' | b'e' | b'E')), Role::SynNumber),
        b'a'..=b'z' => (run(|b| b.is_ascii_lowercase()), Role::SynKeyword),
        b' ' => (run(|b| b == b' '), Role::Text),
        b'{' | b'}' | b'[' | b']' | b':' | b',' => {
            (run(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b':' | b',')), Role::SynPunctuation)
        }
        _ => (rest.chars().next().map_or(1, char::len_utf8), Role::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn pretty_and_short() {
        let value = json!({"a": [1, 2], "b": {"c": "x", "d": [{"e": null}]}, "f": {}});
        assert_eq!(
            pretty(&value),
            "{\n  \"a\": [1, 2],\n  \"b\": {\n    \"c\": \"x\",\n    \"d\": [\n      {\"e\": null}\n    ]\n  },\n  \"f\": {}\n}"
        );
        assert_eq!(compact(&json!({"a": [1, "b"]})), "{\"a\": [1, \"b\"]}");
    }

    #[test]
    fn pretty_is_the_same_value() {
        let value = json!({"k\n": ["\"", "天气", -1.5e3, true, null, {"x": [[], {}]}], "long": "y".repeat(100)});
        assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).unwrap(), value);
        assert_eq!(serde_json::from_str::<Value>(&compact(&value)).unwrap(), value);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn spans_cover_any_line(line in "[a-z\"\\\\{}:, 天\u{301}0-9-]{0,30}") {
            let joined: String = spans(&line, 0).iter().map(|span| span.text.to_string()).collect();
            prop_assert_eq!(joined, line);
        }
    }
}
