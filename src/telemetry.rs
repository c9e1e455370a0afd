//! Tracing to a file; never to the screen.
//!
//! Owns: the log file under the state directory: made when the first line is written, private (0600), bounded in size (one older file is kept), every
//! line masked. Does not: read the environment (the filter is an argument), or fail the program: a log that cannot be written is not written.
//!
//! **Invariant:** nothing here writes to standard output or standard error, not even about its own failures.

use crate::disk;
use crate::domain::{Notice, Phrase};
use crate::redact::Redactor;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// The file's name below the log directory.
const FILE: &str = "mcpane.log";
/// The name of the one before it.
const OLDER: &str = "mcpane.1.log";
/// Size at which a new file is begun.
const MOST: u64 = 4 * 1024 * 1024;
/// Longest line that is written; the libraries below us log whole messages.
const MOST_LINE: usize = 8 * 1024;

/// Libraries that write whole messages or every step of a connection. They are held to warnings unless the filter names them.
const LOUD: &[&str] = &["rmcp", "h2", "hyper", "hyper_util", "reqwest", "rustls"];

/// Sends tracing of this process to `directory`, which need not exist. `filter` is the value of `MCPANE_LOG`: `debug`, `mcpane::mcp=trace,rmcp=info`.
/// Called once; a filter that cannot be read costs a notice, and the default one is used.
pub fn start(directory: &Path, filter: Option<&str>, redactor: &Redactor) -> Option<Notice> {
    let (targets, notice) = targets(filter);
    let log = Log { directory: directory.to_owned(), redactor: redactor.clone(), open: Mutex::new(Open::NotYet) };
    // Somebody who set another subscriber before (a test) keeps it.
    let _ = tracing::subscriber::set_global_default(subscriber(log, targets));
    notice
}

fn subscriber(log: Log, targets: Targets) -> impl Subscriber + Send + Sync {
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(log);
    tracing_subscriber::registry().with(targets).with(lines)
}

fn targets(filter: Option<&str>) -> (Targets, Option<Notice>) {
    let usual = || Targets::new().with_default(LevelFilter::WARN).with_target("mcpane", LevelFilter::INFO);
    let Some(text) = filter.map(str::trim).filter(|text| !text.is_empty()) else { return (usual(), None) };
    match text.parse::<Targets>() {
        Ok(mut targets) => {
            for name in LOUD {
                if !text.split([',', '=', ':']).any(|part| part.trim() == *name) {
                    let asked = targets.default_level().unwrap_or(LevelFilter::OFF);
                    targets = targets.with_target(*name, asked.min(LevelFilter::WARN));
                }
            }
            (targets, None)
        }
        Err(error) => {
            let phrase = Phrase::new("cli.log_filter").with("filter", text).with("message", error);
            (usual(), Some(Notice::warning(phrase)))
        }
    }
}

struct Log {
    directory: PathBuf,
    redactor: Redactor,
    open: Mutex<Open>,
}

enum Open {
    NotYet,
    File { file: File, size: u64 },
    Failed,
}

impl Log {
    fn line(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let mut line = self.redactor.mask_text(text.trim_end()).into_owned();
        if line.len() > MOST_LINE {
            let end = (0..=MOST_LINE).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
            line.truncate(end);
            line.push('…');
        }
        line.push('\n');
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.write(&mut open, line.as_bytes()).is_err() {
            // A full disk or a closed directory: trying again with each line would only cost time.
            *open = Open::Failed;
        }
    }

    fn write(&self, open: &mut Open, line: &[u8]) -> io::Result<()> {
        match open {
            Open::Failed => return Ok(()),
            Open::NotYet => *open = self.begin()?,
            Open::File { size, .. } if *size + line.len() as u64 > MOST => {
                std::fs::rename(self.directory.join(FILE), self.directory.join(OLDER))?;
                *open = self.begin()?;
            }
            Open::File { .. } => {}
        }
        if let Open::File { file, size } = open {
            file.write_all(line)?;
            *size += line.len() as u64;
        }
        Ok(())
    }

    fn begin(&self) -> io::Result<Open> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        // Appending: several processes may write one file, each line at once.
        let file = disk::append(&self.directory.join(FILE))?;
        let size = file.metadata()?.len();
        Ok(Open::File { file, size })
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { log: self, bytes: Vec::new() }
    }

    fn make_writer_for(&'a self, _: &Metadata<'_>) -> Line<'a> {
        self.make_writer()
    }
}

/// One event on its way: collected, so that a secret is seen whole, and written when it is dropped.
struct Line<'a> {
    log: &'a Log,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        if !self.bytes.is_empty() {
            self.log.line(&self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn log(directory: &Path) -> Log {
        let redactor = Redactor::default();
        redactor.register("sk-hunter2hunter2");
        Log { directory: directory.to_owned(), redactor, open: Mutex::new(Open::NotYet) }
    }

    fn with<T>(directory: &Path, filter: Option<&str>, work: impl FnOnce() -> T) -> T {
        tracing::subscriber::with_default(subscriber(log(directory), targets(filter).0), work)
    }

    #[test]
    fn lines_are_masked_private_and_written_only_when_there_are_any() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state/log");
        with(&state, None, || {
            tracing::debug!(target: "mcpane::x", "too quiet");
            assert!(!state.exists());
            tracing::info!(target: "mcpane::x", key = "sk-hunter2hunter2", "hello");
            tracing::info!(target: "rmcp::service", "whole message");
            tracing::warn!(target: "rmcp::service", "trouble");
        });
        let text = std::fs::read_to_string(state.join(FILE)).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("INFO mcpane::x: hello key=\"•••\"") && text.contains("trouble"), "{text}");
        assert_eq!(state.join(FILE).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn libraries_that_dump_messages_must_be_named_to_do_so() {
        let dir = tempfile::tempdir().unwrap();
        with(dir.path(), Some("debug"), || {
            tracing::debug!(target: "mcpane", "one");
            tracing::info!(target: "rmcp", "dump");
            tracing::debug!(target: "hyper::proto", "dump");
        });
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap().lines().count(), 1);
        with(dir.path(), Some("error,rmcp=info"), || {
            tracing::info!(target: "rmcp", "dump");
            tracing::warn!(target: "hyper", "less than asked");
        });
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap().lines().count(), 2);
    }

    #[test]
    fn a_bad_filter_is_a_notice() {
        let (targets, notice) = targets(Some("mcpane=loud"));
        assert_eq!(notice.unwrap().text.key, "cli.log_filter");
        assert!(targets.would_enable("mcpane", &tracing::Level::INFO));
        assert!(super::targets(Some(" ")).1.is_none());
    }

    #[test]
    fn the_size_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let log = log(dir.path());
        let line = vec![b'x'; MOST_LINE * 2];
        for _ in 0..(2 * MOST as usize / MOST_LINE + 10) {
            log.line(&line);
        }
        let sizes: Vec<u64> = [FILE, OLDER].map(|name| dir.path().join(name).metadata().unwrap().len()).into();
        assert!(sizes.iter().all(|&size| size <= MOST) && sizes.iter().sum::<u64>() > MOST, "{sizes:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_no_failure() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let log = log(&dir.path().join("file/log"));
        log.line(b"x");
        assert!(matches!(*log.open.lock().unwrap(), Open::Failed));
    }
}
