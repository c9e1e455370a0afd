//! The conversation as messages of the XML protocol.
//!
//! Every assistant message is written anew from the structured items: thoughts, then at most one call. A step with several
//! calls (made natively, before the dialect changed) becomes several messages, so that the history shows one call a message.

use super::encode;
use crate::dialect::history::{closing_note, is_complete, push_user, unreadable, user_message};
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
        for step in &turn.steps {
            if is_complete(step) {
                // An answer that ended the task shows how that is said, even where the model said it in plain words.
                let ended = turn.end == Some(TurnEnd::Done) && last.is_some_and(|last| last.id == step.id);
                push_step(&mut out, step, if step.completed || ended { Answers::Completion } else { Answers::Plain });
            }
            if let Some(reminder) = &step.reminder {
                push_user(&mut out, vec![Content::text(reminder)]);
            }
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
    let said = said.join("\n\n");
    if answers == Answers::Completion
        && let Some((command, ending)) = completing(step)
    {
        parts.extend((!said.is_empty() || command.is_some()).then(|| encode::completion(&said, command)));
        push_assistant(out, &parts);
        if let Some((call, outcome)) = ending {
            push_user(out, result(call, outcome));
        }
        return;
    }
    parts.extend((!said.is_empty()).then_some(said));
    let mut unread = Vec::new();
    for (call, outcome) in step.calls() {
        if let Some(note) = unreadable(call, outcome) {
            unread.push(Content::text(note));
            continue;
        }
        parts.push(encode::call(call));
        push_assistant(out, &parts);
        parts.clear();
        push_user(out, result(call, outcome));
    }
    push_assistant(out, &parts);
    if !unread.is_empty() {
        push_user(out, unread);
    }
}

/// A call with its outcome.
type Called<'a> = (&'a ToolCall, Option<&'a ToolOutcome>);

/// For a step that ended the task: the command that came with the completion, and its call. `None` where the step made another call.
fn completing(step: &Step) -> Option<(Option<&str>, Option<Called<'_>>)> {
    let mut calls = step.calls();
    let Some((call, outcome)) = calls.next() else { return Some((None, None)) };
    let is_command = call.tool.as_ref().is_some_and(|id| id.server.is_none() && &*id.name == "execute_command");
    let command = call.arguments.get("command").and_then(serde_json::Value::as_str)?;
    (step.completed && is_command && calls.next().is_none()).then_some((Some(command), Some((call, outcome))))
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
