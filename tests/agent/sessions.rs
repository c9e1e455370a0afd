//! The journal: what was announced is kept, and a session that goes on is a sound one wherever it broke off.

use crate::body::{Body, bodies, body};
use crate::calls::{calling, echo, said};
use crate::rig::{Plan, Rig, fixture_server, journals, result_text, served};
use crate::sse_model::{Chat, ModelServer, Reply};
use mcpane::agent::journal::{Journal, Resumed};
use mcpane::contract::{Event, ItemEvent, Op, PromptEvent, SessionEvent, SessionOp, ToolEvent, TurnEvent};
use mcpane::domain::conversation::{StepEnd, TurnEnd};
use mcpane::domain::prompt::{Answer, Choose};
use mcpane::domain::{Conversation, ItemBody, ToolOutcome};
use mcpane::redact::Redactor;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

fn plan() -> Plan {
    Plan::with(vec![fixture_server("s", &[])])
}

/// The lines of a session's journal.
fn entries(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Tries for a while: processes that other tests start at this moment hold our open files, locks included, until they become another program.
fn free<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    for _ in 0..400 {
        if let Some(found) = attempt() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("it is held");
}

fn resume(file: &Path) -> Resumed {
    free(|| match Journal::resume(file, Redactor::default()) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => None,
        other => Some(other.unwrap()),
    })
}

/// A session with thoughts, answers, calls of all fates, a reply that broke off, and a reminder.
fn eventful() -> Vec<Reply> {
    let first = Chat::new()
        .reasoning("Let me call.")
        .text("I call three.")
        .call(0, "c1", "s__echo", &json!({ "text": "one" }))
        .call(1, "c2", "s__echo", &json!({ "text": "two" }))
        .call(2, "c3", "s__echo", &json!({ "text": "one" }))
        .call(3, "c4", "s__nothing", &json!({}))
        .finish("tool_calls")
        .usage(100, 20)
        .done();
    vec![
        first,
        Reply::cut_after(Chat::new().text("Half").bytes()),
        Chat::new().reasoning("Hm.").finish("stop").done(),
        said("The end."),
    ]
}

/// Plays it; `seen` is told of every event.
async fn play(mut rig: Rig, mut seen: impl FnMut(&Event, &Rig)) -> TempDir {
    rig.submit("Do it").await;
    let mut approvals = 0;
    loop {
        let event = rig.next().await;
        seen(&event, &rig);
        match event {
            Event::Prompt(PromptEvent::Opened { prompt }) if prompt.call.is_some() => {
                approvals += 1;
                if approvals == 1 {
                    rig.approve(prompt.id).await;
                } else {
                    rig.answer(prompt.id, Answer::Reject { reason: Some("No.".into()) }).await;
                }
            }
            Event::Prompt(PromptEvent::Opened { prompt }) => rig.choose(prompt.id, Choose::Continue).await,
            Event::Turn(TurnEvent::Ended { end, .. }) => {
                assert_eq!(end, TurnEnd::Done);
                break;
            }
            _ => {}
        }
    }
    rig.shut_down().await
}

