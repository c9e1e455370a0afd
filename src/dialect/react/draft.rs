//! An action that is being written: its tool's name, and where its input ends.
//!
//! Forms: `Action: name` with `Action Input: …` on a line below; `name({…})`, `name(key="value")`, `name[text]`, `name {…}` on the
//! action's line; no name, but an object that holds it. An input that is a JSON object ends with its last bracket, so that the stream can be closed
//! there; any other ends before the next marker at the beginning of a line, or with the reply.
//! **Invariant:** every byte is looked at a fixed number of times; a marker inside a JSON string is text.

use super::marker::{LONGEST, Marker, Rest, Sight, sight};
use crate::dialect::balance::Balance;
use crate::dialect::place::{is_fence, may_be_fence};
use std::ops::Range;

/// Whether the action goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is not complete.
    More,
    /// It is; what follows does not belong to it.
    Complete,
}

/// In which form the input was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As a block of its own: JSON, keys and values, or a plain text.
    Block,
    /// In round brackets behind the name.
    Brackets,
    /// In square brackets behind the name.
    Square,
}

#[derive(Debug)]
enum Phase {
    /// In the name, which began here.
    Name(usize),
    /// In brackets behind the name, whose inside began here.
    Brackets(usize, Balance),
    /// In square brackets likewise.
    Square(usize),
    /// Behind the name, on its line.
    Tail,
    /// On a line below the name that began here: the input or its marker is to come.
    Between(usize),
    /// Behind the input's marker.
    Input,
    /// In a JSON object that began here, on a line that began here.
    Json(usize, Balance, usize),
    /// In any other text that began here, on a line that began here.
    Loose(usize, usize),
    /// Complete.
    Done,
}

/// The action so far.
#[derive(Debug)]
pub struct Draft {
    /// Everything behind the action's marker.
    raw: String,
    /// Where the next look begins.
    at: usize,
    phase: Phase,
    name: Range<usize>,
    input: Range<usize>,
    form: Form,
    work: u64,
}

impl Default for Draft {
    fn default() -> Self {
        Self { raw: String::new(), at: 0, phase: Phase::Name(0), name: 0..0, input: 0..0, form: Form::Block, work: 0 }
    }
}

impl Draft {
    /// Everything so far, without the marker.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The name, once it is certain; empty where an object holds it.
    pub fn name(&self) -> Option<&str> {
        (!matches!(self.phase, Phase::Name(_))).then(|| plain(&self.raw[self.name.clone()]))
    }

    /// What there is of the name while it is not certain.
    pub fn begun_name(&self) -> &str {
        match self.phase {
            Phase::Name(start) => plain(self.raw[start..].lines().next().unwrap_or_default()),
            _ => plain(&self.raw[self.name.clone()]),
        }
    }

    /// The input as it was written, and its form. Whole only when the action is.
    pub fn input(&self) -> (&str, Form) {
        (&self.raw[self.input.clone()], self.form)
    }

    /// Bytes written behind the marker, as far as they belong to the action.
    pub fn size(&self) -> usize {
        if matches!(self.phase, Phase::Done) { self.input.end.max(self.name.end) } else { self.raw.len() }
    }

    /// Bytes looked at so far, each time they were.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Takes the next piece of text.
    pub fn push(&mut self, text: &str) -> Progress {
        self.raw.push_str(text);
        self.work += text.len() as u64;
        self.go(Rest::ToCome)
    }

    /// The reply is over. Whether the action was complete by then, as far as it can be without an end of its own.
    pub fn finish(&mut self) -> Progress {
        if self.go(Rest::Gone) == Progress::Complete {
            return Progress::Complete;
        }
        let end = self.raw.len();
        match self.phase {
            Phase::Name(start) if matches!(sight(&self.raw[start..], Rest::Gone), Sight::Found(..)) => {
                self.name = start..start;
            }
            Phase::Name(start) => self.name = start..end,
            Phase::Loose(start, line) | Phase::Json(start, _, line) => {
                self.input = start..if line > start { self.before_marker(line, end) } else { end };
            }
            Phase::Brackets(..) | Phase::Square(_) => {
                self.input = self.name.end..end;
                self.form = Form::Block;
                return Progress::More;
            }
            Phase::Tail | Phase::Between(_) | Phase::Input | Phase::Done => {}
        }
        let whole = !matches!(self.phase, Phase::Json(..));
        self.phase = Phase::Done;
        if whole { Progress::Complete } else { Progress::More }
    }

