//! Reads a reply: the events of a streamed message, or one whole message from a server that does not stream.

use crate::domain::Usage;
use crate::domain::model::{FinishReason, ModelError, ModelErrorKind, StreamEvent};
use crate::provider::body::{Point, place};
use crate::provider::problem;
use crate::provider::wire::Decode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A block that is open.
enum Block {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// A thought that only the provider can read.
    Redacted(Value),
    Call {
        slot: u32,
        begun: bool,
        input: Value,
    },
    /// A kind that we do not ask for.
    Other,
}

/// The reader of one reply.
#[derive(Default)]
pub struct Decoder {
    blocks: BTreeMap<u64, Block>,
    /// How far the reply has come.
    at: Point,
    counts: Counts,
    usage: Usage,
    /// Why the reply ended; held back until the counts that may follow are in.
    reason: Option<FinishReason>,
    begun: bool,
    done: bool,
}

/// Token counts as the API gives them; later events repeat some of them.
#[derive(Default)]
struct Counts {
    fresh: u64,
    read: u64,
    written: u64,
    output: u64,
    thinking: u64,
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let data = data.trim();
        if self.done {
            return Ok(());
        }
        let before = out.len();
        if !data.is_empty() && data != "[DONE]" {
            let event: Value = serde_json::from_str(data).map_err(|error| {
                problem::error(ModelErrorKind::Protocol, format!("the reply is not JSON ({error}): {data}"))
            })?;
            self.event(&event, out)?;
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
            return Err(if self.begun {
                problem::error(ModelErrorKind::Cut, "the reply ended before the model was done")
            } else {
                problem::error(ModelErrorKind::Network, "the reply is empty")
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
    fn event(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        let part = |name: &str| event.get(name).unwrap_or(&Value::Null);
        match event.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                self.begun = true;
                self.count(part("message"), out);
            }
            "content_block_start" => self.start(index, part("content_block"), out),
            "content_block_delta" => self.delta(index, part("delta"), out),
            "content_block_stop" => self.stop(index, out),
            "message_delta" => {
                self.count(event, out);
                if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.settle(reason, out);
                }
            }
            "message_stop" => {
                if self.reason.is_none() {
                    self.settle("end_turn", out);
                }
                self.finish(out);
            }
            "message" => self.whole(event, out),
            "error" if self.reason.is_none() => {
                let unknown =
                    || problem::error(ModelErrorKind::Server, "the provider reported an error without a message");
                return Err(problem::in_reply(event).unwrap_or_else(unknown));
            }
            // A proxy in between may speak another format.
            "" if self.reason.is_none() => {
                let strange = || problem::error(ModelErrorKind::Protocol, "the reply is no message");
                return Err(problem::in_reply(event).unwrap_or_else(strange));
            }
            // `ping`, and events of later versions.
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, index: u64, block: &Value, out: &mut Vec<StreamEvent>) {
        self.begun = true;
        // A server that never closed the block before.
        self.stop(index, out);
        let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let opened = match block.get("type").and_then(Value::as_str).unwrap_or_default() {
            "text" => {
                self.say(text("text"), out);
                Block::Text
            }
            "thinking" => {
                let thought = text("thinking");
                think(&thought, out);
                Block::Thinking { text: thought, signature: text("signature") }
            }
            "redacted_thinking" => Block::Redacted(block.clone()),
            "tool_use" => {
                let slot = u32::try_from(self.at.calls).unwrap_or(u32::MAX);
                self.at.calls += 1;
                let id = Some(text("id")).filter(|id| !id.is_empty());
                out.push(StreamEvent::CallStart { slot, id, name: text("name") });
                Block::Call { slot, begun: false, input: block.get("input").cloned().unwrap_or(Value::Null) }
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, opened);
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<StreamEvent>) {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        match (delta.get("type").and_then(Value::as_str).unwrap_or_default(), self.blocks.get_mut(&index)) {
            ("text_delta", _) => self.say(text("text").to_owned(), out),
            ("thinking_delta", Some(Block::Thinking { text: thought, .. })) => {
                let more = text("thinking");
                thought.push_str(more);
                think(more, out);
            }
            ("thinking_delta", _) => think(text("thinking"), out),
            ("signature_delta", Some(Block::Thinking { signature, .. })) => signature.push_str(text("signature")),
            ("input_json_delta", Some(Block::Call { slot, begun, .. })) => {
                let piece = text("partial_json");
                if !piece.is_empty() {
                    *begun = true;
                    out.push(StreamEvent::CallArguments { slot: *slot, text: piece.to_owned() });
                }
            }
            // Citations, and kinds of later versions.
            _ => {}
        }
    }

    fn stop(&mut self, index: u64, out: &mut Vec<StreamEvent>) {
        let block = match self.blocks.remove(&index) {
            Some(Block::Call { slot, begun: false, input }) => {
                // Some servers send the whole input at once.
                if input.as_object().is_some_and(|input| !input.is_empty()) {
                    out.push(StreamEvent::CallArguments { slot, text: input.to_string() });
                }
                return;
            }
            // Without a signature the provider would not believe it.
            Some(Block::Thinking { text, signature }) if !signature.is_empty() => {
                json!({ "type": "thinking", "thinking": text, "signature": signature })
            }
            Some(Block::Redacted(block)) => block,
            _ => return,
        };
        // A thought that came after a call must not be shown before it: it stands where it stood.
        out.push(StreamEvent::Opaque { value: place(block, self.at) });
    }

    fn whole(&mut self, message: &Value, out: &mut Vec<StreamEvent>) {
        self.begun = true;
        for (index, block) in (0..).zip(message.get("content").and_then(Value::as_array).into_iter().flatten()) {
            self.start(index, block, out);
            self.stop(index, out);
        }
        self.count(message, out);
        self.settle(message.get("stop_reason").and_then(Value::as_str).unwrap_or("end_turn"), out);
        self.finish(out);
    }

    fn say(&mut self, text: String, out: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            self.at.said(&text);
            out.push(StreamEvent::Text { text });
        }
    }

    fn settle(&mut self, reason: &str, out: &mut Vec<StreamEvent>) {
        for index in self.blocks.keys().copied().collect::<Vec<u64>>() {
            self.stop(index, out);
        }
        let stop = if self.at.calls == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
        self.reason = Some(match reason {
            // Servers that imitate the API say "end_turn" although there are calls.
            "end_turn" | "stop_sequence" => stop,
            "tool_use" => FinishReason::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
            "refusal" => FinishReason::Filtered,
            other => FinishReason::Other(other.to_owned()),
        });
    }

    fn finish(&mut self, out: &mut Vec<StreamEvent>) {
        self.done = true;
        let reason = self.reason.clone().unwrap_or(FinishReason::Stop);
        out.push(StreamEvent::Finish { reason });
    }

    /// Takes the counts of a message or of its end.
    fn count(&mut self, holder: &Value, out: &mut Vec<StreamEvent>) {
        let Some(object) = holder.get("usage").filter(|usage| usage.is_object()) else { return };
        let counts = &mut self.counts;
        for (name, count) in [
            ("/input_tokens", &mut counts.fresh),
            ("/cache_read_input_tokens", &mut counts.read),
            ("/cache_creation_input_tokens", &mut counts.written),
            ("/output_tokens", &mut counts.output),
            ("/output_tokens_details/thinking_tokens", &mut counts.thinking),
        ] {
            if let Some(value) = object.pointer(name).and_then(Value::as_u64) {
                *count = value;
            }
        }
        let usage = Usage {
            input: counts.fresh.saturating_add(counts.read).saturating_add(counts.written),
            output: counts.output,
            cached: counts.read,
            written: counts.written,
            reasoning: counts.thinking,
        };
        if usage != Usage::default() && usage != self.usage {
            self.usage = usage;
            out.push(StreamEvent::Usage { usage });
        }
    }
}

fn think(text: &str, out: &mut Vec<StreamEvent>) {
    if !text.is_empty() {
        out.push(StreamEvent::Reasoning { text: text.to_owned() });
    }
}
