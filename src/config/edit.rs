//! Changing single entries of a file of servers.
//!
//! Owns: putting an entry into such a file and taking one out, as cuts in its text: what is not the entry (and a comma beside it) stays byte for byte,
//! comments, order and indentation included. Does not know what makes an entry good (`servers::judge`), or which file is meant.
//!
//! **Invariants:** the change is made under a lock and replaces the file as a whole; what comes out is read again before it is written, and if anything
//! but the entry would have changed, nothing is written; a file that cannot be read is left alone.

mod layout;

use super::report::{Report, cleaned};
use super::servers::syntax;
use crate::disk;
use crate::domain::Phrase;
use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, parse_to_ast, parse_to_serde_value};
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};

/// The keys that servers stand under. A new entry goes under the first that is there, else under the first.
const TABLES: [&str; 2] = ["mcpServers", "servers"];
const BOM: char = '\u{feff}';

/// A file to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub file: PathBuf,
    /// Where its lock stands, for a file that is not ours alone; who may read it then stays as it is. `None`: it is the user's own, 0600.
    pub locks: Option<PathBuf>,
}

/// What to do with an entry that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it.
    Keep,
    /// Replace it.
    Replace,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changed {
    /// Its text before; `None` if there was no file.
    pub before: Option<String>,
    /// Its text now; `None` if it was not changed.
    pub after: Option<String>,
    /// Entries that were written or taken out.
    pub done: Vec<String>,
    /// Entries that were left because they were there already.
    pub kept: Vec<String>,
}

/// Puts entries into a file, which is made if there is none.
pub fn put(place: &Place, entries: &[(String, Value)], existing: Existing) -> Result<Changed, Phrase> {
    update(place, |before| {
        let mut text = before.unwrap_or_default().to_owned();
        let mut changed = Changed::default();
        for (name, entry) in entries {
            if existing == Existing::Keep && has(&text, name)? {
                changed.kept.push(name.clone());
                continue;
            }
            text = with_entry(&text, name, entry)?;
            changed.done.push(name.clone());
        }
        changed.after = (!changed.done.is_empty()).then_some(text);
        Ok(changed)
    })
}

/// Takes an entry out of a file. Nothing is done where it is not in it.
pub fn remove(place: &Place, name: &str) -> Result<Changed, Phrase> {
    update(place, |before| {
        let after = without_entry(before.unwrap_or_default(), name)?;
        let done = after.iter().map(|_| name.to_owned()).collect();
        Ok(Changed { after, done, ..Changed::default() })
    })
}

/// Why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is no JSON: at this byte, for this reason.
    Syntax(usize, String),
    /// What stands under this key (or the whole, `{}`) is no table.
    Shape(&'static str),
    /// More than the entry would have changed.
    Loss,
}

impl From<ParseError> for Fault {
    fn from(error: ParseError) -> Self {
        Self::Syntax(error.range().start, error.kind().to_string())
    }
}

