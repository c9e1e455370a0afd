//! Calls: results, progress, cancellation, time limits, and servers that die under them.

use crate::rig::{Rig, failure, reason, survivors, text};
use mcpane::domain::server::{ServerSignal, ServerState, Timeouts, Transport};
use mcpane::domain::tool::Progress;
use mcpane::domain::{Content, ToolOutcome, ToolSignal};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn results_of_every_kind() {
    let rig = Rig::with(&[]).await;
    let ToolOutcome::Done { content, is_error, millis, for_model, spilled } =
        rig.call("s", "add", json!({ "a": 1, "b": 2.5 })).await
    else {
        panic!()
    };
    assert_eq!(content, [Content::text("3.5"), Content::Json { value: json!({ "sum": 3.5 }) }]);
    assert_eq!((is_error, for_model, spilled), (false, None, None));
    assert!(millis < 5_000);
    let outcome = rig.call("s", "fault", json!({ "kind": "tool_error" })).await;
    assert!(
        matches!(&outcome, ToolOutcome::Done { is_error: true, content, .. } if content[0] == Content::text("no such city"))
    );
    let ToolOutcome::Done { content, .. } = rig.call("s", "fault", json!({ "kind": "unknown_content" })).await else {
        panic!()
    };
    assert_eq!(content[0], Content::Unknown { raw: json!({ "type": "hologram", "depth": 3 }) });
    assert_eq!(content[2], Content::Json { value: json!([1, 2]) });
    let big = rig.text("s", "big", json!({ "bytes": 20 * 1024 * 1024 })).await;
    assert_eq!(big.len(), 20 * 1024 * 1024, "rmcp's own reader drops lines beyond 16 MiB");
    let (message, may_have_run) = failure(&rig.call("s", "no_such_tool", json!({})).await);
    assert!(message.contains("no_such_tool") && message.contains("-32602") && !may_have_run, "{message}");
    let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": "error" })).await);
    assert!(message.contains("it broke") && may_have_run, "{message}");
}

#[tokio::test]
async fn environment_arguments_and_directory_reach_the_server() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &["--stderr", "an argument"]);
    let Ok(Transport::Stdio { env, cwd, .. }) = &mut entry.transport else { panic!() };
    env.push(("MCPANE_TEST".into(), "a value".into()));
    *cwd = Some("/".into());
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let seen: Value =
        serde_json::from_str(&rig.text("s", "environment", json!({ "name": "MCPANE_TEST" })).await).unwrap();
    assert_eq!((&seen["variable"], &seen["cwd"]), (&json!("a value"), &json!("/")));
    assert_eq!(seen["arguments"], json!(["--stderr", "an argument"]));
    // It comes when it comes: before or after the server was ready.
    while stderr(&rig.seen).is_empty() {
        rig.until(|_| Some(())).await;
    }
    assert_eq!(stderr(&rig.seen), ["an argument"]);
}

fn stderr(seen: &[ServerSignal]) -> Vec<String> {
    let lines = |signal: &ServerSignal| match signal {
        ServerSignal::Stderr { lines, .. } => lines.clone(),
        _ => Vec::new(),
    };
    seen.iter().flat_map(lines).collect()
}

