//! The guard: a process that outlives us for a moment and ends what we left behind.
//!
//! Owns: the guard process (`mcpane guard`, hidden), the handle that tells it which process groups are ours, and the only signals that are sent to
//! groups. A group here is what a child in a session of its own leads: its process group, and on Linux every other group of its session as well.
//! Does not start servers or commands, and does not decide when they end.
//!
//! **Invariant:** as long as a group is watched, the death of this process — by whatever means, `kill -9` included — ends the group within seconds:
//! the kernel closes our end of the pipe, the guard reads the end of it, sends TERM, and after [`GRACE`] KILL. PDEATHSIG would miss grandchildren,
//! such as those of `npx` and `uvx`.
//! **Invariant:** a group is unwatched as soon as it is empty, so that a reused number never names somebody else's processes.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How long the guard waits between TERM and KILL.
pub const GRACE: Duration = Duration::from_secs(2);
/// How long the guard may take to say that it is there.
const READY_WITHIN: Duration = Duration::from_secs(5);
/// How long the kernel may take to carry out KILL.
const AFTER_KILL: Duration = Duration::from_secs(1);
/// How often a group that was told to end is looked at. Only while something is being ended.
const POLL: Duration = Duration::from_millis(20);

/// The handle to the guard process. Clones share one guard. The process itself starts with the first group to watch.
#[derive(Debug, Clone)]
pub struct Guard {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// `None`: nobody guards.
    exe: Option<PathBuf>,
    groups: BTreeSet<u32>,
    process: Option<Running>,
    problem: Option<String>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    pipe: ChildStdin,
}

impl Guard {
    /// A guard that runs `exe guard`. Cheap: nothing is started before the first [`Self::watch`].
    pub fn start(exe: &Path) -> Self {
        Self::of(Some(exe.to_owned()))
    }

    /// No guard, for a program that is not mcpane and does not know where one is: what it starts it must end itself.
    pub fn none() -> Self {
        Self::of(None)
    }

