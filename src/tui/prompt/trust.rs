//! May the servers of a project's file start? Every command line is shown whole; a changed file shows what changed.

use super::card::{Act, Place, Summary, Title};
use super::glyph::Hints;
use super::lines::{Break, Lines};
use super::menu::{Choice, Menu, Picked, Trigger};
use super::page::Page;
use super::panel;
use crate::domain::prompt::{Answer, TrustRequest};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::text::{Row, sanitize, width};
use crate::tui::theme::{Paint, Role};
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// A question of trust on the screen.
#[derive(Debug, Clone)]
pub(super) struct TrustCard {
    request: TrustRequest,
    menu: Menu,
    page: Page,
}

impl TrustCard {
    pub(super) fn new(request: TrustRequest) -> Self {
        Self { request, menu: Menu::default(), page: Page::default() }
    }

    fn choices(look: &Look<'_>) -> Vec<Choice> {
        let choice = |command, label, about| Choice {
            trigger: Trigger::Call(command),
            label: look.strings.get(label).to_owned(),
            about: look.strings.get(about).to_owned(),
        };
        vec![
            choice(Command::ApproveOnce, "prompt.trust.yes", "prompt.trust.about_yes"),
            choice(Command::Reject, "prompt.trust.no", "prompt.trust.about_no"),
        ]
    }

    pub(super) fn key(&mut self, key: KeyEvent, _: Place, look: &Look<'_>) -> Act {
        if panel::scroll_key(key, &mut self.page, look) {
            return Act::Consumed;
        }
        match self.menu.key(key, &Self::choices(look), look) {
            Picked::Moved => Act::Consumed,
            Picked::Taken(index) => {
                self.menu.highlight(index);
                Act::Answer(Answer::Trust { yes: index == 0 })
            }
            Picked::Ignored => match look.keymap.find(Context::Call, key) {
                Some(Command::Escape) => Act::Back,
                Some(Command::Help) => Act::Emit(vec![Effect::Command(Command::Help)]),
                Some(_) => Act::Consumed,
                None => Act::Ignored,
            },
        }
    }

    pub(super) fn summary(&self, _: Place, look: &Look<'_>) -> Summary {
        let count = self.request.servers.len();
        let key = if count == 1 { "prompt.trust.asks_one" } else { "prompt.trust.asks" };
        let names: Vec<&str> = self.request.servers.iter().map(|(name, _)| name.as_str()).collect();
        let args = [("file", self.request.file.as_str()), ("count", &count.to_string())];
        let args = if count == 1 { &args[..1] } else { &args[..] };
        Summary { head: look.strings.fill(key, args), rest: names.join(", ") }
    }

    pub(super) fn title(&self, place: Place, look: &Look<'_>) -> Title {
        vec![(self.summary(place, look).head, Role::TitleFocused)]
    }

    pub(super) fn hints<'a>(look: &'a Look<'a>) -> Hints<'a> {
        Hints::new(look)
            .pair(Context::Call, [Command::Up, Command::Down], "prompt.key.choose")
            .key(Context::Call, Command::Confirm, "prompt.key.confirm")
            .key(Context::Call, Command::Escape, "prompt.key.back")
    }

    fn rows(&self, columns: u16, look: &Look<'_>) -> Vec<Row> {
        let mut lines = Lines::new(columns);
        lines.text(look.strings.get("prompt.trust.explain"), Role::Text);
        lines.blank();
        let names = self.request.servers.iter().map(|(name, _)| width::of(&sanitize::line(name.as_str())));
        let column = names.max().unwrap_or(0).min(24) + 2;
        for (name, address) in &self.request.servers {
            let value: Paint = Role::Value.into();
            lines.labelled((name.as_str(), Role::Label.into()), column, &[(address, value)], Break::Anywhere);
        }
        if !self.request.changes.is_empty() {
            lines.blank();
            lines.text(look.strings.get("prompt.trust.changed"), Role::Warning);
        }
        for line in &self.request.changes {
            let role = match line.sign {
                '+' => Role::Added,
                '-' => Role::Removed,
                _ => Role::Dim,
            };
            let sign = format!("{} ", line.sign);
            lines.hanging(&[(&sign, role.into())], &[(&line.text, role.into())], Break::Anywhere);
        }
        lines.finish()
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        let pinned = self.menu.height(&Self::choices(look), columns, look);
        panel::height(self.rows(panel::columns(columns), look).len(), pinned)
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let choices = Self::choices(look);
        let rows = self.rows(panel::columns(area.width), look);
        let pinned = self.menu.height(&choices, area.width, look);
        let rest = panel::draw_body(&rows, pinned, &mut self.page, area, buffer, look);
        self.menu.draw(&choices, rest, buffer, look)
    }

    pub(super) fn below(&self) -> usize {
        self.page.below()
    }
}
