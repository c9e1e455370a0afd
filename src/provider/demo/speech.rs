//! A reply as a stream: function calls, or a text dialect. Both come in small pieces, as from a real model.

use super::scene::Style;
use super::script::{Act, Call, Reply};
use crate::domain::model::{FinishReason, StreamEvent};
use serde_json::{Value, json};
use std::fmt::Write;

/// Bytes of arguments in one piece, about.
const ARGUMENT_PIECE: usize = 12;

/// The events of a reply.
pub(super) fn events(reply: &Reply, style: Style) -> Vec<StreamEvent> {
    let mut out = vec![StreamEvent::Alive];
    let reason = match style {
        Style::Native => native(reply, &mut out),
        Style::Xml | Style::React | Style::Json => {
            let text = match style {
                Style::React => react(reply),
                Style::Json => json(reply),
                Style::Xml | Style::Native => xml(reply),
            };
            out.extend(words(&text).into_iter().map(|text| StreamEvent::Text { text }));
            FinishReason::Stop
        }
    };
    out.push(StreamEvent::Finish { reason });
    out
}

fn native(reply: &Reply, out: &mut Vec<StreamEvent>) -> FinishReason {
    out.extend(words(&reply.thought).into_iter().map(|text| StreamEvent::Reasoning { text }));
    match &reply.act {
        Act::Complete(answer) => {
            out.extend(words(answer).into_iter().map(|text| StreamEvent::Text { text }));
            FinishReason::Stop
        }
        Act::Call(calls) => {
            for (slot, call) in (0..).zip(calls) {
                let id = Some(format!("tour_{}_{slot}", call.tool));
                out.push(StreamEvent::CallStart { slot, id, name: call.wire_name.clone() });
                let arguments = Value::Object(call.arguments.clone()).to_string();
                out.extend(cut(&arguments).into_iter().map(|text| StreamEvent::CallArguments { slot, text }));
            }
            FinishReason::ToolCalls
        }
    }
}

fn xml(reply: &Reply) -> String {
    let mut out = format!("<thinking>\n{}\n</thinking>\n\n", reply.thought);
    match &reply.act {
        Act::Complete(answer) => {
            let _ = write!(out, "<attempt_completion>\n<result>\n{answer}\n</result>\n</attempt_completion>");
        }
        // One call a reply is the rule of that format.
        Act::Call(calls) => calls.iter().take(1).for_each(|call| out.push_str(&xml_call(call))),
    }
    out
}

fn xml_call(call: &Call) -> String {
    if let Some(server) = call.server {
        let arguments = Value::Object(call.arguments.clone());
        return format!(
            "<use_mcp_tool>\n<server_name>{server}</server_name>\n<tool_name>{}</tool_name>\n<arguments>\n{arguments}\n</arguments>\n</use_mcp_tool>",
            call.tool
        );
    }
    let mut out = format!("<{}>\n", call.tool);
    for (name, value) in &call.arguments {
        let _ = match value {
            Value::String(text) => writeln!(out, "<{name}>{text}</{name}>"),
            other => writeln!(out, "<{name}>{other}</{name}>"),
        };
    }
    let _ = write!(out, "</{}>", call.tool);
    out
}

fn react(reply: &Reply) -> String {
    let mut out = format!("Thought: {}\n", reply.thought);
    match &reply.act {
        Act::Complete(answer) => {
            let _ = write!(out, "Final Answer: {answer}");
        }
        Act::Call(calls) => calls.iter().take(1).for_each(|call| {
            let input = Value::Object(call.arguments.clone());
            let _ = write!(out, "Action: {}\nAction Input: {input}", call.wire_name);
        }),
    }
    out
}

fn json(reply: &Reply) -> String {
    match &reply.act {
        Act::Complete(answer) => json!({ "thought": reply.thought, "answer": answer }).to_string(),
        Act::Call(calls) => {
            let call =
                |call: &Call| json!({ "thought": reply.thought, "tool": call.wire_name, "arguments": call.arguments });
            calls.iter().take(1).map(|one| call(one).to_string()).collect()
        }
    }
}

/// Pieces as models write them: a word with the space before it, or two characters of Chinese.
fn words(text: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let (mut piece, mut previous) = (String::new(), ' ');
    for c in text.chars() {
        let begins = if c.is_ascii() {
            !previous.is_ascii() || (c.is_whitespace() && !previous.is_whitespace())
        } else {
            previous.is_ascii() || piece.chars().count() >= 2
        };
        if begins && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(c);
        previous = c;
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

fn cut(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        if pieces.last().is_some_and(|piece| piece.len() >= ARGUMENT_PIECE) {
            pieces.push(String::new());
        }
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}
