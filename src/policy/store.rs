//! The user's grants: those of this session in memory, those for good in `<state dir>/grants.json`.
//!
//! Owns the file and the grants. **Invariants:** the file is 0600 and replaced as a whole; a change reads it again under its lock, so that what another mcpane
//! stored is kept; a file of a newer version is never overwritten; a broken one is set aside, not lost. Beside each grant stands the definition it was
//! given for, so that a change can be shown.

use super::Subject;
use super::grant::{Cover, Standing, cover};
use crate::disk;
use crate::domain::policy::{DiffLine, Grant};
use crate::domain::prompt::Scope;
use crate::domain::tool::{ToolId, ToolSpec};
use crate::domain::{Notice, Phrase, diff};
use crate::schema::hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const VERSION: u64 = 1;

/// A grant with the definition it was given for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Kept {
    grant: Grant,
    #[serde(default)]
    definition: Value,
    /// What a newer version wrote beside it; kept.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u64,
    #[serde(default)]
    grants: Vec<Kept>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Tells whether a file is still the one that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp(u64, Option<SystemTime>, u64);

/// All grants.
#[derive(Debug, Default)]
pub struct Store {
    file: Option<PathBuf>,
    seen: Option<Stamp>,
    session: Vec<Kept>,
    stored: Vec<Kept>,
}

impl Store {
    /// Grants of this session only.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Reads the grants of a file; a missing one is empty.
    pub fn load(file: &Path) -> (Self, Vec<Notice>) {
        let mut store = Self { file: Some(file.to_path_buf()), ..Self::default() };
        let notice = store.refresh();
        (store, notice.into_iter().collect())
    }

    /// Reads the file again if it changed. The notice says why what it holds does not count.
    pub fn refresh(&mut self) -> Option<Notice> {
        let file = self.file.as_ref()?;
        let stamp = stamp(file);
        if stamp == self.seen {
            return None;
        }
        self.seen = stamp;
        self.stored.clear();
        let text = match disk::read(file) {
            Ok(Some(text)) => text,
            Ok(None) => return None,
            Err(error) => return Some(Notice::warning(problem(file, &error.to_string()))),
        };
        match parse(&text, file) {
            Ok(contents) => {
                self.stored = contents.grants;
                None
            }
            Err(phrase) => Some(Notice::warning(phrase)),
        }
    }

    /// What the grants say about a call.
    pub fn standing(&self, subject: &Subject<'_>, project: &str) -> Standing {
        let covered = |kept: &&Kept, wanted| cover(&kept.grant, subject, project) == wanted;
        if self.stored.iter().any(|kept| covered(&kept, Cover::Yes)) {
            return Standing::Always;
        }
        if self.session.iter().any(|kept| covered(&kept, Cover::Yes)) {
            return Standing::Session;
        }
        let void = self.session.iter().chain(&self.stored).rev().find(|kept| covered(kept, Cover::Void));
        void.map_or(Standing::None, |kept| Standing::Void {
            changed: changed_parts(&kept.definition, &definition(subject.spec)),
        })
    }

    /// Keeps a grant. Grants of the tool that its change made void go: the user has seen the change.
    pub fn remember(&mut self, scope: Scope, grant: Grant, spec: &ToolSpec) -> Result<(), Notice> {
        let kept = Kept { grant, definition: definition(spec), rest: Map::new() };
        match scope {
            Scope::Once => Ok(()),
            Scope::Session => {
                add(&mut self.session, kept);
                Ok(())
            }
            Scope::Always => {
                let stored = if self.file.is_some() { self.change(|grants| add(grants, kept.clone())) } else { Ok(()) };
                // Not in both places: what another mcpane revokes in the file must not live on here.
                if self.file.is_none() || stored.is_err() {
                    add(&mut self.session, kept);
                }
                stored
            }
        }
    }

    /// Forgets what was granted to a tool in a project; how many grants that were.
    pub fn revoke(&mut self, tool: &ToolId, project: &str) -> Result<usize, Notice> {
        let mine = |kept: &Kept| kept.grant.tool == *tool && kept.grant.project == project;
        let before = self.of(tool, project).len();
        self.session.retain(|kept| !mine(kept));
        self.refresh();
        if self.stored.iter().any(mine) {
            self.change(|grants| grants.retain(|kept| !mine(kept)))?;
        }
        Ok(before)
    }

