//! Finding where blocks end.

use super::{Block, Blocks, Form, Growth, Opening};
use crate::tui::text::markdown::{Class, Fence, OPTIONS, language, line_start};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

/// As much is parsed at a time.
const WINDOW: usize = 64 * 1024;
/// A part of a fence, in bytes; cut at line ends.
const FENCE_PART: usize = 4 * 1024;
/// A block of lines, in bytes.
const LINES_PART: usize = 2 * 1024;
/// A paragraph of many lines is cut at a line end when it is longer than this.
const PARAGRAPH: usize = 4 * 1024;
/// Any other block, and a line, is cut when it is longer than this.
const LONGEST: usize = 16 * 1024;

/// Blocks smaller than this, in bytes, are sealed together: an index entry costs what a few words do.
pub(super) const GROUP: usize = 256;

/// Whether small blocks at the end wait for others to be sealed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    Small,
    Nothing,
}

/// A top-level block in a window.
struct Found {
    /// What belongs to it begins here: with the first block go the blank lines and definitions before it.
    start: usize,
    /// Its own first line.
    line: usize,
    /// Where it ends by itself.
    end: usize,
    class: Class,
    form: Form,
    fence: Option<Box<str>>,
}

impl Blocks {
    pub(super) fn seal_lines(&mut self, text: &str, growth: Growth) {
        self.open.form = Form::Lines;
        loop {
            let rest = &text[self.sealed..];
            if rest.len() <= LINES_PART {
                break;
            }
            let end = match rest.as_bytes()[..LINES_PART].iter().rposition(|&b| b == b'\n') {
                Some(newline) => newline + 1,
                None => match rest.as_bytes().iter().position(|&b| b == b'\n') {
                    Some(newline) if newline < LONGEST => newline + 1,
                    _ if rest.len() > LONGEST => word_end(rest, LONGEST),
                    _ => break,
                },
            };
            self.seal_to(self.sealed + end, Form::Lines, Class::Paragraph);
            self.open = Opening { form: Form::Lines, joined: true, ..Opening::default() };
        }
        if growth == Growth::Whole && self.sealed < text.len() {
            self.seal_to(text.len(), Form::Lines, Class::Paragraph);
        }
    }

    pub(super) fn seal_markdown(&mut self, text: &str, growth: Growth) {
        while self.sealed < text.len() {
            let progress = match self.open.form {
                Form::Fence(fence) => self.scan_fence(text, growth, fence as usize),
                Form::TableRest(start) => self.scan_table(text, growth, start),
                _ => self.scan_window(text, growth),
            };
            if !progress {
                break;
            }
        }
    }

    /// Looks at the complete lines of the next window. Answers whether more may be sealed.
    fn scan_window(&mut self, text: &str, growth: Growth) -> bool {
        let start = self.sealed;
        let whole = growth == Growth::Whole;
        let complete = if whole { text.len() } else { complete_lines(text, start) };
        let end = window_end(text, start, complete);
        let last = end == complete;
        if end == start || (last && !whole && self.seen == end) {
            // No new line is complete; but a line that does not end must not grow for ever.
            return text.len() - start > LONGEST && self.cut(text, text.len());
        }
        let found = self.top_level(text, start..end);
        let all = last && (whole || found.last().is_some_and(|block| is_settled(block, &text[..end])));
        let finals = if all { found.len() } else { found.len().saturating_sub(1) };
        let open = found.get(finals);
        let hold =
            if (whole && last) || open.is_some_and(|open| open.fence.is_some()) { Hold::Nothing } else { Hold::Small };
        let from = self.seal_finals(text, &found, finals, open.map_or(end, |open| open.start), hold);
        if let Some(held) = found.get(from) {
            self.open.form = held.form;
        }
        let Some(open) = open else {
            // All is final, or there is nothing but blank lines and definitions.
            if self.sealed < end && (whole || !last) {
                self.seal_to(end, Form::Parse, Class::Paragraph);
            }
            self.open.class = found.last().map(|block| block.class);
            self.seen = end;
            return !last;
        };
        if let Some(language) = &open.fence {
            self.begin_fence(text, open.line, language.clone());
            return true;
        }
        self.open = Opening { class: Some(open.class), line: open.line, ..self.open };
        self.seen = if last { end } else { 0 };
        let cut = self.cut(text, end);
        cut || (!last && self.sealed > start)
    }

