//! The content panes together: which is shown, how they stand, and that they show the same step.

use crate::tui::command::Command;
use crate::tui::focus::PaneId;
use crate::tui::layout::{Areas, Arrangement, LEFT, Mode, Shown, Zoom};
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::pane::content::Content;
use crate::tui::theme::Role;
use crate::tui::transcript::{Drawn, Store};
use crate::tui::widget::frame::Lit;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Line, frame};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Share of the left column at first, percent.
const LEFT_AT_FIRST: u16 = 58;
/// A step of resizing, percent.
const RESIZE: u16 = 5;

/// What an empty session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// A task.
    Task,
    /// Looking around with the scripted model.
    Tour,
}

/// The panes.
#[derive(Debug)]
pub struct Panes {
    answer: Content,
    thinking: Content,
    tools: Content,
    timeline: Content,
    /// What the user wants.
    pub mode: Mode,
    shown: PaneId,
    zoom: Zoom,
    left: u16,
}

impl Panes {
    /// Every pane shows its end and follows it: what is sent is seen to arrive.
    pub fn follow(&mut self) {
        for id in [PaneId::Answer, PaneId::Thinking, PaneId::Tools, PaneId::Timeline] {
            self.get(id).view().bottom();
        }
    }

    /// All panes at their ends, the answer in front.
    pub fn new(mode: Mode) -> Self {
        Self {
            answer: Content::new(PaneId::Answer),
            thinking: Content::new(PaneId::Thinking),
            tools: Content::new(PaneId::Tools),
            timeline: Content::new(PaneId::Timeline),
            mode,
            shown: PaneId::Answer,
            zoom: Zoom::Off,
            left: LEFT_AT_FIRST,
        }
    }

    /// A pane.
    pub fn get(&mut self, id: PaneId) -> &mut Content {
        match id {
            PaneId::Answer => &mut self.answer,
            PaneId::Thinking => &mut self.thinking,
            PaneId::Tools => &mut self.tools,
            PaneId::Timeline => &mut self.timeline,
        }
    }

    /// What layout must know.
    pub fn shown(&self) -> Shown {
        Shown { pane: self.shown, zoom: self.zoom, left: self.left }
    }

    /// Brings a pane to the front where only one is shown.
    pub fn show(&mut self, id: PaneId) {
        if id != PaneId::Timeline {
            self.shown = id;
        }
    }

    /// The pane that commands mean while none has the focus.
    pub fn front(&self, arrangement: Arrangement) -> PaneId {
        if arrangement == Arrangement::Timeline { PaneId::Timeline } else { self.shown }
    }

    /// One pane alone, and back.
    pub fn zoom(&mut self, id: PaneId) {
        self.show(id);
        self.zoom = match self.zoom {
            Zoom::Off => Zoom::On,
            Zoom::On => Zoom::Off,
        };
    }

    /// Makes a pane narrower or wider.
    pub fn resize(&mut self, id: PaneId, command: Command) {
        let wider = (command == Command::Grow) == (id == PaneId::Answer);
        let left = if wider { self.left + RESIZE } else { self.left - RESIZE };
        self.left = left.clamp(*LEFT.start(), *LEFT.end());
    }

    /// Carries out a command in a pane; `None` for one that is not a pane's. When it led to another step, the other panes show that step too.
    pub fn command(&mut self, id: PaneId, command: Command, store: &Store, look: &Look<'_>) -> Option<Vec<Effect>> {
        let before = self.get(id).view().current_step(store);
        let effects = self.get(id).command(command, store, look)?;
        let after = self.get(id).view().current_step(store);
        for other in PaneId::KINDS {
            if other == id || id == PaneId::Timeline {
                continue;
            }
            let view = self.get(other).view();
            if command == Command::Bottom {
                view.bottom();
            } else if let Some(step) = after.filter(|_| after != before) {
                view.show_step(step, store, look);
            }
        }
        Some(effects)
    }

