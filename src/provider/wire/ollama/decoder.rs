//! Reads a reply: lines of JSON, the last of them with the counts.

use super::window::{self, Guess};
use crate::domain::model::{FinishReason, ModelError, ModelErrorKind, StreamEvent};
use crate::domain::{Notice, Phrase, Usage};
use crate::provider::notices::Notices;
use crate::provider::problem;
use crate::provider::wire::{Decode, Framing};
use serde_json::Value;
use std::collections::HashSet;

/// The reader of one reply.
#[derive(Default)]
pub struct Decoder {
    calls: u32,
    ids: HashSet<String>,
    begun: bool,
    done: bool,
    watch: Option<Watch>,
}

/// What the request was, to see whether all of it was read.
struct Watch {
    model: String,
    window: u64,
    guess: Guess,
    notices: Notices,
}

impl Decoder {
    /// A reader that says so when the prompt of this body was cut.
    pub(super) fn watching(body: &Value, notices: Notices) -> Self {
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default().to_owned();
        let window = body.pointer("/options/num_ctx").and_then(Value::as_u64);
        let watch = window.map(|window| Watch { model, window, guess: window::guess(body), notices });
        Self { watch, ..Self::default() }
    }
}

impl Decode for Decoder {
    fn data(&mut self, data: &str, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let data = data.trim();
        if self.done {
            return Ok(());
        }
        let before = out.len();
        if !data.is_empty() {
            let line: Value = serde_json::from_str(data).map_err(|error| {
                problem::error(ModelErrorKind::Protocol, format!("the reply is not JSON ({error}): {data}"))
            })?;
            self.line(&line, out)?;
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

    /// The reason and the counts come in one line.
    fn settled(&self) -> bool {
        self.done
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }
}

impl Decoder {
    fn line(&mut self, line: &Value, out: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        if let Some(error) = problem::in_reply(line) {
            return Err(error);
        }
        if line.get("message").is_none() && line.get("done").is_none() {
            return Err(problem::error(ModelErrorKind::Protocol, "the reply is none of Ollama's"));
        }
        self.begun = true;
        let message = line.get("message").unwrap_or(&Value::Null);
        let text =
            |name: &str| message.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        out.extend(text("thinking").map(|text| StreamEvent::Reasoning { text }));
        out.extend(text("content").map(|text| StreamEvent::Text { text }));
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, out);
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            self.finish(line, out);
        }
        Ok(())
    }

    /// Every call comes whole, so each entry is one of its own, whatever its id or index.
    fn call(&mut self, call: &Value, out: &mut Vec<StreamEvent>) {
        let function = call.get("function").unwrap_or(call);
        let slot = self.calls;
        self.calls += 1;
        let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        // A result could not name its call by an id that two have.
        let id = id.filter(|id| self.ids.insert((*id).to_owned())).map(str::to_owned);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        out.push(StreamEvent::CallStart { slot, id, name });
        let text = match function.get("arguments") {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => text.clone(),
            Some(arguments) => arguments.to_string(),
        };
        if !text.is_empty() {
            out.push(StreamEvent::CallArguments { slot, text });
        }
    }

    fn finish(&mut self, line: &Value, out: &mut Vec<StreamEvent>) {
        let count = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or(0);
        let usage = Usage { input: count("prompt_eval_count"), output: count("eval_count"), ..Usage::default() };
        if usage != Usage::default() {
            out.push(StreamEvent::Usage { usage });
        }
        if let Some(watch) = &self.watch {
            watch.look(usage.input);
        }
        let stop = if self.calls == 0 { FinishReason::Stop } else { FinishReason::ToolCalls };
        let reason = match line.get("done_reason").and_then(Value::as_str) {
            None | Some("" | "stop") => stop,
            Some("length") => FinishReason::Length,
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        self.done = true;
        out.push(StreamEvent::Finish { reason });
    }
}

impl Watch {
    /// A prompt that may not have fitted, and of which fewer tokens were read than it can have, was cut. So was one that filled its context.
    fn look(&self, read: u64) {
        let tight = self.guess.most > self.window;
        if read > 0 && ((tight && read < self.guess.least) || read >= self.window) {
            let text = Phrase::new("model.prompt_cut")
                .with("model", &self.model)
                .with("read", read)
                .with("window", self.window);
            self.notices.push(Notice::warning(text));
        }
    }
}
