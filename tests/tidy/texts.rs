//! Texts of the interface: each in the catalogue, each used, none in the code.

use crate::source::{Tree, Violation, is_within};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Beginnings of keys that are put together while the program runs. Each line says by whom.
const COMPUTED: &[&str] = &[
    // tui::command: `command.<name>` for every command.
    "command.",
    // cli: `cli.about_<command>` and `cli.arg.<argument>` for everything that clap knows.
    "cli.about",
    "cli.arg.",
];

/// Ends of names of files, which look like keys.
const FILES: &[&str] = &["toml", "json", "jsonl", "md", "rs", "txt", "log", "png", "sh", "py", "local", "html", "lock"];

/// A text of the catalogue.
pub struct Entry {
    line: usize,
    text: String,
}

/// The English catalogue by key.
pub type Catalogue = BTreeMap<String, Entry>;

/// Reads the catalogue.
pub fn catalogue(root: &Path) -> Catalogue {
    catalogue_of(&std::fs::read_to_string(root.join("assets/strings/en.toml")).unwrap())
}

fn catalogue_of(text: &str) -> Catalogue {
    fn walk(before: &str, table: &toml::Table, entries: &mut Catalogue) {
        for (name, value) in table {
            let key = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
            match value {
                toml::Value::Table(inner) => walk(&key, inner, entries),
                other => {
                    entries.insert(key, Entry { line: 1, text: other.as_str().unwrap_or_default().to_owned() });
                }
            }
        }
    }
    let mut entries = Catalogue::new();
    walk("", &text.parse().unwrap(), &mut entries);
    let mut table = String::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.trim().strip_prefix('[').and_then(|line| line.split(']').next()) {
            name.trim().clone_into(&mut table);
        } else if let Some((name, _)) = line.split_once('=') {
            let name = name.trim().trim_matches('"');
            let key = if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") };
            if let Some(entry) = entries.get_mut(&key) {
                entry.line = index + 1;
            }
        }
    }
    entries
}

/// Keys that the catalogue lacks, and texts that nobody uses.
pub fn keys(tree: &Tree, catalogue: &Catalogue) -> Vec<Violation> {
    let tables: BTreeSet<&str> = catalogue.keys().filter_map(|key| key.split('.').next()).collect();
    let mut found = Vec::new();
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for source in &tree.sources {
        for text in &source.facts.texts {
            if let Some((key, _)) = catalogue.get_key_value(&text.value) {
                used.insert(key);
                continue;
            }
            let given = ["strings.get", "strings.fill", "Phrase::new"].contains(&text.to.as_str());
            // What a dialect names so are pieces of prompts, for the model.
            let looks = !is_within(&source.module, "dialect")
                && looks_like_key(&text.value)
                && text.value.split('.').next().is_some_and(|first| tables.contains(first));
            let prefix = COMPUTED.iter().any(|prefix| text.value.starts_with(prefix));
            if (given || looks) && !prefix {
                found.push(source.violation(text.line, format!("the catalogue has no text {:?}", text.value)));
            }
        }
    }
    for (key, Entry { line, .. }) in catalogue {
        if !used.contains(key.as_str()) && !COMPUTED.iter().any(|prefix| key.starts_with(prefix)) {
            let path = "assets/strings/en.toml".to_owned();
            found.push(Violation { path, line: *line, what: format!("nothing uses the text {key}") });
        }
    }
    found
}

/// Texts that are given other arguments than they have places for.
pub fn arguments(tree: &Tree, catalogue: &Catalogue) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for filled in &source.facts.filled {
            let Some(entry) = catalogue.get(&filled.key) else { continue };
            let wanted = places(&entry.text);
            let given: BTreeSet<&str> = filled.arguments.iter().map(String::as_str).collect();
            if wanted != given {
                let what = format!("the text {} has the arguments {wanted:?} and is given {given:?}", filled.key);
                found.push(source.violation(filled.line, what));
            }
        }
    }
    found
}

fn places(text: &str) -> BTreeSet<&str> {
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(name, _)| name)).filter(is_name).collect()
}

