//! The servers that the models of the recordings spoke to, with what they answered then.

use crate::rig::canned_server;
use crate::sse_model::{Pace, Reply};
use mcpane::domain::server::ServerEntry;
use serde_json::{Value, json};
use std::path::Path;

/// A recorded reply.
pub fn played(name: &str, pace: Pace) -> Reply {
    Reply::recording(&format!("tests/fixtures/recordings/{name}.sse"), pace)
}

/// A recorded reply, at once.
pub fn recorded(name: &str) -> Reply {
    played(name, Pace::AtOnce)
}

/// The bytes of a recording.
pub fn recording(name: &str) -> String {
    let path = format!("{}/tests/fixtures/recordings/{name}.sse", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// The servers `files` and `weather`.
pub fn offices(home: &Path) -> Vec<ServerEntry> {
    let object = |properties: Value, required: &str| json!({ "type": "object", "properties": properties, "required": [required] });
    let failed = |text: &str| json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    let listing = "a.txt\nb.txt\nc.txt";
    let code = "The garden gate code is 4417.";
    let files = json!({
        "tools": [
            { "name": "list_folder", "description": "List the names of the files in a folder.",
              "inputSchema": object(json!({ "path": { "type": "string" } }), "path") },
            { "name": "read_file", "description": "Read a text file and return its contents.",
              "inputSchema": object(json!({ "path": { "type": "string" } }), "path") },
        ],
        "results": {
            "list_folder": [[{ "path": "notes" }, listing], [{ "path": "/notes" }, listing], [null, failed("no such folder")]],
            "read_file": [
                [{ "path": "notes/b.txt" }, "Buy milk and two lemons."],
                [{ "path": "notes/c.txt" }, code],
                [{ "path": "/notes/c.txt", "folder": "/notes" }, code],
                [{ "path": "/etc/hostname" }, "box-17"],
                [{ "path": "greetings/french.txt" }, "Salut"],
                [{ "path": "notes/z.txt" }, failed("no such file: notes/z.txt")],
            ],
        },
    });
    let city = json!({ "city": { "type": "string" }, "days": { "type": "integer" } });
    let forecast =
        r#"{"city":"Oslo","forecast":[{"day":"Mon","high_c":3,"sky":"snow"},{"day":"Tue","high_c":5,"sky":"clear"}]}"#;
    let weather = json!({
        "tools": [{ "name": "get_forecast", "description": "Get the weather forecast for one city.", "inputSchema": object(city, "city") }],
        "results": { "get_forecast": [[{ "city": "Oslo", "days": 2 }, forecast], [{ "city": "Oslo", "days": 1 }, "Oslo: snow"], [{ "city": "Paris", "days": 1 }, "Paris: rain"]] },
    });
    vec![canned_server("files", home, &files), canned_server("weather", home, &weather)]
}
