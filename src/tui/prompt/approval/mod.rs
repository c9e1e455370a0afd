//! May this call run? The card, its choices and what each of them asks for before it answers.
//!
//! Owns the mode the card is in and what was written in each; what was written survives going back. Does not know the queue.
//!
//! **Invariants:** only *once* and *session* answer without a further step; nothing is approved while edited arguments are being checked, or
//! after they were found wrong; the choices that a check does not offer are not there.

mod body;
mod details;
mod words;

use super::card::{Act, Place, Summary, Title};
use super::form::{FormOutcome, FormView, Purpose};
use super::glyph::{Hints, glyphs};
use super::menu::{Choice, Menu, Picked, Trigger};
use super::page::Page;
use super::panel;
use crate::contract::Op;
use crate::domain::form::FieldError;
use crate::domain::prompt::{Answer, Approval, Scope};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::text::Row;
use crate::tui::theme::Role;
use crate::tui::widget::input::{Input, Lines};
use body::Bodies;
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};

/// The choices an approval offers, in order.
pub fn offered(approval: &Approval) -> Vec<Command> {
    let good = approval.problems.is_empty();
    let grantable = good && approval.check.grant.is_some();
    let editable = !approval.form.fields.is_empty();
    let all = [
        (Command::ApproveOnce, good),
        (Command::ApproveSession, grantable),
        (Command::ApproveAlways, grantable),
        (Command::Reject, true),
        (Command::RejectWithReason, true),
        (Command::EditArguments, editable),
        (Command::AnswerByHand, true),
        (Command::CallDetails, true),
    ];
    all.into_iter().filter(|(_, offered)| *offered).map(|(command, _)| command).collect()
}

/// What the card is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Choose,
    /// The rule is shown; `Enter` confirms it.
    Always,
    /// A reason is being written.
    Reason,
    /// The result is being written.
    ByHand,
    /// The arguments are being edited.
    Edit,
}

/// Where the arguments stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edited {
    /// As the model wrote them.
    No,
    /// Changed, and being checked: what is shown is not what would run.
    Checking,
    /// Changed and checked.
    Yes,
}

/// An approval on the screen.
#[derive(Debug, Clone)]
pub(super) struct ApprovalCard {
    approval: Approval,
    edited: Edited,
    mode: Mode,
    menu: Menu,
    page: Page,
    bodies: Bodies,
    reason: Input,
    by_hand: Input,
    form: Option<FormView>,
}

impl ApprovalCard {
    pub(super) fn new(approval: Approval) -> Self {
        Self {
            approval,
            edited: Edited::No,
            mode: Mode::Choose,
            menu: Menu::default(),
            page: Page::default(),
            bodies: Bodies::default(),
            reason: Input::new(Lines::One),
            by_hand: Input::new(Lines::Many),
            form: None,
        }
    }

    /// The call as it was checked anew.
    pub(super) fn amend(&mut self, approval: Approval) {
        if approval.call.arguments != self.approval.call.arguments || self.edited == Edited::Checking {
            self.edited = Edited::Yes;
        }
        self.approval = approval;
        self.bodies.forget();
        self.page.rewind();
        if self.mode == Mode::Always {
            self.mode = Mode::Choose;
        }
        self.menu = Menu::default();
    }

    pub(super) fn refuse(&mut self, problems: Vec<(String, FieldError)>) {
        self.approval.problems = problems;
        self.edited = if self.edited == Edited::Checking { Edited::Yes } else { self.edited };
        self.bodies.forget();
    }

    fn choices(&self, look: &Look<'_>) -> Vec<Choice> {
        let choice = |command| Choice {
            trigger: Trigger::Call(command),
            label: look.strings.get(words::label(command)).to_owned(),
            about: words::about(command, &self.approval, look),
        };
        offered(&self.approval).into_iter().map(choice).collect()
    }

    pub(super) fn key(&mut self, key: KeyEvent, place: Place, look: &Look<'_>) -> Act {
        match self.mode {
            Mode::Choose => self.choose(key, look),
            Mode::Always => self.confirm(key, look),
            Mode::Reason => self.write_reason(key, look),
            Mode::ByHand => self.write_result(key, look),
            Mode::Edit => self.edit(key, place, look),
        }
    }

    fn choose(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        if panel::scroll_key(key, &mut self.page, look) {
            return Act::Consumed;
        }
        let choices = self.choices(look);
        match self.menu.key(key, &choices, look) {
            Picked::Moved => Act::Consumed,
            Picked::Taken(index) => {
                self.menu.highlight(index);
                offered(&self.approval).get(index).map_or(Act::Consumed, |command| self.take(*command, look))
            }
            Picked::Ignored => match look.keymap.find(Context::Call, key) {
                Some(Command::Escape) => Act::Back,
                Some(Command::Help) => Act::Emit(vec![Effect::Command(Command::Help)]),
                // A key of a choice that is not offered now does nothing.
                Some(_) => Act::Consumed,
                None => Act::Ignored,
            },
        }
    }

