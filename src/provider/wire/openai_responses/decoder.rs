//! Reads a reply: the events of a streamed response, or one whole response from a server that does not stream.

use crate::domain::Usage;
use crate::domain::model::{FinishReason, ModelError, ModelErrorKind, StreamEvent};
use crate::provider::body::{Point, place};
use crate::provider::problem;
use crate::provider::wire::Decode;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

/// What of an output item has come.
#[derive(Default)]
struct Item {
    /// The slot, if it is a call.
    slot: Option<u32>,
    /// Text, reasoning or arguments went out for it: what is said again at its end is not news.
    said: bool,
    /// A part of its summary went out.
    summed: bool,
    over: bool,
}

/// The reader of one reply.
#[derive(Default)]
pub struct Decoder {
    /// By `output_index`.
    items: BTreeMap<u64, Item>,
    ids: HashSet<String>,
    /// How far the reply has come.
    at: Point,
    begun: bool,
    done: bool,
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

    fn end(&mut self, _out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if self.done {
            return Ok(());
        }
        Err(if self.begun {
            problem::error(ModelErrorKind::Cut, "the reply ended before the model was done")
        } else {
            problem::error(ModelErrorKind::Network, "the reply is empty")
        })
    }

    /// The reason and the counts come in one event.
    fn settled(&self) -> bool {
        self.done
    }
}

impl Decoder {
    fn event(&mut self, event: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let index = event.get("output_index").and_then(Value::as_u64).unwrap_or(0);
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let part = |name: &str| event.get(name).unwrap_or(&Value::Null);
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "response.output_item.added" => self.added(index, part("item"), out),
            "response.output_item.done" => self.ended(index, part("item"), out),
            "response.output_text.delta" | "response.refusal.delta" => self.say(index, text("delta"), out),
            "response.reasoning_summary_part.added" => {
                let item = self.items.entry(index).or_default();
                if item.summed {
                    out.push(StreamEvent::Reasoning { text: "\n\n".to_owned() });
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.think(index, text("delta"), out);
            }
            "response.function_call_arguments.delta" => self.grow(index, text("delta"), out),
            "response.function_call_arguments.done" => self.grow_once(index, text("arguments"), out),
            "response.completed" | "response.incomplete" => self.finish(part("response"), out),
            "response.failed" | "response.cancelled" => return Err(failed(part("response"))),
            "error" => return Err(problem::in_reply(event).unwrap_or_else(|| flat(event))),
            "" => {
                if let Some(error) = problem::in_reply(event) {
                    return Err(error);
                }
                if event.get("output").is_none() {
                    return Err(problem::error(ModelErrorKind::Protocol, "the reply is no response"));
                }
                self.whole(event, out)?;
            }
            // `response.created`, ends of parts whose pieces came, annotations, tools of the provider's own, later versions.
            _ => {}
        }
        self.begun = true;
        Ok(())
    }

    fn added(&mut self, index: u64, item: &Value, out: &mut Vec<StreamEvent>) {
        if item.get("type").and_then(Value::as_str) != Some("function_call") {
            self.items.entry(index).or_default();
            return;
        }
        if self.items.get(&index).is_some_and(|known| known.slot.is_some()) {
            return;
        }
        let slot = u32::try_from(self.at.calls).unwrap_or(u32::MAX);
        self.at.calls += 1;
        let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        // A result could not name its call by an id that two have.
        let id =
            text("call_id").or_else(|| text("id")).filter(|id| self.ids.insert((*id).to_owned())).map(str::to_owned);
        self.items.insert(index, Item { slot: Some(slot), ..Item::default() });
        out.push(StreamEvent::CallStart { slot, id, name: text("name").unwrap_or_default().to_owned() });
    }

