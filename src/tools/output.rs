//! The output of a command: for the screen while it comes, for the model when it ended, whole in a file.
//!
//! Owns: decoding, batching what goes to the screen, the ends that are kept in memory, and the file that takes everything once there is more than a
//! model reads at once. Does not: run anything (`process`).
//!
//! **Invariants:** memory is bounded whatever is written; at most twenty signals a second, each of bounded size; the file is bounded.

use super::cut::{self, NOTE, count};
use super::ends::{self, Ends, Kept};
use super::media;
use super::process::Sink;
use super::spill::{Pouring, Spill};
use super::utf8::Utf8;
use crate::domain::{CallId, ToolSignal};
use crate::tools::Signals;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::Instant;

/// Between two signals.
const TICK: Duration = Duration::from_millis(50);
/// Most text in one signal; what came before it in the same tick is only counted.
const MOST_SIGNAL: usize = 16 * 1024;
/// Most text kept as the call's content, for people.
const MOST_SHOWN: usize = 256 * 1024;
/// Most bytes of output that are kept in the file.
const MOST_SPILLED: u64 = 64 * 1024 * 1024;
/// Room for what is said below the output.
const FOOTER: usize = 400;

/// Takes output.
pub struct Output {
    call: CallId,
    spill: Spill,
    signals: Signals,
    utf8: Utf8,
    model: Ends,
    shown: Ends,
    /// All text so far, until there is so much that it goes to the file.
    early: Option<String>,
    file: Filed,
    batch: Batch,
}

enum Filed {
    NotYet,
    Open(Pouring),
    Failed(String),
}

/// What is held back for the next signal.
struct Batch {
    text: String,
    skipped: u64,
    last: Option<Instant>,
}

/// What became of the output.
pub struct Collected {
    /// For people.
    pub content: String,
    /// For the model, where it is not the same.
    pub for_model: Option<String>,
    /// Where it is whole.
    pub spilled: Option<PathBuf>,
}

impl Output {
    /// For one call. `budget`: bytes for the model, notes included.
    pub fn new(call: CallId, budget: usize, spill: &Spill, signals: Signals) -> Self {
        let spare = NOTE + 2 * spill.text_path(call).as_os_str().len() + FOOTER;
        let room = budget.saturating_sub(spare);
        Self {
            call,
            spill: spill.clone(),
            signals,
            utf8: Utf8::default(),
            model: Ends::new(room / 2, room - room / 2),
            shown: Ends::new(MOST_SHOWN / 2, MOST_SHOWN / 2),
            early: Some(String::new()),
            file: Filed::NotYet,
            batch: Batch { text: String::new(), skipped: 0, last: None },
        }
    }

    /// Makes sure that everything is in the file, and says where. For output that will go on after the call.
    pub fn file(&mut self) -> Option<&Path> {
        if let Some(early) = self.early.take() {
            self.file = match self.spill.begin(self.call) {
                Ok(mut file) => match file.pour(&early) {
                    Ok(()) => Filed::Open(file),
                    Err(error) => Filed::Failed(error.to_string()),
                },
                Err(error) => Filed::Failed(error.to_string()),
            };
        }
        match &self.file {
            Filed::Open(file) => Some(file.path()),
            Filed::NotYet | Filed::Failed(_) => None,
        }
    }

    /// What was collected, with `footer` below it, and the file where one was begun.
    pub fn finish(mut self, footer: &str) -> (Collected, Option<Pouring>) {
        let mut rest = String::new();
        self.utf8.end(&mut rest);
        self.add(&rest);
        let bytes = self.model.bytes();
        let (file, why) = match self.file {
            Filed::Open(mut file) => {
                let _ = file.end();
                (Some(file), None)
            }
            Filed::NotYet => (None, None),
            Filed::Failed(why) => (None, Some(why)),
        };
        let path = file.as_ref().map(|file| file.path().to_owned());
        let for_model = match self.model.finish() {
            Kept::Whole(_) => None,
            Kept::Cut(cut) => {
                let note = match (&path, why) {
                    (Some(path), _) if bytes > MOST_SPILLED => {
                        format!("{} The file holds the first {}.", cut::left_out(&cut, path), media::size(MOST_SPILLED))
                    }
                    (Some(path), _) => cut::left_out(&cut, path),
                    (None, why) => cut::lost(&cut, &why.unwrap_or_default()),
                };
                Some(with_footer(ends::join(cut, &note), footer))
            }
        };
        let shown = match self.shown.finish() {
            Kept::Whole(text) => text,
            Kept::Cut(cut) => {
                let note = format!("[… {} ({}) …]", count(cut.lines, "line"), media::size(cut.bytes));
                ends::join(cut, &note)
            }
        };
        (Collected { content: with_footer(shown, footer), for_model, spilled: path }, file)
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.model.push(text);
        self.shown.push(text);
        self.batch.add(text);
        match &mut self.early {
            Some(early) if self.model.is_whole() => early.push_str(text),
            Some(early) => {
                early.push_str(text);
                self.file();
            }
            None => {
                if let Filed::Open(file) = &mut self.file
                    && self.model.bytes() <= MOST_SPILLED
                    && let Err(error) = file.pour(text)
                {
                    self.file = Filed::Failed(error.to_string());
                }
            }
        }
    }
}

