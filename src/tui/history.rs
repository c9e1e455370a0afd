//! What the user sent before, over all sessions: one JSON string a line in a file that only the user can read.
//!
//! Read when it is first looked at, not at start-up. Appending is one write, so that two sessions can share the file. A file that cannot be read or written
//! is said once and then done without.

use crate::disk;
use crate::domain::{Notice, Phrase};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Only the end of a longer file is read.
const READ: u64 = 512 * 1024;
/// Entries kept in memory.
const ENTRIES: usize = 1000;

/// The history.
#[derive(Debug, Default)]
pub struct History {
    path: Option<PathBuf>,
    entries: Vec<String>,
    loaded: bool,
    problem: Option<Notice>,
}

impl History {
    /// A history in a file; without one it lasts as long as the program.
    pub fn new(path: Option<PathBuf>) -> Self {
        Self { path, ..Self::default() }
    }

    /// An entry, 0 being the newest.
    pub fn get(&mut self, back: usize) -> Option<&str> {
        self.load();
        let index = self.entries.len().checked_sub(back + 1)?;
        self.entries.get(index).map(String::as_str)
    }

    /// Adds an entry, unless it is the newest one already.
    pub fn push(&mut self, text: &str) {
        if text.trim().is_empty() || self.get(0) == Some(text) {
            return;
        }
        self.entries.push(text.to_owned());
        if self.entries.len() > ENTRIES {
            self.entries.remove(0);
        }
        if let Some(path) = &self.path
            && let Err(error) = append(path, text)
        {
            self.failed(&error);
        }
    }

    /// What went wrong with the file, once.
    pub fn problem(&mut self) -> Option<Notice> {
        self.problem.take()
    }

    fn load(&mut self) {
        if std::mem::replace(&mut self.loaded, true) {
            return;
        }
        let Some(path) = &self.path else { return };
        match read(path) {
            Ok(mut entries) => {
                entries.append(&mut self.entries);
                let surplus = entries.len().saturating_sub(ENTRIES);
                entries.drain(..surplus);
                self.entries = entries;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &io::Error) {
        let file = self.path.take().unwrap_or_default();
        let text = Phrase::new("pane.history_failed").with("file", file.display()).with("error", error);
        self.problem = Some(Notice::warning(text));
    }
}

fn read(path: &Path) -> io::Result<Vec<String>> {
    let mut file = disk::open(path)?;
    let length = file.metadata()?.len();
    if length > READ {
        file.seek(SeekFrom::Start(length - READ))?;
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // The first line may be cut, another session may be writing the last: a line that is no JSON string is passed over.
    Ok(String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut line = serde_json::to_string(text)?;
    line.push('\n');
    disk::append(path)?.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn entries_outlive_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/history");
        let mut history = History::new(Some(path.clone()));
        history.push("one\ntwo");
        history.push("one\ntwo");
        history.push("  ");
        history.push("three");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "broken\n").unwrap();
        let mut again = History::new(Some(path));
        assert_eq!(again.get(0), Some("three"));
        assert_eq!(again.get(1), Some("one\ntwo"));
        assert_eq!(again.get(2), None);
    }

    #[test]
    fn a_file_that_fails_is_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut history = History::new(Some(folder.path().to_owned()));
        history.push("kept in memory");
        assert!(history.problem().is_some());
        assert!(history.problem().is_none());
        assert_eq!(history.get(0), Some("kept in memory"));
    }
}