    fn take(&mut self, command: Command, look: &Look<'_>) -> Act {
        let approves = matches!(command, Command::ApproveOnce | Command::ApproveSession | Command::ApproveAlways);
        if approves && self.edited == Edited::Checking {
            return Act::Consumed;
        }
        match command {
            Command::ApproveOnce => Act::Answer(self.approve(Scope::Once)),
            Command::ApproveSession => Act::Answer(self.approve(Scope::Session)),
            Command::Reject => Act::Answer(Answer::Reject { reason: None }),
            Command::ApproveAlways => self.turn_to(Mode::Always),
            Command::RejectWithReason => self.turn_to(Mode::Reason),
            Command::AnswerByHand => self.turn_to(Mode::ByHand),
            Command::EditArguments => {
                self.open_form();
                self.turn_to(Mode::Edit)
            }
            Command::CallDetails => Act::Emit(vec![Effect::Details(Box::new(details::of(&self.approval, look)))]),
            _ => Act::Consumed,
        }
    }

    /// Approves what is on the screen, and nothing else.
    fn approve(&self, scope: Scope) -> Answer {
        Answer::Approve { scope, version: Some(self.approval.version) }
    }

    fn turn_to(&mut self, mode: Mode) -> Act {
        self.mode = mode;
        self.page.rewind();
        Act::Turned
    }

    fn back(&mut self) -> Act {
        self.mode = Mode::Choose;
        self.page.rewind();
        Act::Turned
    }

    fn confirm(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        if panel::scroll_key(key, &mut self.page, look) {
            return Act::Consumed;
        }
        match look.keymap.find(Context::Call, key) {
            Some(Command::Confirm) => Act::Answer(self.approve(Scope::Always)),
            Some(Command::Escape) => self.back(),
            Some(_) => Act::Consumed,
            None => Act::Ignored,
        }
    }

    fn write_reason(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        match (key.code, look.keymap.find(Context::Call, key)) {
            (KeyCode::Esc, _) => self.back(),
            (KeyCode::Enter, _) => {
                let reason = self.reason.text().trim().to_owned();
                Act::Answer(Answer::Reject { reason: (!reason.is_empty()).then_some(reason) })
            }
            _ => panel::write(&mut self.reason, key, look),
        }
    }

    fn write_result(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        if look.keymap.find(Context::Composer, key) == Some(Command::NewLine) {
            self.by_hand.insert("\n");
            return Act::Consumed;
        }
        match key.code {
            KeyCode::Esc => self.back(),
            KeyCode::Enter if self.by_hand.text().trim().is_empty() => Act::Consumed,
            KeyCode::Enter => Act::Answer(Answer::ByHand { text: self.by_hand.text() }),
            _ => panel::write(&mut self.by_hand, key, look),
        }
    }

    /// The form over the arguments as they stand; what was typed before and not sent is still in it.
    fn open_form(&mut self) {
        if self.form.is_none() {
            let values = self.approval.form.values_of(&self.approval.call.arguments);
            self.form = Some(FormView::new(self.approval.form.clone(), &values, Purpose::Arguments));
        }
        if let Some(form) = self.form.as_mut().filter(|_| !self.approval.problems.is_empty()) {
            form.refuse(&self.approval.problems);
        }
    }

    fn edit(&mut self, key: KeyEvent, place: Place, look: &Look<'_>) -> Act {
        let Some(form) = &mut self.form else { return self.back() };
        match form.key(key, look) {
            FormOutcome::Ignored => Act::Ignored,
            FormOutcome::Consumed | FormOutcome::Decline => Act::Consumed,
            FormOutcome::Edit { text, extension } => Act::Emit(vec![Effect::Edit { text, extension }]),
            FormOutcome::Cancel => {
                self.form = None;
                self.back()
            }
            FormOutcome::Submit(values) => self.amended(values, place),
        }
    }

    /// Sends edited arguments to be checked; the same ones need no check.
    fn amended(&mut self, values: Map<String, Value>, place: Place) -> Act {
        self.form = None;
        self.back();
        let arguments = self.approval.form.value_of(values);
        if arguments == self.approval.call.arguments {
            return Act::Turned;
        }
        self.edited = Edited::Checking;
        Act::Emit(vec![Effect::Op(Op::Amend { prompt: place.id, arguments })])
    }

    pub(super) fn paste(&mut self, text: &str) {
        match self.mode {
            Mode::Choose | Mode::Always => {}
            Mode::Reason => self.reason.insert(text),
            Mode::ByHand => self.by_hand.insert(text),
            Mode::Edit => {
                if let Some(form) = &mut self.form {
                    form.paste(text);
                }
            }
        }
    }

    pub(super) fn edited(&mut self, text: &str) {
        match self.mode {
            Mode::Choose | Mode::Always => {}
            Mode::Reason => self.reason.set(text.trim_end()),
            Mode::ByHand => self.by_hand.set(text.trim_end_matches('\n')),
            Mode::Edit => {
                if let Some(form) = &mut self.form {
                    form.edited(text);
                }
            }
        }
    }

