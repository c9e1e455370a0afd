//! Every tool: whose it is, what it does, what was granted; and running one by hand through a form over its schema.

use crate::contract::{Op, ToolInfo};
use crate::domain::ToolId;
use crate::tui::about;
use crate::tui::facts::Facts;
use crate::tui::look::Look;
use crate::tui::outcome::{Effect, Layer, Outcome};
use crate::tui::prompt::form::{FormOutcome, FormView, Purpose};
use crate::tui::theme::Role;
use crate::tui::widget::input::Lines;
use crate::tui::widget::line::paragraphs;
use crate::tui::widget::{Input, Line, List, Pager, frame, line};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Columns of the list.
const LIST: u16 = 42;

/// The layer.
#[derive(Default)]
pub struct Tools {
    known: Arc<Vec<ToolInfo>>,
    /// Indices of the tools that the filter lets through.
    shown: Vec<usize>,
    list: List,
    pager: Pager,
    filter: Option<Input>,
    query: String,
    form: Option<(ToolId, FormView)>,
}

impl Tools {
    /// Knows none yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn chosen(&self) -> Option<&ToolInfo> {
        self.shown.get(self.list.selected()).and_then(|index| self.known.get(*index))
    }

    fn sift(&mut self) {
        let kept = self.chosen().map(|info| info.id().clone());
        let words: Vec<String> = self.query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let fits = |info: &ToolInfo| {
            let text = format!("{} {}", info.spec.id, info.spec.description).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.shown = (0..self.known.len()).filter(|index| fits(&self.known[*index])).collect();
        // Who types a name wants that tool, and not one whose description mentions it. Else the order stays.
        let by_name = |index: &usize| {
            let name = self.known[*index].id().name.to_lowercase();
            let named = words.iter().all(|word| name.contains(word));
            (words.len() != 1 || name != words[0], !named)
        };
        self.shown.sort_by_key(by_name);
        let at = self.shown.iter().position(|index| Some(self.known[*index].id()) == kept.as_ref());
        self.list.select(at.unwrap_or(0));
    }

    fn filter_key(&mut self, key: KeyEvent) -> Outcome {
        let Some(input) = &mut self.filter else { return Outcome::Ignored };
        match key.code {
            KeyCode::Enter => self.filter = None,
            KeyCode::Esc => {
                self.filter = None;
                self.query.clear();
                self.sift();
            }
            KeyCode::Up | KeyCode::Down => {
                self.list.key(key, self.shown.len());
            }
            _ => {
                input.key(key);
                self.query = input.text();
                self.sift();
                self.list.select(0);
            }
        }
        Outcome::Consumed
    }

    fn form_key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        let Some((tool, form)) = &mut self.form else { return Outcome::Ignored };
        match form.key(key, look) {
            FormOutcome::Ignored => return Outcome::Ignored,
            FormOutcome::Consumed => {}
            FormOutcome::Submit(values) => {
                let op = Op::RunTool { tool: tool.clone(), arguments: Value::Object(values) };
                return Outcome::Close(vec![Effect::Op(op)]);
            }
            FormOutcome::Decline | FormOutcome::Cancel => self.form = None,
            FormOutcome::Edit { text, extension } => return Outcome::Emit(vec![Effect::Edit { text, extension }]),
        }
        Outcome::Consumed
    }

    fn list_key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        match key.code {
            KeyCode::Esc if !self.query.is_empty() => {
                self.query.clear();
                self.sift();
            }
            KeyCode::Esc | KeyCode::Char('q') => return Outcome::Close(Vec::new()),
            KeyCode::Char('/') => {
                let mut input = Input::new(Lines::One);
                input.set(&self.query);
                self.filter = Some(input);
            }
            KeyCode::Enter => {
                if let Some(info) = self.chosen() {
                    let form = FormView::new(info.form.clone(), &Map::new(), Purpose::Run);
                    self.form = Some((info.id().clone(), form));
                }
            }
            KeyCode::Char('o' | 'd') => {
                if let Some(info) = self.chosen() {
                    return Outcome::Emit(vec![Effect::Details(Box::new(about::tool(info, look.strings)))]);
                }
            }
            KeyCode::Char('x') => {
                if let Some(info) = self.chosen().filter(|info| !info.grants.is_empty()) {
                    return Outcome::Emit(vec![Effect::Op(Op::Revoke { tool: info.id().clone() })]);
                }
            }
            KeyCode::PageUp | KeyCode::PageDown => {
                self.pager.key(key);
            }
            _ if self.list.key(key, self.shown.len()) => self.pager.to_top(),
            _ => return Outcome::Ignored,
        }
        Outcome::Consumed
    }

    fn row(&self, at: usize, look: &Look<'_>) -> Line {
        let info = &self.known[self.shown[at]];
        let chosen = at == self.list.selected();
        let mut line = Line::of(if chosen { look.glyphs().user } else { " " }, Role::Accent);
        line.push(" ", Role::Text);
        if let Some(server) = &info.spec.id.server {
            line.push(server.as_str(), Role::Dim).push(":", Role::Dim);
        }
        line.push(&info.spec.id.name, if chosen { Role::Accent } else { Role::Text });
        if !info.grants.is_empty() {
            line.push("  ", Role::Dim).push(look.strings.get("layer.granted"), Role::Good);
        }
        line
    }

    fn about(&self, width: u16, look: &Look<'_>) -> Vec<Line> {
        let Some(info) = self.chosen() else { return Vec::new() };
        let (spec, strings) = (&info.spec, look.strings);
        let mut lines = vec![Line::of(&spec.id.to_string(), Role::Tool)];
        if let Some(title) = &spec.title {
            lines.push(Line::of(title, Role::Text));
        }
        let kind = about::does(spec, strings);
        lines.extend(paragraphs(&kind, width).iter().map(|part| Line::of(part, Role::Dim)));
        for grant in &info.grants {
            lines
                .extend(paragraphs(&about::grant(grant, strings), width).iter().map(|part| Line::of(part, Role::Good)));
        }
        lines.push(Line::new());
        lines.extend(paragraphs(&spec.description, width).iter().map(|part| Line::of(part, Role::Text)));
        lines.push(Line::new());
        lines.push(Line::of(strings.get("layer.tool_input"), Role::Heading));
        if info.form.fields.is_empty() {
            lines.push(Line::of(strings.get("layer.tool_no_input"), Role::Dim));
        }
        for field in &info.form.fields {
            let mut line = Line::of(&field.name, Role::Label);
            if field.required {
                line.push(" *", Role::Warning);
            }
            if let Some(text) = &field.description {
                line.push("  ", Role::Dim).push(text, Role::Dim);
            }
            lines.push(line);
        }
        lines
    }

    fn hints(&self, look: &Look<'_>) -> Line {
        if let Some((_, form)) = &self.form {
            return form.hint_line(look);
        }
        let grants = self.chosen().is_some_and(|info| !info.grants.is_empty());
        frame::hints(
            look,
            &[
                ("Esc", "layer.hint_back"),
                ("↑↓", "layer.hint_choose"),
                ("/", "layer.hint_filter"),
                ("Enter", "layer.hint_run_tool"),
                ("d", "layer.hint_schema"),
                (if grants { "x" } else { "" }, "layer.hint_revoke"),
            ],
        )
    }
}

