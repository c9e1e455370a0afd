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

/// The commands that have keys in a context, with these. What is the same anywhere stands last.
fn bound(context: Context, look: &Look<'_>) -> Vec<(Command, Vec<String>)> {
    let keys = |command: &Command| (*command, look.keymap.labels(context, *command));
    let mut all: Vec<_> = Command::ALL.iter().map(keys).filter(|(_, keys)| !keys.is_empty()).collect();
    let anywhere = |command| context != Context::Global && look.keymap.label(Context::Global, command).is_some();
    all.sort_by_key(|(command, _)| anywhere(*command));
    all
}

fn keys_line(keys: &[String]) -> Line {
    let mut line = Line::of("  ", Role::Text);
    for (number, key) in keys.iter().enumerate() {
        line.push(if number == 0 { "" } else { "  " }, Role::Dim).push(key, Role::Key);
    }
    line
}

fn lines(look: &Look<'_>, first: Option<(Context, &'static str)>) -> Vec<Line> {
    let mut lines = Vec::new();
    let sections: Vec<_> = first.into_iter().chain(SECTIONS).collect();
    let everything = sections.iter().flat_map(|(context, _)| bound(*context, look));
    let columns = everything.map(|(_, keys)| keys_line(&keys).width()).max().unwrap_or(0);
    for (context, heading) in sections {
        if !lines.is_empty() {
            lines.push(Line::new());
        }
        lines.push(Line::of(look.strings.get(heading), Role::Heading));
        for (command, keys) in bound(context, look) {
            let mut line = keys_line(&keys);
            let pad = usize::from((columns + 2).saturating_sub(line.width()));
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
