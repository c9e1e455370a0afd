//! What servers ask of the user, and of the client.

use crate::rig::{Rig, failure, text};
use mcpane::domain::server::{ServerAsk, ServerSignal, Timeouts};
use mcpane::domain::{ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::{Value, json};
use std::time::Duration;

fn answers(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_form_arrives_raw_and_its_three_answers_are_three() {
    let mut rig = Rig::with(&[]).await;
    // Nested, with a format nobody knows: rmcp has no type for it.
    let schema = json!({
        "type": "object",
        "properties": { "zeta": { "type": "string", "format": "iban" }, "alpha": { "type": "object", "properties": { "x": { "type": "string" } } } },
        "required": ["zeta"]
    });
    let filled = json!({ "zeta": "DE1", "count": 3 }).as_object().unwrap().clone();
    for (answer, want) in [
        (AskAnswer::Accept(filled), json!({ "action": "accept", "content": { "zeta": "DE1", "count": 3 } })),
        (AskAnswer::Decline, json!({ "action": "decline" })),
        (AskAnswer::Cancel, json!({ "action": "cancel" })),
    ] {
        let call = rig.begin("s", "elicit", json!({ "message": "Who?", "schema": schema }));
        let signals = call.signals_handle();
        let (ask, of, what) = rig.asked().await;
        assert_eq!(of, Some(call.id));
        let ServerAsk::Form { message, schema: got } = what else { panic!() };
        assert_eq!((message.as_str(), got.to_string()), ("Who?", schema.to_string()), "in the server's order");
        rig.mcp.answer(ask, answer);
        // Late answers change nothing.
        rig.mcp.answer(ask, AskAnswer::Decline);
        assert_eq!(answers(&text(&call.end().await))[0]["result"], want);
        assert_eq!(*signals.lock().unwrap(), [ToolSignal::Started, ToolSignal::Suspended, ToolSignal::Resumed]);
    }
    rig.drain();
    assert!(!rig.seen.iter().any(|signal| matches!(signal, ServerSignal::AskWithdrawn { .. })));
}

#[tokio::test]
async fn several_questions_are_answered_by_their_own_numbers() {
    let mut rig = Rig::with(&[]).await;
    let call = rig.begin("s", "elicit", json!({ "message": "Q", "times": 2 }));
    let (mut one, mut two) = (rig.asked().await, rig.asked().await);
    if matches!(&one.2, ServerAsk::Form { message, .. } if message == "Q 2") {
        std::mem::swap(&mut one, &mut two);
    }
    rig.mcp.answer(two.0, AskAnswer::Decline);
    rig.mcp.answer(one.0, AskAnswer::Cancel);
    let got = answers(&text(&call.end().await));
    assert_eq!((&got[0]["result"]["action"], &got[1]["result"]["action"]), (&json!("cancel"), &json!("decline")));
}

#[tokio::test]
async fn with_two_calls_running_a_question_belongs_to_none() {
    let mut rig = Rig::with(&[]).await;
    let other = rig.begin("s", "slow", json!({ "steps": 1000 }));
    other.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    let call = rig.begin("s", "elicit", json!({}));
    let (ask, of, _) = rig.asked().await;
    assert_eq!(of, None);
    rig.mcp.answer(ask, AskAnswer::Cancel);
    assert_eq!(answers(&text(&call.end().await))[0]["result"]["action"], "cancel");
    other.cancel.cancel();
    assert_eq!(other.end().await, ToolOutcome::Interrupted);
}

#[tokio::test]
async fn while_the_user_thinks_the_call_does_not_time_out() {
    let mut rig = Rig::new();
    let mut entry = rig.entry("s", &[]);
    entry.timeouts = Timeouts { call: 1, elicit: 77, ..Timeouts::default() };
    rig.mcp.configure(vec![entry]);
    rig.ready("s").await;
    let call = rig.begin("s", "elicit", json!({}));
    let (ask, expires) = rig
        .until(|signal| match signal {
            ServerSignal::Asks { ask, expires_ms, .. } => Some((*ask, *expires_ms)),
            _ => None,
        })
        .await;
    assert_eq!(expires, 77_000);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    rig.mcp.answer(ask, AskAnswer::Decline);
    assert_eq!(answers(&text(&call.end().await))[0]["result"]["action"], "decline");
}

async fn withdrawn(rig: &mut Rig) {
    let (ask, ..) = rig.asked().await;
    let back = rig.until(|signal| match signal {
        ServerSignal::AskWithdrawn { ask } => Some(*ask),
        _ => None,
    });
    assert_eq!(back.await, ask);
    rig.mcp.answer(ask, AskAnswer::Visited);
}

#[tokio::test]
async fn questions_are_withdrawn_by_the_server_its_death_and_the_end_of_their_call() {
    let mut rig = Rig::with(&[]).await;
    let call = rig.begin("s", "take_back", json!({}));
    withdrawn(&mut rig).await;
    assert_eq!(text(&call.end().await), "taken back");

    let call = rig.begin("s", "elicit", json!({}));
    call.told(|signal| *signal == ToolSignal::Suspended).await;
    call.cancel.cancel();
    withdrawn(&mut rig).await;
    assert_eq!(call.end().await, ToolOutcome::Interrupted);

    let call = rig.begin("s", "elicit", json!({}));
    call.told(|signal| *signal == ToolSignal::Suspended).await;
    let began = std::time::Instant::now();
    let die = rig.call("s", "fault", json!({ "kind": "die" })).await;
    withdrawn(&mut rig).await;
    assert!(failure(&die).0.contains("42") && failure(&call.end().await).0.contains("42"));
    assert!(began.elapsed() < Duration::from_secs(2), "rmcp waits five seconds for handlers: {:?}", began.elapsed());
}

#[tokio::test]
async fn a_url_is_asked_for_as_a_link() {
    let mut rig = Rig::with(&[]).await;
    let call = rig.begin("s", "link", json!({ "url": "https://example.org/login" }));
    let (ask, _, what) = rig.asked().await;
    assert_eq!(what, ServerAsk::Link { message: "Please look".into(), url: "https://example.org/login".into() });
    rig.mcp.answer(ask, AskAnswer::Visited);
    assert_eq!(answers(&text(&call.end().await))["result"], json!({ "action": "accept" }));
}

#[tokio::test]
async fn roots_are_the_working_directories_and_sampling_is_refused() {
    let rig = Rig::with(&[]).await;
    let got = answers(&rig.text("s", "ask_client", json!({ "method": "roots/list" })).await);
    let root = &got["result"]["roots"][0];
    assert_eq!(root["uri"], url::Url::from_file_path(rig.dir.path()).unwrap().as_str());
    for method in ["sampling/createMessage", "no/such/method"] {
        let got = answers(&rig.text("s", "ask_client", json!({ "method": method })).await);
        assert_eq!(got["error"]["code"], -32601, "{got}");
    }
    let got = answers(&rig.text("s", "ask_client", json!({ "method": "ping" })).await);
    assert_eq!(got["result"], json!({}));
}

#[tokio::test]
async fn a_server_cannot_bury_the_user_in_questions() {
    let mut rig = Rig::with(&[]).await;
    let call = rig.begin("s", "elicit", json!({ "times": 40 }));
    let mut open = Vec::new();
    for _ in 0..16 {
        open.push(rig.asked().await.0);
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let asked = rig.drain().iter().filter(|signal| matches!(signal, ServerSignal::Asks { .. })).count();
    assert_eq!(asked, 16);
    for ask in open {
        rig.mcp.answer(ask, AskAnswer::Cancel);
    }
    let got = answers(&text(&call.end().await));
    let refused = got.as_array().unwrap().iter().filter(|answer| answer["error"]["code"] == -32603).count();
    assert_eq!(refused, 24);
}
