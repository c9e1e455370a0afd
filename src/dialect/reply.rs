//! Replies whose call is written in their text: what the text dialects share.
//!
//! Owns: taking events apart (only text is read by the dialect), function calls of servers that make them from text by themselves, the call's
//! card ([`Card`]), how a reply ended ([`Ending`]). One call per message: the reply is cut at the first complete one.

use super::calls::Calls;
use super::{Flow, Parser, prompt};
use crate::domain::model::{Arguments, DialectKind, FinishReason, ModelEvent, ProposedCall, StreamEvent};
use crate::domain::tool::Origin;
use std::ops::ControlFlow;

/// How a reply ended, as far as calls are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The model was done, or a stop string was reached.
    Stopped,
    /// It ended by itself in another way.
    Over,
    /// It was cut off: by the limit of tokens, by the provider, by us.
    Cut,
}

impl Ending {
    /// The ending that a reason means; a reply without one was cut.
    pub fn of(reason: Option<&FinishReason>) -> Self {
        match reason {
            Some(FinishReason::Stop) => Self::Stopped,
            Some(FinishReason::ToolCalls | FinishReason::Other(_)) => Self::Over,
            _ => Self::Cut,
        }
    }
}

/// The call of a reply, as it is told while it is written.
#[derive(Debug, Default)]
pub struct Card {
    slot: u32,
    announced: bool,
    size: usize,
}

impl Card {
    /// Numbers up to and including this one belong to calls that did not come as text.
    pub fn reserve(&mut self, slot: u32) {
        if !self.announced {
            self.slot = self.slot.max(slot.saturating_add(1));
        }
    }

    /// Whether it was announced.
    pub fn is_announced(&self) -> bool {
        self.announced
    }

    /// Announces it, once.
    pub fn announce(&mut self, name: &str, out: &mut Vec<ModelEvent>) {
        if !std::mem::replace(&mut self.announced, true) {
            out.push(ModelEvent::CallStarted { slot: self.slot, name: name.to_owned() });
        }
    }

    /// Says how far it has grown, if it was announced and has.
    pub fn grow(&mut self, size: usize, out: &mut Vec<ModelEvent>) {
        if self.announced && size != self.size {
            self.size = size;
            out.push(ModelEvent::CallGrew { slot: self.slot, bytes: size });
        }
    }

    /// Sends it.
    pub fn send(&mut self, name: String, arguments: Arguments, origin: Origin, out: &mut Vec<ModelEvent>) {
        self.announce(&name, out);
        out.push(ModelEvent::Call(ProposedCall { slot: self.slot, provider_id: None, name, arguments, origin }));
    }
}

/// Reads the text of one reply.
pub trait Reader: Send {
    /// Whose reader it is.
    const KIND: DialectKind;
    /// Takes the next piece of text; breaks where the reply is cut.
    fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> ControlFlow<()>;
    /// The text is over. Returns what is wrong with the reply as a whole, if anything.
    fn finish(&mut self, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) -> Option<String>;
    /// The card of its call.
    fn card(&mut self) -> &mut Card;
    /// Bytes looked at so far, each time they were.
    fn work(&self) -> u64;
}

/// Reads one reply.
#[derive(Debug)]
pub struct TextParser<R> {
    reader: R,
    /// Calls of servers that turn text into function calls by themselves.
    calls: Calls,
    finish: Option<FinishReason>,
    flow: Flow,
}

impl<R: Reader> TextParser<R> {
    /// A parser around a reader of text.
    pub fn of(reader: R) -> Self {
        Self { reader, calls: Calls::default(), finish: None, flow: Flow::Continue }
    }

    /// Bytes looked at so far, each time they were: linear in the text, whatever it holds and however it is cut.
    pub fn work(&self) -> u64 {
        self.reader.work()
    }
}

impl<R: Reader> Parser for TextParser<R> {
    fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow {
        match event {
            StreamEvent::Alive => out.push(ModelEvent::Alive),
            StreamEvent::Usage { usage } => out.push(ModelEvent::Usage { usage }),
            _ if self.flow == Flow::Stop => {}
            StreamEvent::Text { text } => {
                if self.reader.push(&text, out).is_break() {
                    self.flow = Flow::Stop;
                }
            }
            StreamEvent::Reasoning { text } => out.push(ModelEvent::Thinking { text }),
            StreamEvent::Opaque { value } => out.push(ModelEvent::Opaque { value }),
            StreamEvent::CallStart { slot, id, name } => {
                self.reader.card().reserve(slot);
                self.calls.start(slot, id, name, out);
                if self.calls.any_sent() {
                    // One call per message: the next one was only just announced and is never sent.
                    out.pop();
                    self.flow = Flow::Stop;
                }
            }
            StreamEvent::CallArguments { slot, text } => self.calls.grow(slot, &text, out),
            StreamEvent::Finish { reason } => self.finish = Some(reason),
        }
        self.flow
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        if self.flow == Flow::Stop {
            out.push(ModelEvent::Finished { reason: FinishReason::Closed });
            return;
        }
        let wrong = self.reader.finish(self.finish.as_ref(), out);
        if self.calls.any() {
            self.calls.finish(self.finish.as_ref(), out);
        } else if let Some(problem) = wrong {
            out.push(ModelEvent::OffFormat { reminder: prompt::reminder(R::KIND, &problem) });
        }
        let reason = self.finish.take().unwrap_or_else(|| FinishReason::Other("no finish".to_owned()));
        out.push(ModelEvent::Finished { reason });
    }
}
