//! A schema as a form.
//!
//! Owns: reading MCP elicitation schemas of every revision (`PrimitiveSchemaDefinition`: text, number, yes/no, titled, untitled and legacy
//! choices, multi-select) and arbitrary tool schemas (nested objects, local `$ref`, `null` beside a type). Does not check values
//! (`domain::form::check`, `schema::validate`).
//!
//! **Invariants:** properties keep the server's order; a kind that is not understood becomes [`FieldKind::Json`], never a yes/no; a cycle of
//! references, or more than [`DEPTH`] levels or [`FIELDS`] fields, ends in [`FieldKind::Json`].
//!
//! Decided here:
//! - What is no object at the top becomes one field with an *empty name* that stands for the whole value.
//! - An optional field that may be `null` is simply optional. A required one becomes optional with the default `null`: left empty, it is sent
//!   as `null` (`domain::form::check` knows that).
//! - A default that does not fit its field is dropped: an answer must not begin wrong.
//! - `exclusiveMinimum` of whole numbers becomes the next number; of others it is the shown limit, and the whole schema decides.

use crate::domain::form::{Choice, Field, FieldKind, Form, TextFormat};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Levels of nested objects that become fields.
pub const DEPTH: usize = 6;
/// Fields of a form, inner ones counted.
pub const FIELDS: usize = 400;
/// Choices of a form, all fields counted.
pub const CHOICES: usize = 20_000;
/// References and unions followed on the way to one field.
const HOPS: usize = 32;
/// Longest title of a field or a choice, characters. What only people read is cut; names and values are whole.
const TITLE: usize = 300;
/// Longest description, characters.
const DESCRIPTION: usize = 4_000;

fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The form of a schema.
pub fn form(schema: &Value) -> Form {
    let mut builder = Builder { root: schema, fields_left: FIELDS, choices_left: CHOICES, helps: HashMap::new() };
    let view = builder.view(schema, &[]);
    let fields = if view.is_form() { builder.fields(&view, DEPTH) } else { None };
    Form { fields: fields.unwrap_or_else(|| vec![whole(schema, &view)]) }
}

/// The field that stands for a whole value.
fn whole(schema: &Value, view: &View<'_>) -> Field {
    Field {
        name: String::new(),
        title: view.title(),
        description: view.description(),
        required: true,
        kind: FieldKind::Json { schema: Arc::new(schema.clone()) },
        default: view.get("default").cloned(),
    }
}

struct Builder<'a> {
    root: &'a Value,
    fields_left: usize,
    choices_left: usize,
    /// Schemas shown as help, by address: many fields may refer to one large definition.
    helps: HashMap<*const Value, Arc<Value>>,
}

/// A schema with its references and trivial unions unfolded: keywords are looked up layer by layer, the outermost first.
struct View<'a> {
    layers: Vec<&'a Map<String, Value>>,
    /// References that were followed, so that a schema inside itself is seen.
    trail: Vec<&'a str>,
    /// `null` is allowed beside what the layers say.
    nullable: bool,
    /// Part of it could not be unfolded: a cycle, a foreign or dangling reference, no schema at all.
    opaque: bool,
}

