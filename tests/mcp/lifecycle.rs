//! States, reasons, lazy starts, the catalogue, and changes of the configuration.

use crate::rig::{Rig, alive, entry, failure, fixture, reason, survivors, text};
use mcpane::domain::server::{ServerAction, ServerSignal, ServerState, Timeouts, Transport};
use mcpane::domain::{Phrase, ToolOutcome, ToolSignal};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_server_without_catalogue_starts_once_in_the_background_and_stays_ready() {
    let mut rig = Rig::with(&[]).await;
    assert_eq!(
        rig.states("s"),
        [ServerState::Idle, ServerState::Starting, ServerState::Initializing, ServerState::Ready]
    );
    let entry = rig.entry("s", &[]);
    rig.mcp.act(&entry.name, ServerAction::Start);
    rig.mcp.configure(vec![entry]);
    let outcome = rig.call("s", "echo", json!({ "text": "hi" })).await;
    assert_eq!(text(&outcome), "hi");
    let status = rig.status("s", |status| status.calls == 1).await;
    assert_eq!(status.identity.as_deref(), Some("fixture 1.0"));
    assert_eq!(status.protocol.as_deref(), Some("2025-11-25"));
    assert_eq!(status.instructions.as_deref(), Some("Only for tests."));
    assert!(status.start_millis.is_some() && status.pid.is_some() && !status.cached);
    assert_eq!(status.tools, Some(rig.mcp.tools(&"s".into()).len()));
    assert_eq!(rig.pids("s").len(), 1, "started once");
    let init = &rig.received("s")[0]["params"];
    assert_eq!(init["protocolVersion"], "2025-11-25");
    assert_eq!(init["capabilities"], json!({ "roots": {}, "elicitation": { "form": {}, "url": {} } }));
    assert_eq!(init["clientInfo"]["name"], "mcpane");
}

#[tokio::test]
async fn tools_come_from_the_catalogue_and_a_call_starts_the_server_visibly() {
    let rig = Rig::with(&[]).await;
    rig.mcp.shutdown().await;
    let file = std::fs::read_dir(rig.dir.path().join("state/catalogue")).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let mut next = Rig::on(Arc::clone(&rig.dir));
    next.mcp.configure(vec![next.entry("s", &[])]);
    let (tools, _) = next.tools("s").await;
    assert!(tools.iter().any(|spec| &*spec.id.name == "echo"));
    let status = next.state("s", ServerState::Idle).await;
    assert!(status.cached && status.instructions.is_some() && status.identity.is_some());
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(next.pids("s").len(), 1, "only the first start");
    let call = next.begin("s", "echo", json!({ "text": "late" }));
    let signals = call.signals_handle();
    assert_eq!(text(&call.end().await), "late");
    assert_eq!(*signals.lock().unwrap(), [ToolSignal::WaitingForServer { server: "s".into() }, ToolSignal::Started]);
    next.ready("s").await;
    assert_eq!(next.pids("s").len(), 2);
}

#[tokio::test]
async fn a_server_that_is_not_lazy_starts_although_its_tools_are_known() {
    let rig = Rig::with(&[]).await;
    rig.mcp.shutdown().await;
    let mut next = Rig::on(Arc::clone(&rig.dir));
    let mut entry = next.entry("s", &[]);
    entry.lazy = false;
    next.mcp.configure(vec![entry]);
    next.ready("s").await;
}

#[tokio::test]
async fn calls_meanwhile_share_one_start_and_can_be_called_off() {
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", &["--delay", "700"])]);
    rig.state("s", ServerState::Starting).await;
    let calls: Vec<_> = (0..5).map(|n| rig.begin("s", "echo", json!({ "text": n.to_string() }))).collect();
    let dropped = rig.begin("s", "echo", json!({ "text": "never" }));
    dropped.told(|signal| matches!(signal, ToolSignal::WaitingForServer { .. })).await;
    let began = Instant::now();
    dropped.cancel.cancel();
    assert_eq!(dropped.end().await, ToolOutcome::Cancelled);
    assert!(began.elapsed() < Duration::from_millis(300));
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(text(&call.end().await), n.to_string());
    }
    assert_eq!(rig.pids("s").len(), 1);
    assert!(!rig.received("s").iter().any(|message| message["params"]["arguments"]["text"] == "never"));
}

