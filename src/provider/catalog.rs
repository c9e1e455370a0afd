//! The catalogue of known endpoints, and how one of them is opened.
//!
//! Owns: `assets/providers.toml`, the user's tables laid over it, names and near names, [`open`].
//! Does not: read the environment or files (keys and tables come in as arguments), or send anything.

use super::Provider;
use super::demo::Demo;
use super::endpoint::Endpoint;
use super::reply::Limits;
use super::transport::Tap;
use super::wire::{self, Quirks};
use crate::domain::{Notice, Phrase};
use crate::redact::{Redactor, Secret};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

const BUILT_IN: &str = include_str!("../../assets/providers.toml");

/// What is set for one model of a provider; fields that are not set are the provider's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelEntry {
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Limit of tokens in a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Context size in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// It has function calling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub native_tools: Option<bool>,
    /// It reads pictures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Further fields for the body.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// One endpoint. The fields are those of `assets/providers.toml`, explained there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    /// The name in `provider:model`: the table's name.
    #[serde(skip)]
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Base URL.
    pub base_url: String,
    /// Wire format.
    pub wire: String,
    /// Variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Requests without a key are not even sent.
    pub needs_key: bool,
    /// Looked for on loopback when nothing is configured.
    pub probe: bool,
    /// A model to propose to someone who has only the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<String>,
    /// It has function calling.
    pub native_tools: bool,
    /// Context size in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// Sampling temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Limit of tokens in a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// For people.
    pub notes: String,
    /// Further headers.
    pub headers: BTreeMap<String, String>,
    /// Further fields for the body.
    pub extra: Map<String, Value>,
    /// In what it differs from others.
    pub quirks: Quirks,
    /// What is set for single models.
    pub models: BTreeMap<String, ModelEntry>,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            name: String::new(),
            title: String::new(),
            base_url: String::new(),
            wire: "openai_chat".to_owned(),
            key_env: None,
            needs_key: false,
            probe: false,
            suggested: None,
            native_tools: true,
            context: None,
            temperature: None,
            max_tokens: None,
            notes: String::new(),
            headers: BTreeMap::new(),
            extra: Map::new(),
            quirks: Quirks::default(),
            models: BTreeMap::new(),
        }
    }
}

/// A model that cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No provider has that name.
    #[error("no provider is called \"{name}\"{}", near_text(.near))]
    UnknownProvider {
        /// What was asked for.
        name: String,
        /// Names that are near to it, nearest first.
        near: Vec<String>,
        /// All names.
        known: Vec<String>,
    },
    /// Only a provider was named.
    #[error("\"{provider}\" names a provider but no model; write {provider}:MODEL")]
    NoModel {
        /// Which provider.
        provider: String,
    },
    /// The entry names a wire format that this version does not speak.
    #[error("the provider \"{provider}\" speaks \"{wire}\", which is not known here")]
    UnknownWire {
        /// Which provider.
        provider: String,
        /// What it speaks.
        wire: String,
    },
}

impl OpenError {
    /// The error for the screen.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::UnknownProvider { name, near, known } if near.is_empty() => {
                Phrase::new("model.unknown_provider").with("name", name).with("known", known.join(", "))
            }
            Self::UnknownProvider { name, near, .. } => {
                Phrase::new("model.unknown_provider_near").with("name", name).with("near", near.join(", "))
            }
            Self::NoModel { provider } => Phrase::new("model.no_model").with("provider", provider),
            Self::UnknownWire { provider, wire } => {
                Phrase::new("model.unknown_wire").with("provider", provider).with("wire", wire)
            }
        }
    }
}

fn near_text(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// All endpoints, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Catalog {
    entries: BTreeMap<String, Entry>,
}

impl Catalog {
    /// The built-in entries. A test holds `assets/providers.toml` free of warnings.
    pub fn built_in() -> Self {
        let mut catalog = Self::default();
        for (name, table) in BUILT_IN.parse::<toml::Table>().unwrap_or_default() {
            if let toml::Value::Table(table) = table {
                catalog.overlay(&name, &table);
            }
        }
        catalog
    }

