//! A schema seen through its references.
//!
//! Owns: following local references, `allOf` and unions with one member beside `null`, so that keywords can be looked up as if they stood in one
//! place. Does not judge what is found.
//!
//! **Invariant:** a cycle of references, a foreign or dangling one, and more than [`HOPS`] of them end in [`View::opaque`], never in a loop.

use crate::domain::form::Choice;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// References and unions followed on the way to one schema.
const HOPS: usize = 32;
/// Longest title of a field or a choice, characters. What only people read is cut; names and values are whole.
const TITLE: usize = 300;
/// Longest description, characters.
const DESCRIPTION: usize = 4_000;

/// A schema with its references and trivial unions unfolded: keywords are looked up layer by layer, the outermost first.
pub(super) struct View<'a> {
    pub(super) layers: Vec<&'a Map<String, Value>>,
    /// References that were followed, so that a schema inside itself is seen.
    pub(super) trail: Vec<&'a str>,
    /// `null` is allowed beside what the layers say.
    pub(super) nullable: bool,
    /// Part of it could not be unfolded: a cycle, a foreign or dangling reference, no schema at all.
    pub(super) opaque: bool,
}

impl<'a> View<'a> {
    /// Unfolds a schema. `trail` are the references that lead here.
    pub(super) fn new(root: &'a Value, schema: &'a Value, trail: &[&'a str]) -> Self {
        let mut view = Self { layers: Vec::new(), trail: trail.to_vec(), nullable: false, opaque: false };
        let mut todo = vec![schema];
        let mut hops = 0;
        while let Some(next) = todo.pop() {
            hops += 1;
            let Some(map) = next.as_object().filter(|_| hops <= HOPS) else {
                // `true` says nothing; anything else that is no object is no schema.
                view.opaque |= hops > HOPS || *next != Value::Bool(true);
                continue;
            };
            view.layers.push(map);
            view.nullable |= map.get("nullable") == Some(&Value::Bool(true)) || allows_null(map.get("type"));
            if let Some(target) = view.follow(root, map) {
                todo.push(target);
            }
            if let Some(members) = map.get("allOf").and_then(Value::as_array) {
                todo.extend(members.iter().rev());
            }
            for key in ["anyOf", "oneOf"] {
                let Some(members) = map.get(key).and_then(Value::as_array) else { continue };
                let rest: Vec<&Value> = members.iter().filter(|member| !is_null(member)).collect();
                view.nullable |= rest.len() < members.len();
                if let [only] = rest[..] {
                    todo.push(only);
                }
            }
        }
        view
    }

    /// The target of a local `$ref`, unless it leads back to where we are.
    fn follow(&mut self, root: &'a Value, map: &'a Map<String, Value>) -> Option<&'a Value> {
        let reference = map.get("$ref")?.as_str();
        let target = reference.filter(|r| !self.trail.contains(r)).and_then(|r| resolve(root, r));
        self.opaque |= target.is_none();
        self.trail.extend(reference.filter(|_| target.is_some()));
        target
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.layers.iter().find_map(|layer| layer.get(key))
    }

    pub(super) fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    pub(super) fn title(&self) -> Option<String> {
        self.text("title").map(|title| clipped(&title, TITLE))
    }

    pub(super) fn description(&self) -> Option<String> {
        self.text("description").map(|description| clipped(&description, DESCRIPTION))
    }