    fn of(exe: Option<PathBuf>) -> Self {
        let state = State { exe, groups: BTreeSet::new(), process: None, problem: None };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Makes sure the guard process runs. Call it before a child is started, so that there is no moment in which nobody would end it.
    /// Blocks for the few milliseconds that the process takes the first time.
    pub fn ready(&self) {
        self.lock().ensure();
    }

    /// From now on this group is ended when we die. A guard that cannot be started is logged and named by [`Self::problem`].
    pub fn watch(&self, group: u32) {
        let mut state = self.lock();
        state.groups.insert(group);
        state.tell(&format!("+{group}\n"));
    }

    /// This group is empty: it is ours no longer.
    pub fn unwatch(&self, group: u32) {
        let mut state = self.lock();
        if state.groups.remove(&group) && state.process.is_some() {
            state.tell(&format!("-{group}\n"));
        }
    }

    /// Why there is no guard, if there should be one and is not.
    pub fn problem(&self) -> Option<String> {
        self.lock().problem.clone()
    }

    /// Process id of the guard, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.lock().process.as_ref().map(|running| running.child.id())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Starts the process if there is none; `true` if there was one already.
    fn ensure(&mut self) -> bool {
        if self.process.is_some() {
            return true;
        }
        let Some(exe) = &self.exe else { return false };
        match spawn(exe) {
            Ok(running) => {
                self.process = Some(running);
                self.problem = None;
            }
            Err(error) => {
                tracing::warn!(exe = %exe.display(), %error, "the guard process could not be started");
                self.problem = Some(format!("{}: {error}", exe.display()));
            }
        }
        false
    }

    /// Sends one line. A guard that is gone is replaced, and the new one told everything.
    fn tell(&mut self, line: &str) {
        if self.exe.is_none() {
            return;
        }
        if self.ensure() {
            if self.write(line).is_ok() {
                return;
            }
            if let Some(mut gone) = self.process.take() {
                let _ = gone.child.kill();
                let _ = gone.child.wait();
            }
            self.ensure();
        }
        let all: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        if self.process.is_some()
            && let Err(error) = self.write(&all)
        {
            tracing::warn!(%error, "the guard process cannot be told which groups are ours");
            self.problem = Some(error.to_string());
            self.process = None;
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let running = self.process.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        running.pipe.write_all(text.as_bytes())
    }
}

/// Starts the guard and waits until it says that signals no longer reach it.
fn spawn(exe: &Path) -> io::Result<Running> {
    let mut child =
        Command::new(exe).arg("guard").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (Some(pipe), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let (said, hear) = mpsc::channel();
    std::thread::spawn(move || {
        let mut word = [0; 6];
        let mut out = out;
        let _ = said.send(out.read_exact(&mut word).is_ok() && &word == b"ready\n");
    });
    if hear.recv_timeout(READY_WITHIN) == Ok(true) {
        return Ok(Running { child, pipe });
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(io::Error::other("it did not come up as a guard"))
}

/// The guard process itself: reads `+group` and `-group` lines until its standard input ends, then ends what is still listed.
pub fn run() -> ExitCode {
    // A session of our own: neither the terminal's keys nor its end reach us. It fails only for a group's leader, which `spawn` never makes us.
    let _ = rustix::process::setsid();
    // Hold no mount and no directory of the user.
    let _ = std::env::set_current_dir("/");
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let entered = runtime.enter();
    // A signal somebody listens to does not end the process. Nobody reads these streams: that is the point.
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
    let deaf: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    if deaf.len() < kinds.len() || io::stdout().write_all(b"ready\n").and_then(|()| io::stdout().flush()).is_err() {
        return ExitCode::FAILURE;
    }
    let groups = listen(io::stdin().lock());
    end_groups(&groups, GRACE);
    drop(deaf);
    drop(entered);
    ExitCode::SUCCESS
}

/// Reads until the end; what is listed then.
fn listen(input: impl Read) -> BTreeSet<u32> {
    let mut groups = BTreeSet::new();
    for line in BufReader::new(input).lines() {
        let Ok(line) = line else { break };
        match (line.get(..1), line.get(1..).and_then(|number| number.parse::<u32>().ok())) {
            (Some("+"), Some(group)) => groups.insert(group),
            (Some("-"), Some(group)) => groups.remove(&group),
            _ => false,
        };
    }
    groups
}

/// Which signal a group gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// It is asked to end.
    Term,
    /// It is ended.
    Kill,
}

/// Signals every process of a group; one that has ended already is passed over.
pub fn signal_group(group: u32, force: Force) {
    let signal = match force {
        Force::Term => Signal::TERM,
        Force::Kill => Signal::KILL,
    };
    for group in members(group) {
        let _ = kill_process_group(group, signal);
    }
}

/// Whether a process of the group still runs. A dead one that nobody has reaped does not count.
pub fn group_lives(group: u32) -> bool {
    !members(group).is_empty()
}

/// Ends groups: TERM, up to `grace`, KILL. Blocks.
pub fn end_groups(groups: &BTreeSet<u32>, grace: Duration) {
    let living = || groups.iter().any(|group| group_lives(*group));
    for group in groups {
        signal_group(*group, Force::Term);
    }
    let (kill, give_up) = (Instant::now() + grace, Instant::now() + grace + AFTER_KILL);
    while living() && Instant::now() < give_up {
        if Instant::now() >= kill {
            // Again each time: between listing a session and signalling it a process may have started another one.
            for group in groups {
                signal_group(*group, Force::Kill);
            }
        }
        std::thread::sleep(POLL);
    }
}

/// Ends a group: TERM, up to `grace`, KILL. Returns as soon as nothing of it runs, at once where nothing does.
pub async fn end_group(group: u32, grace: Duration) {
    signal_group(group, Force::Term);
    let (kill, give_up) = (Instant::now() + grace, Instant::now() + grace + AFTER_KILL);
    while group_lives(group) && Instant::now() < give_up {
        if Instant::now() >= kill {
            signal_group(group, Force::Kill);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// The process groups with a running member: the group itself and, where the system tells, all others of the session it leads
/// (a shell with job control gives each of its children a group).
fn members(leader: u32) -> HashSet<Pid> {
    // 0 would mean our own group and 1 is nobody's child.
    let Some(group) = i32::try_from(leader).ok().filter(|number| *number > 1).and_then(Pid::from_raw) else {
        return HashSet::new();
    };
    listed(leader).unwrap_or_else(|| {
        let alive = test_kill_process_group(group).is_ok();
        alive.then_some(group).into_iter().collect()
    })
}

/// The same from `/proc`; `None` where there is none.
fn listed(leader: u32) -> Option<HashSet<Pid>> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let mut found = HashSet::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((state, group, session)) = group_and_session(&stat) else { continue };
        if !matches!(state, "Z" | "X") && (group == leader || session == leader) {
            found.extend(i32::try_from(group).ok().and_then(Pid::from_raw));
        }
    }
    Some(found)
}

/// State, process group and session of a line of `/proc/PID/stat`. The name in brackets may hold anything, brackets too. Source: proc_pid_stat(5).
fn group_and_session(stat: &str) -> Option<(&str, u32, u32)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    Some((state, group, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_add_and_remove_and_nonsense_is_passed_over() {
        let groups = listen(&b"+12\n+13\nhello\n\n+x\n-12\n-99\n+14"[..]);
        assert_eq!(groups, BTreeSet::from([13, 14]));
    }

    #[test]
    fn a_process_name_may_hold_brackets_and_spaces() {
        assert_eq!(group_and_session("42 (a) b (c)) S 1 40 39 0 -1 4194304"), Some(("S", 40, 39)));
        assert_eq!(group_and_session("42 (sh"), None);
    }

    #[test]
    fn nobody_else_is_ever_signalled() {
        assert!(members(0).is_empty());
        assert!(members(1).is_empty());
        assert!(members(u32::MAX).is_empty());
    }

    #[test]
    fn a_program_that_is_no_guard_is_named_as_the_problem() {
        let guard = Guard::start(Path::new("/bin/false"));
        guard.watch(u32::MAX);
        assert!(guard.problem().is_some_and(|problem| problem.contains("/bin/false")), "{:?}", guard.problem());
    }
}
