//! Everything that waits for the user, as the screen sees it: one queue, a one-line dock, and at most one opened card.
//!
//! Owns the queue of open prompts, when each arrived and runs out, and what was typed into it. Does not know the focus: the owner
//! of the screen sends keys here only while [`Prompts::is_open`], and decides what opens a prompt.
//!
//! **Invariants**
//! - Nothing here takes a key unless it was opened, and nothing opens by itself, except the next prompt after an answer ([`quiet`] says which
//!   keys that one takes).
//! - A prompt is answered at most once, and only while it waits.
//! - A form leaves only when it is good.
//! - An opened prompt that ends by itself stays on the screen, saying so, until it is put away: the keys that were meant for it go nowhere else.

pub mod approval;
mod card;
mod decision;
mod dock;
pub mod form;
mod form_card;
mod glyph;
mod lines;
mod link;
mod menu;
mod page;
mod panel;
mod question;
mod queue;
pub mod quiet;
mod trust;

use crate::contract::{Op, PromptEvent};
use crate::domain::prompt::{Answer, Closed};
use crate::domain::{CallId, Notice, Phrase, PromptId};
use crate::tui::command::Command;
use crate::tui::keymap::{Chord, Context};
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Outcome};
use card::{Act, Card, Place};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use dock::Foot;
use queue::{Entry, Queue};
use quiet::{Opening, Quiet};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::{Duration, Instant};

/// How long the front of the queue must have stood before `Enter` on an empty composer may open it.
pub const STANDS: Duration = Duration::from_millis(400);

/// What is open.
#[derive(Debug)]
enum Opened {
    /// A prompt that waits.
    Waiting(PromptId),
    /// A prompt that ended by itself while it was open; what it says about that.
    Ended(Box<Entry>, Phrase),
}

/// What waits for the user.
#[derive(Debug, Default)]
pub struct Prompts {
    queue: Queue,
    open: Option<(Opened, Quiet)>,
}

impl Prompts {
    /// Nothing waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in news. The effects are notices (a form ran out). It never opens anything, and closes nothing that is open.
    pub fn event(&mut self, event: PromptEvent, now: Instant) -> Vec<Effect> {
        match event {
            PromptEvent::Opened { prompt } => {
                self.queue.push(prompt, now);
                Vec::new()
            }
            PromptEvent::Amended { prompt, approval } => {
                if let Some(entry) = self.queue.get_mut(prompt) {
                    entry.card.amend(*approval);
                }
                self.replaced(prompt, now);
                Vec::new()
            }
            PromptEvent::Refused { prompt, problems } => {
                let again = self.queue.refuse(prompt, now);
                let mut why = "prompt.refused";
                if let Some(entry) = self.queue.get_mut(prompt) {
                    if matches!(entry.card, Card::Approval(_)) {
                        why = "prompt.changed";
                    }
                    entry.card.refuse(problems);
                }
                self.replaced(prompt, now);
                if again { vec![Effect::Notice(Notice::warning(Phrase::new(why)))] } else { Vec::new() }
            }
            PromptEvent::Closed { prompt, why } => self.closed(prompt, why, now),
        }
    }

    fn replaced(&mut self, prompt: PromptId, now: Instant) {
        if self.opened() == Some(prompt)
            && let Some((_, quiet)) = &mut self.open
        {
            quiet.replaced(now);
        }
    }

    fn closed(&mut self, id: PromptId, why: Closed, now: Instant) -> Vec<Effect> {
        let was_open = self.opened() == Some(id);
        let ran_out = why == Closed::Expired;
        let Some(entry) = self.queue.close(id, now) else { return Vec::new() };
        let says = match why {
            Closed::Answered { .. } => Phrase::new("prompt.ended.answered"),
            Closed::Expired => {
                self.queue.keep(&entry.card);
                expired(&entry.card)
            }
            Closed::Withdrawn { why } => {
                self.queue.keep(&entry.card);
                why
            }
        };
        if was_open {
            if let Some((opened, _)) = &mut self.open {
                *opened = Opened::Ended(Box::new(entry), says);
            }
            return Vec::new();
        }
        if ran_out && !matches!(entry.card, Card::Decision(_)) {
            vec![Effect::Notice(Notice::warning(says))]
        } else {
            Vec::new()
        }
    }

    /// Forgets everything: another session is shown now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// How many wait for an answer.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether a prompt is open: it has the focus and takes the keys. Turns false only through [`Self::key`], [`Self::close`] and
    /// [`Self::clear`].
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Which waiting prompt is open.
    pub fn opened(&self) -> Option<PromptId> {
        match &self.open {
            Some((Opened::Waiting(id), _)) => Some(*id),
            _ => None,
        }
    }

