//! What waits, in order of arrival, with when it runs out; and the forms that ran out, were taken back or were put away with something in them.
//!
//! Owns time: while the program is suspended it stands still. Does not know what is open.
//!
//! **Invariant:** a prompt is in one place: waiting, or answered and not yet confirmed. It moves back only when its answer was refused.

use super::card::{Card, Place};
use super::form::FormView;
use crate::domain::form::Form;
use crate::domain::prompt::Prompt;
use crate::domain::{CallId, PromptId, ServerName};
use std::time::{Duration, Instant};

/// Forms kept for a new try.
const KEPT: usize = 8;

/// A prompt with its card.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub id: PromptId,
    pub call: Option<CallId>,
    pub card: Card,
    /// When it answers itself.
    pub expires: Option<Instant>,
    /// Since when it stands at the front.
    front_since: Option<Instant>,
}

/// Everything that waits.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<Entry>,
    /// Answered; the agent has not said so yet.
    answered: Vec<Entry>,
    kept: Vec<(ServerName, Form, FormView)>,
    held: Option<Instant>,
}

impl Queue {
    pub(super) fn push(&mut self, prompt: Prompt, now: Instant) {
        let expires = prompt.expires_ms.map(|ms| now + Duration::from_millis(ms));
        let mut entry =
            Entry { id: prompt.id, call: prompt.call, card: Card::new(prompt.kind), expires, front_since: None };
        if let Card::Form(card) = &mut entry.card
            && let Some(at) = self.kept.iter().position(|(server, form, _)| card.is_like(server, form))
        {
            card.resume(self.kept.swap_remove(at).2);
        }
        self.waiting.retain(|known| known.id != entry.id);
        self.waiting.push(entry);
        self.settle(now);
    }

    /// Notes since when the front has stood there.
    fn settle(&mut self, now: Instant) {
        for (index, entry) in self.waiting.iter_mut().enumerate() {
            entry.front_since = if index == 0 { entry.front_since.or(Some(now)) } else { None };
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn front(&self) -> Option<&Entry> {
        self.waiting.first()
    }

    pub(super) fn get(&self, id: PromptId) -> Option<&Entry> {
        self.waiting.iter().find(|entry| entry.id == id)
    }

    pub(super) fn get_mut(&mut self, id: PromptId) -> Option<&mut Entry> {
        self.waiting.iter_mut().find(|entry| entry.id == id)
    }

    pub(super) fn for_call(&self, call: CallId) -> Option<PromptId> {
        self.waiting.iter().find(|entry| entry.call == Some(call)).map(|entry| entry.id)
    }

    /// How long a prompt has been the first thing in the dock.
    pub(super) fn stood(&self, id: PromptId, now: Instant) -> Duration {
        let since = self.get(id).and_then(|entry| entry.front_since);
        since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// What the queue knows of a prompt.
    pub(super) fn place(&self, id: PromptId, now: Instant) -> Place {
        let at = self.waiting.iter().position(|entry| entry.id == id).map_or(1, |at| at + 1);
        let expires = self.get(id).and_then(|entry| entry.expires);
        Place { id, at, of: self.waiting.len().max(1), left: expires.map(|at| self.left(at, now)) }
    }

    /// Time left until then. While it is held, as it was then.
    pub(super) fn left(&self, at: Instant, now: Instant) -> Duration {
        at.saturating_duration_since(self.held.unwrap_or(now))
    }

    /// It was answered: nothing answers it again.
    pub(super) fn answer(&mut self, id: PromptId, now: Instant) {
        if let Some(entry) = self.take(id, now) {
            self.answered.push(entry);
        }
    }

    /// Its answer was not good enough: it waits again, where it would stand by its age. Whether it had been answered.
    pub(super) fn refuse(&mut self, id: PromptId, now: Instant) -> bool {
        let Some(at) = self.answered.iter().position(|entry| entry.id == id) else { return false };
        let entry = self.answered.swap_remove(at);
        let place = self.waiting.iter().position(|other| other.id > id).unwrap_or(self.waiting.len());
        self.waiting.insert(place, entry);
        self.settle(now);
        true
    }

    fn take(&mut self, id: PromptId, now: Instant) -> Option<Entry> {
        let at = self.waiting.iter().position(|entry| entry.id == id)?;
        let entry = self.waiting.remove(at);
        self.settle(now);
        Some(entry)
    }

    /// It no longer waits, whether answered or not.
    pub(super) fn close(&mut self, id: PromptId, now: Instant) -> Option<Entry> {
        let answered = self.answered.iter().position(|entry| entry.id == id).map(|at| self.answered.swap_remove(at));
        answered.or_else(|| self.take(id, now))
    }

    /// Keeps what was typed into a form for a new try: in the one that waits already, else for the next.
    pub(super) fn keep(&mut self, card: &Card) {
        let Card::Form(card) = card else { return };
        if !card.view().is_touched() {
            return;
        }
        let (server, form) = (card.server().clone(), card.view().form().clone());
        let again = self.waiting.iter_mut().find_map(|entry| match &mut entry.card {
            Card::Form(other) if other.is_like(&server, &form) && !other.view().is_touched() => Some(other),
            _ => None,
        });
        if let Some(other) = again {
            other.resume(card.view().clone());
            return;
        }
        self.kept.retain(|(s, f, _)| *s != server || *f != form);
        if self.kept.len() == KEPT {
            self.kept.remove(0);
        }
        self.kept.push((server, form, card.view().clone()));
    }

    pub(super) fn hold(&mut self, now: Instant) {
        self.held.get_or_insert(now);
    }

    /// Every deadline moves by the time that stood still.
    pub(super) fn go(&mut self, now: Instant) {
        let Some(held) = self.held.take() else { return };
        let still = now.saturating_duration_since(held);
        for entry in self.waiting.iter_mut().chain(&mut self.answered) {
            entry.expires = entry.expires.map(|at| at + still);
        }
    }

    /// When the shown seconds of this prompt change next.
    pub(super) fn next_second(&self, id: PromptId, now: Instant) -> Option<Instant> {
        let left = self.left(self.get(id)?.expires?, now);
        if left.is_zero() || self.held.is_some() {
            return None;
        }
        let into = Duration::from_nanos(u64::from(left.subsec_nanos()));
        Some(now + if into.is_zero() { Duration::from_secs(1) } else { into })
    }
}
