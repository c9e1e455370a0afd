//! From Markdown events to rows. One pass; what is open stands on stacks.

use super::code::{Code, language};
use super::table::Table;
use super::{Class, Context, Definitions, Rendered, Setting, blank_before, gap, line_start};
use crate::tui::text::glyph::Glyphs;
use crate::tui::text::highlight::Colours;
use crate::tui::text::row::Row;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::{Paint, Role};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::Modifier;
use std::borrow::Cow;
use std::ops::Range;

/// Quotes and lists within each other that are drawn. What lies deeper is drawn at this depth: no page looks like that, and it must not cost the
/// square of its depth.
const DEEPEST: usize = 32;

/// What contains blocks.
enum Holder {
    Quote,
    /// Marker of its first row, until that is drawn; then as many spaces.
    Item {
        marker: Option<(Box<str>, Role)>,
        columns: u16,
    },
}

/// A link that is open.
struct Link {
    target: String,
    /// How many spans of the line stood before it.
    from: usize,
}

pub(super) struct Painter<'s, 'd> {
    setting: &'s Setting<'s>,
    glyphs: &'static Glyphs,
    document: &'s str,
    /// Where the slice begins and ends in the document.
    range: Range<usize>,
    number: Option<u64>,
    definitions: Option<&'s Definitions>,
    rows: Vec<Row>,
    holders: Vec<Holder>,
    /// What is open beyond [`DEEPEST`].
    beyond: usize,
    /// Next number of each open list.
    lists: Vec<Option<u64>>,
    /// The block before, in each open holder and outside of all.
    before: Vec<Option<Class>>,
    line: Vec<Span<'d>>,
    /// Whether text belongs to a block that was begun.
    in_text: bool,
    emphasis: Vec<Modifier>,
    roles: Vec<Role>,
    links: Vec<Link>,
    table: Option<Table<'d>>,
    code: Option<Code<'d>>,
    html: bool,
    making_colours: bool,
    blocks: usize,
    /// The last block outside of all holders.
    last: Option<Class>,
}

impl<'s, 'd> Painter<'s, 'd> {
    pub fn new(setting: &'s Setting<'s>, document: &'s str, range: Range<usize>, context: Context<'s>) -> Self {
        Self {
            setting,
            glyphs: setting.signs.glyphs(),
            document,
            range,
            number: context.number,
            definitions: context.definitions,
            rows: Vec::new(),
            holders: Vec::new(),
            beyond: 0,
            lists: Vec::new(),
            before: vec![context.before],
            line: Vec::new(),
            in_text: false,
            emphasis: Vec::new(),
            roles: vec![setting.base],
            links: Vec::new(),
            table: None,
            code: None,
            html: false,
            making_colours: false,
            blocks: 0,
            last: None,
        }
    }

    pub fn end(mut self) -> Rendered {
        self.flush();
        // Two rows of one paragraph: between paragraphs there is an empty one.
        let both = self.rows.iter().rev().take(2).filter(|row| !row.source.is_empty()).count() == 2;
        let cuttable = both && self.last == Some(Class::Paragraph);
        Rendered { rows: self.rows, making_colours: self.making_colours, cuttable }
    }

    /// A place of the parsed text as a place of the document.
    fn at(&self, offset: usize) -> usize {
        (self.range.start + offset).min(self.range.end)
    }

    fn source(&self, range: &Range<usize>) -> Range<usize> {
        self.at(range.start)..self.at(range.end)
    }

