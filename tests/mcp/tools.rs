//! Lists of tools: odd ones, endless ones, hostile ones, and those that change.

use crate::rig::{Rig, reason};
use mcpane::domain::server::{ServerSignal, ServerState, Timeouts};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

async fn listed(args: &[&str]) -> (Rig, Vec<String>, Vec<(String, String)>) {
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", args)]);
    let (tools, rejected) = rig.tools("s").await;
    let names = tools.iter().map(|spec| spec.id.name.to_string()).collect();
    (rig, names, rejected)
}

#[tokio::test]
async fn one_malformed_tool_does_not_spoil_the_others() {
    let (rig, names, rejected) = listed(&["--list", "malformed"]).await;
    assert!(names.contains(&"echo".to_owned()) && names.contains(&"fault".to_owned()));
    // A bad hint or icon is only left out: it counts for nothing.
    assert!(names.contains(&"bad_hint".to_owned()) && names.contains(&"bad_icon".to_owned()));
    let bad: Vec<&str> = rejected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(bad, ["bad_schema", "#16", "echo", "#18"], "{rejected:?}");
    assert_eq!(rig.text("s", "echo", json!({ "text": "works" })).await, "works");
}

#[tokio::test]
async fn pages_are_joined_and_a_cursor_that_loops_is_cut() {
    let (rig, names, rejected) = listed(&["--list", "pages"]).await;
    assert_eq!((names.len(), rejected.len()), (12, 0));
    let cursors: Vec<_> = rig.received("s").into_iter().filter(|message| message["method"] == "tools/list").collect();
    assert_eq!((cursors.len(), &cursors[1]["params"]["cursor"]), (2, &json!("2")));
    let (_, names, rejected) = listed(&["--list", "loop"]).await;
    assert_eq!(names, ["again_0", "again_again"]);
    assert!(rejected.iter().any(|(name, why)| name == "tools/list" && why.contains("cursor")), "{rejected:?}");
}

#[tokio::test]
async fn hostile_text_is_kept_as_data_and_bounded() {
    let (rig, names, rejected) = listed(&["--list", "hostile"]).await;
    assert_eq!(names, ["\u{1b}]0;pwned\u{7}", "fine"]);
    assert_eq!(rejected.len(), 2);
    assert!(rejected.iter().all(|(name, why)| name.chars().count() <= 81 && why.len() < 200), "{rejected:?}");
    assert!(rig.mcp.tools(&"s".into())[0].description.contains('\u{202e}'), "cleaned where it is drawn");
}

#[tokio::test]
async fn a_thousand_tools() {
    let (_, names, _) = listed(&["--list", "many"]).await;
    assert_eq!((names.len(), names[999].as_str()), (1_000, "tool_999"));
}

#[tokio::test]
async fn schemas_keep_the_servers_order_and_definitions_have_a_hash() {
    let (rig, ..) = listed(&[]).await;
    let tools = rig.mcp.tools(&"s".into());
    let echo = tools.iter().find(|spec| &*spec.id.name == "echo").unwrap();
    assert_eq!(echo.input_schema.as_object().unwrap().keys().collect::<Vec<_>>(), ["type", "properties", "required"]);
    assert_eq!((echo.title.as_deref(), echo.annotations.read_only), (Some("Echo"), Some(true)));
    assert_eq!(echo.hash.len(), 64);
    assert!(tools.iter().filter(|spec| spec.hash == echo.hash).count() == 1);
    assert_eq!(echo.id.to_string(), "s:echo");
}

#[tokio::test]
async fn a_list_that_cannot_be_had_is_a_reason_and_calls_still_work() {
    for (list, says) in [("error", "the list is not available"), ("never", "within 1 s")] {
        let mut rig = Rig::new();
        let mut entry = rig.entry("s", &["--list", list]);
        entry.timeouts = Timeouts { list: 1, ..Timeouts::default() };
        rig.mcp.configure(vec![entry]);
        let status = rig.status("s", |status| status.state == ServerState::Ready && status.reason.is_some()).await;
        assert!(reason(&status).contains(says), "{}", reason(&status));
        assert_eq!(status.tools, None);
        assert_eq!(rig.text("s", "echo", json!({ "text": "x" })).await, "x");
    }
    let mut rig = Rig::new();
    rig.mcp.configure(vec![rig.entry("s", &["--list", "die", "--exit", "5"])]);
    assert!(reason(&rig.state("s", ServerState::Disconnected).await).contains("exit code 5"));
}

#[tokio::test]
async fn a_changed_list_is_read_again_and_remembered() {
    let mut rig = Rig::with(&[]).await;
    rig.drain();
    assert_eq!(rig.text("s", "change", json!({})).await, "changed");
    let (tools, _) = rig.tools("s").await;
    assert!(tools.iter().any(|spec| &*spec.id.name == "added"));
    rig.status("s", |status| status.tools == Some(tools.len())).await;
    rig.mcp.shutdown().await;
    let mut next = Rig::on(Arc::clone(&rig.dir));
    next.mcp.configure(vec![next.entry("s", &[])]);
    assert!(next.tools("s").await.0.iter().any(|spec| &*spec.id.name == "added"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(
        next.drain()
            .iter()
            .all(|signal| !matches!(signal, ServerSignal::Status(status) if status.state == ServerState::Starting))
    );
}
