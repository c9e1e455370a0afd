//! Bytes → [`Received`], incrementally. Pure: time enters as [`Parser::expire`].
//!
//! Sources: ECMA-48 (grammar of control sequences), xterm's ctlseqs (keys, bracketed paste, focus, OSC 11), the kitty keyboard protocol.

use super::{Answer, Received, csi};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

const ESC: u8 = 0x1b;
const PASTE_END: &[u8] = b"\x1b[201~";
/// A control sequence or string longer than this is noise.
const MAX_SEQUENCE: usize = 4096;

/// What the parser is in the middle of, and so how long the loop should wait for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Nothing: every byte has become an event.
    Nothing,
    /// An `Esc` that may be a key of its own, or the start of one with Alt: the user's setting, 50 ms.
    Escape,
    /// A sequence, a character or a paste whose rest must come soon: a second.
    Rest,
}

/// The parser.
#[derive(Debug, Default)]
pub struct Parser {
    buffer: Vec<u8>,
    /// Inside a bracketed paste; the buffer holds its text.
    pasting: bool,
    /// Where the search for the paste's end goes on.
    searched: usize,
}

/// What the front of the buffer is.
enum Front {
    /// So many bytes, and what they mean.
    Event(usize, Option<Received>),
    /// A bracketed paste begins after so many bytes.
    PasteBegins(usize),
    /// The rest is missing.
    Partial,
}

impl Parser {
    /// Takes in bytes as they were read.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Received>) {
        self.buffer.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            if self.pasting {
                self.buffer.drain(..at);
                at = 0;
                if !self.paste_ends(out) {
                    return;
                }
            }
            match front(&self.buffer[at..]) {
                Front::Event(n, event) => {
                    out.extend(event);
                    at += n;
                }
                Front::PasteBegins(n) => {
                    at += n;
                    self.pasting = true;
                    self.searched = 0;
                }
                Front::Partial => break,
            }
        }
        self.buffer.drain(..at);
    }

    /// What is missing.
    pub fn wait(&self) -> Wait {
        match self.buffer.as_slice() {
            [] if !self.pasting => Wait::Nothing,
            _ if self.pasting => Wait::Rest,
            [ESC] | [ESC, ESC | b'[' | b'O' | b']' | b'P' | b'_'] | [ESC, ESC, b'[' | b'O'] => Wait::Escape,
            _ => Wait::Rest,
        }
    }

    /// The time of [`Self::wait`] is over: what is there is all there is.
    pub fn expire(&mut self, out: &mut Vec<Received>) {
        if self.pasting {
            // The end of the paste was lost. What came is not.
            self.pasting = false;
            let text = std::mem::take(&mut self.buffer);
            push_paste(&text, out);
            return;
        }
        let held = std::mem::take(&mut self.buffer);
        match held.as_slice() {
            [ESC] => out.push(plain(KeyCode::Esc)),
            [ESC, ESC] => out.extend([plain(KeyCode::Esc), plain(KeyCode::Esc)]),
            [ESC, ESC, c] => out.extend([plain(KeyCode::Esc), alt(*c)]),
            [ESC, c] if (0x20..0x7f).contains(c) => out.push(alt(*c)),
            // Nothing, or the rest of a sequence never came.
            [] | [ESC, ..] => {}
            // An unfinished character.
            _ => out.push(plain(KeyCode::Char(char::REPLACEMENT_CHARACTER))),
        }
    }

    fn paste_ends(&mut self, out: &mut Vec<Received>) -> bool {
        let from = self.searched.saturating_sub(PASTE_END.len() - 1);
        let found = self.buffer[from..].windows(PASTE_END.len()).position(|w| w == PASTE_END);
        let Some(end) = found.map(|at| from + at) else {
            self.searched = self.buffer.len();
            return false;
        };
        push_paste(&self.buffer[..end], out);
        self.buffer.drain(..end + PASTE_END.len());
        self.pasting = false;
        true
    }
}

fn push_paste(bytes: &[u8], out: &mut Vec<Received>) {
    let text = String::from_utf8_lossy(bytes);
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.into_owned() };
    if !text.is_empty() {
        out.push(Received::Paste(text));
    }
}

fn plain(code: KeyCode) -> Received {
    Received::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn alt(byte: u8) -> Received {
    Received::Key(KeyEvent::new(KeyCode::Char(char::from(byte)), KeyModifiers::ALT))
}

fn front(bytes: &[u8]) -> Front {
    match bytes {
        [] => Front::Partial,
        [ESC, rest @ ..] => escape(rest),
        [byte, ..] if *byte < 0x80 => Front::Event(1, Some(Received::Key(control(*byte)))),
        _ => character(bytes),
    }
}

/// A byte below 0x80 that stands for itself or a control key.
fn control(byte: u8) -> KeyEvent {
    let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    match byte {
        b'\r' => KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE),
        0x7f => KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE),
        0 => ctrl(' '),
        0x1b => KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE),
        0x01..=0x1a => ctrl(char::from(byte + b'a' - 1)),
        0x1c..=0x1f => ctrl(char::from(byte + b'@')),
        _ => KeyEvent::new(KeyCode::Char(char::from(byte)), KeyModifiers::NONE),
    }
}

/// A character of two to four bytes. Bytes that are none become one replacement mark each run, so that nothing vanishes unseen.
fn character(bytes: &[u8]) -> Front {
    let key = |c| Some(plain(KeyCode::Char(c)));
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
        Err(error) => {
            return error.error_len().map_or(Front::Partial, |n| Front::Event(n, key(char::REPLACEMENT_CHARACTER)));
        }
    };
    match valid.chars().next() {
        Some(c) => Front::Event(c.len_utf8(), key(c)),
        None => Front::Partial,
    }
}