    /// Whether the front has stood long enough for `Enter` on an empty composer to mean it.
    pub fn may_open_by_enter(&self, now: Instant) -> bool {
        self.queue.front().is_some_and(|front| self.queue.stood(front.id, now) >= STANDS)
    }

    /// Opens the front of the queue; false when nothing waits.
    pub fn open_next(&mut self, now: Instant) -> bool {
        self.queue.front().map(|front| front.id).is_some_and(|id| self.open(id, now))
    }

    /// Opens this prompt; false when it does not wait.
    pub fn open(&mut self, id: PromptId, now: Instant) -> bool {
        if self.queue.get(id).is_none() {
            return false;
        }
        let is_front = self.queue.front().is_some_and(|front| front.id == id);
        let fresh = is_front && self.queue.stood(id, now) < STANDS;
        self.open_as(id, if fresh { Opening::Fresh } else { Opening::Seen }, now);
        true
    }

    fn open_as(&mut self, id: PromptId, opening: Opening, now: Instant) {
        self.close();
        self.open = Some((Opened::Waiting(id), Quiet::new(opening, now)));
    }

    /// The prompt that a call waits for.
    pub fn for_call(&self, call: CallId) -> Option<PromptId> {
        self.queue.for_call(call)
    }

    /// Puts the open prompt back into the dock, unanswered. What was typed into it stays.
    pub fn close(&mut self) {
        if let Some((Opened::Ended(entry, _), _)) = self.open.take() {
            self.queue.keep(&entry.card);
        }
    }

