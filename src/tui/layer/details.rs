//! Any long text: schema, JSON, a change to a file. Scrolls, searches, copies.

use crate::domain::model::PromptPart;
use crate::domain::policy::FileDiff;
use crate::tui::about;
use crate::tui::facts::Facts;
use crate::tui::look::Look;
use crate::tui::outcome::{DetailBody, Details, Effect, Layer, Outcome};
use crate::tui::text::{Frame, Row, Signs, diff, json, width, wrap};
use crate::tui::theme::{Paint, Role};
use crate::tui::widget::input::Lines;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Input, Line, Pager, frame};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::sync::Arc;

/// The layer.
pub struct DetailsLayer {
    details: Details,
    pager: Pager,
    /// The rows of the last layout, and the width it was made for.
    rows: Vec<Row>,
    width: u16,
    /// The search line while it is typed, the query, the line of the current match.
    input: Option<Input>,
    query: String,
    current: Option<usize>,
    source: Source,
}

/// Where the text comes from.
enum Source {
    /// It was given.
    Given,
    /// It is what the model is told, as it is known now; `Some` when that is news.
    Told(Option<Arc<Vec<PromptPart>>>),
}

impl DetailsLayer {
    /// A layer that shows what the model is told.
    pub fn told() -> Self {
        let details = Details { title: String::new(), sections: Vec::new() };
        Self { source: Source::Told(None), ..Self::new(details) }
    }

    /// Takes in what became known since it was drawn.
    fn renew(&mut self, look: &Look<'_>) {
        if let Source::Told(news) = &mut self.source
            && let Some(parts) = news.take()
        {
            self.details = about::prompt(&parts, look.strings);
            self.width = 0;
        }
    }

    /// A layer that shows this from its beginning.
    pub fn new(details: Details) -> Self {
        Self {
            details,
            pager: Pager::default(),
            rows: Vec::new(),
            width: 0,
            input: None,
            query: String::new(),
            current: None,
            source: Source::Given,
        }
    }

    fn lay_out(&mut self, width: u16, look: &Look<'_>) {
        if self.width == width {
            return;
        }
        self.width = width;
        let mut page = Page { width, look, rows: Vec::new() };
        for (number, (heading, body)) in self.details.sections.iter().enumerate() {
            if number > 0 {
                page.rows.push(Row::default());
            }
            if !heading.is_empty() {
                page.rows.push(Row::plain(heading.as_str(), Role::Heading));
            }
            page.body(body);
        }
        self.rows = page.rows;
    }

    fn find(&mut self, from: usize, back: bool) {
        let query = self.query.to_lowercase();
        let len = self.rows.len();
        if query.is_empty() || len == 0 {
            self.current = None;
            return;
        }
        let step = |n: usize| if back { (from + 2 * len - n) % len } else { (from + n) % len };
        self.current = (0..len).map(step).find(|line| self.rows[*line].text.to_lowercase().contains(&query));
        if let Some(line) = self.current {
            self.pager.show(line);
        }
    }

    fn search_key(&mut self, key: KeyEvent) -> Outcome {
        let Some(input) = &mut self.input else { return Outcome::Ignored };
        match key.code {
            KeyCode::Enter => self.input = None,
            KeyCode::Esc => {
                self.input = None;
                self.query.clear();
                self.current = None;
            }
            _ => {
                input.key(key);
                self.query = input.text();
                self.find(self.current.unwrap_or(0), false);
            }
        }
        Outcome::Consumed
    }

    fn plain(&self) -> String {
        let mut out = String::new();
        for (heading, body) in &self.details.sections {
            if !heading.is_empty() {
                out.push_str(heading);
                out.push('\n');
            }
            match body {
                DetailBody::Text(text) => out.push_str(text),
                DetailBody::Json(value) => out.push_str(&json::pretty(value)),
                DetailBody::Diff(diff) => out.push_str(&diff_text(diff)),
                DetailBody::Fields(fields) => {
                    for (name, value) in fields {
                        for part in [name, ": ", value, "\n"] {
                            out.push_str(part);
                        }
                    }
                }
            }
            out.push('\n');
        }
        out.trim_end().to_owned()
    }
}

fn diff_text(diff: &FileDiff) -> String {
    diff.hunks.iter().flatten().map(|line| format!("{}{}\n", line.sign, line.text)).collect()
}

