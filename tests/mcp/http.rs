//! Streamable HTTP, against the fixture server over HTTP.

use crate::rig::{Rig, Web, entry, failure, reason, text};
use mcpane::domain::server::{ServerAsk, ServerSignal, ServerState, Timeouts, Transport};
use mcpane::domain::{ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn header<'a>(request: &'a Value, name: &str) -> &'a str {
    request["headers"][name].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_session_from_its_first_request_to_its_end() {
    for reply in ["sse", "json"] {
        let mut rig = Rig::new();
        let web = rig.web("s", &[], &["--reply", reply]);
        let mut entry = web.entry("s");
        let Ok(Transport::Http { headers, .. }) = &mut entry.transport else { panic!() };
        headers.push(("Authorization".into(), "Bearer t0ken-4711".into()));
        headers.push(("X-Team".into(), "blue".into()));
        // What the transport itself says is not the entry's to say.
        headers.push(("Accept".into(), "nonsense".into()));
        headers.push(("Mcp-Session-Id".into(), "mine".into()));
        rig.mcp.configure(vec![entry]);
        let status = rig.ready("s").await;
        assert_eq!((status.transport.as_str(), status.pid), ("http", None));
        assert_eq!((status.protocol.as_deref(), status.identity.as_deref()), (Some("2025-11-25"), Some("fixture 1.0")));
        use ServerState::{Idle, Initializing, Ready, Starting};
        assert_eq!(rig.states("s"), [Idle, Starting, Initializing, Ready]);
        assert_eq!(rig.text("s", "echo", json!({ "text": "纽约" })).await, "纽约", "{reply}");
        rig.mcp.shutdown().await;
        let requests = rig.requests("s");
        for request in &requests {
            assert_eq!((header(request, "authorization"), header(request, "x-team")), ("Bearer t0ken-4711", "blue"));
            let accept = match request["method"].as_str().unwrap() {
                "POST" => "application/json, text/event-stream",
                "GET" => "text/event-stream",
                _ => "*/*",
            };
            assert_eq!(header(request, "accept"), accept);
        }
        assert_eq!(header(&requests[0], "mcp-session-id"), "");
        assert_eq!(header(&requests[0], "mcp-protocol-version"), "");
        for request in &requests[1..] {
            assert!(header(request, "mcp-session-id").starts_with("session-"), "{request}");
            assert_eq!(header(request, "mcp-protocol-version"), "2025-11-25");
        }
        let methods: Vec<&str> = requests.iter().map(|request| request["method"].as_str().unwrap()).collect();
        assert_eq!(methods.iter().filter(|method| **method == "GET").count(), 1, "{methods:?}");
        assert_eq!(methods.last(), Some(&"DELETE"));
        let lists = rig.received("s").iter().filter(|message| message["method"] == "tools/list").count();
        assert_eq!(lists, 1, "the list is read once");
        assert!(!format!("{:?}", rig.drain()).contains("t0ken-4711"));
        assert_eq!(rig.redactor.mask_text("t0ken-4711"), "•••");
    }
}

#[tokio::test]
async fn progress_questions_and_cancellation_come_with_the_call() {
    let (mut rig, _web) = Rig::over_http(&[], &[]).await;
    let call = rig.begin("s", "flood", json!({ "count": 300 }));
    let signals = call.signals_handle();
    assert_eq!(text(&call.end().await), "flooded");
    let told =
        |signal: &ToolSignal| if let ToolSignal::Progress(progress) = signal { Some(progress.done) } else { None };
    let told: Vec<f64> = signals.lock().unwrap().iter().filter_map(told).collect();
    assert!(told.iter().copied().eq((1..=300).map(f64::from)), "{} of 300", told.len());
    // A question that comes with a call is that call's, however many run.
    let slow = rig.begin("s", "slow", json!({ "steps": 1000, "ms": 20 }));
    slow.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let call = rig.begin("s", "elicit", json!({ "message": "Who?" }));
    let (ask, of, what) = rig.asked().await;
    assert_eq!(of, Some(call.id));
    assert!(matches!(what, ServerAsk::Form { message, .. } if message == "Who?"));
    rig.mcp.answer(ask, AskAnswer::Accept(json!({ "a": 1 }).as_object().unwrap().clone()));
    let answer: Value = serde_json::from_str(&text(&call.end().await)).unwrap();
    assert_eq!(answer[0]["result"], json!({ "action": "accept", "content": { "a": 1 } }));
    // One that comes aside is nobody's while two run, and reaches us all the same.
    let call = rig.begin("s", "elicit", json!({ "message": "Aside?", "aside": true }));
    let (ask, of, _) = rig.asked().await;
    assert_eq!(of, None);
    rig.mcp.answer(ask, AskAnswer::Decline);
    assert!(text(&call.end().await).contains("decline"));
    let began = Instant::now();
    slow.cancel.cancel();
    assert_eq!(slow.end().await, ToolOutcome::Interrupted);
    assert!(began.elapsed() < Duration::from_millis(700));
    assert!(rig.was_told("s", "notifications/cancelled").await);
    assert_eq!(rig.text("s", "echo", json!({ "text": "alive" })).await, "alive");
}

