//! Server-sent events from bytes, however they are cut. Pure.
//!
//! Owns: the line and the event that are being read. Source: WHATWG HTML, 9.2.6 "Interpreting an event stream".
//! Differs from it in one point: an event beyond the limit is not kept; it is reported, and reading goes on with the next one.
//!
//! **Invariant:** never holds more than the limit and the piece at hand. **Invariant:** any cutting of the same bytes gives the same events.

use std::collections::VecDeque;
use std::time::Duration;

/// Longest pause that `retry:` may ask for.
const LONGEST_RETRY: Duration = Duration::from_secs(3600);
/// Longest name of an event, and longest id, bytes. Longer ones are left out.
const SHORT: usize = 4 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// It carries data.
    Message {
        /// `event:`, empty where there is none.
        name: String,
        /// `data:`, lines joined.
        data: Vec<u8>,
    },
    /// It was longer than the limit.
    TooLarge,
}

/// Reads a stream.
#[derive(Debug)]
pub(super) struct Parser {
    limit: usize,
    line: Vec<u8>,
    /// The line so far is longer than the limit.
    line_over: bool,
    after_cr: bool,
    /// Something was read: a byte order mark can stand before only.
    begun: bool,
    data: Option<Vec<u8>>,
    name: String,
    over: bool,
    next_id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
    out: VecDeque<Event>,
}

impl Parser {
    /// Reads events of at most `limit` bytes. `last_id` is the id that the stream is taken up after.
    pub(super) fn new(limit: usize, last_id: Option<String>) -> Self {
        Self {
            limit,
            line: Vec::new(),
            line_over: false,
            after_cr: false,
            begun: false,
            data: None,
            name: String::new(),
            over: false,
            next_id: last_id.clone(),
            last_id,
            retry: None,
            out: VecDeque::new(),
        }
    }

