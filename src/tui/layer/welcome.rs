//! What someone sees who has configured nothing: what there is to talk to.
//!
//! It appears by itself, so it is a guest: it leaves the composer in sight, takes only keys that type nothing, and none before it has stood long
//! enough to be read. What is found later never moves the highlight.

use crate::contract::Op;
use crate::tui::facts::Facts;
use crate::tui::look::Look;
use crate::tui::msg::Found;
use crate::tui::outcome::{Effect, Layer, Manner, Outcome, Remember};
use crate::tui::prompt::STANDS;
use crate::tui::theme::Role;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Line, frame};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::Instant;

/// Its name.
pub const NAME: &str = "welcome";
/// The scripted model.
const TOUR: &str = "demo";
/// Models shown of one server.
const MODELS: usize = 6;

/// The layer.
#[derive(Debug)]
pub struct Welcome {
    found: Vec<Found>,
    chosen: String,
    since: Option<Instant>,
}

impl Default for Welcome {
    fn default() -> Self {
        Self::new()
    }
}

impl Welcome {
    /// With the Tour highlighted: it is there from the first frame.
    pub fn new() -> Self {
        Self { found: Vec::new(), chosen: TOUR.to_owned(), since: None }
    }

    /// Everything that can be chosen, in the order in which it is shown.
    fn choices(&self) -> Vec<&str> {
        let servers = self.found.iter().filter_map(|found| match found {
            Found::Server(server) => Some(server.models.iter().take(MODELS)),
            _ => None,
        });
        let keys = self.found.iter().filter_map(|found| match found {
            Found::Key(key) => Some(key.model.as_str()),
            _ => None,
        });
        std::iter::once(TOUR).chain(servers.flatten().map(String::as_str)).chain(keys).collect()
    }

    fn go(&mut self, by: isize) {
        let choices = self.choices();
        let at = choices.iter().position(|choice| *choice == self.chosen).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(choices.len() - 1);
        self.chosen = choices[to].to_owned();
    }

    fn lines(&self, width: u16, look: &Look<'_>) -> Vec<Line> {
        let strings = look.strings;
        let mut lines = vec![Line::of(strings.get("layer.welcome_title"), Role::Heading), Line::new()];
        for line in paragraphs(strings.get("layer.welcome_text"), width) {
            lines.push(Line::of(&line, Role::Text));
        }
        lines.push(Line::new());
        lines.push(self.choice(TOUR, strings.get("layer.welcome_tour"), "", look));
        for line in paragraphs(strings.get("layer.welcome_tour_about"), width.saturating_sub(2)) {
            lines.push(Line::of(&format!("  {line}"), Role::Dim));
        }
        lines.push(Line::new());
        lines.push(Line::of(strings.get("layer.welcome_local"), Role::Dim));
        let mut any = false;
        for found in &self.found {
            if let Found::Server(server) = found {
                any = true;
                if server.models.is_empty() {
                    let text = strings.fill("layer.welcome_no_models", &[("server", &server.name)]);
                    lines.push(Line::of(&format!("  {text}"), Role::Text));
                }
                for model in server.models.iter().take(MODELS) {
                    lines.push(self.choice(model, model, &format!("{} {}", server.name, server.url), look));
                }
                if server.models.len() > MODELS {
                    let count = (server.models.len() - MODELS).to_string();
                    lines.push(Line::of(&strings.fill("layer.welcome_more", &[("count", &count)]), Role::Dim));
                }
            }
        }
        if !any {
            let done = self.found.contains(&Found::Done);
            let key = if done { "layer.welcome_none" } else { "layer.welcome_looking" };
            lines.push(Line::of(&format!("  {}", strings.get(key)), Role::Dim));
        }
        let keys = self.found.iter().filter_map(|found| match found {
            Found::Key(key) => Some(key),
            _ => None,
        });
        for (number, key) in keys.enumerate() {
            if number == 0 {
                lines.push(Line::new());
                lines.push(Line::of(strings.get("layer.welcome_keys"), Role::Dim));
            }
            lines.push(self.choice(&key.model, &key.model, &key.variable, look));
        }
        lines
    }