impl Sink for Output {
    fn take(&mut self, bytes: &[u8]) {
        let mut text = String::with_capacity(bytes.len());
        self.utf8.push(bytes, &mut text);
        self.add(&text);
    }

    fn flush_at(&self) -> Option<Instant> {
        if self.batch.text.is_empty() {
            return None;
        }
        Some(self.batch.last.map_or_else(Instant::now, |last| last + TICK))
    }

    fn flush(&mut self) {
        if let Some(text) = self.batch.take() {
            (self.signals)(ToolSignal::Output { text });
        }
    }

    fn is_full(&self) -> bool {
        self.model.bytes() > MOST_SPILLED
    }
}

impl Batch {
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * MOST_SIGNAL {
            let from = ends::ceil(&self.text, self.text.len() - MOST_SIGNAL);
            self.skipped += from as u64;
            self.text.drain(..from);
        }
    }

    fn take(&mut self) -> Option<String> {
        if self.text.is_empty() {
            return None;
        }
        self.last = Some(Instant::now());
        let text = std::mem::take(&mut self.text);
        let skipped = std::mem::take(&mut self.skipped);
        Some(if skipped == 0 { text } else { format!("[… {} …]\n{text}", media::size(skipped)) })
    }
}

fn with_footer(mut text: String, footer: &str) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(footer);
    text
}

/// Goes on reading what a background process writes, so that it does not die of a closed pipe. Ends when nobody holds the pipe any more.
pub async fn drain(mut pipe: Receiver, mut file: Option<Pouring>) {
    let mut utf8 = Utf8::default();
    let mut buffer = vec![0; 16 * 1024];
    let mut room = MOST_SPILLED;
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        room = room.saturating_sub(count as u64);
        if let Some(open) = file.as_mut().filter(|_| room > 0) {
            let mut text = String::new();
            utf8.push(&buffer[..count], &mut text);
            // Whole at once: whoever reads the file wants to see the last line, even an unfinished one.
            if open.pour(&text).and_then(|()| open.end()).is_err() {
                file = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::Redactor;
    use std::sync::{Arc, Mutex};

    fn output(budget: usize) -> (tempfile::TempDir, Output, Arc<Mutex<Vec<String>>>) {
        let dir = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        redactor.register("hunter2");
        let spill = Spill::new(dir.path().join("spill"), redactor);
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let to = Arc::clone(&heard);
        let signals: Signals = Arc::new(move |signal| {
            if let ToolSignal::Output { text } = signal {
                to.lock().unwrap().push(text);
            }
        });
        (dir, Output::new(CallId(5), budget, &spill, signals), heard)
    }

    #[test]
    fn short_output_is_the_same_for_all_and_touches_no_disk() {
        let (dir, mut output, _) = output(4000);
        output.take(b"hel");
        output.take(b"lo");
        let (collected, file) = output.finish("[exit code 0]");
        assert_eq!(collected.content, "hello\n[exit code 0]");
        assert!(collected.for_model.is_none() && collected.spilled.is_none() && file.is_none());
        assert!(!dir.path().join("spill").exists());
    }

    #[test]
    fn long_output_is_whole_in_a_file_and_cut_for_the_model() {
        let (_dir, mut output, _) = output(4000);
        let mut all = String::new();
        for n in 0..20_000 {
            let line = format!("line {n} hunter2\n");
            all.push_str(&line);
            output.take(line.as_bytes());
        }
        let (collected, file) = output.finish("[exit code 1]");
        drop(file);
        let model = collected.for_model.unwrap();
        assert!(model.len() <= 4000, "{}", model.len());
        assert!(model.starts_with("line 0 ") && model.ends_with("line 19999 hunter2\n[exit code 1]"));
        assert!(collected.content.len() <= MOST_SHOWN + 200);
        let path = collected.spilled.unwrap();
        assert!(model.contains(path.to_str().unwrap()) && model.contains("\"start_line\""));
        assert_eq!(std::fs::read_to_string(path).unwrap(), all.replace("hunter2", "•••"));
    }

    #[test]
    fn a_flood_makes_few_signals_of_bounded_size() {
        let (_dir, mut output, heard) = output(4000);
        for _ in 0..1000 {
            output.take(&[b'y'; 4096]);
        }
        assert!(output.flush_at().is_some());
        output.flush();
        assert!(output.flush_at().is_none());
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 1);
        assert!(heard[0].len() <= 2 * MOST_SIGNAL + 40 && heard[0].starts_with("[… 3."), "{}", &heard[0][..30]);
    }

    #[test]
    fn a_character_split_between_reads_is_whole() {
        let (_dir, mut output, heard) = output(4000);
        let bytes = "好".as_bytes();
        output.take(&bytes[..1]);
        assert!(output.flush_at().is_none());
        output.take(&bytes[1..]);
        output.flush();
        assert_eq!(*heard.lock().unwrap(), ["好"]);
    }
}
