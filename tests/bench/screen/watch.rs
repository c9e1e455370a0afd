//! A reply as it appears: when each piece went out, when it was on the screen, and what that cost.

use super::program::{PATIENCE, Program};
use super::text::newest;
use crate::meter::ms;
use crate::sse_model::Times;
use std::time::Instant;

/// What a program had used when a piece was on the screen.
#[derive(Clone, Copy)]
struct Mark {
    piece: usize,
    cpu: f64,
    bytes: u64,
}

/// What a stretch cost.
pub struct Cost {
    /// Seconds of processor time a 1,000 pieces.
    pub cpu: f64,
    /// Bytes to the terminal a piece.
    pub bytes: f64,
    /// Milliseconds from sending to seeing each.
    pub late: Vec<f64>,
}

/// Watches a reply from its first piece to its last.
pub struct Watch {
    seen: Vec<Instant>,
    times: Times,
    marks: Vec<Mark>,
}

impl Watch {
    pub fn new(times: &Times) -> Self {
        Self { seen: Vec::new(), times: Times::clone(times), marks: Vec::new() }
    }

    /// Takes in what the program writes until this piece is on the screen, and marks what it has used.
    pub fn until(&mut self, program: &mut Program, piece: usize) {
        let pid = program.pid();
        let mut reached = piece;
        let seen = &mut self.seen;
        let done = program.wait(PATIENCE, |screen, at| {
            let Some(number) = newest(&screen.contents()) else { return false };
            while seen.len() <= number {
                seen.push(at);
            }
            reached = number;
            number >= piece
        });
        assert!(done.is_some(), "piece {piece} never came; the newest is {}:\n{}", self.seen.len(), program.text());
        self.marks.push(Mark { piece: reached, cpu: super::process::cpu(pid), bytes: program.bytes });
    }

    /// When a piece was seen after it was sent, in milliseconds.
    pub fn late(&self, piece: usize) -> f64 {
        let sent = self.times.lock().expect("not poisoned")[piece];
        ms(self.seen[piece].saturating_duration_since(sent))
    }

    /// The cost between the last two marks.
    pub fn cost(&self) -> Cost {
        let [.., from, to] = &self.marks[..] else { panic!("two marks are needed") };
        let pieces = (to.piece - from.piece) as f64;
        Cost {
            cpu: (to.cpu - from.cpu) * 1000.0 / pieces,
            bytes: (to.bytes - from.bytes) as f64 / pieces,
            late: (from.piece + 1..=to.piece).map(|piece| self.late(piece)).collect(),
        }
    }
}
