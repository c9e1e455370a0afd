//! One thing that waits, with what the user has done to it so far. Each kind has a file; this is what they have in common.

use super::approval::ApprovalCard;
use super::decision::DecisionCard;
use super::form_card::FormCard;
use super::glyph::Hints;
use super::link::LinkCard;
use super::question::QuestionCard;
use super::trust::TrustCard;
use crate::domain::PromptId;
use crate::domain::form::FieldError;
use crate::domain::prompt::{Answer, Approval, PromptKind};
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::theme::Role;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// What a card makes of a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Act {
    /// Not its own.
    Ignored,
    /// Taken.
    Consumed,
    /// Taken; the same key now does something else and may still be held.
    Turned,
    /// The answer. The card is unchanged, so that a key that came too early can be taken back.
    Answer(Answer),
    /// Something that only a key that was meant may do. The card is unchanged.
    Do(Vec<Effect>),
    /// Something harmless to do.
    Emit(Vec<Effect>),
    /// Back to the dock, still waiting.
    Back,
}

/// What the dock says of a card in one line: who or what it is, and what about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Summary {
    pub head: String,
    pub rest: String,
}

/// The title of an opened card: pieces with what they are.
pub(super) type Title = Vec<(String, Role)>;

/// What the queue knows of a prompt and its card does not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub id: PromptId,
    /// Which of those that wait, from 1.
    pub at: usize,
    pub of: usize,
    /// Until it answers itself.
    pub left: Option<Duration>,
}

/// A card.
#[derive(Debug, Clone)]
pub(super) enum Card {
    Approval(Box<ApprovalCard>),
    Form(Box<FormCard>),
    Link(Box<LinkCard>),
    Question(Box<QuestionCard>),
    Decision(Box<DecisionCard>),
    Trust(Box<TrustCard>),
}

macro_rules! each {
    ($card:expr, $inner:ident => $call:expr) => {
        match $card {
            Card::Approval($inner) => $call,
            Card::Form($inner) => $call,
            Card::Link($inner) => $call,
            Card::Question($inner) => $call,
            Card::Decision($inner) => $call,
            Card::Trust($inner) => $call,
        }
    };
}

impl Card {
    pub(super) fn new(kind: PromptKind) -> Self {
        match kind {
            PromptKind::Approval(approval) => Self::Approval(Box::new(ApprovalCard::new(*approval))),
            PromptKind::Form(request) => Self::Form(Box::new(FormCard::new(request))),
            PromptKind::Link(request) => Self::Link(Box::new(LinkCard::new(request))),
            PromptKind::Question(question) => Self::Question(Box::new(QuestionCard::new(question))),
            PromptKind::Decision(decision) => Self::Decision(Box::new(DecisionCard::new(decision))),
            PromptKind::Trust(request) => Self::Trust(Box::new(TrustCard::new(request))),
        }
    }

    /// The call was checked anew.
    pub(super) fn amend(&mut self, approval: Approval) {
        if let Self::Approval(card) = self {
            card.amend(approval);
        }
    }

    /// The answer was not good enough.
    pub(super) fn refuse(&mut self, problems: Vec<(String, FieldError)>) {
        match self {
            Self::Approval(card) => card.refuse(problems),
            Self::Form(card) => card.refuse(&problems),
            Self::Link(_) | Self::Question(_) | Self::Decision(_) | Self::Trust(_) => {}
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, place: Place, look: &Look<'_>) -> Act {
        each!(self, card => card.key(key, place, look))
    }

    pub(super) fn paste(&mut self, text: &str) {
        match self {
            Self::Approval(card) => card.paste(text),
            Self::Form(card) => card.paste(text),
            Self::Question(card) => card.paste(text),
            Self::Decision(card) => card.paste(text),
            Self::Link(_) | Self::Trust(_) => {}
        }
    }

    /// Takes back a text from the external editor.
    pub(super) fn edited(&mut self, text: &str) {
        match self {
            Self::Approval(card) => card.edited(text),
            Self::Form(card) => card.edited(text),
            Self::Question(card) => card.edited(text),
            Self::Decision(card) => card.edited(text),
            Self::Link(_) | Self::Trust(_) => {}
        }
    }

    pub(super) fn summary(&self, place: Place, look: &Look<'_>) -> Summary {
        each!(self, card => card.summary(place, look))
    }

    pub(super) fn title(&self, place: Place, look: &Look<'_>) -> Title {
        match self {
            Self::Approval(card) => card.title(place, look),
            Self::Form(card) => card.title(place, look),
            Self::Link(card) => card.title(place, look),
            Self::Question(_) => QuestionCard::title(look),
            Self::Decision(card) => card.title(place, look),
            Self::Trust(card) => card.title(place, look),
        }
    }

    pub(super) fn hints<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        match self {
            Self::Approval(card) => card.hints(look),
            Self::Form(card) => card.hints(look),
            Self::Question(card) => card.hints(look),
            Self::Decision(card) => card.hints(look),
            Self::Link(_) => LinkCard::hints(look),
            Self::Trust(_) => TrustCard::hints(look),
        }
    }

    /// Rows its inside would like.
    pub(super) fn height(&mut self, columns: u16, place: Place, look: &Look<'_>) -> u16 {
        each!(self, card => card.height(columns, place, look))
    }

    /// Draws its inside; returns where the caret stands.
    pub(super) fn draw(&mut self, area: Rect, place: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        each!(self, card => card.draw(area, place, buffer, look))
    }

    /// Rows out of sight below.
    pub(super) fn below(&self) -> usize {
        each!(self, card => card.below())
    }
}
