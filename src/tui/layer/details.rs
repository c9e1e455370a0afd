//! Any long text: schema, JSON, a change to a file. Scrolls, searches, copies.

use crate::domain::policy::FileDiff;
use crate::tui::look::Look;
use crate::tui::outcome::{DetailBody, Details, Effect, Layer, Outcome};
use crate::tui::theme::{Paint, Role};
use crate::tui::widget::input::Lines;
use crate::tui::widget::line::wrap;
use crate::tui::widget::{Input, Line, Pager, frame};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The layer.
pub struct DetailsLayer {
    details: Details,
    pager: Pager,
    /// The lines of the last layout, and the width it was made for.
    lines: Vec<Line>,
    texts: Vec<String>,
    width: u16,
    /// The search line while it is typed, the query, the line of the current match.
    input: Option<Input>,
    query: String,
    current: Option<usize>,
}

impl DetailsLayer {
    /// A layer that shows this from its beginning.
    pub fn new(details: Details) -> Self {
        Self {
            details,
            pager: Pager::default(),
            lines: Vec::new(),
            texts: Vec::new(),
            width: 0,
            input: None,
            query: String::new(),
            current: None,
        }
    }

    fn lay_out(&mut self, width: u16, look: &Look<'_>) {
        if self.width == width {
            return;
        }
        self.width = width;
        let mut page = Page { width, rows: Vec::new() };
        for (number, (heading, body)) in self.details.sections.iter().enumerate() {
            if number > 0 {
                page.line(String::new(), Role::Text);
            }
            if !heading.is_empty() {
                page.line(heading.clone(), Role::Heading);
            }
            page.body(body, look);
        }
        self.texts = page.rows.iter().map(|row| row.iter().map(|(text, _)| text.to_lowercase()).collect()).collect();
        self.lines = page
            .rows
            .into_iter()
            .map(|row| {
                let mut line = Line::new();
                for (text, paint) in row {
                    line.push(&text, paint);
                }
                line
            })
            .collect();
    }

    fn find(&mut self, from: usize, back: bool) {
        let query = self.query.to_lowercase();
        let len = self.texts.len();
        if query.is_empty() || len == 0 {
            self.current = None;
            return;
        }
        let step = |n: usize| if back { (from + 2 * len - n) % len } else { (from + n) % len };
        self.current = (0..len).map(step).find(|line| self.texts[*line].contains(&query));
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
                DetailBody::Json(value) => out.push_str(&pretty(value)),
                DetailBody::Diff(diff) => out.push_str(&diff_text(diff)),
                DetailBody::Fields(fields) => {
                    for (name, value) in fields {
                        out.push_str(&format!("{name}: {value}\n"));
                    }
                }
            }
            out.push('\n');
        }
        out.trim_end().to_owned()
    }
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn diff_text(diff: &FileDiff) -> String {
    diff.hunks.iter().flatten().map(|line| format!("{}{}\n", line.sign, line.text)).collect()
}

/// Rows of painted pieces, before they become lines.
struct Page {
    width: u16,
    rows: Vec<Vec<(String, Paint)>>,
}

impl Page {
    fn line(&mut self, text: String, paint: impl Into<Paint>) {
        self.rows.push(vec![(text, paint.into())]);
    }

    fn body(&mut self, body: &DetailBody, look: &Look<'_>) {
        match body {
            DetailBody::Text(text) => {
                for line in wrap(text, self.width) {
                    self.line(line, Role::Text);
                }
            }
            DetailBody::Json(value) => {
                for line in pretty(value).lines() {
                    self.json(line);
                }
            }
            DetailBody::Diff(diff) => self.diff(diff, look),
            DetailBody::Fields(fields) => self.fields(fields),
        }
    }

