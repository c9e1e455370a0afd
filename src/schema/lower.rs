//! A tool's schema in the keywords that a provider accepts.
//!
//! Owns: the subsets ([`Subset`]), lowering a schema to one of them, and the list of what was lost on the way. What a keyword demanded that the
//! subset cannot say is said in words, in the description, so that the model still knows it. Does not validate: arguments are always checked
//! against the schema as the server gave it.
//!
//! **Invariants:** the same schema gives the same bytes; the result has no `$ref` unless the subset allows it; the walk is bounded by [`DEPTH`] and
//! [`NODES`], whatever a server sends.

mod top;
mod walk;
mod words;

use serde_json::{Map, Value, json};

/// Levels of a schema that are lowered.
pub const DEPTH: usize = 24;
/// Schemas within a schema that are lowered.
pub const NODES: usize = 4_000;
/// Losses that are listed: a hostile schema must not fill memory with them.
const REPORTS: usize = 50;

/// What a provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subset {
    /// JSON Schema whose top is a plain object without unions (OpenAI's functions).
    Object,
    /// The same, with names of properties of `[A-Za-z0-9_.-]{1,64}` (Anthropic's tools).
    NamedObject,
    /// `type`, `description`, `enum`, `items`, `properties`, `required` and `anyOf`, no references and no boolean schemas (Ollama's tools).
    Plain,
    /// The `Schema` of the Gemini API: a part of OpenAPI 3.0.
    OpenApi,
}

/// Something of a schema that its provider is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// JSON pointer into the schema.
    pub at: String,
    /// The keyword that was left out or weakened.
    pub keyword: String,
    /// Whether the model is told of it all the same.
    pub told: Told,
}

/// What becomes of a demand that a subset cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It stands in the description.
    InWords,
    /// It is lost to the model.
    Nowhere,
}

/// A schema for a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The schema. For [`Subset::OpenApi`] an object without properties is an object without the keyword.
    pub schema: Value,
    /// What was lost, in the order of the walk.
    pub losses: Vec<Loss>,
}

/// Lowers a schema of arguments. The result is always the schema of an object.
pub fn lower(schema: &Value, subset: Subset) -> Lowered {
    let mut losses = Losses::default();
    let schema = match subset {
        Subset::Object | Subset::NamedObject => top::lower(schema, subset, &mut losses),
        Subset::Plain | Subset::OpenApi => walk::lower(schema, subset, &mut losses),
    };
    Lowered { schema, losses: losses.0 }
}

/// The losses so far.
#[derive(Default)]
struct Losses(Vec<Loss>);

impl Losses {
    fn add(&mut self, at: &str, keyword: &str) {
        self.push(at, keyword, Told::Nowhere);
    }

    fn add_worded(&mut self, at: &str, keyword: &str) {
        self.push(at, keyword, Told::InWords);
    }

    fn push(&mut self, at: &str, keyword: &str, told: Told) {
        if self.0.len() < REPORTS {
            self.0.push(Loss { at: at.to_owned(), keyword: keyword.to_owned(), told });
        }
    }
}

/// `at/key`, as a JSON pointer (RFC 6901).
fn below(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A free object.
fn object() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!("object"))])
}

#[cfg(test)]
mod tests;