    /// Seals blocks that are final, small ones together. Answers the first that is not sealed.
    fn seal_finals(&mut self, text: &str, found: &[Found], finals: usize, end: usize, hold: Hold) -> usize {
        let mut from = 0;
        for i in 0..finals {
            let block_end = if i + 1 < finals { found[i + 1].start } else { end };
            if let Some(language) = &found[i].fence {
                if from < i {
                    self.seal_to(found[i].start, found[from].form, found[i - 1].class);
                }
                self.begin_fence(text, found[i].line, language.clone());
                self.seal_fence(text, block_end);
                from = i + 1;
            } else if block_end - self.sealed >= self.group || (hold == Hold::Nothing && i + 1 == finals) {
                self.seal_to(block_end, found[from].form, found[i].class);
                from = i + 1;
            }
        }
        from
    }

    /// The top-level blocks of a window. Items of a list count as such.
    fn top_level(&mut self, text: &str, range: std::ops::Range<usize>) -> Vec<Found> {
        self.parses += 1;
        let window = &text[range.clone()];
        let mut events = Parser::new_ext(window, OPTIONS).into_offset_iter();
        for (label, definition) in events.reference_definitions().iter() {
            self.definitions.add(label, &definition.dest, definition.title.as_deref().unwrap_or_default());
        }
        let mut found: Vec<Found> = Vec::new();
        let mut depth = 0_usize;
        let mut number = None;
        let mut in_list = false;
        for (event, at) in events.by_ref() {
            match &event {
                Event::Start(tag) => {
                    let class = match (depth, tag) {
                        (0, Tag::List(first)) => {
                            in_list = true;
                            number = first.map(|n| n.min(u64::from(u32::MAX)) as u32);
                            // The list goes on from a sealed item: so does its counting.
                            if let (Form::Item(Some(next)), true, Some(_)) = (self.open.form, found.is_empty(), number)
                            {
                                number = Some(next);
                            }
                            None
                        }
                        (0, tag) => {
                            in_list = false;
                            class(tag)
                        }
                        (1, Tag::Item) if in_list => Some(Class::Item),
                        _ => None,
                    };
                    if let Some(class) = class {
                        let form = if class == Class::Item { Form::Item(number) } else { Form::Parse };
                        number = if class == Class::Item { number.map(|n| n.saturating_add(1)) } else { number };
                        let fence = match tag {
                            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => Some(language(info)),
                            _ => None,
                        };
                        let line = range.start + line_start(window, at.start);
                        found.push(Found { start: line, line, end: range.start + at.end, class, form, fence });
                    }
                    depth += 1;
                }
                Event::End(_) => depth -= 1,
                Event::Rule if depth == 0 => {
                    let line = range.start + line_start(window, at.start);
                    let end = range.start + at.end;
                    found.push(Found { start: line, line, end, class: Class::Rule, form: Form::Parse, fence: None });
                }
                _ => {}
            }
        }
        join_definitions(text, &mut found);
        if let Some(first) = found.first_mut() {
            first.start = range.start;
        }
        found
    }

    /// Seals from the last border to `end`.
    fn seal_to(&mut self, end: usize, form: Form, class: Class) {
        self.push(form, class, self.sealed);
        self.sealed = end;
        self.open = Opening::default();
        self.seen = 0;
    }

