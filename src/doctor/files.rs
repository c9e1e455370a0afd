//! The files that were looked for, with what is wrong in each.

use super::{Finding, argument};
use crate::config::report;
use crate::config::servers::{FileReport, FileState, Scope};
use crate::domain::prompt::TrustRequest;
use crate::domain::{Notice, Phrase};
use crate::strings::Strings;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Settings.
    Settings,
    /// Servers.
    Servers,
    /// Keys.
    Keymap,
    /// What the user trusts.
    Trust,
    /// What the user allowed.
    Grants,
}

/// Whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    /// The user's.
    User,
    /// The project's.
    Project,
    /// Named on the command line.
    Named,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// There is none.
    Missing,
    /// It counts.
    Read,
    /// It cannot be read, or not all of it.
    Broken,
    /// It waits for the user's trust.
    Untrusted,
    /// The user refused it.
    Refused,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// What for.
    pub kind: Kind,
    /// Whose.
    pub whose: Whose,
    /// What became of it.
    pub state: State,
    /// Entries of servers in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<usize>,
    /// What is wrong in it.
    pub findings: Vec<Finding>,
}

/// What the files are known from.
pub struct Sources<'a> {
    /// Files beside those of servers: what for, whose, where.
    pub others: Vec<(Kind, Whose, PathBuf)>,
    /// Files of servers.
    pub servers: &'a [FileReport],
    /// Files that wait for trust.
    pub pending: &'a [TrustRequest],
    /// Everything that the loaders said.
    pub notices: &'a [Notice],
    /// Texts.
    pub strings: &'a Strings,
}

/// The files, and what the loaders said that belongs to none of them.
pub fn look(sources: &Sources<'_>) -> (Vec<File>, Vec<Finding>) {
    let waits = |path: &Path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).display().to_string();
        sources.pending.iter().any(|request| request.file == real)
    };
    let mut files: Vec<File> = Vec::new();
    for (kind, whose, path) in &sources.others {
        let state = match report::read(path) {
            Ok(None) => State::Missing,
            Ok(Some(_)) if waits(path) => State::Untrusted,
            Ok(Some(_)) => State::Read,
            Err(_) => State::Broken,
        };
        files.push(File { path: path.clone(), kind: *kind, whose: *whose, state, servers: None, findings: Vec::new() });
    }
    for file in sources.servers {
        let (state, servers) = match file.state {
            FileState::Missing => (State::Missing, None),
            FileState::Read(count) => (State::Read, Some(count)),
            FileState::Broken => (State::Broken, None),
            FileState::Untrusted(count) => (State::Untrusted, Some(count)),
            FileState::Refused => (State::Refused, None),
        };
        let whose = match file.scope {
            Scope::User => Whose::User,
            Scope::Project => Whose::Project,
            Scope::Named => Whose::Named,
        };
        let path = file.path.clone();
        files.push(File { path, kind: Kind::Servers, whose, state, servers, findings: Vec::new() });
    }
    let mut other = Vec::new();
    for notice in sources.notices {
        let finding = Finding::of(notice, sources.strings);
        match file_of(&notice.text, &mut files) {
            Some(file) => {
                // A line of it is lost.
                if matches!(notice.text.key.as_ref(), "config.toml" | "config.trust_broken" | "policy.grants_broken") {
                    file.state = State::Broken;
                }
                file.findings.push(finding);
            }
            None => other.push(finding),
        }
    }
    (files, other)
}

fn file_of<'a>(phrase: &Phrase, files: &'a mut [File]) -> Option<&'a mut File> {
    let name = argument(phrase, "file")?;
    files.iter_mut().find(|file| file.path.display().to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_is_told_once_where_it_belongs() {
        let dir = tempfile::tempdir().unwrap();
        let settings = dir.path().join("config.toml");
        std::fs::write(&settings, "x").unwrap();
        let servers = FileReport { path: dir.path().join("mcp.json"), scope: Scope::User, state: FileState::Read(2) };
        let at = |path: &Path| {
            Phrase::new("config.unknown_key").with("file", path.display()).with("line", 3).with("key", "k")
        };
        let notices = [
            Notice::warning(at(&settings)),
            Notice::warning(at(&servers.path)),
            Notice::warning(
                Phrase::new("config.toml").with("file", settings.display()).with("line", 1).with("problem", "p"),
            ),
            Notice::warning(Phrase::new("model.no_base_url").with("provider", "mine")),
        ];
        let strings = Strings::default();
        let (files, other) = look(&Sources {
            others: vec![
                (Kind::Settings, Whose::User, settings.clone()),
                (Kind::Keymap, Whose::User, dir.path().join("keymap.toml")),
            ],
            servers: std::slice::from_ref(&servers),
            pending: &[],
            notices: &notices,
            strings: &strings,
        });
        let states: Vec<(State, usize)> = files.iter().map(|file| (file.state, file.findings.len())).collect();
        assert_eq!(states, [(State::Broken, 2), (State::Missing, 0), (State::Read, 1)]);
        assert_eq!((files[2].servers, files[2].findings[0].line), (Some(2), Some(3)));
        assert_eq!(other.len(), 1);
    }
}
