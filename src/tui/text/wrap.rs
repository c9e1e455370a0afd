//! Greedy wrapping of styled text into rows.
//!
//! Breaks after spaces and between wide characters (Chinese, Japanese, emoji), never before closing punctuation nor after opening one; a word longer
//! than the row is cut. Spaces at a break are dropped. Text is sanitized here, piece by piece, so that a row knows which bytes of the source it shows.
//! **Invariants:** no row is wider than its frame; every row makes progress.

use crate::tui::text::row::{Fill, Row, Run};
use crate::tui::text::{sanitize, width};
use crate::tui::theme::{Paint, Role};
use std::ops::Range;

/// A stretch of text in one paint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span<'a> {
    /// The text, unsanitized. Holds no line end.
    pub text: std::borrow::Cow<'a, str>,
    /// How it looks.
    pub paint: Paint,
    /// The bytes of the source it stands for. As long as the text: then they match byte by byte.
    pub source: Range<usize>,
}

/// What stands before each row of a paragraph (list markers, quote bars), and how wide the whole may be.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Columns of a whole row, prefix included.
    pub width: u16,
    /// Before the first row. Sanitized.
    pub first: Vec<(Box<str>, Paint)>,
    /// Before the others, as wide as `first`. Sanitized.
    pub rest: Vec<(Box<str>, Paint)>,
    /// What lies under each row.
    pub under: Role,
    /// Columns at the left that it leaves bare.
    pub bare: u16,
}

/// Fewer columns than this beside a prefix, and the prefix is cut.
const LEAST: u16 = 8;

impl Frame {
    /// A frame without prefixes.
    pub fn plain(width: u16) -> Self {
        Self { width, ..Self::default() }
    }

    fn prefix(parts: &[(Box<str>, Paint)], limit: u16) -> (String, Vec<Run>, u16) {
        let (mut text, mut runs, mut columns) = (String::new(), Vec::new(), 0);
        for (part, paint) in parts {
            let wide = width::of(part);
            if columns + wide > limit {
                break;
            }
            columns += wide;
            text.push_str(part);
            runs.push(Run { len: part.len() as u32, paint: *paint });
        }
        (text, runs, columns)
    }
}

/// Wraps one logical line. No text gives one row with the prefix alone, standing at `at`.
pub fn wrap(spans: &[Span<'_>], frame: &Frame, at: usize, out: &mut Vec<Row>) {
    if frame.width == 0 {
        return;
    }
    let mut wrapper = Wrapper::new(frame, at, out);
    for span in spans {
        wrapper.span(span);
    }
    wrapper.end();
}

/// A row in the making, without its prefix.
#[derive(Debug, Default)]
struct Line {
    text: String,
    runs: Vec<Run>,
    columns: u16,
    source: Range<usize>,
}

impl Line {
    fn push(&mut self, text: &str, columns: u16, paint: Paint, source: &Range<usize>) {
        if self.text.is_empty() {
            self.source = source.clone();
        }
        self.text.push_str(text);
        // More spaces than a screen has columns wait for a word to follow them.
        self.columns = self.columns.saturating_add(columns);
        self.source.end = self.source.end.max(source.end);
        match self.runs.last_mut() {
            Some(run) if run.paint == paint => run.len += text.len() as u32,
            _ => self.runs.push(Run { len: text.len() as u32, paint }),
        }
    }
}

/// The latest place where the line may be broken.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Bytes and columns and source end of what stays.
    stays: (usize, u16, usize),
    /// Bytes, columns and source start of what goes on: behind the spaces.
    goes: (usize, u16, usize),
}

struct Wrapper<'o> {
    room: u16,
    under: Fill,
    first: Option<(String, Vec<Run>)>,
    rest: (String, Vec<Run>),
    line: Line,
    spaces: Line,
    mark: Option<Mark>,
    before: char,
    emitted: bool,
    at: usize,
    out: &'o mut Vec<Row>,
    prefix: u16,
}