#[tokio::test]
async fn changes_are_heard_aside_and_asked_for_where_they_may_have_been_missed() {
    let (mut rig, _web) = Rig::over_http(&[], &[]).await;
    let lists = |rig: &Rig| rig.received("s").iter().filter(|message| message["method"] == "tools/list").count();
    rig.text("s", "change", json!({})).await;
    rig.tools("s").await;
    let before = lists(&rig);
    rig.text("s", "fault", json!({ "kind": "speak_aside" })).await;
    rig.tools("s").await;
    assert_eq!(lists(&rig), before + 1);
    // The standing stream is cut, and no event tells where: what was said meanwhile is lost.
    rig.text("s", "fault", json!({ "kind": "cut_standing" })).await;
    rig.tools("s").await;
    assert_eq!(lists(&rig), before + 2);
    assert_eq!(rig.states("s").last(), Some(&ServerState::Ready), "it was never away");
    rig.text("s", "fault", json!({ "kind": "speak_aside" })).await;
    rig.tools("s").await;
}

#[tokio::test]
async fn a_cut_stream_is_taken_up_again_where_events_have_ids_and_is_the_end_of_its_call_otherwise() {
    for (kind, least) in [("cut", 300), ("cut_politely", 300)] {
        let (rig, _web) = Rig::over_http(&[], &["--ids", "--retry", "300"]).await;
        let began = Instant::now();
        assert_eq!(rig.text("s", "fault", json!({ "kind": kind })).await, "after the cut");
        assert!(began.elapsed() >= Duration::from_millis(least), "the server asked for a pause: {:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        let resumed = rig.requests("s").into_iter().filter(|request| !header(request, "last-event-id").is_empty());
        let ids: Vec<String> = resumed.map(|request| header(&request, "last-event-id").to_owned()).collect();
        assert!(ids.len() == 1 && ids[0].ends_with("-1"), "{ids:?}");
        let calls = rig.received("s").iter().filter(|message| message["method"] == "tools/call").count();
        assert_eq!(calls, 1, "never sent twice");
    }
    let (mut rig, _web) = Rig::over_http(&[], &[]).await;
    for kind in ["cut", "cut_politely", "empty"] {
        let began = Instant::now();
        let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": kind })).await);
        assert!(message.contains("was lost") && may_have_run, "{kind}: {message}");
        assert!(began.elapsed() < Duration::from_secs(2), "{kind}: {:?}", began.elapsed());
    }
    assert_eq!(rig.text("s", "echo", json!({ "text": "alive" })).await, "alive");
    assert_eq!(rig.states("s").last(), Some(&ServerState::Ready));
    let calls = rig.received("s").iter().filter(|message| message["params"]["name"] == "fault").count();
    assert_eq!(calls, 3, "never sent twice");
}

/// Each way to go wrong within one call, with several calls open: the outcome, and soon. The server stays, and nobody else is harmed.
#[tokio::test]
async fn every_way_to_go_wrong_ends_its_own_call_and_soon() {
    for reply in ["sse", "json"] {
        let mut rig = Rig::new();
        let web = rig.web("s", &[], &["--reply", reply]);
        rig.mcp.configure(vec![web.entry("s"), rig.entry("other", &[])]);
        rig.ready("s").await;
        let beside = rig.begin("s", "slow", json!({ "steps": 100, "ms": 50 }));
        let elsewhere = rig.begin("other", "slow", json!({ "steps": 40, "ms": 50 }));
        for (arguments, says, may_have_run) in [
            // What was not understood did not run.
            (json!({ "kind": "idless_error" }), "Parse error", false),
            (json!({ "kind": "wrong_id" }), "987654", true),
            (json!({ "kind": "code_text" }), "EBUSY", true),
            (json!({ "kind": "neither" }), "neither a result nor an error", true),
            (json!({ "kind": "garbage" }), "", true),
            (json!({ "kind": "empty" }), "", true),
            (json!({ "kind": "drop" }), "was lost", true),
            (json!({ "kind": "half_json" }), "was lost", true),
            (json!({ "kind": "html" }), "web page", true),
            (json!({ "kind": "long_line", "mib": 33 }), "more than 32 MiB", true),
            (json!({ "kind": "status", "status": 400, "body": "no" }), "HTTP 400: no", false),
            (json!({ "kind": "status", "status": 403 }), "HTTP 403", false),
            (json!({ "kind": "status", "status": 405 }), "HTTP 405", false),
            (json!({ "kind": "status", "status": 408 }), "HTTP 408", true),
            (json!({ "kind": "status", "status": 429, "wait": "1" }), "HTTP 429", false),
            (json!({ "kind": "status", "status": 500 }), "HTTP 500: status 500 (error -32000)", true),
            (json!({ "kind": "status", "status": 503, "body": "<html>" }), "HTTP 503", true),
        ] {
            let began = Instant::now();
            let (message, ran) = failure(&rig.call("s", "fault", arguments.clone()).await);
            assert!(message.contains(says), "{reply} {arguments}: {message}");
            assert_eq!(ran, may_have_run, "{reply} {arguments}: {message}");
            // A debug build on a busy machine takes its time over 33 MiB.
            let most = Duration::from_secs(if arguments["mib"].is_null() { 5 } else { 25 });
            assert!(began.elapsed() < most, "{reply} {arguments} took {:?}", began.elapsed());
        }
        assert_eq!(rig.text("s", "fault", json!({ "kind": "duplicate" })).await, "first");
        assert_eq!(rig.text("s", "fault", json!({ "kind": "split" })).await, "纽约 24 ℃");
        assert_eq!(text(&beside.end().await), "slept");
        assert_eq!(text(&elsewhere.end().await), "slept");
        let sent = rig.received("s");
        let asked = |message: &&Value| message["params"]["name"] == "fault";
        assert_eq!(sent.iter().filter(asked).count(), 19, "each call was sent once");
        assert_eq!(rig.states("s").last(), Some(&ServerState::Ready));
        drop(web);
    }
}

#[tokio::test]
async fn a_call_without_an_answer_ends_in_its_time_and_large_answers_are_whole() {
    let mut rig = Rig::new();
    let web = rig.web("s", &[], &[]);
    let mut entry = web.entry("s");
    entry.timeouts = Timeouts { call: 1, ..Timeouts::default() };
    entry.tool_timeouts = vec![("big".into(), 20)];
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let began = Instant::now();
    let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": "hang" })).await);
    assert!(message.contains("within 1 s") && may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_millis(1_800));
    assert!(rig.was_told("s", "notifications/cancelled").await);
    assert_eq!(rig.text("s", "big", json!({ "bytes": 20 * 1024 * 1024 })).await.len(), 20 * 1024 * 1024);
}

#[tokio::test]
async fn a_forgotten_session_is_begun_anew_and_the_refused_call_runs_once() {
    for stale in ["404", "400"] {
        let (mut rig, _web) = Rig::over_http(&[], &["--stale", stale]).await;
        rig.text("s", "fault", json!({ "kind": "forget" })).await;
        let calls: Vec<_> = (0..5).map(|n| rig.begin("s", "echo", json!({ "text": format!("n{n}") }))).collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text(&call.end().await), format!("n{n}"), "{stale}");
        }
        let hellos = rig.received("s").iter().filter(|message| message["method"] == "initialize").count();
        assert_eq!(hellos, 2, "all five use the same new session");
        // What was announced in the old one is gone: the tools are asked for again, and heard of from now on.
        rig.tools("s").await;
        assert!(rig.states("s").contains(&ServerState::Reconnecting));
        while rig.states("s").last() != Some(&ServerState::Ready) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The new standing stream opens beside.
        while rig.requests("s").iter().filter(|request| request["method"] == "GET").count() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        rig.text("s", "fault", json!({ "kind": "speak_aside" })).await;
        rig.tools("s").await;
    }
}

