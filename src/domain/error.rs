//! Notices and the phrases they are written in.
//!
//! A layer below the screen never writes interface text: it names a *phrase* of the catalogue (`assets/strings/`)
//! and gives its arguments; whoever shows it renders it in the user's language.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A key of the string catalogue with its arguments. `{name}` in the catalogue's text is replaced by the argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Phrase {
    /// Key in `assets/strings/*.toml`, dotted: `server.exited`.
    pub key: Cow<'static, str>,
    /// Argument names and values, in any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<(Cow<'static, str>, String)>,
}

impl Phrase {
    /// A phrase without arguments.
    pub const fn new(key: &'static str) -> Self {
        Self { key: Cow::Borrowed(key), args: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.args.push((Cow::Borrowed(name), value.to_string()));
        self
    }

    /// Text that comes from outside (an error of the system, of a server), shown as it is.
    pub fn literal(text: impl Into<String>) -> Self {
        Self { key: Cow::Borrowed("literal"), args: vec![(Cow::Borrowed("text"), text.into())] }
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Worth knowing.
    Info,
    /// Something was ignored or degraded; the work goes on.
    Warning,
    /// Something failed.
    Error,
}

/// Something the user should read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: Phrase,
}

impl Notice {
    /// A notice that something was ignored or degraded.
    pub const fn warning(text: Phrase) -> Self {
        Self { level: Level::Warning, text }
    }

    /// A notice that is only worth knowing.
    pub const fn info(text: Phrase) -> Self {
        Self { level: Level::Info, text }
    }

    /// A notice that something failed.
    pub const fn error(text: Phrase) -> Self {
        Self { level: Level::Error, text }
    }
}
