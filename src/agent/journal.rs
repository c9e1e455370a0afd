//! The journal: a session as JSON Lines, written while it happens.
//!
//! Owns the record types' way back to a conversation, the file with its lock, and the draft beside it. **Invariant:** [`Journal::write`] returns
//! after the line is on the disk, so what was announced after it survives `kill -9`. A last line that was cut off is dropped when reading.
//! **Invariant:** what could not be written (a full disk) leaves no trace in the file and goes before the next entries: the file is always the
//! beginning of what happened.

mod shelf;

pub use shelf::{Kept, Outline, list, look, remove};

use crate::agent::machine::Entry;
use crate::disk;
use crate::domain::conversation::TurnEnd;
use crate::domain::{CallId, Conversation, Item, ItemBody, SessionId, Step, StepEnd, ToolOutcome, Turn};
use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Levels of JSON in an entry. What is nested deeper is written as the text that it is, because readers of JSON have a limit (128 levels of
/// `serde_json`), and a line that cannot be read back is lost.
const LEVELS: usize = 96;

/// Bytes that are written at a time.
const BUFFER: usize = 64 * 1024;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Format of the file; this is 1.
    pub version: u32,
    /// The session's id.
    pub id: SessionId,
    /// Where it works.
    pub cwd: String,
    /// When it began, RFC 3339.
    pub created: String,
}

/// Rebuilds a conversation from the entries of a journal, in order.
#[derive(Debug, Default)]
pub struct Replay {
    conversation: Conversation,
    replied: BTreeSet<u64>,
    started: BTreeSet<CallId>,
}

impl Replay {
    /// Takes the next entry. What does not fit (a step of a turn that is not there) is dropped.
    pub fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Turn { turn, kind, input } => {
                self.conversation.turns.push(Turn { id: turn, kind, input, ..Turn::default() });
            }
            Entry::Environment { turn, text } => {
                if let Some(turn) = self.conversation.turn_mut(turn) {
                    turn.environment = Some(text);
                }
            }
            Entry::Step { turn, step } => {
                if let Some(turn) = self.conversation.turn_mut(turn) {
                    turn.steps.push(Step { id: step, ..Step::default() });
                }
            }
            Entry::Item { step, item } => {
                if let Some(step) = self.conversation.step_mut(step) {
                    step.items.push(item);
                }
            }
            Entry::Reply { step, usage, completed, .. } => {
                self.replied.insert(step.0);
                if let Some(step) = self.conversation.step_mut(step) {
                    step.usage = usage;
                    step.completed = completed;
                }
            }
            Entry::Call { call, tool, arguments } => {
                if let Some((call, _)) = self.conversation.call_mut(call) {
                    call.tool = tool;
                    call.arguments = arguments;
                }
            }
            Entry::Started { call } => {
                self.started.insert(call);
            }
            Entry::Outcome { call, outcome } => {
                if let Some((_, place)) = self.conversation.call_mut(call) {
                    *place = Some(outcome);
                }
            }
            Entry::StepEnd { step, end, reminder } => {
                if let Some(step) = self.conversation.step_mut(step) {
                    step.end = Some(end);
                    step.reminder = reminder;
                }
            }
            Entry::Hint { step, text } => {
                if let Some(step) = self.conversation.step_mut(step) {
                    step.reminder = Some(text);
                }
            }
            Entry::TurnEnd { turn, end } => {
                if let Some(turn) = self.conversation.turn_mut(turn) {
                    turn.end = Some(end);
                }
            }
        }
    }

    /// The conversation. What was open when the journal ended is closed: calls that had started are *interrupted, may have run*, others
    /// *cancelled*; a reply that had not arrived whole stays out of history.
    pub fn finish(mut self) -> Conversation {
        for turn in &mut self.conversation.turns {
            for step in &mut turn.steps {
                for item in &mut step.items {
                    settle(item, &self.started);
                }
                if step.end.is_none() {
                    let whole = self.replied.contains(&step.id.0);
                    step.end = Some(if whole { StepEnd::Complete } else { StepEnd::Interrupted });
                }
            }
            turn.end.get_or_insert(TurnEnd::Interrupted);
        }
        self.conversation
    }
}

fn settle(item: &mut Item, started: &BTreeSet<CallId>) {
    if let ItemBody::Call { call, outcome: outcome @ None } = &mut item.body {
        let ran = started.contains(&call.id);
        *outcome = Some(if ran { ToolOutcome::Interrupted } else { ToolOutcome::Cancelled });
    }
}

