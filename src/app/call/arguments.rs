//! The arguments of a call: what was given, what is missing, and the form that asks for it.
//!
//! **Invariant:** nothing is called with arguments that the tool's schema refuses.

use super::Nothing;
use super::asks::solo;
use crate::app::USAGE;
use crate::app::fleet::status_of;
use crate::app::ground::Ground;
use crate::cli::paper::{Ink, Piece, plain};
use crate::domain::form::{FieldError, Form};
use crate::domain::{Phrase, ToolSpec};
use crate::schema::{self, Problem, Validator};
use crate::tui::solo::End;
use serde_json::{Map, Value};
use std::io::{self, IsTerminal as _, Read as _};

/// Most characters of a description that are shown.
const ABOUT: usize = 80;

/// The arguments on the command line; `-` reads standard input. `None` where there are none.
pub(super) fn given(text: Option<&str>) -> Result<Option<Map<String, Value>>, Phrase> {
    let bad = |problem: String| Phrase::new("call.bad_json").with("problem", problem);
    let text = match text {
        None => return Ok(None),
        Some("-") => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text).map_err(|error| bad(error.to_string()))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok(Some(arguments)),
        Ok(_) => Err(Phrase::new("call.no_object")),
        Err(error) => Err(bad(error.to_string())),
    }
}

/// Arguments that the schema accepts: as given, or filled in by somebody at a terminal.
pub(super) async fn complete(
    ground: &Ground,
    spec: &ToolSpec,
    given: Option<Map<String, Value>>,
) -> Result<Map<String, Value>, Nothing> {
    let validator = Validator::new(&spec.input_schema);
    let arguments = given.unwrap_or_default();
    let problems = validator.validate(&Value::Object(arguments.clone()));
    if problems.is_empty() {
        return Ok(arguments);
    }
    let form = schema::form(&spec.input_schema);
    if !is_interactive(ground) || form.fields.is_empty() {
        explain(ground, spec, &problems);
        return Err((Some(Phrase::new("call.invalid").with("tool", &spec.id)), USAGE));
    }
    let title = ground.strings.fill("layer.run_title", &[("tool", &spec.id.to_string())]);
    let check = |values: &Map<String, Value>| at_fields(&validator.validate(&Value::Object(values.clone())));
    // What is only missing needs no reproach before the user has seen the form.
    let wrong: Vec<Problem> = problems.into_iter().filter(|problem| holds(&arguments, &problem.path)).collect();
    let shown = at_fields(&wrong);
    let values = form.values_of(&Value::Object(arguments.clone()));
    match solo(ground).fill(&title, (form, &values), &shown, &check).await {
        Ok(End::Values(values)) => Ok(values),
        Ok(End::Stopped(number)) => Err((None, status_of(number))),
        Ok(_) => Err((Some(Phrase::new("call.not_called").with("tool", &spec.id)), 130)),
        Err(error) => Err((Some(Phrase::literal(error.to_string())), 1)),
    }
}

/// Whether somebody can be asked.
pub(super) fn is_interactive(ground: &Ground) -> bool {
    let around = &ground.loaded.config.surroundings;
    let seen = io::stdout().is_terminal() || io::stderr().is_terminal();
    io::stdin().is_terminal() && seen && !around.dumb
}

fn holds(arguments: &Map<String, Value>, path: &str) -> bool {
    arguments.contains_key(path.split(['.', '[']).next().unwrap_or_default())
}

/// Problems at the fields that they are about.
pub(super) fn at_fields(problems: &[Problem]) -> Vec<(String, FieldError)> {
    let field = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    problems.iter().map(|p| (field(&p.path), FieldError::Schema { problem: p.message.clone() })).collect()
}

/// What is wrong, and what the tool takes: names, types, which are needed.
fn explain(ground: &Ground, spec: &ToolSpec, problems: &[Problem]) {
    let mut paper = ground.aside();
    for problem in problems {
        paper.item(0, (Ink::Bad, "✗".into()), &problem.to_string());
    }
    let rows = takes(&spec.input_schema, ground);
    if !rows.is_empty() {
        paper.line(0, &[(Ink::Dim, ground.strings.fill("call.takes", &[("tool", &spec.id.to_string())]))]);
        paper.table(2, &rows);
    }
    let _ = paper.write(&mut io::stderr().lock());
}

/// The properties of a schema: name, type, whether it is needed, what it is.
fn takes(schema: &Value, ground: &Ground) -> Vec<Vec<Piece>> {
    let form: Form = schema::form(schema);
    let properties = schema.get("properties");
    let row = |field: &crate::domain::form::Field| {
        let kind = properties.and_then(|all| all.get(&field.name)).map(type_of).unwrap_or_default();
        let key = if field.required { "call.needed" } else { "call.optional" };
        let ink = if field.required { Ink::Warn } else { Ink::Dim };
        let about = field.description.as_deref().or(field.title.as_deref()).unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        let about: String = about.chars().take(ABOUT).collect();
        vec![
            (Ink::Strong, field.name.clone()),
            plain(kind),
            (ink, ground.strings.get(key).to_owned()),
            (Ink::Dim, about),
        ]
    };
    form.fields.iter().filter(|field| !field.name.is_empty()).map(row).collect()
}

/// A schema's type as its author would say it.
fn type_of(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().take(8).map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => match schema.get("items").map(type_of) {
            Some(items) if !items.is_empty() => format!("array of {items}"),
            _ => kind.clone(),
        },
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "JSON".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_are_said_as_their_authors_would() {
        for (schema, said) in [
            (json!({ "type": "string" }), "string"),
            (json!({ "enum": ["a", 1] }), "\"a\" | 1"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "array of integer"),
            (json!({ "type": ["string", "null"] }), "string | null"),
            (json!({ "anyOf": [] }), "JSON"),
        ] {
            assert_eq!(type_of(&schema), said);
        }
    }

    #[test]
    fn what_is_given_must_be_an_object() {
        assert_eq!(given(None), Ok(None));
        assert_eq!(given(Some("[]")).unwrap_err().key, "call.no_object");
        assert_eq!(given(Some("{")).unwrap_err().key, "call.bad_json");
        assert_eq!(given(Some("{\"a\":1}")).unwrap().unwrap().len(), 1);
    }
}
