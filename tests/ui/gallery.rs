//! A conversation with one of everything, in every theme. What a terminal is sent for it stands afterwards in the target's `tmp/gallery`, to be looked
//! at (`cat` one in a terminal of the size in its name).

use crate::sheet::{Sheet, ansi};
use mcpane::domain::policy::{Check, DiffLine, FileDiff, Preview, Verdict};
use mcpane::domain::tool::Progress;
use mcpane::domain::{
    CallId, Content, Level, Notice, Origin, Phrase, ServerName, StepEnd, StepId, ToolCall, ToolId, ToolOutcome,
    TurnEnd, TurnId, UserInput,
};
use mcpane::strings::{Language, Strings};
use mcpane::tui::cell::{Cell, Change, Mark, ToolChange};
use mcpane::tui::look::Look;
use mcpane::tui::theme::{Depth, Terminal};
use mcpane::tui::transcript::{Attention, Filter, Place, SlotId, Store, View};
use ratatui::buffer::Buffer;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn place(step: u64) -> Place {
    Place { turn: Some(TurnId(1)), step: Some(StepId(step)) }
}

fn call(id: u64, name: &str, arguments: Value) -> Box<ToolCall> {
    let tool = match name.split_once(':') {
        Some((server, name)) => ToolId::on(&ServerName::from(server), name),
        None => ToolId::builtin(name),
    };
    Box::new(ToolCall {
        id: CallId(id),
        provider_id: None,
        asked: name.into(),
        tool: Some(tool),
        arguments,
        origin: Origin::Native,
    })
}

fn ask(preview: Preview) -> Box<Check> {
    Box::new(Check {
        verdict: Verdict::Ask { why: Phrase::literal("writes are asked about") },
        warnings: Vec::new(),
        preview,
        grant: None,
    })
}

fn diff() -> FileDiff {
    let line = |sign, old, new, text: &str| DiffLine { sign, old, new, text: text.into() };
    FileDiff {
        path: "src/result.rs".into(),
        exists: true,
        added: 2,
        removed: 1,
        hunks: vec![vec![
            line(' ', Some(9), Some(9), "fn main() {"),
            line('-', Some(10), None, "    let high = 21;"),
            line('+', None, Some(10), "    let high = 24;"),
            line('+', None, Some(11), "    println!(\"纽约明天 {high} ℃\");"),
            line(' ', Some(11), Some(12), "}"),
        ]],
        omitted: 0,
    }
}

fn tool(store: &mut Store, step: u64, id: u64, name: &str, arguments: Value, changes: Vec<ToolChange<'_>>) -> SlotId {
    let slot = store.push(place(step), Cell::tool(CallId(id)));
    store.change(slot, Change::Tool(ToolChange::Proposed { call: call(id, name, arguments), spec: None }));
    for change in changes {
        store.change(slot, Change::Tool(change));
    }
    slot
}

fn done(content: Vec<Content>, millis: u64) -> ToolChange<'static> {
    let outcome = ToolOutcome::Done { content, is_error: false, for_model: None, spilled: None, millis };
    ToolChange::Finished { outcome, at: None }
}