/// An open journal. Its file is locked as long as this lives, so that no other process continues the same session.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    header: Header,
    redactor: Redactor,
    /// Bytes of the file that are whole lines. Zero: the header comes with the first entry, so that a session without a message leaves no file.
    whole: u64,
    /// Lines that could not be written yet.
    unwritten: Vec<u8>,
}

/// A session that was read back.
#[derive(Debug)]
pub struct Resumed {
    /// Its journal, to go on writing.
    pub journal: Journal,
    /// What happened in it.
    pub conversation: Conversation,
    /// What was being typed.
    pub draft: String,
    /// Lines that could not be read, by number, from 1.
    pub damaged: Vec<usize>,
}

impl Journal {
    /// Begins a journal in a directory of sessions. The directory is made; the file appears at once, empty, and is locked.
    pub fn create(directory: &Path, header: Header, redactor: Redactor) -> io::Result<Self> {
        make_private(directory)?;
        let path = directory.join(format!("{}.jsonl", header.id));
        let file = OpenOptions::new().create_new(true).append(true).read(true).mode(0o600).open(&path)?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(Self { file, path, header, redactor, whole: 0, unwritten: Vec::new() })
    }

    /// The newest session of a directory that no living process holds.
    pub fn newest(directory: &Path, redactor: &Redactor) -> io::Result<Option<Resumed>> {
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(about) = entry.metadata() else { continue };
            if path.extension().is_some_and(|e| e == "jsonl") && about.len() > 0 {
                files.push((about.modified().unwrap_or(std::time::UNIX_EPOCH), path));
            }
        }
        files.sort();
        let mut problem = None;
        while let Some((_, path)) = files.pop() {
            match Self::resume(&path, redactor.clone()) {
                Ok(resumed) => return Ok(Some(resumed)),
                // Held by a living process, or not a journal: the next one.
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidData) => {}
                // One that cannot be read does not stand before the others.
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "a session cannot be read");
                    problem.get_or_insert(error);
                }
            }
        }
        problem.map_or(Ok(None), Err)
    }

    /// Reads a session back and goes on writing it. `WouldBlock` when a living process holds it.
    pub fn resume(path: &Path, redactor: Redactor) -> io::Result<Resumed> {
        let file = disk::reopen(path)?;
        file.try_lock().map_err(io::Error::from)?;
        let (header, conversation, damaged, whole) = read(&file)?;
        // A line that was cut off must not run into the next one.
        file.set_len(whole)?;
        let draft = disk::read(&draft_path(path)).ok().flatten().unwrap_or_default();
        let journal = Self { file, path: path.to_owned(), header, redactor, whole, unwritten: Vec::new() };
        Ok(Resumed { journal, conversation, draft, damaged })
    }

    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.header.id
    }

    /// Where the session works.
    pub fn cwd(&self) -> &str {
        &self.header.cwd
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes entries, durably. After an error they are written with the next ones.
    pub fn write(&mut self, entries: &[Entry]) -> io::Result<()> {
        if self.unwritten.is_empty() {
            match self.append(entries) {
                Ok(bytes) => {
                    self.whole += bytes;
                    return Ok(());
                }
                Err(error) => {
                    // Half a line must not run into the next one.
                    let _ = self.file.set_len(self.whole);
                    self.keep(entries)?;
                    return Err(error);
                }
            }
        }
        self.keep(entries)?;
        self.flush()
    }

    /// Writes entries at the end of the file; how many bytes that were. A long text is never in memory twice for it.
    fn append(&self, entries: &[Entry]) -> io::Result<u64> {
        let mut out = Counting { out: BufWriter::with_capacity(BUFFER, &self.file), bytes: 0 };
        self.encode(self.whole == 0, entries, &mut out)?;
        out.flush()?;
        self.file.sync_data()?;
        Ok(out.bytes)
    }

    fn keep(&mut self, entries: &[Entry]) -> io::Result<()> {
        let mut unwritten = std::mem::take(&mut self.unwritten);
        let first = self.whole == 0 && unwritten.is_empty();
        let kept = self.encode(first, entries, &mut unwritten);
        self.unwritten = unwritten;
        kept
    }

    /// The lines of entries, masked; the first come after the header.
    fn encode(&self, first: bool, entries: &[Entry], out: &mut impl Write) -> io::Result<()> {
        if first {
            serde_json::to_writer(&mut *out, &self.header)?;
            out.write_all(b"\n")?;
        }
        for entry in entries {
            if self.is_plain(entry) {
                serde_json::to_writer(&mut *out, entry)?;
            } else {
                let mut value = serde_json::to_value(entry)?;
                self.redactor.mask_json(&mut value);
                flatten(&mut value, LEVELS);
                serde_json::to_writer(&mut *out, &value)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Whether an entry is a text without a secret in it: there is nothing to mask and nothing to flatten.
    fn is_plain(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Item {
                item: Item { body: ItemBody::Answer { text } | ItemBody::Thinking { text, opaque: None }, .. },
                ..
            } => matches!(self.redactor.mask_text(text), Cow::Borrowed(_)),
            _ => false,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.file.write_all(&self.unwritten).and_then(|()| self.file.sync_data());
        if written.is_ok() {
            self.whole += self.unwritten.len() as u64;
            self.unwritten = Vec::new();
        } else {
            let _ = self.file.set_len(self.whole);
        }
        written
    }

    /// Keeps what is being typed; an empty draft removes its file.
    pub fn keep_draft(&self, text: &str) -> io::Result<()> {
        let path = draft_path(&self.path);
        if text.is_empty() {
            return match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        // Renamed into place: a crash leaves the old draft or the new one, never half of one.
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Counts what goes through.
struct Counting<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Journal {
    /// A session in which nothing happened leaves no file, unless something was being typed.
    fn drop(&mut self) {
        if !self.unwritten.is_empty() {
            let _ = self.flush();
        }
        if self.whole == 0 && !draft_path(&self.path).exists() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Turns what is nested deeper than `levels` into its JSON text.
fn flatten(value: &mut Value, levels: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = Value::String(value.to_string()),
        Value::Array(items) => items.iter_mut().for_each(|item| flatten(item, levels - 1)),
        Value::Object(fields) => fields.values_mut().for_each(|field| flatten(field, levels - 1)),
        _ => {}
    }
}

fn draft_path(journal: &Path) -> PathBuf {
    journal.with_extension("draft")
}

/// Makes a directory and its missing parents, readable by the user alone.
fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Header, conversation, numbers of lines that could not be read, and the length of what is whole.
fn read(file: &File) -> io::Result<(Header, Conversation, Vec<usize>, u64)> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut whole = 0_u64;
    let mut header = None;
    let mut replay = Replay::default();
    let mut damaged = Vec::new();
    for number in 1.. {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        if length == 0 || line.last() != Some(&b'\n') {
            break;
        }
        whole += length as u64;
        if number == 1 {
            header = serde_json::from_slice::<Header>(&line).ok().filter(|header| header.version == 1);
            continue;
        }
        match serde_json::from_slice::<Entry>(&line) {
            Ok(entry) => replay.take(entry),
            Err(_) => damaged.push(number),
        }
    }
    let header = header.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a session journal"))?;
    Ok((header, replay.finish(), damaged, whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conversation::TurnKind;
    use crate::domain::model::FinishReason;
    use crate::domain::tool::Origin;
    use crate::domain::{ItemId, StepId, ToolCall, TurnId, Usage, UserInput};
    use serde_json::json;

    fn header(id: &str) -> Header {
        Header { version: 1, id: id.into(), cwd: "/tmp".into(), created: "2026-01-01T00:00:00Z".into() }
    }

    fn call(id: u64) -> Item {
        let call = ToolCall {
            id: CallId(id),
            provider_id: None,
            asked: "x".into(),
            tool: None,
            arguments: json!({}),
            origin: Origin::Native,
        };
        Item { id: ItemId(id), body: ItemBody::Call { call, outcome: None } }
    }

    fn entries() -> Vec<Entry> {
        let (turn, step) = (TurnId(1), StepId(2));
        vec![
            Entry::Turn { turn, kind: TurnKind::default(), input: UserInput::text("task") },
            Entry::Step { turn, step },
            Entry::Item { step, item: call(3) },
            Entry::Item { step, item: call(4) },
            Entry::Reply { step, reason: FinishReason::ToolCalls, usage: Usage::default(), completed: false },
            Entry::Started { call: CallId(3) },
        ]
    }

    #[test]
    fn what_was_open_is_closed_by_what_may_have_happened() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(directory.path(), header("a"), Redactor::default()).unwrap();
        journal.write(&entries()).unwrap();
        journal.keep_draft("half a thou").unwrap();
        let path = journal.path().to_owned();
        assert_eq!(
            Journal::resume(&path, Redactor::default()).unwrap_err().kind(),
            io::ErrorKind::WouldBlock,
            "held by a living process"
        );
        drop(journal);
        // A line cut off by the crash.
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"entry\":\"turn_e").unwrap();
        let resumed = Journal::newest(directory.path(), &Redactor::default()).unwrap().unwrap();
        assert_eq!(resumed.draft, "half a thou");
        assert_eq!(resumed.damaged, Vec::<usize>::new());
        let step = &resumed.conversation.turns[0].steps[0];
        let outcomes: Vec<_> = step.calls().map(|(_, outcome)| outcome.cloned().unwrap()).collect();
        assert_eq!(outcomes, [ToolOutcome::Interrupted, ToolOutcome::Cancelled]);
        assert_eq!(step.end, Some(StepEnd::Complete));
        let mut journal = resumed.journal;
        journal.write(&[Entry::TurnEnd { turn: TurnId(1), end: TurnEnd::Done }]).unwrap();
        drop(journal);
        let again = Journal::resume(&path, Redactor::default()).unwrap();
        assert_eq!(again.conversation.turns[0].end, Some(TurnEnd::Done));
    }

    #[test]
    fn a_reply_that_did_not_arrive_whole_stays_out_of_history() {
        let mut replay = Replay::default();
        for entry in entries().into_iter().take(4) {
            replay.take(entry);
        }
        assert_eq!(replay.finish().turns[0].steps[0].end, Some(StepEnd::Interrupted));
    }

    #[test]
    fn a_session_without_a_message_leaves_no_file() {
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::create(directory.path(), header("a"), Redactor::default()).unwrap();
        let path = journal.path().to_owned();
        assert!(path.exists());
        drop(journal);
        assert!(!path.exists());
        assert!(Journal::newest(directory.path(), &Redactor::default()).unwrap().is_none());
        std::fs::write(directory.path().join("b.jsonl"), "garbage\n").unwrap();
        assert!(Journal::newest(directory.path(), &Redactor::default()).unwrap().is_none());
    }

    #[test]
    fn a_session_that_cannot_be_read_stands_before_no_other() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let mut journal = Journal::create(directory.path(), header("a"), Redactor::default()).unwrap();
        journal.write(&entries()).unwrap();
        drop(journal);
        std::fs::create_dir_all(at("b.jsonl/x")).unwrap();
        symlink("c.jsonl", at("c.jsonl")).unwrap();
        symlink("/dev/zero", at("d.jsonl")).unwrap();
        symlink("nowhere", at("e.jsonl")).unwrap();
        std::fs::create_dir(at("a.draft")).unwrap();
        let resumed = Journal::newest(directory.path(), &Redactor::default()).unwrap().unwrap();
        assert_eq!((resumed.journal.id(), resumed.draft.as_str()), (&"a".into(), ""));
        drop(resumed);
        std::fs::remove_file(at("a.jsonl")).unwrap();
        assert!(Journal::newest(directory.path(), &Redactor::default()).is_err(), "that there is trouble is said");
    }

    #[test]
    fn what_could_not_be_written_goes_before_what_comes_next() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(directory.path(), header("a"), Redactor::default()).unwrap();
        let path = journal.path().to_owned();
        // Every write to this device says that the disk is full.
        let file = std::mem::replace(&mut journal.file, OpenOptions::new().append(true).open("/dev/full").unwrap());
        let all = entries();
        assert_eq!(journal.write(&all[..2]).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(journal.write(&all[2..4]).is_err());
        journal.file = file;
        journal.write(&all[4..]).unwrap();
        drop(journal);
        let resumed = Journal::resume(&path, Redactor::default()).unwrap();
        assert_eq!(resumed.damaged, Vec::<usize>::new());
        assert_eq!(resumed.conversation.turns[0].steps[0].calls().count(), 2);
    }

    #[test]
    fn what_is_nested_too_deep_is_read_back_as_text() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(directory.path(), header("a"), Redactor::default()).unwrap();
        let path = journal.path().to_owned();
        let deep = (0..126).fold(json!(1), |inner, _| json!({ "a": inner }));
        let mut all = entries();
        all.truncate(2);
        let Item { id, body: ItemBody::Call { mut call, .. } } = call(3) else { unreachable!() };
        call.arguments = deep;
        let item = Item { id, body: ItemBody::Call { call, outcome: None } };
        all.push(Entry::Item { step: StepId(2), item });
        journal.write(&all).unwrap();
        drop(journal);
        let resumed = Journal::resume(&path, Redactor::default()).unwrap();
        assert_eq!(resumed.damaged, Vec::<usize>::new());
        let (call, _) = resumed.conversation.turns[0].steps[0].calls().next().unwrap();
        assert!(call.arguments.to_string().contains(r#"{\"a\":1}"#), "{}", call.arguments);
    }

    #[test]
    fn files_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(&directory.path().join("p/q"), header("a"), Redactor::default()).unwrap();
        journal.write(&entries()).unwrap();
        journal.keep_draft("x").unwrap();
        for path in [journal.path().to_owned(), draft_path(journal.path())] {
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        }
    }
}
