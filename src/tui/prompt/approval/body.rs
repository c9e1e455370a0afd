//! The rows of an approval: warnings, what the call would do, why it asks. Laid out once for a width and kept.

use super::words;
use crate::domain::policy::{FileDiff, Preview};
use crate::domain::prompt::Approval;
use crate::strings::Language;
use crate::tui::about;
use crate::tui::look::Look;
use crate::tui::prompt::form::words as form_words;
use crate::tui::prompt::glyph::glyphs;
use crate::tui::prompt::lines::{Break, Lines, Piece};
use crate::tui::text::glyph::Signs;
use crate::tui::text::{Row, diff, sanitize, width};
use crate::tui::theme::{Paint, Role};
use ratatui::style::Modifier;
use serde_json::Value;
use std::rc::Rc;

/// Rows of a value before it is cut, and says so.
const VALUE_ROWS: usize = 4;

/// What the rows depend on besides the approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    columns: u16,
    language: Language,
    ascii: bool,
    /// Widths of characters may change while the program runs.
    epoch: u8,
}

impl Key {
    fn new(columns: u16, look: &Look<'_>) -> Self {
        Self { columns, language: look.strings.language(), ascii: look.ascii, epoch: width::epoch() }
    }
}

type Kept = Option<(Key, Rc<Vec<Row>>)>;

/// The rows as they were laid out last.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies {
    call: Kept,
    rule: Kept,
}

impl Bodies {
    /// The approval is another one.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// The call: what it would do.
    pub(super) fn call(&mut self, approval: &Approval, columns: u16, look: &Look<'_>) -> Rc<Vec<Row>> {
        kept(&mut self.call, Key::new(columns, look), |lines| lay_call(approval, lines, look))
    }

    /// The rule that *always* would store.
    pub(super) fn rule(&mut self, approval: &Approval, columns: u16, look: &Look<'_>) -> Rc<Vec<Row>> {
        kept(&mut self.rule, Key::new(columns, look), |lines| lay_rule(approval, lines, look))
    }
}

fn kept(slot: &mut Kept, key: Key, lay: impl FnOnce(&mut Lines)) -> Rc<Vec<Row>> {
    if let Some((_, rows)) = slot.as_ref().filter(|(known, _)| *known == key) {
        return Rc::clone(rows);
    }
    let mut lines = Lines::new(key.columns);
    lay(&mut lines);
    let rows = Rc::new(lines.finish());
    *slot = Some((key, Rc::clone(&rows)));
    rows
}

fn lay_rule(approval: &Approval, lines: &mut Lines, look: &Look<'_>) {
    let Some(grant) = &approval.check.grant else { return };
    lines.text(look.strings.get("prompt.rule.title"), Role::Text);
    lines.blank();
    let rule = words::rule(grant, look);
    let paint = Role::Value.with(Modifier::BOLD);
    lines.hanging(&[("  ", Paint::default())], &[(&rule, paint)], Break::Words);
    lines.blank();
    let project = look.strings.fill("prompt.rule.project", &[("project", &grant.project)]);
    lines.text(&project, Role::Dim);
    lines.text(look.strings.get("prompt.rule.until"), Role::Dim);
}

fn lay_call(approval: &Approval, lines: &mut Lines, look: &Look<'_>) {
    let g = glyphs(look);
    for (name, error) in &approval.problems {
        let error = form_words::error(error, look);
        let text = if name.is_empty() { error } else { format!("{name}: {error}") };
        marked(lines, g.cross, &text, Role::Bad);
    }
    if words::is_recovered(approval) {
        marked(lines, g.warning, look.strings.get("prompt.call.recovered"), Role::Warning);
    }
    for warning in &approval.check.warnings {
        marked(lines, g.warning, &look.strings.render(warning), Role::Warning);
    }
    if approval.spec.id.server.is_some() {
        let hints = about::hints(&approval.spec.annotations, look.strings);
        lines.text(&look.strings.fill("prompt.call.says", &[("hints", &hints)]), Role::Dim);
    }
    match &approval.check.preview {
        Preview::Arguments => arguments(&approval.call.arguments, lines, look),
        Preview::Diff(change) => file(change, lines, look),
        Preview::Command { command, cwd } => {
            let paint = Role::Value.with(Modifier::BOLD);
            lines.hanging(&[("$ ", Role::Dim.into())], &[(command, paint)], Break::Anywhere);
            lines.text(&look.strings.fill("prompt.call.cwd", &[("cwd", cwd)]), Role::Dim);
        }
        Preview::Impossible { why } => {
            marked(lines, g.cross, why, Role::Bad);
            arguments(&approval.call.arguments, lines, look);
        }
    }
    let why = words::why(&approval.check, look);
    if !why.is_empty() {
        lines.text(&why, Role::Dim);
    }
}

fn marked(lines: &mut Lines, mark: &str, text: &str, role: Role) {
    let prefix = [(mark, role.with(Modifier::BOLD)), (" ", Paint::default())];
    lines.hanging(&prefix, &[(text, role.into())], Break::Words);
}

fn arguments(arguments: &Value, lines: &mut Lines, look: &Look<'_>) {
    let Some(map) = arguments.as_object() else {
        let text = arguments.to_string();
        lines.hanging(&[], &[(text.as_str(), Role::Value.into())], Break::Anywhere);
        return;
    };
    if map.is_empty() {
        lines.text(look.strings.get("prompt.call.no_arguments"), Role::Dim);
    }
    let widest = map.keys().map(|name| width::of(&sanitize::line(name))).max().unwrap_or(0);
    let column = widest.min(24) + 2;
    for (name, value) in map {
        let text = match value {
            Value::String(text) => text.trim_end_matches('\n').to_owned(),
            other => other.to_string(),
        };
        labelled(lines, name, column, &text, look);
    }
}

/// A value beside its name; a long one is cut after some rows, with how much there is of it.
fn labelled(lines: &mut Lines, name: &str, column: u16, text: &str, look: &Look<'_>) {
    let label: Piece<'_> = (name, Role::Label.into());
    let mut all = Lines::new(lines.width());
    // More than can be shown need not be laid out.
    let room = usize::from(lines.width()) * (VALUE_ROWS + 1);
    let head: String = text.chars().take(room).collect();
    all.labelled(label, column, &[(&head, Role::Value.into())], Break::Words);
    let rows = all.finish();
    let whole = head.len() == text.len() && rows.len() <= VALUE_ROWS + 1;
    if whole {
        lines.extend(rows);
        return;
    }
    lines.extend(rows.into_iter().take(VALUE_ROWS));
    let count = text.chars().count().to_string();
    let cut = look.strings.fill("prompt.call.cut", &[("count", &count)]);
    let cut = format!("{} {cut}", glyphs(look).more);
    lines.labelled(("", Paint::default()), column, &[(&cut, Role::Dim.into())], Break::Words);
}

fn file(change: &FileDiff, lines: &mut Lines, look: &Look<'_>) {
    let state = if change.exists { String::new() } else { format!("  {}", look.strings.get("prompt.diff.new")) };
    let changes = format!("  {}", words::changes(change.added, change.removed, look));
    let path: Piece<'_> = (&change.path, Role::Value.with(Modifier::BOLD));
    lines.hanging(&[], &[path, (&state, Role::Accent.into()), (&changes, Role::Dim.into())], Break::Words);
    lines.extend(diff::rows(change, lines.width(), Signs::of(look), look.strings));
}
