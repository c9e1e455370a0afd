//! What is wrong with a field's value, as a phrase: whoever shows it renders it in the user's language.

use super::{FieldError, TextFormat};
use crate::domain::error::Phrase;

/// Longest name, pattern or default that is shown, in characters. The whole of it counts, whatever is shown.
const SHOWN: usize = 160;

/// The beginning of a text that somebody else may have made as long as they liked.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl FieldError {
    /// What is wrong.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Required => Phrase::new("form.error.required"),
            Self::TooShort { min } => Phrase::new("form.error.too_short").with("limit", min),
            Self::TooLong { max } => Phrase::new("form.error.too_long").with("limit", max),
            Self::Pattern { pattern } => Phrase::new("form.error.pattern").with("pattern", short(pattern)),
            Self::Format { format } => Phrase::new(format_key(*format)),
            Self::NotANumber => Phrase::new("form.error.not_a_number"),
            Self::NotAnInteger => Phrase::new("form.error.not_an_integer"),
            Self::TooSmall { min } => Phrase::new("form.error.too_small").with("limit", number(*min)),
            Self::TooLarge { max } => Phrase::new("form.error.too_large").with("limit", number(*max)),
            Self::TooFew { min } => Phrase::new("form.error.too_few").with("limit", min),
            Self::TooMany { max } => Phrase::new("form.error.too_many").with("limit", max),
            Self::NotJson { problem } => Phrase::new("form.error.not_json").with("problem", problem),
            Self::Schema { problem } => Phrase::new("form.error.schema").with("problem", problem),
        }
    }
}

fn format_key(format: TextFormat) -> &'static str {
    match format {
        TextFormat::Email => "form.error.email",
        TextFormat::Uri => "form.error.uri",
        TextFormat::Date => "form.error.date",
        TextFormat::DateTime => "form.error.date_time",
    }
}

/// A limit as people write it.
pub fn number(value: f64) -> String {
    if value.abs() >= 1e15 { format!("{value:e}") } else { value.to_string() }
}
