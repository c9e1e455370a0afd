//! Servers that do not keep to the protocol: every call still ends, with the right outcome, and soon.

use crate::rig::{Rig, failure, reason, survivors, text};
use mcpane::domain::server::{ServerSignal, ServerState, Timeouts};
use mcpane::domain::{Content, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn any_way_of_writing_a_message_is_understood() {
    for style in ["bare", "batch", "string-id", "crlf", "bom"] {
        let mut rig = Rig::new();
        rig.mcp.configure(vec![rig.entry("s", &["--style", style])]);
        rig.ready("s").await;
        let call = rig.begin("s", "slow", json!({ "steps": 3, "ms": 1 }));
        let signals = call.signals_handle();
        assert_eq!(text(&call.end().await), "slept", "{style}");
        assert_eq!(signals.lock().unwrap().len(), 4, "{style}");
    }
}

#[tokio::test]
async fn banners_are_counted_shown_and_never_answered() {
    let mut rig = Rig::with(&["--banner"]).await;
    assert_eq!(rig.text("s", "echo", json!({ "text": "x" })).await, "x");
    let status = rig.status("s", |status| status.noise >= 5).await;
    assert_eq!(status.state, ServerState::Ready);
    let lines: Vec<&String> = rig
        .seen
        .iter()
        .filter_map(|signal| if let ServerSignal::Stderr { lines, .. } = signal { Some(lines) } else { None })
        .flatten()
        .collect();
    assert!(lines.iter().any(|line| line.contains("Fixture server v1")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("not rpc")), "{lines:?}");
    let methods: Vec<_> = rig.received("s").into_iter().map(|message| message["method"].clone()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
}

#[tokio::test]
async fn a_flood_of_standard_error_is_read_and_told_in_few_batches() {
    let mut rig = Rig::with(&[]).await;
    rig.drain();
    let began = Instant::now();
    assert_eq!(rig.text("s", "fault", json!({ "kind": "stderr_flood" })).await, "flooded");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let most = began.elapsed().as_millis() / 50 + 2;
    let batches: Vec<usize> = rig
        .drain()
        .iter()
        .filter_map(|signal| if let ServerSignal::Stderr { lines, .. } = signal { Some(lines.len()) } else { None })
        .collect();
    assert!(!batches.is_empty() && batches.len() as u128 <= most, "{batches:?}");
    assert!(batches.iter().all(|lines| *lines <= 1_000), "{batches:?}");
}

#[tokio::test]
async fn every_line_both_ways_passes_the_tap() {
    let rig = Rig::with(&["--banner"]).await;
    rig.text("s", "echo", json!({ "text": "tapped" })).await;
    let lines = rig.lines.lock().unwrap().clone();
    let position =
        |part: &str| lines.iter().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {lines:#?}"));
    assert!(
        position("s ToServer {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"")
            < position("s FromServer {\"id\":0")
    );
    assert!(position("s FromServer Fixture server v1") < position("notifications/initialized"));
    assert!(position("ToServer {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"") < lines.len());
}

#[tokio::test]
async fn malformed_answers_end_their_call() {
    let rig = Rig::with(&[]).await;
    let fault = |kind: &'static str| rig.call("s", "fault", json!({ "kind": kind }));
    for kind in ["batch", "bare"] {
        assert!(matches!(fault(kind).await, ToolOutcome::Done { content, .. } if content.is_empty()), "{kind}");
    }
    for (kind, says) in [
        ("code_text", "busy (code \"EBUSY\")"),
        ("no_message", "no message"),
        ("neither", "neither a result nor an error"),
        ("idless_error", "Parse error"),
        ("wrong_id", "987654"),
        ("deep", "cannot be read"),
        ("wide", "more than"),
    ] {
        let began = Instant::now();
        let (message, _) = failure(&fault(kind).await);
        assert!(message.contains(says), "{kind}: {message}");
        assert!(began.elapsed() < Duration::from_secs(10), "{kind} took {:?}", began.elapsed());
    }
    assert_eq!(text(&fault("duplicate").await), "first");
    assert_eq!(text(&fault("split").await), "纽约 24 ℃");
    assert_eq!(rig.text("s", "echo", json!({ "text": "after all that" })).await, "after all that");
    assert_eq!(rig.pids("s").len(), 1);
}

#[tokio::test]
async fn an_error_that_names_no_call_fails_none_of_several_but_is_told_when_one_times_out() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &[]);
    entry.timeouts = Timeouts { call: 1, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let slow = rig.begin("s", "slow", json!({ "steps": 20, "ms": 100 }));
    slow.told(|signal| matches!(signal, mcpane::domain::ToolSignal::Progress(_))).await;
    let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": "idless_error" })).await);
    assert!(message.contains("within 1 s") && message.contains("Parse error") && may_have_run, "{message}");
    assert_eq!(text(&slow.end().await), "slept");
}

#[tokio::test]
async fn a_server_that_stops_reading_blocks_neither_its_calls_nor_the_end() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &[]);
    entry.timeouts = Timeouts { call: 1, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    // The first line after this one is still read: the reader is already waiting for it.
    rig.text("s", "fault", json!({ "kind": "deafen" })).await;
    rig.call("s", "echo", json!({ "text": "swallowed" })).await;
    // Larger than the pipe: writing it never ends.
    let big = rig.begin("s", "echo", json!({ "text": "x".repeat(1024 * 1024) }));
    let cancelled = rig.begin("s", "echo", json!({ "text": "y".repeat(1024 * 1024) }));
    cancelled.told(|signal| *signal == mcpane::domain::ToolSignal::Started).await;
    cancelled.cancel.cancel();
    assert_eq!(cancelled.end().await, ToolOutcome::Interrupted);
    assert!(failure(&big.end().await).0.contains("within 1 s"));
    let began = Instant::now();
    rig.mcp.shutdown().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(survivors(&rig.pids("s"), Duration::ZERO).await, [0; 0]);
}

#[tokio::test]
async fn a_line_without_end_breaks_the_connection_with_the_reason() {
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", &[]), rig.entry("other", &[])]);
    rig.ready("s").await;
    let beside = rig.begin("s", "slow", json!({ "steps": 1000 }));
    let outcome = rig.call("s", "fault", json!({ "kind": "long_line", "mib": 33 })).await;
    for outcome in [outcome, beside.end().await] {
        let (message, may_have_run) = failure(&outcome);
        assert!(message.contains("more than 32 MiB") && may_have_run, "{message}");
    }
    let status = rig.state("s", ServerState::Error).await;
    assert!(reason(&status).contains("32 MiB") && status.pid.is_none());
    assert_eq!(rig.text("other", "echo", json!({ "text": "fine" })).await, "fine");
    // Just below the limit is a message.
    let ToolOutcome::Done { content, .. } = rig.call("other", "big", json!({ "bytes": 31 * 1024 * 1024 })).await else {
        panic!()
    };
    assert!(matches!(&content[0], Content::Text { text } if text.len() == 31 * 1024 * 1024));
    assert_eq!(rig.text("s", "echo", json!({ "text": "again" })).await, "again");
}

#[tokio::test]
async fn a_list_that_changes_with_each_reading_is_not_read_all_the_time() {
    let rig = Rig::with(&["--list", "restless"]).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let listed = rig.received("s").iter().filter(|message| message["method"] == "tools/list").count();
    // After 0, 250, 750, 1750 ms.
    assert!((2..=5).contains(&listed), "read {listed} times");
    assert_eq!(rig.text("s", "echo", json!({ "text": "still there" })).await, "still there");
}

#[tokio::test]
async fn a_server_that_asks_without_end_and_reads_no_answer_is_no_longer_read() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &[]);
    entry.timeouts = Timeouts { call: 2, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let (message, _) = failure(&rig.call("s", "fault", json!({ "kind": "pester" })).await);
    assert!(message.contains("within 2 s"), "{message}");
    rig.mcp.shutdown().await;
}
