//! The tools of the fixture server, and what can go wrong with a call.

use super::{Server, object};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What it lists.
pub fn definitions() -> Vec<Value> {
    let tool = |name: &str, description: &str, properties: Value| json!({ "name": name, "description": description, "inputSchema": { "type": "object", "properties": properties } });
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer" });
    vec![
        json!({
            "name": "echo", "title": "Echo", "description": "Says it again.",
            "inputSchema": { "type": "object", "properties": { "text": text }, "required": ["text"] },
            "annotations": { "readOnlyHint": true, "idempotentHint": true },
        }),
        json!({
            "name": "add", "description": "Adds two numbers.",
            "inputSchema": { "type": "object", "properties": { "a": { "type": "number" }, "b": { "type": "number" } }, "required": ["a", "b"] },
            "outputSchema": { "type": "object", "properties": { "sum": { "type": "number" } } },
        }),
        tool("big", "A text of so many bytes.", json!({ "bytes": number })),
        tool("environment", "What it sees of its surroundings.", json!({ "name": text })),
        tool(
            "slow",
            "Takes its time and tells how far it is.",
            json!({ "steps": number, "ms": number, "deaf": { "type": "boolean" } }),
        ),
        tool("flood", "Progress, as fast as it can.", json!({ "count": number })),
        tool(
            "elicit",
            "Asks the user, so many times at once.",
            json!({ "message": text, "schema": { "type": "object" }, "times": number }),
        ),
        tool("link", "Asks the user to visit a URL.", json!({ "url": text })),
        tool("take_back", "Asks the user and takes the question back.", json!({})),
        tool("ask_client", "Sends any request to the client.", json!({ "method": text })),
        tool("change", "Changes the list of tools.", json!({})),
        tool("fault", "Goes wrong as asked.", json!({ "kind": text })),
    ]
}

