//! Recordings (`--record FILE`): every intent and every fact, as they passed, as JSON Lines.
//!
//! ```json
//! {"record":1,"mcpane":"0.1.0","started":"2026-01-31T09:30:00Z"}
//! {"at":12,"op":{"op":"submit","input":{"text":"…"}}}
//! {"at":40,"event":{"type":"turn","what":"started",…}}
//! ```
//!
//! Owns the file and its form; `at` counts milliseconds from the beginning. **Invariants:** the file is private (0600) and known secrets are masked in it;
//! nothing that passes is lost or reordered, whatever becomes of the file. A secret that arrives in two pieces is seen in neither.

use super::output::line_of;
use crate::contract::{Event, Op};
use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The form of the file.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The form of the file; this is 1.
    pub record: u32,
    /// The program's version.
    pub mcpane: String,
    /// When it began, RFC 3339.
    pub started: String,
}

/// Every other line: one of the two.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Line {
    /// Milliseconds from the beginning.
    pub at: u64,
    /// What happened.
    #[serde(default)]
    pub event: Option<Event>,
    /// What was wanted.
    #[serde(default)]
    pub op: Option<Op>,
}

/// A file that is being written.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    redactor: Redactor,
    began: Instant,
}

impl Recorder {
    /// Begins a recording; what stood in the file goes.
    pub fn create(path: &Path, redactor: Redactor) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?;
        // It may have been there with other permissions. What is no file has its own.
        if file.metadata()?.is_file() {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        let mut recorder = Self { file, redactor, began: Instant::now() };
        let started = jiff::Timestamp::now().to_string();
        let head = Head { record: VERSION, mcpane: env!("CARGO_PKG_VERSION").to_owned(), started };
        recorder.write(&serde_json::to_value(head)?)?;
        Ok(recorder)
    }

    fn write(&mut self, value: &Value) -> io::Result<()> {
        // At once: a recording of a crash is worth most.
        line_of(value).map_or(Ok(()), |line| self.file.write_all(&line))
    }

    fn take(&mut self, kind: &str, what: &impl Serialize) -> io::Result<()> {
        let mut value = json!({ "at": u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX) });
        let mut what = serde_json::to_value(what)?;
        self.redactor.mask_json(&mut what);
        if let Some(fields) = value.as_object_mut() {
            fields.insert(kind.to_owned(), what);
        }
        self.write(&value)
    }

    /// Stands between an agent and its front from now on: writes what passes. `failed` is told once, when the file takes no more.
    pub fn between(
        self,
        agent: mpsc::Sender<Op>,
        mut facts: mpsc::Receiver<Event>,
        failed: impl FnOnce(io::Error) + Send + 'static,
    ) -> (mpsc::Sender<Op>, mpsc::Receiver<Event>, Recording) {
        let (ops, mut wanted) = mpsc::channel(64);
        let (told, events) = mpsc::channel(1024);
        let tape = Tape(Arc::new(Mutex::new(Some((self, Box::new(failed) as Failed)))));
        let other = tape.clone();
        tokio::spawn(async move {
            while let Some(op) = wanted.recv().await {
                other.take("op", &op);
                if agent.send(op).await.is_err() {
                    return;
                }
            }
        });
        let task = tokio::spawn(async move {
            // Who no longer listens is no reason not to write the end.
            while let Some(event) = facts.recv().await {
                tape.take("event", &event);
                let _ = told.send(event).await;
            }
        });
        (ops, events, Recording(task))
    }
}

type Failed = Box<dyn FnOnce(io::Error) + Send>;

/// The recorder until it fails.
#[derive(Clone)]
struct Tape(Arc<Mutex<Option<(Recorder, Failed)>>>);

impl Tape {
    fn take(&self, kind: &str, what: &impl Serialize) {
        let mut tape = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((recorder, _)) = tape.as_mut() else { return };
        if let Err(error) = recorder.take(kind, what)
            && let Some((_, failed)) = tape.take()
        {
            drop(tape);
            failed(error);
        }
    }
}

/// A recording under way.
#[derive(Debug)]
pub struct Recording(JoinHandle<()>);

impl Recording {
    /// Waits until the agent has ended and its last event is written.
    pub async fn ended(self) {
        let _ = self.0.await;
    }
}

/// Reads the first line of a recording; `None` for a file that is none, or of a later version.
pub fn head(line: &str) -> Option<Head> {
    serde_json::from_str::<Head>(line).ok().filter(|head| head.record == VERSION)
}

/// Reads the lines behind the head; with them the numbers, from 1 in the file, of those that cannot be read. A last line that was cut off is dropped.
pub fn lines(text: &str) -> (Vec<Line>, Vec<usize>) {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let (mut lines, mut damaged) = (Vec::new(), Vec::new());
    for (number, line) in whole.lines().enumerate().skip(1) {
        match serde_json::from_str(line) {
            Ok(line) => lines.push(line),
            Err(_) => damaged.push(number + 1),
        }
    }
    (lines, damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::event::TextKind;
    use crate::contract::{ItemEvent, SessionEvent};
    use crate::domain::{Conversation, ItemId, StepId, Usage, UserInput};

    #[tokio::test]
    async fn what_passes_is_written_masked_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.jsonl");
        std::fs::write(&path, "old").unwrap();
        let redactor = Redactor::default();
        redactor.register("top-secret-value");
        let recorder = Recorder::create(&path, redactor).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let (agent, mut at_agent) = mpsc::channel(4);
        let (facts, at_front) = mpsc::channel(4);
        let (ops, mut events, recording) = recorder.between(agent, at_front, |error| panic!("{error}"));
        let op = Op::Submit { input: UserInput::text("use top-secret-value") };
        ops.send(op.clone()).await.unwrap();
        assert_eq!(at_agent.recv().await, Some(op), "what passes is not changed");
        let sent: Vec<Event> = vec![
            SessionEvent::Opened {
                id: "s".into(),
                cwd: "/".into(),
                conversation: Conversation::default(),
                draft: String::new(),
            }
            .into(),
            ItemEvent::Started { item: ItemId(1), step: StepId(2), kind: TextKind::Answer }.into(),
            SessionEvent::Context { tokens: 12, total: Usage { input: 10, output: 2, ..Usage::default() } }.into(),
        ];
        for event in &sent {
            facts.send(event.clone()).await.unwrap();
            assert_eq!(events.recv().await.as_ref(), Some(event));
        }
        drop(facts);
        recording.ended().await;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("top-secret-value"), "{text}");
        assert!(head(text.lines().next().unwrap()).is_some());
        let (lines, damaged) = lines(&(text + "{\"at\":1,\"eve"));
        assert_eq!(damaged, Vec::<usize>::new());
        assert!(matches!(&lines[0].op, Some(Op::Submit { input }) if input.text == "use •••"));
        assert_eq!(lines.into_iter().filter_map(|line| line.event).collect::<Vec<_>>(), sent);
    }

    #[test]
    fn lines_that_cannot_be_read_are_named() {
        let text =
            "{\"record\":1,\"mcpane\":\"x\",\"started\":\"y\"}\n{\"at\":1,\"event\":{\"type\":\"new\"}}\n{\"at\":2}\n";
        let (lines, damaged) = lines(text);
        assert_eq!((lines.len(), damaged), (1, vec![2]));
        assert_eq!(head("{\"record\":2,\"mcpane\":\"x\",\"started\":\"y\"}"), None);
    }
}
