//! What holds in every text dialect: no chunking makes a difference, nothing incomplete runs, each byte costs the same.

use crate::dialect_support::*;
use mcpane::dialect::object::{Json, ObjectParser};
use mcpane::dialect::react::{React, ReactParser};
use mcpane::dialect::{Dialect, Flow, Parser, native::Native};
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

const DIALECTS: [&dyn Dialect; 2] = [&React, &Json];

/// Replies made of what the grammars know and of what could disturb them.
fn reply() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Thought:",
        "**Thought:**",
        "Thought",
        "Action:",
        "Action",
        "Action Input:",
        " Input:",
        "Observation:",
        "Final Answer:",
        "思考：",
        "行动输入",
        "read_file",
        "get_forecast",
        "(",
        ")",
        "[",
        "]",
        "path: a.txt",
        "path=\"a\"",
        "{",
        "}",
        "\"",
        "\\",
        "\\u00e9",
        "\\ud83d",
        "{\"path\": \"a\"}",
        "\"thought\": \"",
        "\"thought\":",
        "\"tool\": \"read_file\"",
        "\"tool\": ",
        "\"arguments\": {",
        "\"answer\": \"",
        "\"name\": \"read_file\"",
        "null",
        "12",
        ",",
        ", ",
        ":",
        "```",
        "```json",
        "`",
        "\n",
        "\n\n",
        " ",
        "   ",
        "    ",
        "*",
        "#",
        "text",
        "é中",
        "<read_file>",
        "</read_file>",
        "<tool_call>",
        "> ",
        "- ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn reason() -> impl Strategy<Value = FinishReason> {
    prop::sample::select(vec![
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::ToolCalls,
        FinishReason::Filtered,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_chunking_gives_the_same_events(text in reply(), size in 1usize..9, reason in reason()) {
        for dialect in DIALECTS {
            let whole = read(dialect, chunks([&*text], reason.clone()));
            let cut = read(dialect, chunks(pieces(&text, size), reason.clone()));
            prop_assert_eq!(cut, whole, "{:?}", dialect.kind());
        }
        let whole = read(&Native, chunks([&*text], reason.clone()));
        let cut = read(&Native, chunks(pieces(&text, size), reason));
        prop_assert_eq!(cut, whole);
    }

    #[test]
    fn at_most_one_call_or_completion_and_nothing_after_it(text in reply(), reason in reason()) {
        for dialect in DIALECTS {
            let (events, flow) = read(dialect, chunks([&*text], reason.clone()));
            let is_end = |event: &ModelEvent| matches!(event, ModelEvent::Call(_) | ModelEvent::Completion { .. });
            let ends = events.iter().filter(|event| is_end(event)).count();
            prop_assert!(ends <= 1);
            prop_assert!(flow == Flow::Continue || ends == 1 || reminder(&events).is_some() || !answers(&events).is_empty());
            if let Some(at) = events.iter().position(is_end) {
                prop_assert_eq!(at + 2, events.len(), "{:?}", events);
            }
        }
    }

    #[test]
    fn native_text_that_is_no_call_is_sent_on_unchanged(text in reply()) {
        let events = native(chunks([&*text], FinishReason::Stop));
        prop_assert!(!calls(&events).is_empty() || thoughts(&events) + &answers(&events) == text.trim_start(), "{:?}", events);
    }
}

#[test]
fn a_broken_object_that_named_its_tool_is_a_call_that_cannot_be_read_however_it_comes() {
    for text in [
        "{\"tool\": \"read_file\"    )",
        "{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a\"} x}",
        "{\"tool\": \"read_file\" {",
    ] {
        let whole = read(&Json, chunks([text], FinishReason::Stop));
        assert_eq!(calls(&whole.0).len(), 1, "{text}: {whole:?}");
        for size in 1..text.len() {
            assert_eq!(read(&Json, chunks(pieces(text, size), FinishReason::Stop)), whole, "{text} by {size}");
        }
    }
}

fn replies() -> [(&'static dyn Dialect, String); 4] {
    let react = "Thought: 天气 first.\nAction: write_to_file\nAction Input: {\"path\": \"a.md\", \"content\": \"Action: x\\nObservation: y {\\\"é\\\"}\"}";
    let written = json!({"thought": "天气 \"first\"", "tool": "write_to_file", "arguments": {"path": "a.md", "content": "{\"answer\": \"no\"}\n```"}});
    [
        (&React, react.to_owned()),
        (&React, "Thought: t\nAction: get_forecast({\"latitude\": 1, \"longitude\": 2})".to_owned()),
        (&Json, written.to_string()),
        (&Json, format!("```json\n{}\n```", json!({"tool": "read_file", "arguments": {"path": "a"}}))),
    ]
}

#[test]
fn cut_at_every_byte_nothing_runs_before_it_is_complete() {
    for (dialect, reply) in replies() {
        let end = reply.rfind(['}', ')']).unwrap() + 1;
        for at in (0..=reply.len()).filter(|&at| reply.is_char_boundary(at)) {
            for reason in [Some(FinishReason::Length), Some(FinishReason::Closed), Some(FinishReason::Filtered), None] {
                let mut events = vec![StreamEvent::Text { text: reply[..at].to_owned() }];
                events.extend(reason.map(|reason| StreamEvent::Finish { reason }));
                let (events, _) = read(dialect, events);
                let runnable =
                    calls(&events).iter().filter(|call| matches!(call.arguments, Arguments::Parsed { .. })).count();
                assert_eq!(runnable, usize::from(at >= end), "{:?}: {events:?}", &reply[..at]);
                assert!(matches!(events.last(), Some(ModelEvent::Finished { .. })));
            }
            // Ended by the model itself, it is a call, or the model is told what is wrong with it.
            let (events, _) = read(dialect, chunks([&reply[..at]], FinishReason::Stop));
            let sane = !calls(&events).is_empty() || reminder(&events).is_some() || !answers(&events).is_empty();
            assert!(sane, "{:?}: {events:?}", &reply[..at]);
        }
    }
}

macro_rules! looks {
    ($parser:ty, $text:expr, $chunk:expr) => {{
        let text: String = $text;
        let mut parser = <$parser>::new(names());
        let mut out = Vec::new();
        for part in pieces(&text, $chunk) {
            parser.feed(StreamEvent::Text { text: part.to_owned() }, &mut out);
            out.retain(|event| !matches!(event, ModelEvent::CallGrew { .. }));
        }
        parser.feed(StreamEvent::Finish { reason: FinishReason::Stop }, &mut out);
        parser.end(&mut out);
        assert_eq!(calls(&out).len(), 1, "{}", &text[..text.len().min(200)]);
        parser.work() / text.len() as u64
    }};
}

#[test]
fn a_long_parameter_costs_the_same_per_byte() {
    let hard = ["x", "{", "\"", "\\", "\n", "\nObservation: ", "\n* ", "```\n", "é"];
    for piece in hard {
        for chunk in [1, 4096, usize::MAX] {
            let body = |size: usize| Value::from(piece.repeat(size / piece.len())).to_string();
            let react = |size: usize| {
                format!(
                    "Thought: t\nAction: write_to_file\nAction Input: {{\"path\": \"a\", \"content\": {}}}",
                    body(size)
                )
            };
            let object = |size: usize| {
                format!(
                    "{{\"thought\": {}, \"tool\": \"write_to_file\", \"arguments\": {{\"content\": {}}}}}",
                    body(size),
                    body(size)
                )
            };
            let loose = |size: usize| {
                format!(
                    "Action: write_to_file\nAction Input: path: a\ncontent: {}",
                    piece.replace("Observation", "Obs").repeat(size / piece.len())
                )
            };
            let (small, large) = (4 << 10, if chunk == 4096 { 256 << 10 } else { 32 << 10 });
            for (before, after) in [
                (looks!(ReactParser, react(small), chunk), looks!(ReactParser, react(large), chunk)),
                (looks!(ObjectParser, object(small), chunk), looks!(ObjectParser, object(large), chunk)),
                (looks!(ReactParser, loose(small), chunk), looks!(ReactParser, loose(large), chunk)),
            ] {
                assert!(after <= before.max(5) && after <= 70, "{piece:?} in chunks of {chunk}: {before} → {after}");
            }
        }
    }
}

#[test]
fn a_megabyte_comes_through_whole() {
    let content = "line {with} \"marks\"\nAction: x\nObservation: y\n".repeat(24_000);
    assert!(content.len() > 1 << 20);
    let arguments = json!({"path": "a", "content": content});
    let react_text = format!("Thought: t\nAction: write_to_file\nAction Input: {arguments}");
    let json_text = json!({"tool": "write_to_file", "arguments": arguments}).to_string();
    for (dialect, text) in [(&React as &dyn Dialect, react_text), (&Json, json_text)] {
        let (events, flow) = read(dialect, chunks(pieces(&text, 4096), FinishReason::Stop));
        assert_eq!((call(&events).1, flow), (arguments.clone(), Flow::Stop), "{:?}", dialect.kind());
    }
}