/// The conversation as the events tell it.
#[derive(Default)]
struct Told {
    items: usize,
    outcomes: usize,
    ends: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_announced_as_finished_is_in_the_journal_already() {
    let server = ModelServer::start(eventful());
    let mut told = Told::default();
    play(Rig::new(served(&server), plan()), |event, rig| {
        let wanted = match event {
            Event::Item(ItemEvent::Finished { item }) => {
                told.items += 1;
                json!({ "entry": "item", "item": { "id": item } })
            }
            Event::Tool(ToolEvent::Proposed { call, .. }) => json!({ "entry": "item", "item": { "id": call.id } }),
            Event::Tool(ToolEvent::Started { call }) => json!({ "entry": "started", "call": call }),
            Event::Tool(ToolEvent::Finished { call, outcome }) => {
                told.outcomes += 1;
                json!({ "entry": "outcome", "call": call, "outcome": outcome })
            }
            Event::Turn(TurnEvent::Started { turn, .. }) => json!({ "entry": "turn", "turn": turn }),
            Event::Turn(TurnEvent::StepStarted { step, .. }) => json!({ "entry": "step", "step": step }),
            Event::Turn(TurnEvent::StepEnded { step, end, .. }) => {
                told.ends += 1;
                json!({ "entry": "step_end", "step": step, "end": end })
            }
            Event::Turn(TurnEvent::Ended { turn, .. }) => json!({ "entry": "turn_end", "turn": turn }),
            _ => return,
        };
        let kept = entries(&rig.journals()[0]);
        assert!(kept.iter().any(|entry| holds(entry, &wanted)), "{event:?} is not there: {kept:#?}");
    })
    .await;
    assert_eq!((told.items, told.outcomes, told.ends), (5, 4, 4));
}

/// Whether a value has at least what another one has.
fn holds(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| holds(value, wanted)))
        }
        _ => value == wanted,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_on_has_the_same_conversation_and_continues_the_same_bytes() {
    let server = ModelServer::start(eventful());
    let home = play(Rig::new(served(&server), plan()), |_, _| {}).await;
    let before = bodies(&server);
    let resumed = resume(&journals(home.path())[0]);
    assert!(resumed.damaged.is_empty());
    let steps = &resumed.conversation.turns[0].steps;
    let ends: Vec<bool> = steps.iter().map(|step| step.end == Some(StepEnd::Complete)).collect();
    assert_eq!(ends, [true, false, false, true]);
    assert_eq!(steps[0].usage.input, 100);
    let server = ModelServer::start(vec![calling(&[echo("c1", "again")]), said("Yes.")]);
    let mut rig = Rig::in_home(home, served(&server), plan().allow_all(), Some(resumed));
    let shown = rig.until(|event| match event {
        Event::Session(SessionEvent::Opened { conversation, .. }) => Some(conversation.clone()),
        _ => None,
    });
    assert_eq!(shown.await.turns.len(), 1);
    rig.submit("And again").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    // The last request of the first run, its answer, and the new task.
    let after = bodies(&server);
    after[0].assert_continues(before.last().unwrap());
    // An id that the provider gave before is not used for another call.
    assert_eq!(after[1].roles(), format!("{} assistant tool", after[0].roles()));
    assert_eq!(journals(rig.home.path()).len(), 1, "it goes on in the same file");
    let home = rig.shut_down().await;
    assert_eq!(resume(&journals(home.path())[0]).conversation.turns.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_cut_off_anywhere_gives_a_sound_session() {
    let server = ModelServer::start(eventful());
    let home = play(Rig::new(served(&server), plan()), |_, _| {}).await;
    let whole = std::fs::read_to_string(&journals(home.path())[0]).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert!(lines.len() > 15, "{whole}");
    let asked = ModelServer::start_with(|_| said("On."));
    for kept in 1..=lines.len() {
        // Half a line follows: it is dropped.
        let half = lines.get(kept).map_or("", |line| &line[..line.len() / 2]);
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("sessions")).unwrap();
        let file = home.path().join("sessions/a.jsonl");
        std::fs::write(&file, lines[..kept].concat() + half).unwrap();
        let resumed = resume(&file);
        assert!(resumed.damaged.is_empty());
        sound(&resumed.conversation, &lines[..kept]);
        let mut rig = Rig::in_home(home, served(&asked), Plan::default(), Some(resumed));
        rig.submit("Go on").await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        let sent = bodies(&asked).pop().unwrap();
        assert!(sent.told().contains("<task>\nGo on\n</task>"), "{}", sent.told());
        let home = rig.shut_down().await;
        let turns = resume(&home.path().join("sessions/a.jsonl")).conversation.turns;
        assert_eq!(turns.last().unwrap().end, Some(TurnEnd::Done));
    }
}

/// Every call has an outcome that the lines bear out, and everything is closed.
fn sound(conversation: &Conversation, lines: &[&str]) {
    let entries: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |wanted: Value| entries.iter().any(|entry| holds(entry, &wanted));
    for turn in &conversation.turns {
        assert!(turn.end.is_some());
        for step in &turn.steps {
            assert!(step.end.is_some());
            let arrived = has(json!({ "entry": "reply", "step": step.id }));
            assert!(step.end != Some(StepEnd::Complete) || arrived, "a reply that had not arrived is in the history");
            for (call, outcome) in step.calls() {
                match outcome.expect("an outcome") {
                    ToolOutcome::Interrupted => assert!(has(json!({ "entry": "started", "call": call.id }))),
                    outcome if has(json!({ "entry": "outcome", "call": call.id, "outcome": outcome })) => {}
                    ToolOutcome::Cancelled => assert!(!has(json!({ "entry": "started", "call": call.id }))),
                    other => panic!("{other:?} came from nowhere"),
                }
            }
            for item in &step.items {
                assert!(
                    matches!(&item.body, ItemBody::Call { .. })
                        || has(json!({ "entry": "item", "item": { "id": item.id } }))
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_broke_off_in_a_call_says_that_it_may_have_run() {
    let server = ModelServer::start(vec![calling(&[("c1", "s__slow", json!({ "steps": 10_000 })), echo("c2", "x")])]);
    let slow = Plan::with(vec![fixture_server("s", &[])]).rule(mcpane::policy::Effect::Allow, "s:slow");
    let mut rig = Rig::new(served(&server), slow);
    rig.submit("Slowly").await;
    rig.approval().await;
    let slow = rig.calls()[0].id;
    if !rig.ran().contains(&slow) {
        rig.started(slow).await;
    }
    // What a crash leaves: the file as it is now.
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("sessions")).unwrap();
    let file = home.path().join("sessions/a.jsonl");
    std::fs::copy(&rig.journals()[0], &file).unwrap();
    rig.shut_down().await;
    let server = ModelServer::start(vec![said("I see.")]);
    let mut rig = Rig::in_home(home, served(&server), plan(), Some(resume(&file)));
    rig.submit("What now?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = body(&server, 1).await;
    assert_eq!(sent.roles(), "user assistant tool tool user");
    assert!(sent.result("c1").contains("may have had effects") && sent.result("c2").contains("nothing was done"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_in_one_folder_are_two_files_and_the_newest_free_one_goes_on() {
    let server =
        ModelServer::start_with(|request| said(if Body::new(request).raw.contains("first") { "One." } else { "Two." }));
    let home = tempfile::tempdir().unwrap();
    let mut first = Rig::in_home(home, served(&server), Plan::default(), None);
    first.submit("first").await;
    first.ended().await;
    let sessions = first.home.path().join("sessions");
    assert!(Journal::newest(&sessions, &Redactor::default()).unwrap().is_none(), "the only one is held");
    // A second program in the same folder.
    let other = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&sessions, other.path().join("sessions")).unwrap();
    let mut second = Rig::in_home(other, served(&server), Plan::default(), None);
    second.submit("second").await;
    second.ended().await;
    assert_eq!(journals(first.home.path()).len(), 2);
    second.shut_down().await;
    let found = free(|| Journal::newest(&sessions, &Redactor::default()).unwrap());
    assert_eq!(found.conversation.turns[0].input.text, "second", "not the one that a living process holds");
    drop(found);
    first.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_session_knows_nothing_of_the_old_one() {
    let server = ModelServer::start(vec![said("One."), said("Two.")]);
    let mut rig = Rig::new(served(&server), Plan::default());
    rig.submit("first").await;
    rig.ended().await;
    rig.op(Op::Session(SessionOp::New)).await;
    let conversation = rig.until(|event| match event {
        Event::Session(SessionEvent::Opened { conversation, .. }) => Some(conversation.clone()),
        _ => None,
    });
    assert_eq!(conversation.await, Conversation::default());
    rig.submit("second").await;
    rig.ended().await;
    let sent = bodies(&server);
    assert_eq!((sent[1].roles().as_str(), sent[1].raw.contains("first")), ("user", false));
    assert_eq!(rig.journals().len(), 2);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_new_session_begins_while_a_turn_runs() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), said("Done.")]);
    let mut rig = Rig::new(served(&server), plan());
    rig.submit("Do it").await;
    let (prompt, _) = rig.approval().await;
    rig.op(Op::Session(SessionOp::New)).await;
    rig.until(|event| matches!(event, Event::Notice(notice) if notice.text.key == "agent.busy").then_some(())).await;
    rig.approve(prompt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_draft_comes_back() {
    let server = ModelServer::start(vec![said("One.")]);
    let mut rig = Rig::new(served(&server), Plan::default());
    rig.submit("first").await;
    rig.ended().await;
    for text in ["half a th", "half a thought 想"] {
        rig.op(Op::Session(SessionOp::Draft { text: text.into() })).await;
    }
    let home = rig.shut_down().await;
    let resumed = resume(&journals(home.path())[0]);
    let mut rig = Rig::in_home(home, served(&server), Plan::default(), Some(resumed));
    let draft = rig.until(|event| match event {
        Event::Session(SessionEvent::Opened { draft, .. }) => Some(draft.clone()),
        _ => None,
    });
    assert_eq!(draft.await, "half a thought 想");
    rig.op(Op::Session(SessionOp::Draft { text: String::new() })).await;
    let home = rig.shut_down().await;
    assert_eq!(resume(&journals(home.path())[0]).draft, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_never_reach_the_journal() {
    let secret = "sk-verysecret-123456";
    let redactor = Redactor::default();
    redactor.register(secret);
    let text = format!("my key is {secret}");
    let server = ModelServer::start(vec![
        Chat::new()
            .text(&format!("You said {secret}."))
            .call(0, "c1", "s__echo", &json!({ "text": text }))
            .finish("tool_calls")
            .done(),
        said("Done."),
    ]);
    let mut rig = Rig::new(served(&server), Plan { redactor, ..plan().allow_all() });
    rig.submit(&text).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(result_text(&rig.outcomes()[0].1), text, "the tool gets it as it is");
    assert_eq!(body(&server, 2).await.result("c1"), text, "and so does the model");
    let kept = std::fs::read_to_string(&rig.journals()[0]).unwrap();
    assert!(kept.contains("my key is") && !kept.contains(secret), "{kept}");
    rig.shut_down().await;
}
