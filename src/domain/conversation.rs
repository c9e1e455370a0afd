//! The conversation: turns of steps of items.
//!
//! A turn is one task of the user. A step is one reply of the model: a thought, its calls with their outcomes, and
//! possibly an answer. The three panes show the same conversation filtered by kind of item.
//!
//! **Invariant:** a step whose `end` is not [`StepEnd::Complete`] is shown and journalled, but never sent to a model.

use super::content::Content;
use super::error::Phrase;
use super::id::{CallId, ItemId, StepId, TurnId};
use super::model::Opaque;
use super::tool::{ToolCall, ToolOutcome};
use super::usage::Usage;
use serde::{Deserialize, Serialize};

/// What the user sent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct UserInput {
    /// The text, pasted pieces in place.
    pub text: String,
    /// Files and resources that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Content>,
}

impl UserInput {
    /// Input that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), attachments: Vec::new() }
    }
}

/// Whether a turn belongs to the model's conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// A task for the model.
    #[default]
    Task,
    /// A tool that the user ran by hand. The model never sees it.
    Hand,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model was done.
    Done,
    /// The user interrupted it.
    Interrupted,
    /// The user chose to stop at a question of the loop (step limit, repeated call, cut stream).
    Stopped,
    /// It reached its limit of steps and nobody allowed more.
    StepLimit,
    /// The model could not be used any further.
    Failed {
        /// What went wrong.
        problem: Phrase,
    },
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum StepEnd {
    /// The reply arrived whole and every call has its outcome.
    Complete,
    /// The stream broke or was cut off; what came is shown, not used.
    Cut {
        /// What went wrong.
        problem: Phrase,
    },
    /// The user interrupted the reply.
    Interrupted,
}

/// One entry of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub body: ItemBody,
}

/// The kinds of items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ItemBody {
    /// What the model thought.
    Thinking {
        /// The text.
        text: String,
        /// The provider's signed block, replayed only to the same provider and model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Opaque>,
    },
    /// What the model said to the user.
    Answer {
        /// Markdown.
        text: String,
    },
    /// A call it asked for.
    Call {
        /// The call.
        call: ToolCall,
        /// What became of it; `None` while it is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<ToolOutcome>,
    },
}

/// One reply of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// What it consists of, in order.
    pub items: Vec<Item>,
    /// How it ended; `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<StepEnd>,
    /// The model declared the task done in it.
    #[serde(default)]
    pub completed: bool,
    /// What its request used.
    #[serde(default)]
    pub usage: Usage,
    /// What the model is told after it: a reminder of the format, the user's hint. Sent even when the step itself is not
    /// [`StepEnd::Complete`] and so left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<String>,
}

impl Step {
    /// Its calls with their outcomes.
    pub fn calls(&self) -> impl Iterator<Item = (&ToolCall, Option<&ToolOutcome>)> {
        self.items.iter().filter_map(|item| match &item.body {
            ItemBody::Call { call, outcome } => Some((call, outcome.as_ref())),
            _ => None,
        })
    }
}

/// One task of the user and all that followed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// Task or hand-run tool.
    #[serde(default)]
    pub kind: TurnKind,
    /// What the user sent.
    pub input: UserInput,
    /// The environment part that travels with it, frozen when it was sent so that history stays byte-stable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// The model's replies.
    pub steps: Vec<Step>,
    /// How it ended; `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<TurnEnd>,
}

/// All of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Conversation {
    /// Oldest first.
    pub turns: Vec<Turn>,
}

impl Conversation {
    /// The call with this id, and its outcome's place.
    pub fn call_mut(&mut self, id: CallId) -> Option<(&mut ToolCall, &mut Option<ToolOutcome>)> {
        self.turns.iter_mut().rev().flat_map(|t| t.steps.iter_mut().rev()).flat_map(|s| s.items.iter_mut()).find_map(
            |item| match &mut item.body {
                ItemBody::Call { call, outcome } if call.id == id => Some((call, outcome)),
                _ => None,
            },
        )
    }

    /// The call with this id, and its outcome.
    pub fn call(&self, id: CallId) -> Option<(&ToolCall, Option<&ToolOutcome>)> {
        self.turns.iter().rev().flat_map(|t| t.steps.iter().rev()).flat_map(Step::calls).find(|(call, _)| call.id == id)
    }

    /// The step with this id.
    pub fn step_mut(&mut self, id: StepId) -> Option<&mut Step> {
        self.turns.iter_mut().rev().flat_map(|t| t.steps.iter_mut().rev()).find(|step| step.id == id)
    }

    /// The turn with this id.
    pub fn turn_mut(&mut self, id: TurnId) -> Option<&mut Turn> {
        self.turns.iter_mut().rev().find(|turn| turn.id == id)
    }
}