impl<'o> Wrapper<'o> {
    fn new(frame: &Frame, at: usize, out: &'o mut Vec<Row>) -> Self {
        let limit = frame.width.saturating_sub(LEAST);
        let (first, first_runs, prefix) = Frame::prefix(&frame.first, limit);
        let (rest, rest_runs, _) = Frame::prefix(&frame.rest, limit);
        Self {
            room: frame.width - prefix,
            under: Fill { role: frame.under, from: frame.bare.min(prefix) },
            first: Some((first, first_runs)),
            rest: (rest, rest_runs),
            line: Line::default(),
            spaces: Line::default(),
            mark: None,
            before: ' ',
            emitted: false,
            at,
            out,
            prefix,
        }
    }

    fn span(&mut self, span: &Span<'_>) {
        let exact = span.text.len() == span.source.len();
        let clean = sanitize::is_clean(&span.text);
        let source = |at: usize, len: usize| {
            let start = span.source.start + at;
            if exact { start..start + len } else { span.source.clone() }
        };
        let mut at = 0;
        while at < span.text.len() {
            let rest = &span.text[at..];
            // A word of ASCII goes as a whole; nearly all text is that.
            let word = word(rest.as_bytes(), usize::from(self.room));
            if word > 1 {
                self.piece(&rest[..word], word as u16, span.paint, &source(at, word));
                at += word;
                continue;
            }
            let Some((piece, columns)) = width::pieces(rest).next() else { break };
            let place = source(at, piece.len());
            at += piece.len();
            if clean || sanitize::is_clean(piece) {
                self.piece(piece, columns, span.paint, &place);
            } else if piece == "\t" {
                let column = self.line.columns.saturating_add(self.spaces.columns);
                for _ in 0..4 - column % 4 {
                    self.piece(" ", 1, span.paint, &place);
                }
            } else {
                let shown = sanitize::piece(&span.text, piece);
                for (piece, columns) in width::pieces(&shown) {
                    self.piece(piece, columns, span.paint, &place);
                }
            }
        }
    }

    fn piece(&mut self, piece: &str, columns: u16, paint: Paint, source: &Range<usize>) {
        if piece == " " {
            // At the very start they are indentation; elsewhere they wait for what follows.
            if self.line.text.is_empty() && !self.emitted && self.line.columns + 1 < self.room {
                self.line.push(piece, 1, paint, source);
            } else {
                self.spaces.push(piece, 1, paint, source);
            }
            self.before = ' ';
            return;
        }
        let first = piece.chars().next().unwrap_or(' ');
        if self.spaces.text.is_empty() {
            if !self.line.text.is_empty() && may_break(self.before, first) {
                let here = (self.line.text.len(), self.line.columns);
                self.mark =
                    Some(Mark { stays: (here.0, here.1, self.line.source.end), goes: (here.0, here.1, source.start) });
            }
        } else {
            self.after_spaces(columns, source.start);
        }
        if self.line.columns + columns > self.room {
            self.break_line(columns);
        }
        if columns > self.room {
            // A wide character in a row of one column.
            self.line.push("?", 1, paint, source);
        } else {
            self.line.push(piece, columns, paint, source);
        }
        self.before = piece.chars().last().unwrap_or(' ');
    }

    /// A word follows spaces: they are kept if it fits, else the line ends before them.
    fn after_spaces(&mut self, columns: u16, next: usize) {
        let stays = (self.line.text.len(), self.line.columns, self.line.source.end);
        let spaces = std::mem::take(&mut self.spaces);
        if !self.line.text.is_empty()
            && self.line.columns.saturating_add(spaces.columns).saturating_add(columns) > self.room
        {
            self.emit();
            return;
        }
        if self.line.text.is_empty() && self.emitted {
            return;
        }
        let mut at = 0;
        for run in &spaces.runs {
            let end = at + run.len as usize;
            let room = usize::from(self.room - self.line.columns.min(self.room));
            let kept = run.len.min(room as u32) as usize;
            self.line.push(&spaces.text[at..at + kept], kept as u16, run.paint, &spaces.source);
            at = end;
        }
        self.mark = Some(Mark { stays, goes: (self.line.text.len(), self.line.columns, next) });
    }