    pub(super) fn summary(&self, _: Place, look: &Look<'_>) -> Summary {
        let name = self.approval.call.shown_name();
        let head = look.strings.fill("prompt.call.waits", &[("tool", &name)]);
        Summary { head, rest: words::summary(&self.approval, look) }
    }

    pub(super) fn title(&self, _: Place, look: &Look<'_>) -> Title {
        let mut title = vec![(self.approval.call.shown_name(), Role::TitleFocused)];
        title.push((format!("  {}", words::kind(&self.approval, look)), Role::Dim));
        let state = match (self.mode, self.edited) {
            (Mode::Edit, _) => Some(("prompt.call.editing", Role::Accent)),
            (_, Edited::Checking) => Some(("prompt.call.checking", Role::Running)),
            (_, Edited::Yes) => Some(("prompt.call.edited", Role::Warning)),
            (_, Edited::No) => None,
        };
        if let Some((key, role)) = state {
            title.push((glyphs(look).dot.to_owned(), Role::Dim));
            title.push((look.strings.get(key).to_owned(), role));
        }
        title
    }

    pub(super) fn hints<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        let hints = Hints::new(look);
        let escape = |hints: Hints<'a>, text| hints.key(Context::Call, Command::Escape, text);
        match self.mode {
            Mode::Choose => {
                let hints = hints.pair(Context::Call, [Command::Up, Command::Down], "prompt.key.choose").key(
                    Context::Call,
                    Command::Confirm,
                    "prompt.key.confirm",
                );
                escape(hints, "prompt.key.back")
            }
            Mode::Always => {
                escape(hints.key(Context::Call, Command::Confirm, "prompt.key.allow_always"), "prompt.key.not_yet")
            }
            Mode::Reason => escape(hints.keys("Enter", "prompt.key.send_reason"), "prompt.key.not_yet"),
            Mode::ByHand => {
                let hints = hints
                    .keys("Enter", "prompt.key.send_result")
                    .key(Context::Composer, Command::NewLine, "prompt.key.line")
                    .key(Context::Composer, Command::Editor, "prompt.key.editor");
                escape(hints, "prompt.key.not_yet")
            }
            Mode::Edit => match &self.form {
                Some(form) => form.hint_keys(look),
                None => hints,
            },
        }
    }

    /// The rows above what is pinned.
    fn rows(&mut self, columns: u16, look: &Look<'_>) -> std::rc::Rc<Vec<Row>> {
        match self.mode {
            Mode::Always => self.bodies.rule(&self.approval, columns, look),
            _ => self.bodies.call(&self.approval, columns, look),
        }
    }

    fn pinned(&mut self, columns: u16, look: &Look<'_>) -> u16 {
        match self.mode {
            Mode::Choose => self.menu.height(&self.choices(look), columns, look),
            Mode::Always | Mode::Edit => 1,
            Mode::Reason => 2,
            Mode::ByHand => 1 + self.by_hand.height(columns.saturating_sub(2)).clamp(2, 8) as u16,
        }
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        if let (Mode::Edit, Some(form)) = (self.mode, &mut self.form) {
            return form.height(columns, look);
        }
        let rows = self.rows(panel::columns(columns), look).len();
        panel::height(rows, self.pinned(columns, look))
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        if let (Mode::Edit, Some(form)) = (self.mode, &mut self.form) {
            return form.draw(area, buffer, look);
        }
        let rows = self.rows(panel::columns(area.width), look);
        let pinned = self.pinned(area.width, look);
        let rest = panel::draw_body(&rows, pinned, &mut self.page, area, buffer, look);
        match self.mode {
            Mode::Choose => self.menu.draw(&self.choices(look), rest, buffer, look),
            Mode::Always => {
                let text = look.strings.get("prompt.call.always");
                panel::draw_line(&[(glyphs(look).pointer, Role::Accent), (text, Role::Selected)], rest, buffer, look)
            }
            Mode::Reason => self.draw_text("prompt.call.reason", rest, buffer, look),
            Mode::ByHand => self.draw_text("prompt.call.by_hand", rest, buffer, look),
            Mode::Edit => None,
        }
    }

    /// A line on what to write, if there is room for it, and the text.
    fn draw_text(&mut self, about: &str, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let label = u16::from(area.height > 1);
        if label > 0 {
            panel::draw_line(&[(look.strings.get(about), Role::Label)], area, buffer, look);
        }
        let area = Rect { y: area.y + label, height: area.height - label, ..area };
        let input = if self.mode == Mode::Reason { &mut self.reason } else { &mut self.by_hand };
        panel::draw_input(input, glyphs(look).pointer, area, buffer, look)
    }

    pub(super) fn below(&self) -> usize {
        match (&self.form, self.mode) {
            (Some(form), Mode::Edit) => form.below(),
            _ => self.page.below(),
        }
    }
}
