//! HTTP with SSE, the older transport, against the fixture server: chosen by `type`, or found where the other one is refused.

use crate::rig::{Rig, entry, failure, reason, text};
use mcpane::domain::server::{ServerSignal, ServerState, Timeouts, Transport};
use mcpane::domain::{ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn chosen_or_found_it_carries_calls_progress_questions_and_cancellation() {
    for only in [false, true] {
        let mut rig = Rig::new();
        let web = rig.web("s", &[], if only { &["--only-sse"] } else { &[] });
        let mut entry = if only { web.entry("s") } else { web.sse_entry("s") };
        let Ok(Transport::Http { headers, .. } | Transport::Sse { headers, .. }) = &mut entry.transport else {
            panic!()
        };
        headers.push(("X-Team".into(), "blue".into()));
        rig.mcp.configure(vec![entry]);
        let status = rig.ready("s").await;
        assert_eq!(status.transport, "sse");
        assert_eq!(rig.text("s", "echo", json!({ "text": "纽约" })).await, "纽约");
        let call = rig.begin("s", "flood", json!({ "count": 300 }));
        let signals = call.signals_handle();
        assert_eq!(text(&call.end().await), "flooded");
        let progress = signals.lock().unwrap().iter().filter(|s| matches!(s, ToolSignal::Progress(_))).count();
        assert_eq!(progress, 300);
        let call = rig.begin("s", "elicit", json!({}));
        let (ask, of, _) = rig.asked().await;
        assert_eq!(of, Some(call.id));
        rig.mcp.answer(ask, AskAnswer::Decline);
        assert!(text(&call.end().await).contains("decline"));
        let call = rig.begin("s", "slow", json!({ "steps": 1000 }));
        call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
        call.cancel.cancel();
        assert_eq!(call.end().await, ToolOutcome::Interrupted);
        assert!(rig.was_told("s", "notifications/cancelled").await);
        assert_eq!(rig.text("s", "big", json!({ "bytes": 1 << 20 })).await.len(), 1 << 20);
        assert!(rig.requests("s").iter().all(|request| request["headers"]["x-team"] == "blue"));
        let began = Instant::now();
        rig.mcp.shutdown().await;
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn every_way_to_go_wrong_ends_its_own_call_and_soon() {
    let mut rig = Rig::new();
    let web = rig.web("s", &[], &[]);
    let mut entry = web.sse_entry("s");
    entry.timeouts = Timeouts { call: 1, ..Timeouts::default() };
    rig.mcp.configure(vec![entry, rig.entry("other", &[])]);
    rig.ready("s").await;
    for (arguments, says, may_have_run) in [
        (json!({ "kind": "hang" }), "within 1 s", true),
        // What was not understood did not run.
        (json!({ "kind": "idless_error" }), "Parse error", false),
        (json!({ "kind": "wrong_id" }), "987654", true),
        (json!({ "kind": "code_text" }), "EBUSY", true),
        (json!({ "kind": "garbage" }), "within 1 s", true),
        (json!({ "kind": "drop" }), "was lost", true),
        (json!({ "kind": "status", "status": 403 }), "HTTP 403", false),
        (json!({ "kind": "status", "status": 404 }), "HTTP 404", false),
        (json!({ "kind": "status", "status": 429 }), "HTTP 429", false),
        (json!({ "kind": "status", "status": 500 }), "HTTP 500", true),
    ] {
        let began = Instant::now();
        let (message, ran) = failure(&rig.call("s", "fault", arguments.clone()).await);
        assert!(message.contains(says), "{arguments}: {message}");
        assert_eq!(ran, may_have_run, "{arguments}: {message}");
        assert!(began.elapsed() < Duration::from_secs(3), "{arguments} took {:?}", began.elapsed());
    }
    assert_eq!(rig.text("s", "fault", json!({ "kind": "duplicate" })).await, "first");
    assert_eq!(rig.text("s", "fault", json!({ "kind": "split" })).await, "纽约 24 ℃");
    assert_eq!(rig.states("s").last(), Some(&ServerState::Ready));
    assert_eq!(rig.text("other", "echo", json!({ "text": "fine" })).await, "fine");
}

#[tokio::test]
async fn a_cut_stream_is_the_end_of_its_calls_and_is_made_again_by_itself() {
    let mut rig = Rig::new();
    let mut web = rig.web("s", &[], &[]);
    rig.mcp.configure(vec![web.sse_entry("s")]);
    rig.ready("s").await;
    let beside = rig.begin("s", "slow", json!({ "steps": 1000 }));
    beside.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let began = Instant::now();
    for outcome in [rig.call("s", "fault", json!({ "kind": "cut" })).await, beside.end().await] {
        let (message, may_have_run) = failure(&outcome);
        assert!(message.contains("was lost") && may_have_run, "{message}");
    }
    assert!(began.elapsed() < Duration::from_secs(2));
    let status = rig.state("s", ServerState::Reconnecting).await;
    assert!(reason(&status).contains("was lost"));
    rig.ready("s").await;
    // A server that is away for a while is found again; one that stays away is given up.
    web.kill();
    rig.state("s", ServerState::Reconnecting).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut web = rig.web_at("s", web.port(), &[], &[]);
    rig.ready("s").await;
    let calls = rig.received("s").iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, 2, "never sent twice");
    web.kill();
    rig.state("s", ServerState::Reconnecting).await;
    let (message, may_have_run) = failure(&rig.call("s", "echo", json!({})).await);
    assert!(message.contains("cannot be reached") && !may_have_run, "{message}");
}

#[tokio::test]
async fn every_failed_start_has_its_state_reason_and_fix() {
    let mut rig = Rig::new();
    let good = rig.web("good", &[], &[]);
    let foreign = rig.web("foreign", &[], &["--endpoint", "http://203.0.113.7/steal?a=b"]);
    let locked = rig.web("locked", &[], &["--token", "Bearer right"]);
    let silent = rig.web("silent", &["--init", "never"], &[]);
    let dies = rig.web("dies", &["--init", "die"], &[]);
    let quick = |mut entry: mcpane::domain::server::ServerEntry| {
        entry.timeouts = Timeouts { start: 2, init: 1, ..Timeouts::default() };
        entry
    };
    let at = |name: &str, path: &str| {
        entry(name, Transport::Sse { url: format!("{}/{path}", good.url), headers: Vec::new() })
    };
    use ServerState::{InitFailed, NeedsAuth, StartFailed};
    let mut cases = vec![
        ("foreign", InitFailed, "http://203.0.113.7/steal", "server.fix_report"),
        ("locked", NeedsAuth, "HTTP 401", "server.fix_auth"),
        ("silent", InitFailed, "did not answer within 1 s", "server.fix_timeout"),
        ("dies", InitFailed, "was lost", "server.fix_restart"),
        ("nothing", StartFailed, "HTTP 404", "server.fix_url"),
        ("page", StartFailed, "web page", "server.fix_url"),
        ("hush", StartFailed, "did not answer within 2 s", "server.fix_timeout"),
        ("nobody", StartFailed, "cannot be reached", "server.fix_reach"),
    ];
    let nobody = entry("nobody", Transport::Sse { url: "http://127.0.0.1:1/sse".into(), headers: Vec::new() });
    let entries = [
        foreign.sse_entry("foreign"),
        locked.sse_entry("locked"),
        silent.sse_entry("silent"),
        dies.sse_entry("dies"),
        at("nothing", "nothing"),
        at("page", "page"),
        at("hush", "silent"),
        nobody,
    ];
    let mut entries: Vec<_> = entries.into_iter().map(quick).collect();
    entries.push(good.sse_entry("healthy"));
    rig.mcp.configure(entries);
    while !cases.is_empty() {
        let status = rig
            .until(|signal| match signal {
                ServerSignal::Status(status) if status.state.is_failed() || status.state == NeedsAuth => {
                    Some((**status).clone())
                }
                _ => None,
            })
            .await;
        let at = cases.iter().position(|(name, ..)| *name == status.name.as_str());
        let (name, state, says, fix) = cases.swap_remove(at.unwrap_or_else(|| panic!("twice: {status:?}")));
        assert!(reason(&status).contains(says), "{name}: {}", reason(&status));
        assert_eq!(status.state, state, "{name}: {}", reason(&status));
        assert_eq!(status.fix.as_ref().map(|fix| &*fix.key), Some(fix), "{name}: {}", reason(&status));
    }
    assert_eq!(rig.text("healthy", "echo", json!({ "text": "fine" })).await, "fine");
    let posts: Vec<Value> = rig.requests("foreign").into_iter().filter(|request| request["method"] == "POST").collect();
    assert!(posts.is_empty(), "{posts:?}");
}

#[tokio::test]
async fn a_server_that_cuts_every_stream_is_not_asked_for_ever() {
    let mut rig = Rig::new();
    let web = rig.web("s", &[], &["--short"]);
    rig.mcp.configure(vec![web.sse_entry("s")]);
    rig.state("s", ServerState::Disconnected).await;
    let asked = rig.requests("s").iter().filter(|request| request["method"] == "GET").count();
    assert_eq!(asked, 7, "once, and six times more");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(rig.states("s").last(), Some(&ServerState::Disconnected));
}
