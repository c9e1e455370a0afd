//! One JSON object while it is being written: its thought and its answer are told as they arrive, the rest is gathered.
//!
//! The object is *ours* once a member's name leaves no doubt; as long as there is doubt nothing is told. A first member that the protocol does not
//! know makes it *foreign*: data, which is text. A quotation mark inside a text that was not escaped is text, where nothing follows that makes sense
//! behind the end. **Invariant:** every byte is looked at a fixed number of times.

use super::meaning::{Certainty, Member, Members, member};
use crate::dialect::balance::Balance;
use crate::dialect::voice::Kind;
use std::mem::take;

/// Longest name of a member, in bytes.
const MAX_NAME: usize = 64;

/// What the object tells while it arrives, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told<'a> {
    /// A text begins, so many bytes into the object.
    Begin(usize),
    /// More of it.
    Text(Kind, &'a str),
    /// The tool is known, by the name that was written.
    Tool(&'a str),
}

/// Whether the object goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is not complete.
    More,
    /// Its last bracket was reached, so many bytes into the piece of text that was given.
    Complete,
    /// It is not ours: it is text.
    Foreign,
}

#[derive(Debug)]
enum Phase {
    /// Before a member's name, a comma, or the end.
    Members,
    /// In a name that began here.
    Name(usize),
    /// Behind a name.
    Colon,
    /// Before a value.
    Value,
    /// In a text that is told.
    Speak(Kind),
    /// Behind a quotation mark that stands here and may end the text.
    Closing(Kind, usize),
    /// The same, behind a comma too.
    Comma(Kind, usize),
    /// In a string that began here; whether a backslash was last.
    Quoted(usize, Slash),
    /// In brackets that began here.
    Nested(usize, Balance),
    /// In a number or a word that began here.
    Literal(usize),
    /// It is no JSON: only its end is looked for.
    Broken(Balance),
    /// Complete.
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slash {
    Before,
    Not,
}

/// The object so far.
#[derive(Debug)]
pub struct Object {
    raw: String,
    at: usize,
    phase: Phase,
    key: String,
    members: Members,
    sure: bool,
    named: bool,
    broken: bool,
    work: u64,
}

impl Object {
    /// Begins with its first bracket.
    pub fn new() -> Self {
        Self {
            raw: "{".to_owned(),
            at: 1,
            phase: Phase::Members,
            key: String::new(),
            members: Members::default(),
            sure: false,
            named: false,
            broken: false,
            work: 0,
        }
    }

    /// Everything so far.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Bytes that belong to it.
    pub fn size(&self) -> usize {
        if matches!(self.phase, Phase::Done) { self.at } else { self.raw.len() }
    }

    /// Its members, so far.
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Whether it cannot be read as JSON.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Whether it is ours beyond doubt.
    pub fn is_sure(&self) -> bool {
        self.sure
    }

    /// Whether a text is being told.
    pub fn is_speaking(&self) -> bool {
        matches!(self.phase, Phase::Speak(_) | Phase::Closing(..) | Phase::Comma(..))
    }

