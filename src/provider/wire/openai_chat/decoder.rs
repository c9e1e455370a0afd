//! Reads a reply: a stream of `chat.completion.chunk`, or one whole `chat.completion` from a server that does not stream.

use super::calls::Calls;
use crate::domain::Usage;
use crate::domain::model::{FinishReason, ModelError, ModelErrorKind, StreamEvent};
use crate::provider::problem;
use crate::provider::wire::Decode;
use serde_json::Value;

/// What the payloads so far were.
#[derive(Default, PartialEq)]
enum Kind {
    #[default]
    Nothing,
    /// JSON, but of no chat completion.
    Strange,
    Chat,
}

/// The reader of one reply.
#[derive(Default)]
pub struct Decoder {
    calls: Calls,
    usage: Usage,
    /// Why the reply ended; held back until the counts that may follow are in.
    reason: Option<FinishReason>,
    /// `Finish` went out.
    done: bool,
    kind: Kind,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let data = data.trim();
        if self.done {
            return Ok(());
        }
        if data == "[DONE]" {
            if self.reason.is_none() {
                self.settle(None, out);
            }
            self.finish(out);
            return Ok(());
        }
        let before = out.len();
        if !data.is_empty() {
            let frame = serde_json::from_str(data).map_err(|error| {
                problem::error(ModelErrorKind::Protocol, format!("the reply is not JSON ({error}): {data}"))
            })?;
            self.frame(&frame, out)?;
        }
        if out.len() == before {
            out.push(StreamEvent::Alive);
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        if self.reason.is_none() {
            return Err(match self.kind {
                Kind::Strange => problem::error(ModelErrorKind::Protocol, "the reply is no chat completion"),
                Kind::Nothing | Kind::Chat => {
                    problem::error(ModelErrorKind::Cut, "the reply ended before the model was done")
                }
            });
        }
        self.finish(out);
        Ok(())
    }

    fn settled(&self) -> bool {
        self.reason.is_some()
    }
}

impl Decoder {
    fn frame(&mut self, frame: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if self.reason.is_none() {
            if let Some(error) = problem::in_reply(frame) {
                return Err(error);
            }
            if frame.get("choices").is_some() {
                self.kind = Kind::Chat;
            } else if self.kind == Kind::Nothing {
                self.kind = Kind::Strange;
            }
            if let Some(choice) = first_choice(frame) {
                self.choice(choice, out);
            }
        }
        if let Some(usage) = usage(frame).filter(|usage| *usage != self.usage) {
            self.usage = usage;
            out.push(StreamEvent::Usage { usage });
        }
        Ok(())
    }

    fn choice(&mut self, choice: &Value, out: &mut Vec<StreamEvent>) {
        let object = |name| choice.get(name).filter(|value| value.is_object());
        let delta = object("delta");
        let whole = delta.is_none();
        if let Some(message) = delta.or_else(|| object("message")) {
            reasoning(message, out);
            content(message.get("content"), out);
            push_text(message.get("refusal"), out);
            self.calls.take(message, out);
            // A whole message is over, whatever it says.
            if whole {
                self.settle(None, out);
            }
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.settle(Some(reason), out);
        }
    }

    fn settle(&mut self, reason: Option<&str>, out: &mut Vec<StreamEvent>) {
        self.calls.finish(out);
        let stop = if self.calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        self.reason = Some(match reason.map(str::to_ascii_lowercase).as_deref() {
            // Several servers say "stop" although there are calls.
            None | Some("stop" | "end_turn" | "eos" | "stop_sequence") => stop,
            Some("tool_calls" | "function_call" | "tool_use") => FinishReason::ToolCalls,
            Some("length" | "max_tokens" | "model_length") => FinishReason::Length,
            Some("content_filter" | "safety" | "sensitive") => FinishReason::Filtered,
            Some(_) => FinishReason::Other(reason.unwrap_or_default().to_owned()),
        });
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        self.done = true;
        let reason = self.reason.clone().unwrap_or(FinishReason::Stop);
        out.push(StreamEvent::Finish { reason });
    }
}

/// We never ask for more than one choice; a server that sends more is read for its first.
fn first_choice(frame: &Value) -> Option<&Value> {
    let choices = frame.get("choices")?.as_array()?;
    choices.iter().find(|choice| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0)
}

/// `reasoning_content` (DeepSeek, llama.cpp, vLLM), else `reasoning` (OpenRouter, Groq, Ollama), else the texts of `reasoning_details`.
/// Some servers send the same text under two names: the first that holds text is taken.
fn reasoning(message: &Value, out: &mut Vec<StreamEvent>) {
    let text = ["reasoning_content", "reasoning"]
        .iter()
        .filter_map(|name| message.get(*name)?.as_str())
        .find(|text| !text.is_empty());
    if let Some(text) = text {
        out.push(StreamEvent::Reasoning { text: text.to_owned() });
        return;
    }
    for detail in message.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
        let text = ["text", "summary"].iter().find_map(|name| detail.get(*name)?.as_str());
        push_reasoning(text, out);
    }
}

fn push_reasoning(text: Option<&str>, out: &mut Vec<StreamEvent>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.push(StreamEvent::Reasoning { text: text.to_owned() });
    }
}

fn push_text(value: Option<&Value>, out: &mut Vec<StreamEvent>) {
    if let Some(text) = value.and_then(Value::as_str).filter(|text| !text.is_empty()) {
        out.push(StreamEvent::Text { text: text.to_owned() });
    }
}

/// A text, or a list of parts (`text`; Mistral's `thinking`, which is a list itself).
fn content(value: Option<&Value>, out: &mut Vec<StreamEvent>) {
    let Some(Value::Array(parts)) = value else { return push_text(value, out) };
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning") => thinking(part, out),
            _ => push_text(part.get("text").or(Some(part)), out),
        }
    }
}

fn thinking(part: &Value, out: &mut Vec<StreamEvent>) {
    match part.get("thinking").or_else(|| part.get("text")) {
        Some(Value::Array(inner)) => {
            for piece in inner {
                push_reasoning(piece.get("text").and_then(Value::as_str), out);
            }
        }
        other => push_reasoning(other.and_then(Value::as_str), out),
    }
}

/// Token counts, under the names that are in use. `None` where there are none, or only zeros.
fn usage(frame: &Value) -> Option<Usage> {
    let object = frame.get("usage").filter(|value| value.is_object()).or_else(|| frame.pointer("/x_groq/usage"))?;
    let count = |pointer: &str| object.pointer(pointer).and_then(Value::as_u64);
    let (input, reasoning) = (
        count("/prompt_tokens").unwrap_or(0),
        count("/completion_tokens_details/reasoning_tokens").or_else(|| count("/reasoning_tokens")).unwrap_or(0),
    );
    let mut output = count("/completion_tokens").unwrap_or(0);
    // xAI counts the reasoning beside the completion instead of within it.
    if reasoning > 0 && count("/total_tokens") == Some(input.saturating_add(output).saturating_add(reasoning)) {
        output = output.saturating_add(reasoning);
    }
    let cached = count("/prompt_tokens_details/cached_tokens").or_else(|| count("/prompt_cache_hit_tokens"));
    let usage = Usage { input, output, cached: cached.unwrap_or(0), written: 0, reasoning };
    (usage != Usage::default()).then_some(usage)
}
