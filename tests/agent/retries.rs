//! Requests that fail: what is tried again, when, and what the user sees of it.

use crate::body::{bodies, body};
use crate::rig::{Plan, Rig, fixture_server, impatient, served};
use crate::sse_model::{Chat, ModelServer, Reply};
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, Op, SessionEvent, ToolEvent, TurnEvent};
use mcpane::domain::conversation::{StepEnd, TurnEnd};
use mcpane::domain::model::{ModelError, ModelErrorKind};
use mcpane::domain::prompt::{Answer, Choose, Closed, Decision, Prompt};
use mcpane::domain::{PromptId, ToolOutcome};
use mcpane::provider::catalog::{Catalog, OpenOptions};
use serde_json::json;
use std::time::{Duration, Instant};

fn said(text: &str) -> Reply {
    Chat::new().text(text).finish("stop").done()
}

fn failing(status: u16, headers: &[(&str, &str)], message: &str) -> Reply {
    Reply::status(status, headers, json!({ "error": { "message": message } }).to_string())
}

fn rig(server: &ModelServer) -> Rig {
    Rig::new(served(server), Plan::default())
}

/// The next thing that waits must be a countdown.
async fn countdown(rig: &mut Rig) -> (Prompt, u32, ModelError) {
    match rig.decision().await {
        (prompt, Decision::Retry { attempt, of: 5, error }) => (prompt, attempt, error),
        other => panic!("{other:?}"),
    }
}

async fn now(rig: &Rig, prompt: PromptId) {
    rig.choose(prompt, Choose::Continue).await;
}

