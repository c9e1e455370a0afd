//! Tools and results from a file, for tests that need tools of a certain name: `{ "tools": [DEFINITION…], "results": { TOOL: [[ARGUMENTS, RESULT]…] } }`.
//!
//! The first result whose arguments are those of the call is given, or one whose arguments are `null`. The file is read anew each time, and its changes
//! are told to the client.

use super::Server;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn read(file: &str) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// What the file lists.
pub fn definitions(file: &str) -> Vec<Value> {
    read(file)["tools"].as_array().expect("a list of tools").clone()
}

/// The result of a call, if the file has one.
pub fn result(file: &str, params: &Value) -> Option<Value> {
    let file = read(file);
    let results = file["results"][params["name"].as_str()?].as_array()?;
    let fits = |one: &&Value| one[0].is_null() || one[0] == params["arguments"];
    results.iter().find(fits).map(|one| match &one[1] {
        Value::String(text) => json!({ "content": [{ "type": "text", "text": text }] }),
        result => result.clone(),
    })
}

/// Tells the client when the tools of the file changed. The file must be replaced as a whole.
pub fn watch(server: Arc<Server>, file: String) {
    std::thread::spawn(move || {
        let mut known = definitions(&file);
        loop {
            std::thread::sleep(Duration::from_millis(10));
            let now = definitions(&file);
            if now != known {
                known = now;
                server.notify("notifications/tools/list_changed", json!({}));
            }
        }
    });
}
