//! Keywords said in words.

use super::{Losses, Subset};
use crate::schema::view::View;
use serde_json::Value;

/// A keyword, its words around the value, and the types that it is about.
const WORDS: [(&str, &str, &str, &[&str]); 16] = [
    ("minLength", "at least ", " characters", &["string"]),
    ("maxLength", "at most ", " characters", &["string"]),
    ("pattern", "matches ", "", &["string"]),
    ("format", "format ", "", &["string", "number", "integer"]),
    ("minimum", "at least ", "", &["number", "integer"]),
    ("maximum", "at most ", "", &["number", "integer"]),
    ("exclusiveMinimum", "more than ", "", &["number", "integer"]),
    ("exclusiveMaximum", "less than ", "", &["number", "integer"]),
    ("multipleOf", "a multiple of ", "", &["number", "integer"]),
    ("minItems", "at least ", " items", &["array"]),
    ("maxItems", "at most ", " items", &["array"]),
    ("uniqueItems", "no item twice", "", &["array"]),
    ("minProperties", "at least ", " properties", &["object"]),
    ("maxProperties", "at most ", " properties", &["object"]),
    ("contentEncoding", "encoded as ", "", &["string"]),
    ("contentMediaType", "of type ", "", &["string"]),
];

/// Keywords that are lost without words, whatever the type.
const SILENT: [&str; 16] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "$dynamicRef",
];

/// Whether a subset has a keyword (for this value).
fn has(subset: Subset, keyword: &str, value: &Value) -> bool {
    const KEPT: [&str; 8] =
        ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties"];
    const FORMATS: [&str; 5] = ["date-time", "float", "double", "int32", "int64"];
    match keyword {
        _ if subset != Subset::OpenApi => false,
        "format" => value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        // A number that is no number would be refused.
        keyword => KEPT.contains(&keyword) && value.is_number(),
    }
}

/// What a view of this type demands: the keywords that the subset has, and words for the others, which are lost.
pub(super) fn demands<'a>(
    view: &View<'a>,
    kind: &str,
    subset: Subset,
    at: &str,
    losses: &mut Losses,
) -> (Vec<(&'static str, &'a Value)>, Vec<String>) {
    let (mut kept, mut words) = (Vec::new(), Vec::new());
    for (keyword, before, after, _) in WORDS.iter().filter(|(.., kinds)| kinds.contains(&kind)) {
        let Some(value) = view.get(keyword) else { continue };
        if has(subset, keyword, value) {
            kept.push((*keyword, value));
            continue;
        }
        if *keyword == "uniqueItems" {
            if *value == Value::Bool(true) {
                words.push((*before).to_owned());
                losses.add_worded(at, keyword);
            }
            continue;
        }
        words.push(format!("{before}{}{after}", plain(value)));
        losses.add_worded(at, keyword);
    }
    for keyword in SILENT {
        if view.get(keyword).is_some_and(|value| !value.is_boolean()) {
            losses.add(at, keyword);
        }
    }
    if view.get("additionalProperties").is_some_and(Value::is_object) {
        losses.add(at, "additionalProperties");
    }
    if let Some(value) = view.get("default").filter(|value| !value.is_null()) {
        words.push(format!("default {}", bounded(value)));
    }
    (kept, words)
}

/// "one of: …".
pub(super) fn choices(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().take(50).map(plain).collect();
    format!("one of: {}{}", shown.join(", "), if values.len() > 50 { ", …" } else { "" })
}

/// A description with words behind it; `None` when there is neither.
pub(super) fn description(view: &View<'_>, words: &[String]) -> Option<String> {
    let said = view.text("description").or_else(|| view.text("title"));
    match (said, words.is_empty()) {
        (said, true) => said,
        (Some(said), false) => Some(format!("{said} ({})", words.join("; "))),
        (None, false) => Some(words.join("; ")),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn bounded(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 80 { text } else { text.chars().take(79).chain(['…']).collect() }
}
