//! The provider's own function calling.
//!
//! Owns: the request with tools and the history in calls and results, and the parser that turns pieces of calls into calls.
//! The history's invariant (each call exactly one result) stands in [`request`].

mod request;
mod think;

use super::calls::Calls;
use super::{Dialect, Flow, Parser, Prompting};
use crate::domain::model::{DialectKind, FinishReason, ModelEvent, Request, StreamEvent};
use crate::domain::names::Names;
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

    fn parser(&self, _names: Arc<Names>) -> Box<dyn Parser> {
        Box::new(NativeParser::default())
    }
}

/// Reads one reply. Names are taken as they come; whoever runs the call resolves them.
#[derive(Debug, Default)]
pub struct NativeParser {
    think: Think,
    calls: Calls,
    finish: Option<FinishReason>,
}

impl Parser for NativeParser {
    fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow {
        match event {
            StreamEvent::Alive => out.push(ModelEvent::Alive),
            StreamEvent::Text { text } => self.think.take(text, out),
            StreamEvent::Reasoning { text } => out.push(ModelEvent::Thinking { text }),
            StreamEvent::Opaque { value } => out.push(ModelEvent::Opaque { value }),
            StreamEvent::CallStart { slot, id, name } => self.calls.start(slot, id, name, out),
            StreamEvent::CallArguments { slot, text } => self.calls.grow(slot, &text, out),
            StreamEvent::Usage { usage } => out.push(ModelEvent::Usage { usage }),
            StreamEvent::Finish { reason } => self.finish = Some(reason),
        }
        Flow::Continue
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.think.finish(out);
        self.calls.finish(self.finish.as_ref(), out);
        let reason = self.finish.take().unwrap_or_else(|| FinishReason::Other("no finish".to_owned()));
        out.push(ModelEvent::Finished { reason });
    }
}
