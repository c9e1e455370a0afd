//! Code blocks: a quiet background, the language above, colours when they are ready. Long fences come in parts.

use super::Setting;
use crate::tui::text::highlight::{Colours, Tint};
use crate::tui::text::row::Row;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::{Paint, Role};
use ratatui::style::Modifier;
use std::borrow::Cow;
use std::ops::Range;

/// Columns between the edge of the background and the code.
const INSET: &str = "  ";

/// A piece of code with the bytes of the source it stands for.
pub type Chunk<'a> = (Cow<'a, str>, Range<usize>);

/// A code block, or a part of one.
#[derive(Debug, Default)]
pub struct Code<'a> {
    /// The language as written; shown above unless the part does not begin the block.
    pub label: Option<Box<str>>,
    /// Its code.
    pub chunks: Vec<Chunk<'a>>,
    /// Where it stands.
    pub at: usize,
}

/// A fence of a document, as far as it is known.
#[derive(Debug, Clone)]
pub struct Fence {
    /// The language as written.
    pub language: Box<str>,
    /// Start of the opening line.
    pub start: usize,
    /// Start of the first line of code.
    pub body: usize,
    /// End of the code: start of the closing line, or of what follows. `None` while it is open.
    pub end: Option<usize>,
    /// Spaces before the fence, taken off each line.
    pub indent: usize,
}

impl Fence {
    /// The part of the fence that lies in `range`, and at which byte of the whole code it begins.
    pub fn part<'a>(&self, text: &'a str, range: Range<usize>) -> (Code<'a>, usize) {
        let start = range.start.max(self.body);
        let end = self.end.unwrap_or(range.end).min(range.end).max(start);
        let chunks = if self.indent == 0 {
            vec![(Cow::Borrowed(&text[start..end]), start..end)]
        } else {
            let mut at = start;
            let mut chunks = Vec::new();
            for line in text[start..end].split_inclusive('\n') {
                let cut = line.bytes().take(self.indent).take_while(|&b| b == b' ').count();
                // Only a part's first line can begin in the middle of a line.
                let cut = if at == super::line_start(text, at) { cut } else { 0 };
                chunks.push((Cow::Borrowed(&line[cut..]), at + cut..at + line.len()));
                at += line.len();
            }
            chunks
        };
        let label = (range.start <= self.start).then(|| self.language.clone());
        let at = if label.is_some() { self.start } else { start };
        (Code { label, chunks, at }, start - self.body)
    }

    /// The colours of the whole fence, once it is closed.
    pub fn colours(&self, text: &str, setting: &Setting<'_>) -> Colours {
        match (setting.colours, self.end) {
            (Some(highlighter), Some(end)) if self.indent == 0 => {
                highlighter.colours(&self.language, &text[self.body..end.max(self.body)])
            }
            _ => Colours::Plain,
        }
    }
}

/// The language that an info string names: its first word, without braces and attributes.
pub fn language(info: &str) -> Box<str> {
    let word = info.split([' ', '\t', ',', '{', ':']).find(|part| !part.is_empty()).unwrap_or("");
    word.trim_matches(['.', '}']).into()
}

impl Code<'_> {
    /// The code as one text.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.chunks[..] {
            [(only, _)] => Cow::Borrowed(only),
            chunks => Cow::Owned(chunks.iter().map(|(text, _)| &**text).collect()),
        }
    }

    /// Its rows. `tints` are those of the whole block, of which this part begins at byte `from`.
    pub fn rows(&self, frame: &Frame, tints: &[Tint], from: usize, out: &mut Vec<Row>) {
        let mut frame = frame.clone();
        frame.bare = frame.rest.iter().map(|(text, _)| crate::tui::text::width::of(text)).sum();
        frame.under = Role::CodeBlock;
        for prefix in [&mut frame.first, &mut frame.rest] {
            prefix.push((INSET.into(), Role::CodeBlock.into()));
        }
        // One column stays free at the right, as two do at the left.
        if frame.width > 20 {
            frame.width -= 1;
        }
        if let Some(label) = self.label.as_deref().filter(|label| !label.is_empty()) {
            let span = Span { text: label.into(), paint: Role::Dim.with(Modifier::ITALIC), source: self.at..self.at };
            wrap(&[span], &frame, self.at, out);
            frame.first.clone_from(&frame.rest);
        }
        let prefixes = frame.rest.len();
        for (line, at) in self.lines(tints, from) {
            // What is wrapped goes on below where its line begins.
            let indent = line.iter().flat_map(|span| span.text.chars()).take_while(|&c| c == ' ').count();
            frame.rest.truncate(prefixes);
            frame.rest.push((" ".repeat(indent.min(usize::from(frame.width) / 2)).into(), Role::CodeBlock.into()));
            wrap(&line, &frame, at, out);
            frame.first.clone_from(&frame.rest);
            frame.first.truncate(prefixes);
        }
    }

    /// Its lines as spans, cut where tints change, each with its place.
    fn lines<'t>(&'t self, tints: &'t [Tint], from: usize) -> Vec<(Vec<Span<'t>>, usize)> {
        let mut tints = Cursor::new(tints, from);
        let mut lines = Vec::new();
        let mut line = Vec::new();
        let mut line_at = self.at;
        for (text, source) in &self.chunks {
            let exact = text.len() == source.len();
            let mut at = 0;
            for part in text.split_inclusive('\n') {
                let body = part.trim_end_matches(['\n', '\r']);
                let mut done = 0;
                while done < body.len() {
                    let (len, role) = tints.take(body.len() - done);
                    let start = at + done;
                    let range = if exact { source.start + start..source.start + start + len } else { source.clone() };
                    let paint = Paint::from(role);
                    line.push(Span { text: body[done..done + len].into(), paint, source: range });
                    done += len;
                }
                tints.skip(part.len() - body.len());
                at += part.len();
                if part.ends_with('\n') {
                    lines.push((std::mem::take(&mut line), line_at));
                    line_at = if exact { source.start + at } else { source.end };
                }
            }
        }
        // Spaces of a line that is still to come show nothing.
        if !line.iter().all(|span| span.text.trim().is_empty()) {
            lines.push((line, line_at));
        }
        lines
    }
}

/// Walks over tints by bytes.
struct Cursor<'t> {
    tints: &'t [Tint],
    left: usize,
}

impl<'t> Cursor<'t> {
    fn new(tints: &'t [Tint], from: usize) -> Self {
        let mut cursor = Self { tints, left: tints.first().map_or(0, |tint| tint.len as usize) };
        cursor.skip(from);
        cursor
    }

    /// At most `wanted` bytes of one role.
    fn take(&mut self, wanted: usize) -> (usize, Role) {
        let Some(tint) = self.tints.first() else { return (wanted, Role::CodeBlock) };
        let len = wanted.min(self.left);
        let role = tint.role;
        self.left -= len;
        if self.left == 0 {
            self.tints = &self.tints[1..];
            self.left = self.tints.first().map_or(0, |tint| tint.len as usize);
        }
        (len, role)
    }

    fn skip(&mut self, mut bytes: usize) {
        while bytes > 0 {
            let (taken, _) = self.take(bytes);
            bytes -= taken;
        }
    }
}
