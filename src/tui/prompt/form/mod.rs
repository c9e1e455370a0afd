//! The form: fields, buttons, errors beside the fields. It serves a server's elicitation, the editing of a call's arguments and running a
//! tool by hand.
//!
//! Owns what was typed, which field has the focus and what is scrolled out of sight. Does not know who asks, nor what becomes of the answer.
//!
//! **Invariants:** an answer leaves only through [`FormOutcome::Submit`], and only if every field in it is good; a field that was not touched
//! is answered exactly as it was given; the buttons are in sight at any height.

mod boxed;
mod buttons;
mod choices;
mod field;
mod foot;
mod hints;
mod sheet;
mod tree;
pub(in crate::tui) mod words;

use super::glyph::{Hints, glyphs};
use super::page::Page;
use crate::domain::form::{FieldError, Form};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::theme::Role;
use crate::tui::widget::Line;
use buttons::Button;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use field::{Press, Reaction};
use foot::{Foot, Status};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};
use sheet::Block;
use tree::Tree;

/// What the form is for: its buttons, and what an empty optional field means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A server asks: Submit, Decline, Cancel. Defaults are filled in.
    Elicit,
    /// A call's arguments are edited: Apply, Back. What is absent stays absent unless typed.
    Arguments,
    /// A tool is run by hand: Run, Cancel. Defaults are filled in.
    Run,
}

/// What became of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum FormOutcome {
    /// Not the form's; for whoever handles keys that work anywhere.
    Ignored,
    /// Taken.
    Consumed,
    /// Filled in and valid. Fields left empty are not in it.
    Submit(Map<String, Value>),
    /// Declined.
    Decline,
    /// Put away.
    Cancel,
    /// Edit this text in the external editor; the result comes back through [`FormView::edited`].
    Edit {
        /// The text.
        text: String,
        /// Ending of the temporary file.
        extension: &'static str,
    },
}

/// What can have the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Field(usize),
    Button(Button),
}

/// A form on the screen.
#[derive(Debug, Clone)]
pub struct FormView {
    form: Form,
    purpose: Purpose,
    intro: String,
    tree: Tree,
    focus: Stop,
    status: Status,
    /// What whoever checked the last answer found wrong.
    refused: Vec<(String, FieldError)>,
    page: Page,
}

impl FormView {
    /// A form with these values in it (for [`Purpose::Arguments`] the call's; else usually none).
    pub fn new(form: Form, values: &Map<String, Value>, purpose: Purpose) -> Self {
        let tree = Tree::new(&form, values, purpose);
        let first = tree.entries.iter().position(|entry| !entry.is_group());
        Self {
            form,
            purpose,
            intro: String::new(),
            focus: first.map_or(Stop::Button(Button::Submit), Stop::Field),
            tree,
            status: Status::Quiet,
            refused: Vec::new(),
            page: Page::default(),
        }
    }

    /// With a message above the fields.
    #[must_use]
    pub fn with_intro(mut self, message: &str) -> Self {
        message.clone_into(&mut self.intro);
        self
    }

    /// Another message above the fields.
    pub(super) fn set_intro(&mut self, message: &str) {
        message.clone_into(&mut self.intro);
    }

