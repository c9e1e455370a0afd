//! Forms: what a server (elicitation) or a tool's schema asks the user to fill in, as data.
//!
//! Built by `schema::form`, drawn by `tui::prompt::form`. Checking one field's value is here, so that the form on screen and the
//! agent agree. Source: MCP 2025-11-25 `ElicitRequestFormParams`, `PrimitiveSchemaDefinition`.

pub mod check;
pub mod says;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A form.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Form {
    /// Fields in the server's own order.
    pub fields: Vec<Field>,
}

impl Form {
    /// Whether it stands for a single value that is no object: one field without a name.
    fn is_bare(&self) -> bool {
        matches!(self.fields.as_slice(), [field] if field.name.is_empty())
    }

    /// The value that an answer stands for: the object of its fields, or the value of the only field that has no name.
    pub fn value_of(&self, mut answer: Map<String, Value>) -> Value {
        if self.is_bare() { answer.remove("").unwrap_or(Value::Null) } else { Value::Object(answer) }
    }

    /// The values to begin with for a value: the reverse of [`Self::value_of`]. What does not fit begins empty.
    pub fn values_of(&self, value: &Value) -> Map<String, Value> {
        if self.is_bare() {
            return Map::from_iter([(String::new(), value.clone())]);
        }
        value.as_object().cloned().unwrap_or_default()
    }
}

/// One field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Property name.
    pub name: String,
    /// Title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What to fill in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether an answer needs it.
    pub required: bool,
    /// What it takes.
    pub kind: FieldKind,
    /// Value it starts with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

impl Field {
    /// The title, else the name.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// What a text must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date, RFC 3339 `full-date`.
    Date,
    /// A date with time and offset, RFC 3339 `date-time`.
    DateTime,
}

/// One of several values to choose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The value that is sent.
    pub value: Value,
    /// What is shown; the value itself where the schema has no title.
    pub title: String,
}

/// What a field takes. A kind this version does not know becomes [`FieldKind::Json`]: never a yes/no.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "field", rename_all = "snake_case")]
pub enum FieldKind {
    /// Text.
    Text {
        /// Smallest length in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_length: Option<u64>,
        /// Largest length in characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_length: Option<u64>,
        /// Regular expression it must contain a match of (ECMA-262 as far as Rust's `regex` agrees).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// What it must look like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<TextFormat>,
        /// Whether it is usually several lines (a file's content).
        #[serde(default)]
        multiline: bool,
    },
    /// A number.
    Number {
        /// Whole numbers only.
        integer: bool,
        /// Smallest value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// Largest value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// Exactly one of these.
    Choice {
        /// In the server's order.
        options: Vec<Choice>,
    },
    /// Some of these.
    MultiChoice {
        /// In the server's order.
        options: Vec<Choice>,
        /// Fewest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<u64>,
        /// Most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u64>,
    },
    /// A group of fields (only in tools' schemas).
    Object {
        /// The inner form.
        form: Form,
    },
    /// Anything else, edited as JSON text.
    Json {
        /// The schema of this value, shown as help.
        schema: Arc<Value>,
    },
}

/// What is wrong with a field's value. The screen renders it in the user's language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum FieldError {
    /// It is required.
    Required,
    /// Fewer characters than allowed.
    TooShort {
        /// The limit.
        min: u64,
    },
    /// More characters than allowed.
    TooLong {
        /// The limit.
        max: u64,
    },
    /// Does not match the pattern.
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// Is not of the format.
    Format {
        /// The format.
        format: TextFormat,
    },
    /// Is not a number.
    NotANumber,
    /// Is not a whole number.
    NotAnInteger,
    /// Too small.
    TooSmall {
        /// The limit.
        min: f64,
    },
    /// Too large.
    TooLarge {
        /// The limit.
        max: f64,
    },
    /// Fewer choices than allowed.
    TooFew {
        /// The limit.
        min: u64,
    },
    /// More choices than allowed.
    TooMany {
        /// The limit.
        max: u64,
    },
    /// Not JSON.
    NotJson {
        /// What is wrong, with the position.
        problem: String,
    },
    /// Anything else that the whole schema says.
    Schema {
        /// What the validator says.
        problem: String,
    },
}
