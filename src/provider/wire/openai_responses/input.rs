//! The history as input items.

use crate::domain::Content;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{CallRef, Message};
use crate::provider::body::{Ids, Part, picture, weave};
use crate::provider::wire::Quirks;
use serde_json::{Value, json};

/// The items.
pub(super) fn input(history: &[Message], quirks: &Quirks) -> Vec<Value> {
    let mut ids = Ids::default();
    let mut out = Vec::with_capacity(history.len());
    for message in history {
        match message {
            Message::User { content } => {
                out.push(json!({ "type": "message", "role": "user", "content": parts(content, plain, quirks) }));
            }
            Message::Assistant { text, opaque, calls, reasoning: _ } => {
                assistant(text, opaque, calls, &mut ids, &mut out);
            }
            // The format has no mark for a failure; the dialect says it in the text.
            Message::Tool { call, content, name: _, is_error: _ } => {
                let seen = quirks.images && content.iter().any(|block| picture(block).is_some());
                let output: Value =
                    if seen { parts(content, beside_media, quirks).into() } else { beside_media(content).into() };
                out.push(json!({ "type": "function_call_output", "call_id": ids.legal(call), "output": output }));
            }
        }
    }
    out
}

/// Text, and the pictures where the model sees.
fn parts(content: &[Content], text: fn(&[Content]) -> String, quirks: &Quirks) -> Vec<Value> {
    let pictures: Vec<Value> = content.iter().filter(|_| quirks.images).filter_map(image).collect();
    let rest: Vec<Content> =
        content.iter().filter(|block| !quirks.images || picture(block).is_none()).cloned().collect();
    let said = text(&rest);
    let mut out = Vec::with_capacity(pictures.len() + 1);
    if !said.is_empty() || pictures.is_empty() {
        out.push(json!({ "type": "input_text", "text": said }));
    }
    out.extend(pictures);
    out
}

fn image(block: &Content) -> Option<Value> {
    let (mime, data) = picture(block)?;
    Some(json!({ "type": "input_image", "detail": "auto", "image_url": format!("data:{mime};base64,{}", data.base64) }))
}

fn assistant(text: &str, opaque: &[Value], calls: &[CallRef], ids: &mut Ids, out: &mut Vec<Value>) {
    for part in weave(text, opaque, calls) {
        out.push(match part {
            Part::Text(text) => {
                json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
            }
            Part::Block(block) => block.clone(),
            Part::Call(call) => {
                let arguments = if call.arguments.is_object() { call.arguments.to_string() } else { "{}".to_owned() };
                json!({ "type": "function_call", "call_id": ids.legal(&call.id), "name": call.name, "arguments": arguments })
            }
        });
    }
}
