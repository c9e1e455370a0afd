//! Servers that start late, never, die, or go, and what the model is offered meanwhile.

use crate::body::{bodies, body};
use crate::calls::{calling, echo, said};
use crate::rig::{Plan, Rig, fixture_server, served};
use crate::sse_model::{Chat, ModelServer};
use mcpane::contract::{Event, Op, ToolEvent, TurnEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::server::{ServerAction, ServerSignal, ServerState};
use mcpane::domain::{ServerName, ToolOutcome};
use serde_json::json;
use std::time::{Duration, Instant};

fn holding(event: &Event) -> Option<Vec<ServerName>> {
    match event {
        Event::Turn(TurnEvent::Holding { servers, .. }) => Some(servers.clone()),
        _ => None,
    }
}

async fn state(rig: &mut Rig, name: &str, wanted: ServerState) {
    rig.until(|event| match event {
        Event::Server(ServerSignal::Status(status)) if status.name.as_str() == name && status.state == wanted => {
            Some(())
        }
        _ => None,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_waits_a_little_for_a_cold_server_and_offers_its_tools() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), said("Done.")]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![fixture_server("s", &["--delay", "400"])]).allow_all());
    rig.submit("Echo").await;
    assert_eq!(rig.until(holding).await, [ServerName::from("s")]);
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert!(sent[0].tool_names().contains(&"s__echo"), "{:?}", sent[0].tool_names());
    sent[1].assert_continues(&sent[0]);
    assert_eq!(rig.seen.iter().filter_map(holding).count(), 1);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_starts_is_waited_for_once_and_not_long() {
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), calling(&[echo("c2", "y")]), said("Done.")]);
    let mut hung = fixture_server("hung", &["--init", "never"]);
    hung.timeouts.init = 60;
    let mut rig = Rig::new(served(&server), Plan::with(vec![hung, fixture_server("s", &[])]).allow_all());
    let began = Instant::now();
    rig.submit("Echo").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    assert_eq!(rig.seen.iter().filter_map(holding).count(), 1, "not again with every request");
    let sent = bodies(&server);
    assert!(sent[0].tool_names().contains(&"s__echo"));
    assert!(sent[0].system().contains("# hung"), "the model is told that it is starting: {}", sent[0].system());
    assert_eq!(sent[2].result("c2"), "y");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_request_can_be_interrupted_and_one_that_fails_to_start_holds_nothing_up() {
    let server = ModelServer::start(vec![said("Yes.")]);
    let mut hung = fixture_server("hung", &["--init", "never"]);
    hung.timeouts.init = 60;
    let mut rig = Rig::new(served(&server), Plan::with(vec![hung]));
    rig.submit("One").await;
    rig.until(holding).await;
    rig.op(Op::Interrupt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Interrupted);
    assert!(bodies(&server).is_empty());
    // Taken out of the configuration, it no longer matters.
    rig.reconfigure(vec![fixture_server("dies", &["--init", "die"])]).await;
    state(&mut rig, "dies", ServerState::StartFailed).await;
    let began = Instant::now();
    rig.submit("Two").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(began.elapsed() < Duration::from_millis(2_500), "{:?}", began.elapsed());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_in_a_call_harms_no_other_and_comes_back() {
    let die = ("c1", "a__fault", json!({ "kind": "die" }));
    let server = ModelServer::start(vec![
        calling(&[die, ("c2", "b__slow", json!({ "steps": 20, "ms": 10 })), ("c3", "b__echo", json!({ "text": "b" }))]),
        said("It died."),
        calling(&[("c4", "a__echo", json!({ "text": "again" }))]),
        said("It is back."),
    ]);
    let plan = Plan::with(vec![fixture_server("a", &[]), fixture_server("b", &[])]).allow_all();
    let mut rig = Rig::new(served(&server), plan);
    rig.submit("Go").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let next = body(&server, 2).await;
    let told = next.result("c1");
    assert!(told.starts_with("The call failed and may have had effects.") && told.contains("42"), "{told}");
    assert!(told.contains("last words"), "its last lines are told: {told}");
    assert_eq!((next.result("c2").as_str(), next.result("c3").as_str()), ("slept", "b"));
    rig.op(Op::Server { server: "a".into(), action: ServerAction::Restart }).await;
    state(&mut rig, "a", ServerState::Ready).await;
    rig.submit("Again").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(body(&server, 4).await.result("c4"), "again");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_removed_server_are_not_offered_any_more() {
    let server = ModelServer::start(vec![
        calling(&[echo("c1", "x")]),
        said("Done."),
        calling(&[echo("c2", "x")]),
        said("Gone."),
    ]);
    let (s, t) = (fixture_server("s", &[]), fixture_server("t", &[]));
    let mut rig = Rig::new(served(&server), Plan::with(vec![s, t.clone()]).allow_all());
    rig.submit("One").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    // The very next request must know it.
    rig.reconfigure(vec![t]).await;
    rig.submit("Two").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    let sent = bodies(&server);
    assert!(sent[1].tool_names().contains(&"s__echo"));
    assert!(!sent[2].raw.contains("# s\\n") && !sent[2].tool_names().iter().any(|name| name.starts_with("s__")));
    assert!(sent[2].tool_names().contains(&"t__echo"));
    let told = sent[3].result("c2");
    assert!(told.contains("There is no tool") && told.contains("t__echo"), "{told}");
    // The call that was made when it was there is still the same in the history.
    assert_eq!(sent[3].history()[1], sent[1].history()[1]);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_to_a_server_that_is_starting_waits_visibly() {
    let entry = fixture_server("s", &["--delay", "300"]);
    let server = ModelServer::start(vec![said("Known.")]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![entry.clone()]));
    rig.submit("Hello").await;
    assert_eq!(rig.ended().await, TurnEnd::Done);
    let home = rig.shut_down().await;
    // The next start knows the tools without the server.
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), said("Done.")]);
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![entry]).allow_all(), None);
    state(&mut rig, "s", ServerState::Idle).await;
    rig.submit("Echo").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.seen.iter().find_map(holding).is_none());
    let call = rig.calls()[0].id;
    let at = |wanted: &Event| rig.seen.iter().position(|event| event == wanted).unwrap();
    let waits = at(&Event::Tool(ToolEvent::WaitingForServer { call, server: "s".into() }));
    assert!(waits < at(&Event::Tool(ToolEvent::Started { call })));
    assert_eq!(body(&server, 2).await.result("c1"), "x");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_server_cannot_start_fails_without_effects() {
    let server = ModelServer::start(vec![said("Known.")]);
    let entry = fixture_server("s", &[]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![entry.clone()]));
    rig.submit("Hello").await;
    assert_eq!(rig.ended().await, TurnEnd::Done);
    let home = rig.shut_down().await;
    // Known by its fingerprint, but it has become another program.
    let mut broken = fixture_server("s", &["--init", "die"]);
    broken.fingerprint = entry.fingerprint;
    let server = ModelServer::start(vec![calling(&[echo("c1", "x")]), said("Done.")]);
    let mut rig = Rig::in_home(home, served(&server), Plan::with(vec![broken]).allow_all(), None);
    rig.submit("Echo").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(matches!(rig.outcomes()[0].1, ToolOutcome::Failed { may_have_run: false, .. }), "{:?}", rig.outcomes());
    let told = body(&server, 2).await.result("c1");
    assert!(told.starts_with("The call failed and had no effect:"), "{told}");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_are_the_same_bytes_whatever_order_they_came_in() {
    let mut tools = Vec::new();
    for (one, two) in [("300", "0"), ("0", "300")] {
        let server =
            ModelServer::start(vec![calling(&[("c1", "b__change", json!({}))]), said("Changed."), said("Yes.")]);
        let servers = vec![fixture_server("b", &["--delay", one]), fixture_server("a", &["--delay", two])];
        let mut rig = Rig::new(served(&server), Plan::with(servers).allow_all());
        rig.submit("Change").await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        let new = |event: &Event| match event {
            Event::Tools { tools } => tools.iter().any(|tool| tool.id().to_string() == "b:added").then_some(()),
            _ => None,
        };
        if !rig.seen.iter().any(|event| new(event).is_some()) {
            rig.until(new).await;
        }
        rig.submit("More").await;
        rig.ended().await;
        let sent = bodies(&server);
        assert!(sent[2].tool_names().contains(&"b__added"), "a new tool is offered with the next request");
        assert!(sent[2].tool_names().is_sorted());
        tools.push((sent[0].tools().to_owned(), sent[2].tools().to_owned()));
        rig.shut_down().await;
    }
    assert_eq!(tools[0], tools[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dialect_can_change_in_the_middle_of_a_session() {
    use mcpane::domain::model::DialectKind;
    let xml = "<thinking>\nAgain.\n</thinking>\n<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>echo</tool_name>\n<arguments>\n{\"text\": \"y\"}\n</arguments>\n</use_mcp_tool>";
    let server = ModelServer::start(vec![
        calling(&[echo("c1", "x"), echo("c2", "z")]),
        said("Native."),
        Chat::new().words(xml).finish("stop").done(),
        Chat::new()
            .text("<attempt_completion>\n<result>\nXML.\n</result>\n</attempt_completion>")
            .finish("stop")
            .done(),
        said("Native again."),
    ]);
    let mut rig = Rig::new(served(&server), Plan::with(vec![fixture_server("s", &[])]).allow_all());
    for (dialect, text) in [(DialectKind::Native, "One"), (DialectKind::Xml, "Two"), (DialectKind::Native, "Three")] {
        rig.op(Op::UseDialect { dialect: Some(dialect) }).await;
        rig.submit(text).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    }
    let sent = bodies(&server);
    assert!(sent[2].json.get("tools").is_none());
    // In the XML dialect a message makes one call, also those made natively.
    assert_eq!(sent[2].roles(), "user assistant user assistant user assistant user");
    assert_eq!(sent[4].roles(), "user assistant tool tool assistant user assistant tool assistant user");
    rig.shut_down().await;
}
