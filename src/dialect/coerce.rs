//! Text that stands for a number, a boolean or a list.
//!
//! A text dialect yields strings; the tool's schema says what they mean. Pure; never fails: what does not fit stays as it
//! was, and validation says so. **Invariant:** a value that the schema already allows is not touched.

use serde_json::{Number, Value};

/// How deep schemas and values are followed. Stops schemas that refer to themselves.
const DEPTH: usize = 32;

/// Turns strings in `arguments` into integers, numbers, booleans, null, lists and objects where `schema` (JSON Schema; local
/// `$ref` only) asks for them and does not allow a string.
pub fn coerce(arguments: &mut Value, schema: &Value) {
    walk(arguments, schema, schema, DEPTH);
}

fn walk(value: &mut Value, schema: &Value, root: &Value, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let schema = resolve(schema, root);
    if let Value::String(text) = value {
        if let Some(found) = reading(text, schema, root, depth) {
            *value = found;
        } else {
            return;
        }
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                for part in parts(schema, root, depth) {
                    let below = part.get("properties").and_then(|all| all.get(key));
                    if let Some(below) = below.or_else(|| part.get("additionalProperties")) {
                        walk(value, below, root, depth);
                    }
                }
            }
        }
        Value::Array(list) => {
            let items = parts(schema, root, depth).into_iter().find_map(|part| part.get("items"));
            if let Some(items) = items {
                for value in list {
                    walk(value, items, root, depth);
                }
            }
        }
        _ => {}
    }
}

/// What the text stands for, where the schema does not want text.
fn reading(text: &str, schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let parts = parts(schema, root, depth);
    let wants = |kind: &str| parts.iter().any(|part| allows(part, kind));
    let typed = parts.iter().any(|part| part.get("type").is_some());
    let listed = parts.iter().filter_map(|part| part.get("enum").and_then(Value::as_array)).flatten();
    if !typed || wants("string") || listed.clone().any(|option| option.as_str() == Some(text)) {
        return None;
    }
    let trimmed = text.trim();
    let parsed = serde_json::from_str::<Value>(trimmed).ok();
    let scalar = match &parsed {
        Some(Value::Number(number)) if wants("integer") => {
            whole(number).or_else(|| parsed.clone().filter(|_| wants("number")))
        }
        Some(Value::Number(_)) if wants("number") => parsed.clone(),
        Some(Value::Null) if wants("null") => parsed.clone(),
        _ if wants("boolean") && trimmed.eq_ignore_ascii_case("true") => Some(Value::Bool(true)),
        _ if wants("boolean") && trimmed.eq_ignore_ascii_case("false") => Some(Value::Bool(false)),
        Some(Value::Object(_)) if wants("object") => parsed.clone(),
        Some(Value::Array(_)) if wants("array") => parsed.clone(),
        _ => None,
    };
    // Text that starts like JSON but is none is a mistake to report, not a list with one odd entry.
    scalar.or_else(|| (wants("array") && !trimmed.starts_with(['[', '{'])).then(|| lines(trimmed)))
}

/// A whole number without its fraction: `3.0` is an integer in JSON Schema.
fn whole(number: &Number) -> Option<Value> {
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number.clone()));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 9.0e15).then(|| Value::from(float as i64))
}

fn lines(text: &str) -> Value {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(Value::from).collect()
}

fn allows(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(many)) => many.iter().any(|one| one == kind),
        _ => false,
    }
}

/// The schema and its alternatives, references followed.
fn parts<'a>(schema: &'a Value, root: &'a Value, depth: usize) -> Vec<&'a Value> {
    let mut found = vec![schema];
    let mut next = 0;
    while next < found.len() && found.len() < 64 && next < depth * 4 {
        for key in ["anyOf", "oneOf", "allOf"] {
            let branches = found[next].get(key).and_then(Value::as_array);
            found.extend(branches.into_iter().flatten().map(|branch| resolve(branch, root)));
        }
        next += 1;
    }
    found
}

fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEPTH {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        match target.and_then(|pointer| root.pointer(pointer)) {
            Some(found) => schema = found,
            None => break,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn coerced(mut arguments: Value, schema: Value) -> Value {
        coerce(&mut arguments, &schema);
        arguments
    }

    #[test]
    fn strings_become_what_the_schema_asks_for() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
            "l": {"type": "array", "items": {"type": "integer"}}, "t": {"type": "array", "items": {"type": "string"}},
            "o": {"type": "object", "properties": {"k": {"type": "boolean"}}}, "z": {"type": ["null", "integer"]},
            "free": {}, "u": {"anyOf": [{"type": "integer"}, {"type": "null"}]}
        }});
        let got = coerced(
            json!({"n": " 3 ", "x": "41.7128", "b": "True", "s": "7", "l": "[1, \"2\"]", "t": "a\n b \n", "o": "{\"k\": \"false\"}",
                "z": "null", "free": "1", "u": "9", "other": "5"}),
            schema,
        );
        assert_eq!(
            got,
            json!({"n": 3, "x": 41.7128, "b": true, "s": "7", "l": [1, 2], "t": ["a", "b"], "o": {"k": false}, "z": null,
                "free": "1", "u": 9, "other": "5"})
        );
    }

    #[test]
    fn what_does_not_fit_stays() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}, "b": {"type": "boolean"},
            "l": {"type": "array"}, "e": {"enum": ["1", "2"]}, "m": {"type": "integer", "enum": [1, 2]}}});
        let same = json!({"n": "three", "b": "yes", "l": "[1, 2", "e": "1"});
        assert_eq!(coerced(same.clone(), schema.clone()), same);
        assert_eq!(coerced(json!({"n": "3.0", "m": "2"}), schema.clone()), json!({"n": 3, "m": 2}));
        assert_eq!(coerced(json!({"n": "3.5"}), schema), json!({"n": "3.5"}));
        assert_eq!(coerced(json!("x"), json!(true)), json!("x"));
    }

    #[test]
    fn references_are_followed_and_loops_end() {
        let schema = json!({"type": "object", "$defs": {"tree": {"type": "object", "properties":
            {"value": {"type": "integer"}, "left": {"$ref": "#/$defs/tree"}}}, "loop": {"$ref": "#/$defs/loop"}},
            "properties": {"tree": {"$ref": "#/$defs/tree"}, "loop": {"$ref": "#/$defs/loop"}, "far": {"$ref": "http://x/y"}}});
        let got = coerced(json!({"tree": {"value": "1", "left": {"value": "2"}}, "loop": "1", "far": "1"}), schema);
        assert_eq!(got, json!({"tree": {"value": 1, "left": {"value": 2}}, "loop": "1", "far": "1"}));
        let endless = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert_eq!(coerced(json!("1"), endless), json!("1"));
    }
}