impl Layer for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn learn(&mut self, facts: &Facts) {
        self.known = Arc::clone(&facts.tools);
        self.sift();
    }

    fn key(&mut self, key: KeyEvent, look: &Look<'_>) -> Outcome {
        if self.form.is_some() {
            self.form_key(key, look)
        } else if self.filter.is_some() {
            self.filter_key(key)
        } else if key.modifiers.is_empty() {
            self.list_key(key, look)
        } else {
            Outcome::Ignored
        }
    }

    fn paste(&mut self, text: &str) -> Outcome {
        if let Some((_, form)) = &mut self.form {
            form.paste(text);
        } else if let Some(input) = &mut self.filter {
            input.insert(text);
            self.query = input.text();
            self.sift();
        }
        Outcome::Consumed
    }

    fn edited(&mut self, text: &str) {
        if let Some((_, form)) = &mut self.form {
            form.edited(text);
        }
    }

    fn draw(&mut self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let hints = self.hints(look);
        if let Some((tool, form)) = &mut self.form {
            let title = look.strings.fill("layer.run_title", &[("tool", &tool.to_string())]);
            let title = Line::of(&title, Role::TitleFocused);
            let inside = frame::sheet(area, buffer, look, &title, &Line::new(), &hints);
            return form.draw(inside, buffer, look);
        }
        let title = Line::of(look.strings.get("layer.tools_title"), Role::TitleFocused);
        let count = format!("{}/{}", self.shown.len(), self.known.len());
        let mut inside = frame::sheet(area, buffer, look, &title, &Line::of(&count, Role::Dim), &hints);
        let mut caret = None;
        if self.filter.is_some() || !self.query.is_empty() {
            let row = Rect { height: 1.min(inside.height), ..inside };
            Line::of("/", Role::Accent).draw(row, buffer, look.theme);
            let field = Rect { x: row.x + 1, width: row.width.saturating_sub(1), ..row };
            match &mut self.filter {
                Some(input) => caret = Some(input.draw(field, buffer, look.theme, Role::Text)),
                None => Line::of(&self.query, Role::Dim).draw(field, buffer, look.theme),
            }
            inside = Rect { y: inside.y + 1, height: inside.height.saturating_sub(1), ..inside };
        }
        if self.shown.is_empty() {
            let key = if self.known.is_empty() { "layer.no_tools" } else { "pane.no_match" };
            Line::of(look.strings.get(key), Role::Dim).draw(inside, buffer, look.theme);
            return caret;
        }
        let (list, about) = frame::halves(inside, LIST, self.shown.len());
        let window = self.list.window(self.shown.len(), usize::from(list.height));
        for (y, at) in (list.y..).zip(window.clone()) {
            self.row(at, look).draw(Rect { y, height: 1, ..list }, buffer, look.theme);
        }
        self.list.thumb(Rect { x: list.right(), ..list }, buffer, look, self.shown.len());
        let lines = self.about(about.width.saturating_sub(1), look);
        self.pager.draw(about, buffer, look, &line::rows(&lines, about.width));
        let y = list.y + self.list.selected().saturating_sub(window.start) as u16;
        caret.or(Some(Position::new(list.x, y)))
    }
}
