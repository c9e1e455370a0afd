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

use super::view::{View, choice, resolve};
use crate::domain::form::{Choice, Field, FieldKind, Form, TextFormat};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Levels of nested objects that become fields.
pub const DEPTH: usize = 6;
/// Fields of a form, inner ones counted.
pub const FIELDS: usize = 400;
/// Choices of a form, all fields counted.
pub const CHOICES: usize = 20_000;

/// The form of a schema.
pub fn form(schema: &Value) -> Form {
    let mut builder = Builder { root: schema, fields_left: FIELDS, choices_left: CHOICES, helps: HashMap::new() };
    let view = View::new(schema, schema, &[]);
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

impl<'a> Builder<'a> {
    /// Fields of an object's properties; `None` when there are more than a form can hold.
    fn fields(&mut self, view: &View<'a>, depth: usize) -> Option<Vec<Field>> {
        let properties = view.properties();
        let required = view.required();
        let undeclared = view.undeclared(&properties);
        self.fields_left = self.fields_left.checked_sub(properties.len() + undeclared.len())?;
        let mut fields: Vec<Field> = Vec::with_capacity(properties.len());
        for (name, schema) in properties {
            let inner = View::new(self.root, schema, &view.trail);
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
        if view.has(&["oneOf", "anyOf"]) && !view.is_plain_union() {
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
        let items = View::new(self.root, view.get("items")?, &view.trail);
        if items.opaque {
            return None;
        }
        let options = items.choices("enum", "enumNames").or_else(|| items.constants())?;
        self.affords(&options).then_some(())?;
        Some(FieldKind::MultiChoice { options, min: view.count("minItems"), max: view.count("maxItems") })
    }
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
