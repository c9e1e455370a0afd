//! Scripted events: a session in which a model thinks, calls tools, asks, and answers.

use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, ItemEvent, ModelInfo, PromptEvent, SessionEvent, ToolEvent, ToolInfo, TurnEvent};
use mcpane::domain::conversation::TurnKind;
use mcpane::domain::form::Form;
use mcpane::domain::model::{DialectKind, FinishReason};
use mcpane::domain::policy::{ArgumentRule, Check, DiffLine, FileDiff, Grant, Preview, Verdict};
use mcpane::domain::prompt::{Approval, Prompt, PromptKind, Question};
use mcpane::domain::server::{ServerSignal, ServerState, ServerStatus, Source};
use mcpane::domain::tool::{Annotations, Risk};
use mcpane::domain::{
    CallId, Conversation, ItemId, Origin, Phrase, PromptId, ServerName, StepEnd, StepId, ToolCall, ToolId, ToolOutcome,
    ToolSpec, TurnEnd, TurnId, Usage, UserInput,
};
use serde_json::json;
use std::sync::Arc;

pub fn opened() -> Event {
    Event::Session(SessionEvent::Opened {
        id: "s1".into(),
        cwd: "/home/ada/proj".into(),
        conversation: Conversation::default(),
        draft: String::new(),
    })
}

pub fn model() -> Event {
    let model = ModelInfo {
        name: "ollama:qwen3".into(),
        dialect: Some(DialectKind::Xml),
        context: Some(32_768),
        scripted: false,
    };
    Event::Session(SessionEvent::Model { model })
}

pub fn context(tokens: u64) -> Event {
    let total = Usage { input: tokens, output: 900, cached: 0, written: 0, reasoning: 200 };
    Event::Session(SessionEvent::Context { tokens, total })
}

pub fn server(name: &str, state: ServerState) -> Event {
    let failed = state.is_failed();
    let status = ServerStatus {
        name: name.into(),
        state,
        reason: failed.then(|| Phrase::literal("It ended with exit code 1.")),
        fix: failed.then(|| Phrase::literal("Install uvx, or write its full path into .mcp.json.")),
        source: Source { file: "/home/ada/proj/.mcp.json".into(), line: 4, shadows: Vec::new() },
        transport: "stdio".into(),
        address: format!("npx -y @example/{name}"),
        calls: 0,
        pid: (state == ServerState::Ready).then_some(4711),
        protocol: Some("2025-11-25".into()),
        identity: Some(format!("{name} 1.2.0")),
        tools: Some(3),
        resources: false,
        cached: state == ServerState::Idle,
        start_millis: Some(840),
        noise: 0,
        instructions: None,
    };
    Event::Server(ServerSignal::Status(Box::new(status)))
}

pub fn spec(server: Option<&str>, name: &str, risk: Risk) -> Arc<ToolSpec> {
    let id = server.map_or_else(|| ToolId::builtin(name), |server| ToolId::on(&ServerName::from(server), name));
    Arc::new(ToolSpec {
        id,
        title: None,
        description: "What the sky will be like at a place, for the next days.".into(),
        input_schema: Arc::new(json!({
            "type": "object",
            "properties": {"latitude": {"type": "number"}, "longitude": {"type": "number"}},
            "required": ["latitude", "longitude"]
        })),
        output_schema: None,
        annotations: Annotations { read_only: Some(true), ..Annotations::default() },
        risk,
        hash: "abc".into(),
    })
}

pub fn tools() -> Event {
    let of = |server, name, risk| ToolInfo {
        spec: spec(server, name, risk),
        wire_name: name.to_owned(),
        form: Form::default(),
        grants: Vec::new(),
    };
    let mut tools = vec![
        of(Some("weather"), "get_forecast", Risk::External),
        of(Some("weather"), "get_alerts", Risk::External),
        of(None, "read_file", Risk::Read),
        of(None, "write_to_file", Risk::Write),
        of(None, "execute_command", Risk::Command),
    ];
    let tool = tools[0].spec.id.clone();
    tools[0].grants.push(Grant {
        tool,
        arguments: ArgumentRule::Any,
        project: "/home/ada/proj".into(),
        definition: "abc".into(),
    });
    Event::Tools { tools }
}

pub fn started(turn: u64, text: &str) -> Event {
    let input = UserInput::text(text);
    Event::Turn(TurnEvent::Started { turn: TurnId(turn), kind: TurnKind::Task, input })
}

pub fn step(turn: u64, step: u64, number: u32) -> Event {
    Event::Turn(TurnEvent::StepStarted { turn: TurnId(turn), step: StepId(step), number })
}

pub fn step_ended(step: u64) -> Event {
    let end = StepEnd::Complete;
    Event::Turn(TurnEvent::StepEnded {
        step: StepId(step),
        end,
        reason: Some(FinishReason::Stop),
        usage: Usage::default(),
    })
}

pub fn ended(turn: u64) -> Event {
    Event::Turn(TurnEvent::Ended { turn: TurnId(turn), end: TurnEnd::Done })
}

pub fn text(item: u64, step: u64, kind: TextKind, pieces: &[&str]) -> Vec<Event> {
    let item = ItemId(item);
    let mut out = vec![Event::Item(ItemEvent::Started { item, step: StepId(step), kind })];
    out.extend(pieces.iter().map(|text| Event::Item(ItemEvent::Delta { item, text: (*text).to_owned() })));
    out.push(Event::Item(ItemEvent::Finished { item }));
    out
}

pub fn call(id: u64, tool: &Arc<ToolSpec>, arguments: serde_json::Value) -> ToolCall {
    ToolCall {
        id: CallId(id),
        provider_id: None,
        asked: tool.id.name.to_string(),
        tool: Some(tool.id.clone()),
        arguments,
        origin: Origin::Xml,
    }
}

