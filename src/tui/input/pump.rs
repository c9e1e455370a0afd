//! Parser and paste guess together with the times they wait for. Pure: time is an argument.

use super::{Burst, Parser, Received, Wait};
use std::time::{Duration, Instant};

/// How long the rest of a sequence may take.
const REST: Duration = Duration::from_secs(1);

/// Bytes in, what they were out.
#[derive(Debug)]
pub struct Pump {
    parser: Parser,
    burst: Burst,
    escape: Duration,
    last: Option<Instant>,
}

impl Pump {
    /// A lone `Esc` byte is held so long.
    pub fn new(escape: Duration) -> Self {
        Self { parser: Parser::default(), burst: Burst::default(), escape, last: None }
    }

    /// Takes in bytes that were read at this time, which may be a while ago; what was held for too long by then was whole.
    pub fn bytes(&mut self, bytes: &[u8], at: Instant) -> Vec<Received> {
        let mut out = self.expire(at);
        self.last = Some(at);
        let mut fresh = Vec::new();
        self.parser.feed(bytes, &mut fresh);
        out.extend(self.burst.take(fresh, at));
        out
    }

    /// When [`Self::expire`] is due; `None` when nothing is held.
    pub fn deadline(&self) -> Option<Instant> {
        let wait = match self.parser.wait() {
            Wait::Nothing => None,
            Wait::Escape => Some(self.escape),
            Wait::Rest => Some(REST),
        };
        let rest = wait.and_then(|wait| self.last.map(|last| last + wait));
        [rest, self.burst.deadline()].into_iter().flatten().min()
    }

    /// The time is over for what was held until now.
    pub fn expire(&mut self, now: Instant) -> Vec<Received> {
        let mut out = Vec::new();
        if self.burst.deadline().is_some_and(|at| at <= now) {
            out = self.burst.expire();
        }
        if self.deadline().is_some_and(|at| at <= now) {
            let mut late = Vec::new();
            self.parser.expire(&mut late);
            out.extend(self.burst.take(late, now));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    #[test]
    fn an_escape_is_held_and_given_back() {
        let (mut pump, start) = (Pump::new(Duration::from_millis(50)), Instant::now());
        assert!(pump.bytes(b"\x1b", start).is_empty());
        let due = pump.deadline().unwrap();
        assert_eq!(due, start + Duration::from_millis(50));
        assert!(pump.expire(start).is_empty());
        let escape = Received::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        assert_eq!(pump.expire(due), [escape]);
        assert_eq!(pump.deadline(), None);
    }

    #[test]
    fn what_piles_up_is_told_apart_by_the_time_it_came() {
        let (mut pump, start) = (Pump::new(Duration::from_millis(50)), Instant::now());
        let key = |code| Received::Key(KeyEvent::new(code, KeyModifiers::NONE));
        assert!(pump.bytes(b"\x1b", start).is_empty());
        assert_eq!(pump.bytes(b"g", start + Duration::from_millis(60)), [key(KeyCode::Esc), key(KeyCode::Char('g'))]);
    }

    #[test]
    fn the_rest_of_a_key_in_time_is_one_key() {
        let (mut pump, start) = (Pump::new(Duration::from_millis(50)), Instant::now());
        pump.bytes(b"\x1b", start);
        let alt = Received::Key(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::ALT));
        assert_eq!(pump.bytes(b"d", start + Duration::from_millis(40)), [alt]);
    }
}