    /// Bytes looked at so far, each time they were.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Takes the next piece of text.
    pub fn push(&mut self, text: &str, told: &mut dyn FnMut(Told<'_>)) -> Progress {
        self.raw.push_str(text);
        self.work += 2 * text.len() as u64;
        loop {
            let before = (self.at, std::mem::discriminant(&self.phase));
            match self.step(told) {
                Progress::More => {}
                end => return end,
            }
            if before == (self.at, std::mem::discriminant(&self.phase)) {
                return Progress::More;
            }
        }
    }

    /// The reply is over. Whether everything that was begun is whole, but for the last bracket.
    pub fn finish(&mut self) -> bool {
        match self.phase {
            Phase::Speak(kind) | Phase::Closing(kind, _) | Phase::Comma(kind, _) => {
                self.members.answered |= kind == Kind::Answer;
                kind == Kind::Answer
            }
            Phase::Literal(start) => {
                let raw = self.raw[start..].trim().to_owned();
                self.add(raw, &mut |_| {});
                true
            }
            Phase::Members | Phase::Done => true,
            _ => false,
        }
    }

    fn step(&mut self, told: &mut dyn FnMut(Told<'_>)) -> Progress {
        match self.phase {
            Phase::Members => return self.before_name(),
            Phase::Name(start) => return self.in_name(start, told),
            Phase::Colon => match self.skip() {
                Some(b':') => {
                    self.at += 1;
                    self.phase = Phase::Value;
                }
                Some(_) => return self.spoil(),
                None => {}
            },
            Phase::Value => self.before_value(told),
            Phase::Speak(kind) => self.speak(kind, told),
            Phase::Closing(kind, quote) => match self.skip() {
                Some(b'}') => self.spoken(kind),
                Some(b',') => {
                    self.at += 1;
                    self.phase = Phase::Comma(kind, quote);
                }
                Some(_) => self.go_on(kind, quote, told),
                None => {}
            },
            Phase::Comma(kind, quote) => match self.skip() {
                Some(b'"' | b'}') => self.spoken(kind),
                Some(_) => self.go_on(kind, quote, told),
                None => {}
            },
            Phase::Quoted(start, slash) => self.in_string(start, slash, told),
            Phase::Nested(..) => self.in_brackets(told),
            Phase::Literal(start) => {
                match self.raw[self.at..].find(|c: char| matches!(c, ',' | '}') || c.is_whitespace()) {
                    Some(end) => {
                        self.at += end;
                        let raw = self.raw[start..self.at].to_owned();
                        self.add(raw, told);
                    }
                    None => self.at = self.raw.len(),
                }
            }
            Phase::Broken(ref mut balance) => match balance.pass(&self.raw[self.at..]) {
                Some(end) => {
                    self.at += end + 1;
                    self.phase = Phase::Done;
                    return Progress::Complete;
                }
                None => self.at = self.raw.len(),
            },
            Phase::Done => return Progress::Complete,
        }
        Progress::More
    }

    /// The next byte that is no white space.
    fn skip(&mut self) -> Option<u8> {
        let bytes = self.raw.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn before_name(&mut self) -> Progress {
        match self.skip() {
            Some(b',') => self.at += 1,
            Some(b'"') => {
                self.at += 1;
                self.phase = Phase::Name(self.at);
            }
            Some(b'}') => {
                self.at += 1;
                self.phase = Phase::Done;
                return Progress::Complete;
            }
            Some(_) => return self.spoil(),
            None => {}
        }
        Progress::More
    }

    fn in_name(&mut self, start: usize, told: &mut dyn FnMut(Told<'_>)) -> Progress {
        let Some(end) = self.raw[self.at..].find('"') else {
            self.at = self.raw.len();
            return if self.at - start > MAX_NAME { self.spoil() } else { Progress::More };
        };
        self.at += end;
        if self.at - start > MAX_NAME {
            return self.spoil();
        }
        self.key = self.raw[start..self.at].to_owned();
        self.at += 1;
        self.phase = Phase::Colon;
        let (what, certainty) = member(&self.key);
        let first = self.members.tool.is_none() && self.members.arguments.is_none() && self.members.answer.is_none();
        if what == Member::Other && first && !self.sure {
            return Progress::Foreign;
        }
        if certainty == Certainty::Sure {
            self.sure = true;
            self.tell_tool(told);
        }
        Progress::More
    }

    fn before_value(&mut self, told: &mut dyn FnMut(Told<'_>)) {
        let Some(byte) = self.skip() else { return };
        let start = self.at;
        self.phase = match (byte, member(&self.key)) {
            (b'"', (Member::Thought, _)) => Phase::Speak(Kind::Thinking),
            (b'"', (Member::Answer, Certainty::Sure)) => Phase::Speak(Kind::Answer),
            (b'"', _) => Phase::Quoted(start, Slash::Not),
            (b'{' | b'[', _) => Phase::Nested(start, Balance::default()),
            _ => Phase::Literal(start),
        };
        if byte == b'"' {
            self.at += 1;
        }
        if matches!(self.phase, Phase::Speak(_)) {
            told(Told::Begin(self.at));
        }
    }

    fn speak(&mut self, kind: Kind, told: &mut dyn FnMut(Told<'_>)) {
        loop {
            let text = &self.raw[self.at..];
            let Some(end) = text.find(['"', '\\']) else {
                if !text.is_empty() {
                    told(Told::Text(kind, text));
                }
                self.at = self.raw.len();
                return;
            };
            if end > 0 {
                told(Told::Text(kind, &text[..end]));
                self.at += end;
            }
            let text = &self.raw[self.at..];
            if text.starts_with('"') {
                self.phase = Phase::Closing(kind, self.at);
                self.at += 1;
                return;
            }
            match escape(text) {
                Some((decoded, length)) => {
                    let mut buffer = [0; 4];
                    match decoded {
                        Some(c) => told(Told::Text(kind, c.encode_utf8(&mut buffer))),
                        None => told(Told::Text(kind, &text[..length])),
                    }
                    self.at += length;
                }
                None => return,
            }
        }
    }

    /// The quotation mark did not end the text.
    fn go_on(&mut self, kind: Kind, quote: usize, told: &mut dyn FnMut(Told<'_>)) {
        told(Told::Text(kind, &self.raw[quote..self.at]));
        self.phase = Phase::Speak(kind);
    }

    fn spoken(&mut self, kind: Kind) {
        self.members.answered |= kind == Kind::Answer;
        self.phase = Phase::Members;
    }

    fn in_string(&mut self, start: usize, slash: Slash, told: &mut dyn FnMut(Told<'_>)) {
        let mut slash = slash;
        while let Some(&byte) = self.raw.as_bytes().get(self.at) {
            self.at += 1;
            match (slash, byte) {
                (Slash::Before, _) => slash = Slash::Not,
                (Slash::Not, b'\\') => slash = Slash::Before,
                (Slash::Not, b'"') => {
                    let raw = self.raw[start..self.at].to_owned();
                    return self.add(raw, told);
                }
                _ => {}
            }
        }
        self.phase = Phase::Quoted(start, slash);
    }

    fn in_brackets(&mut self, told: &mut dyn FnMut(Told<'_>)) {
        let Phase::Nested(start, balance) = &mut self.phase else { return };
        let start = *start;
        match balance.pass(&self.raw[self.at..]) {
            Some(end) => {
                self.at += end + 1;
                let raw = self.raw[start..self.at].to_owned();
                self.add(raw, told);
            }
            None => self.at = self.raw.len(),
        }
    }

    fn add(&mut self, raw: String, told: &mut dyn FnMut(Told<'_>)) {
        let key = take(&mut self.key);
        self.members.add(&key, raw);
        self.phase = Phase::Members;
        self.tell_tool(told);
    }

    fn tell_tool(&mut self, told: &mut dyn FnMut(Told<'_>)) {
        if self.sure
            && !self.named
            && self.members.tool.is_some()
            && let Some(name) = self.members.name()
        {
            self.named = true;
            told(Told::Tool(&name));
        }
    }

    fn spoil(&mut self) -> Progress {
        if !self.sure {
            return Progress::Foreign;
        }
        self.broken = true;
        self.phase = Phase::Broken(Balance::inside());
        Progress::More
    }
}

/// The character of the escape at the beginning of the text (`None`: it is none, and stays as it is) with its length; nothing where more of it must come first.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let c = text[1..].chars().next()?;
    let simple = match c {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '"' | '\\' | '/' => c,
        'u' => return unicode(text),
        other => return Some((None, 1 + other.len_utf8())),
    };
    Some((Some(simple), 2))
}

fn unicode(text: &str) -> Option<(Option<char>, usize)> {
    let code = |from: usize| text.get(from..from + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    if text.len() < 6 {
        let hex = text[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
        return if hex { None } else { Some((None, 2)) };
    }
    let Some(first) = code(2) else { return Some((None, 2)) };
    if !(0xd800..0xdc00).contains(&first) {
        return Some((char::from_u32(first), 6));
    }
    let rest = &text.as_bytes()[6..];
    let begun = rest.iter().take(6).enumerate().all(|(at, byte)| match at {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        _ => byte.is_ascii_hexdigit(),
    });
    if begun && rest.len() < 6 {
        return None;
    }
    let second = if begun { code(8) } else { None };
    let pair = second.filter(|second| (0xdc00..0xe000).contains(second));
    match pair.and_then(|second| char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))) {
        Some(c) => Some((Some(c), 12)),
        None => Some((Some(char::REPLACEMENT_CHARACTER), 6)),
    }
}