    /// The next piece does not fit: end the line at the latest place where it may, or here.
    fn break_line(&mut self, columns: u16) {
        if let Some(mark) = self.mark.take()
            && mark.stays.0 > 0
        {
            let rest = self.split(mark);
            self.emit();
            self.line = rest;
        }
        if self.line.columns + columns > self.room && !self.line.text.is_empty() {
            self.emit();
        }
    }

    fn split(&mut self, mark: Mark) -> Line {
        let mut rest = Line {
            text: self.line.text[mark.goes.0..].to_owned(),
            runs: Vec::new(),
            columns: self.line.columns - mark.goes.1,
            source: mark.goes.2..self.line.source.end.max(mark.goes.2),
        };
        let mut kept = Vec::with_capacity(self.line.runs.len());
        let mut at = 0;
        for run in self.line.runs.drain(..) {
            let end = at + run.len as usize;
            if at < mark.stays.0 {
                kept.push(Run { len: (end.min(mark.stays.0) - at) as u32, paint: run.paint });
            }
            if end > mark.goes.0 {
                rest.runs.push(Run { len: (end - at.max(mark.goes.0)) as u32, paint: run.paint });
            }
            at = end;
        }
        self.line.runs = kept;
        self.line.text.truncate(mark.stays.0);
        self.line.columns = mark.stays.1;
        self.line.source.end = mark.stays.2;
        rest
    }

    fn emit(&mut self) {
        let line = std::mem::take(&mut self.line);
        let source = if line.text.is_empty() { self.at..self.at } else { line.source };
        let (mut text, mut runs) = match self.first.take() {
            Some(first) => first,
            None => (self.rest.0.clone(), self.rest.1.clone()),
        };
        text.push_str(&line.text);
        runs.extend(line.runs);
        self.out.push(Row {
            text: text.into_boxed_str(),
            runs: runs.into_boxed_slice(),
            width: self.prefix + line.columns,
            fill: self.under,
            source,
        });
        self.mark = None;
        self.emitted = true;
    }

    fn end(mut self) {
        // Trailing spaces show nothing; only a line of nothing else keeps its source.
        if self.line.text.is_empty() && self.emitted {
            return;
        }
        self.emit();
    }
}

/// Bytes of the ASCII word at the beginning, `most` of them at most: a word may be as long as the text. Its last letter is left alone where an accent
/// may follow.
fn word(bytes: &[u8], most: usize) -> usize {
    let length = bytes.iter().take(most).take_while(|b| b.is_ascii_graphic()).count();
    if bytes.get(length).is_some_and(|next| !next.is_ascii()) { length.saturating_sub(1) } else { length }
}

/// Whether a line may end between these two characters, neither of which is a space.
fn may_break(before: char, after: char) -> bool {
    (is_wide(before) || is_wide(after)) && !never_starts(after) && !never_ends(before)
}

/// Characters of scripts that are written without spaces, and emoji.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

/// Closing punctuation, small kana and marks of length: these stay with what stands before them.
const NEVER_STARTS: &str = concat!(
    "、。，．・：；？！）］｝〉》」』】〕〗〙〟’”»…‥—～〜％℃°‰",
    "々ーゝゞヽヾぁぃぅぇぉっゃゅょァィゥェォッャュョ",
    ",.!?:;)]}%\"'",
);

/// Opening punctuation: it stays with what follows.
const NEVER_ENDS: &str = "（［｛〈《「『【〔〖〘〝‘“«([{$￥＄#\u{200d}";

fn never_starts(c: char) -> bool {
    NEVER_STARTS.contains(c) || matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

fn never_ends(c: char) -> bool {
    NEVER_ENDS.contains(c)
}

#[cfg(test)]
mod tests;
