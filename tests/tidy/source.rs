//! The sources, parsed.
//!
//! Owns: finding the files, the module each one is, leaving out what is compiled for tests only.

use crate::facts::Facts;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// Something against a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// A source file.
pub struct Source {
    /// From the package's root.
    pub path: String,
    /// `tools::builtin`; empty for `lib.rs`, `main` for `main.rs`.
    pub module: String,
    pub text: String,
    pub facts: Facts,
}

impl Source {
    pub fn violation(&self, line: usize, what: impl Into<String>) -> Violation {
        Violation { path: self.path.clone(), line, what: what.into() }
    }
}

/// All of them, but for tests.
pub struct Tree {
    pub sources: Vec<Source>,
    pub modules: BTreeSet<String>,
}

/// The package's root.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files with one of these endings below a directory, sorted.
pub fn files(below: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![below.to_owned()];
    while let Some(directory) = todo.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A path below the root, written with `/`.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

impl Tree {
    /// Reads a `src` directory.
    pub fn load(src: &Path) -> Self {
        let texts: Vec<(String, String)> =
            files(src, &["rs"]).iter().map(|path| (shown(path), std::fs::read_to_string(path).unwrap())).collect();
        Self::parse(texts)
    }

    /// Made of snippets, for the tests of the rules.
    pub fn of(snippets: &[(&str, &str)]) -> Self {
        Self::parse(snippets.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    fn parse(texts: Vec<(String, String)>) -> Self {
        let modules: BTreeSet<String> = texts.iter().map(|(path, _)| module(path)).collect();
        let mut sources: Vec<Source> = texts
            .into_iter()
            .map(|(path, text)| {
                let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
                let module = module(&path);
                let facts = Facts::of(&file, &module, &modules);
                Source { path, module, text, facts }
            })
            .collect();
        let tests: Vec<String> = sources.iter().flat_map(|source| source.facts.test_modules.clone()).collect();
        sources.retain(|source| !tests.iter().any(|test| is_within(&source.module, test)));
        Self { sources, modules }
    }
}

/// Whether a module is another one or lies in it.
pub fn is_within(module: &str, of: &str) -> bool {
    module == of || module.strip_prefix(of).is_some_and(|rest| rest.starts_with("::"))
}

fn module(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path).trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { String::new() } else { path.replace('/', "::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_for_tests_only_is_left_out() {
        let tree = Tree::of(&[
            ("src/lib.rs", "mod a;"),
            ("src/a/mod.rs", "#[cfg(test)]\nmod tests;\nmod b;\n#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod more;"),
            ("src/a/c_tests.rs", ""),
            ("src/a/tests.rs", "mod deep;"),
            ("src/a/tests/deep.rs", ""),
            ("src/a/b.rs", ""),
        ]);
        let modules: Vec<&str> = tree.sources.iter().map(|source| source.module.as_str()).collect();
        assert_eq!(modules, ["", "a", "a::b"]);
    }
}
