//! Commands in a session and process group of their own.
//!
//! Owns: starting a shell command without a terminal, its merged output, its end by itself, by time or by the user, and the groups that
//! outlive their shell. Does not: know what the output is for (`execute_command`).
//!
//! **Invariants:** no command can seize the terminal; whatever ends the call (its future dropped, too) ends the group, TERM then KILL; a process
//! that goes on in the background holds no call open, and stays watched until its group is empty.

use super::scene::{Limits, Watch};
use crate::guard::{self, Force};
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// How long output may still come after the shell has ended, since the last piece of it.
const LINGER: Duration = Duration::from_millis(100);
/// How long altogether.
const LINGER_MOST: Duration = Duration::from_secs(1);
/// Output is read in pieces of at most this.
const PIECE: usize = 64 * 1024;

/// What tells programs that nobody watches them on a terminal. A setting of the scene comes after these and wins.
const QUIET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// What to start.
#[derive(Debug)]
pub struct Launch<'a> {
    /// For the shell.
    pub command: &'a str,
    /// Where.
    pub cwd: &'a Path,
    /// The shell.
    pub shell: &'a Path,
    /// Further variables.
    pub environment: &'a [(String, String)],
    /// For how long at most.
    pub limits: Limits,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It was ended: it wrote nothing for too long.
    Idle,
    /// It was ended: it ran too long.
    TooLong,
    /// It was ended: the user wanted it so.
    Cancelled,
}

/// Takes the output.
pub trait Sink: Send {
    /// The next bytes.
    fn take(&mut self, bytes: &[u8]);
    /// When to call [`Sink::flush`]; `None`: nothing is held back.
    fn flush_at(&self) -> Option<Instant>;
    /// Passes on what was held back.
    fn flush(&mut self);
    /// Whether to read slowly, so that endless output fills nothing.
    fn is_full(&self) -> bool;
}

/// A command that ended, and whether parts of it go on.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The group, where processes of it still run in the background.
    pub group: Option<u32>,
    /// The output of those, where they hold it open.
    pub pipe: Option<Receiver>,
}

/// Runs a command to its end. An error means that it could not be started.
pub async fn run(
    launch: Launch<'_>,
    strays: &Strays,
    sink: &mut dyn Sink,
    cancel: &CancellationToken,
) -> io::Result<Ran> {
    strays.sweep();
    let watch = Arc::clone(&strays.watch);
    tokio::task::spawn_blocking(move || watch.ready()).await.map_err(io::Error::other)?;
    let (mut child, mut pipe) = start(&launch)?;
    let id = child.id().ok_or_else(|| io::Error::other("the command ended before it was seen"))?;
    let mut group = Group { id, watch: Arc::clone(&strays.watch), armed: true };
    group.watch.watch(id);
    let mut clock = Clock::new(launch.limits);
    let mut open = true;
    let mut buffer = vec![0; PIECE];
    let mut status: Option<ExitStatus> = None;
    let end = loop {
        if let Some(status) = status.filter(|_| !open) {
            break End::Exited(status);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => break End::Cancelled,
            () = tokio::time::sleep_until(clock.deadline()) => match status {
                Some(status) => break End::Exited(status),
                None => break clock.verdict(),
            },
            () = at(sink.flush_at()) => sink.flush(),
            // Only the shell: waiting for the whole group would wait for what it left in the background.
            ended = child.inner_mut().wait(), if status.is_none() => {
                status = Some(ended?);
                clock.shell_ended();
            }
            read = pipe.read(&mut buffer), if open => match read? {
                0 => open = false,
                count => {
                    sink.take(&buffer[..count]);
                    clock.heard();
                    if sink.is_full() {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                }
            },
        }
    };
    sink.flush();
    if matches!(end, End::Exited(_)) {
        group.armed = false;
        let alive = group.is_alive();
        if !alive {
            group.watch.unwatch(id);
        }
        return Ok(Ran { end, group: alive.then_some(id), pipe: open.then_some(pipe) });
    }
    group.end(child.as_mut()).await;
    Ok(Ran { end, group: None, pipe: None })
}

fn start(launch: &Launch<'_>) -> io::Result<(Box<dyn ChildWrapper>, Receiver)> {
    // One pipe for both, so that what was written first is read first.
    let (reader, writer) = io::pipe()?;
    let mut wrap = CommandWrap::with_new(launch.shell, |command| {
        command.arg("-c").arg(launch.command).current_dir(launch.cwd);
        command.envs(QUIET.iter().copied());
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null());
    });
    wrap.command_mut().stdout(Stdio::from(writer.try_clone()?)).stderr(Stdio::from(writer));
    wrap.wrap(ProcessSession);
    let child = wrap.spawn()?;
    // The command holds our copies of the writing end until it is dropped; without this the pipe would never end.
    drop(wrap);
    Ok((child, Receiver::from_owned_fd(OwnedFd::from(reader))?))
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when).await,
        None => std::future::pending().await,
    }
}

/// When a command has had its time.
struct Clock {
    limits: Limits,
    total: Instant,
    idle: Instant,
    ended: Option<Instant>,
}

impl Clock {
    fn new(limits: Limits) -> Self {
        let now = Instant::now();
        Self { limits, total: now + limits.total, idle: now + limits.idle, ended: None }
    }

    fn heard(&mut self) {
        self.idle = Instant::now() + if self.ended.is_some() { LINGER } else { self.limits.idle };
    }

    fn shell_ended(&mut self) {
        self.ended = Some(Instant::now() + LINGER_MOST);
        self.heard();
    }

    fn deadline(&self) -> Instant {
        self.idle.min(self.ended.unwrap_or(self.total))
    }

    fn verdict(&self) -> End {
        if self.total <= Instant::now() { End::TooLong } else { End::Idle }
    }
}

/// A running group. Dropped while armed, it is killed.
struct Group {
    id: u32,
    watch: Arc<dyn Watch>,
    armed: bool,
}

impl Group {
    fn is_alive(&self) -> bool {
        guard::group_lives(self.id)
    }

    async fn end(&mut self, child: &mut dyn ChildWrapper) {
        guard::end_group(self.id, GRACE).await;
        let _ = tokio::time::timeout(GRACE, child.inner_mut().wait()).await;
        self.armed = false;
        self.watch.unwatch(self.id);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.armed {
            guard::signal_group(self.id, Force::Kill);
            self.watch.unwatch(self.id);
        }
    }
}

/// Groups whose shell has ended while some of their processes go on.
pub struct Strays {
    groups: Mutex<Vec<u32>>,
    watch: Arc<dyn Watch>,
}

impl Strays {
    /// None yet.
    pub fn new(watch: Arc<dyn Watch>) -> Self {
        Self { groups: Mutex::default(), watch }
    }

    /// Takes one in. It stays watched.
    pub fn adopt(&self, group: u32) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).push(group);
    }

    /// Those that still run; the others are let go. A number may be given to a new group once the old one is empty, so this is done before
    /// every command.
    pub fn sweep(&self) -> Vec<u32> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups.retain(|&group| {
            let alive = guard::group_lives(group);
            if !alive {
                self.watch.unwatch(group);
            }
            alive
        });
        groups.clone()
    }
}

impl Drop for Strays {
    /// They end with the session.
    fn drop(&mut self) {
        for group in self.sweep() {
            guard::signal_group(group, Force::Term);
        }
    }
}

/// Characters in a command that a reader would not see.
pub fn has_invisible(command: &str) -> bool {
    command.chars().any(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    })
}