/// A conversation with one of everything.
pub fn conversation(store: &mut Store, now: Instant) {
    store.push(
        place(0),
        Cell::user(UserInput::text("纽约明天的天气怎么样？把结果写入 result.md\nAnd in English, please.")),
    );
    let thought = store.push(place(1), Cell::thinking());
    store.change(
        thought,
        Change::Append("The user wants the weather **and** a file. First I need the forecast:\n\n- coordinates of New York\n- `get_forecast`\n\nThen I write the file."),
    );
    store.change(thought, Change::Finish);
    tool(
        store,
        1,
        1,
        "weather:get_forecast",
        json!({"latitude": 41.7128, "longitude": -74.006}),
        vec![done(vec![Content::text("24 °C, clear")], 420)],
    );
    tool(
        store,
        1,
        2,
        "github:search",
        json!({"query": "weather", "limits": {"pages": 3, "per": 50}}),
        vec![done(
            vec![Content::Json {
                value: json!({"total": 2, "items": [{"name": "a", "stars": 12}, {"name": "b", "stars": 7, "archived": true}]}),
            }],
            1320,
        )],
    );
    tool(
        store,
        1,
        3,
        "execute_command",
        json!({"command": "cargo test --lib"}),
        vec![
            ToolChange::Checked(ask(Preview::Command { command: "cargo test --lib".into(), cwd: "~/proj".into() })),
            ToolChange::Started { at: now.checked_sub(Duration::from_millis(12_400)).unwrap() },
            ToolChange::Output(
                "   Compiling mcpane v0.1.0\nrunning 48 tests\ntest tui::text::wrap ... ok\ntest tui::theme ... ok\n",
            ),
        ],
    );
    tool(
        store,
        2,
        4,
        "files:index",
        json!({"path": "/home/me"}),
        vec![
            ToolChange::Started { at: now.checked_sub(Duration::from_secs(75)).unwrap() },
            ToolChange::Progress(Progress { done: 37.0, total: Some(92.0), message: Some("src/tui/text".into()) }),
        ],
    );
    tool(
        store,
        2,
        5,
        "write_to_file",
        json!({"path": "src/result.rs", "content": "fn main() {}\n"}),
        vec![ToolChange::Checked(ask(Preview::Diff(diff())))],
    );
    tool(
        store,
        2,
        6,
        "db:query",
        json!({"sql": "drop table x"}),
        vec![ToolChange::Finished {
            outcome: ToolOutcome::Rejected { reason: Some("never drop tables".into()) },
            at: None,
        }],
    );
    tool(
        store,
        2,
        7,
        "db:query",
        json!({"sql": "select 1"}),
        vec![ToolChange::Finished {
            outcome: ToolOutcome::Failed { message: "connection refused (127.0.0.1:5432)".into(), may_have_run: true },
            at: None,
        }],
    );
    tool(
        store,
        2,
        8,
        "camera:snap",
        json!({}),
        vec![done(
            vec![Content::Image {
                mime: "image/png".into(),
                data: mcpane::domain::Blob::from_base64("A".repeat(40_000)),
            }],
            90,
        )],
    );
    tool(
        store,
        2,
        9,
        "shop:order",
        json!({"sku": 7}),
        vec![ToolChange::Finished { outcome: ToolOutcome::Interrupted, at: None }],
    );
    tool(store, 2, 10, "deploy:ask", json!({}), vec![ToolChange::Started { at: now }, ToolChange::Suspended]);
    let answer = store.push(place(3), Cell::answer());
    store.change(answer, Change::Append(include_str!("zoo_en.md")));
    store.change(answer, Change::Finish);
    store.push(place(3), Cell::mark(Mark::Step(StepEnd::Cut { problem: Phrase::literal("connection reset") })));
    store.push(
        place(3),
        Cell::notice(Notice { level: Level::Warning, text: Phrase::literal("config.toml: unknown key `colour`") }),
    );
    store.push(place(3), Cell::mark(Mark::Turn(TurnEnd::Interrupted)));
}

/// Opens every entry that can be opened.
pub fn open_all(view: &mut View, store: &Store, look: &Look<'_>) {
    let slots: Vec<SlotId> = store.iter().map(|(id, _)| id).collect();
    for slot in slots {
        view.show(slot, store, look);
        if view.current(store) == Some(slot) && !view.is_open(store) {
            view.toggle(store, look);
        }
    }
    view.top(store, look);
}

#[test]
fn every_theme_sends_only_colours_that_the_terminal_has() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("gallery");
    std::fs::create_dir_all(&directory).unwrap();
    let themes = [
        ("dark", "dark", Depth::True, Some((0x12, 0x12, 0x12))),
        ("light", "light", Depth::True, Some((0xff, 0xff, 0xff))),
        ("ansi", "ansi", Depth::Ansi, None),
        ("no-colour", "dark", Depth::None, None),
    ];
    for (label, theme, depth, background) in themes {
        let pages = [
            ("zoo", Filter::ANSWER, 82, 76, Language::En),
            ("narrow", Filter::ANSWER, 42, 100, Language::En),
            ("zh", Filter::ANSWER, 62, 60, Language::Zh),
            ("tools", Filter::TOOLS, 62, 50, Language::En),
            ("open", Filter::TOOLS, 72, 90, Language::Zh),
            ("timeline", Filter::TIMELINE, 72, 60, Language::En),
        ];
        for (name, filter, width, height, language) in pages {
            let mut sheet = Sheet::new(filter, width, height);
            sheet.strings = Strings::new(language);
            sheet.theme(theme, Terminal { depth, background });
            sheet.attention = Attention::Focused;
            if name == "zh" {
                sheet.answer(include_str!("zoo_zh.md"));
            } else {
                conversation(&mut sheet.store, sheet.now);
            }
            sheet.draw();
            sheet.with(|view, store, look| {
                view.top(store, look);
                if name == "open" {
                    open_all(view, store, look);
                }
                view.top(store, look);
            });
            let buffer = sheet.draw();
            let bytes = ansi(&Buffer::empty(sheet.area), &buffer);
            let sent = String::from_utf8_lossy(&bytes);
            assert_eq!(sent.contains("8;2;"), depth == Depth::True, "{label}: 24-bit colours");
            assert!(depth != Depth::None || !sent.contains("8;5;"), "{label}: colours");
            std::fs::write(directory.join(format!("{name}.{label}.{width}x{height}")), bytes).unwrap();
        }
    }
}