/// What follows an `Esc`; lengths count it.
fn escape(rest: &[u8]) -> Front {
    match rest {
        [] | [ESC] => Front::Partial,
        // `Esc Esc [ A`: Alt with a key that has no other way to carry it.
        [ESC, b'[' | b'O', ..] => match escape(&rest[1..]) {
            Front::Event(n, event) => Front::Event(n + 1, event.map(with_alt)),
            Front::PasteBegins(n) => Front::PasteBegins(n + 1),
            Front::Partial => Front::Partial,
        },
        [ESC, ..] => Front::Event(1, Some(plain(KeyCode::Esc))),
        [b'[', rest @ ..] => sequence(rest),
        [b'O', rest @ ..] => single_shift(rest),
        [b']', rest @ ..] => string(b']', rest, u8::is_ascii_digit),
        [b'P', rest @ ..] => string(b'P', rest, |first| first.is_ascii_digit() || b"$>!+".contains(first)),
        [b'_', rest @ ..] => string(b'_', rest, |first| *first == b'G'),
        [byte, ..] if *byte < 0x80 => Front::Event(2, Some(with_alt(Received::Key(control(*byte))))),
        _ => match character(rest) {
            Front::Event(n, event) => Front::Event(n + 1, event.map(with_alt)),
            other => other,
        },
    }
}

fn with_alt(event: Received) -> Received {
    match event {
        Received::Key(mut key) => {
            key.modifiers |= KeyModifiers::ALT;
            Received::Key(key)
        }
        other => other,
    }
}

/// `CSI parameters intermediates final`; lengths count `Esc [`.
fn sequence(rest: &[u8]) -> Front {
    // The Linux console's F1 to F5: `Esc [ [ A`.
    if let [b'[', tail @ ..] = rest {
        return match tail {
            [] => Front::Partial,
            [c @ b'A'..=b'E', ..] => Front::Event(4, Some(plain(KeyCode::F(c - b'A' + 1)))),
            _ => Front::Event(3, None),
        };
    }
    // A mouse report of the oldest kind has three bytes behind its final.
    if rest.first() == Some(&b'M') {
        return if rest.len() < 4 { Front::Partial } else { Front::Event(6, None) };
    }
    let parameters = rest.iter().take_while(|b| (0x30..=0x3f).contains(*b)).count();
    // rxvt ends a shifted key with `$`, which is else an intermediate.
    let private = rest.first().is_some_and(|b| b"<=>?".contains(b));
    if rest.get(parameters) == Some(&b'$') && parameters > 0 && !private {
        return Front::Event(parameters + 3, csi::key(&rest[..parameters], &[], b'$'));
    }
    let intermediates = rest[parameters..].iter().take_while(|b| (0x20..=0x2f).contains(*b)).count();
    let end = parameters + intermediates;
    if end >= MAX_SEQUENCE {
        return Front::Event(MAX_SEQUENCE + 2, None);
    }
    match rest.get(end) {
        None => Front::Partial,
        Some(last @ 0x40..=0x7e) => {
            let (parameters, intermediates) = (&rest[..parameters], &rest[parameters..end]);
            if (parameters, *last) == (b"200", b'~') {
                return Front::PasteBegins(end + 3);
            }
            Front::Event(end + 3, csi::key(parameters, intermediates, *last))
        }
        // Not a sequence: `Alt-[` and then something else, or a broken one, which is swallowed up to here.
        Some(_) if end == 0 => Front::Event(2, Some(alt(b'['))),
        Some(_) => Front::Event(end + 2, None),
    }
}

/// `SS3 modifiers final`; lengths count `Esc O`.
fn single_shift(rest: &[u8]) -> Front {
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    match rest.get(digits) {
        None if digits > 8 => Front::Event(digits + 2, None),
        None => Front::Partial,
        Some(last @ 0x40..=0x7e) => Front::Event(digits + 3, csi::shifted(&rest[..digits], *last)),
        Some(_) if digits == 0 => Front::Event(2, Some(alt(b'O'))),
        Some(_) => Front::Event(digits + 2, None),
    }
}

/// A string up to its terminator, where its first byte is one that a terminal's answer begins with; else it was Alt with that character.
fn string(kind: u8, rest: &[u8], answers: impl Fn(&u8) -> bool) -> Front {
    let Some(first) = rest.first() else { return Front::Partial };
    if !answers(first) {
        return Front::Event(2, Some(alt(kind)));
    }
    let end = rest.iter().take(MAX_SEQUENCE).position(|b| matches!(*b, 0x07 | ESC));
    match end.map(|at| (at, rest[at], rest.get(at + 1))) {
        None if rest.len() >= MAX_SEQUENCE => Front::Event(MAX_SEQUENCE + 2, None),
        None | Some((_, ESC, None)) => Front::Partial,
        Some((at, 0x07, _)) => Front::Event(at + 3, meaning(kind, &rest[..at])),
        Some((at, _, Some(b'\\'))) => Front::Event(at + 4, meaning(kind, &rest[..at])),
        // Cut off by the next sequence.
        Some((at, ..)) => Front::Event(at + 2, None),
    }
}

fn meaning(kind: u8, body: &[u8]) -> Option<Received> {
    let body = std::str::from_utf8(body).ok()?;
    let colour = (kind == b']').then(|| body.strip_prefix("11;")).flatten()?;
    let (r, g, b) = csi::colour(colour)?;
    Some(Received::Answer(Answer::Background(r, g, b)))
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