/// Each way to fail, at once and beside a healthy server: state, what the reason says, and what the fix is about.
#[tokio::test]
async fn every_failure_has_its_state_reason_and_fix_and_touches_nobody_else() {
    let mut rig = Rig::new();
    let fixture = fixture().display().to_string();
    let script = |name: &str, text: &str, mode: u32| {
        let path = rig.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let stdio = |command: &str, cwd: Option<&str>| Transport::Stdio {
        command: command.into(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: cwd.map(str::to_owned),
    };
    let quick = Timeouts { start: 1, init: 1, ..Timeouts::default() };
    let pinned = |mut entry: mcpane::domain::server::ServerEntry, version: &str| {
        entry.protocol = Some(version.into());
        entry
    };
    use ServerState::{InitFailed, StartFailed};
    let cases = [
        (
            entry("absent", stdio("mcpane-no-such-program", None)),
            StartFailed,
            "mcpane-no-such-program was not found",
            "server.fix_install",
        ),
        (
            entry("plain_file", stdio(&script("a.txt", "x", 0o600), None)),
            StartFailed,
            "may not be executed",
            "server.fix_executable",
        ),
        (
            entry("no_shebang", stdio(&script("b.sh", "#!/no/such/interpreter\n", 0o700), None)),
            StartFailed,
            "first line names",
            "server.fix_interpreter",
        ),
        (
            entry("no_cwd", stdio(&fixture, Some("/no/such/directory"))),
            StartFailed,
            "/no/such/directory does not exist",
            "server.fix_directory",
        ),
        (
            rig.entry("dies", &["--init", "die", "--exit", "7", "--stderr", "loading"]),
            StartFailed,
            "exit code 7. Its last lines:\nloading\nfixture: cannot import name 'Server'",
            "server.fix_stderr",
        ),
        (
            rig.entry("never", &["--init", "never", "--stderr", "waiting for a database"]),
            StartFailed,
            "did not answer within 1 s. Its last lines:\nwaiting for a database",
            "server.fix_timeout",
        ),
        (rig.entry("half", &["--init", "half"]), InitFailed, "did not answer within 1 s", "server.fix_timeout"),
        (rig.entry("refuses", &["--init", "error"]), InitFailed, "no licence (error -32000)", "server.fix_protocol"),
        (rig.entry("idless", &["--init", "idless"]), InitFailed, "Parse error", "server.fix_protocol"),
        (rig.entry("wrong_id", &["--init", "wrong-id"]), InitFailed, "4711", "server.fix_protocol"),
        (rig.entry("versionless", &["--init", "no-version"]), InitFailed, "protocolVersion", "server.fix_protocol"),
        (rig.entry("ancient", &["--version", "1999-01-01"]), InitFailed, "1999-01-01", "server.fix_protocol"),
        (rig.entry("modern", &["--version", "2026-07-28"]), InitFailed, "2026-07-28", "server.fix_protocol"),
        (
            pinned(rig.entry("other", &["--version", "2024-11-05"]), "2025-06-18"),
            InitFailed,
            "2024-11-05",
            "server.fix_protocol",
        ),
        (pinned(rig.entry("bad_pin", &[]), "2030-01-01"), StartFailed, "2030-01-01", "server.fix_pin"),
    ];
    let mut entries = vec![rig.entry("healthy", &[])];
    for (entry, ..) in &cases {
        entries.push(mcpane::domain::server::ServerEntry { timeouts: quick, ..entry.clone() });
    }
    rig.mcp.configure(entries);
    let mut left: Vec<_> = cases.iter().collect();
    while !left.is_empty() {
        let status = rig.until(|signal| match signal {
            ServerSignal::Status(status) if status.state.is_failed() => Some((**status).clone()),
            _ => None,
        });
        let status = status.await;
        let at = left.iter().position(|(entry, ..)| entry.name == status.name);
        let (entry, state, says, fix) = left.swap_remove(at.unwrap_or_else(|| panic!("twice: {status:?}")));
        assert_eq!(status.state, *state, "{}: {:?}", entry.name, status.reason);
        assert!(reason(&status).contains(says), "{}: {}", entry.name, reason(&status));
        assert_eq!(status.fix.as_ref().map(|fix| &*fix.key), Some(*fix), "{}", entry.name);
        assert_eq!(status.pid, None);
    }
    assert_eq!(rig.text("healthy", "echo", json!({ "text": "fine" })).await, "fine");
    // A call to one of them tries again, and fails with the same reason; nothing ran.
    let (message, may_have_run) = failure(&rig.call("dies", "echo", json!({})).await);
    assert!(message.contains("exit code 7") && message.contains("cannot import name") && !may_have_run, "{message}");
    rig.mcp.shutdown().await;
    let pids: Vec<u32> = cases.iter().flat_map(|(entry, ..)| rig.pids(entry.name.as_str())).collect();
    assert_eq!(survivors(&pids, Duration::from_secs(1)).await, [0; 0]);
}

#[tokio::test]
async fn secrets_of_an_entry_are_never_told() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &["--init", "die", "--stderr", "bad key k3y-s3cret-0815"]);
    let Ok(Transport::Stdio { env, .. }) = &mut entry.transport else { panic!() };
    env.push(("SERVICE_API_KEY".into(), "k3y-s3cret-0815".into()));
    rig.mcp.configure(vec![entry]);
    let status = rig.state("s", ServerState::StartFailed).await;
    assert!(reason(&status).contains("bad key •••"), "{}", reason(&status));
    let (message, _) = failure(&rig.call("s", "echo", json!({})).await);
    assert!(message.contains("bad key •••"), "{message}");
    let told = format!("{:?}", rig.drain());
    assert!(!told.contains("k3y-s3cret-0815"), "{told}");
    assert_eq!(rig.redactor.mask_text("k3y-s3cret-0815"), "•••", "journals know it, too");
}

