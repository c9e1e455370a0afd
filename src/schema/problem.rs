//! What is wrong with a value, in words that let a model correct its call.
//!
//! Owns: turning the validator's errors into a path and a sentence. The text is for the model (and for the user's details view), so it is plain
//! English. Long values are shortened: the model knows what it wrote.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::{Map, Value};
use std::fmt::{self, Write as _};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where: `filters[0].name`; empty for the whole value. A missing or unknown property is named itself.
    pub path: String,
    /// What is wrong and what is expected, without the path.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "the value {}", self.message)
        } else {
            write!(f, "`{}` {}", self.path, self.message)
        }
    }
}

/// Characters of a value that are quoted back.
const QUOTE: usize = 60;
/// Allowed values and names that are listed.
const LISTED: usize = 20;

/// The problems of one error: several where it names several properties.
pub(super) fn problems(error: &ValidationError<'_>, schema: &Value) -> Vec<Problem> {
    let path = dotted(error.instance_path());
    let one = |path: String, message: String| vec![Problem { path, message }];
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            one(inside(&path, property.as_str().unwrap_or_default()), "is required but missing".to_owned())
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let known = known_properties(error.schema_path(), schema);
            unexpected
                .iter()
                .map(|name| Problem { path: inside(&path, name), message: unknown(name, &known) })
                .collect()
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            branches(&path, error, context, schema)
        }
        _ => one(path, sentence(error)),
    }
}

fn sentence(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as K;
    let got = || format!("got {}", described(error.instance()));
    match error.kind() {
        K::Type { kind } => format!("must be {}, {}", types(kind), got()),
        K::Enum { options } => {
            format!("must be one of {}; {}", listed(options.as_array().map(Vec::as_slice).unwrap_or_default()), got())
        }
        K::Constant { expected_value } => format!("must be {}, {}", quoted(expected_value), got()),
        K::Minimum { limit } => format!("must be at least {limit}, {}", got()),
        K::Maximum { limit } => format!("must be at most {limit}, {}", got()),
        K::ExclusiveMinimum { limit } => format!("must be greater than {limit}, {}", got()),
        K::ExclusiveMaximum { limit } => format!("must be less than {limit}, {}", got()),
        K::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}, {}", got()),
        K::MinLength { limit } => format!("must have at least {limit} characters, {}", got()),
        K::MaxLength { limit } => format!("must have at most {limit} characters, {}", got()),
        K::Pattern { pattern } => format!("must match the pattern {pattern}, {}", got()),
        K::MinItems { limit } => format!("must have at least {limit} items, has {}", size(error.instance())),
        K::MaxItems { limit } => format!("must have at most {limit} items, has {}", size(error.instance())),
        K::MinProperties { limit } => format!("must have at least {limit} properties, has {}", size(error.instance())),
        K::MaxProperties { limit } => format!("must have at most {limit} properties, has {}", size(error.instance())),
        K::UniqueItems => "must not hold the same item twice".to_owned(),
        K::FalseSchema => "is not allowed here".to_owned(),
        K::OneOfMultipleValid { .. } => "matches more than one of the allowed forms; exactly one must match".to_owned(),
        _ => shortened(&error.to_string(), 4 * QUOTE),
    }
}

/// `anyOf` and `oneOf`: the form that the value comes closest to says what is wrong with it.
fn branches(
    path: &str,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    schema: &Value,
) -> Vec<Problem> {
    let here = error.instance_path().as_str();
    let is_type_here = |e: &ValidationError<'_>| {
        matches!(e.kind(), ValidationErrorKind::Type { .. }) && e.instance_path().as_str() == here
    };
    // A form of another type altogether was not meant.
    let meant = context.iter().filter(|errors| !errors.iter().any(is_type_here)).min_by_key(|errors| errors.len());
    if let Some(errors) = meant {
        return errors.iter().flat_map(|error| problems(error, schema)).collect();
    }
    let mut expected: Vec<String> = Vec::new();
    for kind in context.iter().flatten().filter(|e| is_type_here(e)).map(ValidationError::kind) {
        if let ValidationErrorKind::Type { kind } = kind
            && !expected.contains(&types(kind))
        {
            expected.push(types(kind));
        }
    }
    let message = format!("must be {}, got {}", expected.join(" or "), described(error.instance()));
    vec![Problem { path: path.to_owned(), message }]
}

/// Names of the properties that stand beside the keyword at a place of the schema.
fn known_properties(at: &Location, schema: &Value) -> Vec<String> {
    let parent = at.as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema.pointer(parent).and_then(|s| s.get("properties")).and_then(Value::as_object);
    properties.map(Map::keys).into_iter().flatten().cloned().collect()
}

fn unknown(name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return "is not a known property".to_owned();
    }
    let near = |a: &str, b: &str| strsim::jaro_winkler(&a.to_lowercase(), &b.to_lowercase());
    let best =
        known.iter().map(|k| (near(name, k), k)).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score > 0.8);
    if let Some((_, guess)) = best {
        return format!("is not a known property; did you mean `{guess}`?");
    }
    let names: Vec<String> = known.iter().take(LISTED).map(|k| format!("`{k}`")).collect();
    format!("is not a known property; known are {}", names.join(", "))
}

fn types(kind: &TypeKind) -> String {
    let name = |json_type: &str| match json_type {
        "integer" => "an integer".to_owned(),
        "array" => "an array".to_owned(),
        "object" => "an object".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    match kind {
        TypeKind::Single(one) => name(&one.to_string()),
        TypeKind::Multiple(many) => many.iter().map(|one| name(&one.to_string())).collect::<Vec<_>>().join(" or "),
    }
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(_) => format!("the string {}", quoted(value)),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(map) => format!("an object with {} properties", map.len()),
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    }
}

fn listed(options: &[Value]) -> String {
    let mut out: Vec<String> = options.iter().take(LISTED).map(quoted).collect();
    if options.len() > LISTED {
        out.push(format!("… ({} in all)", options.len()));
    }
    out.join(", ")
}

fn quoted(value: &Value) -> String {
    shortened(&value.to_string(), QUOTE)
}

fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A pointer as a path: `filters[0].name`, `headers["x-y"]`.
fn dotted(location: &Location) -> String {
    let mut out = String::new();
    for segment in location {
        match segment {
            LocationSegment::Index(at) => {
                let _ = write!(out, "[{at}]");
            }
            LocationSegment::Property(name) => out = inside(&out, &name),
        }
    }
    out
}

fn inside(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    match (plain, path.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{path}.{name}"),
        (false, _) => format!("{path}[{}]", Value::String(name.to_owned())),
    }
}
