//! `mcpane run`: from flags to the exit status, without a screen.

use super::prepare::{Front, Prepared, prepare, started};
use super::{USAGE, fail};
use crate::agent::{self, Agent};
use crate::cli::run::Run;
use crate::config::env::Env;
use crate::domain::{Content, Phrase, UserInput};
use crate::headless::{self, Answers, Job, StandIn};
use crate::strings::Strings;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

/// How long the agent may take to end everything after its last event.
const ENDING: Duration = Duration::from_secs(12);
/// Most that is read from standard input. A model reads less.
const MOST: u64 = 4 * 1024 * 1024;
/// After this time it is said that standard input is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs a task; the exit status.
pub fn run(run: Run, env: Env, strings: &Strings) -> ExitCode {
    let made = task(&run.task, strings).and_then(|task| {
        let stand_in = StandIn::new(run.approve.into(), run.elicit.into(), answers(run.answers.as_ref())?);
        let front = Front::Alone { max_steps: run.max_steps, allow: &run.allow };
        Ok((task, stand_in, prepare(&run.options, front, env)?))
    });
    let (task, stand_in, prepared) = match made {
        Ok(made) => made,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let status = runtime.block_on(work(prepared, task, stand_in, run.output.into()));
    // Tasks that block (a file system that hangs) must not keep the program from ending.
    runtime.shutdown_timeout(Duration::from_millis(200));
    ExitCode::from(status)
}

async fn work(mut prepared: Prepared, task: UserInput, stand_in: StandIn, output: headless::Output) -> u8 {
    let (strings, redactor) = (prepared.strings.clone(), prepared.live.redactor.clone());
    let (notices, recorder) = (std::mem::take(&mut prepared.notices), prepared.recorder.take());
    let Agent { ops, notices: voice, events, task: ending } = match agent::spawn(prepared.kit()) {
        Ok(agent) => agent,
        Err(error) => {
            let text = strings.fill("run.end_failed", &[("problem", &error.to_string())]);
            let _ = writeln!(std::io::stderr(), "mcpane: {text}");
            return 1;
        }
    };
    let (ops, events, recording) = super::recording(recorder, ops, events, voice);
    let job = Job { ops, events, task, output, stand_in, notices, strings, redactor };
    let finished = headless::run(job).await;
    if finished.abandoned {
        return finished.status;
    }
    let _ = tokio::time::timeout(ENDING, async {
        let _ = ending.await;
        if let Some(recording) = recording {
            recording.ended().await;
        }
    })
    .await;
    finished.status
}

fn answers(file: Option<&PathBuf>) -> Result<Answers, Phrase> {
    let Some(file) = file.map(started) else { return Ok(Answers::default()) };
    let name = file.display().to_string();
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Phrase::new("run.bad_answers").with("file", &name).with("problem", error))?;
    Answers::parse(&text, &name)
}

/// The task: the words, with what is piped in beside them; or what is piped in alone.
fn task(words: &[String], strings: &Strings) -> Result<UserInput, Phrase> {
    let reads = words == ["-"];
    let text = if reads { String::new() } else { words.join(" ") };
    let missing = || Phrase::new("run.no_task");
    if !reads && !text.trim().is_empty() {
        let beside = if is_piped() { read(strings)? } else { String::new() };
        let mut input = UserInput::text(text);
        if !beside.trim().is_empty() {
            let mime = Some("text/plain".to_owned());
            input.attachments.push(Content::Resource { uri: "stdin".to_owned(), mime, text: Some(beside), blob: None });
        }
        return Ok(input);
    }
    if !reads && !is_piped() {
        return Err(missing());
    }
    let text = read(strings)?;
    if text.trim().is_empty() { Err(missing()) } else { Ok(UserInput::text(text.trim_end())) }
}

/// Whether somebody has connected standard input to something that has an end: a pipe or a file, not a terminal, not `/dev/null`.
fn is_piped() -> bool {
    if std::io::stdin().is_terminal() {
        return false;
    }
    let about = std::fs::metadata("/dev/fd/0").or_else(|_| std::fs::metadata("/dev/stdin"));
    about.is_ok_and(|about| {
        let kind = about.file_type();
        kind.is_fifo() || kind.is_socket() || kind.is_file()
    })
}

/// All of standard input. One that does not end is waited for, and that is said: the user may not know that it is open.
fn read(strings: &Strings) -> Result<String, Phrase> {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes);
        let _ = done.send(read.map(|_| bytes));
    });
    let read = result.recv_timeout(PATIENCE).or_else(|_| {
        let _ = writeln!(std::io::stderr(), "mcpane: {}", strings.get("run.waits_for_stdin"));
        result.recv()
    });
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(Phrase::new("run.stdin_failed").with("problem", error)),
        Err(error) => return Err(Phrase::new("run.stdin_failed").with("problem", error)),
    };
    if bytes.len() as u64 > MOST {
        return Err(Phrase::new("run.stdin_large").with("most", MOST / 1024 / 1024));
    }
    String::from_utf8(bytes).map_err(|error| Phrase::new("run.stdin_failed").with("problem", error))
}
