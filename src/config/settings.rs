//! What can stand in a `config.toml`, and reading one.
//!
//! Owns: the keys, their types and the warnings about them. A layer holds only what one file says; `load` lays layers over each other. Pure.
//!
//! **Invariant:** whatever the text is, reading it gives a layer and warnings. A line that is no TOML costs itself (and what depends on it), a key of a
//! wrong type costs itself; nothing is passed over in silence.
//!
//! ```toml
//! version = 1
//! model = "ollama:qwen3"          base_url = "…"     api_key_env = "…"     temperature = 0.2     max_tokens = 4096
//! dialect = "auto"                # auto, native, xml, react, json
//! language = "中文"                # what the model should answer in
//! instructions = "…"              # told to the model in every session
//! lang = "en"                     # interface: en, zh
//! theme = "auto"                  layout = "auto"    ambiguous_width = "auto" # or 1, 2
//! mouse = false                   esc_hold_ms = 50   accessible = false
//! max_steps = 50                  working_dirs = ["../shared", "~/notes"]
//! [models."openai:gpt-5"]         # temperature, max_tokens
//! [providers.mine]                # fields of assets/providers.toml
//! [servers.github]                # trust = "read-only"
//! [rules]                         # allow, ask, deny: lists of patterns, see policy::rule
//! [notices]                       # welcome, file_changes, tool_changes: true or false
//! ```

use super::report::{Expected, Report};
use super::ui::{AmbiguousWidth, Layout};
use crate::domain::model::DialectKind;
use crate::domain::{Notice, Phrase};
use crate::strings::Language;
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The version of the file that this program writes.
pub const VERSION: i64 = 1;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user's: everything may be set.
    User,
    /// A project's: `model`, `dialect`, `language`, `layout` and `instructions` only.
    Project,
}

/// How the model is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialectChoice {
    /// By what the model can do.
    Auto,
    /// In this one.
    Kind(DialectKind),
}

impl DialectChoice {
    /// Those that this version speaks, by name.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("native", Self::Kind(DialectKind::Native)),
        ("xml", Self::Kind(DialectKind::Xml)),
        ("react", Self::Kind(DialectKind::React)),
        ("json", Self::Kind(DialectKind::Json)),
    ];

    /// The choice of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice)
    }
}

/// What is set for one model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Limit of tokens in a reply.
    pub max_tokens: Option<u32>,
}

/// A text with the place it stands at, for warnings of whoever understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The text.
    pub text: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// The user's rules, as they stand; `policy::rule` understands them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleTexts {
    /// Calls that run.
    pub allow: Vec<Placed>,
    /// Calls that ask.
    pub ask: Vec<Placed>,
    /// Calls that never run.
    pub deny: Vec<Placed>,
}

/// A provider's table, as it stands; `provider::catalog` understands it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProviderTable {
    /// The provider.
    pub name: String,
    /// Its fields.
    pub table: toml::Table,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// What one file says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layer {
    /// `provider:name`.
    pub model: Option<Placed>,
    /// Instead of the provider's.
    pub base_url: Option<String>,
    /// Variable that holds the key, instead of the provider's.
    pub api_key_env: Option<String>,
    /// For every model.
    pub temperature: Option<f64>,
    /// For every model.
    pub max_tokens: Option<u32>,
    /// By model.
    pub models: BTreeMap<String, ModelSettings>,
    /// By provider, in file order.
    pub providers: Vec<ProviderTable>,
    /// How the model is spoken to.
    pub dialect: Option<DialectChoice>,
    /// What the model should answer in.
    pub language: Option<String>,
    /// Told to the model.
    pub instructions: Option<String>,
    /// Language of the interface.
    pub lang: Option<Language>,
    /// `auto` or a theme's name.
    pub theme: Option<String>,
    /// How the panes stand.
    pub layout: Option<Layout>,
    /// Width of ambiguous characters.
    pub ambiguous_width: Option<AmbiguousWidth>,
    /// Mouse.
    pub mouse: Option<bool>,
    /// Milliseconds.
    pub esc_hold_ms: Option<u64>,
    /// Accessible mode.
    pub accessible: Option<bool>,
    /// Steps of a turn.
    pub max_steps: Option<u32>,
    /// Directories beside the project, as written.
    pub working_dirs: Vec<Placed>,
    /// Rules.
    pub rules: RuleTexts,
    /// Servers whose `readOnlyHint` is believed.
    pub read_only_servers: Vec<Placed>,
    /// Welcome notice.
    pub notice_welcome: Option<bool>,
    /// Notice of changed files.
    pub notice_file_changes: Option<bool>,
    /// Notice of changed tools.
    pub notice_tool_changes: Option<bool>,
}

