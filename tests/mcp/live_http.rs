//! The pinned public server `server-everything` over both HTTP transports, when `MCPANE_LIVE=1` (see `live.rs`).

use crate::live::live;
use crate::rig::{PATIENCE, Rig, entry};
use mcpane::domain::server::{ServerAsk, ServerEntry, ServerState, Timeouts, Transport};
use mcpane::domain::{ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the server in one of its modes, and waits until it listens.
async fn serve(dir: &std::path::Path, mode: &str, port: u16) -> Server {
    let program = dir.join("node/node_modules/.bin/mcp-server-everything");
    assert!(program.exists(), "{} is missing: run tests/mcp/install-live.sh", program.display());
    let child = Command::new(program)
        .arg(mode)
        .env("PORT", port.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Server { child, port };
    let began = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", server.port)).is_err() {
        assert!(began.elapsed() < PATIENCE, "it never listened");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server
}

fn free() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn patient(transport: Transport) -> ServerEntry {
    let mut entry = entry("everything", transport);
    entry.timeouts = Timeouts { start: 60, init: 30, list: 30, ..Timeouts::default() };
    entry
}

/// Tools, a call, progress, a question, cancellation.
async fn works(rig: &mut Rig) {
    let names: Vec<String> = rig.mcp.tools(&"everything".into()).iter().map(|spec| spec.id.name.to_string()).collect();
    for name in ["echo", "get-sum", "trigger-long-running-operation", "trigger-elicitation-request"] {
        assert!(names.iter().any(|known| known == name), "{name} is not among {names:?}");
    }
    assert_eq!(rig.text("everything", "echo", json!({ "message": "hello" })).await, "Echo: hello");
    let call = rig.begin("everything", "trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }));
    let signals = call.signals_handle();
    assert!(matches!(call.end().await, ToolOutcome::Done { is_error: false, .. }));
    let done =
        |signal: &ToolSignal| if let ToolSignal::Progress(progress) = signal { Some(progress.done) } else { None };
    let told: Vec<f64> = signals.lock().unwrap().iter().filter_map(done).collect();
    assert_eq!(told, [1.0, 2.0, 3.0, 4.0]);
    let call = rig.begin("everything", "trigger-elicitation-request", json!({}));
    let (ask, of, what) = rig.asked().await;
    assert_eq!(of, Some(call.id));
    let ServerAsk::Form { schema, .. } = what else { panic!() };
    let name = schema["properties"].as_object().unwrap().keys().next().unwrap().clone();
    rig.mcp.answer(ask, AskAnswer::Accept(json!({ name: "Ada Lovelace" }).as_object().unwrap().clone()));
    let ToolOutcome::Done { content, .. } = call.end().await else { panic!() };
    assert!(content.iter().any(|block| block.to_plain().contains("Ada Lovelace")), "{content:?}");
    let call = rig.begin("everything", "trigger-long-running-operation", json!({ "duration": 60, "steps": 600 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    call.cancel.cancel();
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    assert_eq!(rig.text("everything", "echo", json!({ "message": "alive" })).await, "Echo: alive");
}

#[tokio::test]
async fn everything_over_streamable_http_and_after_a_restart() {
    let Some(dir) = live() else { return };
    let server = serve(&dir, "streamableHttp", free()).await;
    let mut rig = Rig::new();
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    rig.mcp.configure(vec![patient(Transport::Http { url, headers: Vec::new() })]);
    assert_eq!(rig.ready("everything").await.transport, "http");
    works(&mut rig).await;
    let port = server.port;
    drop(server);
    rig.state("everything", ServerState::Reconnecting).await;
    let _server = serve(&dir, "streamableHttp", port).await;
    rig.state("everything", ServerState::Ready).await;
    assert_eq!(rig.text("everything", "echo", json!({ "message": "again" })).await, "Echo: again");
    rig.mcp.shutdown().await;
}

#[tokio::test]
async fn everything_over_sse() {
    let Some(dir) = live() else { return };
    let server = serve(&dir, "sse", free()).await;
    let url = format!("http://127.0.0.1:{}/sse", server.port);
    // Said outright, and found by asking.
    for transport in
        [Transport::Sse { url: url.clone(), headers: Vec::new() }, Transport::Http { url, headers: Vec::new() }]
    {
        let mut rig = Rig::new();
        rig.mcp.configure(vec![patient(transport)]);
        assert_eq!(rig.ready("everything").await.transport, "sse");
        works(&mut rig).await;
        rig.mcp.shutdown().await;
    }
}