    /// Grants of a tool in a project, each once.
    pub fn of(&self, tool: &ToolId, project: &str) -> Vec<Grant> {
        let mut out: Vec<Grant> = Vec::new();
        let mine = self.stored.iter().chain(&self.session).map(|kept| &kept.grant);
        for grant in mine.filter(|grant| grant.tool == *tool && grant.project == project) {
            if !out.contains(grant) {
                out.push(grant.clone());
            }
        }
        out
    }

    /// What changed since the tool was granted last.
    pub fn changes(&self, spec: &ToolSpec, project: &str) -> Vec<DiffLine> {
        let mine = |kept: &&Kept| kept.grant.tool == spec.id && kept.grant.project == project;
        let last = self.stored.iter().chain(&self.session).rev().find(mine);
        match last {
            Some(kept) if kept.grant.definition != spec.hash && !kept.definition.is_null() => {
                diff::lines(&readable(&kept.definition), &readable(&definition(spec)))
            }
            _ => Vec::new(),
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<Kept>)) -> Result<(), Notice> {
        let Some(file) = self.file.clone() else { return Ok(()) };
        let written = disk::update(&file, |before| {
            let mut contents = match before.as_deref().map(|text| parse(text, &file)) {
                None => Contents { version: VERSION, ..Contents::default() },
                Some(Ok(contents)) => contents,
                Some(Err(phrase)) if phrase.key == "policy.grants_newer" => return Err(Failure::Phrase(phrase)),
                Some(Err(_)) => {
                    disk::write(&file.with_extension("json.broken"), before.as_deref().unwrap_or_default())?;
                    Contents { version: VERSION, ..Contents::default() }
                }
            };
            change(&mut contents.grants);
            let text = serde_json::to_string_pretty(&contents).map_err(io::Error::from)?;
            Ok((Some(text), contents.grants))
        });
        match written {
            Ok(grants) => {
                self.stored = grants;
                self.seen = stamp(&file);
                Ok(())
            }
            Err(Failure::Phrase(phrase)) => Err(Notice::warning(phrase)),
            Err(Failure::Io(error)) => {
                let unsaved = Phrase::new("policy.grants_unsaved").with("file", file.display()).with("problem", error);
                Err(Notice::warning(unsaved))
            }
        }
    }
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

fn add(grants: &mut Vec<Kept>, new: Kept) {
    let (tool, project) = (&new.grant.tool, &new.grant.project);
    grants.retain(|kept| {
        let same_tool = kept.grant.tool == *tool && kept.grant.project == *project;
        !(same_tool && (kept.grant.definition != new.grant.definition || kept.grant == new.grant))
    });
    grants.push(new);
}

fn parse(text: &str, file: &Path) -> Result<Contents, Phrase> {
    let contents: Contents = serde_json::from_str(text).map_err(|error| problem(file, &error.to_string()))?;
    if contents.version > VERSION {
        return Err(Phrase::new("policy.grants_newer").with("file", file.display()));
    }
    Ok(contents)
}

fn problem(file: &Path, problem: &str) -> Phrase {
    Phrase::new("policy.grants_broken").with("file", file.display()).with("problem", problem)
}

#[cfg(unix)]
fn stamp(file: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(file).ok().map(|meta| Stamp(meta.ino(), meta.modified().ok(), meta.len()))
}

fn definition(spec: &ToolSpec) -> Value {
    hash::definition(
        &spec.id.name,
        &spec.description,
        &spec.input_schema,
        spec.output_schema.as_deref(),
        &spec.annotations,
    )
}

fn readable(definition: &Value) -> String {
    // Sorted keys, so that a mere change of order does not show.
    let sorted: Value = serde_json::from_str(&hash::canonical(definition)).unwrap_or_default();
    serde_json::to_string_pretty(&sorted).unwrap_or_default() + "\n"
}

fn changed_parts(old: &Value, new: &Value) -> String {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return String::new() };
    let same = |key: &String| {
        let text = |side: &Map<String, Value>| side.get(key).map(hash::canonical);
        text(old) == text(new)
    };
    let mut parts: Vec<&str> = old.keys().chain(new.keys()).filter(|key| !same(key)).map(String::as_str).collect();
    parts.sort_unstable();
    parts.dedup();
    parts.join(", ")
}
