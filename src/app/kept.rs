//! Sessions that were kept: where their journals stand, and which one is meant.
//!
//! Owns how a session is named on the command line. The journals themselves are the agent's.

use crate::agent::journal::{self, Journal, Outline};
use crate::cli::Options;
use crate::domain::{Notice, Phrase};
use crate::redact::Redactor;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// A name for the project's folder of sessions: readable, and told apart by a hash.
pub fn project_key(project: &Path) -> String {
    let text = project.to_string_lossy();
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let name = project.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    format!("{}-{hash}", name.chars().take(40).collect::<String>())
}

/// Sessions of a folder, the newest first. Files that are no journals are passed over.
pub fn of_project(sessions: &Path) -> io::Result<Vec<Outline>> {
    journal::list(sessions)
}

/// Sessions of every folder, the newest first.
pub fn of_all(all: &Path) -> io::Result<Vec<Outline>> {
    let entries = match std::fs::read_dir(all) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries.flatten().filter(|entry| entry.path().is_dir()) {
        found.extend(journal::list(&entry.path())?);
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.modified));
    Ok(found)
}

/// The session that is meant: by its id, or by a beginning or an end of it that no other has. This folder's go before those of others.
pub fn find(id: &str, all: &Path, sessions: &Path) -> Result<Outline, Phrase> {
    let unreadable = |error: io::Error| Phrase::new("app.resume_failed").with("error", error);
    for found in [of_project(sessions), of_all(all)] {
        let fits = |one: &Outline| {
            let name = one.header.id.as_str();
            !id.is_empty() && (name.starts_with(id) || name.ends_with(id))
        };
        let mut found: Vec<Outline> = found.map_err(unreadable)?.into_iter().filter(fits).collect();
        if let Some(exact) = found.iter().position(|one| one.header.id.as_str() == id) {
            return Ok(found.swap_remove(exact));
        }
        match found.len() {
            0 => {}
            1 => return Ok(found.swap_remove(0)),
            _ => return Err(Phrase::new("app.session_several").with("id", id)),
        }
    }
    Err(Phrase::new("app.session_unknown").with("id", id))
}

/// The session to go on with, if the flags name one.
pub fn resume(
    options: &Options,
    all: &Path,
    sessions: &Path,
    redactor: &Redactor,
    notices: &mut Vec<Notice>,
) -> Result<Option<journal::Resumed>, Phrase> {
    let found = match &options.session {
        Some(Some(id)) => Some(resume_one(id, all, sessions, redactor)?),
        _ if options.resume => {
            let found = Journal::newest(sessions, redactor);
            found.map_err(|error| Phrase::new("app.resume_failed").with("error", error))?
        }
        _ => return Ok(None),
    };
    match &found {
        None => notices.push(Notice::info(Phrase::new("app.nothing_to_resume"))),
        Some(resumed) if !resumed.damaged.is_empty() => {
            let file = resumed.journal.path().display();
            let lines = resumed.damaged.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            notices.push(Notice::warning(Phrase::new("app.damaged").with("file", file).with("lines", lines)));
        }
        Some(_) => {}
    }
    Ok(found)
}

fn resume_one(id: &str, all: &Path, sessions: &Path, redactor: &Redactor) -> Result<journal::Resumed, Phrase> {
    let outline = find(id, all, sessions)?;
    let name = &outline.header.id;
    if outline.path.parent() != Some(sessions) {
        return Err(Phrase::new("app.session_elsewhere").with("id", name).with("folder", &outline.header.cwd));
    }
    Journal::resume(&outline.path, redactor.clone()).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => Phrase::new("app.session_held").with("id", name),
        _ => Phrase::new("app.resume_failed").with("error", error),
    })
}
