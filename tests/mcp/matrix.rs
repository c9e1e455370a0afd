//! The fault matrix: every fault over every transport, with what became of it and how soon; printed with `--nocapture`.
//!
//! The files beside this one assert exact outcomes where they are particular to a transport. Here the same questions are asked of all three: does the call end,
//! does it end soon, does its outcome tell whether it may have run, and is everybody else unharmed?

use crate::rig::{Rig, Web, survivors, text};
use mcpane::domain::server::{ServerEntry, Timeouts};
use mcpane::domain::{ToolOutcome, ToolSignal};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, Instant};

const TRANSPORTS: [&str; 3] = ["stdio", "http", "sse"];

/// An outcome in one word.
fn word(outcome: &ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Done { is_error: false, .. } => "done",
        ToolOutcome::Done { .. } => "error",
        ToolOutcome::Failed { may_have_run: true, .. } => "may have run",
        ToolOutcome::Failed { .. } => "did not run",
        ToolOutcome::Interrupted => "interrupted",
        other => panic!("{other:?}"),
    }
}

/// The server under test, and a healthy one; with what carries the first one where we start it.
async fn pair(transport: &str, options: &[&str], call: u64) -> (Rig, Option<Web>) {
    let mut rig = Rig::new();
    let limits = Timeouts { start: 3, init: 2, list: 5, call, ..Timeouts::default() };
    let (entry, web) = if transport == "stdio" {
        (rig.entry("s", options), None)
    } else {
        let web = rig.web("s", options, &[]);
        (if transport == "sse" { web.sse_entry("s") } else { web.entry("s") }, Some(web))
    };
    rig.mcp.configure(vec![rig.entry("other", &[])]);
    rig.ready("other").await;
    rig.mcp.configure(vec![ServerEntry { timeouts: limits, ..entry }, rig.entry("other", &[])]);
    (rig, web)
}

#[tokio::test]
async fn calls() {
    // What is asked, and the words that are right over each transport.
    let faults: [(&str, Value, [&str; 3]); 14] = [
        ("never answers", json!({ "kind": "hang" }), ["may have run"; 3]),
        ("dies during", json!({ "kind": "die" }), ["may have run"; 3]),
        ("dies after", json!({ "kind": "die_after" }), ["done"; 3]),
        ("id-less error", json!({ "kind": "idless_error" }), ["did not run"; 3]),
        ("wrong id", json!({ "kind": "wrong_id" }), ["may have run"; 3]),
        ("code is a text", json!({ "kind": "code_text" }), ["may have run"; 3]),
        ("no message", json!({ "kind": "no_message" }), ["may have run"; 3]),
        ("neither result nor error", json!({ "kind": "neither" }), ["may have run"; 3]),
        ("a batch", json!({ "kind": "batch" }), ["done"; 3]),
        ("no jsonrpc", json!({ "kind": "bare" }), ["done"; 3]),
        ("answers twice", json!({ "kind": "duplicate" }), ["done"; 3]),
        ("answers in pieces", json!({ "kind": "split" }), ["done"; 3]),
        ("33 MiB", json!({ "kind": "long_line", "mib": 33 }), ["may have run"; 3]),
        ("unknown content", json!({ "kind": "unknown_content" }), ["done"; 3]),
    ];
    let mut table = String::new();
    for (name, arguments, wanted) in faults {
        write!(table, "\n{name:26}").unwrap();
        for (transport, wanted) in TRANSPORTS.into_iter().zip(wanted) {
            // A debug build on a busy machine takes its time over 33 MiB.
            let limit = if arguments["mib"].is_null() { 1 } else { 20 };
            let (mut rig, web) = pair(transport, &[], limit).await;
            rig.ready("s").await;
            let elsewhere = rig.begin("other", "slow", json!({ "steps": 10, "ms": 20 }));
            elsewhere.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
            let began = Instant::now();
            let outcome = rig.call("s", "fault", arguments.clone()).await;
            let took = began.elapsed();
            write!(table, "  {transport} {:13} {:>5} ms", word(&outcome), took.as_millis()).unwrap();
            assert_eq!(word(&outcome), wanted, "{name} over {transport}: {outcome:?}");
            assert!(took < Duration::from_secs(limit + 2), "{name} over {transport}: {took:?}");
            assert_eq!(text(&elsewhere.end().await), "slept", "{name} over {transport} harmed another");
            rig.mcp.shutdown().await;
            drop(web);
            let left = survivors(&rig.pids("s"), Duration::from_secs(1)).await;
            assert_eq!(left, [0; 0], "{name} over {transport} left a process");
        }
    }
    eprintln!("{table}");
}

#[tokio::test]
async fn out_of_order() {
    for transport in TRANSPORTS {
        let (mut rig, _web) = pair(transport, &[], 5).await;
        rig.ready("s").await;
        let slow = rig.begin("s", "slow", json!({ "steps": 1, "ms": 300 }));
        let calls: Vec<_> = (0..20).map(|n| rig.begin("s", "echo", json!({ "text": format!("n{n}") }))).collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text(&call.end().await), format!("n{n}"), "{transport}");
        }
        assert_eq!(text(&slow.end().await), "slept", "{transport}");
    }
}

#[tokio::test]
async fn starts_and_lists() {
    // Options, whether a call is possible in the end, and how long that may take to be known.
    let faults: [(&str, &[&str], bool); 10] = [
        ("slow start", &["--delay", "700"], true),
        ("never answers", &["--init", "never"], false),
        ("half", &["--init", "half"], false),
        ("dies", &["--init", "die"], false),
        ("error", &["--init", "error"], false),
        ("id-less error", &["--init", "idless"], false),
        ("wrong id", &["--init", "wrong-id"], false),
        ("garbage between", &["--banner"], true),
        ("list loops", &["--list", "loop"], true),
        ("hostile text", &["--list", "hostile"], true),
    ];
    let mut table = String::new();
    for (name, options, usable) in faults {
        write!(table, "\n{name:26}").unwrap();
        for transport in TRANSPORTS {
            let (rig, web) = pair(transport, options, 5).await;
            let began = Instant::now();
            let outcome = rig.call("s", "echo", json!({ "text": "x" })).await;
            let took = began.elapsed();
            write!(table, "  {transport} {:13} {:>5} ms", word(&outcome), took.as_millis()).unwrap();
            let wanted = if usable { "done" } else { "did not run" };
            assert_eq!(word(&outcome), wanted, "{name} over {transport}: {outcome:?}");
            assert!(took < Duration::from_secs(6), "{name} over {transport}: {took:?}");
            assert_eq!(rig.text("other", "echo", json!({ "text": "fine" })).await, "fine");
            rig.mcp.shutdown().await;
            drop(web);
            let left = survivors(&rig.pids("s"), Duration::from_secs(1)).await;
            assert_eq!(left, [0; 0], "{name} over {transport} left a process");
        }
    }
    eprintln!("{table}");
}
