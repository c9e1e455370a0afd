//! Writes thoughts, calls and completions the way the system prompt teaches them.
//!
//! The history shows the model only well-formed examples of its own calls, however it wrote them. **Invariant:** a call that is
//! written and read again is the same call (arguments of built-ins as strings).

use super::text::{self, Length};
use crate::dialect::aliases::aliases;
use crate::dialect::json;
use crate::domain::{ServerName, ToolCall};
use serde_json::Value;
use std::fmt::Write;

const MCP: &str = "use_mcp_tool";

/// A thought in its tag.
pub fn thinking(text: &str) -> String {
    format!("<thinking>\n{}\n</thinking>", text::without_closing_tags(text, &["thinking", "think"]))
}

/// A final answer in its tags, with the command that shows it.
pub fn completion(result: &str, command: Option<&str>) -> String {
    let command = command.map_or_else(String::new, |command| format!("<command>{command}</command>\n"));
    format!("<attempt_completion>\n<result>\n{result}\n</result>\n{command}</attempt_completion>")
}

/// A call in its tags.
pub fn call(call: &ToolCall) -> String {
    match &call.tool {
        Some(id) => match &id.server {
            Some(server) => on_server(server, &id.name, &call.arguments),
            None => by_tag(&id.name, &call.arguments),
        },
        None => match call.asked.split_once(':') {
            Some((server, tool)) => on_server(&server.into(), tool, &call.arguments),
            None if is_name(&call.asked) => by_tag(&call.asked, &call.arguments),
            None => on_server(&"".into(), &call.asked, &call.arguments),
        },
    }
}

fn on_server(server: &ServerName, tool: &str, arguments: &Value) -> String {
    let server = text::write(MCP, "server_name", server.as_str(), Length::Short);
    let tool = text::write(MCP, "tool_name", tool, Length::Short);
    let arguments = json_text(arguments);
    format!(
        "<use_mcp_tool>\n<server_name>{server}</server_name>\n<tool_name>{tool}</tool_name>\n\
         <arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>"
    )
}

fn by_tag(tool: &str, arguments: &Value) -> String {
    let Some(parameters) = arguments.as_object().filter(|map| map.keys().all(|key| is_parameter(tool, key))) else {
        return format!("<{tool}>\n{}\n</{tool}>", json_text(arguments));
    };
    let mut out = format!("<{tool}>\n");
    // Long ones last: what may follow them is known only for the tools of the table.
    let (long, short): (Vec<_>, Vec<_>) = parameters.iter().partition(|(name, _)| aliases().is_long(name));
    for (name, value) in short.into_iter().chain(long) {
        let length = if aliases().is_long(name) { Length::Long } else { Length::Short };
        let value = value.as_str().map_or_else(|| json::spaced(value), str::to_owned);
        let _ = writeln!(out, "<{name}>{}</{name}>", text::write(tool, name, &value, length));
    }
    let _ = write!(out, "</{tool}>");
    out
}

/// JSON in which no closing tag stands.
fn json_text(value: &Value) -> String {
    json::spaced(value).replace("</", "\\u003c/")
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn is_parameter(tool: &str, name: &str) -> bool {
    // A name that could close the call, or open another one, is safe only inside JSON.
    let top = ["use_mcp_tool", "access_mcp_resource", "attempt_completion", "thinking", "think"];
    is_name(name) && name.len() <= super::SHORTEST_LIMIT && name != tool && !top.contains(&name)
}
