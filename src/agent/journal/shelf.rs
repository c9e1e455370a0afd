//! Journals on the shelf: what there is, without taking any of it in hand.
//!
//! Reads and removes; never writes. A journal that a living process holds can be read as it stands, and is not removed.

use super::{Header, draft_path, read};
use crate::agent::machine::Entry;
use crate::domain::Conversation;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What the line of a turn begins with; other lines need not be parsed to tell what a session is about.
const TURN: &[u8] = b"{\"entry\":\"turn\",";

/// A session, seen from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Its first line.
    pub header: Header,
    /// Its file.
    pub path: PathBuf,
    /// When it was written last.
    pub modified: SystemTime,
    /// Its first task.
    pub title: String,
    /// How many turns it has.
    pub turns: usize,
    /// A living process writes it.
    pub held: bool,
}

/// A session that was read.
#[derive(Debug)]
pub struct Kept {
    /// Its first line.
    pub header: Header,
    /// What happened in it, as far as it is written.
    pub conversation: Conversation,
    /// Lines that could not be read, by number, from 1.
    pub damaged: Vec<usize>,
}

/// The sessions of a directory, the newest first. What is no journal is passed over, and so is one without a line.
pub fn list(directory: &Path) -> io::Result<Vec<Outline>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let mut found: Vec<Outline> = journals.filter_map(|path| outline(path).ok()).collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.header.id.cmp(&a.header.id)));
    Ok(found)
}

fn outline(path: PathBuf) -> io::Result<Outline> {
    let file = File::open(&path)?;
    let modified = file.metadata()?.modified()?;
    let held = file.try_lock_shared().is_err();
    let mut reader = BufReader::new(&file);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    let header: Header = serde_json::from_slice(&line)?;
    let (mut title, mut turns) = (String::new(), 0);
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if !line.starts_with(TURN) {
            continue;
        }
        if let Ok(Entry::Turn { input, .. }) = serde_json::from_slice(&line) {
            turns += 1;
            if title.is_empty() {
                title = input.text;
            }
        }
    }
    Ok(Outline { header, path, modified, title, turns, held })
}

/// Reads a session. `InvalidData` for what is no journal.
pub fn look(path: &Path) -> io::Result<Kept> {
    let (header, conversation, damaged, _) = read(&File::open(path)?)?;
    Ok(Kept { header, conversation, damaged })
}

/// Removes a session with its draft. `WouldBlock` when a living process holds it.
pub fn remove(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().append(true).open(path)?;
    file.try_lock().map_err(io::Error::from)?;
    std::fs::remove_file(path)?;
    match std::fs::remove_file(draft_path(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::*;
    use crate::domain::conversation::{TurnEnd, TurnKind};
    use crate::domain::{TurnId, UserInput};
    use crate::redact::Redactor;

    fn journal(directory: &Path, id: &str) -> Journal {
        let header = Header { version: 1, id: id.into(), cwd: "/w".into(), created: "2026-01-01T00:00:00Z".into() };
        let mut journal = Journal::create(directory, header, Redactor::default()).unwrap();
        for n in 1..3 {
            let input = UserInput::text(format!("task {n}"));
            let turn = TurnId(n);
            let entries =
                [Entry::Turn { turn, kind: TurnKind::default(), input }, Entry::TurnEnd { turn, end: TurnEnd::Done }];
            journal.write(&entries).unwrap();
        }
        journal
    }

    #[test]
    fn what_is_held_is_listed_and_read_but_not_removed() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(list(&directory.path().join("none")).unwrap(), []);
        let open = journal(directory.path(), "b");
        open.keep_draft("x").unwrap();
        drop(journal(directory.path(), "a"));
        std::fs::write(directory.path().join("c.jsonl"), "garbage\n").unwrap();
        std::fs::write(directory.path().join("d.jsonl"), "").unwrap();
        let found = list(directory.path()).unwrap();
        let mut seen: Vec<_> =
            found.iter().map(|o| (o.header.id.as_str(), o.title.as_str(), o.turns, o.held)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [("a", "task 1", 2, false), ("b", "task 1", 2, true)]);
        let path = open.path().to_owned();
        assert_eq!(look(&path).unwrap().conversation.turns.len(), 2);
        assert_eq!(remove(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(open);
        remove(&path).unwrap();
        assert!(!path.exists() && !path.with_extension("draft").exists());
        assert_eq!(list(directory.path()).unwrap().len(), 1);
    }
}
