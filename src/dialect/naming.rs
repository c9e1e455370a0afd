//! What tools are called in a text dialect, and which one is meant.
//!
//! A text dialect calls every tool by its name on the wire. What a model writes instead is found out here, without ever guessing
//! between two tools.

use crate::domain::ToolCall;
use crate::domain::names::Names;

/// Longest tool name that every known provider accepts, in bytes.
const MAX_NAME: usize = 64;

/// Names under which models declare the task done where a tool's name belongs.
const FINISH: [&str; 6] = ["finalanswer", "finish", "answer", "attemptcompletion", "final", "done"];

/// The name that finds the tool that is meant: `server.tool` and `server/tool` are read like `server:tool`. A name that finds none
/// stays as it is.
pub fn meant(asked: &str, names: &Names) -> String {
    let asked = asked.trim();
    if names.resolve(asked).is_some() {
        return asked.to_owned();
    }
    let split = ['.', '/', ':'].iter().find_map(|mark| {
        let (server, tool) = asked.split_once(*mark)?;
        names.wire(names.on_server(server, tool)?)
    });
    split.unwrap_or(asked).to_owned()
}

/// Whether the name, which no tool has, says that the task is done.
pub fn is_finish(asked: &str, names: &Names) -> bool {
    let plain: String = asked.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    FINISH.contains(&plain.as_str()) && names.resolve(asked).is_none()
}

/// The name of a call in the history: the tool's on the wire, or, where it is not offered any more, what is legal of it.
pub fn in_history(call: &ToolCall, names: &Names) -> String {
    let wire = call.tool.as_ref().and_then(|tool| names.wire(tool));
    wire.map_or_else(|| legal(&call.shown_name()), str::to_owned)
}

/// A name in letters that every provider accepts.
fn legal(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut out: String = name.replace(':', "__").chars().map(legal).collect();
    out.truncate(MAX_NAME);
    if out.is_empty() { "_".to_owned() } else { out }
}