fn count(rig: &Rig, test: impl Fn(&Event) -> bool) -> usize {
    rig.seen.iter().filter(|event| test(event)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_failure_that_may_pass_is_a_visible_countdown_and_the_fifth_try_may_still_help() {
    let server = ModelServer::start(vec![
        failing(429, &[("retry-after", "7")], "slow down"),
        failing(503, &[], "no worker"),
        failing(529, &[], "busy"),
        Reply::status(500, &[], r#"{"error":{"type":"overloaded_error","message":"too many"}}"#),
        failing(408, &[], "too slow"),
        said("At last."),
        said("Yes."),
    ]);
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    for (n, kind, status, message) in [
        (1, ModelErrorKind::RateLimited, 429, "slow down"),
        (2, ModelErrorKind::Server, 503, "no worker"),
        (3, ModelErrorKind::Overloaded, 529, "busy"),
        (4, ModelErrorKind::Overloaded, 500, "too many"),
        (5, ModelErrorKind::Server, 408, "too slow"),
    ] {
        let (prompt, attempt, error) = countdown(&mut rig).await;
        assert_eq!((attempt, error.kind, error.status, error.message.as_str()), (n, kind, Some(status), message));
        let wait = prompt.expires_ms.unwrap();
        // Retry-After is the floor; without one it is 1, 2, 4 … seconds and up to a quarter more.
        let least = if n == 1 { 7_000 } else { 1_000 << (n - 1) };
        assert!((least..=least * 5 / 4).contains(&wait), "{wait}");
        now(&rig, prompt.id).await;
        assert_eq!(rig.closed(prompt.id).await, Closed::Answered { answer: Answer::Choose(Choose::Continue) });
    }
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(count(&rig, |event| matches!(event, Event::Turn(TurnEvent::StepStarted { .. }))), 1, "one step");
    rig.submit("Are you there?").await;
    rig.ended().await;
    let sent = bodies(&server);
    assert!(sent[..6].iter().all(|body| body.raw == sent[0].raw), "the very same request each time");
    assert_eq!(sent[6].roles(), "user assistant user");
    sent[6].assert_continues(&sent[0]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_countdown_runs_out_by_itself_and_a_late_answer_changes_nothing() {
    let server = ModelServer::start(vec![failing(503, &[], "later"), said("Here.")]);
    let mut rig = rig(&server);
    let began = Instant::now();
    rig.submit("Hello").await;
    let (prompt, ..) = countdown(&mut rig).await;
    assert_eq!(rig.closed(prompt.id).await, Closed::Expired);
    assert!(began.elapsed() >= Duration::from_secs(1));
    rig.choose(prompt.id, Choose::Stop).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_tries_and_then_the_user_is_asked_and_stops() {
    let server = ModelServer::start((0..20).map(|_| failing(500, &[], "broken")).collect());
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    for round in 1..=2 {
        for n in 1..=5 {
            let (prompt, attempt, _) = countdown(&mut rig).await;
            assert_eq!(attempt, n);
            now(&rig, prompt.id).await;
        }
        let (prompt, decision) = rig.decision().await;
        let Decision::GaveUp { error } = decision else { panic!("{decision:?}") };
        assert_eq!((error.message.as_str(), prompt.expires_ms), ("broken", None));
        assert_eq!(bodies(&server).len(), 6 * round);
        let choice = if round == 1 { Choose::Continue } else { Choose::Stop };
        rig.choose(prompt.id, choice).await;
    }
    let TurnEnd::Failed { problem } = rig.ended_unasked().await else { panic!("{}", rig.story()) };
    assert_eq!((problem.key.as_ref(), problem.args[0].1.as_str()), ("model.error.server", "broken"));
    assert_eq!(bodies(&server).len(), 12);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_at_the_countdown_ends_the_turn() {
    let server = ModelServer::start(vec![failing(503, &[], "later"), said("Yes.")]);
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    let (prompt, ..) = countdown(&mut rig).await;
    rig.choose(prompt.id, Choose::Stop).await;
    assert!(matches!(rig.ended_unasked().await, TurnEnd::Failed { .. }));
    rig.submit("And now?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!((sent.len(), sent[1].roles().as_str()), (2, "user"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_will_not_pass_is_not_tried_again() {
    for status in [400, 401, 403, 404, 405, 413, 422] {
        let server = ModelServer::start(vec![failing(status, &[("retry-after", "1")], "no")]);
        let mut rig = rig(&server);
        rig.submit("Hello").await;
        assert!(matches!(rig.ended_unasked().await, TurnEnd::Failed { .. }), "{status}");
        assert_eq!(bodies(&server).len(), 1, "{status}");
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_is_tried_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let options = OpenOptions { base_url: Some(format!("http://127.0.0.1:{port}/v1")), ..OpenOptions::default() };
    let model = Catalog::built_in().open("openai:test-model", &options).unwrap();
    let mut rig = Rig::new(model, Plan::default());
    rig.submit("Hello").await;
    for n in 1..=2 {
        let (prompt, attempt, error) = countdown(&mut rig).await;
        assert_eq!((attempt, error.kind, error.status), (n, ModelErrorKind::Network, None));
        assert!(error.message.contains(&port.to_string()), "{error:?}");
        if n == 1 { now(&rig, prompt.id).await } else { rig.choose(prompt.id, Choose::Stop).await }
    }
    let TurnEnd::Failed { problem } = rig.ended().await else { panic!("{}", rig.story()) };
    assert_eq!(problem.key, "model.error.network");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_a_time_out_and_comments_are_none() {
    let processing: Vec<_> =
        (0..8).map(|_| (Duration::from_millis(100), b": OPENROUTER PROCESSING\n\n".to_vec())).collect();
    let mut alive = processing;
    alive.push((Duration::ZERO, Chat::new().text("Alive.").finish("stop").bytes()));
    let server = ModelServer::start(vec![
        Reply::hang(),
        Reply::sse(Chat::new().text("Half").bytes()).then_hang(),
        Reply::chunks(alive),
    ]);
    let mut rig = Rig::new(impatient(&server, Duration::from_millis(700)), Plan::default());
    rig.submit("Hello").await;
    let (prompt, _, error) = countdown(&mut rig).await;
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    now(&rig, prompt.id).await;
    let (prompt, decision) = rig.decision().await;
    assert!(matches!(decision, Decision::StreamCut { .. }), "{decision:?}");
    rig.choose(prompt.id, Choose::Continue).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.answers(), "HalfAlive.");
    server.wait_left(2).await;
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_breaks_off_is_kept_on_screen_and_only_the_whole_one_in_the_history() {
    let half = Chat::new().reasoning("Let me see").words("Half an ans").bytes();
    let server = ModelServer::start(vec![Reply::cut_after(half), said("A whole answer."), said("Thanks.")]);
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    let (prompt, decision) = rig.decision().await;
    assert!(matches!(decision, Decision::StreamCut { error } if error.kind == ModelErrorKind::Cut));
    assert_eq!((rig.answers().as_str(), rig.texts(TextKind::Thinking).as_str()), ("Half an ans", "Let me see"));
    let cut = rig.seen.iter().any(|event| {
        matches!(event, Event::Turn(TurnEvent::StepEnded { end: StepEnd::Cut { problem }, .. }) if problem.key == "model.error.cut")
    });
    assert!(cut, "it says so");
    assert_eq!(prompt.expires_ms, None, "it waits for the user");
    rig.choose(prompt.id, Choose::Continue).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    rig.submit("Good").await;
    rig.ended().await;
    let sent = bodies(&server);
    assert_eq!(sent[0].raw, sent[1].raw);
    assert_eq!(sent[2].roles(), "user assistant user");
    assert_eq!(sent[2].history()[1]["content"], "A whole answer.");
    let kept = std::fs::read_to_string(&rig.journals()[0]).unwrap();
    assert!(kept.contains("Half an ans"), "what came is kept");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_reply_that_breaks_off_never_run() {
    let echo = |id: &str, text: &str| (id.to_owned(), json!({ "text": text }));
    let (one, arguments) = echo("c1", "a");
    // The first call is whole when the reply breaks off, the second is not.
    let half = Chat::new().call(0, &one, "s__echo", &arguments).call_start(1, "c2", "s__echo", "{\"te").bytes();
    let alone = Chat::new().call_start(0, "c3", "s__echo", "{\"text\": \"b\"}").bytes();
    let server = ModelServer::start(vec![Reply::cut_after(half), Reply::cut_after(alone), said("No.")]);
    let plan = Plan::with(vec![fixture_server("s", &[])]).allow_all();
    let mut rig = Rig::new(served(&server), plan);
    rig.submit("Echo").await;
    for _ in 0..2 {
        let (prompt, decision) = rig.decision().await;
        assert!(matches!(decision, Decision::StreamCut { .. }), "{decision:?}");
        rig.choose(prompt.id, Choose::Continue).await;
    }
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.ran().is_empty());
    assert!(rig.outcomes().iter().all(|(_, outcome)| *outcome == ToolOutcome::Cancelled), "{:?}", rig.outcomes());
    assert_eq!(count(&rig, |event| matches!(event, Event::Tool(ToolEvent::Abandoned { .. }))), 2);
    let sent = bodies(&server);
    assert!(sent.iter().all(|body| body.raw == sent[0].raw));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_at_a_broken_reply_fails_the_turn_and_leaves_no_trace_of_it_for_the_model() {
    let server = ModelServer::start(vec![Reply::cut_after(Chat::new().words("Half an ans").bytes()), said("Yes.")]);
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    let (prompt, _) = rig.decision().await;
    rig.choose(prompt.id, Choose::Stop).await;
    assert!(matches!(rig.ended().await, TurnEnd::Failed { .. }));
    rig.submit("Again").await;
    rig.ended().await;
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user");
    assert!(!sent[1].raw.contains("Half") && sent[1].told().contains("[This task was not finished.]"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_inside_a_good_reply_counts_by_its_kind_and_its_place() {
    let error = |code: u16, message: &str| json!({ "error": { "code": code, "message": message } });
    let overflow = json!({ "error": { "code": "context_length_exceeded", "message": "too long" } });
    let server = ModelServer::start(vec![
        Chat::new().event(&error(502, "upstream")).open(),
        Chat::new().text("Half").event(&error(502, "upstream")).open(),
        Chat::new().event(&overflow).open(),
    ]);
    let mut rig = rig(&server);
    rig.submit("Hello").await;
    let (prompt, _, failed) = countdown(&mut rig).await;
    assert_eq!((failed.kind, failed.message.as_str()), (ModelErrorKind::Server, "upstream"));
    now(&rig, prompt.id).await;
    let (prompt, decision) = rig.decision().await;
    assert!(matches!(&decision, Decision::StreamCut { error } if error.message == "upstream"), "{decision:?}");
    rig.choose(prompt.id, Choose::Continue).await;
    let TurnEnd::Failed { problem } = rig.ended_unasked().await else { panic!("{}", rig.story()) };
    assert_eq!(problem.key, "model.error.context_overflow");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupting_a_reply_closes_its_connection_and_gives_waiting_messages_back() {
    let server = ModelServer::start(vec![
        Reply::hang(),
        Reply::sse(Chat::new().words("Half an answer and").call_start(0, "c1", "x", "{").bytes()).then_hang(),
        said("Yes."),
    ]);
    let mut rig = rig(&server);
    // Before the first word.
    rig.submit("One").await;
    server.wait_requests(1).await;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    server.wait_left(1).await;
    // In the middle.
    rig.submit("Two").await;
    rig.until(|event| matches!(event, Event::Tool(ToolEvent::Writing { .. })).then_some(())).await;
    rig.submit("Three").await;
    rig.until(|event| matches!(event, Event::Session(SessionEvent::Queued { waiting: 1, .. })).then_some(())).await;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    server.wait_left(2).await;
    rig.until(|event| matches!(event, Event::Session(SessionEvent::Unqueued { waiting: 0, .. })).then_some(())).await;
    assert_eq!(count(&rig, |event| matches!(event, Event::Tool(ToolEvent::Abandoned { .. }))), 1);
    rig.submit("Four").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!((sent.len(), sent[2].roles().as_str()), (3, "user"));
    let told = sent[2].told();
    assert_eq!(told.matches("[The user interrupted this task.]").count(), 2, "{told}");
    assert!(!told.contains("Half") && !told.contains("Three"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupting_what_the_loop_asks_ends_the_turn() {
    let server = ModelServer::start(vec![
        failing(503, &[], "later"),
        Reply::cut_after(Chat::new().text("Half").bytes()),
        said("Yes."),
    ]);
    let mut rig = rig(&server);
    for text in ["One", "Two"] {
        rig.submit(text).await;
        let (prompt, _) = rig.decision().await;
        rig.op(Op::Interrupt).await;
        assert!(matches!(rig.closed(prompt.id).await, Closed::Withdrawn { .. }));
        assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    }
    // Longer than the countdown would have taken.
    tokio::time::sleep(Duration::from_millis(1_400)).await;
    assert_eq!(bodies(&server).len(), 2);
    rig.submit("Three").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(body(&server, 3).await.roles(), "user");
    rig.shut_down().await;
}