#[tokio::test]
async fn a_pinned_revision_is_offered() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut rig = Rig::new();
        let mut entry = rig.entry("s", &[]);
        entry.protocol = Some(version.into());
        rig.mcp.configure(vec![entry]);
        assert_eq!(rig.ready("s").await.protocol.as_deref(), Some(version));
        assert_eq!(rig.received("s")[0]["params"]["protocolVersion"], version);
    }
}

#[tokio::test]
async fn entries_that_cannot_start_say_so_and_start_nothing() {
    let mut rig = Rig::new();
    let mut disabled = rig.entry("disabled", &[]);
    disabled.disabled = true;
    let mut untrusted = rig.entry("untrusted", &[]);
    untrusted.untrusted = true;
    let mut broken = rig.entry("broken", &[]);
    broken.transport = Err(Phrase::literal("TOKEN is not set"));
    rig.mcp.configure(vec![disabled, untrusted, broken]);
    rig.state("disabled", ServerState::Disabled).await;
    rig.state("untrusted", ServerState::Untrusted).await;
    assert_eq!(reason(&rig.state("broken", ServerState::StartFailed).await), "TOKEN is not set");
    for name in ["disabled", "untrusted", "broken"] {
        rig.mcp.act(&name.into(), ServerAction::Restart);
        let (message, may_have_run) = failure(&rig.call(name, "echo", json!({})).await);
        assert!(message.contains(name) && !may_have_run, "{message}");
        assert!(rig.pids(name).is_empty());
    }
    assert!(failure(&rig.call("nobody", "echo", json!({})).await).0.contains("nobody"));
}