    /// The open block is a fence from now on, with its opening line here.
    fn begin_fence(&mut self, text: &str, line: usize, language: Box<str>) {
        let indent = text[line..].bytes().take_while(|&b| b == b' ').count();
        let body = line_end(text, line);
        self.fences.push(Fence { language, start: line, body, end: None, indent });
        let form = Form::Fence(self.fences.len() as u32 - 1);
        self.open = Opening { form, class: Some(Class::Code), line: body, ..self.open };
    }

    /// A fence that is closed, or ends with its window: its parts up to `end`.
    fn seal_fence(&mut self, text: &str, end: usize) {
        if let Form::Fence(fence) = self.open.form {
            while self.open.form == Form::Fence(fence) {
                if !self.fence_line(text, fence as usize, end) {
                    break;
                }
            }
            if self.open.form == Form::Fence(fence) {
                self.close_fence(fence as usize, end, end);
            }
        }
        self.sealed = end;
        self.open = Opening::default();
    }

    fn scan_fence(&mut self, text: &str, growth: Growth, fence: usize) -> bool {
        let end = match growth {
            Growth::Whole => text.len(),
            Growth::Open => complete_lines(text, self.open.line.min(text.len())),
        };
        while self.open.line < end {
            if !self.fence_line(text, fence, end) {
                break;
            }
            if self.open.form != Form::Fence(fence as u32) {
                return true;
            }
        }
        if growth == Growth::Whole && self.sealed < text.len() {
            self.close_fence(fence, text.len(), text.len());
        }
        false
    }

    /// Looks at the next line of a fence that ends before `limit`: closes it, seals a part, or goes on.
    fn fence_line(&mut self, text: &str, fence: usize, limit: usize) -> bool {
        let at = self.open.line;
        if at >= limit {
            return false;
        }
        let end = line_end(text, at).min(limit);
        if closes(&text[self.fences[fence].start..], &text[at..end]) {
            // Blank lines behind it go to the next block.
            self.close_fence(fence, at, end);
            return true;
        }
        self.open.line = end;
        if end - self.sealed >= FENCE_PART {
            let joined = self.open.joined;
            self.list.push(Block {
                start: self.sealed as u32,
                form: Form::Fence(fence as u32),
                class: Class::Code,
                joined,
            });
            self.sealed = end;
            self.open.joined = true;
        }
        true
    }

    fn close_fence(&mut self, fence: usize, close: usize, end: usize) {
        self.fences[fence].end = Some(close);
        let parts = self.list.iter().rev().take_while(|block| block.form == Form::Fence(fence as u32)).count();
        if parts > 0 && !self.fences[fence].language.is_empty() {
            let first = self.list.len() - parts;
            self.stale = Some(self.stale.map_or(first, |stale| stale.min(first)));
        }
        self.seal_to(end, Form::Fence(fence as u32), Class::Code);
    }

    /// Rows of a long table go on until a line that is none.
    fn scan_table(&mut self, text: &str, growth: Growth, table: u32) -> bool {
        let mut at = self.sealed.max(self.open.line);
        while let Some(length) = text[at..].find('\n') {
            if is_blank(&text[at..at + length]) || starts_block(&text[at..]) {
                self.seal_to(at, Form::TableRest(table), Class::Table);
                return true;
            }
            at += length + 1;
            if at - self.sealed >= LONGEST {
                self.seal_to(at, Form::TableRest(table), Class::Table);
                self.open = Opening { form: Form::TableRest(table), joined: true, line: at, ..Opening::default() };
                return true;
            }
        }
        self.open.line = at;
        if growth == Growth::Whole {
            self.seal_to(text.len(), Form::TableRest(table), Class::Table);
        }
        false
    }

