//! A host that starts servers and then waits to be killed; and a bare holder of a guard.

use mcpane::domain::server::{ServerEntry, ServerSignal, ServerState, Source, Timeouts, Transport};
use mcpane::guard::Guard;
use mcpane::mcp::{Mcp, Options};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Starts `count` servers, each with a stubborn grandchild, reaches those at `urls`, says `ready`, and sleeps. Pids go to `$FIXTURE_PIDS` by the servers themselves.
pub fn run(state_dir: &str, count: usize, urls: &[String]) -> ExitCode {
    let exe = std::env::current_exe().unwrap();
    let (tx, rx) = mpsc::channel();
    let options = Options {
        state_dir: Path::new(state_dir).to_owned(),
        roots: Vec::new(),
        version: "0".into(),
        guard: Guard::start(&exe),
        redactor: mcpane::redact::Redactor::default(),
        tap: None,
    };
    let mcp = Mcp::new(options, move |signal| drop(tx.send(signal)));
    let remote = urls.iter().map(|url| Transport::Http { url: url.clone(), headers: Vec::new() });
    let remote = remote.enumerate().map(|(n, transport)| ServerEntry {
        name: format!("r{n}").into(),
        transport: Ok(transport),
        fingerprint: format!("remote{n}").into(),
        ..entry(&exe, n)
    });
    mcp.configure((0..count).map(|n| entry(&exe, n)).chain(remote).collect());
    let mut ready = 0;
    while ready < count + urls.len() {
        if let Ok(ServerSignal::Status(status)) = rx.recv_timeout(Duration::from_secs(30))
            && status.state == ServerState::Ready
            && status.tools.is_some()
        {
            ready += 1;
        }
    }
    std::io::stdout().write_all(b"ready\n").unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

/// Starts `count` groups of two sleepers each, watched by a guard, and one more that was watched and no longer is; says the guard's pid, the groups, and
/// sleeps.
pub fn hold(count: usize) -> ExitCode {
    let guard = Guard::start(&std::env::current_exe().unwrap());
    let groups: Vec<u32> = (0..=count)
        .map(|_| {
            let mut command = Command::new("sh");
            command.args(["-c", "sleep 1000 & sleep 1000"]).process_group(0);
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            guard.watch(child.id());
            child.id()
        })
        .collect();
    guard.unwatch(groups[count]);
    let line: Vec<String> = guard.pid().into_iter().chain(groups).map(|pid| pid.to_string()).collect();
    std::io::stdout().write_all(format!("{}\n", line.join(" ")).as_bytes()).unwrap();
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}

fn entry(exe: &Path, n: usize) -> ServerEntry {
    ServerEntry {
        name: format!("s{n}").into(),
        transport: Ok(Transport::Stdio {
            command: exe.display().to_string(),
            args: vec!["--grandchild".into(), "--linger".into()],
            env: Vec::new(),
            cwd: None,
        }),
        source: Source::default(),
        disabled: false,
        untrusted: false,
        lazy: false,
        protocol: None,
        timeouts: Timeouts::default(),
        tool_timeouts: Vec::new(),
        allow_tools: Vec::new(),
        deny_tools: Vec::new(),
        trust_read_only: false,
        fingerprint: format!("host{n}").into(),
    }
}
