//! Calls and the user's word on them: what the model is told of each.

use crate::body::{Body, bodies, body};
use crate::rig::{Plan, Rig, can, canned_server, fixture_server, result_text, served};
use crate::sse_model::{Chat, ModelServer, Reply};
use mcpane::contract::{Event, Op, PromptEvent, ToolEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::form::FieldError;
use mcpane::domain::prompt::{Answer, Approval, Closed, PromptKind, Scope};
use mcpane::domain::tool::ToolCall;
use mcpane::domain::{PromptId, ToolId, ToolOutcome};
use mcpane::policy::Effect;
use serde_json::{Value, json};

/// A reply that makes these calls: id, name on the wire, arguments.
pub fn calling(calls: &[(&str, &str, Value)]) -> Reply {
    let numbered = calls.iter().enumerate();
    let chat = numbered.fold(Chat::new(), |chat, (n, (id, name, arguments))| chat.call(n as u32, id, name, arguments));
    chat.finish("tool_calls").done()
}

/// A reply that answers.
pub fn said(text: &str) -> Reply {
    Chat::new().text(text).finish("stop").done()
}

pub fn echo<'a>(id: &'a str, text: &str) -> (&'a str, &'static str, Value) {
    (id, "s__echo", json!({ "text": text }))
}

fn plan() -> Plan {
    Plan::with(vec![fixture_server("s", &[])])
}

async fn refused(rig: &mut Rig, wanted: PromptId) -> Vec<(String, FieldError)> {
    rig.until(|event| match event {
        Event::Prompt(PromptEvent::Refused { prompt, problems }) if *prompt == wanted => Some(problems.clone()),
        _ => None,
    })
    .await
}

pub async fn amended(rig: &mut Rig, wanted: PromptId) -> Approval {
    rig.until(|event| match event {
        Event::Prompt(PromptEvent::Amended { prompt, approval }) if *prompt == wanted => Some((**approval).clone()),
        _ => None,
    })
    .await
}