#[tokio::test]
async fn a_server_that_restarts_is_reached_again_by_itself() {
    let (mut rig, mut web) = Rig::over_http(&[], &[]).await;
    let call = rig.begin("s", "slow", json!({ "steps": 1000 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let began = Instant::now();
    web.kill();
    let (message, may_have_run) = failure(&call.end().await);
    assert!(message.contains("was lost") && may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_secs(2));
    let status = rig.state("s", ServerState::Reconnecting).await;
    assert!(reason(&status).contains("cannot be reached"), "{}", reason(&status));
    let waits = rig.begin("s", "echo", json!({ "text": "patient" }));
    let _web = rig.web_at("s", web.port(), &[], &[]);
    assert_eq!(text(&waits.end().await), "patient");
    rig.status("s", |status| status.state == ServerState::Ready).await;
    let sent = rig.received("s");
    assert_eq!(
        sent.iter().filter(|message| message["params"]["name"] == "echo" && message["id"].is_u64()).count(),
        1 + 1,
        "refused once by the server that does not know the session, then run"
    );
}

#[tokio::test]
async fn a_server_that_dies_for_good_is_given_up_and_the_next_call_starts_anew() {
    let (mut rig, mut web) = Rig::over_http(&[], &["--no-get"]).await;
    let began = Instant::now();
    let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": "die" })).await);
    assert!(message.contains("was lost") && may_have_run, "{message}");
    web.kill();
    // Nothing was sent, so it is tried again; in the end it is certain that it did not run.
    let (message, may_have_run) = failure(&rig.call("s", "echo", json!({ "text": "x" })).await);
    assert!(message.contains("cannot be reached") && !may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let status = rig.state("s", ServerState::Disconnected).await;
    assert!(reason(&status).contains("cannot be reached"));
    assert!(rig.states("s").contains(&ServerState::Reconnecting));
    let _web = rig.web_at("s", web.port(), &[], &[]);
    assert_eq!(rig.text("s", "echo", json!({ "text": "again" })).await, "again");
}

fn quick(mut entry: mcpane::domain::server::ServerEntry) -> mcpane::domain::server::ServerEntry {
    entry.timeouts = Timeouts { start: 2, init: 1, ..Timeouts::default() };
    entry
}

/// Each way in which a start fails: the state, what the reason says, what the fix is about, and that it is told in time.
#[tokio::test]
async fn every_failed_start_has_its_state_reason_and_fix() {
    let mut rig = Rig::new();
    let good = rig.web("good", &[], &[]);
    let web = |name: &str, args: &[&str], web: &[&str]| rig.web(name, args, web);
    let servers: Vec<(&str, Web)> = vec![
        ("no_token", web("no_token", &[], &["--token", "Bearer right"])),
        ("forbidden", web("forbidden", &[], &["--token", "Bearer right", "--refusal", "403"])),
        ("busy", web("busy", &[], &["--status", "429"])),
        ("broken", web("broken", &[], &["--status", "500"])),
        ("refused", web("refused", &[], &["--status", "400"])),
        ("not_sse", web("not_sse", &[], &["--status", "400", "--no-session"])),
        ("never", web("never", &["--init", "never"], &[])),
        ("half", web("half", &["--init", "half"], &[])),
        ("error", web("error", &["--init", "error"], &[])),
        ("idless", web("idless", &["--init", "idless"], &[])),
        ("wrong_id", web("wrong_id", &["--init", "wrong-id"], &[])),
        ("no_version", web("no_version", &["--init", "no-version"], &[])),
        ("ancient", web("ancient", &["--version", "1999-01-01"], &[])),
        ("dies", web("dies", &["--init", "die"], &[])),
    ];
    use ServerState::{InitFailed, NeedsAuth, StartFailed};
    let mut cases = vec![
        ("no_token", NeedsAuth, "HTTP 401: bad", "server.fix_auth"),
        ("forbidden", StartFailed, "HTTP 403", "server.fix_forbidden"),
        ("busy", StartFailed, "HTTP 429", "server.fix_wait"),
        ("broken", StartFailed, "HTTP 500", "server.fix_restart"),
        ("refused", StartFailed, "HTTP 400: status 400", "server.fix_protocol"),
        // Its stream opens, but names no address.
        ("not_sse", InitFailed, "HTTP 400: status 400", "server.fix_protocol"),
        ("never", StartFailed, "did not answer within 2 s", "server.fix_timeout"),
        ("half", InitFailed, "did not answer within 1 s", "server.fix_timeout"),
        ("error", InitFailed, "no licence (error -32000)", "server.fix_protocol"),
        ("idless", InitFailed, "Parse error", "server.fix_protocol"),
        ("wrong_id", InitFailed, "4711", "server.fix_protocol"),
        ("no_version", InitFailed, "protocolVersion", "server.fix_protocol"),
        ("ancient", InitFailed, "1999-01-01", "server.fix_protocol"),
        ("dies", StartFailed, "cannot be reached", "server.fix_reach"),
        ("nothing", StartFailed, "HTTP 404", "server.fix_url"),
        ("page", StartFailed, "web page", "server.fix_url"),
        ("plain", StartFailed, "text/plain", "server.fix_url"),
        ("accepts", InitFailed, "HTTP 202", "server.fix_report"),
        ("drops", StartFailed, "was lost", "server.fix_restart"),
        ("silent", StartFailed, "did not answer within 2 s", "server.fix_timeout"),
        ("round", StartFailed, "It points to", "server.fix_redirect"),
        ("nobody", StartFailed, "cannot be reached", "server.fix_reach"),
        ("bad_header", StartFailed, "X-Broken", "server.fix_header"),
    ];
    let mut entries: Vec<_> = servers.iter().map(|(name, web)| quick(web.entry(name))).collect();
    for path in ["nothing", "page", "plain", "accepts", "drops", "silent", "round"] {
        entries.push(quick(good.entry_at(path, &format!("/{path}"))));
    }
    entries.push(quick(entry("nobody", Transport::Http { url: "http://127.0.0.1:1/mcp".into(), headers: Vec::new() })));
    let headers = vec![("X-Broken".to_owned(), "a\nb".to_owned())];
    entries.push(quick(entry("bad_header", Transport::Http { url: format!("{}/mcp", good.url), headers })));
    entries.push(good.entry("healthy"));
    let began = Instant::now();
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
        assert_eq!(status.state, state, "{name}: {:?}", status.reason);
        assert!(reason(&status).contains(says), "{name}: {}", reason(&status));
        assert_eq!(status.fix.as_ref().map(|fix| &*fix.key), Some(fix), "{name}: {}", reason(&status));
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(rig.text("healthy", "echo", json!({ "text": "fine" })).await, "fine");
    let (message, may_have_run) = failure(&rig.call("no_token", "echo", json!({})).await);
    assert!(message.contains("HTTP 401") && !may_have_run, "{message}");
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_is_waited_for() {
    let mut rig = Rig::new();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    rig.mcp.configure(vec![entry("s", Transport::Http { url, headers: Vec::new() })]);
    rig.state("s", ServerState::Starting).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let _web = rig.web_at("s", port, &["--delay", "300"], &["--flaky", "1"]);
    rig.ready("s").await;
}

#[tokio::test]
async fn a_token_that_expires_is_said_so_and_ends_the_session() {
    let (mut rig, _web) = Rig::over_http(&[], &[]).await;
    let (message, may_have_run) = failure(&rig.call("s", "fault", json!({ "kind": "status", "status": 401 })).await);
    assert!(message.contains("HTTP 401") && !may_have_run, "{message}");
    let status = rig.state("s", ServerState::NeedsAuth).await;
    assert_eq!(status.fix.unwrap().key, "server.fix_auth");
}

#[tokio::test]
async fn redirects_are_followed_at_home_and_never_carry_anything_elsewhere() {
    let mut rig = Rig::new();
    let (home, away) = (rig.web("home", &[], &[]), rig.web("away", &[], &[]));
    let secret = || vec![("Authorization".to_owned(), "Bearer s3cret-s3cret".to_owned())];
    let to = format!("{}/mcp", away.url);
    let moved = entry("moved", Transport::Http { url: format!("{}/moved", home.url), headers: secret() });
    let lured = entry("lured", Transport::Http { url: format!("{}/away?{to}", home.url), headers: secret() });
    rig.mcp.configure(vec![moved, lured]);
    let status = rig.state("lured", ServerState::StartFailed).await;
    assert!(reason(&status).contains(&to), "{}", reason(&status));
    assert!(rig.requests("away").is_empty(), "{:?}", rig.requests("away"));
    assert_eq!(rig.text("moved", "echo", json!({ "text": "found" })).await, "found");
    let moved = rig.requests("home").iter().filter(|request| request["path"] == "/moved").count();
    assert_eq!(moved, 1, "the new place is remembered");
}

#[tokio::test]
async fn secrets_are_masked_in_what_a_server_says() {
    let mut rig = Rig::new();
    let web = rig.web("s", &[], &["--token", "Bearer other"]);
    let mut entry = web.entry("s");
    let Ok(Transport::Http { headers, url }) = &mut entry.transport else { panic!() };
    headers.push(("Authorization".into(), "Bearer k3y-s3cret-0815".into()));
    url.push_str("?api_key=qu3ry-s3cret");
    rig.mcp.configure(vec![entry]);
    let status = rig.state("s", ServerState::NeedsAuth).await;
    assert!(reason(&status).contains("•••"), "{}", reason(&status));
    let told = format!("{:?}", rig.drain());
    assert!(!told.contains("k3y-s3cret") && !told.contains("qu3ry-s3cret"), "{told}");
}

#[tokio::test]
async fn hostile_text_does_no_harm() {
    let (mut rig, _web) = Rig::over_http(&["--list", "hostile", "--banner"], &[]).await;
    let tools = rig.mcp.tools(&"s".into());
    assert!(tools.iter().any(|spec| &*spec.id.name == "fine"));
    assert_eq!(rig.text("s", "echo", json!({ "text": "\u{1b}[2J" })).await, "\u{1b}[2J");
    let status = rig.status("s", |status| status.noise > 0).await;
    assert_eq!(status.state, ServerState::Ready);
}

#[tokio::test]
async fn stop_and_restart_end_the_session_at_the_server() {
    use mcpane::domain::server::ServerAction;
    let (mut rig, _web) = Rig::over_http(&[], &[]).await;
    let call = rig.begin("s", "slow", json!({ "steps": 1000 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    rig.mcp.act(&"s".into(), ServerAction::Stop);
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    rig.state("s", ServerState::Stopped).await;
    assert!(rig.was_told("s", "notifications/cancelled").await);
    rig.mcp.act(&"s".into(), ServerAction::Start);
    rig.ready("s").await;
    let deleted = rig.requests("s").iter().filter(|request| request["method"] == "DELETE").count();
    assert_eq!(deleted, 1);
}

#[tokio::test]
async fn a_session_that_cannot_be_begun_anew_is_given_up_in_time() {
    let mut rig = Rig::new();
    let web = rig.web("s", &[], &[]);
    let mut entry = web.entry("s");
    entry.timeouts = Timeouts { start: 1, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    rig.text("s", "fault", json!({ "kind": "forget", "mute": true })).await;
    let began = Instant::now();
    let (message, may_have_run) = failure(&rig.call("s", "echo", json!({ "text": "x" })).await);
    assert!(message.contains("a new one could not be opened") && !may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    // It is tried once more from the beginning, by itself.
    rig.state("s", ServerState::StartFailed).await;
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_again_ends_its_call_after_a_bounded_number_of_tries() {
    let (mut rig, mut web) = Rig::over_http(&[], &["--ids"]).await;
    let call = rig.begin("s", "slow", json!({ "steps": 1000 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let began = Instant::now();
    web.kill();
    let (message, may_have_run) = failure(&call.end().await);
    assert!(message.contains("was lost") && may_have_run, "{message}");
    assert!(began.elapsed() < Duration::from_secs(16), "{:?}", began.elapsed());
    rig.state("s", ServerState::Reconnecting).await;
    // It comes back, but without the session: the call is not repeated, the next one runs.
    let _web = rig.web_at("s", web.port(), &[], &["--ids"]);
    assert_eq!(rig.text("s", "echo", json!({ "text": "next" })).await, "next");
    let slow = rig.received("s").iter().filter(|message| message["params"]["name"] == "slow").count();
    assert_eq!(slow, 1);
}
