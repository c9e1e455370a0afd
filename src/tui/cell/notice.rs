//! Something the user should read, standing in the conversation.

use super::Ctx;
use crate::domain::{Level, Notice};
use crate::tui::text::row::Row;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::Role;

/// A notice among the entries.
#[derive(Debug)]
pub struct NoticeCell {
    notice: Notice,
}

impl NoticeCell {
    pub(super) fn new(notice: Notice) -> Self {
        Self { notice }
    }

    /// The notice.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    pub(super) fn rows(&self, ctx: &Ctx<'_>) -> Vec<Row> {
        let glyphs = ctx.signs().glyphs();
        let (sign, role, text) = match self.notice.level {
            Level::Info => (glyphs.info, Role::Dim, Role::Dim),
            Level::Warning => (glyphs.warning, Role::Warning, Role::Text),
            Level::Error => (glyphs.bad, Role::Bad, Role::Text),
        };
        let said = ctx.look.strings.render(&self.notice.text);
        let mut frame = Frame {
            width: ctx.width,
            first: vec![(format!("{sign} ").into(), role.into())],
            rest: vec![("  ".into(), Role::Text.into())],
            ..Frame::default()
        };
        let mut rows = Vec::new();
        for line in said.lines() {
            wrap(&[Span { text: line.into(), paint: text.into(), source: 0..0 }], &frame, 0, &mut rows);
            frame.first.clone_from(&frame.rest);
        }
        rows
    }
}
