//! The embedded demo server as a process, through the client: what the Tour does.

use crate::rig::{Rig, entry, fixture, text};
use mcpane::domain::server::{ServerAsk, ServerSignal, Transport};
use mcpane::domain::{Content, ToolOutcome, ToolSignal};
use mcpane::mcp::AskAnswer;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

async fn demo() -> Rig {
    let mut rig = Rig::new();
    let command = fixture().display().to_string();
    let transport = Transport::Stdio { command, args: vec!["demo-server".into()], env: Vec::new(), cwd: None };
    rig.mcp.configure(vec![entry("demo", transport)]);
    rig.ready("demo").await;
    rig
}

#[tokio::test]
async fn its_tools_are_whole() {
    let rig = demo().await;
    let tools = rig.mcp.tools(&"demo".into());
    let names: Vec<&str> = tools.iter().map(|spec| &*spec.id.name).collect();
    assert_eq!(
        names,
        ["get_forecast", "get_alerts", "get_memory_usage", "read_hosts_file", "deploy", "register", "slow_job"]
    );
    let properties = tools[0].input_schema["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["latitude", "longitude"], "the order survives rmcp's types");
    assert!(tools[0].output_schema.is_some());
    let ToolOutcome::Done { content, .. } =
        rig.call("demo", "get_forecast", json!({ "latitude": 41.7128, "longitude": -74.006 })).await
    else {
        panic!()
    };
    assert!(content[0].to_plain().contains("Tomorrow: 24 °C, clear"));
    assert!(matches!(&content[1], Content::Json { value } if value["sample"] == true));
    let note = rig.mcp.read_resource(&"demo".into(), "note://welcome", CancellationToken::new()).await.unwrap();
    assert!(note[0].to_plain().contains("# Welcome"));
}

#[tokio::test]
async fn register_asks_for_every_kind_of_field_in_order_and_reports_what_it_got() {
    let mut rig = demo().await;
    let call = rig.begin("demo", "register", json!({}));
    let (ask, of, what) = rig.asked().await;
    assert_eq!(of, Some(call.id));
    let ServerAsk::Form { schema, .. } = what else { panic!() };
    let properties = schema["properties"].as_object().unwrap();
    let order: Vec<&str> = properties.keys().map(String::as_str).collect();
    assert_eq!(
        order,
        [
            "username",
            "display_name",
            "email",
            "website",
            "birthday",
            "appointment",
            "age",
            "height",
            "newsletter",
            "plan",
            "role",
            "size",
            "interests",
            "channels",
            "about"
        ]
    );
    let any = |test: fn(&Value) -> bool| properties.values().any(test);
    assert!(any(|field| field["pattern"].is_string() && field["minLength"].is_u64()));
    for format in ["email", "uri", "date", "date-time"] {
        assert!(properties.values().any(|field| field["format"] == format), "{format}");
    }
    assert!(any(|f| f["type"] == "integer") && any(|f| f["type"] == "number") && any(|f| f["type"] == "boolean"));
    assert!(
        any(|f| f["oneOf"].is_array())
            && any(|f| f["enumNames"].is_array())
            && any(|f| f["enum"].is_array() && f["enumNames"].is_null())
    );
    assert!(any(|f| f["items"]["enum"].is_array() && f["maxItems"] == 3) && any(|f| f["items"]["anyOf"].is_array()));
    let filled =
        json!({ "username": "octocat", "role": "ops", "age": 30, "interests": ["books"], "newsletter": false });
    rig.mcp.answer(ask, AskAnswer::Accept(filled.as_object().unwrap().clone()));
    let said = text(&call.end().await);
    assert!(said.contains(&format!("Received: {filled}\n")), "{said}");
}

#[tokio::test]
async fn deploy_tells_decline_from_cancel() {
    let mut rig = demo().await;
    for (answer, says) in [(AskAnswer::Decline, "declined"), (AskAnswer::Cancel, "cancelled")] {
        let call = rig.begin("demo", "deploy", json!({ "service": "shop" }));
        let (ask, _, what) = rig.asked().await;
        assert!(matches!(&what, ServerAsk::Form { message, .. } if message.contains("shop")));
        rig.mcp.answer(ask, answer);
        assert!(text(&call.end().await).contains(says));
    }
}

#[tokio::test]
async fn slow_job_tells_its_progress_and_can_be_cancelled() {
    let mut rig = demo().await;
    let call = rig.begin("demo", "slow_job", json!({ "seconds": 0.2, "steps": 4 }));
    let signals = call.signals_handle();
    assert!(text(&call.end().await).contains("4 steps"));
    let progress: Vec<f64> = signals
        .lock()
        .unwrap()
        .iter()
        .filter_map(|signal| if let ToolSignal::Progress(progress) = signal { Some(progress.done) } else { None })
        .collect();
    assert_eq!(progress, [1.0, 2.0, 3.0, 4.0]);
    let call = rig.begin("demo", "slow_job", json!({ "seconds": 100, "steps": 1000 }));
    call.told(|signal| matches!(signal, ToolSignal::Progress(_))).await;
    call.cancel.cancel();
    assert_eq!(call.end().await, ToolOutcome::Interrupted);
    assert!(rig.text("demo", "get_alerts", json!({ "state": "NY" })).await.contains("no alerts"));
    rig.mcp.shutdown().await;
    assert!(!rig.drain().iter().any(|signal| matches!(signal, ServerSignal::Stderr { .. })));
}