    /// Lays a user's table over the entry of that name, field by field, or makes a new one. A bad field is left out with a warning; it never
    /// costs the others.
    pub fn overlay(&mut self, name: &str, table: &toml::Table) -> Vec<Notice> {
        let before = self.entries.get(name).cloned().unwrap_or_default();
        let mut warnings = Vec::new();
        let mut entry = before;
        lay(&mut entry, &mut Vec::new(), table, &mut |field, problem| {
            let text = Phrase::new("model.entry_field");
            warnings.push(Notice::warning(
                text.with("provider", name).with("field", field.join(".")).with("problem", problem),
            ));
        });
        name.clone_into(&mut entry.name);
        if entry.title.is_empty() {
            name.clone_into(&mut entry.title);
        }
        if wire::find(&entry.wire).is_none() {
            let text = Phrase::new("model.unknown_wire").with("provider", name).with("wire", &entry.wire);
            warnings.push(Notice::warning(text));
        }
        if entry.base_url.is_empty() {
            warnings.push(Notice::warning(Phrase::new("model.no_base_url").with("provider", name)));
        }
        self.entries.insert(name.to_owned(), entry);
        warnings
    }

    /// Every entry, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The entry of that name.
    pub fn find(&self, name: &str) -> Result<&Entry, OpenError> {
        self.entries.get(name).ok_or_else(|| OpenError::UnknownProvider {
            name: name.to_owned(),
            near: self.near(name),
            known: self.entries.keys().cloned().collect(),
        })
    }

    /// Opens `provider:model`, or the scripted model for `demo`.
    pub fn open(&self, full_name: &str, options: &OpenOptions) -> Result<Arc<dyn Provider>, OpenError> {
        let (provider, model) = split(full_name);
        if provider == "demo" {
            return Ok(Arc::new(Demo::default()));
        }
        let entry = self.find(provider)?;
        if model.is_empty() {
            return Err(OpenError::NoModel { provider: provider.to_owned() });
        }
        open(entry, model, options)
    }

    fn near(&self, name: &str) -> Vec<String> {
        let name = name.to_lowercase();
        let mut scored: Vec<(f64, &str)> = self
            .entries
            .keys()
            .map(|known| (strsim::jaro_winkler(&name, known), known.as_str()))
            .filter(|(score, _)| *score > 0.75)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
    }
}

/// Lays each leaf of `table` over `entry`; one that does not fit is reported and left out.
fn lay(entry: &mut Entry, path: &mut Vec<String>, table: &toml::Table, bad: &mut impl FnMut(&[String], &str)) {
    for (key, value) in table {
        path.push(key.clone());
        match value {
            toml::Value::Table(inner) => lay(entry, path, inner, bad),
            leaf => {
                if let Err(problem) = place(entry, path, leaf) {
                    bad(path, &problem);
                }
            }
        }
        path.pop();
    }
}

fn place(entry: &mut Entry, path: &[String], leaf: &toml::Value) -> Result<(), String> {
    let mut whole = toml::Table::try_from(&*entry).map_err(|error| error.to_string())?;
    // A path is never empty.
    let Some((last, parents)) = path.split_last() else { return Ok(()) };
    let mut at = &mut whole;
    for parent in parents {
        let inner = at.entry(parent.clone()).or_insert_with(|| toml::Table::new().into());
        at = inner.as_table_mut().ok_or_else(|| format!("`{parent}` is not a table"))?;
    }
    at.insert(last.clone(), leaf.clone());
    let changed: Entry = whole.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
    *entry = Entry { name: std::mem::take(&mut entry.name), ..changed };
    Ok(())
}

/// `provider:model` in two; the model's name may hold colons itself. Without a colon the model is empty.
pub fn split(full_name: &str) -> (&str, &str) {
    full_name.split_once(':').unwrap_or((full_name, ""))
}

/// What the settings and the command line say about a model.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// Instead of the entry's. The entry's key is then no longer demanded.
    pub base_url: Option<String>,
    /// The key, read from the entry's variable (or the one that the user named).
    pub api_key: Option<Secret>,
    /// The variable that the user named instead of the entry's, for the message about a missing key.
    pub key_env: Option<String>,
    /// Sampling temperature, instead of the entry's.
    pub temperature: Option<f64>,
    /// Limit of tokens in a reply, instead of the entry's.
    pub max_tokens: Option<u32>,
    /// How long to wait.
    pub limits: Limits,
    /// Learns the key, and masks what errors say.
    pub redactor: Redactor,
    /// Sees the bytes of every request and reply.
    pub tap: Option<Arc<dyn Tap>>,
}