impl<'a> View<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.layers.iter().find_map(|layer| layer.get(key))
    }

    fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.get(key).is_some())
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    }

    fn title(&self) -> Option<String> {
        self.text("title").map(|title| clipped(&title, TITLE))
    }

    fn description(&self) -> Option<String> {
        self.text("description").map(|description| clipped(&description, DESCRIPTION))
    }

    fn count(&self, key: &str) -> Option<u64> {
        let value = self.get(key)?;
        value.as_u64().or_else(|| value.as_f64().filter(|f| *f >= 0.0 && f.fract() == 0.0).map(|f| f as u64))
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    fn properties(&self) -> Vec<(&'a str, &'a Value)> {
        let mut seen = HashSet::new();
        let all = self.layers.iter().filter_map(|layer| layer.get("properties")?.as_object()).flatten();
        all.map(|(name, schema)| (name.as_str(), schema)).filter(|(name, _)| seen.insert(*name)).collect()
    }

    fn required(&self) -> HashSet<&'a str> {
        let lists = self.layers.iter().filter_map(|layer| layer.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// Names that are required but not described, in the order of the list.
    fn undeclared(&self, properties: &[(&'a str, &'a Value)]) -> Vec<&'a str> {
        let mut seen: HashSet<&str> = properties.iter().map(|(name, _)| *name).collect();
        let lists = self.layers.iter().filter_map(|layer| layer.get("required")?.as_array());
        lists.flatten().filter_map(Value::as_str).filter(|name| seen.insert(name)).collect()
    }

    /// Types other than `null`; `None` where the schema names none.
    fn types(&self) -> Option<Vec<&'a str>> {
        match self.get("type")? {
            Value::String(one) => Some(vec![one]),
            Value::Array(many) => Some(many.iter().filter_map(Value::as_str).filter(|t| *t != "null").collect()),
            _ => None,
        }
    }

    /// The one type it has: named, or plain from its keywords.
    fn kind(&self) -> Option<&'a str> {
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
    fn is_free(&self) -> bool {
        let open = |key| matches!(self.get(key), Some(Value::Bool(true) | Value::Object(_)));
        self.properties().is_empty() && (open("additionalProperties") || open("patternProperties"))
    }

    /// Whether its fields can be shown one by one: an object whose keys are known.
    fn is_form(&self) -> bool {
        !self.opaque && self.kind() == Some("object") && !self.is_free() && self.choices("enum", "enumNames").is_none()
    }

    /// Values of an `enum`, with the titles of the (legacy) list beside it.
    fn choices(&self, values: &str, titles: &str) -> Option<Vec<Choice>> {
        let values = self.get(values)?.as_array().filter(|values| !values.is_empty())?;
        let titles = self.get(titles).and_then(Value::as_array);
        let title = |at: usize| titles.and_then(|titles| titles.get(at)?.as_str());
        Some(dedup(values.iter().enumerate().map(|(at, value)| choice(value, title(at)))))
    }

    /// `oneOf`/`anyOf` where every member is one value, with or without a title.
    fn constants(&self) -> Option<Vec<Choice>> {
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
}

fn choice(value: &Value, title: Option<&str>) -> Choice {
    let title = match (title, value.as_str()) {
        (Some(text), _) | (None, Some(text)) => clipped(text, TITLE),
        (None, None) => clipped(&value.to_string(), TITLE),
    };
    Choice { value: value.clone(), title }
}

fn dedup(choices: impl IntoIterator<Item = Choice>) -> Vec<Choice> {
    let mut seen = HashSet::new();
    choices.into_iter().filter(|choice| seen.insert(choice.value.to_string())).collect()
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null") || schema.get("const").is_some_and(Value::is_null)
}

