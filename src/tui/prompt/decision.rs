//! What the loop cannot decide by itself: a failed request, a broken stream, a limit, the same call again and again.

use super::card::{Act, Place, Summary, Title};
use super::glyph::{Hints, glyphs};
use super::lines::Lines;
use super::menu::{Choice, Menu, Picked, Trigger};
use super::page::Page;
use super::panel;
use crate::domain::model::ModelError;
use crate::domain::prompt::{Answer, Choose, Decision};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::text::Row;
use crate::tui::theme::Role;
use crate::tui::widget::input::{self, Input};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Duration;

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Continue,
    Hint,
    Stop,
}

/// A decision on the screen.
#[derive(Debug, Clone)]
pub(super) struct DecisionCard {
    decision: Decision,
    menu: Menu,
    page: Page,
    hint: Input,
    writing: Writing,
}

/// Whether the hint is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    No,
    Yes,
}

impl DecisionCard {
    pub(super) fn new(decision: Decision) -> Self {
        Self {
            decision,
            menu: Menu::default(),
            page: Page::default(),
            hint: Input::new(input::Lines::Many),
            writing: Writing::No,
        }
    }

    fn ways(&self) -> &'static [Way] {
        match self.decision {
            Decision::Repeated { .. } | Decision::OffFormat => &[Way::Continue, Way::Hint, Way::Stop],
            _ => &[Way::Continue, Way::Stop],
        }
    }

    fn choices(&self, look: &Look<'_>) -> Vec<Choice> {
        let again = match self.decision {
            Decision::Retry { .. } => Some(('r', "prompt.decide.now")),
            Decision::StreamCut { .. } | Decision::GaveUp { .. } => Some(('r', "prompt.decide.retry")),
            _ => None,
        };
        let (letter, go_on) = again.unwrap_or(('c', "prompt.decide.continue"));
        let choice = |way: &Way| {
            let (letter, label, about) = match way {
                Way::Continue => (letter, go_on, self.about_continue()),
                Way::Hint => ('h', "prompt.decide.hint", "prompt.decide.about_hint"),
                Way::Stop => ('s', "prompt.decide.stop", "prompt.decide.about_stop"),
            };
            let get = |key: &str| look.strings.get(key).to_owned();
            Choice { trigger: Trigger::Letter(letter), label: get(label), about: get(about) }
        };
        self.ways().iter().map(choice).collect()
    }

    fn about_continue(&self) -> &'static str {
        match self.decision {
            Decision::Retry { .. } => "prompt.decide.about_now",
            Decision::StreamCut { .. } => "prompt.decide.about_cut",
            Decision::GaveUp { .. } => "prompt.decide.about_retry",
            Decision::StepLimit { .. } => "prompt.decide.about_limit",
            Decision::Repeated { .. } => "prompt.decide.about_repeat",
            Decision::OffFormat => "prompt.decide.about_format",
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, _: Place, look: &Look<'_>) -> Act {
        if self.writing == Writing::Yes {
            return self.write(key, look);
        }
        if panel::scroll_key(key, &mut self.page, look) {
            return Act::Consumed;
        }
        match self.menu.key(key, &self.choices(look), look) {
            Picked::Moved => Act::Consumed,
            Picked::Taken(index) => {
                self.menu.highlight(index);
                match self.ways()[index.min(self.ways().len() - 1)] {
                    Way::Continue => Act::Answer(Answer::Choose(Choose::Continue)),
                    Way::Stop => Act::Answer(Answer::Choose(Choose::Stop)),
                    Way::Hint => {
                        self.writing = Writing::Yes;
                        Act::Turned
                    }
                }
            }
            Picked::Ignored => match look.keymap.find(Context::Call, key) {
                Some(Command::Escape) => Act::Back,
                Some(Command::Help) => Act::Emit(vec![crate::tui::outcome::Effect::Command(Command::Help)]),
                Some(_) => Act::Consumed,
                None => Act::Ignored,
            },
        }
    }

    fn write(&mut self, key: KeyEvent, look: &Look<'_>) -> Act {
        if look.keymap.find(Context::Composer, key) == Some(Command::NewLine) {
            self.hint.insert("\n");
            return Act::Consumed;
        }
        match key.code {
            KeyCode::Esc => {
                self.writing = Writing::No;
                Act::Turned
            }
            KeyCode::Enter if self.hint.text().trim().is_empty() => Act::Consumed,
            KeyCode::Enter => Act::Answer(Answer::Choose(Choose::Hint { text: self.hint.text() })),
            _ => panel::write(&mut self.hint, key, look),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if self.writing == Writing::Yes {
            self.hint.insert(text);
        }
    }

    pub(super) fn edited(&mut self, text: &str) {
        if self.writing == Writing::Yes {
            self.hint.set(text.trim_end_matches('\n'));
        }
    }

    fn error(&self, look: &Look<'_>) -> Option<String> {
        match &self.decision {
            Decision::Retry { error, .. } | Decision::StreamCut { error } | Decision::GaveUp { error } => {
                Some(error_text(error, look))
            }
            Decision::StepLimit { .. } | Decision::Repeated { .. } | Decision::OffFormat => None,
        }
    }

    /// What happened, in a line.
    fn headline(&self, left: Option<Duration>, look: &Look<'_>) -> String {
        let strings = look.strings;
        match &self.decision {
            Decision::Retry { attempt, of, .. } => {
                let (attempt, of) = (attempt.to_string(), of.to_string());
                let seconds = left.map_or(0, seconds_of);
                let key = if seconds == 0 { "prompt.decide.trying" } else { "prompt.decide.try_in" };
                let args = [("attempt", attempt.as_str()), ("of", &of), ("seconds", &seconds.to_string())];
                let args = if seconds == 0 { &args[..2] } else { &args[..] };
                strings.fill(key, args)
            }
            Decision::StreamCut { .. } => strings.get("prompt.decide.cut").to_owned(),
            Decision::GaveUp { .. } => strings.get("prompt.decide.gave_up").to_owned(),
            Decision::StepLimit { limit } => strings.fill("prompt.decide.limit", &[("limit", &limit.to_string())]),
            Decision::Repeated { tool, times } => {
                strings.fill("prompt.decide.repeated", &[("tool", tool), ("times", &times.to_string())])
            }
            Decision::OffFormat => strings.get("prompt.decide.off_format").to_owned(),
        }
    }

    /// What there is to know where nothing failed.
    fn explains(&self) -> &'static str {
        match self.decision {
            Decision::StepLimit { .. } => "prompt.decide.limit_why",
            Decision::Repeated { .. } => "prompt.decide.repeated_why",
            _ => "prompt.decide.off_format_where",
        }
    }

    pub(super) fn summary(&self, place: Place, look: &Look<'_>) -> Summary {
        Summary { head: self.headline(place.left, look), rest: self.error(look).unwrap_or_default() }
    }

    pub(super) fn title(&self, place: Place, look: &Look<'_>) -> Title {
        vec![(self.headline(place.left, look), Role::TitleFocused)]
    }

    pub(super) fn hints<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        let hints = Hints::new(look);
        if self.writing == Writing::Yes {
            return hints
                .keys("Enter", "prompt.key.send")
                .key(Context::Composer, Command::NewLine, "prompt.key.line")
                .key(Context::Call, Command::Escape, "prompt.key.not_yet");
        }
        hints
            .pair(Context::Call, [Command::Up, Command::Down], "prompt.key.choose")
            .key(Context::Call, Command::Confirm, "prompt.key.confirm")
            .key(Context::Call, Command::Escape, "prompt.key.back")
    }

    fn rows(&self, columns: u16, look: &Look<'_>) -> Vec<Row> {
        let mut lines = Lines::new(columns);
        if let Some(error) = self.error(look) {
            lines.text(&error, Role::Text);
        } else {
            lines.text(look.strings.get(self.explains()), Role::Text);
        }
        lines.finish()
    }

    fn pinned(&mut self, columns: u16, look: &Look<'_>) -> u16 {
        match self.writing {
            Writing::No => self.menu.height(&self.choices(look), columns, look),
            Writing::Yes => 1 + self.hint.height(columns.saturating_sub(2)).clamp(1, 6) as u16,
        }
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        panel::height(self.rows(panel::columns(columns), look).len(), self.pinned(columns, look))
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let rows = self.rows(panel::columns(area.width), look);
        let pinned = self.pinned(area.width, look);
        let rest = panel::draw_body(&rows, pinned, &mut self.page, area, buffer, look);
        if self.writing == Writing::No {
            return self.menu.draw(&self.choices(look), rest, buffer, look);
        }
        let label = u16::from(rest.height > 1);
        if label > 0 {
            panel::draw_line(&[(look.strings.get("prompt.decide.write"), Role::Label)], rest, buffer, look);
        }
        let area = Rect { y: rest.y + label, height: rest.height - label, ..rest };
        panel::draw_input(&mut self.hint, glyphs(look).pointer, area, buffer, look)
    }

    pub(super) fn below(&self) -> usize {
        self.page.below()
    }
}

fn error_text(error: &ModelError, look: &Look<'_>) -> String {
    let text = look.strings.render(&error.phrase());
    match error.status {
        Some(status) => format!("HTTP {status}: {text}"),
        None => text,
    }
}

/// Whole seconds, the begun one included.
pub(super) fn seconds_of(left: Duration) -> u64 {
    left.as_millis().div_ceil(1000) as u64
}
