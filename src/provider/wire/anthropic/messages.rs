//! The history as messages of alternating roles.

use super::cached;
use crate::domain::Content;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{CallRef, Message};
use crate::provider::body::{Ids, Part, picture, weave};
use crate::provider::wire::Quirks;
use serde_json::{Value, json};

/// Breakpoints in the history: its end, and the end of the user's message before, which the last request wrote.
const BREAKPOINTS: usize = 2;

/// The messages. Neighbours of one role are one message.
pub(super) fn messages(history: &[Message], quirks: &Quirks) -> Vec<Value> {
    let mut ids = Ids::default();
    let mut out: Vec<(&str, Vec<Value>)> = Vec::with_capacity(history.len());
    for message in history {
        let (role, blocks) = match message {
            Message::User { content } => ("user", user(content, quirks)),
            Message::Assistant { text, opaque, calls, reasoning: _ } => {
                ("assistant", assistant(text, opaque, calls, &mut ids))
            }
            Message::Tool { call, content, is_error, name: _ } => {
                ("user", vec![result(&ids.legal(call), content, *is_error, quirks)])
            }
        };
        match out.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            // The API refuses a message without blocks.
            _ if blocks.is_empty() => {}
            _ => out.push((role, blocks)),
        }
    }
    for (_, blocks) in out.iter_mut().rev().filter(|(role, _)| *role == "user").take(BREAKPOINTS) {
        if let Some(last) = blocks.last_mut() {
            last["cache_control"] = cached();
        }
    }
    out.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Whether the history ends in results of calls that no thought of this model led to.
pub(super) fn is_foreign_turn(history: &[Message]) -> bool {
    let called = history.iter().rev().find(|message| !matches!(message, Message::Tool { .. }));
    let open = matches!(history.last(), Some(Message::Tool { .. }));
    open && matches!(called, Some(Message::Assistant { opaque, .. }) if opaque.is_empty())
}

fn user(content: &[Content], quirks: &Quirks) -> Vec<Value> {
    if !quirks.images || !content.iter().any(|block| picture(block).is_some()) {
        return text(&plain(content)).into_iter().collect();
    }
    content.iter().filter_map(|block| image(block).or_else(|| text(&block.to_plain()))).collect()
}

fn result(id: &str, content: &[Content], is_error: bool, quirks: &Quirks) -> Value {
    let mut blocks: Vec<Value> = text(&beside_media(content)).into_iter().collect();
    if quirks.images {
        blocks.extend(content.iter().filter_map(image));
    }
    let mut result = json!({ "type": "tool_result", "tool_use_id": id, "content": blocks });
    if is_error {
        result["is_error"] = true.into();
    }
    result
}

fn assistant(said: &str, opaque: &[Value], calls: &[CallRef], ids: &mut Ids) -> Vec<Value> {
    let block = |part: Part<'_>| match part {
        Part::Text(said) => text(said),
        Part::Block(block) => Some(block.clone()),
        Part::Call(call) => {
            let input = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
            Some(json!({ "type": "tool_use", "id": ids.legal(&call.id), "name": call.name, "input": input }))
        }
    };
    weave(said, opaque, calls).into_iter().filter_map(block).collect()
}

/// A block of text; blank ones are refused.
fn text(said: &str) -> Option<Value> {
    (!said.trim().is_empty()).then(|| json!({ "type": "text", "text": said }))
}

fn image(block: &Content) -> Option<Value> {
    let (mime, data) = picture(block)?;
    Some(json!({ "type": "image", "source": { "type": "base64", "media_type": mime, "data": data.base64 } }))
}