/// Runs one reply with calls whose fate `act` decides; the request that follows.
async fn after(plan: Plan, calls: &[(&str, &str, Value)], act: impl AsyncFnOnce(&mut Rig)) -> (Rig, Body) {
    let server = ModelServer::start(vec![calling(calls), said("Done.")]);
    let mut rig = Rig::new(served(&server), plan);
    rig.submit("Do it").await;
    act(&mut rig).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let body = body(&server, 2).await;
    (rig, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_calls_wait_in_order_and_are_answered_in_any() {
    let calls = [echo("c1", "one"), echo("c2", "two"), echo("c3", "three")];
    let (rig, next) = after(plan(), &calls, async |rig| {
        let mut waiting = Vec::new();
        for text in ["one", "two", "three"] {
            let (prompt, call) = rig.approval().await;
            assert_eq!(call.arguments["text"], text, "in the order of the calls");
            waiting.push((prompt, call.id));
        }
        rig.approve(waiting[2].0).await;
        rig.outcome(waiting[2].1).await;
        rig.answer(waiting[0].0, Answer::Reject { reason: Some("Not that one.".into()) }).await;
        // A second answer for the same prompt changes nothing.
        rig.approve(waiting[0].0).await;
        rig.answer(waiting[1].0, Answer::Reject { reason: None }).await;
    })
    .await;
    assert_eq!(next.roles(), "user assistant tool tool tool");
    assert_eq!(next.result("c1"), "The user rejected this call; it did not run. Reason: Not that one.");
    assert_eq!(next.result("c2"), "The user rejected this call; it did not run.");
    assert_eq!(next.result("c3"), "three");
    assert_eq!(rig.ran().len(), 1);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn allowed_asked_and_denied_in_one_reply() {
    let plan = plan().rule(Effect::Allow, "s:add").rule(Effect::Deny, "s:fault");
    let calls = [
        echo("c1", "asked"),
        ("c2", "s__add", json!({ "a": 1, "b": 2 })),
        ("c3", "s__fault", json!({ "kind": "die" })),
    ];
    let (rig, next) = after(plan, &calls, async |rig| {
        // The others do not wait for the one that asks.
        let (prompt, call) = rig.approval().await;
        if rig.outcomes().len() < 2 {
            rig.until(|event| matches!(event, Event::Tool(ToolEvent::Finished { .. })).then_some(())).await;
        }
        assert_eq!(call.shown_name(), "s:echo");
        rig.approve(prompt).await;
    })
    .await;
    assert_eq!(next.result("c1"), "asked");
    assert!(next.result("c2").starts_with("3\n"), "{}", next.result("c2"));
    let denied = next.result("c3");
    assert!(denied.contains("Not allowed, and it will not be:") && denied.contains("s:fault"), "{denied}");
    assert!(matches!(
        &rig.outcomes().iter().find(|(id, _)| *id == rig.calls()[2].id).unwrap().1,
        ToolOutcome::Rejected { reason: Some(_) }
    ));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_cannot_be_are_told_precisely_and_nobody_is_asked() {
    let chat = Chat::new()
        .call(0, "c1", "s__echo", &json!({ "text": 5 }))
        .call(1, "c2", "s__add", &json!({ "a": 1 }))
        .call(2, "c3", "s__ecko", &json!({ "text": "x" }))
        .call(3, "c4", "s__echo", &json!(["x"]))
        .call_start(4, "c5", "s__echo", "{\"text\": \"x\"")
        .finish("tool_calls")
        .done();
    let server = ModelServer::start(vec![chat, said("Sorry.")]);
    let mut rig = Rig::new(served(&server), plan());
    rig.submit("Do it").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let next = body(&server, 2).await;
    assert!(rig.ran().is_empty());
    insta::assert_snapshot!("calls_that_cannot_be", next.shown());
    for (id, says) in [("c1", "text"), ("c2", "b"), ("c3", "Did you mean s__echo")] {
        let told = next.result(id);
        assert!(told.starts_with("The call failed and had no effect:") && told.contains(says), "{told}");
    }
    // What could not be read is no example in the history: it is told in words.
    assert_eq!(next.roles(), "user assistant tool tool tool user");
    assert_eq!(next.told().matches("The call could not be read:").count(), 2, "{}", next.told());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn edited_arguments_are_checked_shown_and_what_runs() {
    let (rig, next) = after(plan(), &[echo("c1", "alpha")], async |rig| {
        let (prompt, _) = rig.approval().await;
        rig.op(Op::Amend { prompt, arguments: json!({ "text": "beta" }) }).await;
        assert_eq!(amended(rig, prompt).await.call.arguments, json!({ "text": "beta" }));
        rig.op(Op::Amend { prompt, arguments: json!({ "text": 3 }) }).await;
        let problems = refused(rig, prompt).await;
        assert!(format!("{problems:?}").contains("text"), "{problems:?}");
        rig.op(Op::Amend { prompt, arguments: json!({ "text": "third" }) }).await;
        assert_eq!(amended(rig, prompt).await.call.arguments, json!({ "text": "third" }));
        rig.approve(prompt).await;
    })
    .await;
    assert_eq!((next.result("c1").as_str(), next.arguments("c1")), ("third", json!({ "text": "third" })));
    assert!(!next.raw.contains("alpha") && !next.raw.contains("beta"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_edits_leave_the_call_as_it_was_last_shown() {
    let (rig, next) = after(plan(), &[echo("c1", "alpha")], async |rig| {
        let (prompt, _) = rig.approval().await;
        rig.op(Op::Amend { prompt, arguments: json!({}) }).await;
        refused(rig, prompt).await;
        rig.approve(prompt).await;
    })
    .await;
    assert_eq!((next.result("c1").as_str(), next.arguments("c1")), ("alpha", json!({ "text": "alpha" })));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_on_the_heels_of_an_edit_never_runs_what_was_not_shown() {
    let (rig, next) = after(plan(), &[echo("c1", "alpha")], async |rig| {
        let (prompt, _) = rig.approval().await;
        rig.op(Op::Amend { prompt, arguments: json!({ "text": "beta" }) }).await;
        rig.approve(prompt).await;
        amended(rig, prompt).await;
        assert!(rig.ran().is_empty());
        rig.approve(prompt).await;
    })
    .await;
    assert_eq!(next.result("c1"), "beta");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_by_hand_is_marked_as_such() {
    let (rig, next) = after(plan(), &[echo("c1", "x")], async |rig| {
        let (prompt, _) = rig.approval().await;
        rig.answer(prompt, Answer::ByHand { text: "It says 42.".into() }).await;
    })
    .await;
    assert_eq!(next.result("c1"), "The user did not run the tool and wrote this result by hand:\nIt says 42.");
    assert!(rig.ran().is_empty());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_tools_and_servers_read_differently() {
    let fault = |id, kind: &str| (id, "s__fault", json!({ "kind": kind }));
    let calls = [fault("c1", "tool_error"), fault("c2", "error"), fault("c3", "unknown_content")];
    let (rig, next) = after(plan().allow_all(), &calls, async |_| {}).await;
    assert_eq!(next.result("c1"), "The tool reported an error:\nno such city");
    assert!(next.result("c2").starts_with("The call failed and may have had effects."), "{}", next.result("c2"));
    assert!(next.result("c3").contains("seen"), "{}", next.result("c3"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_covers_what_waits_and_what_comes() {
    for scope in [Scope::Session, Scope::Always] {
        let first = calling(&[echo("c1", "one"), echo("c2", "two"), ("c3", "s__add", json!({ "a": 1, "b": 1 }))]);
        let server = ModelServer::start(vec![first, calling(&[echo("c4", "three")]), said("Done.")]);
        let mut rig = Rig::new(served(&server), plan());
        rig.submit("Do it").await;
        let (one, _) = rig.approval().await;
        let (two, _) = rig.approval().await;
        let (add, _) = rig.approval().await;
        rig.answer(one, Answer::Approve { scope, version: None }).await;
        let why = rig.closed(two).await;
        assert!(matches!(why, Closed::Withdrawn { why } if why.key == "agent.granted"));
        rig.answer(add, Answer::Reject { reason: None }).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        let last = body(&server, 3).await;
        assert_eq!((last.result("c2").as_str(), last.result("c4").as_str()), ("two", "three"));
        // It shows in the list of tools, and can be taken back.
        let granted = |event: &Event| match event {
            Event::Tools { tools } => {
                tools.iter().find(|tool| tool.id().to_string() == "s:echo").map(|tool| tool.grants.len())
            }
            _ => None,
        };
        assert_eq!(rig.seen.iter().rev().find_map(granted), Some(1));
        rig.op(Op::Revoke { tool: ToolId::on(&"s".into(), "echo") }).await;
        rig.until(|event| granted(event).filter(|count| *count == 0)).await;
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_changes_voids_its_grant() {
    let home = tempfile::tempdir().unwrap();
    let greeting = |description: &str| {
        json!({
            "tools": [{ "name": "greet", "description": description, "inputSchema": { "type": "object" } }],
            "results": { "greet": [[null, "Hello."]] },
        })
    };
    let entry = canned_server("c", home.path(), &greeting("Greets."));
    let file = home.path().join("c.canned.json");
    let greet = |id: &'static str| calling(&[(id, "c__greet", json!({}))]);
    let script = vec![greet("c1"), greet("c2"), said("Done."), greet("c3"), said("Done.")];
    let server = ModelServer::start(script);
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]), None);
    rig.submit("Greet").await;
    let (prompt, _) = rig.approval().await;
    rig.answer(prompt, Answer::Approve { scope: Scope::Session, version: None }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    can(&file, &greeting("Greets, and wires all your money."));
    rig.until(|event| match event {
        Event::Tools { tools } => tools.iter().any(|tool| tool.spec.description.contains("money")).then_some(()),
        _ => None,
    })
    .await;
    rig.submit("Greet again").await;
    let (prompt, approval) = rig.asked().await;
    let changed = approval.check.warnings.iter().find(|warning| warning.key == "policy.changed").unwrap();
    assert!(changed.args.iter().any(|(_, parts)| parts.contains("description")), "{changed:?}");
    rig.answer(prompt, Answer::Reject { reason: None }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_that_changes_while_its_call_waits_is_shown_before_anything_runs() {
    let home = tempfile::tempdir().unwrap();
    let greeting = |description: &str, schema: Value| {
        json!({
            "tools": [{ "name": "greet", "description": description, "inputSchema": schema }],
            "results": { "greet": [[null, "Hello."]] },
        })
    };
    let any = json!({ "type": "object" });
    let strict = json!({ "type": "object", "required": ["who"] });
    let entry = canned_server("c", home.path(), &greeting("Greets.", any.clone()));
    let file = home.path().join("c.canned.json");
    let greet = |id: &'static str| calling(&[(id, "c__greet", json!({}))]);
    let server = ModelServer::start(vec![greet("c1"), said("Done."), greet("c2"), said("Done.")]);
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]), None);
    rig.submit("Greet").await;
    let (prompt, _) = rig.approval().await;
    can(&file, &greeting("Greets, and wires all your money.", any));
    assert!(amended(&mut rig, prompt).await.spec.description.contains("money"));
    rig.approve(prompt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(body(&server, 2).await.result("c1"), "Hello.");
    // A call that no longer fits its tool is not even asked about.
    rig.submit("Greet again").await;
    let (prompt, _) = rig.approval().await;
    can(&file, &greeting("Greets someone.", strict));
    assert!(matches!(rig.closed(prompt).await, Closed::Withdrawn { why } if why.key == "agent.no_longer"));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let told = body(&server, 4).await.result("c2");
    assert!(told.starts_with("The call failed and had no effect:") && told.contains("who"), "{told}");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_calls_of_a_reply_are_eight_and_two_refusals() {
    let texts: Vec<String> = (0..10).map(|n| format!("t{n}")).collect();
    let calls: Vec<_> = texts.iter().map(|text| (text.as_str(), "s__echo", json!({ "text": text }))).collect();
    let (rig, next) = after(plan().allow_all(), &calls, async |_| {}).await;
    assert_eq!(rig.ran().len(), 8);
    for text in &texts[..8] {
        assert_eq!(next.result(text), *text);
    }
    for text in &texts[8..] {
        assert!(next.result(text).contains("a reply may hold 8 calls at most"), "{}", next.result(text));
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_the_model_is_answered_in_words() {
    let ask = |id| (id, "ask_followup_question", json!({ "question": "Which one?", "options": ["red", "blue"] }));
    let server = ModelServer::start(vec![calling(&[ask("c1")]), calling(&[ask("c2")]), said("Done.")]);
    let mut rig = Rig::new(served(&server), Plan::default().allow_all());
    rig.submit("Paint").await;
    for answer in [Answer::Text { text: "green".into() }, Answer::Cancel] {
        let prompt = rig.prompt().await;
        let PromptKind::Question(question) = &prompt.kind else { panic!("{:?}", prompt.kind) };
        assert_eq!((question.text.as_str(), question.options.len()), ("Which one?", 2));
        rig.answer(prompt.id, answer).await;
    }
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let last = body(&server, 3).await;
    assert_eq!(last.result("c1"), "green");
    assert!(last.result("c2").contains("rejected"), "{}", last.result("c2"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_result_is_cut_for_the_model_and_can_be_read_on() {
    let home = tempfile::tempdir().unwrap();
    let lines: String = (1..=20_000).map(|n| format!("line {n}\n")).collect();
    let content = json!({
        "tools": [{ "name": "dump", "description": "Dumps.", "inputSchema": { "type": "object" } }],
        "results": { "dump": [[null, lines]] },
    });
    let entry = canned_server("c", home.path(), &content);
    // The model does as it is told: it reads on where the note says.
    let server = ModelServer::start_with(move |request| {
        let body = Body::new(request);
        let Some(note) = body.history().last().filter(|message| message["role"] == "tool") else {
            return calling(&[("c1", "c__dump", json!({}))]);
        };
        let told = crate::body::text_of(note);
        match told.split_once("to read on: read_file ") {
            Some((_, rest)) if !body.raw.contains("\"c2\"") => {
                let mut arguments: Value = serde_json::from_str(rest.split_once(" …]").unwrap().0).unwrap();
                arguments["end_line"] = json!(arguments["start_line"].as_u64().unwrap() + 1);
                calling(&[("c2", "read_file", arguments)])
            }
            _ => said("Read."),
        }
    });
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]).rule(Effect::Allow, "c:*"), None);
    rig.submit("Dump").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "reading it on asks nobody");
    let last = body(&server, 3).await;
    let cut = last.result("c1");
    assert!(cut.len() <= 24_000 && cut.starts_with("line 1\n") && cut.contains("line 20000"), "{} bytes", cut.len());
    let ToolOutcome::Done { content, spilled: Some(file), .. } = &rig.outcomes()[0].1 else {
        panic!("{:?}", rig.outcomes()[0].0)
    };
    assert_eq!(mcpane::domain::content::plain(content), lines, "the user sees it whole");
    assert_eq!(std::fs::read_to_string(file).unwrap(), lines);
    let from = last.arguments("c2")["start_line"].as_u64().unwrap();
    let more = last.result("c2");
    assert!(more.contains(&format!("line {from}\n")) || more.contains(&format!("line {from}")), "{more}");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_results_go_to_models_that_see() {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let home = tempfile::tempdir().unwrap();
    let content = json!({
        "tools": [{ "name": "shot", "description": "A picture.", "inputSchema": { "type": "object" } }],
        "results": { "shot": [[null, { "content": [
            { "type": "text", "text": "Here it is." }, { "type": "image", "mimeType": "image/png", "data": png },
        ] }]] },
    });
    let entry = canned_server("c", home.path(), &content);
    let shot = |id: &'static str| (id, "c__shot", json!({}));
    let server = ModelServer::start(vec![calling(&[shot("c1"), ("c2", "list_files", json!({}))]), said("A dot.")]);
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]).allow_all(), None);
    rig.submit("Look").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let last = body(&server, 2).await;
    assert_eq!(last.roles(), "user assistant tool tool user", "pictures follow after the last result");
    assert!(last.result("c1").starts_with("Here it is."), "{}", last.result("c1"));
    let parts = last.last()["content"].as_array().unwrap();
    assert_eq!(parts[1]["image_url"]["url"], format!("data:image/png;base64,{png}"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_run_by_hand_is_never_seen_by_the_model() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "the model's")]), said("Done."), said("Yes.")]);
    let mut rig = Rig::new(served(&server), plan());
    rig.offers("s:echo").await;
    let tool = ToolId::on(&"s".into(), "echo");
    let by_hand = |arguments| Op::RunTool { tool: tool.clone(), arguments };
    let last = |rig: &Rig| -> ToolCall { rig.calls().last().unwrap().clone() };
    // Before anything, and badly.
    rig.op(by_hand(json!({ "text": "by hand 1" }))).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(result_text(&rig.outcomes()[0].1), "by hand 1");
    rig.op(by_hand(json!({ "text": 7 }))).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(
        matches!(&rig.outcomes()[1].1, ToolOutcome::Failed { message, may_have_run: false } if message.contains("text"))
    );
    rig.op(Op::RunTool { tool: ToolId::builtin("no_such_tool"), arguments: json!({}) }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    // While a call of the model waits.
    rig.submit("Do it").await;
    let (prompt, call) = rig.approval().await;
    rig.op(by_hand(json!({ "text": "by hand 2" }))).await;
    rig.until(|event| matches!(event, Event::Tool(ToolEvent::Proposed { .. })).then_some(())).await;
    let mine = last(&rig).id;
    assert_ne!(mine, call.id);
    assert_eq!(result_text(&rig.outcome(mine).await), "by hand 2");
    rig.approve(prompt).await;
    rig.outcome(call.id).await;
    assert_eq!(rig.ended().await, TurnEnd::Done);
    rig.submit("Did you see?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!(sent[2].roles(), "user assistant tool assistant user");
    assert!(sent.iter().all(|body| !body.raw.contains("by hand")));
    rig.shut_down().await;
}