    /// Takes a key while a prompt is open. [`Outcome::Close`]: the focus goes back to where it was. [`Outcome::Ignored`]: a key for
    /// whoever handles keys that work anywhere (help, palette, interrupt, suspend).
    pub fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        if key.kind == KeyEventKind::Release {
            return Outcome::Consumed;
        }
        let now = look.now;
        if look.keymap.find(Context::Global, key) == Some(Command::OpenWaiting) {
            return self.put_away(key, look);
        }
        let id = match &mut self.open {
            None => return Outcome::Ignored,
            Some((Opened::Ended(..), _)) => return self.key_after_end(key, look),
            Some((Opened::Waiting(id), quiet)) => {
                if !is_global(key, look) && !quiet.hears(key, now) {
                    return Outcome::Consumed;
                }
                *id
            }
        };
        let place = self.queue.place(id, now);
        let Some(entry) = self.queue.get_mut(id) else { return Outcome::Ignored };
        match entry.card.key(key, place, look) {
            Act::Ignored => Outcome::Ignored,
            Act::Consumed => Outcome::Consumed,
            Act::Emit(effects) => Outcome::Emit(effects),
            Act::Turned => {
                if let Some((_, quiet)) = &mut self.open {
                    quiet.turned(key, now);
                }
                Outcome::Consumed
            }
            Act::Back => {
                self.close();
                Outcome::Close(Vec::new())
            }
            Act::Answer(answer) => self.answer(id, answer, key, now),
            Act::Do(effects) => {
                if self.admits(key, now) {
                    Outcome::Emit(effects)
                } else {
                    Outcome::Consumed
                }
            }
        }
    }

    fn admits(&mut self, key: KeyEvent, now: Instant) -> bool {
        self.open.as_mut().is_some_and(|(_, quiet)| quiet.admits(key, now))
    }

    /// Sends an answer, once, and opens what waits next.
    fn answer(&mut self, id: PromptId, answer: Answer, key: KeyEvent, now: Instant) -> Outcome {
        if !self.admits(key, now) {
            return Outcome::Consumed;
        }
        if answer == Answer::Cancel
            && let Some(entry) = self.queue.get(id)
        {
            let card = entry.card.clone();
            self.queue.keep(&card);
        }
        self.queue.answer(id, now);
        let effects = vec![Effect::Op(Op::Answer { prompt: id, answer })];
        self.open = None;
        match self.queue.front().map(|front| front.id) {
            Some(next) => {
                self.open_as(next, Opening::After(Chord::from(key)), now);
                Outcome::Emit(effects)
            }
            None => Outcome::Close(effects),
        }
    }

    /// The key that opens what waits puts it back; on one that has ended it goes on to the next.
    fn put_away(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        let ended = matches!(self.open, Some((Opened::Ended(..), _)));
        self.close();
        match self.queue.front().map(|front| front.id).filter(|_| ended) {
            Some(next) => {
                self.open_as(next, Opening::After(Chord::from(key)), look.now);
                Outcome::Consumed
            }
            None => Outcome::Close(Vec::new()),
        }
    }

    /// A card that has ended takes text into its form still (it is kept for a new try), and is put away by `Esc` or `Enter`.
    fn key_after_end(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        let Some((Opened::Ended(entry, _), _)) = &mut self.open else { return Outcome::Ignored };
        if is_global(key, look) {
            return Outcome::Ignored;
        }
        let is_form = matches!(entry.card, Card::Form(_));
        let leaves = match (key.code, is_form) {
            (KeyCode::Esc, _) | (KeyCode::Enter, false) => true,
            (_, false) => false,
            (_, true) => {
                let place = Place { id: entry.id, at: 1, of: 1, left: None };
                matches!(entry.card.key(key, place, look), Act::Answer(_))
            }
        };
        if !leaves {
            return Outcome::Consumed;
        }
        self.close();
        Outcome::Close(Vec::new())
    }

    /// Takes pasted text while a prompt is open. It is never an answer by itself.
    pub fn paste(&mut self, text: &str) -> Outcome {
        let card = match &mut self.open {
            None => return Outcome::Ignored,
            Some((Opened::Ended(entry, _), _)) => Some(&mut entry.card),
            Some((Opened::Waiting(id), _)) => self.queue.get_mut(*id).map(|entry| &mut entry.card),
        };
        if let Some(card) = card {
            card.paste(text);
        }
        Outcome::Consumed
    }

    /// Takes back the text that went out with [`Effect::Edit`].
    pub fn edited(&mut self, text: String) {
        match &mut self.open {
            None => {}
            Some((Opened::Ended(entry, _), _)) => entry.card.edited(&text),
            Some((Opened::Waiting(id), _)) => {
                if let Some(entry) = self.queue.get_mut(*id) {
                    entry.card.edited(&text);
                }
            }
        }
    }

    /// The program is about to be suspended: time stands still from here.
    pub fn hold(&mut self, now: Instant) {
        self.queue.hold(now);
    }

    /// The program is back: time goes on. Adds nothing to what [`Look::now`] already left out.
    pub fn go(&mut self, now: Instant) {
        self.queue.go(now);
    }

    /// Rows the dock wants: 0 when nothing waits and nothing is open, 1 collapsed, up to `max` opened.
    pub fn dock_height(&mut self, width: u16, max: u16, look: &Look<'_>) -> u16 {
        let now = look.now;
        let wanted = match &mut self.open {
            None => u16::from(self.queue.front().is_some()),
            Some((Opened::Ended(entry, _), _)) => {
                let place = Place { id: entry.id, at: 1, of: 1, left: None };
                dock::height(&mut entry.card, width, place, look)
            }
            Some((Opened::Waiting(id), _)) => {
                let place = self.queue.place(*id, now);
                self.queue.get_mut(*id).map_or(0, |entry| dock::height(&mut entry.card, width, place, look))
            }
        };
        wanted.min(max)
    }

    /// Draws the dock; returns where the caret stands while a prompt is open.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let now = look.now;
        match &mut self.open {
            None => {
                let front = self.queue.front()?;
                let place = self.queue.place(front.id, now);
                dock::draw_line(&front.card, place, area, buffer, look);
                None
            }
            Some((Opened::Ended(entry, says), _)) => {
                let place = Place { id: entry.id, at: 1, of: 1, left: None };
                let foot = Foot::Says(look.strings.fill("prompt.ended.says", &[("what", &look.strings.render(says))]));
                dock::draw_open(&mut entry.card, (place, &foot), area, buffer, look)
            }
            Some((Opened::Waiting(id), quiet)) => {
                let place = self.queue.place(*id, now);
                let early = quiet.has_refused();
                let foot =
                    if early { Foot::Says(look.strings.get("prompt.too_early").to_owned()) } else { Foot::Hints };
                let entry = self.queue.get_mut(*id)?;
                dock::draw_open(&mut entry.card, (place, &foot), area, buffer, look)
            }
        }
    }

    /// When it must be drawn anew though nothing happens: the next second of a visible countdown.
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let shown = match &self.open {
            None => self.queue.front().map(|front| front.id),
            Some((Opened::Waiting(id), _)) => Some(*id),
            Some((Opened::Ended(..), _)) => None,
        };
        self.queue.next_second(shown?, now)
    }
}

/// Keys that work anywhere are never held up.
fn is_global(key: KeyEvent, look: &Look<'_>) -> bool {
    let moves = [Command::Next, Command::Previous, Command::Escape, Command::OpenWaiting];
    look.keymap.find(Context::Global, key).is_some_and(|command| !moves.contains(&command))
}

/// What a prompt says that ran out.
fn expired(card: &Card) -> Phrase {
    match card {
        Card::Form(card) => Phrase::new("prompt.ended.expired_form").with("server", card.server()),
        Card::Link(card) => Phrase::new("prompt.ended.expired_link").with("server", card.server()),
        Card::Decision(_) => Phrase::new("prompt.ended.went_on"),
        _ => Phrase::new("prompt.ended.expired"),
    }
}
