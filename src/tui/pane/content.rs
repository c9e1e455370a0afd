//! A content pane: a window on the transcript with a title, a search line, and what to do with its current entry.
//!
//! The panes differ in what their window shows and in the words of their titles; everything else is one thing, so it is written once.

use crate::tui::command::Command;
use crate::tui::focus::PaneId;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::theme::Role;
use crate::tui::transcript::{Attention, Direction, Drawn, Filter, Store, View};
use crate::tui::widget::frame::Lit;
use crate::tui::widget::input::Lines;
use crate::tui::widget::{Input, Line, scrollbar};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A content pane.
#[derive(Debug)]
pub struct Content {
    id: PaneId,
    view: View,
    /// The search line, while it is being typed.
    search: Option<Input>,
}

impl Content {
    /// The pane, at the end of its content.
    pub fn new(id: PaneId) -> Self {
        let filter = match id {
            PaneId::Answer => Filter::ANSWER,
            PaneId::Thinking => Filter::THINKING,
            PaneId::Tools => Filter::TOOLS,
            PaneId::Timeline => Filter::TIMELINE,
        };
        Self { id, view: View::new(filter), search: None }
    }

    /// Its window.
    pub fn view(&mut self) -> &mut View {
        &mut self.view
    }

    /// Whether a search is being typed: it takes all keys then.
    pub fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Takes a key of the search line.
    pub fn search_key(&mut self, key: KeyEvent, store: &Store, look: &Look<'_>) {
        let Some(input) = &mut self.search else { return };
        match key.code {
            // The matches stay marked; `n` and `N` go on.
            KeyCode::Enter => {
                self.search = None;
            }
            KeyCode::Esc => {
                self.search = None;
                self.view.search("", store, look);
            }
            KeyCode::Up => {
                self.view.search_next(Direction::Back, store, look);
            }
            KeyCode::Down => {
                self.view.search_next(Direction::Forward, store, look);
            }
            _ => {
                let before = input.text();
                input.key(key);
                let query = input.text();
                if query != before {
                    self.view.search(&query, store, look);
                }
            }
        }
    }

    /// Takes text pasted into the search line; false when none is open.
    pub fn paste(&mut self, text: &str, store: &Store, look: &Look<'_>) -> bool {
        let Some(input) = &mut self.search else { return false };
        input.insert(text);
        let query = input.text();
        self.view.search(&query, store, look);
        true
    }

    /// Closes what is open in the pane: a selection, then a search. Whether there was something.
    pub fn close(&mut self, store: &Store, look: &Look<'_>) -> bool {
        if self.view.end_selection() {
            return true;
        }
        let searched = self.view.query().is_some();
        if searched {
            self.view.search("", store, look);
        }
        searched
    }

    /// Carries out a command of the pane; `None` for one that is not its own.
    pub fn command(&mut self, command: Command, store: &Store, look: &Look<'_>) -> Option<Vec<Effect>> {
        match command {
            Command::Up => self.view.scroll(-1, store, look),
            Command::Down => self.view.scroll(1, store, look),
            Command::PageUp => self.view.page(Direction::Back, store, look),
            Command::PageDown => self.view.page(Direction::Forward, store, look),
            Command::Top => self.view.top(store, look),
            Command::Bottom => self.view.bottom(),
            Command::StepBack => self.view.step(Direction::Back, store, look),
            Command::StepForward => self.view.step(Direction::Forward, store, look),
            Command::Toggle => {
                self.view.toggle(store, look);
            }
            Command::Search => self.search = Some(Input::new(Lines::One)),
            Command::NextMatch => {
                self.view.search_next(Direction::Forward, store, look);
            }
            Command::PreviousMatch => {
                self.view.search_next(Direction::Back, store, look);
            }
            Command::Select => self.view.toggle_selection(store, look),
            Command::Copy => {
                let text = self.view.copy_text(store, look);
                self.view.end_selection();
                return Some(if text.is_empty() { Vec::new() } else { vec![Effect::Copy(text)] });
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Draws content and search line below the row of the title.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, store: &Store, lit: Lit) -> Drawn {
        let mut inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let searching = self.search.is_some() || self.view.query().is_some();
        if searching && inside.height > 1 {
            inside.height -= 1;
        }
        let attention = if lit == Lit::Bright { Attention::Focused } else { Attention::Elsewhere };
        let mut drawn = self.view.draw(store, inside, buffer, look, attention);
        let last = Rect { x: area.right() - 1, width: 1, ..inside };
        scrollbar::draw(last, buffer, look, drawn.scroll);
        draw_below(inside, buffer, look, &drawn);
        if searching && inside.bottom() < area.bottom() {
            let line = Rect { y: inside.bottom(), height: 1, x: area.x + 1, width: area.width.saturating_sub(2) };
            self.draw_search(line, buffer, look, &mut drawn);
        }
        drawn
    }

    fn draw_search(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>, drawn: &mut Drawn) {
        let found = self.view.found();
        let mut count = Line::new();
        if found.total > 0 {
            let (current, total) = (found.current.to_string(), found.total.to_string());
            count.push(&look.strings.fill("pane.matches", &[("current", &current), ("total", &total)]), Role::Dim);
        } else if self.view.query().is_some() {
            count.push(look.strings.get("pane.no_match"), Role::Warning);
        }
        let used = count.draw_right(area, buffer, look.theme);
        Line::of("/", Role::Accent).draw(area, buffer, look.theme);
        let field = Rect { x: area.x + 1, width: area.width.saturating_sub(used + 2), ..area };
        if let Some(input) = &mut self.search {
            drawn.caret = Some(input.draw(field, buffer, look.theme, Role::Text));
        } else {
            Line::of(self.view.query().unwrap_or_default(), Role::Dim).draw(field, buffer, look.theme);
        }
    }

    /// Its name.
    pub fn id(&self) -> PaneId {
        self.id
    }
}

fn draw_below(inside: Rect, buffer: &mut Buffer, look: &Look<'_>, drawn: &Drawn) {
    let Some(below) = drawn.below.filter(|_| inside.height > 2) else { return };
    let arrow = look.glyphs().down;
    let key = if below.fresh { "pane.below_fresh" } else { "pane.below" };
    let mut line = Line::of(" ", Role::Text);
    let role = if below.fresh { Role::Accent } else { Role::Dim };
    line.push(arrow, role).push(" ", role).push(look.strings.get(key), role).push(" ", role);
    let row = Rect { y: inside.bottom() - 1, height: 1, width: inside.width.saturating_sub(1), ..inside };
    line.draw_right(row, buffer, look.theme);
}
