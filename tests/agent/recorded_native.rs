//! The native loop against recorded replies of real small models: what runs, what is asked, and the bytes of the next request.

use crate::body::bodies;
use crate::offices::{offices, played, recorded, recording};
use crate::rig::{Plan, Rig, local};
use crate::sse_model::{Chat, ModelServer, Pace, Reply};
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, ToolEvent, TurnEvent};
use mcpane::domain::ToolOutcome;
use mcpane::domain::conversation::{StepEnd, TurnEnd};
use mcpane::domain::model::FinishReason;
use mcpane::domain::prompt::{Choose, Decision};
use serde_json::json;

fn rig(server: &ModelServer) -> Rig {
    let home = tempfile::tempdir().unwrap();
    let plan = Plan::with(offices(home.path()));
    Rig::in_home(home, local(server), plan, None)
}

fn done(text: &str) -> Reply {
    Chat::new().text(text).finish("stop").done()
}

fn ends(rig: &Rig) -> Vec<(StepEnd, Option<FinishReason>)> {
    let pick = |event: &Event| match event {
        Event::Turn(TurnEvent::StepEnded { end, reason, .. }) => Some((end.clone(), reason.clone())),
        _ => None,
    };
    rig.seen.iter().filter_map(pick).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_of_one_reply_are_answered_each_by_its_own_id() {
    let server = ModelServer::start(vec![
        played("qwen1.5b-host.b_tools_parallel", Pace::Scaled(0.3)),
        recorded("qwen1.5b-host.b_tools_result"),
    ]);
    let mut rig = rig(&server);
    rig.submit("What is the weather in Oslo and in Paris tomorrow?").await;
    let (oslo, one) = rig.approval().await;
    let (paris, two) = rig.approval().await;
    assert_eq!((&one.arguments["city"], &two.arguments["city"]), (&json!("Oslo"), &json!("Paris")));
    // The other way round.
    rig.approve(paris).await;
    rig.outcome(two.id).await;
    rig.approve(oslo).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user assistant tool tool");
    sent[1].assert_continues(&sent[0]);
    insta::assert_snapshot!("native_parallel", sent[1].shown());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_at_its_recorded_pace() {
    let server = ModelServer::start(vec![
        played("qwen1.5b-host.b_tools_required", Pace::Recorded),
        recorded("qwen1.5b-host.b_tools_result"),
    ]);
    let mut rig = rig(&server);
    rig.submit("What is the weather forecast for Oslo for the next 2 days?").await;
    let call = rig.approve_next().await;
    let writing = rig.seen.iter().filter(|event| matches!(event, Event::Tool(ToolEvent::Writing { .. }))).count();
    assert!(writing > 2, "its growing was told");
    assert_eq!(call.arguments, json!({ "city": "Oslo", "days": 2 }));
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.answers().starts_with("The weather forecast for Oslo"));
    insta::assert_snapshot!("native_call", bodies(&server)[1].shown());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_loops_of_small_models() {
    for (name, task, answer) in [
        ("one", "What does the file notes/b.txt say?", "The file notes/b.txt says: Buy milk and two lemons."),
        ("error", "Read the file notes/z.txt. If it does not exist, say so.", "The file notes/z.txt does not exist."),
    ] {
        let name = format!("qwen1.5b-host.loop-native-{name}");
        let server = ModelServer::start(vec![recorded(&format!("{name}.turn1")), recorded(&format!("{name}.turn2"))]);
        let mut rig = rig(&server);
        rig.submit(task).await;
        rig.approve_next().await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done, "{name}");
        assert_eq!(rig.answers(), answer);
        insta::assert_snapshot!(format!("native_{name}"), bodies(&server)[1].shown());
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn thirteen_identical_calls_run_once() {
    // As recorded but for the reason of its end: see the next test.
    let whole = recording("qwen1.5b-host.loop-native.turn1");
    assert!(whole.contains("\"finish_reason\":\"length\""));
    let whole = whole.replace("\"finish_reason\":\"length\"", "\"finish_reason\":\"tool_calls\"");
    let server = ModelServer::start(vec![Reply::sse(whole), recorded("qwen1.5b-host.loop-native.turn2")]);
    let mut rig = rig(&server);
    rig.submit("List the folder notes, then read the file c.txt in it, and tell me the gate code.").await;
    assert_eq!(rig.approve_next().await.shown_name(), "files:list_folder");
    assert_eq!(rig.approve_next().await.shown_name(), "files:read_file");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!((rig.calls().len(), rig.ran().len()), (14, 2));
    let first = rig.calls()[1].id;
    let same = rig.outcomes().iter().filter(|(_, outcome)| *outcome == ToolOutcome::SameAs { call: first }).count();
    assert_eq!(same, 12);
    assert_eq!(rig.answers(), "The garden gate code is 4417.");
    insta::assert_snapshot!("native_thirteen_identical", bodies(&server)[1].shown());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_cut_off_in_the_middle_of_a_call_runs_nothing() {
    let server = ModelServer::start(vec![recorded("qwen0.5b-host.b_tools_auto"), done("I cannot.")]);
    let home = tempfile::tempdir().unwrap();
    let plan = Plan::with(offices(home.path())).allow_all();
    let mut rig = Rig::in_home(home, local(&server), plan, None);
    rig.submit("Do something.").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.ran().is_empty());
    assert!(rig.outcomes().iter().all(|(_, outcome)| *outcome == ToolOutcome::Cancelled));
    let abandoned = rig.seen.iter().any(|event| matches!(event, Event::Tool(ToolEvent::Abandoned { .. })));
    assert!(abandoned, "the card of the half call goes");
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user", "nothing of the reply is in the history");
    sent[1].assert_continues(&sent[0]);
    insta::assert_snapshot!("native_cut_off", sent[1].shown());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_ended_at_its_limit_after_whole_calls_runs_them() {
    // Fourteen calls, the last twelve of them the same; the limit of tokens came after the brace of the last.
    let server = ModelServer::start(vec![recorded("qwen1.5b-host.loop-native.turn1"), done("I see.")]);
    let home = tempfile::tempdir().unwrap();
    let plan = Plan::with(offices(home.path())).allow_all();
    let mut rig = Rig::in_home(home, local(&server), plan, None);
    rig.submit("Do something.").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.outcomes().len(), 14);
    assert_eq!(rig.ran().len(), 2, "each that is not the same as one before it");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_alone_is_reminded_twice_and_then_the_user_decides() {
    let thought = |pace| played("qwen0.5b-host.c_think_chat", pace);
    let server = ModelServer::start(vec![
        thought(Pace::Recorded),
        thought(Pace::AtOnce),
        thought(Pace::AtOnce),
        thought(Pace::AtOnce),
        done("9"),
    ]);
    let mut rig = rig(&server);
    rig.submit("A farmer has 17 sheep. All but 9 run away. How many are left?").await;
    let (prompt, decision) = rig.decision().await;
    assert_eq!(decision, Decision::OffFormat);
    assert_eq!(rig.texts(TextKind::Thinking).matches("The farmer has 17 sheep").count(), 3);
    let sent = bodies(&server);
    assert_eq!(sent.len(), 3);
    assert!(sent.iter().all(|body| body.roles() == "user" && !body.raw.contains("17 - 9")));
    insta::assert_snapshot!("native_reasoning_reminded", sent[1].shown());
    // Going on gives it the same chances again.
    rig.choose(prompt.id, Choose::Continue).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!((rig.answers().as_str(), bodies(&server).len()), ("9", 5));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_reached_the_limit_is_an_answer_and_says_so() {
    let server = ModelServer::start(vec![played("qwen1.5b-host.f_max_tokens", Pace::Recorded), done("On.")]);
    let mut rig = rig(&server);
    rig.submit("Count to two hundred.").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.answers().ends_with("nineteen, twenty,"));
    assert_eq!(ends(&rig), [(StepEnd::Complete, Some(FinishReason::Length))]);
    rig.submit("Go on.").await;
    assert_eq!(rig.ended().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user assistant user");
    sent[1].assert_continues(&sent[0]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_with_a_status_end_the_turn_in_the_providers_words() {
    let body = |name: &str| recording(name);
    let said = |name: &str| {
        std::fs::read_to_string(format!("{}/tests/fixtures/recordings/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    // Only a refusal that speaks of tools is tried out in other ways.
    for (status, text, key, message) in [
        (400, body("qwen0.5b-host.g_bad_request"), "model.error.bad_request", "Expected 'messages' to be an array"),
        (
            400,
            body("qwen0.5b-host.g_context_overflow"),
            "model.error.context_overflow",
            "exceeds the available context size (16384 tokens)",
        ),
        (401, said("server.401.json"), "model.error.auth", "Invalid API Key"),
        (404, said("server.404.json"), "model.error.not_found", "File Not Found"),
    ] {
        let refused = Reply::status(status, &[("content-type", "application/json")], text);
        let server = ModelServer::start(vec![refused, done("Now it works.")]);
        let mut rig = rig(&server);
        rig.submit("Hello").await;
        let TurnEnd::Failed { problem } = rig.ended_unasked().await else { panic!("{}", rig.story()) };
        assert_eq!(problem.key, key);
        assert!(problem.args[0].1.contains(message), "{problem:?}");
        assert_eq!(bodies(&server).len(), 1);
        // The next task goes to the model as if nothing had been, and says that this one was not finished.
        rig.submit("Hello again").await;
        assert_eq!(rig.ended().await, TurnEnd::Done);
        let sent = bodies(&server).swap_remove(1);
        assert_eq!(sent.roles(), "user");
        assert!(!sent.tools().is_empty() && sent.told().contains("[This task was not finished.]"), "{}", sent.told());
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_while_the_prompt_is_read_are_a_sign_of_life() {
    let server = ModelServer::start(vec![played("qwen0.5b-host.g_keepalive", Pace::Scaled(0.004))]);
    let mut rig = rig(&server);
    rig.submit("Read all this.").await;
    rig.until(|event| matches!(event, Event::Turn(TurnEvent::Alive { .. })).then_some(())).await;
    assert_eq!(rig.answers(), "");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(!rig.answers().is_empty());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_stream_is_understood() {
    let server = ModelServer::start(vec![recorded("qwen1.5b-host.g_no_stream_tools"), done("Snow.")]);
    let mut rig = rig(&server);
    rig.submit("What is the weather forecast for Oslo for the next 2 days?").await;
    let call = rig.approve_next().await;
    assert_eq!(call.shown_name(), "weather:get_forecast");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(bodies(&server)[1].roles(), "user assistant tool");
    rig.shut_down().await;
}