const KEYS: [&str; 23] = [
    "version",
    "model",
    "base_url",
    "api_key_env",
    "temperature",
    "max_tokens",
    "models",
    "providers",
    "dialect",
    "language",
    "instructions",
    "lang",
    "theme",
    "layout",
    "ambiguous_width",
    "mouse",
    "esc_hold_ms",
    "accessible",
    "max_steps",
    "working_dirs",
    "rules",
    "servers",
    "notices",
];
const PROJECT_KEYS: [&str; 6] = ["version", "model", "dialect", "language", "layout", "instructions"];
const ALIASES: [(&str, &str); 8] = [
    ("locale", "lang"),
    ("api_key", "api_key_env"),
    ("key_env", "api_key_env"),
    ("permissions", "rules"),
    ("provider", "providers"),
    ("workspace", "working_dirs"),
    ("steps", "max_steps"),
    ("system_prompt", "instructions"),
];

/// Reads a file's text.
pub fn parse(text: &str, file: &Path, owner: Owner) -> (Layer, Vec<Notice>) {
    let mut report = Report::new(file, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let at = error.span().map_or(0, |span| span.start);
        let phrase = report.phrase("config.toml", at).with("problem", error.message());
        report.warn(phrase);
    }
    let mut reader = Reader { layer: Layer::default(), report, owner };
    for (key, offset, value) in sorted(table.get_ref()) {
        reader.top(key, offset, value);
    }
    (reader.layer, reader.report.into_notices())
}

/// A table's entries in file order.
fn sorted<'a>(table: &'a DeTable<'_>) -> Vec<(&'a str, usize, &'a Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> =
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span().start, value)).collect();
    entries.sort_by_key(|(_, offset, _)| *offset);
    entries
}

struct Reader<'a> {
    layer: Layer,
    report: Report<'a>,
    owner: Owner,
}

/// A key with its place and value.
type Entry<'a> = (&'a str, usize, &'a Spanned<DeValue<'a>>);

