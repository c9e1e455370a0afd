//! Starting and ending a server's process.
//!
//! Owns: the child, its session and process group, its pipes and its exit status. Every child gets a session of its own, so none can seize the
//! terminal, and its standard error is drained, so none can paint over the screen. The guard is told of it.
//! Does not speak the protocol.
//!
//! **Invariant:** when [`Process::end`] or the exit of the child has been dealt with, nothing of its session runs any more: launchers such as `npx` and
//! `uvx` leave grandchildren, so it is always the group that is ended.

use super::lines::{Line, LineReader};
use super::log::{LINE, Log};
use super::transport::Writer;
use crate::guard::{self, Guard};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long a server may take to end by itself when its input is closed.
const AFTER_CLOSE: Duration = Duration::from_secs(1);
/// How long it may take after TERM.
const AFTER_TERM: Duration = Duration::from_millis(1_500);
/// How long the processes that a server leaves behind may take after TERM.
const LEFTOVERS: Duration = Duration::from_millis(500);
/// How long the kernel may take to hand over a killed process.
const REAP: Duration = Duration::from_secs(1);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// Why a process could not be started.
#[derive(Debug)]
pub(super) enum LaunchError {
    /// There is no such program, on PATH or at that path.
    NotFound,
    /// The program is there; what its first line names is not.
    NoInterpreter,
    /// It is not allowed to be run.
    NotExecutable,
    /// The working directory is not there.
    NoDirectory(String),
    /// Anything else that the system said.
    Other(String),
}

/// What to start.
#[derive(Debug)]
pub(super) struct Program<'a> {
    /// Program, expanded.
    pub(super) command: &'a str,
    /// Its arguments.
    pub(super) args: &'a [String],
    /// Variables added to ours.
    pub(super) env: &'a [(String, String)],
    /// Where it runs.
    pub(super) cwd: Option<&'a str>,
}

/// A running child: enough to watch and to end it.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// Its process id, also the number of its group and session.
    pub(super) pid: u32,
    stdin: Writer<ChildStdin>,
    exit: watch::Receiver<Option<Exit>>,
    /// Its standard error has been read to the end.
    drained: CancellationToken,
    /// It was reaped, and nothing of its session runs.
    gone: CancellationToken,
}

/// Starts a program in a session of its own. Its standard error goes to `log`; what it reads and writes is handed out.
pub(super) fn launch(
    program: &Program<'_>,
    guard: &Guard,
    log: Arc<Log>,
) -> Result<(Process, ChildStdout, Writer<ChildStdin>), LaunchError> {
    if let Some(cwd) = program.cwd
        && !Path::new(cwd).is_dir()
    {
        return Err(LaunchError::NoDirectory(cwd.to_owned()));
    }
    guard.ready();
    let mut child = command(program).spawn().map_err(|error| classify(&error, program.command))?;
    let pid = child.id().ok_or_else(|| LaunchError::Other("it has no process id".to_owned()))?;
    guard.watch(pid);
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin().take(), child.stdout().take(), child.stderr().take())
    else {
        guard::signal_group(pid, guard::Force::Kill);
        return Err(LaunchError::Other("it has no pipes".to_owned()));
    };
    let (exited, exit) = watch::channel(None);
    let stdin: Writer<ChildStdin> = Arc::new(tokio::sync::Mutex::new(Some(stdin)));
    let process = Process {
        pid,
        stdin: Arc::clone(&stdin),
        exit,
        drained: CancellationToken::new(),
        gone: CancellationToken::new(),
    };
    tokio::spawn(drain(stderr, log, process.drained.clone()));
    tokio::spawn(supervise(child, pid, guard.clone(), exited, process.gone.clone()));
    Ok((process, stdout, stdin))
}

fn command(program: &Program<'_>) -> CommandWrap {
    let mut wrap = CommandWrap::with_new(program.command, |command| {
        command.args(program.args).envs(program.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = program.cwd {
            command.current_dir(cwd);
        }
    });
    wrap.wrap(ProcessSession);
    wrap
}

fn classify(error: &std::io::Error, command: &str) -> LaunchError {
    match error.kind() {
        // The system says the same of a script whose interpreter is missing.
        std::io::ErrorKind::NotFound if command.contains('/') && Path::new(command).exists() => {
            LaunchError::NoInterpreter
        }
        std::io::ErrorKind::NotFound => LaunchError::NotFound,
        std::io::ErrorKind::PermissionDenied => LaunchError::NotExecutable,
        _ => LaunchError::Other(error.to_string()),
    }
}

/// Waits for the child, says how it ended, and ends what it left behind.
async fn supervise(
    mut child: Box<dyn ChildWrapper>,
    group: u32,
    guard: Guard,
    exited: watch::Sender<Option<Exit>>,
    gone: CancellationToken,
) {
    let exit = child.wait().await.map_or(Exit::Signal(0), Exit::from);
    let _ = exited.send(Some(exit));
    guard::end_group(group, LEFTOVERS).await;
    guard.unwatch(group);
    gone.cancel();
}

async fn drain(stderr: ChildStderr, log: Arc<Log>, drained: CancellationToken) {
    // One byte more than the log keeps, so that it marks the cut.
    let mut lines = LineReader::new(stderr, LINE + 1);
    while let Ok(Some(Line::Whole(line) | Line::Cut(line))) = lines.next().await {
        log.error(line);
    }
    drained.cancel();
}

impl Process {
    /// How it ended, once it has.
    pub(super) async fn exited(&self) -> Option<Exit> {
        self.exit.clone().wait_for(Option::is_some).await.map_or(None, |exit| *exit)
    }

    /// Waits until its last words are in the log.
    pub(super) async fn last_words(&self) {
        self.drained.cancelled().await;
    }

    /// Ends it: closes its input, then TERM, then KILL to everything in its session, each when the one before did not help in time.
    /// Takes [`AFTER_CLOSE`] + [`AFTER_TERM`] + [`REAP`] at most.
    pub(super) async fn end(&self) {
        // A writer that is stuck in a full pipe is freed by the signal instead.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        }
        if tokio::time::timeout(AFTER_CLOSE, self.gone.cancelled()).await.is_ok() {
            return;
        }
        guard::end_group(self.pid, AFTER_TERM).await;
        if tokio::time::timeout(REAP, self.gone.cancelled()).await.is_err() {
            tracing::warn!(pid = self.pid, "a server's process could not be reaped in time");
        }
    }
}
