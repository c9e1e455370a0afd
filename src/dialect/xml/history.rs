//! Messages in tags.

use super::encode;
use crate::dialect::written::{Act, Hand, Said};
use crate::domain::ToolCall;

/// Writes messages in tags.
#[derive(Debug, Clone, Copy)]
pub struct Tags;

impl Hand for Tags {
    fn message(&self, said: &Said<'_>) -> String {
        let mut parts: Vec<String> = said.thoughts.iter().map(|thought| encode::thinking(thought)).collect();
        match said.act {
            Act::Completion(command) => parts.push(encode::completion(&said.text, command)),
            act => {
                parts.extend((!said.text.is_empty()).then(|| said.text.clone()));
                if let Act::Call(call) = act {
                    parts.push(encode::call(call));
                }
            }
        }
        parts.join("\n\n")
    }

    fn result(&self, call: &ToolCall, text: &str) -> String {
        let on_server = call.tool.as_ref().map_or(call.asked.contains(':'), |id| id.server.is_some());
        let name = call.shown_name();
        if on_server {
            format!("[use_mcp_tool for '{name}'] Result:\n{text}")
        } else {
            format!("[{name}] Result:\n{text}")
        }
    }
}
