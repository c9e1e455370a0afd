//! The Tour: the scripted model and the embedded server through the same loop as everything else.

use crate::rig::{Plan, Rig, demo, demo_server};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::model::DialectKind;
use mcpane::domain::policy::Preview;
use mcpane::domain::prompt::{Answer, PromptKind, Scope};
use serde_json::json;

const TASKS: [&str; 2] =
    ["What is the weather in New York tomorrow? Write it to result.md", "纽约明天的天气怎么样？把结果写入 result.md"];

#[tokio::test(flavor = "multi_thread")]
async fn weather_to_a_file_in_both_languages_and_dialects() {
    for dialect in [DialectKind::Native, DialectKind::Xml] {
        for task in TASKS {
            let plan = Plan { dialect: Some(dialect), servers: vec![demo_server()], ..Plan::default() };
            let mut rig = Rig::new(demo(), plan);
            rig.submit(task).await;
            let call = rig.approve_next().await;
            assert_eq!(call.shown_name(), "demo:get_forecast", "{task}");
            assert_eq!(call.arguments, json!({ "latitude": 41.7128, "longitude": -74.006 }));
            let prompt = rig.prompt().await;
            let PromptKind::Approval(approval) = prompt.kind else { panic!("{:?}", prompt.kind) };
            assert_eq!(approval.call.shown_name(), "write_to_file");
            assert!(matches!(approval.check.preview, Preview::Diff(diff) if !diff.exists && diff.added > 0));
            rig.answer(prompt.id, Answer::Approve { scope: Scope::Once, version: None }).await;
            assert_eq!(rig.ended().await, TurnEnd::Done);
            let written = std::fs::read_to_string(rig.work().join("result.md")).unwrap();
            assert!(written.contains("24"), "{written}");
            assert!(rig.answers().contains("result.md"), "{}", rig.answers());
            rig.shut_down().await;
        }
    }
}