impl<'a> Builder<'a> {
    /// Unfolds a schema. `trail` are the references that lead here.
    fn view(&self, schema: &'a Value, trail: &[&'a str]) -> View<'a> {
        let mut view = View { layers: Vec::new(), trail: trail.to_vec(), nullable: false, opaque: false };
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
            if let Some(target) = self.follow(map, &mut view) {
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
    fn follow(&self, map: &'a Map<String, Value>, view: &mut View<'a>) -> Option<&'a Value> {
        let reference = map.get("$ref")?.as_str();
        let target = reference.filter(|r| !view.trail.contains(r)).and_then(|r| resolve(self.root, r));
        view.opaque |= target.is_none();
        view.trail.extend(reference.filter(|_| target.is_some()));
        target
    }

    /// Fields of an object's properties; `None` when there are more than a form can hold.
    fn fields(&mut self, view: &View<'a>, depth: usize) -> Option<Vec<Field>> {
        let properties = view.properties();
        let required = view.required();
        let undeclared = view.undeclared(&properties);
        self.fields_left = self.fields_left.checked_sub(properties.len() + undeclared.len())?;
        let mut fields: Vec<Field> = Vec::with_capacity(properties.len());
        for (name, schema) in properties {
            let inner = self.view(schema, &view.trail);
            fields.push(self.field(name, schema, &inner, required.contains(&name), depth));
        }
        // Required but not described: it still needs an answer.
        fields.extend(undeclared.into_iter().map(|name| Field {
            name: name.to_owned(),
            title: None,
            description: None,
            required: true,
            kind: FieldKind::Json { schema: Arc::new(json!({})) },
            default: None,
        }));
        Some(fields)
    }

    fn field(&mut self, name: &str, schema: &'a Value, view: &View<'a>, required: bool, depth: usize) -> Field {
        let must_say_null = view.nullable && required;
        let mut kind = self.kind(name, schema, view, depth);
        let mut default = view.get("default").cloned().filter(|value| fits(&kind, value));
        if let (FieldKind::Object { form }, Some(Value::Object(values))) = (&mut kind, &default) {
            for field in &mut form.fields {
                if let Some(value) = values.get(&field.name).filter(|value| fits(&field.kind, value)) {
                    field.default = Some(value.clone());
                }
            }
        }
        let mut required = required;
        if must_say_null {
            match &mut kind {
                // These widgets always hold one of their values, so `null` must be one of them.
                FieldKind::Choice { options } => options.push(choice(&Value::Null, None)),
                FieldKind::Boolean => {
                    kind = FieldKind::Choice {
                        options: [json!(true), json!(false), Value::Null].iter().map(|v| choice(v, None)).collect(),
                    };
                }
                FieldKind::Json { .. } | FieldKind::Object { .. } | FieldKind::MultiChoice { .. } => {}
                FieldKind::Text { .. } | FieldKind::Number { .. } => {
                    required = false;
                    default = default.or(Some(Value::Null));
                }
            }
        }
        Field { name: name.to_owned(), title: view.title(), description: view.description(), required, kind, default }
    }

    fn kind(&mut self, name: &str, schema: &'a Value, view: &View<'a>, depth: usize) -> FieldKind {
        if view.opaque {
            return self.as_json(schema);
        }
        if let Some(value) = view.get("const") {
            return FieldKind::Choice { options: vec![choice(value, None)] };
        }
        if let Some(mut options) = view.choices("enum", "enumNames").or_else(|| view.constants()) {
            options.retain(|option| !(view.nullable && option.value.is_null()));
            return if self.affords(&options) { FieldKind::Choice { options } } else { self.as_json(schema) };
        }
        if view.has(&["oneOf", "anyOf"]) && !is_plain_union(view) {
            return self.as_json(schema);
        }
        match view.kind() {
            Some("string") => text_kind(name, view),
            Some(kind @ ("number" | "integer")) => number_kind(kind == "integer", view),
            Some("boolean") => FieldKind::Boolean,
            Some("array") => self.multi_kind(view).unwrap_or_else(|| self.as_json(schema)),
            Some("object") if depth > 1 && view.is_form() && !view.properties().is_empty() => {
                match self.fields(view, depth - 1) {
                    Some(fields) => FieldKind::Object { form: Form { fields } },
                    None => self.as_json(schema),
                }
            }
            _ => self.as_json(schema),
        }
    }

    /// Any value, with its schema as help: what a reference points to rather than the reference.
    fn as_json(&mut self, schema: &'a Value) -> FieldKind {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let shown = reference.and_then(|r| resolve(self.root, r)).unwrap_or(schema);
        let help = self.helps.entry(std::ptr::from_ref(shown)).or_insert_with(|| Arc::new(shown.clone()));
        FieldKind::Json { schema: help.clone() }
    }

    fn affords(&mut self, options: &[Choice]) -> bool {
        let left = self.choices_left.checked_sub(options.len());
        self.choices_left = left.unwrap_or(self.choices_left);
        left.is_some()
    }

    /// Some of several: an array whose items are an `enum`, or constants in `anyOf`/`oneOf`.
    fn multi_kind(&mut self, view: &View<'a>) -> Option<FieldKind> {
        let items = self.view(view.get("items")?, &view.trail);
        if items.opaque {
            return None;
        }
        let options = items.choices("enum", "enumNames").or_else(|| items.constants())?;
        self.affords(&options).then_some(())?;
        Some(FieldKind::MultiChoice { options, min: view.count("minItems"), max: view.count("maxItems") })
    }
}

