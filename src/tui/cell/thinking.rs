//! What the model thought, in Markdown. Among other kinds of entries it says what it is; in a pane of its own it need not.

use super::{Body, Company, Ctx, Fold, Part, Shown, folded_row};
use crate::tui::text::blocks::{Flow, Growth};
use crate::tui::text::row::{Row, RowBuilder};
use crate::tui::theme::Role;
use ratatui::style::Modifier;

const HEAD: u16 = 0;
const TEXT: u16 = 1;
/// A thought up to this many bytes is not worth folding.
const SHORT: usize = 240;

/// What the model thought.
#[derive(Debug, Default)]
pub struct Thinking {
    text: String,
    whole: bool,
}

impl Thinking {
    /// The text so far, as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing follows any more.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn is_long(&self) -> bool {
        self.text.len() > SHORT
    }

    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn finish(&mut self) {
        self.whole = true;
        self.text.shrink_to_fit();
    }

    pub(super) fn parts<'a>(&'a self, shown: Shown, out: &mut Vec<Part<'a>>) {
        // One may be empty: some models give only a signature.
        if self.text.trim_start().is_empty() {
            return;
        }
        let mixed = shown.company == Company::Mixed;
        if mixed || shown.fold == Fold::Closed {
            out.push(Part::rows(HEAD, ""));
        }
        if shown.fold == Fold::Open {
            let growth = if self.whole { Growth::Whole } else { Growth::Open };
            let body = Body::Text { flow: Flow::Markdown, base: Role::Thought, growth, edition: 0 };
            let inset = if mixed { 2 } else { 0 };
            out.push(Part { body, inset, ..Part::rows(TEXT, &self.text) });
        }
    }

    pub(super) fn rows(&self, _key: u16, shown: Shown, ctx: &Ctx<'_>) -> Vec<Row> {
        let sign = ctx.signs().glyphs().thought;
        if shown.fold == Fold::Closed {
            return vec![folded_row(&self.text, sign, Role::Thought, ctx)];
        }
        let word = ctx.look.strings.get(if self.whole { "cell.thought" } else { "cell.thinking" });
        let mut builder = RowBuilder::default();
        let paint = Role::Thought.with(Modifier::BOLD);
        builder.push(sign, paint).push(" ", Role::Text).push_cut(word, ctx.width.saturating_sub(2), "", paint);
        vec![builder.finish(0..0)]
    }
}