    fn go(&mut self, rest: Rest) -> Progress {
        loop {
            let before = (self.at, std::mem::discriminant(&self.phase));
            let progress = match self.phase {
                Phase::Name(start) => self.in_name(start),
                Phase::Brackets(..) => self.in_brackets(),
                Phase::Square(start) => self.in_square(start),
                Phase::Tail => self.in_tail(),
                Phase::Between(line) => self.between(line, rest),
                Phase::Input => self.before_input(),
                Phase::Json(..) => self.in_json(),
                Phase::Loose(start, line) => self.in_loose(start, line, rest),
                Phase::Done => return Progress::Complete,
            };
            if progress == Progress::Complete {
                self.phase = Phase::Done;
                return Progress::Complete;
            }
            if before == (self.at, std::mem::discriminant(&self.phase)) || self.at >= self.raw.len() {
                return Progress::More;
            }
        }
    }

    fn in_name(&mut self, start: usize) -> Progress {
        let Some(found) = self.raw[self.at..].find(['\n', '(', '[', '{']) else {
            self.at = self.raw.len();
            return Progress::More;
        };
        let end = self.at + found;
        let mark = self.raw.as_bytes()[end];
        self.at = end + 1;
        let named = !plain(&self.raw[start..end]).is_empty();
        self.name = start..end;
        match mark {
            b'{' => {
                self.at = end;
                self.phase = Phase::Json(end, Balance::default(), self.line_of(end));
            }
            b'(' if named => self.phase = Phase::Brackets(end + 1, Balance::quoting(b'\'')),
            b'[' if named => self.phase = Phase::Square(end + 1),
            b'\n' if is_fence(&self.raw[start..end]) || self.raw[start..end].trim().is_empty() => {
                self.phase = Phase::Name(end + 1);
            }
            b'\n' => self.phase = Phase::Between(end + 1),
            _ => {}
        }
        // A marker where the name belongs: there is none.
        if mark == b'\n' && matches!(sight(&self.raw[start..end], Rest::Gone), Sight::Found(..)) {
            self.name = start..start;
            return Progress::Complete;
        }
        Progress::More
    }

    fn in_brackets(&mut self) -> Progress {
        let Phase::Brackets(start, balance) = &mut self.phase else { return Progress::More };
        let start = *start;
        let Some(end) = balance.pass(&self.raw[self.at..]) else {
            self.at = self.raw.len();
            return Progress::More;
        };
        let end = self.at + end;
        self.at = end + 1;
        if super::input::is_brackets(&self.raw[start..end]) {
            self.input = start..end;
            self.form = Form::Brackets;
            return Progress::Complete;
        }
        // A remark: `get_forecast (weather)`.
        self.phase = Phase::Tail;
        Progress::More
    }

    fn in_square(&mut self, start: usize) -> Progress {
        let Some(end) = self.raw[self.at..].find(']') else {
            self.at = self.raw.len();
            return Progress::More;
        };
        self.input = start..self.at + end;
        self.form = Form::Square;
        Progress::Complete
    }

    fn in_tail(&mut self) -> Progress {
        match self.raw[self.at..].find('\n') {
            Some(end) => {
                self.at += end + 1;
                self.phase = Phase::Between(self.at);
            }
            None => self.at = self.raw.len(),
        }
        Progress::More
    }

