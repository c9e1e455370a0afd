//! What was learned about models, kept between sessions: `dialects.json` in the state directory, model → dialect.

use crate::agent::ladder::Memory;
use crate::disk;
use crate::domain::model::DialectKind;
use crate::domain::{Notice, Phrase};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// See the module.
pub struct Learned {
    path: PathBuf,
    known: BTreeMap<String, DialectKind>,
}

impl Learned {
    /// What the file says. One that cannot be read is as good as none: everything in it can be learned again.
    pub fn load(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let table: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        let known = table.into_iter().filter_map(|(model, value)| Some((model, DialectKind::named(value.as_str()?)?)));
        Self { known: known.collect(), path }
    }
}

impl Memory for Learned {
    fn recall(&self, model: &str) -> Option<DialectKind> {
        self.known.get(model).copied()
    }

    fn learn(&mut self, model: &str, dialect: Option<DialectKind>) -> Option<Notice> {
        match dialect {
            Some(kind) => self.known.insert(model.to_owned(), kind),
            None => self.known.remove(model),
        };
        let written = disk::update(&self.path, |text| {
            let mut table: Map<String, Value> =
                text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            match dialect {
                Some(kind) => table.insert(model.to_owned(), Value::from(kind.name())),
                None => table.remove(model),
            };
            Ok::<_, io::Error>((Some(format!("{:#}\n", Value::Object(table))), ()))
        });
        let path = self.path.display();
        written
            .err()
            .map(|error| Notice::warning(Phrase::new("app.not_learned").with("file", path).with("error", error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_is_there_the_next_time() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/dialects.json");
        let mut learned = Learned::load(path.clone());
        assert_eq!(learned.recall("a:b"), None);
        assert_eq!(learned.learn("a:b", Some(DialectKind::Xml)), None);
        let mut other = Learned::load(path.clone());
        assert_eq!(other.learn("c:d", Some(DialectKind::React)), None);
        assert_eq!(learned.learn("e:f", Some(DialectKind::Xml)), None);
        let again = Learned::load(path.clone());
        assert_eq!((again.recall("a:b"), again.recall("c:d")), (Some(DialectKind::Xml), Some(DialectKind::React)));
        assert_eq!(learned.learn("a:b", None), None);
        assert_eq!(Learned::load(path.clone()).recall("a:b"), None);
        std::fs::write(&path, "{\"a:b\": \"esperanto\", \"c\": 3").unwrap();
        assert_eq!(Learned::load(path).recall("a:b"), None);
    }
}
