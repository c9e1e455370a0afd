//! Markdown to rows: reads like a page.
//!
//! [`render`] turns a slice of a document into rows. What surrounds the slice is told by [`Context`], so that blocks rendered one by one give the rows
//! of the whole: gaps, list numbers and link definitions are decided from the source around a block, never from its siblings' layout.
//! Line ends inside a paragraph are kept: models write them on purpose. Raw HTML is shown as text.

mod code;
mod mend;
mod painter;
mod table;

pub use code::{Code, Fence, language};
pub use mend::mend;

use crate::tui::text::glyph::Signs;
use crate::tui::text::highlight::Highlighter;
use crate::tui::text::row::Row;
use crate::tui::theme::Role;
use pulldown_cmark::{BrokenLink, CowStr, Options, Parser};
use std::collections::HashMap;
use std::ops::Range;

/// The extensions that are read.
pub const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// How to lay out.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Columns.
    pub width: u16,
    /// What ordinary text is.
    pub base: Role,
    /// Which signs to draw with.
    pub signs: Signs,
    /// The word for an image, in the user's language.
    pub image: &'a str,
    /// Where code gets its colours; `None` leaves it plain.
    pub colours: Option<&'a Highlighter>,
}

/// What sort of block something is, as far as its neighbours care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A paragraph.
    Paragraph,
    /// A heading.
    Heading,
    /// An item of a list.
    Item,
    /// A code block.
    Code,
    /// A quote.
    Quote,
    /// A table.
    Table,
    /// A horizontal rule.
    Rule,
    /// Raw HTML.
    Html,
}

/// Where a slice stands in its document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The block before it; `None` at the beginning, and where the slice goes on in the middle of a block.
    pub before: Option<Class>,
    /// The number of its first list item, where that is not what the source says.
    pub number: Option<u64>,
    /// Link definitions of the whole document.
    pub definitions: Option<&'a Definitions>,
}

/// What came of a slice.
#[derive(Debug, Default)]
pub struct Rendered {
    /// Its rows.
    pub rows: Vec<Row>,
    /// Some code in it waits for its colours.
    pub making_colours: bool,
    /// It may be cut before its last row.
    pub cuttable: bool,
}

/// Link reference definitions by label.
#[derive(Debug, Clone, Default)]
pub struct Definitions(HashMap<String, (String, String)>);

impl Definitions {
    /// Remembers a definition; the first of a label holds.
    pub fn add(&mut self, label: &str, target: &str, title: &str) {
        self.0.entry(normal(label)).or_insert_with(|| (target.to_owned(), title.to_owned()));
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, label: &str) -> Option<&(String, String)> {
        self.0.get(&normal(label))
    }
}

/// Labels match by case-folded text with white space collapsed (CommonMark 0.31, "link label").
fn normal(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    for word in label.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

/// Renders `document[range]`, which must begin at the beginning of a line or in the middle of a paragraph.
pub fn render(document: &str, range: Range<usize>, context: Context<'_>, setting: &Setting<'_>) -> Rendered {
    let slice = &document[range.clone()];
    render_as(slice, document, range, context, setting)
}

/// Renders `shown`, which stands for `document[range]` but may be longer or shorter at its end (see [`mend()`]).
pub fn render_as<'a>(
    shown: &str,
    document: &'a str,
    range: Range<usize>,
    context: Context<'a>,
    setting: &'a Setting<'a>,
) -> Rendered {
    let definitions = context.definitions;
    let resolve = move |link: BrokenLink<'_>| {
        definitions
            .and_then(|d| d.get(&link.reference))
            .map(|(target, title)| (CowStr::from(target.clone()), CowStr::from(title.clone())))
    };
    let parser = Parser::new_with_broken_link_callback(shown, OPTIONS, Some(resolve));
    let mut painter = painter::Painter::new(setting, document, range, context);
    for (event, at) in parser.into_offset_iter() {
        painter.event(event, at);
    }
    painter.end()
}

/// Rows between two neighbouring blocks.
fn gap(before: Option<Class>, class: Class, blank: bool, nested: bool) -> usize {
    match (before, class) {
        (None, _) => 0,
        (Some(Class::Item | Class::Paragraph), Class::Item) => usize::from(blank),
        _ if nested => usize::from(blank),
        _ => 1,
    }
}

/// Where the line of this offset begins.
pub fn line_start(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1)
}

/// Whether the line before this offset's line is blank, quote marks aside.
fn blank_before(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    if start == 0 {
        return false;
    }
    let line = &text[line_start(text, start - 1)..start - 1];
    line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'>'))
}

#[cfg(test)]
mod tests;
