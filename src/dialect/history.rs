//! What the messages of every dialect share.
//!
//! Owns: the form of the user's message, which turns and steps are sent, and what is said about a task that was not finished.
//! **Invariant:** two messages of the user never follow one another (chat templates of local models refuse that): they are one.

use crate::domain::content::Content;
use crate::domain::conversation::{Step, StepEnd, Turn, TurnEnd};
use crate::domain::model::Message;

/// Whether the step is sent to models.
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
