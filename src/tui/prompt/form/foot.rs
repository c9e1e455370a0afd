//! What stands below the fields and is always in sight: help for the focused field, what the form has to say, the buttons.

use super::buttons::{self, Button, Content};
use super::tree::Tree;
use super::{Purpose, words};
use crate::tui::look::Look;
use crate::tui::prompt::glyph::glyphs;
use crate::tui::prompt::lines::{Lines, cut, fit};
use crate::tui::text::{Row, width};
use crate::tui::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// What the form has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Quiet,
    /// So many fields are wrong.
    Bad(usize),
    /// Once more to put away what was typed.
    EscapeAgain,
}

/// Columns kept for the buttons where the status stands beside them.
const BUTTONS: u16 = 38;
const MARGIN: u16 = 2;

/// The lower part of a form at a width.
pub(super) struct Foot {
    purpose: Purpose,
    content: Content,
    help: Vec<Row>,
    /// Rows wanted for help, so that nothing moves when the focus does.
    reserve: u16,
    status: Option<(String, Role)>,
    /// The status does not fit beside the buttons.
    status_above: bool,
}

impl Foot {
    pub(super) fn new(
        tree: &Tree,
        focused: Option<usize>,
        purpose: Purpose,
        status: Status,
        (columns, look): (u16, &Look<'_>),
    ) -> Self {
        let wrap = |text: &str| {
            let mut lines = Lines::new(columns.saturating_sub(MARGIN));
            lines.text(text, Role::Dim);
            lines.finish()
        };
        let fields = tree.entries.iter().filter(|entry| !entry.is_group());
        let texts = fields.map(words::help).filter(|text| !text.is_empty());
        let reserve = texts.map(|text| wrap(&text).len().min(3)).max().unwrap_or(0);
        let text = focused.map(|index| words::help(&tree.entries[index])).filter(|text| !text.is_empty());
        let help = text.map(|text| wrap(&text)).unwrap_or_default();
        let status = status_text(status, purpose, look);
        let status_above = status.as_ref().is_some_and(|(text, _)| BUTTONS + width::of(text) > columns);
        let content = if tree.entries.is_empty() { Content::Nothing } else { Content::Fields };
        let reserve = u16::try_from(reserve.max(help.len())).unwrap_or(u16::MAX);
        Self { purpose, content, reserve, help, status, status_above }
    }

    /// Rows it wants above the buttons.
    pub(super) fn want(&self) -> u16 {
        self.reserve.max(u16::from(self.status_above))
    }

    /// Rows it has something to say in now.
    pub(super) fn need(&self) -> u16 {
        u16::try_from(self.help.len()).unwrap_or(u16::MAX).saturating_add(u16::from(self.status_above))
    }

    /// Draws help into all rows but the last, and the buttons into that; returns where the caret stands, if a button has the focus.
    pub(super) fn draw(
        &self,
        focused: Option<Button>,
        help: Rect,
        bar: Rect,
        buffer: &mut Buffer,
        look: &Look<'_>,
    ) -> Option<Position> {
        self.draw_help(help, buffer, look);
        let (end, caret) = buttons::draw((self.purpose, self.content), focused, bar, buffer, look);
        if let Some((text, role)) = self.status.as_ref().filter(|_| !self.status_above) {
            let x = end + 3;
            let columns = bar.width.saturating_sub(x);
            let row = Row::plain(fit(text, columns, glyphs(look).more), *role);
            row.draw(Rect { x: bar.x + x.min(bar.width), width: columns, ..bar }, buffer, look.theme);
        }
        caret
    }

    fn draw_help(&self, area: Rect, buffer: &mut Buffer, look: &Look<'_>) {
        let margin = MARGIN.min(area.width);
        let area = Rect { x: area.x + margin, width: area.width - margin, ..area };
        let more = glyphs(look).more;
        let mut rows: Vec<Row> = Vec::new();
        if let Some((text, role)) = self.status.as_ref().filter(|_| self.status_above) {
            rows.push(Row::plain(fit(text, area.width, more), *role));
        }
        rows.extend(self.help.iter().cloned());
        let height = usize::from(area.height);
        let cut_off = rows.len() > height;
        for (index, row) in rows.into_iter().take(height).enumerate() {
            let row = if cut_off && index + 1 == height {
                Row::plain(cut(&row.text, area.width, more), Role::Dim)
            } else {
                row
            };
            row.draw(Rect { y: area.y + index as u16, height: 1, ..area }, buffer, look.theme);
        }
    }
}

fn status_text(status: Status, purpose: Purpose, look: &Look<'_>) -> Option<(String, Role)> {
    let strings = look.strings;
    match status {
        Status::Quiet => None,
        Status::Bad(1) => Some((strings.get("form.status.one_bad").to_owned(), Role::Bad)),
        Status::Bad(count) => Some((strings.fill("form.status.bad", &[("count", &count.to_string())]), Role::Bad)),
        Status::EscapeAgain => {
            let edits = purpose == Purpose::Arguments;
            let key = if edits { "form.status.escape_edit" } else { "form.status.escape" };
            Some((strings.get(key).to_owned(), Role::Warning))
        }
    }
}