    fn choice(&self, model: &str, title: &str, about: &str, look: &Look<'_>) -> Line {
        let chosen = model == self.chosen;
        let role = if chosen { Role::Accent } else { Role::Text };
        let mut line = Line::of(if chosen { look.glyphs().user } else { " " }, role);
        line.push(" ", role);
        line.push(title, role);
        let pad = usize::from(28_u16.saturating_sub(line.width()).max(2));
        line.push(&" ".repeat(pad), Role::Text).push(about, Role::Dim);
        line
    }
}

impl Layer for Welcome {
    fn name(&self) -> &'static str {
        NAME
    }

    fn manner(&self) -> Manner {
        Manner::Guest
    }

    fn learn(&mut self, facts: &Facts) {
        self.found.clone_from(&facts.found);
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        let stands = self.since.is_some_and(|since| look.now.saturating_duration_since(since) >= STANDS);
        if !stands || !key.modifiers.is_empty() {
            return Outcome::Ignored;
        }
        match key.code {
            KeyCode::Up => self.go(-1),
            KeyCode::Down => self.go(1),
            KeyCode::Enter => {
                let model = self.chosen.clone();
                let mut effects = vec![Effect::Op(Op::UseModel { model: model.clone() })];
                if model != TOUR {
                    let question = look.strings.fill("layer.welcome_remember", &[("model", &model)]);
                    effects.push(Effect::Confirm { question, yes: vec![Effect::Remember(Remember::Model(model))] });
                }
                return Outcome::Close(effects);
            }
            KeyCode::Esc => return Outcome::Close(Vec::new()),
            _ => return Outcome::Ignored,
        }
        Outcome::Consumed
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        self.since.get_or_insert(look.now);
        let keys = [("↑↓", "layer.hint_choose"), ("Enter", "layer.hint_use"), ("Esc", "layer.hint_close")];
        let hints = frame::hints(look, &keys);
        let inside = frame::sheet(area, buffer, look, &Line::new(), &Line::new(), &hints);
        // In the middle of a wide screen, at the edge of a narrow one.
        let width = inside.width.min(84);
        let place = Rect { x: inside.x + (inside.width - width) / 2, width, ..inside };
        let lines = self.lines(width, look);
        let top = (place.height.saturating_sub(lines.len() as u16)) / 3;
        // On a low screen the highlighted line is what must be seen, with what stands above it as far as there is room.
        let chosen = lines.iter().position(|line| line.starts_with(look.glyphs().user)).unwrap_or(0);
        let rows = usize::from(place.height);
        let skip = (chosen + 1 + rows / 3).saturating_sub(rows).min(lines.len().saturating_sub(rows));
        for (y, line) in (place.y + top..place.bottom()).zip(&lines[skip..]) {
            line.draw(Rect { y, height: 1, ..place }, buffer, look.theme);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::dress::Dress;
    use crate::tui::msg::{FoundKey, LocalServer};
    use crossterm::event::KeyModifiers;

    #[test]
    fn what_is_found_later_does_not_move_the_highlight() {
        let mut welcome = Welcome::new();
        let server = LocalServer { name: "Ollama".into(), url: "u".into(), models: vec!["ollama:a".into()] };
        welcome.found = vec![Found::Key(FoundKey { variable: "K".into(), model: "openai:b".into() })];
        welcome.go(1);
        assert_eq!(welcome.chosen, "openai:b");
        welcome.found.push(Found::Server(server));
        assert_eq!(welcome.choices(), ["demo", "ollama:a", "openai:b"]);
        assert_eq!(welcome.chosen, "openai:b");
    }

    #[test]
    fn takes_no_key_before_it_stood() {
        let (mut welcome, mut dress) = (Welcome::new(), Dress::default());
        dress.animate = false;
        let start = Instant::now();
        let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(welcome.key(enter, &dress.look(start)), Outcome::Ignored);
        welcome.draw(Rect::new(0, 0, 60, 20), &mut Buffer::empty(Rect::new(0, 0, 60, 20)), &dress.look(start));
        assert_eq!(welcome.key(enter, &dress.look(start + STANDS / 2)), Outcome::Ignored);
        assert!(matches!(welcome.key(enter, &dress.look(start + STANDS)), Outcome::Close(_)));
    }
}
