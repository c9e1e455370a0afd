//! The beginning and the end of a text too long to keep.
//!
//! Owns: taking a text piece by piece, of any length, in bounded memory, and giving back its head and tail with what is missing between.
//! Does not: know why the text is cut or where the rest is.
//!
//! **Invariants:** never keeps more than asked; cuts at line borders where that costs less than half of a part, and never inside a
//! character; a text that fits comes back unchanged.

/// Takes a text.
#[derive(Debug)]
pub struct Ends {
    head: String,
    head_room: usize,
    tail: String,
    tail_room: usize,
    bytes: u64,
    newlines: u64,
}

/// A text, or its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It fitted.
    Whole(String),
    /// It did not.
    Cut(Cut),
}

/// The ends of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Its beginning; ends with a newline unless its line is longer than the room.
    pub head: String,
    /// Its end.
    pub tail: String,
    /// Bytes left out.
    pub bytes: u64,
    /// Lines that are not shown whole.
    pub lines: u64,
    /// The first line that is not shown whole, from 1.
    pub from: u64,
}

impl Ends {
    /// Room in bytes for the beginning and for the end.
    pub fn new(head_room: usize, tail_room: usize) -> Self {
        Self { head: String::new(), head_room, tail: String::new(), tail_room, bytes: 0, newlines: 0 }
    }

    /// Bytes taken so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Newlines taken so far.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    /// Whether everything taken so far is still there.
    pub fn is_whole(&self) -> bool {
        self.bytes <= (self.head_room + self.tail_room) as u64
    }

    /// Takes the next piece.
    pub fn push(&mut self, text: &str) {
        let rest = if self.tail.is_empty() {
            let room = floor(text, self.head_room.saturating_sub(self.head.len()));
            self.head.push_str(&text[..room]);
            &text[room..]
        } else {
            text
        };
        self.bytes += text.len() as u64;
        self.newlines += newlines(text);
        if rest.is_empty() {
            return;
        }
        // A character that did not fit closes the head: nothing may be put behind a gap.
        if self.head_room > self.head.len() {
            self.tail_room += self.head_room - self.head.len();
            self.head_room = self.head.len();
        }
        // The tail may grow to twice its room before it is cut, so that a byte is moved once on average.
        let most = self.tail_room * 2 + 64;
        if rest.len() > most {
            self.tail.clear();
            self.tail.push_str(&rest[ceil(rest, rest.len() - most)..]);
        } else {
            self.tail.push_str(rest);
        }
        if self.tail.len() > most {
            let from = ceil(&self.tail, self.tail.len() - self.tail_room);
            self.tail.drain(..from);
        }
    }

    /// What was kept.
    pub fn finish(mut self) -> Kept {
        if self.is_whole() {
            self.head.push_str(&self.tail);
            return Kept::Whole(self.head);
        }
        let from = ceil(&self.tail, self.tail.len().saturating_sub(self.tail_room));
        let mut tail = &self.tail[from..];
        // A tail that begins right behind a newline is aligned already; otherwise its first line is a piece.
        let aligned = from > 0 && self.tail[..from].ends_with('\n');
        if let Some(end) = tail.find('\n').filter(|end| !aligned && (end + 1) * 2 <= tail.len()) {
            tail = &tail[end + 1..];
        }
        if let Some(end) = self.head.rfind('\n').filter(|end| (end + 1) * 2 >= self.head.len()) {
            self.head.truncate(end + 1);
        }
        let (above, below) = (newlines(&self.head), newlines(tail));
        let bytes = self.bytes - (self.head.len() + tail.len()) as u64;
        let lines = (self.newlines - above - below).max(1);
        Kept::Cut(Cut { from: above + 1, tail: tail.to_owned(), head: self.head, bytes, lines })
    }
}

/// The nearest border of a character at or below `at`.
pub fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The nearest border of a character at or above `at`.
pub fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// Whole, or head and tail within `budget` bytes with `note` between them, on a line of its own. `spare` bytes are kept free for the note.
pub fn fit(text: &str, budget: usize, spare: usize, note: impl FnOnce(&Cut) -> String) -> String {
    if text.len() <= budget {
        return text.to_owned();
    }
    let room = budget.saturating_sub(spare + 2);
    let mut ends = Ends::new(room * 3 / 5, room - room * 3 / 5);
    ends.push(text);
    match ends.finish() {
        Kept::Whole(whole) => whole,
        Kept::Cut(cut) => {
            let note = note(&cut);
            join(cut, &note)
        }
    }
}