/// Rows in the making.
struct Page<'a> {
    width: u16,
    look: &'a Look<'a>,
    rows: Vec<Row>,
}

impl Page<'_> {
    fn body(&mut self, body: &DetailBody) {
        match body {
            DetailBody::Text(text) => {
                for line in paragraphs(text, self.width) {
                    self.rows.push(Row::plain(line, Role::Text));
                }
            }
            DetailBody::Json(value) => self.json(&json::pretty(value)),
            DetailBody::Diff(diff) => {
                self.rows.extend(diff::rows(diff, self.width, Signs::of(self.look), self.look.strings));
            }
            DetailBody::Fields(fields) => self.fields(fields),
        }
    }

    /// A long line goes on two columns further in than it began.
    fn json(&mut self, text: &str) {
        for line in text.lines() {
            let indent = line.len() - line.trim_start().len();
            let pad = |columns: usize| vec![(" ".repeat(columns).into(), Paint::from(Role::Text))];
            let frame = Frame { first: pad(indent), rest: pad(indent + 2), ..Frame::plain(self.width) };
            wrap::wrap(&json::spans(line.trim_start(), 0), &frame, 0, &mut self.rows);
        }
    }

    fn fields(&mut self, fields: &[(String, String)]) {
        let names = fields.iter().map(|(name, _)| width::of(name)).max().unwrap_or(0).min(self.width / 2);
        for (name, value) in fields {
            let room = self.width.saturating_sub(names + 2).max(8);
            for (number, part) in paragraphs(value, room).into_iter().enumerate() {
                let label = if number == 0 { name.as_str() } else { "" };
                let mut line = Line::of(label, Role::Label);
                let pad = usize::from(names.saturating_sub(line.width()) + 2);
                line.push(&" ".repeat(pad), Role::Text).push(&part, Role::Value);
                self.rows.push(line.fit(self.width, "…"));
            }
        }
    }
}

impl Layer for DetailsLayer {
    fn name(&self) -> &'static str {
        "details"
    }

    fn learn(&mut self, facts: &Facts) {
        if let Source::Told(news) = &mut self.source {
            *news = Some(Arc::clone(&facts.told));
        }
    }

    fn key(&mut self, key: KeyEvent, _look: &Look<'_>) -> Outcome {
        if self.input.is_some() {
            return self.search_key(key);
        }
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return Outcome::Close(Vec::new()),
            KeyCode::Char('/') => self.input = Some(Input::new(Lines::One)),
            KeyCode::Char('n') => self.find(self.current.map_or(0, |line| line + 1), false),
            KeyCode::Char('N') => self.find(self.current.map_or(0, |line| line + self.rows.len() - 1), true),
            KeyCode::Char('c') if key.modifiers.is_empty() => return Outcome::Emit(vec![Effect::Copy(self.plain())]),
            _ if self.pager.key(key) => {}
            _ => return Outcome::Ignored,
        }
        Outcome::Consumed
    }

    fn paste(&mut self, text: &str) -> Outcome {
        if let Some(input) = &mut self.input {
            input.insert(text);
            self.query = input.text();
            self.find(0, false);
        }
        Outcome::Consumed
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        self.renew(look);
        let title = Line::of(&self.details.title, Role::TitleFocused);
        let hints = frame::hints(
            look,
            &[
                ("Esc", "layer.hint_back"),
                ("↑↓", "layer.hint_scroll"),
                ("/", "layer.hint_search"),
                ("c", "layer.hint_copy"),
            ],
        );
        let mut inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
        self.lay_out(inside.width.saturating_sub(1), look);
        let searching = self.input.is_some() || !self.query.is_empty();
        if searching && inside.height > 1 {
            inside.height -= 1;
        }
        self.pager.draw(inside, buffer, look, &self.rows);
        if !searching {
            return None;
        }
        let row = Rect { y: inside.bottom(), height: 1, ..inside };
        Line::of("/", Role::Accent).draw(row, buffer, look.theme);
        if self.current.is_none() && !self.query.is_empty() {
            Line::of(look.strings.get("pane.no_match"), Role::Warning).draw_right(row, buffer, look.theme);
        }
        let field = Rect { x: row.x + 1, width: row.width.saturating_sub(16), ..row };
        if let Some(input) = &mut self.input {
            return Some(input.draw(field, buffer, look.theme, Role::Text));
        }
        Line::of(&self.query, Role::Dim).draw(field, buffer, look.theme);
        None
    }
}
