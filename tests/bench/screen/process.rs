//! What the system says about a process: memory, time, wake-ups.

use std::collections::HashMap;
use std::path::PathBuf;

/// Resident memory, in KiB: now, and the most so far.
pub fn memory(pid: u32) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    (field(&status, "VmRSS:"), field(&status, "VmHWM:"))
}

fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Seconds that its threads have run, in the system too (`utime + stime`).
pub fn cpu(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    // Fields 14 and 15 (proc(5)); two stand before the parenthesis.
    let ticks: u64 = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// How often each of its threads went to sleep by itself: an idle program's figures do not rise.
pub fn sleeps(pid: u32) -> HashMap<PathBuf, u64> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let status =
        tasks.filter_map(|task| Some((task.path(), std::fs::read_to_string(task.path().join("status")).ok()?)));
    status.map(|(task, status)| (task, field(&status, "voluntary_ctxt_switches:"))).collect()
}

/// By how much they rose. A thread that ended meanwhile woke once to do so.
pub fn woken(before: &HashMap<PathBuf, u64>, after: &HashMap<PathBuf, u64>) -> u64 {
    let ended = before.keys().filter(|task| !after.contains_key(*task)).count() as u64;
    ended + after.iter().map(|(task, count)| count - before.get(task).unwrap_or(&0)).sum::<u64>()
}

/// Its children.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}
