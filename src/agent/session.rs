//! The session in hand: its journal and its draft on disk.
//!
//! Owns the open journal. A session whose journal cannot be written goes on without one; that is said once. What could not be
//! written (a full disk) is tried again with the next entries.

use super::journal::{Header, Journal};
use super::machine::Entry;
use crate::domain::{Notice, Phrase, SessionId};
use crate::redact::Redactor;
use std::path::PathBuf;

/// See the module.
#[derive(Debug)]
pub struct Session {
    directory: PathBuf,
    cwd: String,
    journal: Option<Journal>,
    failed: bool,
}

impl Session {
    /// Sessions of a project; the journal is one to go on with, if there is one.
    pub fn new(directory: PathBuf, cwd: String, journal: Option<Journal>) -> Self {
        Self { directory, cwd, journal, failed: false }
    }

    /// Where it works.
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Makes sure that there is a journal. Its id, empty where there cannot be one.
    pub fn open(&mut self, redactor: Redactor) -> (SessionId, Option<Notice>) {
        let mut notice = None;
        if self.journal.is_none() {
            let now = jiff::Timestamp::now();
            let header = Header { version: 1, id: new_id(now), cwd: self.cwd.clone(), created: now.to_string() };
            match Journal::create(&self.directory, header, redactor) {
                Ok(journal) => self.journal = Some(journal),
                Err(error) => notice = self.fail(&error),
            }
        }
        (self.journal.as_ref().map_or_else(|| SessionId::from(""), |journal| journal.id().clone()), notice)
    }

    /// Leaves this session; the next [`Self::open`] begins another.
    pub fn leave(&mut self) {
        self.journal = None;
    }

    /// Writes entries, durably.
    pub fn record(&mut self, entries: &[Entry]) -> Option<Notice> {
        if entries.is_empty() {
            return None;
        }
        match self.journal.as_mut()?.write(entries) {
            Ok(()) => {
                self.failed = false;
                None
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Keeps what is being typed.
    pub fn keep_draft(&self, text: &str) {
        let Some(journal) = &self.journal else { return };
        if let Err(error) = journal.keep_draft(text) {
            tracing::warn!(%error, "the draft could not be kept");
        }
    }

    fn fail(&mut self, error: &std::io::Error) -> Option<Notice> {
        let first = !std::mem::replace(&mut self.failed, true);
        first.then(|| Notice::error(Phrase::new("agent.journal_failed").with("error", error)))
    }
}

/// Ids sort by time; the random tail tells apart what begins in the same second.
fn new_id(now: jiff::Timestamp) -> SessionId {
    let stamp = now.strftime("%Y%m%d-%H%M%S");
    SessionId::from(format!("{stamp}-{:04x}", fastrand::u16(..)))
}
