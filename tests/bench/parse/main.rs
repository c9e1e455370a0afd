//! Reading what a model says: events, dialects, Markdown.
//!
//! `cargo bench --bench parse` prints rows of the README's table on standard output.

// A benchmark that cannot be set up should end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../meter.rs"]
mod meter;

use bytes::Bytes;
use futures::StreamExt;
use mcpane::dialect::{Dialect, Flow, Parser, aliases, native::Native, object::Json, react::React, xml::Xml};
use mcpane::domain::ToolId;
use mcpane::domain::model::{ModelEvent, StreamEvent};
use mcpane::domain::names::{NameRule, Names};
use mcpane::provider::reply::{Limits, events};
use mcpane::provider::wire::openai_chat::Decoder;
use mcpane::tui::text::Signs;
use mcpane::tui::text::blocks::{Blocks, Flow as Layout, Growth};
use mcpane::tui::text::markdown::Setting;
use mcpane::tui::theme::Role;
use meter::{Limit, row, time};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const FOR: Duration = Duration::from_millis(1500);

fn names() -> Arc<Names> {
    let tools = ["write_to_file", "read_file"].map(ToolId::builtin);
    Arc::new(Names::new(tools.iter(), NameRule::default(), aliases().names()))
}

/// A reply with a thought, prose and one large file, full of what looks like tags.
fn reply(size: usize) -> String {
    let thought = "I will write the file. It needs <b>care</b> & a plan, step by step. ";
    let code = "    if a < b && c > d { out.push(\"<tag attribute='x'>\"); } // and </path> as well\n";
    let share = |text: &str, of: usize| text.repeat((of / text.len()).max(1));
    let (thought, prose, file) = (share(thought, size / 4), share(thought, size / 4), share(code, size / 2));
    format!(
        "<thinking>{thought}</thinking>\n{prose}\n<write_to_file><path>a.rs</path><content>{file}</content></write_to_file>"
    )
}

/// Pieces of so many bytes, at characters' borders.
fn cut(text: &str, piece: usize) -> Vec<String> {
    // The text is ASCII.
    text.as_bytes().chunks(piece).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
}

fn parse(parser: &mut dyn Parser, pieces: Vec<String>) -> usize {
    let mut out = Vec::new();
    let mut count = 0;
    let mut called = false;
    for text in pieces {
        let flow = parser.feed(StreamEvent::Text { text }, &mut out);
        count += out.len();
        called |= out.iter().any(|event| matches!(event, ModelEvent::Call(_)));
        out.clear();
        if flow == Flow::Stop {
            break;
        }
    }
    assert!(called, "the call was read");
    count
}

/// The same thought and file as an action, and as an object.
fn written(size: usize) -> (String, String) {
    let thought = "I will write the file. It needs <b>care</b> & a plan, step by step. ".repeat((size / 2 / 68).max(1));
    let code = "    if a < b && c > d { out.push(\"<tag attribute='x'>\"); } // and </path> as well\n"
        .repeat((size / 2 / 82).max(1));
    let arguments = json!({ "path": "a.rs", "content": code });
    let action = format!("Thought: {thought}\nAction: write_to_file\nAction Input: {arguments}");
    (action, json!({ "thought": thought, "tool": "write_to_file", "arguments": arguments }).to_string())
}

/// Nanoseconds a byte.
fn xml(size: usize, piece: usize) -> f64 {
    read(&Xml, &reply(size), piece)
}

fn read(dialect: &dyn Dialect, text: &str, piece: usize) -> f64 {
    let names = names();
    let make = || (dialect.parser(Arc::clone(&names)), cut(text, piece));
    let seconds = time(FOR, make, |(parser, pieces)| {
        std::hint::black_box(parse(&mut **parser, std::mem::take(pieces)));
    });
    seconds * 1e9 / text.len() as f64
}

/// Microseconds a chunk, from the bytes of a body to what the machine gets.
fn chunks(count: usize) -> f64 {
    let text = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
        "choices": [{ "index": 0, "delta": { "content": "sixteen letters " }, "finish_reason": null }],
    });
    let event = Bytes::from(format!("data: {text}\n\n"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let names = names();
    let seconds = time(
        FOR,
        || vec![Ok(event.clone()); count],
        |pieces| {
            let body = futures::stream::iter(std::mem::take(pieces));
            let mut parser = Native.parser(Arc::clone(&names));
            let mut out = Vec::new();
            runtime.block_on(async {
                let mut stream = events(body, Box::new(Decoder::default()), Limits::default());
                while let Some(Ok(event)) = stream.next().await {
                    parser.feed(event, &mut out);
                }
            });
            assert!(out.len() >= count);
        },
    );
    seconds * 1e6 / count as f64
}

/// Nanoseconds a byte of Markdown, from text to rows of 74 columns.
fn markdown() -> f64 {
    let prose = "A sentence of ordinary words, some `code`, and a **strong** one; then [a link](https://example.com). ";
    let one = format!("## Title\n\n{}\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", prose.repeat(6));
    let text = one.repeat(64 * 1024 / one.len());
    let setting = Setting { width: 74, base: Role::Text, signs: Signs::default(), image: "image", colours: None };
    let seconds = time(
        FOR,
        || Blocks::new(Layout::Markdown),
        |blocks| {
            blocks.update(&text, Growth::Whole);
            let rows: usize = (0..blocks.count()).map(|block| blocks.render(&text, block, &setting).rows.len()).sum();
            assert!(rows > 500);
        },
    );
    seconds * 1e9 / text.len() as f64
}

fn main() {
    if !meter::is_bench() {
        return;
    }
    let whole = xml(64 * 1024, 16);
    row("XML dialect, 64 KiB in pieces of 16 bytes, a byte", whole, "ns", Limit::Most(20.0), "");
    row("… byte by byte", xml(64 * 1024, 1), "ns", Limit::None, "");
    row("… in one piece", xml(64 * 1024, usize::MAX), "ns", Limit::Most(20.0), "");
    row("… 1 MiB in pieces of 16 bytes", xml(1024 * 1024, 16), "ns", Limit::Most(20.0), "");
    let (action, object) = written(64 * 1024);
    row("ReAct dialect, 64 KiB in pieces of 16 bytes, a byte", read(&React, &action, 16), "ns", Limit::Most(20.0), "");
    row("… in pieces of 4 bytes", read(&React, &action, 4), "ns", Limit::None, "");
    row("JSON dialect, 64 KiB in pieces of 16 bytes, a byte", read(&Json, &object, 16), "ns", Limit::Most(20.0), "");
    row("… in pieces of 4 bytes", read(&Json, &object, 4), "ns", Limit::None, "");
    row("SSE, JSON and native dialect, a chunk", chunks(10_000), "µs", Limit::None, "");
    row("Markdown to rows, a byte", markdown(), "ns", Limit::None, "");
}