    fn between(&mut self, line: usize, rest: Rest) -> Progress {
        let text = &self.raw[line..];
        let (this, whole) = match text.find('\n') {
            Some(end) => (&text[..end], Rest::Gone),
            None => (text, rest),
        };
        self.work += this.len().min(LONGEST) as u64;
        if this.trim_start().starts_with('{') {
            self.at = line + this.len() - this.trim_start().len();
            self.phase = Phase::Json(self.at, Balance::default(), line);
            return Progress::More;
        }
        match sight(this, whole) {
            Sight::Found(Marker::Input, behind) => {
                self.at = line + behind;
                self.phase = Phase::Input;
            }
            Sight::Found(..) => return Progress::Complete,
            Sight::Open => {}
            // Blank lines and the beginning of a fence are passed over; whether it is one shows at its end.
            Sight::Nothing if this.len() < LONGEST && (may_be_fence(this) || this.trim().is_empty()) => {
                if text.len() > this.len() {
                    self.at = line + this.len() + 1;
                    self.phase = Phase::Between(self.at);
                }
            }
            Sight::Nothing => {
                self.at = line;
                self.phase = Phase::Loose(line, line);
            }
        }
        Progress::More
    }

    fn before_input(&mut self) -> Progress {
        let text = &self.raw[self.at..];
        let blank = text.len() - text.trim_start().len();
        let begin = self.at + blank;
        self.at = begin;
        let line = &self.raw[begin..];
        if line.is_empty() {
            return Progress::More;
        }
        if line.starts_with('`') {
            match line.find('\n') {
                Some(end) if is_fence(&line[..end]) => {
                    self.at = begin + end + 1;
                    return Progress::More;
                }
                None if may_be_fence(line) => return Progress::More,
                _ => {}
            }
        }
        self.phase = if line.starts_with('{') {
            Phase::Json(begin, Balance::default(), begin)
        } else {
            Phase::Loose(begin, self.line_of(begin))
        };
        Progress::More
    }

    fn in_json(&mut self) -> Progress {
        let Phase::Json(start, balance, line) = &mut self.phase else { return Progress::More };
        loop {
            // Line by line, so that a marker behind a bracket that is missing ends the input.
            let text = &self.raw[self.at..];
            let end = text.find('\n').map_or(text.len(), |end| end + 1);
            if let Some(closed) = balance.pass(&text[..end]) {
                self.input = *start..self.at + closed + 1;
                self.at = self.input.end;
                return Progress::Complete;
            }
            self.at += end;
            if !text[..end].ends_with('\n') {
                return Progress::More;
            }
            let before = *line;
            // A line that begins inside a string is never a marker.
            *line = if balance.is_quoted() { 0 } else { self.at };
            if !balance.is_quoted()
                && before > *start
                && matches!(sight(&self.raw[before..self.at], Rest::Gone), Sight::Found(..))
            {
                self.input = *start..before;
                return Progress::Complete;
            }
        }
    }

    fn in_loose(&mut self, start: usize, line: usize, rest: Rest) -> Progress {
        let mut line = line;
        loop {
            if line > start && self.at == line {
                let (head, whole) = self.head(line, rest);
                match sight(head, whole) {
                    Sight::Found(..) => {
                        self.input = start..line;
                        return Progress::Complete;
                    }
                    Sight::Open => return Progress::More,
                    Sight::Nothing => self.at += head.len(),
                }
                self.work += LONGEST as u64;
            }
            let Some(end) = self.raw[self.at..].find('\n') else {
                self.at = self.raw.len();
                return Progress::More;
            };
            line = self.at + end + 1;
            self.at = line;
            self.phase = Phase::Loose(start, line);
        }
    }

    /// So much of a line as decides whether it is a marker, and whether more of it may come.
    fn head(&self, line: usize, rest: Rest) -> (&str, Rest) {
        let mut end = self.raw.len().min(line + LONGEST);
        while !self.raw.is_char_boundary(end) {
            end += 1;
        }
        let head = &self.raw[line..end];
        match head.find('\n') {
            Some(end) => (&head[..end], Rest::Gone),
            None => (head, rest),
        }
    }

    fn line_of(&self, at: usize) -> usize {
        self.raw[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// Where the text that ends the reply really ends: before its last line, where that is a marker.
    fn before_marker(&self, line: usize, end: usize) -> usize {
        let last = &self.raw[line.min(end)..end];
        if matches!(sight(last, Rest::Gone), Sight::Found(..)) { line } else { end }
    }
}

/// A name without what models put around it.
fn plain(name: &str) -> &str {
    name.trim().trim_matches(['`', '*', '"', '\'', ' ', '.', ',', ':', '：'])
}
