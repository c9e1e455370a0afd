//! What the model said to the user, in Markdown.

use super::{Body, Ctx, Fold, Part, Shown, folded_row};
use crate::tui::text::blocks::{Flow, Growth};
use crate::tui::text::row::Row;
use crate::tui::theme::Role;

/// What the model said to the user, in Markdown.
#[derive(Debug, Default)]
pub struct Answer {
    text: String,
    whole: bool,
}

impl Answer {
    /// The text so far, as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing follows any more.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn finish(&mut self) {
        self.whole = true;
        self.text.shrink_to_fit();
    }

    pub(super) fn parts<'a>(&'a self, shown: Shown, out: &mut Vec<Part<'a>>) {
        if self.text.trim_start().is_empty() {
            return;
        }
        if shown.fold == Fold::Closed {
            out.push(Part::rows(0, ""));
            return;
        }
        let growth = if self.whole { Growth::Whole } else { Growth::Open };
        let body = Body::Text { flow: Flow::Markdown, base: Role::Text, growth, edition: 0 };
        out.push(Part { body, ..Part::rows(1, &self.text) });
    }

    pub(super) fn rows(&self, ctx: &Ctx<'_>) -> Vec<Row> {
        vec![folded_row(&self.text, ctx.signs().glyphs().info, Role::Text, ctx)]
    }
}