#[tokio::test]
async fn progress_arrives_whole_in_order_and_before_the_answer() {
    let rig = Rig::with(&[]).await;
    for _ in 0..3 {
        let call = rig.begin("s", "flood", json!({ "count": 500 }));
        let signals = call.signals_handle();
        assert_eq!(text(&call.end().await), "flooded");
        let told: Vec<f64> = signals
            .lock()
            .unwrap()
            .iter()
            .filter_map(|signal| match signal {
                ToolSignal::Progress(progress) => Some(progress.done),
                _ => None,
            })
            .collect();
        assert!(told.iter().copied().eq((1..=500).map(f64::from)), "{} of 500: {told:?}", told.len());
    }
    let call = rig.begin("s", "slow", json!({ "steps": 2, "ms": 5 }));
    let signals = call.signals_handle();
    call.end().await;
    let last = Progress { done: 2.0, total: Some(2.0), message: Some("step 2".into()) };
    assert_eq!(signals.lock().unwrap().last(), Some(&ToolSignal::Progress(last)));
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order() {
    let rig = Rig::with(&[]).await;
    let slow = rig.begin("s", "slow", json!({ "steps": 1, "ms": 400 }));
    let calls: Vec<_> = (0..50).map(|n| rig.begin("s", "echo", json!({ "text": format!("n{n}") }))).collect();
    for (n, call) in calls.into_iter().enumerate() {
        assert_eq!(text(&call.end().await), format!("n{n}"));
    }
    assert_eq!(text(&slow.end().await), "slept");
}

#[tokio::test]
async fn a_cancelled_call_is_told_to_the_server_which_stays() {
    let mut rig = Rig::with(&[]).await;
    for deaf in [false, true] {
        let call = rig.begin("s", "slow", json!({ "steps": 60, "ms": 20, "deaf": deaf }));
        call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
        let began = Instant::now();
        call.cancel.cancel();
        assert_eq!(call.end().await, ToolOutcome::Interrupted);
        assert!(began.elapsed() < Duration::from_millis(500));
        assert!(rig.was_told("s", "notifications/cancelled").await);
        assert_eq!(rig.text("s", "echo", json!({ "text": "alive" })).await, "alive");
    }
    let cancelled: Vec<Value> =
        rig.received("s").into_iter().filter(|message| message["method"] == "notifications/cancelled").collect();
    let slow: Vec<Value> =
        rig.received("s").into_iter().filter(|message| message["params"]["name"] == "slow").collect();
    assert_eq!(cancelled.len(), 2);
    assert_eq!(cancelled[0]["params"]["requestId"], slow[0]["id"]);
    assert_eq!(rig.pids("s").len(), 1);
    // The count of running calls is right again.
    rig.status("s", |status| status.calls == 0 && status.state == ServerState::Ready).await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_called_off() {
    let rig = Rig::with(&[]).await;
    let call = rig.begin("s", "slow", json!({ "steps": 500 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    call.abandon();
    assert!(rig.was_told("s", "notifications/cancelled").await);
}

#[tokio::test]
async fn time_limits_idle_hard_and_of_a_tool() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &[]);
    entry.timeouts = Timeouts { call: 1, call_max: 3, ..Timeouts::default() };
    entry.tool_timeouts = vec![("echo".into(), 9), ("link".into(), 9)];
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let began = Instant::now();
    let hang = rig.begin("s", "fault", json!({ "kind": "hang" }));
    let busy = rig.begin("s", "slow", json!({ "steps": 6, "ms": 300 }));
    let endless = rig.begin("s", "slow", json!({ "steps": 1000, "ms": 100 }));
    let (message, may_have_run) = failure(&hang.end().await);
    assert!(message.contains("within 1 s") && may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_millis(1_600));
    assert!(rig.was_told("s", "notifications/cancelled").await);
    assert_eq!(text(&busy.end().await), "slept", "progress starts the idle time anew");
    let (message, _) = failure(&endless.end().await);
    assert!(message.contains("within 3 s"), "{message}");
    assert_eq!(rig.text("s", "echo", json!({ "text": "alive" })).await, "alive");
    assert_eq!(rig.pids("s").len(), 1);
}

#[tokio::test]
async fn a_server_that_dies_fails_its_calls_at_once_and_nobody_elses() {
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", &[]), rig.entry("other", &[])]);
    rig.ready("s").await;
    let elsewhere = rig.begin("other", "slow", json!({ "steps": 30, "ms": 20 }));
    elsewhere.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let beside = rig.begin("s", "slow", json!({ "steps": 1000 }));
    beside.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let began = Instant::now();
    for outcome in [rig.call("s", "fault", json!({ "kind": "die" })).await, beside.end().await] {
        let (message, may_have_run) = failure(&outcome);
        assert!(
            message.contains("exit code 42") && message.contains("fixture: cannot go on") && may_have_run,
            "{message}"
        );
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let status = rig.state("s", ServerState::Disconnected).await;
    assert!(reason(&status).contains("last words\nfixture: cannot go on"));
    let (message, _) = failure(&rig.call("s", "fault", json!({ "kind": "abort" })).await);
    assert!(message.contains("SIGABRT"), "{message}");
    assert_eq!(text(&elsewhere.end().await), "slept");
    // What was answered before the end counts.
    assert_eq!(rig.text("s", "fault", json!({ "kind": "die_after" })).await, "before the end");
}

#[tokio::test]
async fn what_a_dead_server_leaves_behind_does_not_keep_its_calls_waiting() {
    let rig = Rig::with(&["--grandchild"]).await;
    let began = Instant::now();
    let (message, _) = failure(&rig.call("s", "fault", json!({ "kind": "deaf_orphan" })).await);
    assert!(message.contains("exit code 9"), "{message}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let pids = rig.pids("s");
    assert_eq!(pids.len(), 2);
    assert_eq!(survivors(&pids, Duration::from_secs(3)).await, [0; 0]);
}

#[tokio::test]
async fn resources_are_read() {
    let rig = Rig::with(&[]).await;
    let read = |uri: &'static str, cancel: CancellationToken| {
        let mcp = rig.mcp.clone();
        async move { mcp.read_resource(&"s".into(), uri, cancel).await }
    };
    let note = read("fixture://note", CancellationToken::new()).await.unwrap();
    assert!(
        matches!(&note[..], [Content::Resource { text: Some(text), mime: Some(mime), .. }] if text == "a note" && mime == "text/plain")
    );
    assert!(read("fixture://none", CancellationToken::new()).await.unwrap_err().contains("Resource not found"));
    let cancel = CancellationToken::new();
    let never = tokio::spawn(read("fixture://never", cancel.clone()));
    tokio::time::sleep(Duration::from_millis(50)).await;
    cancel.cancel();
    assert!(never.await.unwrap().is_err());
    assert!(
        rig.mcp
            .read_resource(&"nobody".into(), "a://b", CancellationToken::new())
            .await
            .unwrap_err()
            .contains("nobody")
    );
}

#[tokio::test]
async fn the_way_through_the_hub_costs_far_less_than_a_millisecond_of_work() {
    let rig = Rig::with(&[]).await;
    rig.call("s", "echo", json!({ "text": "warm" })).await;
    let began = Instant::now();
    for _ in 0..200 {
        rig.call("s", "echo", json!({ "text": "x" })).await;
    }
    // A guard against waiting somewhere, not a measurement: a debug build on a busy machine, and the server's own thread start is in it.
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}
