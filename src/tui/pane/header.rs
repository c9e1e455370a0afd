//! The line at the top: what is spoken to, where, with which servers, how full, and what waits.
//!
//! It says less where there is less room, in a fixed order; what waits and what failed is said last of all to go.

use crate::tui::facts::{Facts, ServerCount};
use crate::tui::look::Look;
use crate::tui::theme::Role;
use crate::tui::widget::Line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// Everything.
    All,
    /// Only the last part of the directory's name.
    ShortPath,
    /// Without the program's name and idle servers.
    Less,
    /// Without the directory.
    NoPath,
    /// Without the dialect and servers that are well.
    Little,
    /// The model, and what needs the user.
    Least,
}

const DETAILS: [Detail; 6] =
    [Detail::All, Detail::ShortPath, Detail::Less, Detail::NoPath, Detail::Little, Detail::Least];

/// Draws the header.
pub fn draw(area: Rect, buffer: &mut Buffer, look: &Look<'_>, facts: &Facts, waits: usize) {
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    for detail in DETAILS {
        let (left, right) = (left(look, facts, detail), right(look, facts, waits, detail));
        let gap = if right.is_empty() { 0 } else { 2 };
        if left.width() + gap + right.width() > area.width && detail != Detail::Least {
            continue;
        }
        let used = right.draw_right(area, buffer, look.theme);
        left.draw(Rect { width: area.width.saturating_sub(used + gap), ..area }, buffer, look.theme);
        return;
    }
}

fn dot(line: &mut Line, look: &Look<'_>) {
    if !line.is_empty() {
        line.push(look.glyphs().dot, Role::Dim);
    }
}

fn left(look: &Look<'_>, facts: &Facts, detail: Detail) -> Line {
    let mut line = Line::new();
    if detail < Detail::Less {
        line.push(look.strings.get("app.name"), Role::Title).push("  ", Role::Dim);
    }
    if facts.model.name.is_empty() {
        line.push(look.strings.get("pane.no_model"), Role::Warning);
    } else {
        line.push(&facts.model.name, Role::Text);
        if let Some(dialect) = facts.model.dialect.filter(|_| detail < Detail::Little) {
            dot(&mut line, look);
            line.push(dialect.name(), Role::Dim);
        }
    }
    if detail < Detail::NoPath && !facts.cwd.is_empty() {
        dot(&mut line, look);
        line.push(&path(facts, detail), Role::Dim);
    }
    line
}

fn path(facts: &Facts, detail: Detail) -> String {
    if detail >= Detail::ShortPath {
        return facts.cwd.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/").to_owned();
    }
    let home = facts.home.trim_end_matches('/');
    match facts.cwd.strip_prefix(home).filter(|_| !home.is_empty()) {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with('/') => format!("~{rest}"),
        _ => facts.cwd.clone(),
    }
}

fn right(look: &Look<'_>, facts: &Facts, waits: usize, detail: Detail) -> Line {
    let mut line = Line::new();
    let count = facts.count();
    servers(&mut line, look, count, detail);
    if let Some(percent) = facts.context_percent().filter(|_| detail < Detail::Least) {
        dot(&mut line, look);
        let key = if detail < Detail::Little { "pane.context" } else { "pane.context_short" };
        let role = if percent >= 80 { Role::Warning } else { Role::Dim };
        line.push(&look.strings.fill(key, &[("percent", &percent.to_string())]), role);
    }
    if waits > 0 {
        dot(&mut line, look);
        line.push(look.glyphs().waiting, Role::Waiting).push(" ", Role::Waiting);
        line.push(&look.strings.fill("pane.waits", &[("count", &waits.to_string())]), Role::Waiting);
    }
    line
}

fn servers(line: &mut Line, look: &Look<'_>, count: ServerCount, detail: Detail) {
    let parts = [
        (count.ready, "pane.servers_ready", Role::Dim, detail < Detail::Little),
        (count.starting, "pane.servers_starting", Role::Running, detail < Detail::Little),
        (count.idle, "pane.servers_idle", Role::Dim, detail < Detail::Less),
        (count.failed, "pane.servers_failed", Role::Bad, true),
    ];
    let mut first = true;
    for (number, key, role, said) in parts {
        if number == 0 || !said {
            continue;
        }
        if first {
            line.push(look.strings.get("pane.servers"), Role::Dim).push(" ", Role::Dim);
        } else {
            line.push(", ", Role::Dim);
        }
        first = false;
        line.push(&look.strings.fill(key, &[("count", &number.to_string())]), role);
    }
}
