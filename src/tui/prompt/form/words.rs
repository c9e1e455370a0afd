//! What a form says: errors, limits and hints, in the user's language.

use super::field::Control;
use super::tree::Entry;
use crate::domain::form::check::{text_of, unchecked_pattern};
use crate::domain::form::says::{number, short};
use crate::domain::form::{Field, FieldError, FieldKind, TextFormat};
use crate::tui::look::Look;
use crate::tui::prompt::glyph::glyphs;
use serde_json::Value;
use std::io::{self, Write};

/// Longest help of a field, bytes.
const HELP: usize = 2_000;

/// The beginning of a value's JSON text. Costs what it returns, not what the value holds.
fn head(value: &Value) -> String {
    struct Head(Vec<u8>);
    impl Write for Head {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            if self.0.len() > HELP { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut head = Head(Vec::new());
    if serde_json::to_writer(&mut head, value).is_ok() {
        return String::from_utf8_lossy(&head.0).into_owned();
    }
    let text = String::from_utf8_lossy(&head.0[..HELP]);
    format!("{}…", text.trim_end_matches('\u{fffd}'))
}

/// What is wrong.
pub(in crate::tui) fn error(error: &FieldError, look: &Look<'_>) -> String {
    look.strings.render(&error.phrase())
}

/// The limits of a choice of several, for its label: `1–2`.
fn count_range(field: &Field, look: &Look<'_>) -> Option<String> {
    let FieldKind::MultiChoice { min, max, .. } = field.kind else { return None };
    let dash = glyphs(look).dash;
    match (min.filter(|min| *min > 0), max) {
        (Some(min), Some(max)) if min == max => Some(min.to_string()),
        (Some(min), Some(max)) => Some(format!("{min}{dash}{max}")),
        (Some(min), None) => Some(look.strings.fill("form.hint.at_least", &[("limit", &min.to_string())])),
        (None, Some(max)) => Some(look.strings.fill("form.hint.at_most", &[("limit", &max.to_string())])),
        (None, None) => None,
    }
}

/// The label of a field: title, limits, and a mark if an answer needs it.
pub(super) fn label(field: &Field, look: &Look<'_>) -> String {
    let mut label = short(field.label());
    if label.is_empty() {
        look.strings.get("form.value").clone_into(&mut label);
    }
    if let Some(range) = count_range(field, look) {
        label = format!("{label} ({range})");
    }
    if field.required {
        label.push_str(" *");
    }
    label
}

/// What a field takes, in a few words; empty where anything goes.
pub(super) fn hint(entry: &Entry, look: &Look<'_>) -> String {
    let mut parts = Vec::new();
    match &entry.field.kind {
        FieldKind::Text { min_length, max_length, format, pattern, .. } => {
            if let Some(format) = format {
                parts.push(look.strings.get(format_hint(*format)).to_owned());
            }
            if let Some(range) =
                range(min_length.filter(|n| *n > 0).map(|n| n.to_string()), max_length.map(|n| n.to_string()), look)
            {
                parts.push(look.strings.fill("form.hint.characters", &[("range", &range)]));
            }
            if let Some(pattern) = pattern {
                let key = if unchecked_pattern(&entry.field).is_some() {
                    "form.hint.pattern_unchecked"
                } else {
                    "form.hint.pattern"
                };
                parts.push(look.strings.fill(key, &[("pattern", &short(pattern))]));
            }
        }
        FieldKind::Number { integer, min, max } => match range(min.map(number), max.map(number), look) {
            Some(range) => parts.push(range),
            None if *integer => parts.push(look.strings.get("form.hint.integer").to_owned()),
            None => {}
        },
        FieldKind::Json { .. } => parts.push("JSON".to_owned()),
        FieldKind::Object { .. } if !entry.is_group() => parts.push("JSON".to_owned()),
        FieldKind::Boolean | FieldKind::Choice { .. } | FieldKind::MultiChoice { .. } | FieldKind::Object { .. } => {}
    }
    if let Some(default) = absent_default(entry) {
        parts.push(look.strings.fill("form.hint.default", &[("value", &default)]));
    }
    parts.join(glyphs(look).dot)
}

/// The default of a field that is empty and will stay out of the answer.
fn absent_default(entry: &Entry) -> Option<String> {
    let default = entry.field.default.as_ref().filter(|default| !default.is_null())?;
    let empty = entry.control.is_empty() && !matches!(entry.control, Control::Group(_));
    let text = short(&text_of(default));
    (empty && !text.is_empty()).then_some(text)
}

fn range(min: Option<String>, max: Option<String>, look: &Look<'_>) -> Option<String> {
    match (min, max) {
        (Some(min), Some(max)) => Some(format!("{min} {} {max}", glyphs(look).dash)),
        (Some(min), None) => Some(look.strings.fill("form.hint.at_least", &[("limit", &min)])),
        (None, Some(max)) => Some(look.strings.fill("form.hint.at_most", &[("limit", &max)])),
        (None, None) => None,
    }
}

fn format_hint(format: TextFormat) -> &'static str {
    match format {
        TextFormat::Email => "form.hint.email",
        TextFormat::Uri => "form.hint.uri",
        TextFormat::Date => "form.hint.date",
        TextFormat::DateTime => "form.hint.date_time",
    }
}

/// What the focused field is about: its description; for raw JSON without one, its schema.
pub(super) fn help(entry: &Entry) -> String {
    let description = entry.field.description.as_deref().unwrap_or("").trim();
    match &entry.field.kind {
        FieldKind::Json { schema } if description.is_empty() => head(schema),
        _ => description.to_owned(),
    }
}
