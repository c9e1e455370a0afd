//! The conversation as messages of the XML protocol.
//!
//! Every assistant message is written anew from the structured items: thoughts, then at most one call. A step with several
//! calls (made natively, before the dialect changed) becomes several messages, so that the history shows one call a message.

use super::encode;
use crate::dialect::history::{closing_note, is_complete, push_user, user_message};
use crate::dialect::outcome;
use crate::domain::content::Content;
use crate::domain::conversation::{Conversation, ItemBody, Step, Turn, TurnEnd, TurnKind};
use crate::domain::model::Message;
use crate::domain::{ToolCall, ToolOutcome};

/// All messages, oldest first.
pub fn messages(conversation: &Conversation) -> Vec<Message> {
    let mut out = Vec::new();
    for turn in conversation.turns.iter().filter(|turn| turn.kind == TurnKind::Task) {
        push_user(&mut out, user_message(turn));
        let last = turn.steps.iter().rfind(|step| is_complete(step));
        for step in turn.steps.iter().filter(|step| is_complete(step)) {
            let declared_done = turn.end == Some(TurnEnd::Done) && last.is_some_and(|last| last.id == step.id);
            push_step(&mut out, step, if declared_done { Answers::Completion } else { Answers::Plain });
        }
        push_note(&mut out, turn);
    }
    out
}

/// How the answers of a step are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// As plain text: the task went on.
    Plain,
    /// As the completion of the task.
    Completion,
}

fn push_note(out: &mut Vec<Message>, turn: &Turn) {
    if let Some(note) = closing_note(turn) {
        push_user(out, vec![Content::text(note)]);
    }
}

fn push_step(out: &mut Vec<Message>, step: &Step, answers: Answers) {
    let mut parts = Vec::new();
    let mut said = Vec::new();
    for item in &step.items {
        match &item.body {
            ItemBody::Thinking { text, .. } if !text.trim().is_empty() => parts.push(encode::thinking(text.trim())),
            ItemBody::Answer { text } if !text.trim().is_empty() => said.push(text.trim()),
            _ => {}
        }
    }
    let mut calls = step.calls().peekable();
    if !said.is_empty() {
        let done = answers == Answers::Completion && calls.peek().is_none();
        let said = said.join("\n\n");
        parts.push(if done { encode::completion(&said) } else { said });
    }
    if calls.peek().is_none() {
        push_assistant(out, &parts);
    }
    for (call, outcome) in calls {
        parts.push(encode::call(call));
        push_assistant(out, &parts);
        parts.clear();
        push_user(out, result(call, outcome));
    }
    if let Some(reminder) = &step.reminder {
        push_user(out, vec![Content::text(reminder)]);
    }
}

fn push_assistant(out: &mut Vec<Message>, parts: &[String]) {
    if !parts.is_empty() {
        let text = parts.join("\n\n");
        out.push(Message::Assistant { text, reasoning: None, opaque: Vec::new(), calls: Vec::new() });
    }
}

/// The result with its heading. Pictures and sounds stay blocks; all else is text.
fn result(call: &ToolCall, outcome: Option<&ToolOutcome>) -> Vec<Content> {
    let on_server = call.tool.as_ref().map_or(call.asked.contains(':'), |id| id.server.is_some());
    let heading = if on_server {
        format!("[use_mcp_tool for '{}'] Result:", call.shown_name())
    } else {
        format!("[{}] Result:", call.shown_name())
    };
    let mut text = heading;
    let mut media = Vec::new();
    for block in outcome::blocks(call, outcome) {
        text.push('\n');
        text.push_str(&block.to_plain());
        if matches!(block, Content::Image { .. } | Content::Audio { .. }) {
            media.push(block);
        }
    }
    let mut blocks = vec![Content::text(text)];
    blocks.extend(media);
    blocks
}
