//! The request of the native dialect.
//!
//! **Invariants:** every call in the history has exactly one result right after its message, and ids are distinct; calls
//! without a known end are told as interrupted, calls that could not be read stand there only as a note. Names and arguments in the history are legal for every provider. The same
//! conversation gives the same bytes, and a longer one the same bytes with more after them.

use crate::dialect::history::{closing_note, is_complete, push_user, unreadable, user_message};
use crate::dialect::{Prompting, outcome, prompt};
use crate::domain::content::Content;
use crate::domain::conversation::{ItemBody, Step, TurnKind};
use crate::domain::model::{CallRef, DialectKind, Message, Request, ToolDecl, call_wire_id};
use crate::domain::{ToolCall, ToolOutcome};
use std::collections::HashSet;
use std::sync::Arc;

/// Longest tool name that every known provider accepts, in bytes.
const MAX_NAME: usize = 64;

/// Builds it.
pub fn build(prompting: &Prompting<'_>) -> Request {
    let mut history = History { prompting, ids: HashSet::new(), out: Vec::new() };
    for turn in prompting.conversation.turns.iter().filter(|turn| turn.kind == TurnKind::Task) {
        push_user(&mut history.out, user_message(turn));
        for step in &turn.steps {
            if is_complete(step) {
                history.push_step(step);
            }
            if let Some(reminder) = &step.reminder {
                push_user(&mut history.out, vec![Content::text(reminder)]);
            }
        }
        if let Some(note) = closing_note(turn) {
            push_user(&mut history.out, vec![Content::text(note)]);
        }
    }
    Request {
        model: prompting.model.to_owned(),
        system: prompt::system(DialectKind::Native, prompting),
        messages: history.out,
        tools: declarations(prompting),
        ..Request::default()
    }
}

fn declarations(prompting: &Prompting<'_>) -> Vec<ToolDecl> {
    let offered = prompting.tools.iter().filter_map(|tool| {
        let name = prompting.names.wire(&tool.id)?.to_owned();
        Some(ToolDecl { name, description: tool.description.clone(), schema: Arc::clone(&tool.input_schema) })
    });
    let mut tools: Vec<ToolDecl> = offered.collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

struct History<'a> {
    prompting: &'a Prompting<'a>,
    /// Ids given out so far.
    ids: HashSet<String>,
    out: Vec<Message>,
}

impl History<'_> {
    fn push_step(&mut self, step: &Step) {
        let (mut text, mut reasoning, mut opaque) = (Vec::new(), Vec::new(), Vec::new());
        for item in &step.items {
            match &item.body {
                ItemBody::Thinking { text: thought, opaque: block } => {
                    reasoning.extend(Some(thought.as_str()).filter(|thought| !thought.is_empty()));
                    let own = block.as_ref().filter(|block| &*block.model == self.prompting.full_model);
                    opaque.extend(own.map(|block| block.value.clone()));
                }
                ItemBody::Answer { text: answer } => text.push(answer.as_str()),
                ItemBody::Call { .. } => {}
            }
        }
        let (mut calls, mut unread) = (Vec::new(), Vec::new());
        for (call, outcome) in step.calls() {
            match unreadable(call, outcome) {
                Some(note) => unread.push(note),
                None => calls.push((self.reference(call), call, outcome)),
            }
        }
        let reasoning = Some(reasoning.join("\n\n")).filter(|text| self.prompting.reasoning_back && !text.is_empty());
        let text = text.join("\n\n");
        // A message without anything is refused by some providers.
        if !(text.trim().is_empty() && calls.is_empty() && opaque.is_empty()) {
            let calls = calls.iter().map(|(reference, ..)| reference.clone()).collect();
            self.out.push(Message::Assistant { text, reasoning, opaque, calls });
        }
        for (reference, call, outcome) in calls {
            self.out.push(result(reference, call, outcome));
        }
        for note in unread {
            push_user(&mut self.out, vec![Content::text(note)]);
        }
    }

    fn reference(&mut self, call: &ToolCall) -> CallRef {
        let given = call.provider_id.clone().filter(|id| !id.is_empty() && !self.ids.contains(id));
        let mut id = given.unwrap_or_else(|| call_wire_id(call.id));
        while !self.ids.insert(id.clone()) {
            id.push('_');
        }
        let wire = call.tool.as_ref().and_then(|tool| self.prompting.names.wire(tool));
        let name = wire.map_or_else(|| legal(&call.shown_name()), str::to_owned);
        CallRef { id, name, arguments: call.arguments.clone() }
    }
}

fn result(reference: CallRef, call: &ToolCall, outcome: Option<&ToolOutcome>) -> Message {
    Message::Tool {
        call: reference.id,
        name: reference.name,
        content: outcome::blocks(call, outcome),
        is_error: outcome.is_none_or(ToolOutcome::is_error),
    }
}

/// The name of a tool that is not offered (any more), in letters that every provider accepts.
fn legal(name: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut out: String = name.replace(':', "__").chars().map(legal).collect();
    out.truncate(MAX_NAME);
    if out.is_empty() { "_".to_owned() } else { out }
}