/// Tools that rmcp's types refuse; each alone would spoil the whole list.
pub fn malformed() -> Vec<Value> {
    vec![
        json!({ "name": "bad_hint", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": "yes" } }),
        json!({ "name": "bad_icon", "inputSchema": { "type": "object" }, "icons": [{ "src": 5 }] }),
        json!({ "name": "bad_schema", "inputSchema": "none" }),
        json!({ "description": "nameless", "inputSchema": { "type": "object" } }),
        json!({ "name": "echo", "inputSchema": { "type": "object" } }),
        json!(7),
    ]
}

/// Text that must never reach a terminal as it is.
pub fn hostile() -> Vec<Value> {
    vec![
        json!({ "name": "\u{1b}]0;pwned\u{7}", "description": "\u{1b}[2J\u{202e}evil\u{200b}", "inputSchema": { "type": "object" } }),
        json!({ "name": "n".repeat(1_000_000), "inputSchema": { "type": "object" } }),
        json!({ "name": "wide", "description": "d".repeat(1_000_000), "inputSchema": { "type": "object" } }),
        json!({ "name": "fine", "inputSchema": { "type": "object" } }),
    ]
}

fn text(text: impl ToString) -> Value {
    json!({ "content": [{ "type": "text", "text": text.to_string() }] })
}

/// Runs a call and answers it, or not.
pub fn call(server: &Server, id: &Value, params: &Value, cancelled: &AtomicBool) {
    let arguments = &params["arguments"];
    if let Some(file) = &server.options.canned {
        return match super::canned::result(file, params) {
            Some(result) => server.answer(id, result),
            None => server.error(id, -32602, &format!("nothing is canned for {params}")),
        };
    }
    let number = |key: &str, default: u64| arguments[key].as_u64().unwrap_or(default);
    let result = match params["name"].as_str().unwrap_or_default() {
        "echo" => text(arguments["text"].as_str().unwrap_or_default()),
        "add" => {
            let sum = arguments["a"].as_f64().unwrap_or_default() + arguments["b"].as_f64().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": sum.to_string() }], "structuredContent": { "sum": sum } })
        }
        "big" => text("x".repeat(usize::try_from(number("bytes", 1)).unwrap())),
        "environment" => text(json!({
            "variable": std::env::var(arguments["name"].as_str().unwrap_or_default()).ok(),
            "cwd": std::env::current_dir().unwrap(),
            "pid": std::process::id(),
            "arguments": std::env::args().skip(1).collect::<Vec<_>>(),
        })),
        "slow" => match slow(server, params, cancelled) {
            Some(result) => result,
            // A cancelled request is not answered.
            None => return,
        },
        "flood" => {
            for n in 1..=number("count", 300) {
                progress(server, params, n, None);
            }
            text("flooded")
        }
        "elicit" => text(json!(match server.web.get() {
            Some(web) if arguments["aside"] == true => web.aside(|| elicit(server, arguments)),
            _ => elicit(server, arguments),
        })),
        "link" => {
            let ask = object([
                ("mode", json!("url")),
                ("message", json!("Please look")),
                ("url", arguments["url"].clone()),
                ("elicitationId", json!("e1")),
            ]);
            text(server.ask("elicitation/create", Value::Object(ask)))
        }
        "take_back" => {
            let (ask, _answer) = server.begin_ask(
                "elicitation/create",
                json!({ "message": "Never mind", "requestedSchema": { "type": "object", "properties": {} } }),
            );
            std::thread::sleep(Duration::from_millis(50));
            server.notify("notifications/cancelled", json!({ "requestId": ask, "reason": "no longer needed" }));
            std::thread::sleep(Duration::from_millis(50));
            text("taken back")
        }
        "ask_client" => {
            text(server.ask(arguments["method"].as_str().unwrap(), json!({ "messages": [], "maxTokens": 5 })))
        }
        "change" => {
            server.added.store(true, Ordering::SeqCst);
            server.notify("notifications/tools/list_changed", json!({}));
            text("changed")
        }
        "fault" => return fault(server, id, arguments),
        other => return server.error(id, -32602, &format!("Unknown tool: {other}")),
    };
    server.answer(id, result);
}

fn progress(server: &Server, params: &Value, done: u64, total: Option<u64>) {
    let mut note = object([
        ("progressToken", params["_meta"]["progressToken"].clone()),
        ("progress", json!(done)),
        ("message", json!(format!("step {done}"))),
    ]);
    if let Some(total) = total {
        note.insert("total".into(), json!(total));
    }
    server.notify("notifications/progress", Value::Object(note));
}

fn slow(server: &Server, params: &Value, cancelled: &AtomicBool) -> Option<Value> {
    let arguments = &params["arguments"];
    let steps = arguments["steps"].as_u64().unwrap_or(3);
    let pause = Duration::from_millis(arguments["ms"].as_u64().unwrap_or(20));
    let deaf = arguments["deaf"] == true;
    for step in 1..=steps {
        std::thread::sleep(pause);
        if cancelled.load(Ordering::SeqCst) && !deaf {
            return None;
        }
        progress(server, params, step, Some(steps));
    }
    Some(text("slept"))
}

/// Asks `times` at once; all answers, in the order of the questions.
fn elicit(server: &Server, arguments: &Value) -> Vec<Value> {
    let message = arguments["message"].as_str().unwrap_or("Please");
    let schema = arguments.get("schema").cloned().unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
    let times = arguments["times"].as_u64().unwrap_or(1);
    let asked: Vec<_> = (1..=times)
        .map(|n| {
            let message = if times == 1 { message.to_owned() } else { format!("{message} {n}") };
            server.begin_ask("elicitation/create", json!({ "message": message, "requestedSchema": schema }))
        })
        .collect();
    asked.into_iter().map(|(_, answer)| answer.recv().unwrap_or_default()).collect()
}

fn fault(server: &Server, id: &Value, arguments: &Value) {
    if super::http::fault(server, id, arguments) {
        return;
    }
    match arguments["kind"].as_str().unwrap_or_default() {
        "hang" => super::http::keep_open(),
        "die" => {
            eprintln!("fixture: last words");
            eprintln!("fixture: cannot go on");
            super::http::keep_open();
            std::process::exit(42);
        }
        "die_after" => {
            server.answer(id, text("before the end"));
            if server.web.get().is_some() {
                // Its connections are written by others.
                std::thread::sleep(Duration::from_millis(200));
            }
            std::process::exit(0);
        }
        "abort" => std::process::abort(),
        "deaf_orphan" => {
            // Something that holds our output open when we are gone.
            std::process::Command::new("sh").args(["-c", "sleep 1000"]).spawn().unwrap();
            std::process::exit(9);
        }
        // Written at once: a line of another thread must not end it.
        "long_line" => {
            let bytes = usize::try_from(arguments["mib"].as_u64().unwrap_or(33)).unwrap() * 1024 * 1024;
            server.answer(id, text("x".repeat(bytes)));
        }
        "idless_error" => server.send(json!({ "id": null, "error": { "code": -32700, "message": "Parse error" } })),
        "wrong_id" => server.answer(&json!(987_654), text("for nobody")),
        "duplicate" => {
            server.answer(id, text("first"));
            server.answer(id, text("second"));
        }
        "batch" => server.raw(format!("[{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}},7]\n").as_bytes()),
        "bare" => server.raw(format!("{{\"id\":{id},\"result\":{{\"content\":[]}}}}\n").as_bytes()),
        "code_text" => server.send(json!({ "id": id, "error": { "code": "EBUSY", "message": "busy" } })),
        "no_message" => server.send(json!({ "id": id, "error": { "code": -32050 } })),
        "neither" => server.send(json!({ "id": id })),
        "stderr_flood" => {
            let line = format!("{}\n", "e".repeat(99));
            let flood = line.repeat(50_000);
            std::io::stderr().write_all(flood.as_bytes()).unwrap();
            server.answer(id, text("flooded"));
        }
        "deep" => {
            let (open, close) = (r#"{"a":"#.repeat(100_000), "}".repeat(100_000));
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{open}1{close}}}\n");
            server.raw(line.as_bytes());
        }
        "wide" => {
            let values = "{},".repeat(3_000_000);
            server.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[{values}0]}}\n").as_bytes());
        }
        // Asks without end and reads no answer.
        "pester" => {
            server.deaf.store(true, Ordering::SeqCst);
            for _ in 0..200_000 {
                server.send(json!({ "id": 7_000_000, "method": "nothing/of/the/kind", "params": {} }));
            }
        }
        "deafen" => {
            server.deaf.store(true, Ordering::SeqCst);
            server.answer(id, text("reading no more"));
        }
        "error" => server.error(id, -32050, "it broke"),
        "tool_error" => server.answer(id, json!({ "content": [{ "type": "text", "text": "no such city" }], "isError": true })),
        "split" => {
            // One answer in many small writes, with a multi-byte character split over two of them.
            let line = format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "result": text("纽约 24 ℃") }));
            for piece in line.as_bytes().chunks(5) {
                server.raw(piece);
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        "unknown_content" => server.answer(
            id,
            json!({ "content": [{ "type": "hologram", "depth": 3 }, { "type": "text", "text": "seen" }], "structuredContent": [1, 2] }),
        ),
        other => server.error(id, -32602, &format!("unknown fault {other}")),
    }
}
