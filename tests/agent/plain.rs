//! An agent as other programs make one: defaults for everything, and tools of their own.

use crate::rig::{fixture_server, served};
use crate::sse_model::{Chat, ModelServer};
use futures::FutureExt;
use futures::future::BoxFuture;
use mcpane::agent::{Kit, spawn};
use mcpane::contract::{Event, Op, PromptEvent, SessionEvent, ToolEvent, TurnEvent};
use mcpane::domain::policy::{Facts, Preview};
use mcpane::domain::prompt::{Answer, PromptKind, Scope};
use mcpane::domain::tool::{Annotations, Risk};
use mcpane::domain::{ToolId, ToolOutcome, ToolSpec, UserInput};
use mcpane::schema::definition_hash;
use mcpane::tools::{Inspection, Invocation, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

struct Own(Arc<ToolSpec>);

impl Own {
    fn new(name: &str) -> Arc<Self> {
        let schema = json!({ "type": "object", "properties": { "sides": { "type": "integer" } } });
        let annotations = Annotations::default();
        let hash = definition_hash(name, "Its own.", &schema, None, &annotations);
        Arc::new(Self(Arc::new(ToolSpec {
            id: ToolId::builtin(name),
            title: None,
            description: "Its own.".into(),
            input_schema: Arc::new(schema),
            output_schema: None,
            annotations,
            risk: Risk::External,
            hash,
        })))
    }
}

impl Tool for Own {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }
    fn inspect<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Inspection> {
        async { Inspection { facts: Facts::default(), preview: Preview::Arguments, warnings: Vec::new() } }.boxed()
    }
    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        async move { ToolOutcome::text(format!("4 of {}", call.arguments["sides"])) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_own_tool_and_a_server_are_called_like_any_other() {
    let calls = Chat::new()
        .call(0, "a", "roll_dice", &json!({ "sides": 6 }))
        .call(1, "b", "s__echo", &json!({ "text": "hi" }))
        .finish("tool_calls");
    let model = ModelServer::start(vec![calls.done(), Chat::new().text("four").finish("stop").done()]);
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().join("work");
    std::fs::create_dir(&cwd).unwrap();
    let mut kit =
        Kit::plain(&cwd, &folder.path().join("state"), served(&model)).with_servers(vec![fixture_server("s", &[])]);
    // A built-in keeps its name.
    kit.setting.tools = vec![Own::new("roll_dice"), Own::new("read_file")];
    let mut agent = spawn(kit).unwrap();
    agent.ops.send(Op::Submit { input: UserInput::text("roll") }).await.unwrap();
    let (mut asked, mut results) = (Vec::new(), Vec::new());
    while let Some(event) = agent.events.recv().await {
        match event {
            Event::Prompt(PromptEvent::Opened { prompt }) => {
                let PromptKind::Approval(approval) = &prompt.kind else { panic!("{prompt:?}") };
                asked.push(approval.spec.id.to_string());
                let answer = Answer::Approve { scope: Scope::Once, version: None };
                agent.ops.send(Op::Answer { prompt: prompt.id, answer }).await.unwrap();
            }
            Event::Tool(ToolEvent::Finished { outcome: ToolOutcome::Done { content, .. }, .. }) => {
                results.push(content[0].to_plain());
            }
            Event::Turn(TurnEvent::Ended { .. }) => agent.ops.send(Op::Shutdown).await.unwrap(),
            Event::Session(SessionEvent::Closed) => break,
            _ => {}
        }
    }
    agent.task.await.unwrap();
    asked.sort();
    results.sort();
    assert_eq!(asked, ["roll_dice", "s:echo"]);
    assert_eq!(results, ["4 of 6", "hi"]);
    let body = model.requests_now()[0].json().to_string();
    assert!(body.contains("roll_dice") && !body.contains("\"Its own.\",\"name\":\"read_file\""), "{body}");
}