/// Whether the unions were unfolded into the layers (one member beside `null`) or say nothing about the value's type.
fn is_plain_union(view: &View<'_>) -> bool {
    let unions = view.layers.iter().flat_map(|layer| [layer.get("anyOf"), layer.get("oneOf")]);
    unions.flatten().filter_map(Value::as_array).all(|members| {
        let says_little = |m: &Value| m.as_object().is_some_and(|m| m.keys().all(|k| k == "required" || k == "title"));
        members.iter().filter(|member| !is_null(member)).count() <= 1 || members.iter().all(says_little)
    })
}

fn allows_null(types: Option<&Value>) -> bool {
    types.and_then(Value::as_array).is_some_and(|types| types.iter().any(|t| t == "null"))
}

/// `#`, `#/$defs/x`: a JSON pointer (RFC 6901) into the same document, percent-decoded as far as plain names need it.
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer).or_else(|| root.pointer(&super::prepare::percent_decoded(pointer)))
}

fn text_kind(name: &str, view: &View<'_>) -> FieldKind {
    let format = match view.get("format").and_then(Value::as_str) {
        Some("email") => Some(TextFormat::Email),
        Some("uri") => Some(TextFormat::Uri),
        Some("date") => Some(TextFormat::Date),
        Some("date-time") => Some(TextFormat::DateTime),
        _ => None,
    };
    FieldKind::Text {
        min_length: view.count("minLength"),
        max_length: view.count("maxLength"),
        pattern: view.text("pattern"),
        format,
        multiline: format.is_none() && is_multiline(name, view),
    }
}

/// Names under which tools take files, patches and programs. A short limit says otherwise.
fn is_multiline(name: &str, view: &View<'_>) -> bool {
    const NAMES: [&str; 16] = [
        "content",
        "contents",
        "file_text",
        "body",
        "code",
        "source",
        "script",
        "diff",
        "patch",
        "markdown",
        "html",
        "old_string",
        "new_string",
        "old_text",
        "new_text",
        "text_content",
    ];
    let short = view.count("maxLength").is_some_and(|max| max <= 200);
    !short && (NAMES.contains(&name) || view.has(&["contentMediaType"]))
}

fn number_kind(integer: bool, view: &View<'_>) -> FieldKind {
    let exclusive = |key: &str, step: f64| {
        let limit = view.number(key)?;
        if !integer {
            return Some(limit);
        }
        Some(if step > 0.0 { limit.floor() + 1.0 } else { limit.ceil() - 1.0 })
    };
    let tighter = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| match (a, b) {
        (Some(a), Some(b)) => Some(pick(a, b)),
        (a, b) => a.or(b),
    };
    FieldKind::Number {
        integer,
        min: tighter(view.number("minimum"), exclusive("exclusiveMinimum", 1.0), f64::max),
        max: tighter(view.number("maximum"), exclusive("exclusiveMaximum", -1.0), f64::min),
    }
}

/// Whether a default is of the field's type. Its limits are not looked at: the user sees what is wrong and corrects it.
fn fits(kind: &FieldKind, value: &Value) -> bool {
    match kind {
        FieldKind::Text { .. } => value.is_string(),
        FieldKind::Number { integer, .. } => value.as_f64().is_some_and(|f| !integer || f.fract() == 0.0),
        FieldKind::Boolean => value.is_boolean(),
        FieldKind::Choice { options } => options.iter().any(|option| option.value == *value),
        FieldKind::MultiChoice { options, .. } => value
            .as_array()
            .is_some_and(|chosen| chosen.iter().all(|v| options.iter().any(|option| option.value == *v))),
        FieldKind::Object { .. } => value.is_object(),
        FieldKind::Json { .. } => true,
    }
}

#[cfg(test)]
mod tests;
