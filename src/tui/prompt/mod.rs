//! Everything that waits for the user, as the screen sees it: one queue, a one-line dock, and at most one opened card.
//!
//! Owns the queue of open prompts, when each arrived and runs out, and what was typed into it. Does not know the focus: the owner
//! of the screen sends keys here only while [`Prompts::is_open`], and decides what opens a prompt.
//!
//! **Invariants:** nothing here takes a key unless it was opened; a prompt is answered at most once; an invalid form never leaves.

pub mod form;
mod glyph;
mod lines;

use crate::contract::PromptEvent;
use crate::domain::prompt::Prompt;
use crate::domain::{CallId, PromptId};
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Outcome};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::{Duration, Instant};

/// How long the front of the queue must have stood before `Enter` on an empty composer may open it.
pub const STANDS: Duration = Duration::from_millis(400);

struct Waiting {
    prompt: Prompt,
    front_since: Option<Instant>,
}

/// What waits for the user.
#[derive(Default)]
pub struct Prompts {
    queue: Vec<Waiting>,
    open: Option<PromptId>,
}

impl Prompts {
    /// Nothing waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in news. The effects are notices (a form ran out). It never opens anything.
    pub fn event(&mut self, event: PromptEvent, now: Instant) -> Vec<Effect> {
        match event {
            PromptEvent::Opened { prompt } => self.queue.push(Waiting { prompt, front_since: None }),
            PromptEvent::Closed { prompt, .. } => self.queue.retain(|w| w.prompt.id != prompt),
            PromptEvent::Amended { .. } | PromptEvent::Refused { .. } => {}
        }
        if let Some(front) = self.queue.first_mut() {
            front.front_since.get_or_insert(now);
        }
        Vec::new()
    }

    /// Forgets everything: another session is shown now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// How many wait for an answer.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether a prompt is open: it has the focus and takes the keys. May turn false only through [`Self::key`] and [`Self::close`].
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Which prompt is open.
    pub fn opened(&self) -> Option<PromptId> {
        self.open
    }

    /// Whether the front has stood long enough for `Enter` on an empty composer to mean it.
    pub fn may_open_by_enter(&self, now: Instant) -> bool {
        self.queue.first().and_then(|w| w.front_since).is_some_and(|since| now.duration_since(since) >= STANDS)
    }

    /// Opens the front of the queue; false when nothing waits.
    pub fn open_next(&mut self, now: Instant) -> bool {
        self.queue.first().map(|w| w.prompt.id).is_some_and(|id| self.open(id, now))
    }

    /// Opens this prompt; false when it does not wait.
    pub fn open(&mut self, id: PromptId, _now: Instant) -> bool {
        let waits = self.queue.iter().any(|w| w.prompt.id == id);
        if waits {
            self.open = Some(id);
        }
        waits
    }

    /// The prompt that a call waits for.
    pub fn for_call(&self, call: CallId) -> Option<PromptId> {
        self.queue.iter().find(|w| w.prompt.call == Some(call)).map(|w| w.prompt.id)
    }

    /// Puts the open prompt back into the dock, unanswered.
    pub fn close(&mut self) {
        self.open = None;
    }

    /// Takes a key while a prompt is open. [`Outcome::Close`]: the focus goes back to where it was. [`Outcome::Ignored`]: a key for
    /// whoever handles keys that work anywhere (help, palette, interrupt, suspend).
    pub fn key(&mut self, _key: KeyEvent, _look: &Look<'_>) -> Outcome {
        Outcome::Ignored
    }

    /// Takes pasted text while a prompt is open. It is never an answer by itself.
    pub fn paste(&mut self, _text: &str) -> Outcome {
        Outcome::Ignored
    }

    /// Takes back the text that went out with [`Effect::Edit`].
    pub fn edited(&mut self, _text: String) {}

    /// The program is about to be suspended: time stands still from here.
    pub fn hold(&mut self, _now: Instant) {}

    /// The program is back: time goes on. Does nothing that [`Look::now`] did not already leave out.
    pub fn go(&mut self, _now: Instant) {}

    /// Rows the dock wants: 0 when nothing waits and nothing is open, 1 collapsed, up to `max` opened.
    pub fn dock_height(&mut self, _width: u16, max: u16, _look: &Look<'_>) -> u16 {
        u16::from(!self.queue.is_empty()).min(max)
    }

    /// Draws the dock; returns where the caret stands while a prompt is open.
    pub fn draw(&mut self, _area: Rect, _buffer: &mut Buffer, _look: &Look<'_>) -> Option<Position> {
        None
    }

    /// When it must be drawn anew though nothing happens: the next second of a visible countdown, the end of a guard time.
    pub fn next_deadline(&self, _now: Instant) -> Option<Instant> {
        None
    }
}