    /// Cuts the open block, which goes on at least to `end`, where it is too long: at line ends, else at a word's end.
    fn cut(&mut self, text: &str, end: usize) -> bool {
        let class = self.open.class.unwrap_or(Class::Paragraph);
        let limit = if class == Class::Paragraph { PARAGRAPH } else { LONGEST };
        let mut any = false;
        while end - self.sealed > limit {
            let start = self.sealed;
            let rest = &text[start..end];
            let cut = match rest.as_bytes()[..limit].iter().rposition(|&b| b == b'\n') {
                Some(newline) => newline + 1,
                None if rest.len() > LONGEST => word_end(rest, LONGEST),
                None => break,
            };
            any = true;
            self.forced += 1;
            let Opening { form, line, .. } = self.open;
            self.seal_to(start + cut, form, class);
            self.open = Opening { joined: true, class: Some(class), ..Opening::default() };
            if class == Class::Table {
                self.open = Opening { form: Form::TableRest(line as u32), line: self.sealed, ..self.open };
                break;
            }
        }
        any
    }
}

/// Definitions before a block go with it: text that follows one without a blank line cannot be read alike without it.
fn join_definitions(text: &str, found: &mut [Found]) {
    for i in 1..found.len() {
        let between = &text[found[i - 1].end.min(found[i].line)..found[i].line];
        if let Some(offset) = between.find(|c: char| !c.is_whitespace()) {
            found[i].start = line_start(text, found[i].line - between.len() + offset);
        }
    }
}

/// Whether the last block of complete lines is final though nothing follows it yet.
fn is_settled(block: &Found, lines: &str) -> bool {
    // A definition behind it may go on as a paragraph.
    if !lines[block.end.min(lines.len())..].trim().is_empty() {
        return false;
    }
    let blank = lines.trim_end_matches([' ', '\t', '\r']).ends_with("\n\n") || lines.ends_with("\r\n\r\n");
    match block.class {
        Class::Heading | Class::Rule => true,
        Class::Paragraph | Class::Table => blank,
        _ => false,
    }
}

/// The end of the last complete line, if it lies behind `from`. What stands before is not looked at: a line may be endless.
fn complete_lines(text: &str, from: usize) -> usize {
    text.as_bytes()[from..].iter().rposition(|&b| b == b'\n').map_or(from, |newline| from + newline + 1)
}

/// Where the window ends: at a line's end, and not too far.
fn window_end(text: &str, start: usize, complete: usize) -> usize {
    if complete - start <= WINDOW {
        return complete;
    }
    let end = line_start(text, floor(text, start + WINDOW));
    if end > start { end } else { complete.min(line_end(text, start)) }
}

fn class(tag: &Tag<'_>) -> Option<Class> {
    Some(match tag {
        Tag::Paragraph => Class::Paragraph,
        Tag::Heading { .. } => Class::Heading,
        Tag::BlockQuote(_) => Class::Quote,
        Tag::CodeBlock(_) => Class::Code,
        Tag::HtmlBlock => Class::Html,
        Tag::Table(_) => Class::Table,
        _ => return None,
    })
}

/// Whether a line closes the fence that `open` begins with (CommonMark 0.31, 4.5).
fn closes(open: &str, line: &str) -> bool {
    let open = open.trim_start_matches(' ');
    let Some(sign) = open.bytes().next() else { return false };
    let length = open.bytes().take_while(|&b| b == sign).count();
    let spaces = line.bytes().take_while(|&b| b == b' ').count();
    let body = line[spaces..].trim_end_matches(['\n', '\r']);
    let signs = body.bytes().take_while(|&b| b == sign).count();
    spaces < 4 && signs >= length && body[signs..].bytes().all(|b| matches!(b, b' ' | b'\t'))
}

/// Whether a line ends a table: another block begins.
fn starts_block(text: &str) -> bool {
    let line = text.trim_start_matches(' ');
    ["#", ">", "```", "~~~", "- ", "* ", "---", "***"].iter().any(|sign| line.starts_with(sign))
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r'))
}

/// Behind the line end of this offset's line.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// The last word's end at or before `limit`, else a character's.
fn word_end(text: &str, limit: usize) -> usize {
    let limit = floor(text, limit);
    let space = text.as_bytes()[limit / 2..limit].iter().rposition(|&b| b == b' ').map(|at| limit / 2 + at + 1);
    space.unwrap_or(limit)
}

/// The character's border at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
