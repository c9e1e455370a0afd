//! A call: how it is written, asked for, run, and what became of it.
//!
//! Folded it is a line with mark, name and state, a line of arguments and a line of result; opened it is everything.

mod arguments;
mod draw;
mod results;

use super::{Body, Ctx, Fold, Part, Shown, Sign};
use crate::domain::policy::{Check, Preview, Verdict};
use crate::domain::tool::{Origin, Progress};
use crate::domain::{CallId, ServerName, ToolCall, ToolOutcome, ToolSpec};
use crate::strings::Strings;
use crate::tui::text::blocks::{Flow, Growth};
use crate::tui::text::row::Row;
use crate::tui::text::{Signs, diff};
use crate::tui::theme::Role;
use arguments::Argument;
use results::Piece;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The model is still writing it.
    Writing,
    /// What was being written will never be a call.
    Abandoned,
    /// It is written and being checked.
    Proposed,
    /// It waits for the user.
    Asks,
    /// It may run and is about to.
    Cleared,
    /// It waits for its server.
    WaitsForServer,
    /// It runs.
    Running,
    /// It is suspended until the user answers its server.
    Suspended,
    /// It ended; see its outcome.
    Ended,
}

/// How a call changes; follows `contract::ToolEvent`.
#[derive(Debug)]
pub enum ToolChange<'a> {
    /// The model has written so much of it.
    Writing {
        /// The name so far.
        name: &'a str,
        /// Bytes of its arguments so far.
        bytes: usize,
    },
    /// It will never be a call.
    Abandoned,
    /// It is written whole, or its arguments were changed by the user.
    Proposed {
        /// The call.
        call: Box<ToolCall>,
        /// The tool's definition.
        spec: Option<Arc<ToolSpec>>,
    },
    /// It was checked.
    Checked(Box<Check>),
    /// It waits for its server.
    WaitingForServer(ServerName),
    /// It runs.
    Started {
        /// Since when, on the clock of `Look::now`.
        at: Instant,
    },
    /// It has come this far.
    Progress(Progress),
    /// It produced text.
    Output(&'a str),
    /// It is suspended until the user answers its server.
    Suspended,
    /// It goes on.
    Resumed,
    /// It ended.
    Finished {
        /// How.
        outcome: ToolOutcome,
        /// When, on the clock of `Look::now`; `None` where that is not known (a session read back).
        at: Option<Instant>,
    },
}

/// As much of a running call's output is kept, in bytes; what it answers in the end is kept whole.
const OUTPUT: usize = 64 * 1024;

/// The latest output of a running call.
#[derive(Debug, Default)]
struct Tail {
    text: String,
    /// How often its beginning was dropped.
    edition: u32,
}

impl Tail {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() > 2 * OUTPUT {
            let mut from = self.text.len() - OUTPUT;
            while !self.text.is_char_boundary(from) {
                from += 1;
            }
            let from = self.text[from..].find('\n').map_or(from, |newline| from + newline + 1);
            self.text.drain(..from);
            self.edition += 1;
        }
    }
}

/// How a call ended, with its texts taken out.
#[derive(Debug)]
struct Ended {
    outcome: ToolOutcome,
    pieces: Vec<Piece>,
}

/// A call.
#[derive(Debug)]
pub struct Tool {
    call: CallId,
    name: String,
    stage: Stage,
    bytes: usize,
    origin: Option<Origin>,
    arguments: Vec<Argument>,
    /// How often the arguments were replaced.
    edition: u32,
    spec: Option<Arc<ToolSpec>>,
    check: Option<Box<Check>>,
    server: Option<ServerName>,
    started: Option<Instant>,
    took: Option<Duration>,
    progress: Option<Progress>,
    output: Tail,
    ended: Option<Ended>,
}

// Numbers of the parts. Those of arguments and results count up from theirs, two for each.
const HEAD: u16 = 0;
const SUMMARY: u16 = 1;
const RESULT: u16 = 2;
const PROGRESS: u16 = 3;
const WARNINGS: u16 = 4;
const DIFF: u16 = 5;
const COMMAND: u16 = 6;
const OUTPUT_TAIL: u16 = 7;
const OUTPUT_ALL: u16 = 8;
const NOTE: u16 = 9;
const ARGUMENTS: u16 = 100;
const RESULTS: u16 = 10_000;
/// So many pieces of a result are shown.
const MOST_PIECES: usize = 1000;

