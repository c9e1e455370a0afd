//! Pastes into a terminal without bracketed paste: many characters at once with line ends between them are a paste, not keys.
//!
//! Pure: time is an argument. A line end *inside* a burst is a newline. One at its very end is held for [`HOLD`]: it is Enter when nothing
//! follows and the burst had only one line (fast typing over a slow link arrives in lumps too), else a newline. Once the terminal has shown that
//! it brackets its pastes, bursts are never anything but keys.

use super::Received;
use crossterm::event::{KeyCode, KeyModifiers};
use std::time::{Duration, Instant};

/// Characters that nobody types at once.
const BURST: usize = 8;
/// Reads that follow each other so closely belong to one burst.
const GAP: Duration = Duration::from_millis(5);
/// How long an Enter at the end of a burst waits for what may follow.
pub const HOLD: Duration = Duration::from_millis(10);

/// The guess.
#[derive(Debug, Default)]
pub struct Burst {
    brackets: bool,
    /// Characters of the burst so far.
    run: usize,
    /// The burst had a line end inside.
    lines: bool,
    last: Option<Instant>,
    /// An Enter that waits, until when.
    held: Option<(Received, Instant)>,
}

enum Kind {
    Text(char),
    LineEnd,
    Other,
}

fn kind(event: &Received) -> Kind {
    match event {
        Received::Key(key) => match (key.code, key.modifiers) {
            (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) => Kind::Text(c),
            (KeyCode::Tab, KeyModifiers::NONE) => Kind::Text('\t'),
            (KeyCode::Enter, KeyModifiers::NONE) | (KeyCode::Char('j'), KeyModifiers::CONTROL) => Kind::LineEnd,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

impl Burst {
    /// Takes the events of one read; gives back what they were.
    pub fn take(&mut self, batch: Vec<Received>, now: Instant) -> Vec<Received> {
        self.brackets |= batch.iter().any(|event| matches!(event, Received::Paste(_)));
        if self.brackets {
            let mut out = self.expire();
            out.extend(batch);
            return out;
        }
        if self.last.is_none_or(|last| now.duration_since(last) > GAP) && self.held.is_none() {
            (self.run, self.lines) = (0, false);
        }
        self.last = Some(now);
        self.run += batch.iter().filter(|event| matches!(kind(event), Kind::Text(_))).count();
        let held = self.held.take().map(|(event, _)| event);
        let batch: Vec<Received> = held.into_iter().chain(batch).collect();
        if self.run < BURST { batch } else { self.burst(batch, now) }
    }

    fn burst(&mut self, batch: Vec<Received>, now: Instant) -> Vec<Received> {
        let mut out = Vec::new();
        // The events since the last one that was no text, and the text they would be.
        let (mut keys, mut text) = (Vec::new(), String::new());
        let mut rest = batch.into_iter().peekable();
        while let Some(event) = rest.next() {
            match kind(&event) {
                Kind::Text(c) => text.push(c),
                Kind::LineEnd => match rest.peek().map(kind) {
                    None if !self.lines => {
                        self.held = Some((event, now + HOLD));
                        break;
                    }
                    None | Some(Kind::Text(_) | Kind::LineEnd) => {
                        self.lines = true;
                        text.push('\n');
                    }
                    Some(Kind::Other) => {
                        flush(&mut keys, &mut text, &mut out);
                        out.push(event);
                        continue;
                    }
                },
                Kind::Other => {
                    flush(&mut keys, &mut text, &mut out);
                    out.push(event);
                    continue;
                }
            }
            keys.push(event);
        }
        flush(&mut keys, &mut text, &mut out);
        out
    }

    /// When [`Self::expire`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.held.as_ref().map(|(_, until)| *until)
    }

    /// Nothing followed the held Enter: it was one.
    pub fn expire(&mut self) -> Vec<Received> {
        (self.run, self.lines) = (0, false);
        self.held.take().map(|(event, _)| event).into_iter().collect()
    }
}

fn flush(keys: &mut Vec<Received>, text: &mut String, out: &mut Vec<Received>) {
    if text.contains('\n') {
        keys.clear();
        out.push(Received::Paste(std::mem::take(text)));
    } else {
        text.clear();
        out.append(keys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::input::Parser;

    fn read(bytes: &str) -> Vec<Received> {
        let mut out = Vec::new();
        Parser::default().feed(bytes.as_bytes(), &mut out);
        out
    }

    #[test]
    fn lines_at_once_are_a_paste() {
        let mut burst = Burst::default();
        let out = burst.take(read("first line\rsecond\r"), Instant::now());
        assert_eq!(out, [Received::Paste("first line\nsecond\n".into())]);
    }

    #[test]
    fn one_line_at_once_is_typed_and_sent() {
        let (mut burst, now) = (Burst::default(), Instant::now());
        let out = burst.take(read("all at once\r"), now);
        assert_eq!(out, read("all at once"));
        assert_eq!(burst.deadline(), Some(now + HOLD));
        assert_eq!(burst.expire(), read("\r"));
    }

    #[test]
    fn a_paste_in_two_reads() {
        let (mut burst, now) = (Burst::default(), Instant::now());
        assert_eq!(burst.take(read("all at once\r"), now), read("all at once"));
        let out = burst.take(read("more\r"), now + Duration::from_millis(2));
        assert_eq!(out, [Received::Paste("\nmore\n".into())]);
    }

    #[test]
    fn slow_keys_and_other_keys_pass() {
        let (mut burst, now) = (Burst::default(), Instant::now());
        for (i, c) in "hello you\rx".chars().enumerate() {
            let one = read(&c.to_string());
            assert_eq!(burst.take(one.clone(), now + Duration::from_millis(20 * i as u64)), one);
        }
        let arrows = read("\x1b[A\x1b[B\r\x1b[A");
        assert_eq!(burst.take(arrows.clone(), now + Duration::from_secs(9)), arrows);
    }

    #[test]
    fn a_terminal_with_brackets_needs_no_guess() {
        let mut burst = Burst::default();
        burst.take(read("\x1b[200~x\x1b[201~"), Instant::now());
        assert_eq!(burst.take(read("first line\rsecond\r"), Instant::now()), read("first line\rsecond\r"));
    }
}
