//! The top of a schema made a plain object; below it everything stays as it is, references too.

use super::{Losses, Subset, object};
use crate::schema::view::View;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Keywords that may not stand beside the top's type.
const REFUSED: [&str; 7] = ["anyOf", "oneOf", "allOf", "enum", "const", "not", "$ref"];

pub(super) fn lower(schema: &Value, subset: Subset, losses: &mut Losses) -> Value {
    let plain = schema.get("type").and_then(Value::as_str) == Some("object");
    let clean = |map: &Map<String, Value>| plain && !REFUSED.iter().any(|key| map.contains_key(*key));
    let mut map = match schema.as_object() {
        Some(map) if clean(map) => map.clone(),
        _ => rebuilt(schema, losses),
    };
    if subset == Subset::NamedObject {
        rename(&mut map, losses);
    }
    Value::Object(map)
}

fn rebuilt(schema: &Value, losses: &mut Losses) -> Map<String, Value> {
    let Some(map) = schema.as_object() else {
        if *schema != Value::Bool(true) {
            losses.add("", "type");
        }
        return object();
    };
    let view = View::new(schema, schema, &[]);
    if view.opaque {
        losses.add("", "$ref");
    }
    if !view.types().is_none_or(|types| types.contains(&"object")) {
        losses.add("", "type");
    }
    let mut out: Map<String, Value> =
        map.iter().filter(|(key, _)| !REFUSED.contains(&key.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
    out.insert("type".into(), "object".into());
    let mut properties: Map<String, Value> =
        view.properties().into_iter().map(|(name, schema)| (name.to_owned(), schema.clone())).collect();
    let mut required: Vec<&str> = Vec::new();
    for layer in &view.layers {
        let names = layer.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        required.extend(names);
    }
    for key in ["enum", "const", "not"] {
        if view.get(key).is_some() {
            losses.add("", key);
        }
    }
    if !view.is_plain_union() {
        for key in ["anyOf", "oneOf"] {
            let Some(members) = view.get(key).and_then(Value::as_array) else { continue };
            losses.add("", key);
            for member in members {
                // What only some members have is offered, and demanded of none.
                for (name, schema) in View::new(schema, member, &view.trail).properties() {
                    properties.entry(name.to_owned()).or_insert_with(|| schema.clone());
                }
            }
        }
    }
    let mut seen = HashSet::new();
    required.retain(|name| seen.insert(*name));
    out.insert("properties".into(), properties.into());
    if !required.is_empty() {
        out.insert("required".into(), required.into());
    }
    out
}

/// Leaves out properties whose names would be refused.
fn rename(map: &mut Map<String, Value>, losses: &mut Losses) {
    let legal = |name: &str| {
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
        letters && (1..=64).contains(&name.len())
    };
    let Some(properties) = map.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let bad: Vec<String> = properties.keys().filter(|name| !legal(name)).cloned().collect();
    for name in &bad {
        properties.shift_remove(name);
        losses.add(&super::below("/properties", name), "properties");
    }
    if let Some(required) = map.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !bad.iter().any(|bad| name == bad));
    }
}