    fn ended(&mut self, index: u64, item: &Value, out: &mut Vec<StreamEvent>) {
        if self.items.get(&index).is_some_and(|known| known.over) {
            return;
        }
        match item.get("type").and_then(Value::as_str).unwrap_or_default() {
            "function_call" => {
                self.added(index, item, out);
                self.grow_once(index, item.get("arguments").and_then(Value::as_str).unwrap_or_default(), out);
            }
            "message" if !self.said(index) => {
                for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                    let text = part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str);
                    self.say(index, text.unwrap_or_default(), out);
                }
            }
            "reasoning" => self.reasoned(index, item, out),
            _ => {}
        }
        self.items.entry(index).or_default().over = true;
    }

    fn reasoned(&mut self, index: u64, item: &Value, out: &mut Vec<StreamEvent>) {
        if !self.said(index) {
            let texts = ["summary", "content"]
                .iter()
                .filter_map(|list| item.get(*list)?.as_array())
                .find(|list| !list.is_empty());
            let texts: Vec<&str> = texts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str()).collect();
            self.think(index, &texts.join("\n\n"), out);
        }
        // Without its encrypted content the provider would not find it.
        if item.get("encrypted_content").is_some_and(Value::is_string) {
            let field = |name: &str| item.get(name).cloned().unwrap_or(Value::Null);
            let summary = item.get("summary").filter(|list| list.is_array()).cloned().unwrap_or_else(|| json!([]));
            let block = json!({
                "type": "reasoning", "id": field("id"), "summary": summary, "encrypted_content": field("encrypted_content"),
            });
            out.push(StreamEvent::Opaque { value: place(block, self.at) });
        }
    }

    fn said(&self, index: u64) -> bool {
        self.items.get(&index).is_some_and(|item| item.said)
    }

    fn say(&mut self, index: u64, text: &str, out: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            self.items.entry(index).or_default().said = true;
            self.at.said(text);
            out.push(StreamEvent::Text { text: text.to_owned() });
        }
    }

    fn think(&mut self, index: u64, text: &str, out: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            let item = self.items.entry(index).or_default();
            (item.said, item.summed) = (true, true);
            out.push(StreamEvent::Reasoning { text: text.to_owned() });
        }
    }

    fn grow(&mut self, index: u64, text: &str, out: &mut Vec<StreamEvent>) {
        let Some(item) = self.items.get_mut(&index) else { return };
        if let Some(slot) = item.slot.filter(|_| !text.is_empty()) {
            item.said = true;
            out.push(StreamEvent::CallArguments { slot, text: text.to_owned() });
        }
    }

    /// Arguments that come whole, unless their pieces came.
    fn grow_once(&mut self, index: u64, text: &str, out: &mut Vec<StreamEvent>) {
        if !self.said(index) {
            self.grow(index, text, out);
        }
    }

    fn whole(&mut self, response: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if response.get("status").is_some_and(|status| status == "failed") {
            return Err(failed(response));
        }
        self.finish(response, out);
        Ok(())
    }

    fn finish(&mut self, response: &Value, out: &mut Vec<StreamEvent>) {
        // Items that were not told of one by one.
        for (index, item) in (0..).zip(response.get("output").and_then(Value::as_array).into_iter().flatten()) {
            self.ended(index, item, out);
        }
        let count = |name: &str| response.pointer(&format!("/usage/{name}")).and_then(Value::as_u64).unwrap_or(0);
        let usage = Usage {
            input: count("input_tokens"),
            output: count("output_tokens"),
            cached: count("input_tokens_details/cached_tokens"),
            written: 0,
            reasoning: count("output_tokens_details/reasoning_tokens"),
        };
        if usage != Usage::default() {
            out.push(StreamEvent::Usage { usage });
        }
        let incomplete = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
        let reason = match incomplete.or_else(|| (response["status"] == "incomplete").then_some("incomplete")) {
            Some("content_filter") => FinishReason::Filtered,
            // Whatever stopped it without a word, its last call may be half there.
            Some("max_output_tokens" | "max_tokens" | "incomplete") => FinishReason::Length,
            Some(other) => FinishReason::Other(other.to_owned()),
            None if self.at.calls > 0 => FinishReason::ToolCalls,
            None => FinishReason::Stop,
        };
        self.done = true;
        out.push(StreamEvent::Finish { reason });
    }
}

fn failed(response: &Value) -> ModelError {
    let unknown = || problem::error(ModelErrorKind::Server, "the provider reported a failure without a message");
    problem::in_reply(response).unwrap_or_else(unknown)
}

/// `{"type": "error", "code": …, "message": …}`.
fn flat(event: &Value) -> ModelError {
    let wrapped = json!({ "error": { "code": event.get("code"), "message": event.get("message") } });
    failed(&wrapped)
}