#[tokio::test]
async fn stop_start_and_restart() {
    let mut rig = Rig::with(&[]).await;
    let name = "s".into();
    let first = rig.pids("s")[0];
    let call = rig.begin("s", "slow", json!({ "steps": 1000 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    rig.mcp.act(&name, ServerAction::Stop);
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    let status = rig.state("s", ServerState::Stopped).await;
    assert_eq!(status.pid, None);
    assert_eq!(survivors(&[first], Duration::from_secs(3)).await, [0; 0]);
    assert!(rig.was_told("s", "notifications/cancelled").await);
    let (message, _) = failure(&rig.call("s", "echo", json!({})).await);
    assert!(message.contains("stopped by the user"), "{message}");
    assert_eq!(rig.pids("s").len(), 1, "a call does not start what the user stopped");
    rig.mcp.act(&name, ServerAction::Start);
    let second = rig.ready("s").await.pid.unwrap();
    rig.mcp.act(&name, ServerAction::Restart);
    let third =
        rig.status("s", |status| status.state == ServerState::Ready && status.pid != Some(second)).await.pid.unwrap();
    assert_eq!(survivors(&[second], Duration::from_secs(3)).await, [0; 0]);
    assert!(alive(third));
    // While it is being started, too; at the end one runs.
    rig.mcp.act(&name, ServerAction::Restart);
    rig.mcp.act(&name, ServerAction::Restart);
    rig.mcp.act(&name, ServerAction::Restart);
    assert_eq!(rig.text("s", "echo", json!({ "text": "still" })).await, "still");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(rig.pids("s").into_iter().filter(|pid| alive(*pid)).count(), 1);
}

#[tokio::test]
async fn who_waits_for_a_server_that_is_restarted_gets_the_new_one() {
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", &["--delay", "300"])]);
    rig.state("s", ServerState::Starting).await;
    let call = rig.begin("s", "echo", json!({ "text": "patient" }));
    call.told(|signal| matches!(signal, ToolSignal::WaitingForServer { .. })).await;
    rig.mcp.act(&"s".into(), ServerAction::Restart);
    rig.mcp.configure(vec![rig.entry("s", &["--stderr", "changed as well"])]);
    assert_eq!(text(&call.end().await), "patient");
    // Stopping is another matter.
    rig.mcp.configure(vec![rig.entry("s", &["--init", "never"])]);
    rig.state("s", ServerState::Starting).await;
    let call = rig.begin("s", "echo", json!({ "text": "in vain" }));
    call.told(|signal| matches!(signal, ToolSignal::WaitingForServer { .. })).await;
    rig.mcp.act(&"s".into(), ServerAction::Stop);
    let (message, may_have_run) = failure(&call.end().await);
    assert!(message.contains("stopped") && !may_have_run, "{message}");
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_disconnected_and_the_next_call_starts_it() {
    let mut rig = Rig::with(&["--stderr", "hello"]).await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(rig.pids("s")[0]).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let status = rig.state("s", ServerState::Disconnected).await;
    assert_eq!(reason(&status), "It was ended by signal SIGKILL. Its last lines:\nhello");
    assert_eq!(rig.text("s", "echo", json!({ "text": "again" })).await, "again");
    assert_eq!(rig.pids("s").len(), 2);
}

#[tokio::test]
async fn only_what_changed_is_touched() {
    let mut rig = Rig::new();
    let (keep, change, filter, go) =
        (rig.entry("keep", &[]), rig.entry("change", &[]), rig.entry("filter", &[]), rig.entry("go", &[]));
    rig.mcp.configure(vec![keep.clone(), change.clone(), filter.clone(), go.clone()]);
    for name in ["keep", "change", "filter", "go"] {
        if !rig.seen.iter().any(|signal| matches!(signal, ServerSignal::Status(status) if status.name.as_str() == name && status.tools.is_some())) {
            rig.ready(name).await;
        }
    }
    let mut filter = filter;
    filter.allow_tools = vec!["e*".into()];
    filter.deny_tools = vec!["environment".into()];
    filter.timeouts.call = 5;
    let change = rig.entry("change", &["--stderr", "new"]);
    rig.mcp.configure(vec![keep, change, filter]);
    rig.until(|signal| matches!(signal, ServerSignal::Removed { server } if server.as_str() == "go").then_some(()))
        .await;
    let (tools, rejected) = rig
        .until(|signal| match signal {
            ServerSignal::Tools { server, tools, rejected } if server.as_str() == "filter" && tools.len() == 2 => {
                Some((tools.clone(), rejected.clone()))
            }
            _ => None,
        })
        .await;
    assert_eq!(tools.iter().map(|spec| &*spec.id.name).collect::<Vec<_>>(), ["echo", "elicit"]);
    assert!(rejected.is_empty());
    assert!(failure(&rig.call("filter", "add", json!({})).await).0.contains("excludes"));
    rig.ready("change").await;
    assert_eq!(["keep", "change", "filter", "go"].map(|name| rig.pids(name).len()), [1, 2, 1, 1]);
    assert_eq!(survivors(&rig.pids("go"), Duration::from_secs(3)).await, [0; 0]);
    assert!(rig.mcp.tools(&"go".into()).is_empty());
}

#[tokio::test]
async fn without_servers_there_is_nothing() {
    let mut rig = Rig::new();
    rig.mcp.configure(Vec::new());
    rig.mcp.shutdown().await;
    assert!(rig.drain().is_empty());
    assert_eq!(std::fs::read_dir(rig.dir.path()).unwrap().count(), 0);
}
