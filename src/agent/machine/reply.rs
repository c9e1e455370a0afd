//! One reply of the model while it arrives: text items, calls being written, how it ended.
//!
//! Owns the open text item and the slots of calls. Writes finished pieces into the step it is given.
//! **Invariant:** nothing here runs a call; calls are only collected.

use super::io::{Entry, StreamId};
use super::{Ids, Outbox};
use crate::contract::event::TextKind;
use crate::contract::{ItemEvent, ToolEvent};
use crate::domain::model::{Arguments, ModelEvent, ProposedCall};
use crate::domain::tool::ToolSpec;
use crate::domain::{CallId, Item, ItemBody, ItemId, Step, StepId, ToolCall, Usage};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether the model declared the task done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Completion {
    /// It did not.
    None,
    /// It did.
    Done,
    /// It did, with a command that shows the result.
    Command(String),
}

/// A reply that is arriving.
#[derive(Debug)]
pub(super) struct Reply {
    /// The request it answers.
    pub stream: StreamId,
    /// Its step.
    pub step: StepId,
    open: Option<(ItemId, TextKind)>,
    writing: BTreeMap<u32, CallId>,
    /// Whole calls, in order, with what is wrong with the ones that cannot be read.
    pub calls: Vec<(CallId, Option<String>)>,
    /// Whether the model declared the task done.
    pub completion: Completion,
    /// The dialect found the reply broken: what to tell the model.
    pub off_format: Option<String>,
    /// A call was cut off by the limit of tokens.
    pub cut_off: bool,
    /// Something to show has arrived.
    pub began: bool,
    /// Something was said to the user.
    pub answered: bool,
    /// Token counts.
    pub usage: Usage,
}

impl Reply {
    pub fn new(stream: StreamId, step: StepId) -> Self {
        Self {
            stream,
            step,
            open: None,
            writing: BTreeMap::new(),
            calls: Vec::new(),
            completion: Completion::None,
            off_format: None,
            cut_off: false,
            began: false,
            answered: false,
            usage: Usage::default(),
        }
    }

    /// Takes an event that is neither an end nor a call.
    pub fn take(&mut self, event: ModelEvent, step: &mut Step, ids: &mut Ids, out: &mut Outbox) {
        match event {
            ModelEvent::Thinking { text } => self.text(TextKind::Thinking, &text, step, ids, out),
            ModelEvent::Answer { text } => {
                self.answered |= !text.trim().is_empty();
                self.text(TextKind::Answer, &text, step, ids, out);
            }
            ModelEvent::Opaque { value } => self.sign(value, step, ids, out),
            ModelEvent::CallStarted { slot, name } => {
                self.began = true;
                self.close_text(step, out);
                let call = self.slot(slot, ids);
                out.emit(ToolEvent::Writing { call, step: self.step, name, bytes: 0 });
            }
            ModelEvent::CallGrew { slot, bytes } => {
                if let Some(&call) = self.writing.get(&slot) {
                    out.emit(ToolEvent::Writing { call, step: self.step, name: String::new(), bytes });
                }
            }
            ModelEvent::Completion { command } => {
                self.completion = command.map_or(Completion::Done, Completion::Command);
            }
            ModelEvent::OffFormat { reminder } => self.off_format = Some(reminder),
            ModelEvent::Usage { usage } => self.usage = usage,
            ModelEvent::Alive | ModelEvent::Call(_) | ModelEvent::Finished { .. } | ModelEvent::Failed { .. } => {}
        }
    }

