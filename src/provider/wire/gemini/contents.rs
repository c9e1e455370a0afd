//! The history as contents of alternating roles.

use super::sent;
use crate::domain::Content;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{CallRef, Message, Request};
use crate::provider::body::{Part, picture, weave};
use crate::provider::wire::Quirks;
use serde_json::{Value, json};

/// What the API takes in place of a signature for calls that another model made; see its page on thought signatures.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// The contents. Neighbours of one role are one.
pub(super) fn contents(request: &Request, quirks: &Quirks) -> Vec<Value> {
    let mut out: Vec<(&str, Vec<Value>)> = Vec::with_capacity(request.messages.len());
    // Pictures of results follow the last result in a row: results must stand together.
    let mut pictures: Vec<Value> = Vec::new();
    let turn = request.messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
    for (number, message) in request.messages.iter().enumerate() {
        if !matches!(message, Message::Tool { .. }) {
            push(&mut out, "user", std::mem::take(&mut pictures));
        }
        match message {
            Message::User { content } => push(&mut out, "user", user(content, quirks)),
            Message::Assistant { text, opaque, calls, reasoning: _ } => {
                let mut parts = model(text, opaque, calls);
                // Only the turn at hand is checked.
                if number > turn && checks_signatures(&request.model) {
                    sign(&mut parts);
                }
                push(&mut out, "model", parts);
            }
            Message::Tool { call, name, content, is_error } => {
                let key = if *is_error { "error" } else { "output" };
                let response = json!({ key: beside_media(content) });
                let part = json!({ "functionResponse": { "id": call, "name": sent(name), "response": response } });
                push(&mut out, "user", vec![part]);
                if quirks.images {
                    pictures.extend(content.iter().filter_map(inline));
                }
            }
        }
    }
    push(&mut out, "user", pictures);
    out.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn push<'a>(out: &mut Vec<(&'a str, Vec<Value>)>, role: &'a str, parts: Vec<Value>) {
    match out.last_mut() {
        Some((last, all)) if *last == role => all.extend(parts),
        _ if parts.is_empty() => {}
        _ => out.push((role, parts)),
    }
}

fn user(content: &[Content], quirks: &Quirks) -> Vec<Value> {
    if !quirks.images || !content.iter().any(|block| picture(block).is_some()) {
        return vec![json!({ "text": plain(content) })];
    }
    content.iter().map(|block| inline(block).unwrap_or_else(|| json!({ "text": block.to_plain() }))).collect()
}

fn inline(block: &Content) -> Option<Value> {
    let (mime, data) = picture(block)?;
    Some(json!({ "inlineData": { "mimeType": mime, "data": data.base64 } }))
}

/// The parts of a reply, each with the signature that it came with.
fn model(text: &str, opaque: &[Value], calls: &[CallRef]) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    // The signature of the next call, and the name of the call that it was made for.
    let mut pending: Option<&Value> = None;
    for part in weave(text, opaque, calls) {
        match part {
            Part::Text(text) => out.push(json!({ "text": text })),
            Part::Call(call) => {
                let args = if call.arguments.is_object() { call.arguments.clone() } else { json!({}) };
                let mut part = json!({ "functionCall": { "id": call.id, "name": sent(&call.name), "args": args } });
                if let Some(block) = pending.take().filter(|block| block["name"] == call.name.as_str()) {
                    part["thoughtSignature"] = block["signature"].clone();
                }
                out.push(part);
            }
            Part::Block(block) => match block["on"].as_str() {
                Some("call") => pending = Some(block),
                Some("thought") => {
                    out.push(json!({ "text": block["text"], "thought": true, "thoughtSignature": block["signature"] }));
                }
                _ => match out
                    .last_mut()
                    .filter(|part| part.get("text").is_some() && part.get("thoughtSignature").is_none())
                {
                    Some(part) => part["thoughtSignature"] = block["signature"].clone(),
                    None => out.push(json!({ "text": "", "thoughtSignature": block["signature"] })),
                },
            },
        }
    }
    out
}

/// Models before Gemini 3 take calls without a signature.
fn checks_signatures(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gemini-1", "gemini-2", "gemma"].iter().any(|old| name.starts_with(old))
}

/// Of parallel calls only the first is signed; one must be.
fn sign(parts: &mut [Value]) {
    let mut calls = parts.iter_mut().filter(|part| part.get("functionCall").is_some());
    let Some(first) = calls.next() else { return };
    if first.get("thoughtSignature").is_none() && !calls.any(|part| part.get("thoughtSignature").is_some()) {
        first["thoughtSignature"] = UNSIGNED.into();
    }
}
