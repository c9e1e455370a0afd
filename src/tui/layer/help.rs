//! All keys, generated from the keymap, so that it is never out of date.

use crate::tui::command::Command;
use crate::tui::facts::Facts;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::{Layer, Outcome};
use crate::tui::theme::Role;
use crate::tui::widget::{Line, Pager, frame, line};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The layer.
#[derive(Debug, Default)]
pub struct Help {
    pager: Pager,
    /// A recording is played: its keys stand first.
    playback: bool,
}

impl Help {
    /// From the beginning.
    pub fn new() -> Self {
        Self::default()
    }
}

const PLAYBACK: (Context, &str) = (Context::Playback, "layer.help_playback");
const SECTIONS: [(Context, &str); 5] = [
    (Context::Composer, "layer.help_composer"),
    (Context::Global, "layer.help_global"),
    (Context::Pane, "layer.help_pane"),
    (Context::Call, "layer.help_call"),
    (Context::Form, "layer.help_form"),
];
/// Columns of the keys.
const KEYS: u16 = 26;

fn lines(look: &Look<'_>, first: Option<(Context, &'static str)>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (context, heading) in first.into_iter().chain(SECTIONS) {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.push(Line::of(look.strings.get(heading), Role::Heading));
        for command in Command::ALL {
            let keys = look.keymap.labels(context, *command);
            if keys.is_empty() {
                continue;
            }
            let mut line = Line::new();
            line.push("  ", Role::Text);
            for (number, key) in keys.iter().enumerate() {
                line.push(if number == 0 { "" } else { "  " }, Role::Dim).push(key, Role::Key);
            }
            let pad = usize::from(KEYS.saturating_sub(line.width()).max(2));
            line.push(&" ".repeat(pad), Role::Text);
            line.push(look.strings.get(&format!("command.{}", command.name())), Role::Text);
            if let Some(slash) = command.slash() {
                line.push("  /", Role::Dim).push(slash, Role::Dim);
            }
            lines.push(line);
        }
    }
    lines
}

impl Layer for Help {
    fn name(&self) -> &'static str {
        "help"
    }

    fn learn(&mut self, facts: &Facts) {
        self.playback = facts.playback.is_some();
    }

    fn key(&mut self, key: KeyEvent, _look: &Look<'_>) -> Outcome {
        match key.code {
            KeyCode::Esc | KeyCode::Char('q' | '?') => Outcome::Close(Vec::new()),
            _ if self.pager.key(key) => Outcome::Consumed,
            _ => Outcome::Ignored,
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let title = Line::of(look.strings.get("layer.help_title"), Role::TitleFocused);
        let hints = frame::hints(look, &[("Esc", "layer.hint_back"), ("↑↓", "layer.hint_scroll")]);
        let inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
        let first = self.playback.then_some(PLAYBACK);
        self.pager.draw(inside, buffer, look, &line::rows(&lines(look, first), inside.width));
        None
    }
}
