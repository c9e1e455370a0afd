//! Reads a reply: a stream of `GenerateContentResponse`, or one of them.

use super::received;
use crate::domain::Usage;
use crate::domain::model::{FinishReason, ModelError, ModelErrorKind, StreamEvent};
use crate::provider::body::{Point, place};
use crate::provider::problem;
use crate::provider::wire::Decode;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The reader of one reply.
#[derive(Default)]
pub struct Decoder {
    /// How far the reply has come.
    at: Point,
    ids: HashSet<String>,
    usage: Usage,
    /// Why the reply ended; held back until the counts that may follow are in.
    reason: Option<FinishReason>,
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
            let frame: Value = serde_json::from_str(data).map_err(|error| {
                problem::error(ModelErrorKind::Protocol, format!("the reply is not JSON ({error}): {data}"))
            })?;
            match &frame {
                // Without `alt=sse` it is a list.
                Value::Array(frames) => frames.iter().try_for_each(|frame| self.frame(frame, out))?,
                frame => self.frame(frame, out)?,
            }
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
        let Some(reason) = self.reason.take() else {
            return Err(if self.begun {
                problem::error(ModelErrorKind::Cut, "the reply ended before the model was done")
            } else {
                problem::error(ModelErrorKind::Network, "the reply is empty")
            });
        };
        self.done = true;
        let called = self.at.calls > 0 && reason == FinishReason::Stop;
        out.push(StreamEvent::Finish { reason: if called { FinishReason::ToolCalls } else { reason } });
        Ok(())
    }

    fn settled(&self) -> bool {
        self.reason.is_some()
    }
}

impl Decoder {
    fn frame(&mut self, frame: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if let Some(error) = problem::in_reply(frame).filter(|_| self.reason.is_none()) {
            return Err(error);
        }
        let candidate = frame.get("candidates").and_then(Value::as_array).and_then(|all| all.first());
        if let (None, Some(blocked)) = (candidate, frame.pointer("/promptFeedback/blockReason").and_then(Value::as_str))
        {
            let more = frame.pointer("/promptFeedback/blockReasonMessage").and_then(Value::as_str);
            let text = format!(
                "the prompt was blocked ({blocked}){}",
                more.map(|more| format!(": {more}")).unwrap_or_default()
            );
            return Err(problem::error(ModelErrorKind::BadRequest, text));
        }
        if candidate.is_none() && frame.get("usageMetadata").is_none() && !self.begun {
            return Err(problem::error(ModelErrorKind::Protocol, "the reply is none of Gemini's"));
        }
        self.begun = true;
        if let Some(candidate) = candidate {
            for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
                self.part(part, out);
            }
            if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
                self.settle(reason, candidate, out);
            }
        }
        self.count(frame, out);
        Ok(())
    }

    fn part(&mut self, part: &Value, out: &mut Vec<StreamEvent>) {
        let signature = part.get("thoughtSignature").and_then(Value::as_str).filter(|text| !text.is_empty());
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            let name = received(call.get("name").and_then(Value::as_str).unwrap_or_default());
            if let Some(signature) = signature {
                let block = json!({ "on": "call", "name": name, "signature": signature });
                out.push(StreamEvent::Opaque { value: place(block, self.at) });
            }
            let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            let arguments = call.get("args").filter(|args| !args.is_null()).map(Value::to_string);
            self.call(id, name, arguments, out);
            return;
        }
        let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
        if !text.is_empty() && thought {
            out.push(StreamEvent::Reasoning { text: text.to_owned() });
        } else if !text.is_empty() {
            self.at.said(text);
            out.push(StreamEvent::Text { text: text.to_owned() });
        }
        if let Some(signature) = signature {
            let block = if thought {
                json!({ "on": "thought", "text": text, "signature": signature })
            } else {
                json!({ "on": "text", "signature": signature })
            };
            out.push(StreamEvent::Opaque { value: place(block, self.at) });
        }
    }

    /// Every call comes whole, so each part is one of its own, whatever its id.
    fn call(&mut self, id: Option<&str>, name: &str, arguments: Option<String>, out: &mut Vec<StreamEvent>) {
        let slot = u32::try_from(self.at.calls).unwrap_or(u32::MAX);
        self.at.calls += 1;
        // A result could not name its call by an id that two have.
        let id = id.filter(|id| self.ids.insert((*id).to_owned())).map(str::to_owned);
        out.push(StreamEvent::CallStart { slot, id, name: name.to_owned() });
        if let Some(text) = arguments {
            out.push(StreamEvent::CallArguments { slot, text });
        }
    }

    fn settle(&mut self, reason: &str, candidate: &Value, out: &mut Vec<StreamEvent>) {
        self.reason = Some(match reason {
            "STOP" => FinishReason::Stop,
            "MAX_TOKENS" => FinishReason::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => FinishReason::Filtered,
            // The model wrote a call that the API could not read. It must learn of that, so it goes on as a call that cannot be read here either.
            "MALFORMED_FUNCTION_CALL" => {
                let said = candidate.get("finishMessage").and_then(Value::as_str).unwrap_or_default();
                let said = said.strip_prefix("Malformed function call:").unwrap_or(said).trim();
                self.call(None, "malformed_function_call", Some(format!("Malformed function call: {said}")), out);
                FinishReason::ToolCalls
            }
            other => FinishReason::Other(other.to_owned()),
        });
    }

    fn count(&mut self, frame: &Value, out: &mut Vec<StreamEvent>) {
        let count = |name: &str| frame.pointer(&format!("/usageMetadata/{name}")).and_then(Value::as_u64).unwrap_or(0);
        let reasoning = count("thoughtsTokenCount");
        let usage = Usage {
            input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
            output: count("candidatesTokenCount").saturating_add(reasoning),
            cached: count("cachedContentTokenCount"),
            written: 0,
            reasoning,
        };
        if usage != Usage::default() && usage != self.usage {
            self.usage = usage;
            out.push(StreamEvent::Usage { usage });
        }
    }
}
