//! The same reply in every wire format.
//!
//! Include it beside `sse_model` with `#[path = "../support/speech.rs"] mod speech;`.

// Each test binary uses its own part of this.
#![allow(dead_code)]
// It is test code, and a broken script should end the test; clippy sees tests only inside `#[test]`.
#![allow(clippy::panic)]

use crate::sse_model::Reply;
use serde_json::{Value, json};

/// The endpoints of the catalogue whose format is not Chat Completions.
pub const OTHERS: [&str; 4] = ["anthropic", "gemini", "ollama", "openai-responses"];

/// A part of a reply.
#[derive(Debug, Clone)]
pub enum Say {
    /// A thought, signed where the format signs.
    Think(&'static str),
    /// Text.
    Text(&'static str),
    /// A call: id (where the format has them), name, arguments.
    Call(&'static str, &'static str, Value),
    /// A call whose arguments stop in the middle (where the format streams them).
    Half(&'static str, &'static str, &'static str),
}

/// How it ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// Properly.
    Done,
    /// At the limit of tokens.
    Limit,
    /// The connection breaks.
    Cut,
    /// With an error inside the reply: the provider is overloaded, or as near as the format comes to that.
    Error,
}

/// The bytes of a reply.
pub fn bytes(provider: &str, says: &[Say], end: End) -> Vec<u8> {
    match provider {
        "anthropic" => anthropic(says, end),
        "gemini" => gemini(says, end),
        "ollama" => ollama(says, end),
        "openai-responses" => responses(says, end),
        other => panic!("{other} speaks Chat Completions"),
    }
}

/// The reply.
pub fn reply(provider: &str, says: &[Say], end: End) -> Reply {
    let mut bytes = bytes(provider, says, end);
    if end == End::Cut {
        // In the middle of what follows.
        bytes.extend_from_slice(if provider == "ollama" { b"{\"mess" } else { b"data: {\"ty" });
    }
    let kind = if provider == "ollama" { "application/x-ndjson" } else { "text/event-stream" };
    let reply = Reply::body(kind, bytes);
    if end == End::Cut { reply.then_cut() } else { reply }
}

fn sse(frames: &[Value]) -> Vec<u8> {
    let event = |frame: &Value| {
        let name = frame["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {frame}\n\n")
    };
    frames.iter().map(event).collect::<String>().into_bytes()
}

fn anthropic(says: &[Say], end: End) -> Vec<u8> {
    let usage = json!({ "input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 1 });
    let mut out = vec![
        json!({ "type": "message_start", "message": { "type": "message", "usage": usage } }),
        json!({ "type": "ping" }),
    ];
    let mut calls = false;
    for (index, say) in says.iter().enumerate() {
        let (block, deltas) = match say {
            Say::Think(text) => (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                vec![
                    json!({ "type": "thinking_delta", "thinking": text }),
                    json!({ "type": "signature_delta", "signature": "c2lnbmVk" }),
                ],
            ),
            Say::Text(text) => {
                (json!({ "type": "text", "text": "" }), vec![json!({ "type": "text_delta", "text": text })])
            }
            Say::Call(id, name, arguments) => {
                (tool_use(id, name), vec![json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })])
            }
            Say::Half(id, name, text) => {
                (tool_use(id, name), vec![json!({ "type": "input_json_delta", "partial_json": text })])
            }
        };
        calls |= matches!(say, Say::Call(..));
        out.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        out.extend(
            deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        out.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = match end {
        End::Cut => return sse(&out),
        End::Error => {
            out.push(json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }));
            return sse(&out);
        }
        End::Limit => "max_tokens",
        End::Done if calls => "tool_use",
        End::Done => "end_turn",
    };
    out.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 25 } }));
    out.push(json!({ "type": "message_stop" }));
    sse(&out)
}

fn tool_use(id: &str, name: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": {} })
}

