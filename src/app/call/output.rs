//! What is printed of a call: how far it has come, on standard error; what came of it, on standard output.
//!
//! **Invariant:** a text that goes to a terminal is made safe first; one that goes to a program or a file is passed on as it is.

use crate::app::ground::Ground;
use crate::app::manage::mention;
use crate::cli::paper::escaped;
use crate::cli::servers::Output;
use crate::domain::tool::Progress as Step;
use crate::domain::{Notice, Phrase, ToolOutcome, ToolSpec, content};
use crate::tui::text::sanitize;
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

/// The progress of a call. On a terminal it is one line that changes, elsewhere a line for every step.
pub(super) struct Progress {
    terminal: bool,
    shown: bool,
    redactor: crate::redact::Redactor,
}

impl Progress {
    /// Nothing is shown yet.
    pub(super) fn new(ground: &Ground) -> Self {
        let terminal = io::stderr().is_terminal() && !ground.loaded.config.surroundings.dumb;
        Self { terminal, shown: false, redactor: ground.redactor.clone() }
    }

    /// It has come so far.
    pub(super) fn show(&mut self, step: &Step) {
        let mut line = step.total.map_or_else(|| step.done.to_string(), |total| format!("{}/{total}", step.done));
        if let Some(message) = step.message.as_deref().and_then(|message| message.lines().next()) {
            line.push(' ');
            line.push_str(message);
        }
        let line = sanitize::line(&self.redactor.mask_text(&line)).into_owned();
        let mut err = io::stderr().lock();
        // Who does not read it misses nothing else.
        let _ = if self.terminal {
            let line: String = line.chars().take(76).collect();
            write!(err, "\r\x1b[K{line}").and_then(|()| err.flush())
        } else {
            writeln!(err, "{line}")
        };
        self.shown = true;
    }

    /// The line is free again.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.shown) && self.terminal {
            let _ = io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }
}

/// Prints what came of a call; the exit status.
pub(super) fn print(ground: &Ground, output: Output, spec: &ToolSpec, outcome: &ToolOutcome) -> ExitCode {
    let status = match outcome {
        ToolOutcome::Interrupted | ToolOutcome::Cancelled => 130,
        outcome => u8::from(outcome.is_error()),
    };
    let printed = match output {
        Output::Json => json_text(spec, outcome).map(Some),
        Output::Text => Ok(text(ground, outcome)),
    };
    let written = printed.and_then(|text| match text {
        Some(text) => write(&text),
        None => Ok(()),
    });
    match written {
        Ok(()) => ExitCode::from(status),
        Err(_) => ExitCode::FAILURE,
    }
}

fn json_text(spec: &ToolSpec, outcome: &ToolOutcome) -> io::Result<String> {
    let mut out = json!({ "tool": spec.id.to_string() });
    if let (Some(out), Value::Object(fields)) = (out.as_object_mut(), serde_json::to_value(outcome)?) {
        out.extend(fields);
    }
    let text = format!("{out:#}\n");
    Ok(if io::stdout().is_terminal() { escaped(&text) } else { text })
}

/// The answer; what went wrong is said beside it.
fn text(ground: &Ground, outcome: &ToolOutcome) -> Option<String> {
    match outcome {
        ToolOutcome::Done { content, .. } => {
            let mut text = content::plain(content);
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            Some(if io::stdout().is_terminal() { safe(&text) } else { text })
        }
        ToolOutcome::Failed { message, may_have_run } => {
            let mut notices = vec![Notice::error(Phrase::literal(message.clone()))];
            if *may_have_run {
                notices.push(Notice::warning(Phrase::new("call.may_have_run")));
            }
            mention(ground, &notices);
            None
        }
        ToolOutcome::Interrupted => {
            mention(ground, &[Notice::warning(Phrase::new("call.may_have_run"))]);
            None
        }
        _ => None,
    }
}

fn safe(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", sanitize::line(line.trim_end_matches('\r'))),
            None => sanitize::line(line).into_owned(),
        })
        .collect()
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