fn looks_like_key(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let good = |part: &&str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
    };
    parts.len() > 1 && parts.iter().all(good) && !FILES.contains(parts.last().unwrap_or(&""))
}

/// Where a text is no text of the interface though it has words: messages for programmers.
const FOR_PROGRAMMERS: &[&str] = &[
    "assert!",
    "assert_eq!",
    "assert_ne!",
    "debug_assert!",
    "debug_assert_eq!",
    "unreachable!",
    "trace!",
    "debug!",
    "info!",
    "warn!",
    "error!",
    "include_str!",
];

/// Texts with words that may stand in `tui`: they are no language.
const NO_LANGUAGE: &[&str] = &[];

/// Texts in `tui` that belong into the catalogue.
pub fn interface(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in tree.sources.iter().filter(|source| is_within(&source.module, "tui")) {
        for text in &source.facts.texts {
            if FOR_PROGRAMMERS.contains(&text.to.as_str())
                || NO_LANGUAGE.contains(&text.value.as_str())
                || !is_language(&text.value)
            {
                continue;
            }
            found.push(source.violation(text.line, format!("{:?} belongs into assets/strings", text.value)));
        }
    }
    found
}

/// Two words one after another, or anything in Chinese.
fn is_language(text: &str) -> bool {
    if text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
        return true;
    }
    // What stands in braces is a name of the program.
    let mut bare = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if depth == 0 => bare.push(c),
            _ => {}
        }
    }
    let is_word = |part: &str| {
        let part = part.trim_matches(['.', ',', ':', ';', '!', '?', '"', '(', ')']);
        part.len() > 1 && part.chars().all(|c| c.is_ascii_alphabetic() || c == '\'')
    };
    let parts: Vec<bool> = bare.split_whitespace().map(is_word).collect();
    parts.windows(2).any(|pair| pair[0] && pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_unused_keys_are_found() {
        let catalogue =
            catalogue_of("[tool]\nused = \"a\"\nunused = \"b\"\n[tool.deep]\nkey = \"c\"\n[command]\nquit = \"d\"\n");
        let text = "fn f() { Phrase::new(\"tool.used\"); strings.get(\"nonsense\"); map.get(\"path\"); let k = match x { _ => \"tool.deep.kee\" };\n let k = \"tool.deep.key\"; let f = \"tool.toml\"; strings.get(\"command.\"); }";
        let found: Vec<String> =
            keys(&Tree::of(&[("src/a.rs", text)]), &catalogue).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "src/a.rs:1: the catalogue has no text \"nonsense\"",
                "src/a.rs:1: the catalogue has no text \"tool.deep.kee\"",
                "assets/strings/en.toml:3: nothing uses the text tool.unused",
            ]
        );
    }

    #[test]
    fn wrong_arguments_are_found() {
        let catalogue = catalogue_of("[a]\none = \"{x} of {y}\"\ntwo = \"{x}\"\n");
        let text = "fn f() { Phrase::new(\"a.one\").with(\"x\", 1).with(\"y\", 2);\n strings.fill(\"a.two\", &[(\"z\", \"1\")]);\n Phrase::new(\"a.one\").with(\"x\", 1); }";
        let found = arguments(&Tree::of(&[("src/a.rs", text)]), &catalogue);
        assert_eq!(found.iter().map(|violation| violation.line).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn language_is_known_when_seen() {
        for text in ["Press Enter", "waits for you", "{n} of them", "等待", "Done. Really done"] {
            assert!(is_language(text), "{text}");
        }
        for text in
            ["Enter", "{} {}", "Ctrl-C", "{done} / {total}", "24 °C", "┌─┐", "src/a b.rs", "{a} {b:>3} x", "fg #fff"]
        {
            assert!(!is_language(text), "{text}");
        }
    }

    #[test]
    fn texts_on_the_screen_are_found() {
        let tree = Tree::of(&[
            (
                "src/tui/pane/x.rs",
                "fn f() { draw(\"Nothing here\"); format!(\"{n} calls wait\"); assert!(a, \"must not be\"); }",
            ),
            ("src/tools/x.rs", "fn f() { \"for the model\" }"),
        ]);
        assert_eq!(interface(&tree).len(), 2);
    }
}
