//! The servers: state with reason and what to do, where their entry stands, their error output; start, stop, restart.

use crate::contract::Op;
use crate::domain::ServerName;
use crate::domain::server::{ServerAction, ServerState};
use crate::tui::facts::{Facts, ServerFacts};
use crate::tui::look::Look;
use crate::tui::outcome::{DetailBody, Details, Effect, Layer, Outcome};
use crate::tui::theme::Role;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Line, List, Pager, frame, line};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// Lines of error output in the overview; the whole is one key away.
const TAIL: usize = 12;
/// Columns of the list.
const LIST: u16 = 38;

/// The layer.
#[derive(Debug, Default)]
pub struct Servers {
    known: Vec<(ServerName, ServerFacts)>,
    list: List,
    pager: Pager,
}

impl Servers {
    /// Knows none yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn chosen(&self) -> Option<&(ServerName, ServerFacts)> {
        self.known.get(self.list.selected())
    }

    fn act(&self, action: ServerAction) -> Outcome {
        match self.chosen() {
            Some((name, _)) => Outcome::Emit(vec![Effect::Op(Op::Server { server: name.clone(), action })]),
            None => Outcome::Consumed,
        }
    }

    fn whole(&self, look: &Look<'_>) -> Option<Details> {
        let (name, facts) = self.chosen()?;
        let output: Vec<&str> = facts.stderr.iter().map(String::as_str).collect();
        let fields = fields(facts, look).into_iter().map(|(name, value, _)| (name, value)).collect();
        let mut sections = vec![(String::new(), DetailBody::Fields(fields))];
        if let Some(text) = &facts.status.instructions {
            sections.push((look.strings.get("layer.server_instructions").to_owned(), DetailBody::Text(text.clone())));
        }
        sections.push((look.strings.get("layer.server_stderr").to_owned(), DetailBody::Text(output.join("\n"))));
        Some(Details { title: name.to_string(), sections })
    }

    fn row(&self, index: usize, look: &Look<'_>) -> Line {
        let (name, facts) = &self.known[index];
        let chosen = index == self.list.selected();
        let (mark, role) = mark(facts.status.state, look);
        let mut line = Line::of(if chosen { look.glyphs().user } else { " " }, Role::Accent);
        line.push(" ", Role::Text);
        line.push(mark, role).push(" ", role).push(name.as_str(), if chosen { Role::Accent } else { Role::Text });
        let pad = usize::from(22_u16.saturating_sub(line.width()).max(2));
        line.push(&" ".repeat(pad), Role::Text).push(&state(facts, look), role);
        line
    }

    fn about(&self, width: u16, look: &Look<'_>) -> Vec<Line> {
        let Some((_, facts)) = self.chosen() else { return Vec::new() };
        let mut lines = Vec::new();
        for (name, value, role) in fields(facts, look) {
            for (number, part) in paragraphs(&value, width.saturating_sub(16)).into_iter().enumerate() {
                let label = if number == 0 { name.as_str() } else { "" };
                let mut line = Line::of(label, Role::Label);
                let pad = usize::from(15_u16.saturating_sub(line.width()) + 1);
                line.push(&" ".repeat(pad), Role::Text).push(&part, role);
                lines.push(line);
            }
        }
        if !facts.stderr.is_empty() {
            lines.push(Line::new());
            lines.push(Line::of(look.strings.get("layer.server_stderr"), Role::Heading));
            let from = facts.stderr.len().saturating_sub(TAIL);
            for text in facts.stderr.iter().skip(from) {
                lines.extend(paragraphs(text, width).iter().map(|part| Line::of(part, Role::Dim)));
            }
        }
        lines
    }
}

fn is_broken(state: ServerState) -> bool {
    use ServerState::{Disconnected, Error, InitFailed, NeedsAuth, StartFailed, Untrusted};
    matches!(state, StartFailed | InitFailed | Error | Disconnected | NeedsAuth | Untrusted)
}

/// The symbol of a state, beside which its word always stands.
fn mark(state: ServerState, look: &Look<'_>) -> (&'static str, Role) {
    let glyphs = look.glyphs();
    match state {
        ServerState::Ready => (glyphs.good, Role::Good),
        ServerState::Idle => (glyphs.idle, Role::Dim),
        ServerState::Stopped | ServerState::Disabled => (glyphs.off, Role::Dim),
        ServerState::Starting
        | ServerState::Initializing
        | ServerState::Reconnecting
        | ServerState::WaitingForBrowser => (glyphs.open, Role::Running),
        ServerState::StartFailed | ServerState::InitFailed | ServerState::Error | ServerState::Disconnected => {
            (glyphs.bad, Role::Bad)
        }
        ServerState::NeedsAuth | ServerState::Untrusted => (glyphs.warning, Role::Warning),
    }
}

fn state(facts: &ServerFacts, look: &Look<'_>) -> String {
    let status = &facts.status;
    if status.state == ServerState::Ready && status.calls > 0 {
        return look.strings.fill("layer.state_running", &[("count", &status.calls.to_string())]);
    }
    look.strings.get(status.state.text_key()).to_owned()
}

