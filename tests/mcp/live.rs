//! Pinned public servers, when `MCPANE_LIVE=1`. Then a missing one is a failure.
//!
//! They are installed by `tests/mcp/install-live.sh DIRECTORY`, and found through `MCPANE_LIVE_DIR`. It needs npm with node 20 or newer (the two npm
//! servers name no version; both were seen to work on 20.20 and it is what this was written against), and python3 with venv. So `.ci/run` does:
//!
//! ```sh
//! tests/mcp/install-live.sh "$DIR" && MCPANE_LIVE=1 MCPANE_LIVE_DIR="$DIR" cargo test --test mcp live
//! ```

use crate::rig::{PATIENCE, Rig, entry, reason, survivors, text};
use mcpane::domain::server::{ServerAsk, ServerEntry, ServerSignal, ServerState, Timeouts, Transport};
use mcpane::domain::{Content, ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Where the servers are; `None` where live tests are not asked for.
pub fn live() -> Option<PathBuf> {
    if std::env::var("MCPANE_LIVE").as_deref() != Ok("1") {
        return None;
    }
    let dir =
        std::env::var("MCPANE_LIVE_DIR").expect("MCPANE_LIVE_DIR names the directory that install-live.sh filled");
    Some(PathBuf::from(dir))
}

fn server(name: &str, program: PathBuf, args: &[&str]) -> ServerEntry {
    assert!(program.exists(), "{} is missing: run tests/mcp/install-live.sh", program.display());
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let command = program.display().to_string();
    let mut entry = entry(name, Transport::Stdio { command, args, env: Vec::new(), cwd: None });
    // Interpreters on a busy machine.
    entry.timeouts = Timeouts { start: 60, init: 30, list: 30, ..Timeouts::default() };
    entry
}

async fn ready(entry: ServerEntry) -> Rig {
    let mut rig = Rig::new();
    let name = entry.name.clone();
    rig.mcp.configure(vec![entry]);
    rig.ready(name.as_str()).await;
    rig
}

fn everything(dir: &std::path::Path) -> ServerEntry {
    server("everything", dir.join("node/node_modules/.bin/mcp-server-everything"), &[])
}

/// The children of a process, and theirs.
fn descendants(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut at = 0;
    while at < all.len() {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", all[at])).unwrap_or_default();
        all.extend(children.split_ascii_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
        at += 1;
    }
    all
}

#[tokio::test]
async fn everything_speaks_in_every_kind_of_content() {
    let Some(dir) = live() else { return };
    let mut rig = ready(everything(&dir)).await;
    assert_eq!(rig.text("everything", "echo", json!({ "message": "hello" })).await, "Echo: hello");
    let ToolOutcome::Done { content, .. } = rig.call("everything", "get-tiny-image", json!({})).await else { panic!() };
    assert!(
        content
            .iter()
            .any(|block| matches!(block, Content::Image { mime, data } if mime == "image/png" && data.bytes > 100))
    );
    let ToolOutcome::Done { content, .. } =
        rig.call("everything", "get-structured-content", json!({ "location": "New York" })).await
    else {
        panic!()
    };
    assert!(
        content.iter().any(|block| matches!(block, Content::Json { value } if value["temperature"].is_number())),
        "{content:?}"
    );
    let ToolOutcome::Done { content, .. } = rig.call("everything", "get-resource-links", json!({ "count": 3 })).await
    else {
        panic!()
    };
    assert_eq!(content.iter().filter(|block| matches!(block, Content::ResourceLink { .. })).count(), 3);
    let call = rig.begin("everything", "trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }));
    let signals = call.signals_handle();
    assert!(matches!(call.end().await, ToolOutcome::Done { is_error: false, .. }));
    let told: Vec<f64> = signals
        .lock()
        .unwrap()
        .iter()
        .filter_map(|signal| if let ToolSignal::Progress(progress) = signal { Some(progress.done) } else { None })
        .collect();
    assert_eq!(told, [1.0, 2.0, 3.0, 4.0]);
    let call = rig.begin("everything", "trigger-long-running-operation", json!({ "duration": 60, "steps": 600 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    call.cancel.cancel();
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    assert_eq!(rig.text("everything", "echo", json!({ "message": "alive" })).await, "Echo: alive");
    let status = rig.status("everything", |status| status.calls == 0 && status.state == ServerState::Ready).await;
    let pids = descendants(status.pid.unwrap());
    rig.mcp.shutdown().await;
    assert_eq!(survivors(&pids, Duration::ZERO).await, [0; 0]);
}

#[tokio::test]
async fn everything_asks_for_every_kind_of_field_in_its_order() {
    let Some(dir) = live() else { return };
    let mut rig = ready(everything(&dir)).await;
    let call = rig.begin("everything", "trigger-elicitation-request", json!({}));
    let (ask, of, what) = rig.asked().await;
    assert_eq!(of, Some(call.id));
    let ServerAsk::Form { schema, .. } = what else { panic!() };
    let fields: Vec<(&String, &Value)> = schema["properties"].as_object().unwrap().iter().collect();
    let kind = |field: &Value| {
        let format = field["format"].as_str().or(field["type"].as_str()).unwrap_or_default();
        let choices = ["enum", "oneOf", "enumNames"]
            .into_iter()
            .filter(|key| !field[*key].is_null())
            .collect::<Vec<_>>()
            .join("+");
        let items =
            ["enum", "anyOf"].into_iter().filter(|key| !field["items"][*key].is_null()).collect::<Vec<_>>().join("+");
        [format, &choices, &items].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let kinds: Vec<String> = fields.iter().map(|(_, field)| kind(field)).collect();
    assert_eq!(
        kinds,
        [
            "string",
            "boolean",
            "string",
            "email",
            "uri",
            "date",
            "integer",
            "number",
            "string enum",
            "array enum",
            "string oneOf",
            "array anyOf",
            "string enum+enumNames"
        ]
    );
    let name = fields[0].0.clone();
    let filled = json!({ name: "Ada Lovelace" });
    rig.mcp.answer(ask, AskAnswer::Accept(filled.as_object().unwrap().clone()));
    let ToolOutcome::Done { content, .. } = call.end().await else { panic!() };
    assert!(content.iter().any(|block| block.to_plain().contains("Ada Lovelace")), "{content:?}");
}

#[tokio::test]
async fn filesystem_works_in_the_roots_it_is_told() {
    let Some(dir) = live() else { return };
    let mut rig = Rig::new();
    std::fs::write(rig.dir.path().join("a.txt"), "inside").unwrap();
    // Another directory as its argument: it asks for the roots, and those count.
    let other = tempfile::tempdir().unwrap();
    let given = other.path().display().to_string();
    rig.mcp.configure(vec![server("files", dir.join("node/node_modules/.bin/mcp-server-filesystem"), &[&given])]);
    rig.ready("files").await;
    // It asks after the handshake, when it likes.
    let ours = rig.dir.path().display().to_string();
    let mut list = String::new();
    for _ in 0..100 {
        list = rig.text("files", "list_allowed_directories", json!({})).await;
        if list.contains(&ours) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(list.contains(&ours) && !list.contains(&given), "{list}");
    let path = rig.dir.path().join("a.txt").display().to_string();
    assert!(rig.text("files", "read_text_file", json!({ "path": path })).await.contains("inside"));
    let outside = rig.call("files", "read_text_file", json!({ "path": "/etc/hosts" })).await;
    assert!(outside.is_error(), "{outside:?}");
}

/// Through the launcher, as configurations have it: its grandchildren must not stay.
#[tokio::test]
async fn npx_leaves_nothing() {
    let Some(dir) = live() else { return };
    let mut rig = Rig::new();
    let args = ["--no-install", "mcp-server-everything"].map(str::to_owned).to_vec();
    let cwd = Some(dir.join("node").display().to_string());
    let mut entry = entry("npx", Transport::Stdio { command: "npx".into(), args, env: Vec::new(), cwd });
    entry.timeouts = Timeouts { start: 60, init: 30, list: 30, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    let pid = rig.ready("npx").await.pid.unwrap();
    let pids = descendants(pid);
    assert!(pids.len() > 1, "npx has children: {pids:?}");
    rig.mcp.shutdown().await;
    assert_eq!(survivors(&pids, Duration::ZERO).await, [0; 0]);
}

#[tokio::test]
async fn time_tells_the_time() {
    let Some(dir) = live() else { return };
    let rig =
        ready(server("time", dir.join("python/mcp-server-time/bin/mcp-server-time"), &["--local-timezone", "UTC"]))
            .await;
    let outcome = rig
        .call(
            "time",
            "convert_time",
            json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Shanghai" }),
        )
        .await;
    let said = text(&outcome);
    assert!(said.contains("20:00"), "{said}");
}

#[tokio::test]
async fn sqlite_crashes_on_import_and_its_status_says_why() {
    let Some(dir) = live() else { return };
    let mut rig = Rig::new();
    let database = rig.dir.path().join("x.db").display().to_string();
    rig.mcp.configure(vec![server(
        "sqlite",
        dir.join("python/mcp-server-sqlite/bin/mcp-server-sqlite"),
        &["--db-path", &database],
    )]);
    let status = tokio::time::timeout(PATIENCE, rig.state("sqlite", ServerState::StartFailed)).await.unwrap();
    let why = reason(&status);
    assert!(why.contains("exit code 1") && why.contains("Error"), "{why}");
    assert!(status.fix.is_some());
    let stderr = |signal: &ServerSignal| matches!(signal, ServerSignal::Stderr { lines, .. } if lines.iter().any(|line| line.contains("Traceback")));
    while !rig.seen.iter().any(stderr) {
        rig.until(|_| Some(())).await;
    }
}