/// Head, note, tail.
pub fn join(cut: Cut, note: &str) -> String {
    let mut out = cut.head;
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(note);
    out.push('\n');
    out.push_str(&cut.tail);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(text: &str, head: usize, tail: usize, pieces: usize) -> Kept {
        let mut ends = Ends::new(head, tail);
        let mut rest = text;
        while !rest.is_empty() {
            let at = ceil(rest, pieces.max(1));
            ends.push(&rest[..at]);
            rest = &rest[at..];
        }
        ends.finish()
    }

    #[test]
    fn cuts_at_lines_and_says_where_to_read_on() {
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let Kept::Cut(cut) = ends(&text, 100, 60, 7) else { panic!("must be cut") };
        assert!(cut.head.ends_with("line 13\n"), "{:?}", cut.head);
        assert_eq!(cut.from, 14);
        assert!(cut.tail.starts_with("line 99") && cut.tail.ends_with("line 1000\n"), "{:?}", cut.tail);
        assert_eq!(cut.lines, 1000 - 13 - cut.tail.lines().count() as u64);
        assert_eq!(cut.bytes as usize, text.len() - cut.head.len() - cut.tail.len());
    }

    #[test]
    fn one_endless_line_is_cut_inside() {
        let text = "字".repeat(1000);
        let Kept::Cut(cut) = ends(&text, 100, 100, 1000) else { panic!("must be cut") };
        assert_eq!((cut.head.chars().count(), cut.from, cut.lines), (33, 1, 1));
        assert!(cut.tail.chars().all(|c| c == '字') && cut.tail.len() <= 101);
    }

    #[test]
    fn without_room_for_a_tail_it_reads_on() {
        let Kept::Cut(cut) = ends("a\nb\nc\nd\n", 5, 0, 3) else { panic!("must be cut") };
        assert_eq!((cut.head.as_str(), cut.tail.as_str(), cut.from, cut.lines), ("a\nb\n", "", 3, 2));
    }

    proptest! {
        #[test]
        fn never_more_than_asked_and_both_ends_are_there(
            text in proptest::collection::vec(prop_oneof![Just("\n".to_owned()), "[a-z字é ]{0,30}", "🦀{1,5}"], 0..80)
                .prop_map(|parts| parts.concat()),
            head in 0usize..200, tail in 0usize..200, pieces in 1usize..90,
        ) {
            match ends(&text, head, tail, pieces) {
                Kept::Whole(whole) => prop_assert_eq!(whole, text),
                Kept::Cut(cut) => {
                    prop_assert!(text.len() > head + tail);
                    prop_assert!(cut.head.len() + cut.tail.len() <= head + tail);
                    prop_assert!(text.starts_with(&cut.head) && text.ends_with(&cut.tail));
                    // A head or tail may only be empty where not even one character fits, or half would be lost.
                    prop_assert!(head < 8 || !cut.head.is_empty());
                    prop_assert!(tail < 8 || !cut.tail.is_empty());
                    prop_assert_eq!(cut.bytes as usize + cut.head.len() + cut.tail.len(), text.len());
                    let before: u64 = newlines(&cut.head);
                    prop_assert_eq!(cut.from, before + 1);
                }
            }
        }

        #[test]
        fn fit_keeps_the_budget(text in "([a-zé字]{0,40}\n?){0,120}", budget in 200usize..2000) {
            let fitted = fit(&text, budget, 60, |cut| format!("[{} lines, {} bytes are not here, from {}]", cut.lines, cut.bytes, cut.from));
            prop_assert!(fitted.len() <= budget, "{} > {budget}", fitted.len());
            if text.len() <= budget { prop_assert_eq!(fitted, text); }
            else {
                prop_assert!(fitted.chars().next() == text.chars().next());
                prop_assert!(fitted.chars().last() == text.chars().last());
            }
        }
    }
}
