//! The hash of a tool's definition: what a grant is tied to.
//!
//! Owns: canonical JSON and the hash over it. **Decided:** the hash is over what the definition *means*. Object keys are sorted, and so are lists
//! named `required` (generated from sets, they come in another order with every start of the server), so that a server that only lists the same
//! things in another order does not void the user's grants. Everything else counts, descriptions and hints included: a changed description
//! can turn a model against its user as well as a changed schema can.

use crate::domain::tool::Annotations;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// SHA-256 (lower-case hex) over a tool's name, description, schemas and hints.
pub fn definition_hash(
    name: &str,
    description: &str,
    input_schema: &Value,
    output_schema: Option<&Value>,
    annotations: &Annotations,
) -> Arc<str> {
    hex(canonical(&definition(name, description, input_schema, output_schema, annotations)).as_bytes()).into()
}

/// What the hash is over, as one JSON object; stored beside a grant so that a change can be shown.
pub fn definition(
    name: &str,
    description: &str,
    input_schema: &Value,
    output_schema: Option<&Value>,
    annotations: &Annotations,
) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), name.into());
    object.insert("description".into(), description.into());
    object.insert("input_schema".into(), input_schema.clone());
    if let Some(output) = output_schema {
        object.insert("output_schema".into(), output.clone());
    }
    object.insert("annotations".into(), serde_json::to_value(annotations).unwrap_or_default());
    Value::Object(object)
}

/// JSON text that is equal for values that mean the same: keys sorted by code point, no blanks.
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// SHA-256 of some bytes, lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                match value {
                    Value::Array(names) if key == "required" && names.iter().all(Value::is_string) => {
                        sorted(names, out);
                    }
                    _ => write(value, out),
                }
            }
            out.push('}');
        }
        Value::Array(items) => list(items.iter(), out),
        _ => out.push_str(&value.to_string()),
    }
}

fn sorted(names: &[Value], out: &mut String) {
    let mut names: Vec<&Value> = names.iter().collect();
    names.sort_unstable_by_key(|name| name.as_str());
    list(names.into_iter(), out);
}

fn list<'a>(items: impl Iterator<Item = &'a Value>, out: &mut String) {
    out.push('[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn hash(schema: &Value) -> Arc<str> {
        definition_hash("n", "d", schema, None, &Annotations::default())
    }

    #[test]
    fn order_of_keys_does_not_matter() {
        let a = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a", "b"] });
        let b = json!({ "required": ["b", "a"], "properties": { "b": {}, "a": {} }, "type": "object" });
        assert_eq!(hash(&a), hash(&b));
        assert_eq!(hash(&a).len(), 64);
        assert_ne!(hash(&a), hash(&json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a"] })));
    }

    #[test]
    fn everything_counts() {
        let base = definition_hash("n", "d", &json!({}), None, &Annotations::default());
        let hints = Annotations { read_only: Some(true), ..Annotations::default() };
        let others = [
            definition_hash("m", "d", &json!({}), None, &Annotations::default()),
            definition_hash("n", "e", &json!({}), None, &Annotations::default()),
            definition_hash("n", "d", &json!({ "x": [1, 2] }), None, &Annotations::default()),
            definition_hash("n", "d", &json!({ "x": [2, 1] }), None, &Annotations::default()),
            definition_hash("n", "d", &json!({}), Some(&json!({})), &Annotations::default()),
            definition_hash("n", "d", &json!({}), None, &hints),
        ];
        let mut all: Vec<_> = others.iter().chain([&base]).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 7);
    }

    #[test]
    fn the_hash_is_stable_between_versions_of_the_program() {
        // `printf '%s' '{"annotations":{},"description":"d","input_schema":{"type":"object"},"name":"n"}' | sha256sum`
        let known = "812f0d6c1ea28456";
        let now = definition_hash("n", "d", &json!({ "type": "object" }), None, &Annotations::default());
        assert_eq!(&now[..16], known);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec((".{0,4}", inner), 0..5)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(map) => Value::Object(map.iter().rev().map(|(k, v)| (k.clone(), reversed(v))).collect()),
            Value::Array(items) => Value::Array(items.iter().map(reversed).collect()),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn canonical_text_is_json_and_ignores_key_order(value in any_json()) {
            let text = canonical(&value);
            prop_assert_eq!(&text, &canonical(&reversed(&value)));
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(back, value);
        }
    }
}