    /// What it was made from.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Whether anything was typed or chosen.
    pub fn is_touched(&self) -> bool {
        self.tree.is_touched()
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> FormOutcome {
        match key.kind {
            KeyEventKind::Press => self.press(key, look),
            // A key that repeats because it is held moves on, but ends nothing.
            KeyEventKind::Repeat => match self.press(key, look) {
                FormOutcome::Ignored => FormOutcome::Ignored,
                _ => FormOutcome::Consumed,
            },
            KeyEventKind::Release => FormOutcome::Ignored,
        }
    }

    fn press(&mut self, key: KeyEvent, look: &Look<'_>) -> FormOutcome {
        let prints = matches!(key.code, KeyCode::Char(_)) && key.modifiers.difference(KeyModifiers::SHIFT).is_empty();
        let bound = look.keymap.find(Context::Form, key);
        let command = if prints && self.takes_text() { None } else { bound };
        let armed = std::mem::replace(&mut self.status, Status::Quiet) == Status::EscapeAgain;
        match command {
            Some(Command::Submit) => return self.submit(),
            Some(Command::Decline) if self.purpose == Purpose::Elicit => return FormOutcome::Decline,
            Some(Command::Decline) => return FormOutcome::Consumed,
            Some(Command::Escape) => return self.escape(armed),
            Some(Command::Next) => return self.step(1),
            Some(Command::Previous) => return self.step(-1),
            _ => {}
        }
        if command.is_none() && !(prints && self.takes_text()) {
            if look.keymap.find(Context::Composer, key) == Some(Command::Editor)
                && let Some((text, extension)) = self.field_text()
            {
                return FormOutcome::Edit { text, extension };
            }
            if look.keymap.find(Context::Global, key).is_some() {
                return FormOutcome::Ignored;
            }
        }
        match self.focus {
            Stop::Field(index) => self.field_key(index, Press { key, command }),
            Stop::Button(button) => self.button_key(button, key, command),
        }
    }

    fn takes_text(&self) -> bool {
        matches!(self.focus, Stop::Field(index) if self.tree.entries[index].control.is_text())
    }

    fn field_text(&self) -> Option<(String, &'static str)> {
        let Stop::Field(index) = self.focus else { return None };
        self.tree.entries[index].control.text()
    }

    fn field_key(&mut self, index: usize, press: Press) -> FormOutcome {
        let reaction = self.tree.entries[index].control.key(press);
        self.react(index, reaction);
        if reaction != Reaction::Ignored {
            return FormOutcome::Consumed;
        }
        match (press.command, press.key.code) {
            (Some(Command::FieldNext), _) => self.next_or_submit(index),
            (Some(Command::Up), _) => self.step_without_wrap(-1),
            (Some(Command::Down), _) => self.step_without_wrap(1),
            (None, KeyCode::PageUp) => self.turn(-1),
            (None, KeyCode::PageDown) => self.turn(1),
            _ => FormOutcome::Consumed,
        }
    }

    fn button_key(&mut self, button: Button, key: KeyEvent, command: Option<Command>) -> FormOutcome {
        match (command, key.code) {
            (Some(Command::FieldNext | Command::FieldToggle), _) => match button {
                Button::Submit => self.submit(),
                Button::Decline => FormOutcome::Decline,
                Button::Cancel => FormOutcome::Cancel,
            },
            (Some(Command::ChoiceLeft), _) => self.step_among_buttons(-1),
            (Some(Command::ChoiceRight), _) => self.step_among_buttons(1),
            (Some(Command::Up), _) => self.leave_buttons(),
            (None, KeyCode::PageUp) => self.turn(-1),
            (None, KeyCode::PageDown) => self.turn(1),
            _ => FormOutcome::Consumed,
        }
    }

    /// Takes pasted text into the focused field.
    pub fn paste(&mut self, text: &str) {
        self.status = Status::Quiet;
        if let Stop::Field(index) = self.focus {
            let reaction = self.tree.entries[index].control.paste(text);
            self.react(index, reaction);
        }
    }

    /// Takes back the text that went out with [`FormOutcome::Edit`].
    pub fn edited(&mut self, text: &str) {
        if let Stop::Field(index) = self.focus {
            self.tree.entries[index].control.set_text(text);
            self.react(index, Reaction::Changed);
        }
    }

    fn react(&mut self, index: usize, reaction: Reaction) {
        if reaction != Reaction::Ignored {
            self.page.follow();
        }
        if reaction == Reaction::Changed {
            let entry = &mut self.tree.entries[index];
            entry.touched = true;
            entry.error = None;
        }
    }

    /// Shows what whoever checked the answer found wrong, by field name (empty: the whole).
    pub fn refuse(&mut self, problems: &[(String, FieldError)]) {
        self.refused = problems.to_vec();
        self.page.rewind();
        let mut first = None;
        for (name, error) in problems {
            if let Some(index) = self.tree.find(name) {
                self.tree.entries[index].error = Some(error.clone());
                first = first.or(Some(index));
            }
        }
        if let Some(index) = first {
            self.focus = Stop::Field(index);
            self.page.follow();
        }
    }

    fn submit(&mut self) -> FormOutcome {
        self.refused.clear();
        match self.tree.answer() {
            Ok(values) => FormOutcome::Submit(values),
            Err(bad) => {
                self.status = Status::Bad(bad.len());
                if let Some(first) = bad.first() {
                    self.focus = Stop::Field(*first);
                }
                self.page.follow();
                FormOutcome::Consumed
            }
        }
    }

    fn escape(&mut self, armed: bool) -> FormOutcome {
        if armed || !self.is_touched() {
            return FormOutcome::Cancel;
        }
        self.status = Status::EscapeAgain;
        FormOutcome::Consumed
    }

    fn stops(&self) -> Vec<Stop> {
        let fields = (0..self.tree.entries.len()).filter(|index| !self.tree.entries[*index].is_group());
        fields.map(Stop::Field).chain(buttons::of(self.purpose).iter().copied().map(Stop::Button)).collect()
    }

    fn at(&self, stops: &[Stop]) -> usize {
        stops.iter().position(|stop| *stop == self.focus).unwrap_or(0)
    }

    /// Goes round fields and buttons.
    fn step(&mut self, by: isize) -> FormOutcome {
        let stops = self.stops();
        let count = stops.len();
        let next = (self.at(&stops) + count.saturating_add_signed(by)) % count.max(1);
        self.go(stops.get(next).copied())
    }

    fn step_without_wrap(&mut self, by: isize) -> FormOutcome {
        let stops = self.stops();
        let next = self.at(&stops).checked_add_signed(by);
        self.go(next.and_then(|next| stops.get(next).copied()))
    }

    fn step_among_buttons(&mut self, by: isize) -> FormOutcome {
        let stops = self.stops();
        let next = self.at(&stops).checked_add_signed(by).and_then(|next| stops.get(next).copied());
        self.go(next.filter(|stop| matches!(stop, Stop::Button(_))))
    }

    fn leave_buttons(&mut self) -> FormOutcome {
        let last = self.stops().into_iter().rev().find(|stop| matches!(stop, Stop::Field(_)));
        self.go(last)
    }

    fn next_or_submit(&mut self, index: usize) -> FormOutcome {
        let last = self.tree.entries.iter().rposition(|entry| !entry.is_group());
        if last == Some(index) { self.submit() } else { self.step(1) }
    }

    /// Moves the focus; a field that was filled in is looked at when it is left.
    fn go(&mut self, to: Option<Stop>) -> FormOutcome {
        self.page.follow();
        if let Some(to) = to.filter(|to| *to != self.focus) {
            if let Stop::Field(index) = self.focus
                && self.tree.entries[index].touched
            {
                self.tree.judge(index);
            }
            self.focus = to;
        }
        FormOutcome::Consumed
    }

    fn turn(&mut self, by: i32) -> FormOutcome {
        self.page.turn(by);
        FormOutcome::Consumed
    }

    fn focused_field(&self) -> Option<usize> {
        match self.focus {
            Stop::Field(index) => Some(index),
            Stop::Button(_) => None,
        }
    }

    /// The blocks of the part that scrolls.
    fn blocks(&mut self, columns: u16, look: &Look<'_>) -> Vec<Block> {
        let mut out = Vec::new();
        if !self.intro.trim().is_empty() {
            out.push(Block::text(&self.intro, Role::Text, columns));
        }
        for problem in self.whole_problems(look) {
            out.push(Block::text(&format!("{} {problem}", glyphs(look).cross), Role::Bad, columns));
        }
        if !out.is_empty() && !self.tree.entries.is_empty() {
            out.push(Block::air());
        }
        let focused = self.focused_field();
        out.extend(sheet::blocks(&mut self.tree, columns, focused, look));
        out
    }

    /// What was refused and belongs to no field in sight.
    fn whole_problems(&self, look: &Look<'_>) -> Vec<String> {
        let whole = self.refused.iter().filter(|(name, _)| self.tree.find(name).is_none());
        whole
            .map(|(name, error)| {
                let text = words::error(error, look);
                if name.is_empty() { text } else { format!("{name}: {text}") }
            })
            .collect()
    }

    fn foot(&self, columns: u16, look: &Look<'_>) -> Foot {
        Foot::new(&self.tree, self.focused_field(), self.purpose, self.status, (columns, look))
    }

    /// Rows it would like at this width: fields, help and buttons.
    pub fn height(&mut self, columns: u16, look: &Look<'_>) -> u16 {
        let rows = sheet::height(&self.blocks(columns.saturating_sub(1), look));
        let body = u16::try_from(rows).unwrap_or(u16::MAX);
        let help = self.foot(columns, look).want();
        body.saturating_add(help).saturating_add(air_of(body, help) + 1)
    }

    /// Draws it; the buttons stay in sight whatever the height. Returns where the caret stands.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let blocks = self.blocks(area.width.saturating_sub(1), look);
        let rows = sheet::height(&blocks);
        let body = u16::try_from(rows).unwrap_or(u16::MAX);
        let foot = self.foot(area.width, look);
        let room = area.height - 1;
        // Fields come first; help gets what they leave, else what it needs of a third.
        let help = foot.want().min(room.saturating_sub(body).max(foot.need().min(room / 3)));
        let air = room.saturating_sub(body.saturating_add(help)).min(air_of(body, help));
        let window = Rect { height: room - help - air, ..area };
        let focused = self.focused_field();
        let keep = focused.map(|index| self.span(&blocks, index, usize::from(window.height)));
        self.page.settle(rows, window.height, keep);
        let inner = Rect { width: area.width.saturating_sub(1), ..window };
        let caret = sheet::draw(&blocks, &mut self.tree, focused, (inner, self.page.top()), buffer, look);
        self.page.mark(window, buffer, look);
        let bar = Rect { y: area.bottom() - 1, height: 1, ..area };
        let help_area = Rect { y: bar.y - help - u16::from(air > 1), height: help, ..area };
        let button = match self.focus {
            Stop::Button(button) => Some(button),
            Stop::Field(_) => None,
        };
        foot.draw(button, help_area, bar, buffer, look).or(caret)
    }

    /// Rows of fields out of sight below.
    pub(super) fn below(&self) -> usize {
        self.page.below()
    }

    /// The rows that must be in sight for a field; with the first one comes the message above it, if all of that fits.
    fn span(&self, blocks: &[Block], index: usize, height: usize) -> (usize, usize) {
        let (from, to) = sheet::span_of(blocks, index);
        let is_first = self.stops().first() == Some(&Stop::Field(index));
        if is_first && to <= height { (0, to) } else { (from, to) }
    }

    /// The keys that work now, for a footer, as plain text.
    pub fn hints(&self, look: &Look<'_>) -> String {
        self.hint_line(look).fit(u16::MAX, "").text.into()
    }

    /// The keys that work now, for a footer: `Enter next · ←→ choose · …`.
    pub fn hint_line(&self, look: &Look<'_>) -> Line {
        self.hint_keys(look).finish()
    }

    pub(super) fn hint_keys<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        hints::of(self.focused_field().map(|index| &self.tree.entries[index].control), self.purpose, look)
    }
}

/// Empty rows: above the buttons, and above the help.
fn air_of(body: u16, help: u16) -> u16 {
    u16::from(body > 0) + u16::from(body > 0 && help > 0)
}