    pub fn event(&mut self, event: Event<'d>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) if self.holders.len() >= DEEPEST => {
                self.beyond += 1;
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) if self.beyond > 0 => self.beyond -= 1,
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.finish(tag, &range),
            Event::Text(text) if self.code.is_some() => {
                let source = self.source(&range);
                if let Some(code) = &mut self.code {
                    code.chunks.push((cow(text), source));
                }
            }
            Event::Html(text) => self.html(text, &range),
            Event::Text(text) => self.text(text, self.paint(), &range),
            Event::Code(text) => {
                let paint = Paint { role: Role::Code, emphasis: self.paint().emphasis };
                self.text(text, paint, &range);
            }
            Event::InlineHtml(text) if is_break(&text) => self.line_break(),
            Event::InlineHtml(text) => self.text(text, Role::Dim.into(), &range),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => self.rule(&range),
            Event::TaskListMarker(done) => self.task(done),
            // Extensions that are not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(text, self.paint(), &range);
            }
        }
    }

    fn start(&mut self, tag: Tag<'d>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => self.open(Class::Paragraph, range),
            Tag::Heading { level, .. } => {
                self.open(Class::Heading, range);
                self.roles.push(Role::Heading);
                self.emphasis.push(match level {
                    HeadingLevel::H1 => Modifier::BOLD | Modifier::UNDERLINED,
                    HeadingLevel::H2 => Modifier::BOLD,
                    _ => Modifier::BOLD | Modifier::ITALIC,
                });
            }
            Tag::BlockQuote(_) => {
                self.open(Class::Quote, range);
                self.in_text = false;
                self.holders.push(Holder::Quote);
                self.before.push(None);
                self.roles.push(Role::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.open(Class::Code, range);
                let info = match kind {
                    CodeBlockKind::Fenced(info) => language(&info),
                    CodeBlockKind::Indented => "".into(),
                };
                self.code = Some(Code {
                    label: Some(info),
                    chunks: Vec::new(),
                    at: line_start(self.document, self.at(range.start)),
                });
            }
            Tag::HtmlBlock => {
                self.open(Class::Html, range);
                self.html = true;
            }
            Tag::List(first) => {
                self.flush();
                let first = if self.holders.is_empty() && self.blocks == 0 {
                    first.map(|n| self.number.unwrap_or(n))
                } else {
                    first
                };
                self.lists.push(first);
            }
            Tag::Item => self.item(range),
            Tag::Table(alignments) => {
                self.open(Class::Table, range);
                self.table = Some(Table { alignments, ..Table::default() });
            }
            Tag::TableHead | Tag::TableRow => {
                let source = self.source(range);
                if let Some(table) = &mut self.table {
                    table.rows.push((Vec::new(), source));
                }
            }
            Tag::TableCell => self.line.clear(),
            inline => self.start_inline(inline, range),
        }
    }

    fn start_inline(&mut self, tag: Tag<'d>, range: &Range<usize>) {
        match tag {
            Tag::Emphasis => self.emphasis.push(Modifier::ITALIC),
            Tag::Strong => self.emphasis.push(Modifier::BOLD),
            Tag::Strikethrough => self.emphasis.push(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, id, .. } => {
                let target = self.target(dest_url, &id);
                self.links.push(Link { target, from: self.line.len() });
                self.roles.push(Role::Link);
            }
            Tag::Image { dest_url, id, .. } => {
                let target = self.target(dest_url, &id);
                self.links.push(Link { target, from: self.line.len() });
                let word = format!("[{} ", self.setting.image);
                self.text(word.into(), Role::Dim.into(), &(range.start..range.start));
                self.roles.push(Role::Dim);
            }
            _ => {}
        }
    }

    fn finish(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph => self.close(),
            TagEnd::Heading(_) => {
                self.close();
                self.roles.pop();
                self.emphasis.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.close();
                self.holders.pop();
                self.before.pop();
                self.roles.pop();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::HtmlBlock => {
                self.close();
                self.html = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => self.end_item(range),
            TagEnd::Table => {
                self.in_text = false;
                if let Some(table) = self.table.take() {
                    let frame = self.frame();
                    table.rows(&frame, self.glyphs, &mut self.rows);
                }
            }
            TagEnd::TableCell => self.end_cell(),
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.emphasis.pop();
            }
            TagEnd::Link => {
                self.roles.pop();
                self.end_link(range);
            }
            TagEnd::Image => {
                self.roles.pop();
                // Without a description the word stands alone.
                let alone = self.links.last().is_some_and(|link| self.line.len() == link.from + 1);
                if let Some(word) = self.line.last_mut().filter(|_| alone) {
                    word.text = word.text.trim_end().to_owned().into();
                }
                self.text("]".into(), Role::Dim.into(), &(range.end..range.end));
                self.end_link(range);
            }
            _ => {}
        }
    }

    /// Begins a block: the gap before it.
    fn open(&mut self, class: Class, range: &Range<usize>) {
        self.flush();
        self.in_text = true;
        if self.holders.is_empty() {
            self.blocks += 1;
            self.last = Some(class);
        }
        let at = self.at(range.start);
        let nested = self.holders.iter().any(|holder| matches!(holder, Holder::Item { .. }));
        let before = self.before.last_mut().and_then(|before| before.replace(class));
        // Not looked at without need: the line may be endless.
        if before.is_some() && gap(before, class, blank_before(self.document, at), nested) > 0 {
            let at = line_start(self.document, at);
            let frame = self.frame();
            let frame = Frame { first: frame.rest.clone(), ..frame };
            if self.holders.iter().any(|holder| matches!(holder, Holder::Quote)) {
                wrap(&[], &frame, at, &mut self.rows);
            } else {
                self.rows.push(Row::blank(at));
            }
        }
    }

    fn close(&mut self) {
        self.flush();
        self.in_text = false;
    }

    fn item(&mut self, range: &Range<usize>) {
        self.open(Class::Item, range);
        self.in_text = false;
        let depth = self.lists.len().max(1) - 1;
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            _ => format!("{} ", self.glyphs.bullets[depth % self.glyphs.bullets.len()]),
        };
        let columns = crate::tui::text::width::of(&marker);
        self.holders.push(Holder::Item { marker: Some((marker.into(), Role::Dim)), columns });
        self.before.push(None);
    }

    fn end_item(&mut self, range: &Range<usize>) {
        self.close();
        // An item without text is still an item.
        if matches!(self.holders.last(), Some(Holder::Item { marker: Some(_), .. })) {
            let frame = self.frame();
            wrap(&[], &frame, self.at(range.start), &mut self.rows);
        }
        self.holders.pop();
        self.before.pop();
    }

    fn task(&mut self, done: bool) {
        let (sign, role) = if done { (self.glyphs.done, Role::Good) } else { (self.glyphs.todo, Role::Dim) };
        if let Some(Holder::Item { marker: marker @ Some(_), columns }) = self.holders.last_mut() {
            let sign = format!("{sign} ");
            *columns = crate::tui::text::width::of(&sign);
            *marker = Some((sign.into(), role));
        }
    }

    fn code_block(&mut self) {
        self.in_text = false;
        let Some(code) = self.code.take() else { return };
        let colours = match (self.setting.colours, code.label.as_deref()) {
            (Some(highlighter), Some(language)) => highlighter.colours(language, &code.text()),
            _ => Colours::Plain,
        };
        self.making_colours |= colours == Colours::Making;
        let tints = if let Colours::Ready(tints) = &colours { &**tints } else { &[] };
        let frame = self.frame();
        code.rows(&frame, tints, 0, &mut self.rows);
    }

    fn end_cell(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some((cells, _)) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            // Line breaks were put into the line as spans of one newline.
            cells.push(line.split(|span| span.text == "\n").map(<[Span<'d>]>::to_vec).collect());
        }
    }

    /// Where a link goes. The first definition of the document holds, whatever the slice says; an inline link has no id.
    fn target(&self, said: CowStr<'d>, id: &str) -> String {
        let defined = self.definitions.filter(|_| !id.is_empty()).and_then(|definitions| definitions.get(id));
        defined.map_or_else(|| said.into_string(), |(target, _)| target.clone())
    }

    /// After a link's text its target, where that says something else.
    fn end_link(&mut self, range: &Range<usize>) {
        let Some(link) = self.links.pop() else { return };
        let said: String = self.line.iter().skip(link.from).map(|span| &*span.text).collect();
        let target = link.target.trim_start_matches("mailto:");
        let same =
            |a: &str| a.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/').to_owned();
        if target.is_empty() || target.starts_with('#') || target.starts_with("data:") || same(&said) == same(target) {
            return;
        }
        self.text(format!(" ({target})").into(), Role::Dim.into(), &(range.end..range.end));
    }

    fn rule(&mut self, range: &Range<usize>) {
        self.open(Class::Rule, range);
        self.in_text = false;
        let frame = self.frame();
        let prefix: u16 = frame.rest.iter().map(|(text, _)| crate::tui::text::width::of(text)).sum();
        let line = self.glyphs.line.repeat(usize::from(frame.width.saturating_sub(prefix)));
        let source = self.source(range);
        wrap(
            &[Span { text: line.into(), paint: Role::Marker.into(), source }],
            &frame,
            self.at(range.start),
            &mut self.rows,
        );
    }

    fn html(&mut self, text: CowStr<'d>, range: &Range<usize>) {
        let start = range.start;
        let body = text.trim_end_matches(['\n', '\r']).to_owned();
        let end = start + body.len();
        self.text(body.into(), Role::Dim.into(), &(start..end));
        if self.html {
            let in_text = self.in_text;
            self.flush();
            self.in_text = in_text;
        }
    }

    fn text(&mut self, text: CowStr<'d>, paint: Paint, range: &Range<usize>) {
        if !self.in_text && self.table.is_none() {
            self.open(Class::Paragraph, range);
        }
        let mut source = self.source(range);
        // Code and escapes: the text stands somewhere inside its range.
        if source.len() != text.len()
            && let Some(found) = self.document.get(source.clone()).and_then(|raw| raw.find(&*text))
        {
            source = source.start + found..source.start + found + text.len();
        }
        self.line.push(Span { text: cow(text), paint, source });
    }

    fn line_break(&mut self) {
        if self.table.is_some() {
            self.line.push(Span { text: "\n".into(), paint: Paint::default(), source: 0..0 });
            return;
        }
        let in_text = self.in_text;
        self.flush();
        self.in_text = in_text;
        // A link may go on in the next line.
        for link in &mut self.links {
            link.from = 0;
        }
    }

    fn flush(&mut self) {
        if self.table.is_some() || self.line.is_empty() {
            return;
        }
        let line = std::mem::take(&mut self.line);
        let at = line.first().map_or(self.range.start, |span| span.source.start);
        let frame = self.frame();
        wrap(&line, &frame, at, &mut self.rows);
    }

    fn paint(&self) -> Paint {
        let role = self.roles.last().copied().unwrap_or_default();
        let emphasis = self.emphasis.iter().fold(Modifier::empty(), |all, one| all | *one);
        Paint { role, emphasis }
    }

    /// The frame of the next row; markers of items are used up.
    fn frame(&mut self) -> Frame {
        let mut frame = Frame::plain(self.setting.width);
        for holder in &mut self.holders {
            match holder {
                Holder::Quote => {
                    let bar: (Box<str>, Paint) = (format!("{} ", self.glyphs.quote).into(), Role::Marker.into());
                    frame.first.push(bar.clone());
                    frame.rest.push(bar);
                }
                Holder::Item { marker, columns } => {
                    let spaces: (Box<str>, Paint) = (" ".repeat(usize::from(*columns)).into(), Role::Text.into());
                    frame.first.push(marker.take().map_or_else(|| spaces.clone(), |(text, role)| (text, role.into())));
                    frame.rest.push(spaces);
                }
            }
        }
        frame
    }
}

fn cow(text: CowStr<'_>) -> Cow<'_, str> {
    match text {
        CowStr::Borrowed(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.into_string()),
    }
}

fn is_break(html: &str) -> bool {
    let name: String = html.chars().filter(char::is_ascii_alphabetic).collect();
    name.eq_ignore_ascii_case("br")
}
