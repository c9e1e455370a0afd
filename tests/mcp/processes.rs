//! Nothing is left behind, whatever happens; and no server can reach the terminal.

use crate::rig::{PATIENCE, Rig, alive, fixture, survivors};
use mcpane::domain::ToolOutcome;
use mcpane::domain::server::{ServerSignal, ServerState};
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
/// Group, session and controlling terminal of a process.
fn belongs(pid: u32) -> (u32, u32, i32) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_ascii_whitespace().collect();
    (fields[2].parse().unwrap(), fields[3].parse().unwrap(), fields[4].parse().unwrap())
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn every_server_leads_a_session_without_a_terminal() {
    let rig = Rig::with(&[]).await;
    let pid = rig.pids("s")[0];
    assert_eq!(belongs(pid), (pid, pid, 0));
}

#[tokio::test]
async fn shutdown_ends_stubborn_servers_and_their_children_together_and_soon() {
    let mut rig = Rig::new();
    let mut entries: Vec<_> = (0..4).map(|n| rig.entry(&format!("s{n}"), &["--grandchild", "--linger"])).collect();
    entries.push(rig.entry("starting", &["--init", "never", "--linger"]));
    rig.mcp.configure(entries);
    let mut ready = 0;
    while ready < 4 {
        rig.until(|signal| matches!(signal, ServerSignal::Status(status) if status.state == ServerState::Ready && status.tools.is_some()).then_some(())).await;
        ready += 1;
    }
    let call = rig.begin("s0", "slow", json!({ "steps": 1000 }));
    call.told(|signal| matches!(signal, mcpane::domain::ToolSignal::Progress(_))).await;
    let waiting = rig.begin("starting", "echo", json!({}));
    let pids: Vec<u32> = ["s0", "s1", "s2", "s3", "starting"].iter().flat_map(|name| rig.pids(name)).collect();
    assert_eq!(pids.len(), 9);
    assert!(pids.iter().all(|pid| alive(*pid)));
    let began = Instant::now();
    rig.mcp.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(survivors(&pids, Duration::ZERO).await, [0; 0]);
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    assert!(!matches!(waiting.end().await, ToolOutcome::Done { .. }));
    // Nothing can be called any more, and asking again harms nothing.
    assert!(matches!(rig.call("s0", "echo", json!({})).await, ToolOutcome::Failed { .. }));
    rig.mcp.shutdown().await;
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_needs_no_signal() {
    let rig = Rig::with(&[]).await;
    let began = Instant::now();
    rig.mcp.shutdown().await;
    assert!(began.elapsed() < Duration::from_millis(700), "{:?}", began.elapsed());
    assert_eq!(survivors(&rig.pids("s"), Duration::ZERO).await, [0; 0]);
}

#[tokio::test]
async fn dropping_the_handle_ends_the_servers() {
    let rig = Rig::with(&["--grandchild"]).await;
    let pids = rig.pids("s");
    drop(rig.mcp);
    assert_eq!(survivors(&pids, Duration::from_secs(5)).await, [0; 0]);
}

#[cfg(target_os = "linux")]
/// How often the threads of a process gave up the processor of their own accord: how often they were woken.
fn naps(pid: u32) -> Vec<(String, u64)> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let count = |entry: std::fs::DirEntry| {
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        (field("Name:"), field("voluntary_ctxt_switches:").parse().unwrap())
    };
    let mut all: Vec<_> = threads.map(count).collect();
    all.sort();
    all
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn idle_servers_cost_no_wake_up() {
    let rig = Rig::new();
    let dir = tempfile::tempdir().unwrap();
    // A standing stream each.
    let web = [rig.web("a", &[], &[]), rig.web("b", &[], &["--only-sse"])];
    let mut host = Command::new(fixture())
        .args(["host", &dir.path().display().to_string(), "2"])
        .args(web.iter().map(|web| format!("{}/mcp", web.url)))
        .env("FIXTURE_PIDS", dir.path().join("pids"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    host.stdout.take().unwrap().read_exact(&mut [0; 6]).unwrap();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = naps(host.id());
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let after = naps(host.id());
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(before.iter().any(|(name, _)| name == "mcp"), "{before:?}");
    assert_eq!(before, after);
}

#[tokio::test]
async fn kill_9_of_the_host_leaves_no_process() {
    let dir = tempfile::tempdir().unwrap();
    let pids_file = dir.path().join("pids");
    let mut host = Command::new(fixture())
        .args(["host", &dir.path().display().to_string(), "3"])
        .env("FIXTURE_PIDS", &pids_file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = [0; 6];
    host.stdout.take().unwrap().read_exact(&mut word).unwrap();
    let pids: Vec<u32> =
        std::fs::read_to_string(&pids_file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(pids.len(), 6, "three servers, three grandchildren that ignore TERM and HUP");
    assert!(pids.iter().all(|pid| alive(*pid)));
    host.kill().unwrap();
    host.wait().unwrap();
    assert_eq!(survivors(&pids, Duration::from_secs(8)).await, [0; 0]);
}

/// `sh -c 'sleep 1000 & sleep 1000'` in groups, held by a process that is killed; the guard itself is signalled before.
#[tokio::test]
#[cfg(target_os = "linux")]
async fn the_guard_is_deaf_to_signals_and_ends_what_it_was_told_and_nothing_else() {
    let mut holder = Command::new(fixture()).args(["hold", "3"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let numbers: Vec<u32> = line.split_ascii_whitespace().map(|number| number.parse().unwrap()).collect();
    let (guard, groups) = (numbers[0], &numbers[1..]);
    let (watched, unwatched) = groups.split_at(3);
    assert_eq!(belongs(guard).1, guard, "a session of its own");
    let pid = rustix::process::Pid::from_raw(i32::try_from(guard).unwrap()).unwrap();
    use rustix::process::Signal;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        rustix::process::kill_process(pid, signal).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(alive(guard));
    let members = |groups: &[u32]| -> Vec<u32> {
        let all =
            std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        all.filter(|pid| {
            std::path::Path::new(&format!("/proc/{pid}/stat")).exists()
                && alive(*pid)
                && groups.contains(&belongs(*pid).0)
        })
        .collect()
    };
    let (ours, other) = (members(watched), members(unwatched));
    assert_eq!((ours.len(), other.len()), (9, 3), "a shell and two sleepers in each");
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(survivors(&[ours, vec![guard]].concat(), PATIENCE).await, [0; 0]);
    assert!(other.iter().all(|pid| alive(*pid)), "what it was told to forget is left alone");
    mcpane::guard::end_group(unwatched[0], Duration::from_secs(1)).await;
    assert_eq!(survivors(&other, Duration::from_secs(1)).await, [0; 0]);
}

#[tokio::test]
async fn a_guard_that_was_killed_is_replaced_and_the_new_one_told_everything() {
    use std::os::unix::process::CommandExt;
    let mut sleepers: Vec<_> =
        (0..2).map(|_| Command::new("sleep").arg("1000").process_group(0).spawn().unwrap()).collect();
    let groups: Vec<u32> = sleepers.iter().map(std::process::Child::id).collect();
    let guard = mcpane::guard::Guard::start(&fixture());
    assert_eq!(guard.pid(), None, "nothing to guard yet");
    guard.watch(groups[0]);
    let first = guard.pid().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(first).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    assert_eq!(survivors(&[first], PATIENCE).await, [0; 0]);
    assert!(groups.iter().all(|group| alive(*group)), "a dead guard ends nothing");
    guard.watch(groups[1]);
    assert_ne!(guard.pid(), Some(first));
    assert_eq!(guard.problem(), None);
    drop(guard);
    assert_eq!(survivors(&groups, PATIENCE).await, [0; 0]);
    for sleeper in &mut sleepers {
        sleeper.wait().unwrap();
    }
}