    /// One line of indented JSON; its key stands out. A long line goes on under its value.
    fn json(&mut self, line: &str) {
        let indent = line.len() - line.trim_start().len();
        let room = self.width.saturating_sub(indent as u16 + 2).max(8);
        for (number, part) in wrap(line.trim_start(), room).into_iter().enumerate() {
            let pad = " ".repeat(if number == 0 { indent } else { indent + 2 });
            let key = part.find("\": ").filter(|_| number == 0 && part.starts_with('"'));
            let mut row = vec![(pad, Paint::from(Role::Text))];
            match key {
                Some(end) => {
                    row.push((part[..=end].to_owned(), Role::Label.into()));
                    row.push((part[end + 1..].to_owned(), Role::Value.into()));
                }
                None => row.push((part, Role::Value.into())),
            }
            self.rows.push(row);
        }
    }

    fn diff(&mut self, diff: &FileDiff, look: &Look<'_>) {
        for (number, hunk) in diff.hunks.iter().enumerate() {
            if number > 0 {
                self.line(look.glyphs().more.to_owned(), Role::Dim);
            }
            for line in hunk {
                let role = match line.sign {
                    '+' => Role::Added,
                    '-' => Role::Removed,
                    _ => Role::Text,
                };
                let at = line.new.or(line.old).map_or_else(String::new, |n| n.to_string());
                for (part, text) in wrap(&line.text, self.width.saturating_sub(8).max(8)).into_iter().enumerate() {
                    let number = if part == 0 { format!("{at:>5} ") } else { " ".repeat(6) };
                    let sign = if part == 0 { line.sign } else { ' ' };
                    self.rows.push(vec![(number, Role::Dim.into()), (format!("{sign} {text}"), role.into())]);
                }
            }
        }
        if diff.omitted > 0 {
            let count = diff.omitted.to_string();
            self.line(look.strings.fill("layer.diff_omitted", &[("count", &count)]), Role::Dim);
        }
    }

    fn fields(&mut self, fields: &[(String, String)]) {
        let names = fields.iter().map(|(name, _)| Line::of(name, Role::Label).width()).max().unwrap_or(0);
        let names = names.min(self.width / 2);
        for (name, value) in fields {
            let room = self.width.saturating_sub(names + 2).max(8);
            for (number, part) in wrap(value, room).into_iter().enumerate() {
                let label = if number == 0 { name.as_str() } else { "" };
                let pad = usize::from(names.saturating_sub(Line::of(label, Role::Label).width()) + 2);
                let label = format!("{label}{}", " ".repeat(pad));
                self.rows.push(vec![(label, Role::Label.into()), (part, Role::Value.into())]);
            }
        }
    }
}

impl Layer for DetailsLayer {
    fn name(&self) -> &'static str {
        "details"
    }

    fn key(&mut self, key: KeyEvent, _look: &Look<'_>) -> Outcome {
        if self.input.is_some() {
            return self.search_key(key);
        }
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return Outcome::Close(Vec::new()),
            KeyCode::Char('/') => self.input = Some(Input::new(Lines::One)),
            KeyCode::Char('n') => self.find(self.current.map_or(0, |line| line + 1), false),
            KeyCode::Char('N') => self.find(self.current.map_or(0, |line| line + self.texts.len() - 1), true),
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
        self.pager.draw(inside, buffer, look, &self.lines);
        if !searching {
            return None;
        }
        let row = Rect { y: inside.bottom(), height: 1, ..inside };
        Line::of("/", Role::Accent).draw(row, buffer, look.theme);
        if self.current.is_none() && !self.query.is_empty() {
            Line::of(look.strings.get("pane.no_match"), Role::Warning).draw_right(row, buffer, look.theme);
        }
        let field = Rect { x: row.x + 1, width: row.width.saturating_sub(16), ..row };
        match &mut self.input {
            Some(input) => Some(input.draw(field, buffer, look.theme, Role::Text)),
            None => {
                Line::of(&self.query, Role::Dim).draw(field, buffer, look.theme);
                None
            }
        }
    }
}
