//! A server's form (MCP elicitation, form mode).

use super::card::{Act, Place, Summary, Title};
use super::form::{FormOutcome, FormView, Purpose};
use super::glyph::Hints;
use super::lines::first_line;
use crate::domain::ServerName;
use crate::domain::form::{FieldError, Form};
use crate::domain::prompt::{Answer, FormRequest};
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::theme::Role;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::Map;

/// A form with who asks.
#[derive(Debug, Clone)]
pub(super) struct FormCard {
    server: ServerName,
    message: String,
    view: FormView,
}

impl FormCard {
    pub(super) fn new(request: FormRequest) -> Self {
        let view = FormView::new(request.form, &Map::new(), Purpose::Elicit).with_intro(&request.message);
        Self { server: request.server, message: request.message, view }
    }

    /// Whether this is the same form of the same server.
    pub(super) fn is_like(&self, server: &ServerName, form: &Form) -> bool {
        self.server == *server && self.view.form() == form
    }

    pub(super) fn server(&self) -> &ServerName {
        &self.server
    }

    pub(super) fn view(&self) -> &FormView {
        &self.view
    }

    /// Goes on with what was typed into another try of this form.
    pub(super) fn resume(&mut self, view: FormView) {
        self.view = view;
        self.view.set_intro(&self.message);
    }

    pub(super) fn refuse(&mut self, problems: &[(String, FieldError)]) {
        self.view.refuse(problems);
    }

    pub(super) fn key(&mut self, key: KeyEvent, _: Place, look: &Look<'_>) -> Act {
        match self.view.key(key, look) {
            FormOutcome::Ignored => Act::Ignored,
            FormOutcome::Consumed => Act::Consumed,
            FormOutcome::Submit(values) => Act::Answer(Answer::Submit { values }),
            FormOutcome::Decline => Act::Answer(Answer::Decline),
            FormOutcome::Cancel => Act::Answer(Answer::Cancel),
            FormOutcome::Edit { text, extension } => Act::Emit(vec![Effect::Edit { text, extension }]),
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.view.paste(text);
    }

    pub(super) fn edited(&mut self, text: &str) {
        self.view.edited(text);
    }

    pub(super) fn summary(&self, _: Place, look: &Look<'_>) -> Summary {
        let head = look.strings.fill("prompt.form.asks", &[("server", self.server.as_str())]);
        Summary { head, rest: first_line(&self.message).to_owned() }
    }

    pub(super) fn title(&self, place: Place, look: &Look<'_>) -> Title {
        let asks = look.strings.fill("prompt.form.asks", &[("server", self.server.as_str())]);
        let mut title = vec![(asks, Role::TitleFocused)];
        if place.of > 1 {
            title.push((
                format!(
                    " ({})",
                    look.strings
                        .fill("prompt.at_of", &[("at", &place.at.to_string()), ("count", &place.of.to_string())])
                ),
                Role::Dim,
            ));
        }
        title
    }

    pub(super) fn hints<'a>(&self, look: &'a Look<'a>) -> Hints<'a> {
        self.view.hint_keys(look)
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        self.view.height(columns, look)
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        self.view.draw(area, buffer, look)
    }

    pub(super) fn below(&self) -> usize {
        self.view.below()
    }
}