enum Failure {
    Fault(Fault, String),
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn update(place: &Place, change: impl FnOnce(Option<&str>) -> Result<Changed, Fault>) -> Result<Changed, Phrase> {
    let work = |before: Option<String>| {
        let mut changed =
            change(before.as_deref()).map_err(|fault| Failure::Fault(fault, before.clone().unwrap_or_default()))?;
        changed.before = before;
        Ok((changed.after.clone(), changed))
    };
    let done = match &place.locks {
        None => disk::update(&place.file, work),
        Some(locks) => disk::update_shared(&place.file, locks, work),
    };
    done.map_err(|failure| phrase(failure, &place.file))
}

fn phrase(failure: Failure, file: &Path) -> Phrase {
    let phrase = |key| Phrase::new(key).with("file", file.display());
    match failure {
        Failure::Fault(Fault::Syntax(at, problem), text) => {
            let line = Report::new(file, &text).line(at);
            phrase("config.edit_syntax").with("line", line).with("problem", problem)
        }
        Failure::Fault(Fault::Shape(key), _) => phrase("config.edit_shape").with("key", key),
        Failure::Fault(Fault::Loss, _) => phrase("config.edit_loss"),
        Failure::Io(error) => phrase("config.unsaved").with("problem", error),
    }
}

// --- texts

/// Whether a text has an entry of this name.
pub fn has(text: &str, name: &str) -> Result<bool, Fault> {
    let body = split(text).1;
    Ok(read(body)?.is_some_and(|root| tables(&root).iter().any(|table| !named(table, name).is_empty())))
}

/// The text with this entry: in the place of the one of that name, else behind all others.
pub fn with_entry(text: &str, name: &str, entry: &Value) -> Result<String, Fault> {
    let (mark, body) = split(text);
    let cuts = match read(body)? {
        Some(root) => {
            let there = tables(&root);
            let old = there.iter().flat_map(|table| named(table, name)).next_back();
            match (old, target(&root)?) {
                (Some(old), _) => vec![layout::replaced(body, old, entry)],
                (None, Some(table)) => layout::appended(body, table, name, entry),
                (None, None) => layout::appended(body, &root, TABLES[0], &json!({ name: entry })),
            }
        }
        None => vec![layout::fresh(body, &json!({ TABLES[0]: { name: entry } }))],
    };
    let after = layout::apply(body, cuts);
    checked(body, &after, name, |data| effective(data, name) == Some(entry))?;
    Ok(format!("{mark}{after}"))
}

/// The text without the entries of this name; `None` if there are none.
pub fn without_entry(text: &str, name: &str) -> Result<Option<String>, Fault> {
    let (mark, body) = split(text);
    let mut after = body.to_owned();
    // One at a time: each cut moves what is behind it.
    loop {
        let cuts = {
            let Some(root) = read(&after)? else { break };
            let there = tables(&root);
            let found = there.iter().find_map(|table| named(table, name).last().map(|entry| (*table, *entry)));
            match found {
                Some((table, entry)) => layout::removed(&after, table, entry),
                None => break,
            }
        };
        after = layout::apply(&after, cuts);
    }
    if after == body {
        return Ok(None);
    }
    checked(body, &after, name, |data| effective(data, name).is_none())?;
    Ok(Some(format!("{mark}{after}")))
}

fn split(text: &str) -> (&'static str, &str) {
    text.strip_prefix(BOM).map_or(("", text), |body| ("\u{feff}", body))
}

/// The object that a text is; `None` where there is only white space and comments.
fn read(text: &str) -> Result<Option<Object<'_>>, Fault> {
    match parse_to_ast(text, &CollectOptions::default(), &syntax())?.value {
        None => Ok(None),
        Some(Ast::Object(root)) => Ok(Some(root)),
        Some(_) => Err(Fault::Shape("{}")),
    }
}

/// The tables that count, in the order in which they are read: of two with the same key the last one.
fn tables<'o, 'a>(root: &'o Object<'a>) -> Vec<&'o Object<'a>> {
    let all = &root.properties;
    let last = |at: usize, key: &str| !all[at + 1..].iter().any(|later| later.name.as_str() == key);
    let counts = |(at, property): &(usize, &ObjectProp<'a>)| {
        TABLES.contains(&property.name.as_str()) && last(*at, property.name.as_str())
    };
    all.iter().enumerate().filter(counts).filter_map(|(_, property)| property.value.as_object()).collect()
}

/// The entries of this name in a table, the one that counts last.
fn named<'o, 'a>(table: &'o Object<'a>, name: &str) -> Vec<&'o ObjectProp<'a>> {
    table.properties.iter().filter(|entry| cleaned(entry.name.as_str()) == name).collect()
}

/// The table that a new entry goes into, if there is one.
fn target<'o, 'a>(root: &'o Object<'a>) -> Result<Option<&'o Object<'a>>, Fault> {
    for key in TABLES {
        if let Some(property) = root.properties.iter().rfind(|property| property.name.as_str() == key) {
            return property.value.as_object().map(Some).ok_or(Fault::Shape(key));
        }
    }
    Ok(None)
}

// --- the check

/// Nothing but the entries of this name may differ between two texts, and the new one must be right.
fn checked(before: &str, after: &str, name: &str, right: impl FnOnce(&Value) -> bool) -> Result<(), Fault> {
    let (old, new) = (data(before)?, data(after).map_err(|_| Fault::Loss)?);
    if right(&new) && rest(old, name) == rest(new, name) { Ok(()) } else { Err(Fault::Loss) }
}

fn data(text: &str) -> Result<Value, Fault> {
    Ok(parse_to_serde_value::<Option<Value>>(text, &syntax())?.unwrap_or_else(|| Value::Object(Map::new())))
}

/// Everything but the entries of this name. A table that holds nothing else is as good as none.
fn rest(mut data: Value, name: &str) -> Value {
    let Some(root) = data.as_object_mut() else { return data };
    for key in TABLES {
        if let Some(table) = root.get_mut(key).and_then(Value::as_object_mut) {
            table.retain(|written, _| cleaned(written) != name);
            if table.is_empty() {
                root.shift_remove(key);
            }
        }
    }
    data
}

/// The entry of this name that counts.
fn effective<'a>(data: &'a Value, name: &str) -> Option<&'a Value> {
    let tables = data.as_object()?.iter().filter(|(key, _)| TABLES.contains(&key.as_str()));
    let entries = tables.filter_map(|(_, table)| table.as_object()).flatten();
    entries.filter(|(written, _)| cleaned(written) == name).map(|(_, entry)| entry).next_back()
}

#[cfg(test)]
mod tests;
