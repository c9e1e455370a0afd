//! Servers that ask the user: what they receive.

use crate::body::body;
use crate::calls::{calling, said};
use crate::rig::{Plan, Rig, demo_server, eventually, received, recorded_server, served};
use crate::sse_model::ModelServer;
use mcpane::contract::{ClockOp, Event, Op, PromptEvent, SessionEvent, ToolEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::prompt::{Answer, Closed, FormRequest, Prompt, PromptKind};
use mcpane::domain::{PromptId, ToolOutcome};
use mcpane::policy::Effect;
use serde_json::{Map, Value, json};
use std::time::Duration;

fn elicit(id: &str, arguments: Value) -> (&str, &'static str, Value) {
    (id, "s__elicit", arguments)
}

fn submit(values: Value) -> Answer {
    let Value::Object(values) = values else { panic!("{values}") };
    Answer::Submit { values }
}

/// The next thing that waits must be a form.
async fn form(rig: &mut Rig) -> (Prompt, FormRequest) {
    let prompt = rig.prompt().await;
    match prompt.kind.clone() {
        PromptKind::Form(form) => (prompt, form),
        other => panic!("not a form: {other:?}"),
    }
}

/// A rig whose model makes these calls; the fixture server keeps a question for `seconds`.
async fn begin(calls: &[(&str, &str, Value)], seconds: u64) -> (ModelServer, Rig) {
    let home = tempfile::tempdir().unwrap();
    let mut entry = recorded_server("s", &[], home.path());
    entry.timeouts.elicit = seconds;
    let server = ModelServer::start(vec![calling(calls), said("Done.")]);
    let rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]).allow_all(), None);
    rig.submit("Ask").await;
    (server, rig)
}

/// What the server got as answers to its questions, in the order of its questions, once there are so many.
async fn answers(rig: &Rig, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    eventually("answers", || {
        let mut all: Vec<Value> =
            received("s", rig.home.path()).into_iter().filter(|message| message.get("method").is_none()).collect();
        all.sort_by_key(|message| message["id"].as_i64());
        found = all.into_iter().map(|message| message["result"].clone()).collect();
        found.len() >= count
    })
    .await;
    found
}

