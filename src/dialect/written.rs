//! The conversation as messages of a text dialect.
//!
//! Owns: what becomes a message and in which order; a [`Hand`] knows how a message is written. Every message of the model is written anew from
//! the structured items: thoughts, then at most one call. A step with several calls (made natively, before the dialect changed) becomes several
//! messages, so that the history shows one call a message.

use super::history::{closing_note, is_complete, push_user, unreadable, user_message};
use super::{outcome, prompt};
use crate::domain::content::{Content, beside_media};
use crate::domain::conversation::{Conversation, ItemBody, Step, Turn, TurnEnd, TurnKind};
use crate::domain::model::{DialectKind, Message};
use crate::domain::{ToolCall, ToolOutcome};

/// What a message of the model does.
#[derive(Debug, Clone, Copy)]
pub enum Act<'a> {
    /// Nothing further.
    Nothing,
    /// It calls.
    Call(&'a ToolCall),
    /// It completes the task, perhaps with a command that shows the result. The text is the answer.
    Completion(Option<&'a str>),
}

/// A message of the model.
#[derive(Debug, Clone)]
pub struct Said<'a> {
    /// What it thought, trimmed, none of them empty.
    pub thoughts: Vec<&'a str>,
    /// What it said to the user; may be empty.
    pub text: String,
    /// What it does.
    pub act: Act<'a>,
}

/// How messages are written in a dialect.
pub trait Hand {
    /// A message of the model; never called with one that holds nothing at all.
    fn message(&self, said: &Said<'_>) -> String;
    /// The result of a call, as the user's message says it.
    fn result(&self, call: &ToolCall, text: &str) -> String;
}

/// All messages, oldest first.
pub fn messages(conversation: &Conversation, kind: DialectKind, hand: &dyn Hand) -> Vec<Message> {
    let mut out = Vec::new();
    for turn in conversation.turns.iter().filter(|turn| turn.kind == TurnKind::Task) {
        push_user(&mut out, user_message(turn));
        let last = turn.steps.iter().rfind(|step| is_complete(step));
        for step in &turn.steps {
            if is_complete(step) {
                // An answer that ended the task shows how that is said, even where the model said it in plain words.
                let ended = turn.end == Some(TurnEnd::Done) && last.is_some_and(|last| last.id == step.id);
                let answers = if step.completed || ended { Answers::Completion } else { Answers::Plain };
                push_step(&mut out, step, answers, hand);
            }
            if let Some(reminder) = &step.reminder {
                push_user(&mut out, vec![Content::text(prompt::reminder_in(kind, reminder))]);
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

fn push_step(out: &mut Vec<Message>, step: &Step, answers: Answers, hand: &dyn Hand) {
    let mut thoughts = Vec::new();
    let mut texts = Vec::new();
    for item in &step.items {
        match &item.body {
            ItemBody::Thinking { text, .. } if !text.trim().is_empty() => thoughts.push(text.trim()),
            ItemBody::Answer { text } if !text.trim().is_empty() => texts.push(text.trim()),
            _ => {}
        }
    }
    let mut said = Said { thoughts, text: texts.join("\n\n"), act: Act::Nothing };
    if answers == Answers::Completion
        && let Some((command, ending)) = completing(step)
    {
        if !said.text.is_empty() || command.is_some() {
            said.act = Act::Completion(command);
        }
        push_assistant(out, &said, hand);
        if let Some((call, outcome)) = ending {
            push_user(out, result(call, outcome, hand));
        }
        return;
    }
    let mut unread = Vec::new();
    for (call, outcome) in step.calls() {
        if let Some(note) = unreadable(call, outcome) {
            unread.push(Content::text(note));
            continue;
        }
        said.act = Act::Call(call);
        push_assistant(out, &said, hand);
        said = Said { thoughts: Vec::new(), text: String::new(), act: Act::Nothing };
        push_user(out, result(call, outcome, hand));
    }
    push_assistant(out, &said, hand);
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

fn push_assistant(out: &mut Vec<Message>, said: &Said<'_>, hand: &dyn Hand) {
    let empty = said.thoughts.is_empty() && said.text.is_empty() && matches!(said.act, Act::Nothing);
    if !empty {
        let text = hand.message(said);
        out.push(Message::Assistant { text, reasoning: None, opaque: Vec::new(), calls: Vec::new() });
    }
}

/// The result as the user's message. Pictures and sounds stay blocks; all else is text.
fn result(call: &ToolCall, outcome: Option<&ToolOutcome>, hand: &dyn Hand) -> Vec<Content> {
    let mut blocks = outcome::blocks(call, outcome);
    let text = hand.result(call, &beside_media(&blocks));
    blocks.retain(Content::is_media);
    blocks.insert(0, Content::text(text));
    blocks
}
