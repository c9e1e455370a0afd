//! Processes: every one that descends from a test's program carries that test's mark in its environment, whatever group or session it is in.

use std::fs;

/// The variable that carries the mark.
pub const MARK: &str = "MCPANE_E2E_MARK";

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proc {
    pub pid: u32,
    pub parent: u32,
    /// Process group.
    pub group: u32,
    pub session: u32,
    /// Its command line, arguments joined by blanks.
    pub command: String,
}

/// All that carry this mark. A dead one that nobody has reaped does not count.
pub fn marked(mark: &str) -> Vec<Proc> {
    let needle = format!("{MARK}={mark}").into_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == needle)
            && let Some(process) = look(pid)
        {
            found.push(process);
        }
    }
    found
}

fn look(pid: u32) -> Option<Proc> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let command = String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned();
    Some(Proc { pid, parent, group, session, command })
}

/// Whether a process is stopped by a signal.
pub fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// Sends a signal to one process.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    // It may have ended by itself.
    let _ = rustix::process::kill_process(pid, signal);
}
