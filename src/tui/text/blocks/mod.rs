//! Where the blocks of a text begin: the unit of layout.
//!
//! Owns an index over a text that may still grow. Among complete lines every top-level Markdown block except the last is final: it is *sealed* and
//! never looked at again. What follows the last sealed block is the *open* block, laid out anew as it grows. List items and parts of long fences are
//! blocks of their own. A block that gets too long to lay out with every delta is cut ([`Blocks::forced`] counts that), so a delta costs what is new.
//! **Invariants:** blocks cover the text without gap or overlap, in order; a sealed block's range never changes.

mod scan;

use crate::tui::text::highlight::Colours;
use crate::tui::text::json;
use crate::tui::text::markdown::{self, Class, Context, Definitions, Fence, Rendered, Setting, mend};
use crate::tui::text::row::Row;
use crate::tui::text::wrap::{Frame, Span, wrap};
use std::ops::Range;

/// A text up to this size, in bytes, is looked through once more when it is whole, if it was cut at rows.
const RECUT: usize = 1024 * 1024;

/// How a text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// As Markdown.
    #[default]
    Markdown,
    /// Line by line, as it is.
    Plain,
    /// Line by line, as pretty-printed JSON.
    Json,
}

/// Whether more will follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// It may grow.
    Open,
    /// It is whole.
    Whole,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Form {
    /// Something to parse by itself.
    #[default]
    Parse,
    /// A list item; its number where the list has numbers.
    Item(Option<u32>),
    /// A part of a fence, by its index.
    Fence(u32),
    /// Rows of the table that begins at this place.
    TableRest(u32),
    /// Lines of a text that is not Markdown.
    Lines,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    start: u32,
    form: Form,
    class: Class,
    /// It goes on where the block before was cut.
    joined: bool,
}

/// An index over a text.
#[derive(Debug, Default)]
pub struct Blocks {
    flow: Flow,
    list: Vec<Block>,
    fences: Vec<Fence>,
    definitions: Definitions,
    /// Blocks smaller than this are sealed together.
    group: usize,
    /// Up to here all is sealed.
    sealed: usize,
    /// How the open block begins.
    open: Opening,
    /// Bytes of complete lines that were looked at without sealing anything.
    seen: usize,
    /// Length of the text at the last update.
    len: usize,
    growth: Option<Growth>,
    forced: usize,
    parses: usize,
    cut_at_rows: bool,
    /// The first block of a fence that was closed since the last update.
    stale: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Opening {
    form: Form,
    class: Option<Class>,
    joined: bool,
    /// Its own first line; of a fence or a table the line to look at next.
    line: usize,
}

impl Blocks {
    /// An empty index of a text with this flow.
    pub fn new(flow: Flow) -> Self {
        Self { flow, group: scan::GROUP, ..Self::default() }
    }

    /// Takes in what the text has become: the same with more at its end. Answers the first sealed block whose rows no longer hold, if there is one: a
    /// long fence was closed and gets its colours, or the text is whole and its link definitions are known.
    pub fn update(&mut self, text: &str, growth: Growth) -> Option<usize> {
        if self.len == text.len() && self.growth == Some(growth) {
            return None;
        }
        let was_whole = self.growth == Some(Growth::Whole);
        // Cut where the rows of one width ended: found anew now that the text is whole, so that any width shows whole paragraphs.
        let recut = growth == Growth::Whole && self.cut_at_rows && text.len() <= RECUT;
        if recut {
            let parses = self.parses;
            *self = Self { parses, group: self.group, ..Self::new(self.flow) };
        }
        self.len = text.len();
        self.growth = Some(growth);
        match self.flow {
            Flow::Markdown => self.seal_markdown(text, growth),
            Flow::Plain | Flow::Json => self.seal_lines(text, growth),
        }
        let stale = self.stale.take();
        let defined = growth == Growth::Whole && !was_whole && !self.definitions.is_empty();
        if defined || recut { Some(0) } else { stale }
    }

    /// How many blocks there are, the open one included.
    pub fn count(&self) -> usize {
        self.list.len() + usize::from(self.sealed < self.len)
    }

    /// Whether this is the open one.
    pub fn is_open(&self, index: usize) -> bool {
        index == self.list.len()
    }

    /// The bytes of a block.
    pub fn range(&self, index: usize) -> Range<usize> {
        let start = |i: usize| self.list.get(i).map_or(self.sealed, |block| block.start as usize);
        if self.is_open(index) { self.sealed..self.len } else { start(index)..start(index + 1) }
    }

    /// The block that holds this byte; the last one for what lies behind.
    pub fn at(&self, offset: usize) -> usize {
        if offset >= self.sealed {
            return if self.sealed < self.len { self.list.len() } else { self.list.len().saturating_sub(1) };
        }
        self.list.partition_point(|block| block.start as usize <= offset).saturating_sub(1)
    }

