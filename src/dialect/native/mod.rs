//! The provider's own function calling.
//!
//! Owns: the request with tools and the history in calls and results, and the parser that turns pieces of calls into calls. A call that the model
//! wrote as text instead is recovered where that is safe ([`super::leak`]).
//! The history's invariant (each call exactly one result) stands in [`request`].

mod request;
mod think;

use super::calls::Calls;
use super::leak::Leak;
use super::reply::Ending;
use super::{Dialect, Flow, Parser, Prompting};
use crate::domain::model::{DialectKind, FinishReason, ModelEvent, ProposedCall, Request, StreamEvent};
use crate::domain::names::Names;
use crate::domain::tool::Origin;
use std::sync::Arc;
use think::Think;

/// The dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl Dialect for Native {
    fn kind(&self) -> DialectKind {
        DialectKind::Native
    }

    fn request(&self, prompting: &Prompting<'_>) -> Request {
        request::build(prompting)
    }

    fn parser(&self, names: Arc<Names>) -> Box<dyn Parser> {
        Box::new(NativeParser::new(names))
    }
}

/// Reads one reply. Names are taken as they come; whoever runs the call resolves them.
#[derive(Debug)]
pub struct NativeParser {
    think: Think,
    calls: Calls,
    finish: Option<FinishReason>,
    /// Text that may be a call which was not made natively.
    answer: Leak,
    /// The same in the reasoning.
    reasoning: Leak,
}

impl NativeParser {
    /// A parser for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self {
            think: Think::default(),
            calls: Calls::default(),
            finish: None,
            answer: Leak::new(Arc::clone(&names)),
            reasoning: Leak::new(names),
        }
    }

    /// Holds back what of the text since `from` may be a call.
    fn watch(&mut self, from: usize, out: &mut Vec<ModelEvent>) {
        if self.answer.is_released() && self.reasoning.is_released() {
            return;
        }
        for event in out.split_off(from) {
            let ModelEvent::Answer { text } = event else {
                out.push(event);
                continue;
            };
            let text = self.answer.take(text);
            if text.is_some() || self.answer.holds() {
                out.extend(self.reasoning.release().map(|text| ModelEvent::Thinking { text }));
            }
            out.extend(text.filter(|text| !text.is_empty()).map(|text| ModelEvent::Answer { text }));
        }
    }

    /// What is held back is text.
    fn release(&mut self, out: &mut Vec<ModelEvent>) {
        out.extend(self.reasoning.release().map(|text| ModelEvent::Thinking { text }));
        out.extend(self.answer.release().map(|text| ModelEvent::Answer { text }));
    }

    /// A reply without calls that is one: it is recovered.
    fn recover(&mut self, out: &mut Vec<ModelEvent>) {
        let limited = self.finish == Some(FinishReason::Length);
        let found = match Ending::of(self.finish.as_ref()) {
            Ending::Cut if !limited => None,
            _ if self.answer.holds() => self.answer.recover(),
            _ => self.reasoning.recover(),
        };
        let Some(found) = found.filter(|found| found.closed || !limited) else { return self.release(out) };
        if self.answer.holds() {
            out.extend(self.reasoning.release().map(|text| ModelEvent::Thinking { text }));
        }
        if !found.thought.is_empty() {
            out.push(ModelEvent::Thinking { text: found.thought });
        }
        for (slot, (name, arguments)) in (0..).zip(found.calls) {
            out.push(ModelEvent::CallStarted { slot, name: name.clone() });
            out.push(ModelEvent::Call(ProposedCall {
                slot,
                provider_id: None,
                name,
                arguments,
                origin: Origin::Recovered,
            }));
        }
    }
}

impl Parser for NativeParser {
    fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow {
        match event {
            StreamEvent::Alive => out.push(ModelEvent::Alive),
            StreamEvent::Text { text } => {
                let from = out.len();
                self.think.take(text, out);
                self.watch(from, out);
            }
            StreamEvent::Reasoning { text } => {
                out.extend(self.reasoning.take(text).map(|text| ModelEvent::Thinking { text }));
            }
            StreamEvent::Opaque { value } => out.push(ModelEvent::Opaque { value }),
            StreamEvent::CallStart { slot, id, name } => {
                self.release(out);
                self.calls.start(slot, id, name, out);
            }
            StreamEvent::CallArguments { slot, text } => self.calls.grow(slot, &text, out),
            StreamEvent::Usage { usage } => out.push(ModelEvent::Usage { usage }),
            StreamEvent::Finish { reason } => self.finish = Some(reason),
        }
        Flow::Continue
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        let from = out.len();
        self.think.finish(out);
        self.watch(from, out);
        if self.calls.any() {
            self.release(out);
        } else {
            self.recover(out);
        }
        self.calls.finish(self.finish.as_ref(), out);
        let reason = self.finish.take().unwrap_or_else(|| FinishReason::Other("no finish".to_owned()));
        out.push(ModelEvent::Finished { reason });
    }
}