    pub(super) fn count(&self, key: &str) -> Option<u64> {
        let value = self.get(key)?;
        value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0).map(|f| f as u64))
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    pub(super) fn properties(&self) -> Vec<(&'a str, &'a Value)> {
        let mut seen = HashSet::new();
        let all = self.layers.iter().filter_map(|layer| layer.get("properties")?.as_object()).flatten();
        all.map(|(name, schema)| (name.as_str(), schema)).filter(|(name, _)| seen.insert(*name)).collect()
    }

    pub(super) fn required(&self) -> HashSet<&'a str> {
        let lists = self.layers.iter().filter_map(|layer| layer.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// Names that are required but not described, in the order of the list.
    pub(super) fn undeclared(&self, properties: &[(&'a str, &'a Value)]) -> Vec<&'a str> {
        let mut seen: HashSet<&str> = properties.iter().map(|(name, _)| *name).collect();
        let lists = self.layers.iter().filter_map(|layer| layer.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).filter(|name| seen.insert(name)).collect()
    }

    /// Types other than `null`; `None` where the schema names none.
    pub(super) fn types(&self) -> Option<Vec<&'a str>> {
        match self.get("type")? {
            Value::String(one) => Some(vec![one]),
            Value::Array(many) => Some(many.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect()),
            _ => None,
        }
    }

    /// The one type it has: named, or plain from its keywords.
    pub(super) fn kind(&self) -> Option<&'a str> {
        match self.types() {
            Some(types) => match types[..] {
                [one] => Some(one),
                _ => None,
            },
            None if self.has(&["properties"]) => Some("object"),
            None if self.has(&["items", "minItems", "maxItems"]) => Some("array"),
            None if self.has(&["pattern", "minLength", "maxLength"]) => Some("string"),
            None if self.has(&["minimum", "maximum"]) => Some("number"),
            None => None,
        }
    }

    /// Whether it allows keys that no field could stand for, and little else.
    pub(super) fn is_free(&self) -> bool {
        let open = |key| matches!(self.get(key), Some(Value::Bool(true) | Value::Object(_)));
        self.properties().is_empty() && (open("additionalProperties") || open("patternProperties"))
    }

    /// Whether its fields can be shown one by one: an object whose keys are known.
    pub(super) fn is_form(&self) -> bool {
        !self.opaque && self.kind() == Some("object") && !self.is_free() && self.choices("enum", "enumNames").is_none()
    }

    /// Values of an `enum`, with the titles of the (legacy) list beside it.
    pub(super) fn choices(&self, values: &str, titles: &str) -> Option<Vec<Choice>> {
        let values = self.get(values)?.as_array().filter(|values| !values.is_empty())?;
        let titles = self.get(titles).and_then(Value::as_array);
        let title = |at: usize| titles.and_then(|titles| titles.get(at)?.as_str());
        Some(dedup(values.iter().enumerate().map(|(at, value)| choice(value, title(at)))))
    }

    /// `oneOf`/`anyOf` where every member is one value, with or without a title.
    pub(super) fn constants(&self) -> Option<Vec<Choice>> {
        let members = self.get("oneOf").or_else(|| self.get("anyOf"))?.as_array()?;
        let one = |member: &Value| {
            let title = member.get("title").and_then(Value::as_str);
            match (member.get("const"), member.get("enum").and_then(Value::as_array).map(Vec::as_slice)) {
                (Some(value), _) | (None, Some([value])) => Some(choice(value, title)),
                _ => None,
            }
        };
        let all: Option<Vec<Choice>> = members.iter().filter(|member| !is_null(member)).map(one).collect();
        all.filter(|all| !all.is_empty()).map(dedup)
    }

    /// Whether the unions were unfolded into the layers (one member beside `null`) or say nothing about the value's type.
    pub(super) fn is_plain_union(&self) -> bool {
        let unions = self.layers.iter().flat_map(|layer| [layer.get("anyOf"), layer.get("oneOf")]);
        unions.flatten().filter_map(Value::as_array).all(|members| {
            let says_little =
                |m: &Value| m.as_object().is_some_and(|m| m.keys().all(|k| k == "required" || k == "title"));
            members.iter().filter(|member| !is_null(member)).count() <= 1 || members.iter().all(says_little)
        })
    }
}

/// A value as a choice.
pub(super) fn choice(value: &Value, title: Option<&str>) -> Choice {
    let title = match (title, value.as_str()) {
        (Some(text), _) | (None, Some(text)) => clipped(text, TITLE),
        (None, None) => clipped(&value.to_string(), TITLE),
    };
    Choice { value: value.clone(), title }
}

fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn dedup(choices: impl IntoIterator<Item = Choice>) -> Vec<Choice> {
    let mut seen = HashSet::new();
    choices.into_iter().filter(|choice| seen.insert(choice.value.to_string())).collect()
}

/// Whether it allows `null` and nothing else.
pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || schema.get("const").is_some_and(Value::is_null)
}

fn allows_null(types: Option<&Value>) -> bool {
    types.and_then(Value::as_array).is_some_and(|types| types.iter().any(|t| t == "null"))
}

/// `#`, `#/$defs/x`: a JSON pointer (RFC 6901) into the same document, percent-decoded as far as plain names need it.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| root.pointer(&super::prepare::percent_decoded(pointer)))
}