impl Tool {
    pub(super) fn new(call: CallId) -> Self {
        Self {
            call,
            name: String::new(),
            stage: Stage::Writing,
            bytes: 0,
            origin: None,
            arguments: Vec::new(),
            edition: 0,
            spec: None,
            check: None,
            server: None,
            started: None,
            took: None,
            progress: None,
            output: Tail::default(),
            ended: None,
        }
    }

    /// Which call it is.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// Where it stands.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Its name as shown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool's definition.
    pub fn spec(&self) -> Option<&Arc<ToolSpec>> {
        self.spec.as_ref()
    }

    /// What was found out before it ran.
    pub fn check(&self) -> Option<&Check> {
        self.check.as_deref()
    }

    /// How it ended. Its texts are not in it: they are part of what is shown.
    pub fn outcome(&self) -> Option<&ToolOutcome> {
        self.ended.as_ref().map(|ended| &ended.outcome)
    }

    pub(super) fn change(&mut self, change: ToolChange<'_>) {
        match change {
            ToolChange::Writing { name, bytes } => {
                name.clone_into(&mut self.name);
                self.bytes = bytes;
                self.stage = Stage::Writing;
            }
            ToolChange::Abandoned => self.stage = Stage::Abandoned,
            ToolChange::Proposed { call, spec } => {
                self.name = call.shown_name();
                self.origin = Some(call.origin);
                self.arguments = arguments::read(call.arguments);
                self.edition += 1;
                self.spec = spec.or(self.spec.take());
                self.stage = Stage::Proposed;
            }
            ToolChange::Checked(check) => {
                self.stage = if matches!(check.verdict, Verdict::Ask { .. }) { Stage::Asks } else { Stage::Cleared };
                self.check = Some(check);
                self.edition += 1;
            }
            ToolChange::WaitingForServer(server) => {
                self.server = Some(server);
                self.stage = Stage::WaitsForServer;
            }
            ToolChange::Started { at } => {
                self.started = Some(at);
                self.stage = Stage::Running;
            }
            ToolChange::Progress(progress) => self.progress = Some(progress),
            ToolChange::Output(text) => self.output.push(text),
            ToolChange::Suspended => self.stage = Stage::Suspended,
            ToolChange::Resumed => self.stage = Stage::Running,
            ToolChange::Finished { outcome, at } => self.finish(outcome, at),
        }
    }

    fn finish(&mut self, mut outcome: ToolOutcome, at: Option<Instant>) {
        self.took = match (&outcome, self.started, at) {
            (ToolOutcome::Done { millis, .. }, _, _) if *millis > 0 => Some(Duration::from_millis(*millis)),
            (_, Some(started), Some(at)) => Some(at.saturating_duration_since(started)),
            _ => None,
        };
        // Nothing to tell: it says *done* instead.
        self.took = self.took.filter(|took| took.as_millis() > 0);
        let pieces = results::read(&mut outcome);
        // What it printed is part of what it answers, unless it never came to answer.
        if !pieces.is_empty() && matches!(outcome, ToolOutcome::Done { .. }) {
            self.output = Tail { edition: self.output.edition + 1, ..Tail::default() };
        }
        self.output.text.shrink_to_fit();
        self.progress = None;
        self.stage = Stage::Ended;
        self.ended = Some(Ended { outcome, pieces });
    }

    fn diff(&self) -> Option<&crate::domain::policy::FileDiff> {
        match self.check.as_deref()?.preview {
            Preview::Diff(ref diff) => Some(diff),
            _ => None,
        }
    }

    fn command(&self) -> Option<&str> {
        match self.check.as_deref()?.preview {
            Preview::Command { ref command, .. } => Some(command),
            _ => None,
        }
    }

    fn pieces(&self) -> &[Piece] {
        self.ended.as_ref().map_or(&[], |ended| &ended.pieces)
    }