fn fields(facts: &ServerFacts, look: &Look<'_>) -> Vec<(String, String, Role)> {
    let (status, strings) = (&facts.status, look.strings);
    let mut out = Vec::new();
    let mut field = |key: &str, value: String, role: Role| {
        if !value.is_empty() {
            out.push((strings.get(key).to_owned(), value, role));
        }
    };
    let (_, role) = mark(status.state, look);
    field("layer.server_state", state(facts, look), role);
    field("layer.server_reason", status.reason.as_ref().map(|r| strings.render(r)).unwrap_or_default(), role);
    field("layer.server_fix", status.fix.as_ref().map(|f| strings.render(f)).unwrap_or_default(), Role::Text);
    let place = match status.source.line {
        0 => status.source.file.clone(),
        line => format!("{}:{line}", status.source.file),
    };
    field("layer.server_file", place, Role::Text);
    field("layer.server_shadows", status.source.shadows.join(", "), Role::Warning);
    field("layer.server_address", format!("{} {}", status.transport, status.address), Role::Text);
    field("layer.server_identity", status.identity.clone().unwrap_or_default(), Role::Text);
    field("layer.server_protocol", status.protocol.clone().unwrap_or_default(), Role::Text);
    field("layer.server_pid", status.pid.map(|pid| pid.to_string()).unwrap_or_default(), Role::Text);
    if let Some(tools) = status.tools {
        let key = if status.cached { "layer.server_tools_cached" } else { "layer.server_tools_count" };
        field("layer.server_tools", strings.fill(key, &[("count", &tools.to_string())]), Role::Text);
    }
    if let Some(millis) = status.start_millis {
        let seconds = format!("{}.{} s", millis / 1000, millis % 1000 / 100);
        field("layer.server_start", seconds, Role::Text);
    }
    if status.noise > 0 {
        let text = strings.fill("layer.server_noise_lines", &[("count", &status.noise.to_string())]);
        field("layer.server_noise", text, Role::Warning);
    }
    for (tool, problem) in &facts.rejected {
        field("layer.server_rejected", format!("{tool}: {problem}"), Role::Warning);
    }
    out
}

impl Layer for Servers {
    fn name(&self) -> &'static str {
        "servers"
    }

    fn learn(&mut self, facts: &Facts) {
        let kept = self.chosen().map(|(name, _)| name.clone());
        let opens = self.known.is_empty();
        self.known = facts.servers.iter().map(|(name, facts)| (name.clone(), facts.clone())).collect();
        if let Some(at) = kept.and_then(|kept| self.known.iter().position(|(name, _)| *name == kept)) {
            self.list.select(at);
        } else if opens {
            // What went wrong is what somebody opens this for.
            let broken = |(_, facts): &(ServerName, ServerFacts)| is_broken(facts.status.state);
            self.list.select(self.known.iter().position(broken).unwrap_or(0));
        }
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        if !key.modifiers.is_empty() && !matches!(key.code, KeyCode::Char('R')) {
            return Outcome::Ignored;
        }
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => Outcome::Close(Vec::new()),
            KeyCode::Char('s') => self.act(ServerAction::Start),
            KeyCode::Char('x') => self.act(ServerAction::Stop),
            KeyCode::Char('r') => self.act(ServerAction::Restart),
            KeyCode::Char('R') => Outcome::Emit(vec![Effect::Op(Op::Reload)]),
            KeyCode::Enter | KeyCode::Char('o') => match self.whole(look) {
                Some(details) => Outcome::Emit(vec![Effect::Details(Box::new(details))]),
                None => Outcome::Consumed,
            },
            KeyCode::Up | KeyCode::Down | KeyCode::Home | KeyCode::End => {
                self.pager.to_top();
                self.list.key(key, self.known.len());
                Outcome::Consumed
            }
            KeyCode::PageUp | KeyCode::PageDown => {
                self.pager.key(key);
                Outcome::Consumed
            }
            _ => Outcome::Ignored,
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let title = Line::of(look.strings.get("layer.servers_title"), Role::TitleFocused);
        let hints = frame::hints(
            look,
            &[
                ("Esc", "layer.hint_back"),
                ("↑↓", "layer.hint_choose"),
                ("s", "layer.hint_start"),
                ("x", "layer.hint_stop"),
                ("r", "layer.hint_restart"),
                ("R", "layer.hint_reload"),
                ("Enter", "layer.hint_whole"),
            ],
        );
        let inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
        if self.known.is_empty() {
            for (y, text) in
                (inside.y + 1..inside.bottom()).zip(paragraphs(look.strings.get("layer.no_servers"), inside.width))
            {
                Line::of(&text, Role::Dim).draw(Rect { y, height: 1, ..inside }, buffer, look.theme);
            }
            return None;
        }
        let (list, about) = frame::halves(inside, LIST, self.known.len());
        let window = self.list.window(self.known.len(), usize::from(list.height));
        for (y, index) in (list.y..).zip(window.clone()) {
            self.row(index, look).draw(Rect { y, height: 1, ..list }, buffer, look.theme);
        }
        self.list.thumb(Rect { x: list.right(), ..list }, buffer, look, self.known.len());
        let lines = self.about(about.width.saturating_sub(1), look);
        self.pager.draw(about, buffer, look, &line::rows(&lines, about.width));
        let y = list.y + self.list.selected().saturating_sub(window.start) as u16;
        Some(Position::new(list.x, y))
    }
}