async fn refused(rig: &mut Rig, wanted: PromptId) -> Vec<String> {
    rig.until(|event| match event {
        Event::Prompt(PromptEvent::Refused { prompt, problems }) if *prompt == wanted => {
            Some(problems.iter().map(|(field, _)| field.clone()).collect())
        }
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_receives_the_very_values_and_only_when_they_fit_the_whole_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "zeta": { "type": "string", "minLength": 2 },
            "alpha": { "type": "integer", "minimum": 1 },
            "card": { "type": "string" },
            "address": { "type": "string" },
        },
        "required": ["zeta"],
        // What no single field can tell.
        "dependentRequired": { "card": ["address"] },
        "minProperties": 2,
    });
    let (server, mut rig) = begin(&[elicit("c1", json!({ "message": "Who?", "schema": schema }))], 60).await;
    let (prompt, form) = form(&mut rig).await;
    assert_eq!((form.server.as_str(), form.message.as_str(), prompt.expires_ms), ("s", "Who?", Some(60_000)));
    let names: Vec<&str> = form.form.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["zeta", "alpha", "card", "address"], "in the server's order");
    assert_eq!(prompt.call, Some(rig.calls()[0].id));
    for (wrong, fields) in [
        (json!({}), vec!["zeta"]),
        (json!({ "zeta": "z" }), vec!["zeta"]),
        (json!({ "zeta": "zz", "alpha": 0 }), vec!["alpha"]),
        (json!({ "zeta": "zz" }), vec![""]),
        (json!({ "zeta": "zz", "card": "1234" }), vec!["address"]),
    ] {
        rig.answer(prompt.id, submit(wrong.clone())).await;
        assert_eq!(refused(&mut rig, prompt.id).await, fields, "{wrong}");
    }
    // What makes no sense for a form changes nothing.
    rig.answer(prompt.id, Answer::Reject { reason: None }).await;
    rig.answer(prompt.id, Answer::Text { text: "visited".into() }).await;
    let values = json!({ "zeta": "zz", "card": "1234", "address": "here" });
    rig.answer(prompt.id, submit(values.clone())).await;
    assert!(matches!(rig.closed(prompt.id).await, Closed::Answered { answer: Answer::Submit { .. } }));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let got = answers(&rig, 1).await;
    assert_eq!(got, [json!({ "action": "accept", "content": values })]);
    assert_eq!(got[0]["content"].to_string(), values.to_string(), "in the same order");
    assert!(body(&server, 2).await.result("c1").contains("\"accept\""));
    let states = [ToolEvent::Suspended { call: rig.calls()[0].id }, ToolEvent::Resumed { call: rig.calls()[0].id }];
    for state in states {
        assert!(rig.seen.contains(&Event::Tool(state)));
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_demo_server_registers_and_deploys_what_the_form_says() {
    let server = ModelServer::start(vec![
        calling(&[("c1", "demo__register", json!({}))]),
        calling(&[("c2", "demo__deploy", json!({ "service": "shop" }))]),
        calling(&[("c3", "demo__deploy", json!({}))]),
        calling(&[("c4", "demo__deploy", json!({}))]),
        said("Done."),
    ]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![demo_server()]).allow_all());
    rig.submit("Register and deploy").await;
    let (prompt, register) = form(&mut rig).await;
    assert_eq!(register.form.fields.len(), 15);
    rig.answer(prompt.id, submit(json!({ "username": "No Spaces", "role": "ops", "age": 17 }))).await;
    let wrong = refused(&mut rig, prompt.id).await;
    assert!(wrong.contains(&"username".to_owned()) && wrong.contains(&"age".to_owned()), "{wrong:?}");
    let filled = json!({ "username": "octocat", "role": "ops", "age": 30, "email": "o@example.org", "interests": ["books"], "newsletter": false });
    rig.answer(prompt.id, submit(filled.clone())).await;
    let (prompt, deploy) = form(&mut rig).await;
    assert!(deploy.message.contains("shop"));
    let place = json!({ "environment": "staging", "regions": ["eu-west"], "version": "1.4.2" });
    rig.answer(prompt.id, submit(place.clone())).await;
    let (prompt, _) = form(&mut rig).await;
    rig.answer(prompt.id, Answer::Decline).await;
    let (prompt, _) = form(&mut rig).await;
    rig.answer(prompt.id, Answer::Cancel).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let last = body(&server, 5).await;
    for (id, says) in
        [("c1", filled.to_string()), ("c2", place.to_string()), ("c3", "declined".into()), ("c4", "cancelled".into())]
    {
        assert!(last.result(id).contains(&says), "{}", last.result(id));
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn decline_and_cancel_are_two_answers() {
    for (answer, action) in [(Answer::Decline, "decline"), (Answer::Cancel, "cancel")] {
        let (_server, mut rig) = begin(&[elicit("c1", json!({}))], 60).await;
        let (prompt, asked) = form(&mut rig).await;
        assert!(asked.form.fields.is_empty(), "a confirmation");
        rig.answer(prompt.id, answer).await;
        // The first answer counts.
        rig.answer(prompt.id, submit(json!({}))).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!(answers(&rig, 1).await, [json!({ "action": action })]);
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_whose_time_is_up_says_cancel() {
    let (_server, mut rig) = begin(&[elicit("c1", json!({}))], 1).await;
    let (prompt, _) = form(&mut rig).await;
    assert_eq!(prompt.expires_ms, Some(1_000));
    assert_eq!(rig.closed(prompt.id).await, Closed::Expired);
    rig.answer(prompt.id, submit(json!({}))).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(answers(&rig, 1).await, [json!({ "action": "cancel" })]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_program_is_suspended_no_form_runs_out() {
    let (_server, mut rig) = begin(&[elicit("c1", json!({}))], 1).await;
    let (prompt, _) = form(&mut rig).await;
    rig.op(Op::Clock(ClockOp::Hold)).await;
    rig.until(|event| matches!(event, Event::Session(SessionEvent::Held)).then_some(())).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    rig.op(Op::Clock(ClockOp::Go)).await;
    rig.answer(prompt.id, submit(json!({}))).await;
    let why = rig.closed(prompt.id).await;
    assert!(matches!(why, Closed::Answered { .. }), "{why:?}");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(answers(&rig, 1).await, [json!({ "action": "accept", "content": {} })]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_forms_at_once_are_answered_each_by_its_own_id() {
    let (_server, mut rig) = begin(&[elicit("c1", json!({ "message": "Q", "times": 2 }))], 60).await;
    let (mut one, mut first) = form(&mut rig).await;
    let (mut two, second) = form(&mut rig).await;
    if first.message == "Q 2" {
        std::mem::swap(&mut one, &mut two);
        first = second;
    }
    assert_eq!(first.message, "Q 1");
    rig.answer(two.id, Answer::Decline).await;
    assert!(matches!(rig.closed(two.id).await, Closed::Answered { .. }));
    rig.answer(one.id, submit(json!({ "more": 1 }))).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let got = answers(&rig, 2).await;
    assert_eq!(got, [json!({ "action": "accept", "content": { "more": 1 } }), json!({ "action": "decline" })]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_can_take_its_question_back() {
    let (server, mut rig) = begin(&[("c1", "s__take_back", json!({}))], 60).await;
    let (prompt, _) = form(&mut rig).await;
    let why = rig.closed(prompt.id).await;
    assert!(matches!(&why, Closed::Withdrawn { why } if why.key == "agent.server_withdrew"), "{why:?}");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(body(&server, 2).await.result("c1"), "taken back");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_while_it_asks_takes_its_question_with_it() {
    let home = tempfile::tempdir().unwrap();
    let entry = recorded_server("s", &[], home.path());
    let calls = [elicit("c1", json!({})), ("c2", "s__fault", json!({ "kind": "die" }))];
    let server = ModelServer::start(vec![calling(&calls), said("It died.")]);
    let plan = Plan::with(vec![entry]).rule(Effect::Allow, "s:elicit");
    let mut rig = Rig::in_home(home, served(&server), plan, None);
    rig.submit("Ask").await;
    let (one, two) = (rig.prompt().await, rig.prompt().await);
    let (ask, die) = if matches!(one.kind, PromptKind::Form(_)) { (one, two) } else { (two, one) };
    assert!(matches!(ask.kind, PromptKind::Form(_)));
    rig.approve(die.id).await;
    assert!(matches!(rig.closed(ask.id).await, Closed::Withdrawn { .. }));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    for (_, outcome) in rig.outcomes() {
        assert!(matches!(outcome, ToolOutcome::Failed { may_have_run: true, .. }), "{outcome:?}");
    }
    let next = body(&server, 2).await;
    for id in ["c1", "c2"] {
        let told = next.result(id);
        assert!(told.contains("may have had effects") && told.contains("42"), "{told}");
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_while_a_server_asks_cancels_both() {
    let (server, mut rig) = begin(&[elicit("c1", json!({}))], 60).await;
    let (prompt, _) = form(&mut rig).await;
    let call = rig.calls()[0].id;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.outcome(call).await, ToolOutcome::Interrupted);
    let closed = |event: &Event| matches!(event, Event::Prompt(PromptEvent::Closed { prompt: id, why: Closed::Withdrawn { .. } }) if *id == prompt.id);
    if !rig.seen.iter().any(closed) {
        rig.closed(prompt.id).await;
    }
    assert_eq!(answers(&rig, 1).await, [json!({ "action": "cancel" })]);
    eventually("the server to be told", || {
        received("s", rig.home.path()).iter().any(|message| message["method"] == "notifications/cancelled")
    })
    .await;
    rig.submit("Again").await;
    let ended = |event: &Event| {
        matches!(event, Event::Turn(mcpane::contract::TurnEvent::Ended { end: TurnEnd::Done, .. })).then_some(())
    };
    rig.until(ended).await;
    assert_eq!(body(&server, 2).await.roles(), "user assistant tool user");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_visited_or_not() {
    let visited = || Answer::Submit { values: Map::new() };
    for (answer, action) in [(visited(), "accept"), (Answer::Decline, "decline"), (Answer::Cancel, "cancel")] {
        let (_server, mut rig) = begin(&[("c1", "s__link", json!({ "url": "https://example.org/" }))], 60).await;
        let prompt = rig.prompt().await;
        assert!(matches!(&prompt.kind, PromptKind::Link(link) if link.url == "https://example.org/"));
        rig.answer(prompt.id, answer).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        assert_eq!(answers(&rig, 1).await, [json!({ "action": action })]);
        rig.shut_down().await;
    }
}
