//! Writing the user's choice back into `config.toml`.
//!
//! Owns: changing one key of the file. Comments, order and everything else stay as the user wrote them. **Invariant:** a file that is no TOML is left
//! alone: what the user was in the middle of writing is never lost.

use super::report;
use super::settings::VERSION;
use crate::disk;
use crate::domain::Phrase;
use std::io;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, Value};

/// Sets a key, `["model"]` or `["notices", "welcome"]`; makes the file, and the tables on the way, where they are missing.
pub fn set(file: &Path, keys: &[&str], value: impl Into<Value>) -> Result<(), Phrase> {
    let value = value.into();
    change(file, |document| put(document, keys, value))
}

/// Takes a key out. It is no error if it is not there.
pub fn unset(file: &Path, keys: &[&str]) -> Result<(), Phrase> {
    change(file, |document| {
        let Some((last, tables)) = keys.split_last() else { return Ok(()) };
        let mut table = document.as_table_mut();
        for name in tables {
            match table.get_mut(name).and_then(Item::as_table_mut) {
                Some(inner) => table = inner,
                None => return Ok(()),
            }
        }
        table.remove(last);
        Ok(())
    })
}

enum Failure {
    Phrase(Phrase),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn change(file: &Path, change: impl FnOnce(&mut DocumentMut) -> Result<(), String>) -> Result<(), Phrase> {
    let unsaved = |problem: &str| Phrase::new("config.unsaved").with("file", file.display()).with("problem", problem);
    let done = disk::update(file, |before| {
        let text = before.unwrap_or_else(|| format!("version = {VERSION}\n"));
        let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            let line = error.span().map_or(1, |span| report::Report::new(file, &text).line(span.start));
            Failure::Phrase(unsaved(&format!("{line}: {}", error.message())))
        })?;
        change(&mut document).map_err(|problem| Failure::Phrase(unsaved(&problem)))?;
        Ok((Some(document.to_string()), ()))
    });
    done.map_err(|failure| match failure {
        Failure::Phrase(phrase) => phrase,
        Failure::Io(error) => unsaved(&error.to_string()),
    })
}

fn put(document: &mut DocumentMut, keys: &[&str], mut value: Value) -> Result<(), String> {
    let Some((last, tables)) = keys.split_last() else { return Ok(()) };
    let mut table: &mut Table = document.as_table_mut();
    for name in tables {
        let inner = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
        table = inner.as_table_mut().ok_or_else(|| format!("`{name}` is not a table"))?;
    }
    match table.get_mut(last) {
        Some(Item::Value(old)) => {
            // The comment behind the value stays.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(Item::None) | None => {
            table.insert(last, Item::Value(value));
        }
        Some(_) => return Err(format!("`{last}` is a table")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn comments_and_order_stay() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("mcpane/config.toml");
        set(&file, &["model"], "demo").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "version = 1\nmodel = \"demo\"\n");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&file, "# mine\ntheme = 'x' # dark\n\n[rules]\n# careful\ndeny = ['rm']\n").unwrap();
        set(&file, &["theme"], "light").unwrap();
        set(&file, &["mouse"], true).unwrap();
        set(&file, &["notices", "welcome"], false).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            "# mine\ntheme = \"light\" # dark\nmouse = true\n\n[rules]\n# careful\ndeny = ['rm']\n\n[notices]\nwelcome = false\n"
        );
        unset(&file, &["notices", "welcome"]).unwrap();
        unset(&file, &["nothing", "here"]).unwrap();
        assert!(!fs::read_to_string(&file).unwrap().contains("welcome"));
    }

    #[test]
    fn a_broken_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        fs::write(&file, "theme = 'x'\nmodel = \n").unwrap();
        let problem = set(&file, &["theme"], "y").unwrap_err();
        assert_eq!(problem.key, "config.unsaved");
        assert!(problem.args[1].1.starts_with("2: "), "{problem:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "theme = 'x'\nmodel = \n");
        fs::write(&file, "rules = 3\n").unwrap();
        assert!(set(&file, &["rules", "deny"], "x").is_err());
        assert!(set(&file, &["rules"], 4).is_ok());
    }
}