impl Reader<'_> {
    fn top(&mut self, key: &str, offset: usize, value: &Spanned<DeValue<'_>>) {
        if self.owner == Owner::Project && KEYS.contains(&key) && !PROJECT_KEYS.contains(&key) {
            let phrase = self.report.phrase("config.project_only", offset).with("key", key);
            return self.report.warn(phrase.with("allowed", PROJECT_KEYS[1..].join(", ")));
        }
        let entry = (key, offset, value);
        match key {
            "version" => self.version(entry),
            "model" => self.layer.model = self.placed(entry),
            "base_url" => self.layer.base_url = self.text(entry),
            "api_key_env" => self.layer.api_key_env = self.text(entry),
            "temperature" => self.layer.temperature = self.number(entry),
            "max_tokens" => self.layer.max_tokens = self.positive(entry),
            "dialect" => self.layer.dialect = self.one_of(entry, &DialectChoice::NAMES),
            "language" => self.layer.language = self.text(entry),
            "instructions" => self.layer.instructions = self.text(entry),
            "lang" => self.layer.lang = self.one_of(entry, &[("en", Language::En), ("zh", Language::Zh)]),
            "theme" => self.layer.theme = self.text(entry),
            "layout" => self.layer.layout = self.one_of(entry, &Layout::NAMES),
            "ambiguous_width" => self.layer.ambiguous_width = self.width(entry),
            "mouse" => self.layer.mouse = self.bool(entry),
            "esc_hold_ms" => self.layer.esc_hold_ms = self.whole(entry),
            "accessible" => self.layer.accessible = self.bool(entry),
            "max_steps" => self.layer.max_steps = self.positive(entry),
            "working_dirs" => self.layer.working_dirs = self.placed_list(entry),
            "models" => self.each(entry, Self::model),
            "providers" => self.each(entry, Self::provider),
            "servers" => self.each(entry, Self::server),
            "rules" => self.each(entry, Self::rule),
            "notices" => self.each(entry, Self::notice),
            _ => {
                let known: &[&str] = if self.owner == Owner::Project { &PROJECT_KEYS } else { &KEYS };
                self.report.unknown(offset, key, known, &ALIASES);
            }
        }
    }

    fn version(&mut self, entry: Entry<'_>) {
        if let Some(version) = self.whole(entry)
            && version > VERSION as u64
        {
            let phrase = self.report.phrase("config.newer", entry.1).with("version", version);
            self.report.warn(phrase);
        }
    }

    fn each(&mut self, (key, offset, value): Entry<'_>, read: fn(&mut Self, Entry<'_>)) {
        match value.get_ref() {
            DeValue::Table(table) => sorted(table).into_iter().for_each(|inner| read(self, inner)),
            _ => self.report.wrong_type(offset, key, Expected::Table),
        }
    }

    fn model(&mut self, (name, offset, value): Entry<'_>) {
        let DeValue::Table(table) = value.get_ref() else {
            return self.report.wrong_type(offset, name, Expected::Table);
        };
        let mut settings = ModelSettings::default();
        for entry in sorted(table) {
            match entry.0 {
                "temperature" => settings.temperature = self.number(entry),
                "max_tokens" => settings.max_tokens = self.positive(entry),
                other => self.report.unknown(entry.1, other, &["temperature", "max_tokens"], &[]),
            }
        }
        self.layer.models.insert(name.to_owned(), settings);
    }

    fn provider(&mut self, (name, offset, value): Entry<'_>) {
        let toml::Value::Table(table) = owned(value.get_ref()) else {
            return self.report.wrong_type(offset, name, Expected::Table);
        };
        let (file, line) = (self.report.file().to_owned(), self.report.line(offset));
        self.layer.providers.push(ProviderTable { name: name.to_owned(), table, file, line });
    }

    fn server(&mut self, (name, offset, value): Entry<'_>) {
        let DeValue::Table(table) = value.get_ref() else {
            return self.report.wrong_type(offset, name, Expected::Table);
        };
        for entry in sorted(table) {
            match entry.0 {
                "trust" => {
                    if self.one_of(entry, &[("read-only", ())]).is_some() {
                        let placed = self.place(name.to_owned(), offset);
                        self.layer.read_only_servers.push(placed);
                    }
                }
                "sampling" => {
                    let phrase = self.report.phrase("config.not_yet", entry.1).with("key", "sampling");
                    self.report.warn(phrase);
                }
                // Whoever writes a whole server here means the other file.
                "command" | "args" | "url" | "env" => {
                    let phrase = self.report.phrase("config.server_elsewhere", entry.1).with("server", name);
                    return self.report.warn(phrase);
                }
                other => self.report.unknown(entry.1, other, &["trust", "sampling"], &[]),
            }
        }
    }

    fn rule(&mut self, entry: Entry<'_>) {
        match entry.0 {
            "allow" => self.layer.rules.allow = self.placed_list(entry),
            "ask" => self.layer.rules.ask = self.placed_list(entry),
            "deny" => self.layer.rules.deny = self.placed_list(entry),
            other => {
                let aliases = [("always", "allow"), ("never", "deny"), ("block", "deny"), ("prompt", "ask")];
                self.report.unknown(entry.1, other, &["allow", "ask", "deny"], &aliases);
            }
        }
    }

    fn notice(&mut self, entry: Entry<'_>) {
        match entry.0 {
            "welcome" => self.layer.notice_welcome = self.bool(entry),
            "file_changes" => self.layer.notice_file_changes = self.bool(entry),
            "tool_changes" => self.layer.notice_tool_changes = self.bool(entry),
            other => self.report.unknown(entry.1, other, &["welcome", "file_changes", "tool_changes"], &[]),
        }
    }

    // --- values

    fn text(&mut self, (key, offset, value): Entry<'_>) -> Option<String> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.report.wrong_type(offset, key, Expected::Text);
        }
        text.map(str::to_owned)
    }

    fn place(&self, text: String, offset: usize) -> Placed {
        Placed { text, file: self.report.file().to_owned(), line: self.report.line(offset) }
    }

    fn placed(&mut self, entry: Entry<'_>) -> Option<Placed> {
        let text = self.text(entry)?;
        Some(self.place(text, entry.1))
    }

    /// One text stands for a list of one.
    fn placed_list(&mut self, (key, offset, value): Entry<'_>) -> Vec<Placed> {
        let items: Vec<(Option<&str>, usize)> = match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| (item.get_ref().as_str(), item.span().start)).collect(),
            other => vec![(other.as_str(), offset)],
        };
        let mut out = Vec::new();
        for (item, at) in items {
            match item {
                Some(text) => out.push(self.place(text.to_owned(), at)),
                None => self.report.wrong_type(at, key, Expected::Texts),
            }
        }
        out
    }

    fn bool(&mut self, (key, offset, value): Entry<'_>) -> Option<bool> {
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.report.wrong_type(offset, key, Expected::Bool);
        }
        found
    }

    fn number(&mut self, (key, offset, value): Entry<'_>) -> Option<f64> {
        let found = match owned(value.get_ref()) {
            toml::Value::Integer(whole) => Some(whole as f64),
            toml::Value::Float(float) if float.is_finite() => Some(float),
            _ => None,
        };
        if found.is_none() {
            self.report.wrong_type(offset, key, Expected::Number);
        }
        found
    }

    fn whole(&mut self, (key, offset, value): Entry<'_>) -> Option<u64> {
        let found = owned(value.get_ref()).as_integer().and_then(|whole| u64::try_from(whole).ok());
        if found.is_none() {
            self.report.wrong_type(offset, key, Expected::Whole);
        }
        found
    }

    fn positive(&mut self, entry: Entry<'_>) -> Option<u32> {
        let whole = self.whole(entry)?;
        let found = u32::try_from(whole).ok().filter(|whole| *whole > 0);
        if found.is_none() {
            self.report.wrong_type(entry.1, entry.0, Expected::Whole);
        }
        found
    }

    fn one_of<T: Copy>(&mut self, entry: Entry<'_>, names: &[(&str, T)]) -> Option<T> {
        let text = self.text(entry)?;
        let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            let allowed: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            self.report.not_one_of(entry.1, entry.0, &text, &allowed);
        }
        found
    }

    fn width(&mut self, entry: Entry<'_>) -> Option<AmbiguousWidth> {
        match owned(entry.2.get_ref()) {
            toml::Value::Integer(1) => Some(AmbiguousWidth::One),
            toml::Value::Integer(2) => Some(AmbiguousWidth::Two),
            toml::Value::String(text) if text == "auto" => Some(AmbiguousWidth::Auto),
            other => {
                self.report.not_one_of(entry.1, entry.0, &other.to_string(), &["\"auto\"", "1", "2"]);
                None
            }
        }
    }
}

/// A value without its places. What does not fit into TOML's own types (a number beyond 64 bits) becomes its text.
fn owned(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix()).map_or(toml::Value::String(digits), toml::Value::Integer)
        }
        DeValue::Float(number) => {
            let digits = number.as_str().replace('_', "");
            digits.parse().map_or(toml::Value::String(digits), toml::Value::Float)
        }
        DeValue::Boolean(yes) => toml::Value::Boolean(*yes),
        DeValue::Datetime(time) => toml::Value::Datetime(*time),
        DeValue::Array(items) => toml::Value::Array(items.iter().map(|item| owned(item.get_ref())).collect()),
        DeValue::Table(table) => toml::Value::Table(
            table.iter().map(|(key, value)| (key.get_ref().to_string(), owned(value.get_ref()))).collect(),
        ),
    }
}

/// A warning about a placed text, with its file and line.
pub fn at(placed: &Placed, key: &'static str) -> Phrase {
    Phrase::new(key).with("file", &placed.file).with("line", placed.line)
}

#[cfg(test)]
mod tests;
