//! What the user sent. A long text is folded to its beginning.

use super::{Ctx, Fold, Part, Shown, Sign};
use crate::domain::{Content, UserInput};
use crate::tui::text::blocks::Flow;
use crate::tui::text::row::{Row, RowBuilder};
use crate::tui::text::{measure, sanitize};
use crate::tui::theme::Role;

const TEXT: u16 = 0;
const MORE: u16 = 1;
const ATTACHED: u16 = 2;
/// A text of more lines or bytes than this is folded.
const LONG_LINES: usize = 20;
const LONG_BYTES: usize = 4000;
/// So much of it stays.
const HEAD_LINES: usize = 12;
const HEAD_BYTES: usize = 1200;

/// What the user sent: the text as typed, and what went with it.
#[derive(Debug)]
pub struct User {
    text: String,
    attachments: Vec<Content>,
    /// Bytes that a folded long text shows; `None` for one that is not long.
    head: Option<usize>,
}

impl User {
    pub(super) fn new(input: UserInput) -> Self {
        let text = input.text;
        let long = text.len() > LONG_BYTES || text.lines().count() > LONG_LINES;
        let head = long.then(|| head(&text));
        Self { text, attachments: input.attachments, head }
    }

    /// The text as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Files and resources that went with it.
    pub fn attachments(&self) -> &[Content] {
        &self.attachments
    }

    pub(super) fn is_long(&self) -> bool {
        self.head.is_some()
    }

    pub(super) fn parts<'a>(&'a self, shown: Shown, out: &mut Vec<Part<'a>>) {
        let shown_text = match self.head {
            Some(head) if shown.fold == Fold::Closed => &self.text[..head],
            _ => self.text.trim_end(),
        };
        let sign = if shown_text.is_empty() { None } else { Some(Sign::User) };
        if sign.is_some() {
            out.push(Part {
                inset: 2,
                sign,
                under: Role::User,
                ..Part::text(TEXT, shown_text, Flow::Plain, Role::User)
            });
        }
        if self.is_long() && shown.fold == Fold::Closed {
            out.push(Part { inset: 2, under: Role::User, ..Part::rows(MORE, "") });
        }
        if !self.attachments.is_empty() {
            out.push(Part { inset: 2, under: Role::User, ..Part::rows(ATTACHED, "") });
        }
    }

    pub(super) fn rows(&self, key: u16, ctx: &Ctx<'_>) -> Vec<Row> {
        let glyphs = ctx.signs().glyphs();
        let mut builder = RowBuilder::default();
        if key == MORE {
            let lines = self.text[self.head.unwrap_or(0)..].lines().count().max(1);
            let text = ctx.look.strings.fill("cell.more_lines", &[("n", &lines.to_string())]);
            builder.push_cut(&format!("{} {text}", glyphs.more), ctx.width, "", Role::Dim);
            return vec![builder.finish(0..0)];
        }
        self.attachments
            .iter()
            .map(|content| {
                let (name, size) = match content {
                    Content::Resource { uri, text, blob, .. } => {
                        (uri.clone(), text.as_ref().map(String::len).or(blob.as_ref().map(|blob| blob.bytes)))
                    }
                    Content::ResourceLink { uri, size, .. } => (uri.clone(), size.map(|size| size as usize)),
                    Content::Image { mime, data } | Content::Audio { mime, data } => (mime.clone(), Some(data.bytes)),
                    other => (other.to_plain(), None),
                };
                let size = size.map(|size| format!("{}{}", glyphs.dot, measure::size(size))).unwrap_or_default();
                builder.push("@ ", Role::Marker);
                builder.push_cut(&sanitize::line(&name), ctx.width.saturating_sub(2), glyphs.more, Role::Value);
                builder.push_cut(&size, ctx.width.saturating_sub(builder.width()), "", Role::Dim);
                builder.finish(0..0)
            })
            .collect()
    }
}

/// Where the shown beginning of a long text ends: behind some lines, or in the middle of a long one.
fn head(text: &str) -> usize {
    let lines = text.match_indices('\n').nth(HEAD_LINES - 1).map_or(text.len(), |(at, _)| at);
    let mut end = lines.min(HEAD_BYTES).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}
