//! The seed's two examples in every dialect, changing the dialect in mid-session, calls recovered from text, and climbing down.

use crate::body::{bodies, body};
use crate::offices::{offices, recorded};
use crate::rig::{Plan, Rig, canned_server, local, served};
use crate::sse_model::{Chat, ModelServer, Reply};
use mcpane::contract::op::SessionOp;
use mcpane::contract::{Event, Op, SessionEvent};
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::model::{DialectKind, PromptPlace};
use mcpane::domain::prompt::{Choose, Decision};
use mcpane::domain::server::ServerEntry;
use mcpane::domain::{Notice, Origin};
use serde_json::{Value, json};
use std::path::Path;

const PLACE: &str = "{\"latitude\": 41.7128, \"longitude\": -74.006}";

/// The server `weather` of the seed.
fn weather(home: &Path) -> ServerEntry {
    let schema = json!({ "type": "object", "properties": { "latitude": { "type": "number" }, "longitude": { "type": "number" } },
        "required": ["latitude", "longitude"] });
    let tool = json!({ "name": "get_forecast", "description": "Get the weather forecast.", "inputSchema": schema });
    canned_server("weather", home, &json!({ "tools": [tool], "results": { "get_forecast": [[null, "24 °C, clear"]] } }))
}

fn rig(server: &ModelServer, dialect: Option<DialectKind>) -> Rig {
    let home = tempfile::tempdir().unwrap();
    let plan = Plan { dialect, ..Plan::with(vec![weather(home.path())]) };
    Rig::in_home(home, local(server), plan, None)
}

fn text(text: &str) -> Reply {
    Chat::new().words(text).finish("stop").done()
}

/// A call of the seed as a model writes it in this dialect: the name natively, elsewhere as it is taught.
fn calling(dialect: DialectKind, thought: &str, server: Option<&str>, tool: &str, arguments: &Value) -> Reply {
    let wire = server.map_or_else(|| tool.to_owned(), |server| format!("{server}__{tool}"));
    match dialect {
        DialectKind::Native => Chat::new().call(0, "c", &wire, arguments).finish("tool_calls").done(),
        DialectKind::Xml => {
            let call = if let Some(server) = server {
                format!(
                    "<use_mcp_tool>\n  <server_name>{server}</server_name>\n  <tool_name>{tool}</tool_name>\n  \
                     <arguments>{arguments}</arguments>\n</use_mcp_tool>"
                )
            } else {
                let field =
                    |(name, value): (&String, &Value)| format!("<{name}>{}</{name}>\n", value.as_str().unwrap());
                let fields: String = arguments.as_object().unwrap().iter().map(field).collect();
                format!("<{tool}>\n{fields}</{tool}>")
            };
            text(&format!("<thinking>{thought}</thinking>\n{call}"))
        }
        DialectKind::React => {
            text(&format!("Thought: {thought}\nAction: {wire}\nAction Input: {arguments}\nObservation: invented"))
        }
        DialectKind::Json => text(&json!({ "thought": thought, "tool": wire, "arguments": arguments }).to_string()),
    }
}