/// Opens a model of an endpoint. A missing key or a bad address fails the first request, not this.
pub fn open(entry: &Entry, model: &str, options: &OpenOptions) -> Result<Arc<dyn Provider>, OpenError> {
    let wire = wire::find(&entry.wire)
        .ok_or_else(|| OpenError::UnknownWire { provider: entry.name.clone(), wire: entry.wire.clone() })?;
    if let Some(key) = &options.api_key {
        options.redactor.register_secret(key);
    }
    Ok(Arc::new(Endpoint::new(entry, model, wire, options)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> toml::Table {
        text.parse().unwrap()
    }

    #[test]
    fn built_in_entries_are_whole() {
        let mut catalog = Catalog::default();
        for (name, value) in table(BUILT_IN) {
            assert_eq!(catalog.overlay(&name, value.as_table().unwrap()), [], "{name}");
        }
        assert_eq!(catalog, Catalog::built_in());
        for name in [
            "openai",
            "openai-responses",
            "anthropic",
            "gemini",
            "openrouter",
            "deepseek",
            "mistral",
            "groq",
            "xai",
            "together",
            "ollama",
            "lmstudio",
            "llamacpp",
            "vllm",
        ] {
            let entry = catalog.find(name).unwrap();
            assert!(entry.name == name && entry.base_url.starts_with("http") && !entry.title.is_empty());
            assert!(!entry.needs_key || entry.key_env.is_some(), "{name} needs a key from nowhere");
        }
        assert!(catalog.find("deepseek").unwrap().quirks.reasoning_back);
        let spoken: std::collections::BTreeSet<&str> = catalog.iter().map(|entry| entry.wire.as_str()).collect();
        assert_eq!(spoken, wire::names().collect(), "every format has an entry");
        assert_eq!(catalog.iter().filter(|entry| entry.probe).count(), 3);
    }

    #[test]
    fn a_users_table_is_laid_over_field_by_field() {
        let mut catalog = Catalog::built_in();
        let user = table(
            r#"
            base_url = "http://10.0.0.1/v1"
            needs_key = "no"
            colour = 3
            [quirks]
            max_stop = 2
            [models."a.b:c"]
            temperature = 0.5
            "#,
        );
        let warnings = catalog.overlay("openai", &user);
        let fields: Vec<&str> = warnings.iter().map(|w| w.text.args[1].1.as_str()).collect();
        assert_eq!(fields, ["colour", "needs_key"]);
        let entry = catalog.find("openai").unwrap();
        assert_eq!((entry.base_url.as_str(), entry.needs_key, entry.quirks.max_stop), ("http://10.0.0.1/v1", true, 2));
        assert_eq!(entry.quirks.limit_field, wire::LimitField::MaxCompletionTokens);
        assert_eq!(entry.models["a.b:c"].temperature, Some(0.5));

        let warnings = catalog.overlay("mine", &table("wire = 'carrier_pigeon'"));
        let keys: Vec<&str> = warnings.iter().map(|w| &*w.text.key).collect();
        assert_eq!(keys, ["model.unknown_wire", "model.no_base_url"]);
    }

    #[test]
    fn unknown_names_get_a_guess() {
        let catalog = Catalog::built_in();
        let refused = |name: &str| catalog.open(name, &OpenOptions::default()).err().unwrap();
        assert_eq!(refused("opneai:gpt").to_string(), "no provider is called \"opneai\"; did you mean openai?");
        assert_eq!(&*refused("opneai:gpt").phrase().key, "model.unknown_provider_near");
        assert_eq!(&*refused("qqq:x").phrase().key, "model.unknown_provider");
        assert_eq!(refused("ollama"), OpenError::NoModel { provider: "ollama".into() });
        let opened = catalog.open("ollama:qwen3:8b", &OpenOptions::default()).unwrap();
        assert_eq!((opened.name(), opened.model()), ("ollama:qwen3:8b", "qwen3:8b"));
        assert!(catalog.open("demo", &OpenOptions::default()).unwrap().is_scripted());
    }

    #[test]
    fn a_key_is_known_to_the_redactor_and_never_printed() {
        let options = OpenOptions { api_key: Some("sk-abcdef".into()), ..OpenOptions::default() };
        Catalog::built_in().open("openai:x", &options).unwrap();
        assert_eq!(options.redactor.mask_text("sk-abcdef"), crate::redact::MASK);
    }
}