    pub(super) fn parts<'a>(&'a self, shown: Shown, out: &mut Vec<Part<'a>>) {
        let moves = matches!(self.stage, Stage::Running | Stage::Suspended | Stage::WaitsForServer | Stage::Cleared);
        let head = Part::rows(HEAD, &self.name);
        out.push(if moves { Part { body: Body::Ticking, ..head } } else { head });
        match shown.fold {
            Fold::Closed => self.folded_parts(out),
            Fold::Open => self.open_parts(out),
        }
    }

    fn folded_parts<'a>(&'a self, out: &mut Vec<Part<'a>>) {
        if !self.arguments.is_empty() || self.check.is_some() {
            out.push(Part::rows(SUMMARY, "").inset(2));
        }
        if self.stage != Stage::Ended && self.check.as_ref().is_some_and(|check| !check.warnings.is_empty()) {
            out.push(Part::rows(WARNINGS, "").inset(2));
        }
        if self.progress.is_some() {
            out.push(Part::rows(PROGRESS, "").inset(2));
        }
        if !self.output.text.is_empty() {
            out.push(Part::rows(OUTPUT_TAIL, "").inset(2));
        }
        if draw::has_result_line(self) {
            out.push(Part::rows(RESULT, "").inset(2));
        }
    }

    fn open_parts<'a>(&'a self, out: &mut Vec<Part<'a>>) {
        if self.check.is_some() || self.origin == Some(Origin::Recovered) {
            out.push(Part::rows(NOTE, "").inset(2));
        }
        let diff = self.diff();
        if let Some(command) = self.command() {
            out.push(Part::rows(COMMAND, command).inset(2));
        }
        if let Some(diff) = diff {
            let body = Body::Chunks(diff::len(diff).div_ceil(diff::CHUNK));
            out.push(Part { body, ..Part::rows(DIFF, "").inset(2) });
        }
        for (i, argument) in self.arguments.iter().enumerate() {
            // A diff says what is written, a preview which command is run: not twice.
            if self.command().is_some_and(|command| command == argument.value)
                || diff.is_some_and(|diff| !argument.is_short() || argument.value == diff.path)
            {
                continue;
            }
            let key = ARGUMENTS + 2 * i as u16;
            if !argument.name.is_empty() || argument.is_short() {
                out.push(Part::rows(key, if argument.is_short() { &argument.value } else { "" }).inset(2));
            }
            if !argument.is_short() {
                let body =
                    Body::Text { flow: argument.flow, base: Role::Value, growth: Growth::Whole, edition: self.edition };
                out.push(Part { body, ..Part::rows(key + 1, &argument.value).inset(4) });
            }
        }
        if self.progress.is_some() {
            out.push(Part::rows(PROGRESS, "").inset(2));
        }
        if !self.output.text.is_empty() {
            let growth = if self.stage == Stage::Ended { Growth::Whole } else { Growth::Open };
            let body = Body::Text { flow: Flow::Plain, base: Role::Text, growth, edition: self.output.edition };
            out.push(Part { body, ..Part::rows(OUTPUT_ALL, &self.output.text).inset(2) });
        }
        self.result_parts(out);
    }

    fn result_parts<'a>(&'a self, out: &mut Vec<Part<'a>>) {
        let bad = self.ended.as_ref().is_some_and(|ended| ended.outcome.is_error());
        let mut sign = Some(if bad { Sign::Error } else { Sign::Result });
        let base = if bad { Role::Bad } else { Role::Text };
        for (i, piece) in self.pieces().iter().enumerate().take(MOST_PIECES) {
            let key = RESULTS + 2 * i as u16;
            if piece.label.is_some() {
                out.push(Part { sign: sign.take(), ..Part::rows(key, "").inset(4) });
            }
            if !piece.text.is_empty() {
                out.push(Part { sign: sign.take(), ..Part::text(key + 1, &piece.text, piece.flow, base).inset(4) });
            }
        }
        if self.ended.as_ref().is_some_and(|ended| draw::afterword(&ended.outcome)) {
            out.push(Part::rows(RESULT, "").inset(2));
        }
    }

    pub(super) fn rows(&self, key: u16, chunk: usize, shown: Shown, ctx: &Ctx<'_>) -> Vec<Row> {
        draw::rows(self, key, chunk, shown, ctx)
    }

    /// Mark, name and state in one line.
    pub(super) fn title(&self, strings: &Strings) -> String {
        let (sign, _, words) = draw::state(self, Signs::Symbols.glyphs(), strings, None);
        format!("{sign} {} ({words})", self.name)
    }

    pub(super) fn copy_text(&self, strings: &Strings) -> String {
        format!("{}{}", self.name, self.body_text(strings))
    }

    /// Its arguments and what it answered.
    pub(super) fn body_text(&self, strings: &Strings) -> String {
        let mut out = String::new();
        for argument in &self.arguments {
            out.push('\n');
            if !argument.name.is_empty() {
                out.push_str(&argument.name);
                out.push_str(if argument.is_short() { ": " } else { ":\n" });
            }
            out.push_str(&argument.value);
        }
        for piece in self.pieces() {
            out.push_str("\n\n");
            if let Some(label) = &piece.label {
                out.push_str(&label.text(strings, Signs::Symbols.glyphs().dot));
                out.push('\n');
            }
            out.push_str(&piece.text);
        }
        if !self.output.text.is_empty() {
            out.push_str("\n\n");
            out.push_str(&self.output.text);
        }
        out
    }
}