fn answering(dialect: DialectKind, said: &str) -> Reply {
    text(&match dialect {
        DialectKind::Native => said.to_owned(),
        DialectKind::Xml => format!("<attempt_completion>\n<result>\n{said}\n</result>\n</attempt_completion>"),
        DialectKind::React => format!("Final Answer: {said}"),
        DialectKind::Json => json!({ "answer": said }).to_string(),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seeds_examples_in_every_dialect_and_both_languages() {
    let languages = [
        [
            "What will the weather be in New York tomorrow? Write it to result.md",
            "I need the weather.",
            "Now the file.",
            "24 °C",
            "Done.",
        ],
        [
            "纽约明天的天气怎么样？把结果写入到 result.md 文件中",
            "我需要获取纽约的天气",
            "任务还没有完成，要写文件。",
            "明天 24 ℃",
            "任务已完成。",
        ],
    ];
    for (_, dialect) in DialectKind::NAMES {
        for [task, first, second, content, said] in languages {
            let place: Value = serde_json::from_str(PLACE).unwrap();
            let server = ModelServer::start(vec![
                calling(dialect, first, Some("weather"), "get_forecast", &place),
                calling(dialect, second, None, "write_to_file", &json!({ "path": "result.md", "content": content })),
                // Without a thought before the end, as the seed saw it.
                answering(dialect, said),
                answering(dialect, said),
            ]);
            let mut rig = rig(&server, Some(dialect));
            rig.submit(task).await;
            let call = rig.approve_next().await;
            assert_eq!((call.shown_name().as_str(), &call.arguments), ("weather:get_forecast", &place));
            assert_eq!(rig.approve_next().await.shown_name(), "write_to_file");
            assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
            assert_eq!(rig.answers(), said, "{dialect:?}");
            let written = std::fs::read_to_string(rig.work().join("result.md")).unwrap();
            assert_eq!(written.trim_end(), content);
            rig.submit("?").await;
            assert_eq!(rig.ended().await, TurnEnd::Done);
            let sent = bodies(&server);
            sent.windows(2).for_each(|pair| pair[1].assert_continues(&pair[0]));
            assert!(!sent[3].raw.contains("invented"));
            shown(dialect, &sent[3].json["messages"], [first, second, content, said]);
            rig.shut_down().await;
        }
    }
}

/// The messages of the whole task, byte for byte.
fn shown(dialect: DialectKind, messages: &Value, [first, second, content, said]: [&str; 4]) {
    let told = |index: usize| messages[index]["content"].as_str().unwrap_or_default();
    match dialect {
        DialectKind::Native => assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "weather__get_forecast"),
        DialectKind::Xml => {
            assert!(told(2).starts_with(&format!("<thinking>\n{first}\n</thinking>\n\n<use_mcp_tool>\n")));
        }
        DialectKind::React => {
            assert_eq!(told(2), format!("Thought: {first}\nAction: weather__get_forecast\nAction Input: {PLACE}"));
            assert_eq!(told(3), "Observation: 24 °C, clear");
            let input = format!("{{\"path\": \"result.md\", \"content\": {}}}", Value::from(content));
            assert_eq!(told(4), format!("Thought: {second}\nAction: write_to_file\nAction Input: {input}"));
            assert_eq!(told(6), format!("Final Answer: {said}"));
        }
        DialectKind::Json => {
            let call = format!(
                "{{\"thought\": {}, \"tool\": \"weather__get_forecast\", \"arguments\": {PLACE}}}",
                Value::from(first)
            );
            assert_eq!((told(2), told(3)), (call.as_str(), "[weather__get_forecast] Result:\n24 °C, clear"));
            assert_eq!(told(6), format!("{{\"answer\": {}}}", Value::from(said)));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dialect_changes_in_mid_session_and_the_past_is_told_in_the_new_one() {
    let place: Value = serde_json::from_str(PLACE).unwrap();
    let order = [DialectKind::Native, DialectKind::Json, DialectKind::Xml, DialectKind::React];
    let script = order.iter().flat_map(|dialect| {
        [calling(*dialect, "T", Some("weather"), "get_forecast", &place), answering(*dialect, "It will be 24 °C.")]
    });
    let server = ModelServer::start(script.collect());
    let mut rig = rig(&server, None);
    for (number, dialect) in (1..).zip(order) {
        rig.op(Op::UseDialect { dialect: Some(dialect) }).await;
        rig.submit("Weather?").await;
        rig.approve_next().await;
        assert_eq!(rig.ended().await, TurnEnd::Done, "{dialect:?}");
        let sent = body(&server, 2 * number).await;
        let history = Value::from(sent.history().to_vec()).to_string();
        let count = |part: &str| history.matches(part).count();
        // As many examples of this dialect as there were calls, and none of any other.
        let examples = [
            (DialectKind::Native, count("\"tool_calls\"")),
            (DialectKind::Json, count("\\\"tool\\\": \\\"weather__get_forecast\\\"")),
            (DialectKind::Xml, count("<tool_name>get_forecast</tool_name>")),
            (DialectKind::React, count("Action: weather__get_forecast")),
        ];
        for (kind, found) in examples {
            assert_eq!(found, if kind == dialect { number } else { 0 }, "{kind:?} in {dialect:?}: {history}");
        }
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_replies_are_reminded_twice_and_then_the_user_decides() {
    let broken = [
        (
            DialectKind::React,
            "Thought: I should do something.",
            "neither an action nor a final answer",
            "Action Input: {",
        ),
        (
            DialectKind::Json,
            "{\"thought\": \"I should do something.\"}",
            "holds neither",
            "\"tool\": \"the name of one tool\"",
        ),
    ];
    for (dialect, reply, problem, form) in broken {
        let server = ModelServer::start(vec![text(reply), text(reply), text(reply), answering(dialect, "Hello.")]);
        let mut rig = rig(&server, Some(dialect));
        rig.submit("Hello").await;
        let (prompt, decision) = rig.decision().await;
        assert_eq!(decision, Decision::OffFormat);
        let sent = bodies(&server);
        assert_eq!(sent.len(), 3, "two reminders, no third");
        assert!(sent[1].told().contains(problem) && sent[1].told().contains(form), "{}", sent[1].told());
        rig.choose(prompt.id, Choose::Continue).await;
        assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
        rig.shut_down().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_written_as_text_is_recovered_asks_and_is_a_call_in_history() {
    let server = ModelServer::start(vec![
        recorded("qwen1.5b-stock.b_tools_auto"),
        text("It will snow."),
        recorded("qwen1.5b-stock.b_tools_none_needed"),
    ]);
    let home = tempfile::tempdir().unwrap();
    // Everything is allowed, but not what was recovered.
    let plan = Plan::with(offices(home.path())).allow_all();
    let mut rig = Rig::in_home(home, local(&server), plan, None);
    rig.submit("What is the weather forecast for Oslo for the next 2 days?").await;
    let (prompt, call) = rig.approval().await;
    assert_eq!((call.shown_name().as_str(), call.origin), ("weather:get_forecast", Origin::Recovered));
    assert_eq!(call.arguments, json!({ "city": "Oslo", "days": 2 }));
    rig.approve(prompt).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.answers(), "It will snow.", "the text of the call is no answer");
    let sent = bodies(&server);
    assert_eq!(sent[1].roles(), "user assistant tool");
    let made = &sent[1].history()[1];
    assert_eq!(made["tool_calls"][0]["function"]["name"], "weather__get_forecast");
    assert!(!sent[1].raw.contains("```json"), "{}", sent[1].raw);
    // A tool that is not offered is not recovered: what the model wrote is an answer.
    rig.submit("Say hello in French.").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(rig.answers().contains("greetings__say_hello") && rig.calls().len() == 1);
    rig.shut_down().await;
}

fn dialects(rig: &Rig) -> Vec<DialectKind> {
    let pick = |event: &Event| match event {
        Event::Session(SessionEvent::Model { model }) => model.dialect,
        _ => None,
    };
    rig.seen.iter().filter_map(pick).collect()
}

fn notices(rig: &Rig) -> Vec<String> {
    let pick = |event: &Event| match event {
        Event::Notice(Notice { text, .. }) => Some(text.key.to_string()),
        _ => None,
    };
    rig.seen.iter().filter_map(pick).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_takes_no_tools_is_found_out_and_spoken_to_in_xml() {
    let refusal = || {
        let error = json!({ "error": { "message": "registry.ollama.ai/library/gemma3:4b does not support tools", "type": "api_error" } });
        Reply::json(&error).with_status(400)
    };
    let server = ModelServer::start(vec![
        refusal(),
        refusal(),
        answering(DialectKind::Xml, "Hello."),
        answering(DialectKind::Xml, "Again."),
    ]);
    let mut rig = rig(&server, None);
    rig.submit("Hello").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.answers(), "Hello.");
    assert_eq!(
        (dialects(&rig), notices(&rig)),
        (vec![DialectKind::Native, DialectKind::Xml], vec!["agent.no_native_tools".to_owned()])
    );
    let sent = bodies(&server);
    assert!(
        sent[0].tool_names().len() > 2 && sent[1].tool_names().len() == 1 && !sent[1].tool_names()[0].contains("__"),
        "{:?}",
        sent[1].tool_names()
    );
    assert!(sent[2].tools().is_empty() && sent[2].system().contains("<attempt_completion>"));
    // It is remembered.
    rig.submit("And now?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(bodies(&server).len(), 4);
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_refusal_is_told_as_it_came_first() {
    let refusal = |text: &str| Reply::json(&json!({ "error": { "message": text } })).with_status(400);
    let server = ModelServer::start(vec![refusal("first"), refusal("second"), refusal("third")]);
    let mut rig = rig(&server, None);
    rig.submit("Hello").await;
    let TurnEnd::Failed { problem } = rig.ended().await else { panic!("{}", rig.story()) };
    assert!(format!("{problem:?}").contains("first"), "{problem:?}");
    assert_eq!((dialects(&rig), bodies(&server).len()), (vec![DialectKind::Native], 3));
    rig.shut_down().await;
    // One simple tool is taken: a definition is at fault, not the model. The reply to the trial is dropped.
    let server = ModelServer::start(vec![refusal("first"), text("Hi."), refusal("again")]);
    let home = tempfile::tempdir().unwrap();
    let mut rig = Rig::in_home(home, served(&server), Plan::default(), None);
    rig.submit("Hello").await;
    assert!(matches!(rig.ended().await, TurnEnd::Failed { .. }));
    assert_eq!(rig.answers(), "");
    rig.submit("Hello").await;
    assert!(matches!(rig.ended().await, TurnEnd::Failed { .. }));
    assert_eq!(bodies(&server).len(), 3, "it is not tried out twice");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_malformed_replies_in_a_row_lead_down_and_the_reminders_follow() {
    let bad =
        || Chat::new().call_start(0, "c", "weather__get_forecast", "{\"latitude\": }").finish("tool_calls").done();
    let thought = || text("<thinking>\nHm.\n</thinking>");
    let server = ModelServer::start(vec![bad(), bad(), thought(), thought(), answering(DialectKind::React, "Hello.")]);
    let mut rig = rig(&server, None);
    rig.submit("Weather?").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(rig.answers(), "Hello.");
    assert_eq!(dialects(&rig), [DialectKind::Native, DialectKind::Xml, DialectKind::React]);
    let sent = bodies(&server);
    assert!(sent[2].system().contains("<use_mcp_tool>") && sent[4].system().contains("Action Input:"));
    let last = sent[4].history().last().unwrap()["content"].as_str().unwrap();
    assert!(
        last.contains("neither a tool call nor an answer") && last.contains("Final Answer: your final answer"),
        "{last}"
    );
    assert!(!sent[4].raw.contains("<attempt_completion>"), "the reminder speaks the new dialect");
    // Whoever asks for it starts at the top again.
    rig.op(Op::UseDialect { dialect: None }).await;
    eventually_native(&mut rig).await;
    rig.shut_down().await;
}

async fn eventually_native(rig: &mut Rig) {
    rig.until(|event| match event {
        Event::Session(SessionEvent::Model { model }) if model.dialect == Some(DialectKind::Native) => Some(()),
        _ => None,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_model_is_told_is_what_is_sent() {
    for (_, dialect) in DialectKind::NAMES {
        let server = ModelServer::start(vec![answering(dialect, "Hello."), answering(dialect, "Again.")]);
        let mut rig = rig(&server, Some(dialect));
        rig.submit("Hello").await;
        assert_eq!(rig.ended().await, TurnEnd::Done);
        rig.op(Op::Session(SessionOp::Prompt)).await;
        let parts = rig
            .until(|event| match event {
                Event::Session(SessionEvent::Prompt { parts }) => Some(parts.clone()),
                _ => None,
            })
            .await;
        rig.submit("Again").await;
        assert_eq!(rig.ended().await, TurnEnd::Done);
        let sent = body(&server, 2).await;
        let system: Vec<&str> =
            parts.iter().filter(|part| part.place == PromptPlace::System).map(|part| part.text.as_str()).collect();
        assert_eq!(system.join("\n\n"), sent.system(), "{dialect:?}");
        let tools: Vec<&str> =
            parts.iter().filter(|part| part.place == PromptPlace::Tool).map(|part| part.name.as_str()).collect();
        assert_eq!(tools, sent.tool_names());
        let messages: Vec<_> = parts.iter().filter(|part| part.place == PromptPlace::Message).collect();
        for (part, message) in messages.iter().zip(sent.history()) {
            assert_eq!(Value::from(part.text.as_str()), message["content"], "{dialect:?}");
            assert!(part.tokens > 0 && part.tokens < part.text.len());
        }
        assert_eq!(messages.len(), 2);
        rig.shut_down().await;
    }
}