    /// The id of the last whole event that had one: where the stream can be taken up again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// The pause that the server wants before the stream is taken up again.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The next event that is whole.
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.out.pop_front()
    }

    /// Takes bytes in.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            let room = self.limit.saturating_sub(self.line.len());
            self.line_over |= piece.len() > room;
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            let Some(end) = end else { return };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if std::mem::take(&mut self.line_over) {
            self.over = true;
            self.data = None;
        } else if line.is_empty() {
            self.dispatch();
        } else {
            self.field(&line);
        }
        line.clear();
        line.shrink_to(64 * 1024);
        self.line = line;
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            // A comment: a sign of life.
            Some(0) => return,
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &line[line.len()..]),
        };
        match name {
            b"data" => self.data(value),
            b"event" if value.len() <= SHORT => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if value.len() <= SHORT && !value.contains(&0) => {
                self.next_id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let millis = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX);
                self.retry = Some(Duration::from_millis(millis).min(LONGEST_RETRY));
            }
            _ => {}
        }
    }

    fn data(&mut self, value: &[u8]) {
        if self.over {
            return;
        }
        let data = self.data.get_or_insert_default();
        if data.len() + value.len() + 1 > self.limit {
            self.over = true;
            self.data = None;
            return;
        }
        // The first line may be empty: what tells is whether there was one.
        data.extend_from_slice(value);
        data.push(b'\n');
    }

    fn dispatch(&mut self) {
        self.last_id.clone_from(&self.next_id);
        let name = std::mem::take(&mut self.name);
        let data = self.data.take();
        if std::mem::take(&mut self.over) {
            self.out.push_back(Event::TooLarge);
            return;
        }
        if let Some(mut data) = data {
            data.pop();
            self.out.push_back(Event::Message { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(parser: &mut Parser) -> Vec<Event> {
        std::iter::from_fn(|| parser.pop()).collect()
    }

    fn read(text: &[u8], limit: usize) -> (Vec<String>, Option<String>, Option<u64>) {
        let mut parser = Parser::new(limit, None);
        parser.push(text);
        let shown = all(&mut parser).into_iter().map(|event| match event {
            Event::Message { name, data } => format!("{name}={}", String::from_utf8_lossy(&data)),
            Event::TooLarge => "too large".to_owned(),
        });
        let shown = shown.collect();
        (shown, parser.last_id().map(str::to_owned), parser.retry().map(|retry| retry.as_millis() as u64))
    }

    fn events(text: &str) -> Vec<String> {
        read(text.as_bytes(), 1000).0
    }

    #[test]
    fn fields_line_ends_and_comments() {
        assert_eq!(events("data: a\n\n"), ["=a"]);
        assert_eq!(events("\u{feff}data:a\r\rdata: b\r\n\r\n: hi\nevent: x\ndata: c\n\n"), ["=a", "=b", "x=c"]);
        assert_eq!(events("data: a\ndata:\ndata:  b\n\n"), ["=a\n\n b"]);
        assert_eq!(events("event: lonely\n\ndata: a\n\n"), ["=a"], "a name without data belongs to no event");
        assert_eq!(events("data\n\n"), ["="]);
        assert_eq!(events("data: not finished\n"), [""; 0]);
        assert_eq!(events("unknown: x\ndata : y\nnoise\n\n"), [""; 0]);
    }

    #[test]
    fn ids_count_when_their_event_is_whole_and_retry_at_once() {
        assert_eq!(read(b"id: 1\ndata: a\n\nid: 2\ndata: b\n", 99), (vec!["=a".into()], Some("1".into()), None));
        assert_eq!(read(b"id: 7\nretry: 250\ndata\n\n", 99), (vec!["=".into()], Some("7".into()), Some(250)));
        assert_eq!(read(b"id: 7\n\n", 99), (vec![], Some("7".into()), None), "an id alone is a place, too");
        assert_eq!(read(b"id: 7\n\nid\n\n", 99), (vec![], None, None));
        assert_eq!(read(b"id: a\0b\nretry: soon\nretry: -1\n\n", 99), (vec![], None, None));
        assert_eq!(read(b"retry: 99999999999999999999999\n\n", 99).2, Some(3_600_000));
        let mut parser = Parser::new(99, Some("5".into()));
        parser.push(b"data: x\n\n");
        assert_eq!(parser.last_id(), Some("5"), "taken up again, and cut before the next id");
    }

    #[test]
    fn an_event_beyond_the_limit_is_told_and_not_kept() {
        let long = format!("data: {}\n\ndata: next\n\n", "x".repeat(50));
        assert_eq!(read(long.as_bytes(), 20).0, ["too large", "=next"]);
        let lines = format!("id: 3\n{}\ndata: next\n\n", "data: xxxx\n".repeat(10));
        assert_eq!(read(lines.as_bytes(), 20), (vec!["too large".into(), "=next".into()], Some("3".into()), None));
        let mut parser = Parser::new(20, None);
        for _ in 0..10_000 {
            parser.push(b"data: and on and on and on");
            assert!(parser.line.capacity() <= 64 && parser.data.is_none());
        }
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(
            text in proptest::collection::vec(prop_oneof![
                Just("data: a"), Just("data"), Just("id: 1"), Just("retry: 5"), Just("event: e"), Just(": c"), Just("é"),
                Just("\n"), Just("\r"), Just("\r\n"), Just("\n\n"), Just("data: xxxxxxxxxxxxxxxxxxxxxxxx"),
            ], 0..30),
            cuts in proptest::collection::vec(1..7_usize, 0..200),
        ) {
            let text = text.concat();
            let mut whole = Parser::new(20, None);
            whole.push(text.as_bytes());
            let mut cut = Parser::new(20, None);
            let mut rest = text.as_bytes();
            let mut sizes = cuts.into_iter().chain(std::iter::repeat(1));
            while !rest.is_empty() {
                let (piece, more) = rest.split_at(sizes.next().unwrap().min(rest.len()));
                cut.push(piece);
                rest = more;
            }
            prop_assert_eq!(all(&mut whole), all(&mut cut));
            prop_assert_eq!(whole.last_id(), cut.last_id());
            prop_assert_eq!(whole.retry(), cut.retry());
        }
    }
}
