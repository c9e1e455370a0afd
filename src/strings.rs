//! The catalogue of interface texts: key → text in the user's language.
//!
//! Owns `assets/strings/{en,zh}.toml`. A key that is missing in a language is looked up in English; a key that is missing there too is shown as
//! itself (a test holds the key sets equal). `{name}` in a text is replaced by the argument of that name.

use crate::domain::Phrase;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A language of the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese, simplified.
    Zh,
}

impl Language {
    /// The language that a locale name (`zh_CN.UTF-8`, `en`) asks for; English where it asks for another one.
    pub fn from_locale(locale: &str) -> Self {
        if locale.to_ascii_lowercase().starts_with("zh") { Self::Zh } else { Self::En }
    }

    /// The code of the language: `en`, `zh`.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }
}

const EN: &str = include_str!("../assets/strings/en.toml");
const ZH: &str = include_str!("../assets/strings/zh.toml");

type Table = HashMap<String, String>;

/// The texts of one language.
#[derive(Debug, Clone)]
pub struct Strings {
    language: Language,
    table: &'static Table,
}

impl Default for Strings {
    fn default() -> Self {
        Self::new(Language::En)
    }
}

impl Strings {
    /// The texts of a language.
    pub fn new(language: Language) -> Self {
        Self { language, table: table(language) }
    }

    /// Which language this is.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The text of a key.
    pub fn get<'a>(&'a self, key: &'a str) -> &'a str {
        self.table.get(key).or_else(|| table(Language::En).get(key)).map_or(key, String::as_str)
    }

    /// The text of a key with its arguments filled in.
    pub fn fill(&self, key: &str, args: &[(&str, &str)]) -> String {
        fill(self.get(key), args.iter().copied())
    }

    /// A phrase as text.
    pub fn render(&self, phrase: &Phrase) -> String {
        if phrase.key == "literal" {
            return phrase.args.first().map(|(_, text)| text.clone()).unwrap_or_default();
        }
        fill(self.get(&phrase.key), phrase.args.iter().map(|(name, value)| (name.as_ref(), value.as_str())))
    }
}

fn fill<'a>(template: &str, args: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let mut out = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let after = &rest[open + 1..];
        let value = after
            .find('}')
            .and_then(|close| args.clone().find(|(name, _)| *name == &after[..close]).map(|(_, value)| (value, close)));
        if let Some((value, close)) = value {
            out.push_str(value);
            rest = &after[close + 1..];
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn table(language: Language) -> &'static Table {
    static TABLES: [OnceLock<Table>; 2] = [OnceLock::new(), OnceLock::new()];
    let (cell, text) = match language {
        Language::En => (&TABLES[0], EN),
        Language::Zh => (&TABLES[1], ZH),
    };
    cell.get_or_init(|| parse(text))
}

/// A broken catalogue yields an empty table here; a test makes sure that the built-in ones are not broken.
fn parse(text: &str) -> Table {
    let mut out = Table::new();
    if let Ok(root) = text.parse::<toml::Table>() {
        flatten("", root, &mut out);
    }
    out
}

fn flatten(prefix: &str, table: toml::Table, out: &mut Table) {
    for (key, value) in table {
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, out),
            toml::Value::String(text) => {
                out.insert(key, text);
            }
            _ => {}
        }
    }
}

/// What a phrase lacks, in any language: its text, or arguments that its text names. For tests of whoever makes phrases.
#[cfg(test)]
pub(crate) fn lacks(phrase: &Phrase) -> Vec<String> {
    if phrase.key == "literal" {
        return Vec::new();
    }
    let given: Vec<&str> = phrase.args.iter().map(|(name, _)| name.as_ref()).collect();
    let mut out = Vec::new();
    for language in [Language::En, Language::Zh] {
        match table(language).get(phrase.key.as_ref()) {
            None => out.push(format!("{}: no text of {}", language.code(), phrase.key)),
            Some(text) => {
                let holes = text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name));
                let empty = holes.filter(|hole| !given.contains(hole));
                out.extend(empty.map(|hole| format!("{}: {} without {hole}", language.code(), phrase.key)));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn holes(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name)).collect()
    }

    #[test]
    fn languages_have_the_same_keys_and_arguments() {
        let (en, zh) = (parse(EN), parse(ZH));
        assert!(!en.is_empty());
        let keys = |t: &Table| t.keys().cloned().collect::<BTreeSet<_>>();
        assert_eq!(keys(&en).difference(&keys(&zh)).collect::<Vec<_>>(), Vec::<&String>::new(), "missing in zh");
        assert_eq!(keys(&zh).difference(&keys(&en)).collect::<Vec<_>>(), Vec::<&String>::new(), "missing in en");
        for (key, text) in &en {
            assert_eq!(holes(text), holes(&zh[key]), "arguments of {key}");
        }
    }

    #[test]
    fn fills_arguments_and_leaves_other_braces() {
        let strings = Strings::new(Language::En);
        assert_eq!(strings.render(&Phrase::literal("{x}")), "{x}");
        assert_eq!(fill("a {n} {m} {", [("n", "1")].into_iter()), "a 1 {m} {");
        assert_eq!(strings.get("no.such.key"), "no.such.key");
    }

    #[test]
    fn locale_names() {
        assert_eq!(Language::from_locale("zh_CN.UTF-8"), Language::Zh);
        assert_eq!(Language::from_locale("de_DE"), Language::En);
    }
}