fn gemini(says: &[Say], end: End) -> Vec<u8> {
    let frame =
        |parts: Value| json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "index": 0 }] });
    let mut out = Vec::new();
    let mut signed = false;
    for say in says {
        out.push(frame(match say {
            Say::Think(text) => json!([{ "text": text, "thought": true }]),
            Say::Text(text) => json!([{ "text": text }]),
            Say::Call(_, name, arguments) => {
                let mut part = json!({ "functionCall": { "name": name, "args": arguments } });
                if !signed {
                    part["thoughtSignature"] = "c2lnbmVk".into();
                    signed = true;
                }
                json!([part])
            }
            // A call is never streamed in pieces: at the limit there is none.
            Say::Half(..) => json!([]),
        }));
    }
    let usage = json!({ "promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 25 });
    match end {
        End::Cut => {}
        End::Error => out.push(json!({ "error": { "code": 503, "status": "UNAVAILABLE", "message": "Overloaded" } })),
        End::Limit => out.push(json!({ "candidates": [{ "finishReason": "MAX_TOKENS" }], "usageMetadata": usage })),
        End::Done => out.push(json!({ "candidates": [{ "finishReason": "STOP" }], "usageMetadata": usage })),
    }
    sse(&out)
}

fn ollama(says: &[Say], end: End) -> Vec<u8> {
    let line = |fields: Value| {
        let mut message = json!({ "role": "assistant", "content": "" });
        for (name, value) in fields.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        json!({ "model": "test-model", "message": message, "done": false })
    };
    let mut out: Vec<Value> = Vec::new();
    for say in says {
        out.push(line(match say {
            Say::Think(text) => json!({ "thinking": text }),
            Say::Text(text) => json!({ "content": text }),
            Say::Call(_, name, arguments) => {
                json!({ "tool_calls": [{ "function": { "name": name, "arguments": arguments } }] })
            }
            Say::Half(..) => json!({}),
        }));
    }
    let last = |reason: &str| json!({ "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": reason, "prompt_eval_count": 100, "eval_count": 25 });
    match end {
        End::Cut => {}
        End::Error => out.push(json!({ "error": "Overloaded" })),
        End::Limit => out.push(last("length")),
        End::Done => out.push(last("stop")),
    }
    out.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

fn responses(says: &[Say], end: End) -> Vec<u8> {
    let mut out = vec![json!({ "type": "response.created", "response": { "status": "in_progress" } })];
    for (index, say) in says.iter().enumerate() {
        let (begun, deltas, done) = match say {
            Say::Think(text) => (
                json!({ "type": "reasoning", "id": "rs_1", "summary": [] }),
                vec![("response.reasoning_summary_text.delta", *text)],
                Some(json!({
                    "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": text }], "encrypted_content": "c2lnbmVk",
                })),
            ),
            Say::Text(text) => (
                json!({ "type": "message", "role": "assistant", "content": [] }),
                vec![("response.output_text.delta", *text)],
                Some(json!({ "type": "message", "content": [{ "type": "output_text", "text": text }] })),
            ),
            Say::Call(id, name, arguments) => {
                let item =
                    |text: &str| json!({ "type": "function_call", "call_id": id, "name": name, "arguments": text });
                (item(""), vec![], Some(item(&arguments.to_string())))
            }
            Say::Half(id, name, text) => (
                json!({ "type": "function_call", "call_id": id, "name": name, "arguments": "" }),
                vec![("response.function_call_arguments.delta", *text)],
                None,
            ),
        };
        out.push(json!({ "type": "response.output_item.added", "output_index": index, "item": begun }));
        out.extend(
            deltas.into_iter().map(|(kind, delta)| json!({ "type": kind, "output_index": index, "delta": delta })),
        );
        out.extend(
            done.map(|item| json!({ "type": "response.output_item.done", "output_index": index, "item": item })),
        );
    }
    let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 90 }, "output_tokens": 25 });
    match end {
        End::Cut => {}
        End::Error => {
            let error = json!({ "code": "server_error", "message": "Overloaded" });
            out.push(json!({ "type": "response.failed", "response": { "status": "failed", "error": error } }));
        }
        End::Limit => out.push(json!({
            "type": "response.incomplete",
            "response": { "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" }, "usage": usage },
        })),
        End::Done => out.push(json!({ "type": "response.completed", "response": { "status": "completed", "usage": usage } })),
    }
    sse(&out)
}