    /// Takes a whole call.
    pub fn propose(
        &mut self,
        proposed: ProposedCall,
        spec: Option<Arc<ToolSpec>>,
        step: &mut Step,
        ids: &mut Ids,
        out: &mut Outbox,
    ) {
        self.began = true;
        self.close_text(step, out);
        let id = self.slot(proposed.slot, ids);
        self.writing.remove(&proposed.slot);
        let (arguments, problem) = match proposed.arguments {
            Arguments::Parsed { value } => (value, None),
            Arguments::Malformed { text, problem } => (Value::String(text), Some(problem)),
            Arguments::CutOff { .. } => {
                self.cut_off = true;
                out.emit(ToolEvent::Abandoned { call: id });
                return;
            }
        };
        let call = ToolCall {
            id,
            provider_id: proposed.provider_id,
            asked: proposed.name,
            tool: spec.as_ref().map(|spec| spec.id.clone()),
            arguments,
            origin: proposed.origin,
        };
        let item = Item { id: ItemId(id.0), body: ItemBody::Call { call: call.clone(), outcome: None } };
        step.items.push(item.clone());
        self.calls.push((id, problem));
        out.record(Entry::Item { step: self.step, item });
        out.emit(ToolEvent::Proposed { step: self.step, call, spec });
    }

    /// No more of it comes: closes the open text and gives up calls that are still being written.
    pub fn close(&mut self, step: &mut Step, out: &mut Outbox) {
        self.close_text(step, out);
        for call in std::mem::take(&mut self.writing).into_values() {
            self.cut_off = true;
            out.emit(ToolEvent::Abandoned { call });
        }
        step.usage = self.usage;
    }

    fn slot(&mut self, slot: u32, ids: &mut Ids) -> CallId {
        *self.writing.entry(slot).or_insert_with(|| CallId(ids.next()))
    }

    fn text(&mut self, kind: TextKind, text: &str, step: &mut Step, ids: &mut Ids, out: &mut Outbox) {
        // An item does not begin with blank lines; a reply of nothing else opens none.
        let is_open = self.open.is_some_and(|(_, open)| open == kind);
        let text = if is_open { text } else { text.trim_start_matches(['\n', '\r']) };
        if text.is_empty() || (!is_open && text.trim().is_empty()) {
            return;
        }
        self.began = true;
        let item = match self.open {
            Some((item, open)) if open == kind => item,
            _ => {
                self.close_text(step, out);
                let item = ItemId(ids.next());
                let body = match kind {
                    TextKind::Thinking => ItemBody::Thinking { text: String::new(), opaque: None },
                    TextKind::Answer => ItemBody::Answer { text: String::new() },
                };
                step.items.push(Item { id: item, body });
                self.open = Some((item, kind));
                out.emit(ItemEvent::Started { item, step: self.step, kind });
                item
            }
        };
        if let Some(Item { body: ItemBody::Thinking { text: whole, .. } | ItemBody::Answer { text: whole }, .. }) =
            step.items.last_mut()
        {
            whole.push_str(text);
        }
        out.emit(ItemEvent::Delta { item, text: text.to_owned() });
    }

    /// A signed block ends the thought that is open, or is a thought of its own that nobody can read. The model's name is filled in by whoever knows
    /// it: the driver wraps the value before it comes here.
    fn sign(&mut self, value: Value, step: &mut Step, ids: &mut Ids, out: &mut Outbox) {
        let Ok(block) = serde_json::from_value(value) else { return };
        let thinks = matches!(self.open, Some((_, TextKind::Thinking)));
        if let (true, Some(Item { body: ItemBody::Thinking { opaque, .. }, .. })) = (thinks, step.items.last_mut()) {
            *opaque = Some(block);
            return self.close_text(step, out);
        }
        let body = ItemBody::Thinking { text: String::new(), opaque: Some(block) };
        let item = Item { id: ItemId(ids.next()), body };
        // Text goes on growing in the last item.
        let at = step.items.len() - usize::from(self.open.is_some());
        step.items.insert(at, item.clone());
        out.record(Entry::Item { step: self.step, item });
    }

    fn close_text(&mut self, step: &mut Step, out: &mut Outbox) {
        let Some((item, _)) = self.open.take() else { return };
        if let Some(whole) = step.items.iter().find(|i| i.id == item) {
            out.record(Entry::Item { step: self.step, item: whole.clone() });
        }
        out.emit(ItemEvent::Finished { item });
    }
}