    /// How often a block was cut because it was too long.
    pub fn forced(&self) -> usize {
        self.forced
    }

    /// How often Markdown was parsed to find blocks.
    pub fn parses(&self) -> usize {
        self.parses
    }

    /// Lays a block out.
    pub fn render(&self, text: &str, index: usize, setting: &Setting<'_>) -> Rendered {
        let range = self.range(index);
        let open = self.is_open(index);
        let (form, joined) = match self.list.get(index) {
            Some(block) => (block.form, block.joined),
            None => (self.open.form, self.open.joined),
        };
        let before = if joined || index == 0 { None } else { self.list.get(index - 1).map(|block| block.class) };
        let context = Context { before, number: None, definitions: Some(&self.definitions) };
        match form {
            Form::Lines => self.lines(text, range, setting),
            Form::Fence(fence) => self.fence(text, range, fence as usize, context, setting),
            Form::TableRest(start) => table_rest(text, range, start as usize, context, setting),
            Form::Parse | Form::Item(_) => {
                let number = if let Form::Item(number) = form { number.map(u64::from) } else { None };
                let context = Context { number, ..context };
                let mended = if open && self.growth == Some(Growth::Open) { mend(&text[range.clone()]) } else { None };
                match mended {
                    Some(shown) => markdown::render_as(&shown, text, range, context, setting),
                    None => markdown::render(text, range, context, setting),
                }
            }
        }
    }

    /// Cuts the open block before this byte, which begins one of its rows: what lies before is sealed as it stands.
    pub fn cut_open(&mut self, at: usize) {
        if at <= self.sealed || at >= self.len {
            return;
        }
        let class = if matches!(self.open.form, Form::Fence(_)) { Class::Code } else { Class::Paragraph };
        let form = if matches!(self.open.form, Form::Fence(_) | Form::Lines) { self.open.form } else { Form::Parse };
        self.push(self.open.form, class, self.sealed);
        self.forced += usize::from(form == Form::Parse);
        self.cut_at_rows |= form == Form::Parse;
        self.sealed = at;
        self.open = Opening { form, joined: true, ..self.open };
        self.seen = 0;
    }

    fn push(&mut self, form: Form, class: Class, start: usize) {
        let joined = self.open.joined;
        self.list.push(Block { start: start as u32, form, class, joined });
    }

    fn fence(
        &self,
        text: &str,
        range: Range<usize>,
        fence: usize,
        context: Context<'_>,
        setting: &Setting<'_>,
    ) -> Rendered {
        let Some(fence) = self.fences.get(fence) else { return Rendered::default() };
        let mut rows = Vec::new();
        if range.start <= fence.start && context.before.is_some() {
            rows.push(Row::blank(fence.start));
        }
        let colours = fence.colours(text, setting);
        let tints = if let Colours::Ready(tints) = &colours { &**tints } else { &[] };
        let (part, from) = fence.part(text, range);
        part.rows(&Frame::plain(setting.width), tints, from, &mut rows);
        let cuttable = rows.len() > 2;
        Rendered { rows, making_colours: colours == Colours::Making, cuttable }
    }

    fn lines(&self, text: &str, range: Range<usize>, setting: &Setting<'_>) -> Rendered {
        let mut rows = Vec::new();
        let frame = Frame::plain(setting.width);
        let mut at = range.start;
        for part in text[range].split_inclusive('\n') {
            let line = part.trim_end_matches(['\n', '\r']);
            let source = at..at + line.len();
            if self.flow == Flow::Json {
                wrap(&json::spans(line, at), &frame, at, &mut rows);
            } else {
                wrap(&[Span { text: line.into(), paint: setting.base.into(), source }], &frame, at, &mut rows);
            }
            at += part.len();
        }
        let cuttable = rows.len() > 2;
        Rendered { rows, making_colours: false, cuttable }
    }
}

/// Rows of a long table, under the head of the whole, which is not shown again.
fn table_rest(text: &str, range: Range<usize>, table: usize, context: Context<'_>, setting: &Setting<'_>) -> Rendered {
    let head_end = text[table..range.start].match_indices('\n').nth(1).map_or(table, |(at, _)| table + at + 1);
    let head = &text[table..head_end];
    let shown = format!("{head}{}", &text[range.clone()]);
    let context = Context { before: None, ..context };
    // Places in the copy are moved back by the length of the head.
    let mut rendered = markdown::render(&shown, 0..shown.len(), context, setting);
    let drop = rendered.rows.iter().take_while(|row| row.source.start < head.len()).count();
    rendered.rows.drain(..drop);
    for row in &mut rendered.rows {
        row.source = row.source.start - head.len() + range.start..row.source.end - head.len() + range.start;
    }
    rendered.cuttable = false;
    rendered
}

#[cfg(test)]
mod tests;
