//! Every command by a few letters of its name.

use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Layer, Outcome};
use crate::tui::theme::Role;
use crate::tui::widget::input::Lines;
use crate::tui::widget::{Input, Line, List, frame};
use crossterm::event::{KeyCode, KeyEvent};
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Rows of the list at most, and columns of the card.
const ROWS: u16 = 14;
const COLUMNS: u16 = 64;

/// The layer.
pub struct Palette {
    input: Input,
    list: List,
    found: Vec<Command>,
    /// The query that `found` answers; `None` before the first draw.
    query: Option<String>,
}

impl Default for Palette {
    fn default() -> Self {
        Self::new()
    }
}

impl Palette {
    /// Shows all commands.
    pub fn new() -> Self {
        Self { input: Input::new(Lines::One), list: List::default(), found: Vec::new(), query: None }
    }

    /// Finds again when the query changed; the best match stands first.
    fn find(&mut self, look: &Look<'_>) {
        let query = self.input.text();
        if self.query.as_ref() == Some(&query) {
            return;
        }
        let pattern = Pattern::parse(&query, CaseMatching::Ignore, Normalization::Smart);
        let mut matcher = Matcher::new(Config::DEFAULT);
        let mut buffer = Vec::new();
        let mut scored: Vec<(u32, Command)> = Command::ALL
            .iter()
            .filter(|command| stands_alone(**command, look))
            .filter_map(|command| {
                let text = format!("{} {}", title(*command, look), command.name());
                let score = pattern.score(Utf32Str::new(&text, &mut buffer), &mut matcher)?;
                // What begins with the letters is meant rather than what has them somewhere.
                let begins = !query.is_empty() && text.to_lowercase().starts_with(&query.to_lowercase());
                Some((score + if begins { 1000 } else { 0 }, *command))
            })
            .collect();
        // Stable: equal scores keep the order of the commands.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.found = scored.into_iter().map(|(_, command)| command).collect();
        self.list = List::default();
        self.query = Some(query);
    }
}

/// Answers to what waits, and keys inside a form, mean nothing without what they answer: they are not offered here, so that none is given unseen.
fn stands_alone(command: Command, look: &Look<'_>) -> bool {
    let bound = |context| look.keymap.label(context, command).is_some();
    let anywhere =
        bound(Context::Global) || bound(Context::Composer) || bound(Context::Pane) || command.slash().is_some();
    anywhere
        && !matches!(
            command,
            Command::Next
                | Command::Previous
                | Command::Escape
                | Command::Palette
                | Command::Send
                | Command::NewLine
                | Command::HistoryUp
                | Command::HistoryDown
                | Command::QuitWhenEmpty
                | Command::ToComposer
                | Command::InterruptOrQuit
        )
}

fn title(command: Command, look: &Look<'_>) -> String {
    look.strings.get(&format!("command.{}", command.name())).to_owned()
}

fn key_of(command: Command, look: &Look<'_>) -> String {
    let contexts = [Context::Global, Context::Composer, Context::Pane];
    contexts.into_iter().find_map(|context| look.keymap.label(context, command)).unwrap_or_default()
}

impl Layer for Palette {
    fn name(&self) -> &'static str {
        "palette"
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        self.find(look);
        match key.code {
            KeyCode::Esc => return Outcome::Close(Vec::new()),
            KeyCode::Enter => {
                return match self.found.get(self.list.selected()) {
                    Some(command) => Outcome::Close(vec![Effect::Command(*command)]),
                    None => Outcome::Consumed,
                };
            }
            _ if look.keymap.find(Context::Global, key) == Some(Command::Palette) => return Outcome::Close(Vec::new()),
            KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => {
                self.list.key(key, self.found.len());
            }
            _ if look.keymap.find(Context::Global, key).is_some() => return Outcome::Ignored,
            _ => {
                self.input.key(key);
            }
        }
        Outcome::Consumed
    }

    fn paste(&mut self, text: &str) -> Outcome {
        self.input.insert(text);
        Outcome::Consumed
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        self.find(look);
        let title_line = Line::of(look.strings.get("layer.palette_title"), Role::TitleFocused);
        let hints =
            frame::hints(look, &[("Enter", "layer.hint_run"), ("↑↓", "layer.hint_choose"), ("Esc", "layer.hint_back")]);
        let inside = frame::card(area, (COLUMNS, ROWS + 2), buffer, look, &title_line, &hints);
        let mark = look.glyphs().user;
        let top = Rect { height: 1.min(inside.height), ..inside };
        Line::of(mark, Role::Accent).draw(top, buffer, look.theme);
        let field = Rect { x: top.x + 2, width: top.width.saturating_sub(2), ..top };
        if self.input.is_empty() {
            Line::of(look.strings.get("layer.palette_placeholder"), Role::Dim).draw(field, buffer, look.theme);
        }
        let caret = self.input.draw(field, buffer, look.theme, Role::Text);
        let rows = inside.height.saturating_sub(2);
        let window = self.list.window(self.found.len(), usize::from(rows));
        if self.found.is_empty() && rows > 0 {
            let row = Rect { y: inside.y + 2, height: 1, ..inside };
            Line::of(look.strings.get("pane.no_match"), Role::Dim).draw(row, buffer, look.theme);
        }
        for (y, index) in (inside.y + 2..).zip(window) {
            let row = Rect { y, height: 1, ..inside };
            let chosen = index == self.list.selected();
            let command = self.found[index];
            let role = if chosen { Role::Selected } else { Role::Text };
            if chosen {
                buffer.set_style(row, look.theme.style(Role::Selected));
            }
            let mut line = Line::of(if chosen { mark } else { " " }, role);
            line.push(" ", role).push(&title(command, look), role);
            let key = Line::of(&key_of(command, look), if chosen { Role::Selected } else { Role::Key });
            key.draw_right(row, buffer, look.theme);
            line.draw(Rect { width: row.width.saturating_sub(key.width() + 1), ..row }, buffer, look.theme);
        }
        let edge = Rect { x: inside.right(), y: inside.y + 2, width: 1, height: rows };
        self.list.thumb(edge, buffer, look, self.found.len());
        Some(caret)
    }
}