    /// Draws the panes that have a place; answers with what the focused one said, and whether anything in sight moves.
    pub fn draw(
        &mut self,
        areas: &Areas,
        buffer: &mut Buffer,
        look: &Look<'_>,
        store: &Store,
        (focused, waits): (Option<PaneId>, usize),
        first: First,
    ) -> Drawn {
        let mut all = Drawn::default();
        for (id, area) in &areas.panes {
            let lit = if focused == Some(*id) { Lit::Bright } else { Lit::Dim };
            let single = areas.panes.len() == 1 && *id != PaneId::Timeline;
            let drawn = self.get(*id).draw(*area, buffer, look, store, lit);
            // What stands in the title is known when the content has been drawn.
            let title = if single { tabs(*id, lit, look) } else { title(*id, lit, look) };
            let right = self.right(*id, single, store, look, waits);
            frame::rule(Rect { height: 1, ..*area }, buffer, look, lit, &title, &right);
            all.ticks |= drawn.ticks;
            if focused == Some(*id) {
                all.caret = drawn.caret;
            }
        }
        if let Some((_, area)) = areas.panes.first().filter(|_| store.is_empty()) {
            draw_empty(*area, buffer, look, first);
        }
        if let Some(divider) = areas.divider {
            draw_divider(divider, &areas.panes, buffer, look);
        }
        all
    }

    fn right(&mut self, id: PaneId, single: bool, store: &Store, look: &Look<'_>, waits: usize) -> Line {
        let mut line = Line::new();
        if id == PaneId::Thinking || single || id == PaneId::Timeline {
            let step = self.get(id).view().current_step(store).and_then(|step| store.step_number(step));
            if let Some((number, of)) = step {
                let args = [("number", &*number.to_string()), ("of", &*of.to_string())];
                line.push(&look.strings.fill("pane.step", &args), Role::Dim);
            }
        }
        if id == PaneId::Tools && waits > 0 {
            if !line.is_empty() {
                line.push(look.glyphs().dot, Role::Dim);
            }
            line.push(&look.strings.fill("pane.waits", &[("count", &waits.to_string())]), Role::Waiting);
        }
        line
    }
}

fn title(id: PaneId, lit: Lit, look: &Look<'_>) -> Line {
    Line::of(look.strings.get(id.title()), lit.title())
}

/// What an empty session says.
fn draw_empty(area: Rect, buffer: &mut Buffer, look: &Look<'_>, first: First) {
    let key = match first {
        First::Task => "pane.empty",
        First::Tour => "pane.empty_tour",
    };
    let columns = area.width.saturating_sub(4).min(64);
    let lines = paragraphs(look.strings.get(key), columns);
    let rows = area.height.saturating_sub(1);
    let top = area.y + 1 + rows.saturating_sub(lines.len() as u16) / 3;
    let x = area.x + (area.width - columns) / 2;
    for (y, line) in (top..area.bottom()).zip(&lines) {
        Line::of(line, Role::Dim).draw(Rect { x, y, width: columns, height: 1 }, buffer, look.theme);
    }
}

/// The names of all three, the shown one standing out.
fn tabs(shown: PaneId, lit: Lit, look: &Look<'_>) -> Line {
    let mut line = Line::new();
    for (number, id) in (1..).zip(PaneId::KINDS) {
        if number > 1 {
            line.push("  ", Role::Dim);
        }
        let (mark, role) = match (id == shown, lit) {
            (true, Lit::Bright) => (look.glyphs().user, Role::TitleFocused),
            (true, Lit::Dim) => (look.glyphs().user, Role::Text),
            (false, _) => (" ", Role::Title),
        };
        line.push(mark, role).push(&number.to_string(), Role::Dim).push(" ", role);
        line.push(look.strings.get(id.title()), role);
    }
    line
}

/// The line between left and right, joined to the rules that it meets.
fn draw_divider(area: Rect, panes: &[(PaneId, Rect)], buffer: &mut Buffer, look: &Look<'_>) {
    let style = look.theme.style(Role::Border);
    for y in area.y..area.bottom() {
        let left = panes.iter().any(|(_, r)| r.right() == area.x && r.y == y);
        let right = panes.iter().any(|(_, r)| r.x == area.x + 1 && r.y == y);
        let symbol = match (left, right) {
            _ if !frame::joins(look) => look.glyphs().column,
            (true, true) => "┬",
            (false, true) => "├",
            (true, false) => "┤",
            (false, false) => "│",
        };
        buffer.set_string(area.x, y, symbol, style);
    }
}