pub fn proposed(step: u64, call: &ToolCall, spec: &Arc<ToolSpec>) -> Event {
    Event::Tool(ToolEvent::Proposed { step: StepId(step), call: call.clone(), spec: Some(Arc::clone(spec)) })
}

pub fn asks(preview: Preview) -> Check {
    Check {
        verdict: Verdict::Ask { why: Phrase::literal("A file is written.") },
        warnings: Vec::new(),
        preview,
        grant: None,
    }
}

pub fn checked(call: &ToolCall, check: Check) -> Event {
    Event::Tool(ToolEvent::Checked { call: call.id, check: Box::new(check) })
}

pub fn approval(prompt: u64, step: u64, call: &ToolCall, spec: &Arc<ToolSpec>, check: Check) -> Event {
    let kind = PromptKind::Approval(Box::new(Approval {
        call: call.clone(),
        spec: Arc::clone(spec),
        check,
        form: Form::default(),
        problems: Vec::new(),
        version: 0,
    }));
    let prompt = Prompt { id: PromptId(prompt), call: Some(call.id), step: Some(StepId(step)), kind, expires_ms: None };
    Event::Prompt(PromptEvent::Opened { prompt })
}

pub fn question(prompt: u64) -> Event {
    let kind = PromptKind::Question(Question { text: "Which one?".into(), options: vec!["a".into(), "b".into()] });
    let prompt = Prompt { id: PromptId(prompt), call: None, step: None, kind, expires_ms: None };
    Event::Prompt(PromptEvent::Opened { prompt })
}

pub fn done(call: &ToolCall, result: &str) -> Vec<Event> {
    vec![
        Event::Tool(ToolEvent::Started { call: call.id }),
        Event::Tool(ToolEvent::Finished { call: call.id, outcome: ToolOutcome::text(result) }),
    ]
}

pub fn diff() -> FileDiff {
    let line = |new, text: &str| DiffLine { sign: '+', old: None, new: Some(new), text: text.to_owned() };
    FileDiff {
        path: "result.md".into(),
        exists: false,
        added: 2,
        removed: 0,
        hunks: vec![vec![line(1, "# 纽约明天的天气"), line(2, "24 ℃，晴")]],
        omitted: 0,
    }
}

/// Before anything was asked.
pub fn quiet() -> Vec<Event> {
    let mut out = vec![opened(), model(), context(12_400)];
    out.extend([
        server("weather", ServerState::Ready),
        server("files", ServerState::Ready),
        server("notes", ServerState::Idle),
        server("sqlite", ServerState::StartFailed),
        tools(),
    ]);
    out
}

/// A task on its second step, where a file waits to be written.
pub fn waiting() -> Vec<Event> {
    let mut out = quiet();
    out.push(started(1, "纽约明天的天气怎么样？把结果写入 result.md"));
    out.push(step(1, 10, 1));
    let think = "The user wants tomorrow's weather in New York, and a file. First I need the forecast.";
    out.extend(text(11, 10, TextKind::Thinking, &[think]));
    let forecast = spec(Some("weather"), "get_forecast", Risk::External);
    let first = call(12, &forecast, json!({"latitude": 40.7128, "longitude": -74.006}));
    out.push(proposed(10, &first, &forecast));
    out.push(checked(
        &first,
        Check {
            verdict: Verdict::Allow { why: Phrase::literal("granted") },
            warnings: Vec::new(),
            preview: Preview::Arguments,
            grant: None,
        },
    ));
    out.extend(done(&first, "Tomorrow: 24 °C, clear. Wind 3 m/s from the west."));
    out.push(step_ended(10));
    out.push(step(1, 20, 2));
    let think = "The forecast says 24 °C and clear. The task also asks for a file, so it is not done yet.";
    out.extend(text(21, 20, TextKind::Thinking, &[think]));
    let write = spec(None, "write_to_file", Risk::Write);
    let second = call(22, &write, json!({"path": "result.md", "content": "# 纽约明天的天气\n24 ℃，晴\n"}));
    let check = asks(Preview::Diff(diff()));
    out.push(proposed(20, &second, &write));
    out.push(checked(&second, check.clone()));
    out.push(approval(1, 20, &second, &write, check));
    out
}

/// The same task at its end.
pub fn answered() -> Vec<Event> {
    let mut out = waiting();
    let write = spec(None, "write_to_file", Risk::Write);
    let second = call(22, &write, json!({"path": "result.md", "content": "# 纽约明天的天气\n24 ℃，晴\n"}));
    out.push(Event::Prompt(PromptEvent::Closed {
        prompt: PromptId(1),
        why: mcpane::domain::prompt::Closed::Answered {
            answer: mcpane::domain::prompt::Answer::Approve {
                scope: mcpane::domain::prompt::Scope::Once,
                version: None,
            },
        },
    }));
    out.extend(done(&second, "Wrote result.md, 2 lines."));
    out.push(step_ended(20));
    out.push(step(1, 30, 3));
    let answer = [
        "纽约明天 **24 ℃**，晴。已写入 `result.md`。\n\n",
        "| hour | °C | sky |\n|---|---|---|\n| 08 | 17 | clear |\n| 14 | 24 | clear |\n| 20 | 20 | some clouds |\n\n",
        "## How to read the file\n\n- open it with any editor\n- or print it:\n\n",
        "```rust\nfn main() {\n    // print the file\n    let text = std::fs::read_to_string(\"result.md\").unwrap();\n    println!(\"{text}\");\n}\n```\n\n",
        "> Sample data, so pack an umbrella anyway.\n",
    ];
    out.extend(text(31, 30, TextKind::Answer, &answer));
    out.push(step_ended(30));
    out.push(ended(1));
    out
}
