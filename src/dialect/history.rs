//! What the messages of every dialect share.
//!
//! Owns: the form of the user's message, which turns and steps are sent, and what is said about a task that was not finished
//! and about a call that could not be read.
//! **Invariant:** two messages of the user never follow one another (chat templates of local models refuse that): they are one.

use super::outcome;
use crate::domain::content::Content;
use crate::domain::conversation::{Step, StepEnd, Turn, TurnEnd};
use crate::domain::model::Message;
use crate::domain::{ToolCall, ToolOutcome};

/// Whether what the step holds is sent to models. Its reminder is sent in any case.
pub fn is_complete(step: &Step) -> bool {
    step.end == Some(StepEnd::Complete)
}

/// The user's message: the task in its tag, the environment part that was frozen with it, then attachments.
pub fn user_message(turn: &Turn) -> Vec<Content> {
    let mut text = format!("<task>\n{}\n</task>", turn.input.text);
    if let Some(environment) = &turn.environment {
        text.push_str("\n\n");
        text.push_str(environment);
    }
    let mut blocks = vec![Content::text(text)];
    blocks.extend(turn.input.attachments.iter().cloned());
    blocks
}

/// What the model should know about a task that it did not finish.
pub fn closing_note(turn: &Turn) -> Option<&'static str> {
    match turn.end.as_ref()? {
        TurnEnd::Done => None,
        TurnEnd::Interrupted => Some("[The user interrupted this task.]"),
        TurnEnd::Stopped => Some("[The user stopped this task.]"),
        TurnEnd::StepLimit | TurnEnd::Failed { .. } => Some("[This task was not finished.]"),
    }
}

/// What is said about a call whose arguments are no object, so could not be read; `None` for any other. It never stands in the
/// history as a call: an example of a broken one would be followed.
pub fn unreadable(call: &ToolCall, outcome: Option<&ToolOutcome>) -> Option<String> {
    let told = || format!("Your call of {} could not be read. {}", call.asked, outcome::text(call, outcome));
    (!call.arguments.is_object()).then(told)
}

/// Adds a message of the user; joins it to the last one if that is the user's too.
pub fn push_user(messages: &mut Vec<Message>, blocks: Vec<Content>) {
    let Some(Message::User { content }) = messages.last_mut() else {
        messages.push(Message::User { content: blocks });
        return;
    };
    for block in blocks {
        match (content.last_mut(), block) {
            (Some(Content::Text { text }), Content::Text { text: more }) => {
                text.push_str("\n\n");
                text.push_str(&more);
            }
            (_, block) => content.push(block),
        }
    }
}
