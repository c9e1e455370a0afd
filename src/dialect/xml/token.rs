//! Cuts streamed text into tags and the text between them.
//!
//! A tag is `<name>` or `</name>`, nothing inside but the name (letters, digits, `_ - . :`). Anything else is text.
//! Owns the partial tag at the end of a chunk: at most as many bytes as the longest name allows are held back.
//! **Invariant:** tokens joined are the text, each byte is looked at once, and no token is a part of a tag.

use std::ops::ControlFlow;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// No tag in it. Pieces may follow one another.
    Text(&'a str),
    /// `<name>`: the name.
    Open(&'a str),
    /// `</name>`: the name.
    Close(&'a str),
}

/// The cutter.
#[derive(Debug)]
pub struct Tokenizer {
    held: String,
    /// Longest tag in bytes, without its `>`.
    longest: usize,
    work: u64,
}

enum Next {
    /// The tag goes on.
    Grow,
    /// The tag is complete.
    Tag,
    /// What looked like a tag is text.
    Text,
}

impl Tokenizer {
    /// Knows no names: `longest` is the length of the longest one, in bytes.
    pub fn new(longest: usize) -> Self {
        Self { held: String::new(), longest: longest + 2, work: 0 }
    }

    /// Takes the next chunk. `sink` may stop it; the rest of the chunk is then lost.
    pub fn push(&mut self, chunk: &str, mut sink: impl FnMut(Token<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        self.work += chunk.len() as u64;
        let mut rest = chunk;
        if !self.held.is_empty() {
            rest = self.resume(rest, &mut sink)?;
        }
        while let Some(at) = rest.find('<') {
            if at > 0 {
                sink(Token::Text(&rest[..at]))?;
            }
            rest = &rest[at..];
            match self.measure(rest) {
                Some((length, Next::Tag)) => {
                    sink(tag(&rest[..length]))?;
                    rest = &rest[length..];
                }
                Some((length, _)) => {
                    sink(Token::Text(&rest[..length]))?;
                    rest = &rest[length..];
                }
                None => {
                    self.held.push_str(rest);
                    return ControlFlow::Continue(());
                }
            }
        }
        if rest.is_empty() { ControlFlow::Continue(()) } else { sink(Token::Text(rest)) }
    }

    /// Bytes looked at so far, each time they were.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// What is held back: the beginning of a tag, or nothing.
    pub fn take_held(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// Goes on with the tag that the last chunk began; returns what it did not use of this one.
    fn resume<'a>(
        &mut self,
        chunk: &'a str,
        sink: &mut impl FnMut(Token<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<(), &'a str> {
        for (at, c) in chunk.char_indices() {
            let next = self.next(&self.held, c);
            if matches!(next, Next::Grow) {
                self.held.push(c);
                continue;
            }
            let mut whole = self.take_held();
            if matches!(next, Next::Tag) {
                whole.push(c);
                sink(tag(&whole))?;
                return ControlFlow::Continue(&chunk[at + 1..]);
            }
            sink(Token::Text(&whole))?;
            return ControlFlow::Continue(&chunk[at..]);
        }
        ControlFlow::Continue("")
    }

    /// How long the tag, or the text that is none, at the start of `text` is; `None` where more must come first.
    fn measure(&self, text: &str) -> Option<(usize, Next)> {
        for (at, c) in text.char_indices().skip(1) {
            match self.next(&text[..at], c) {
                Next::Grow => {}
                Next::Tag => return Some((at + 1, Next::Tag)),
                Next::Text => return Some((at, Next::Text)),
            }
        }
        None
    }

    fn next(&self, so_far: &str, c: char) -> Next {
        match c {
            '>' if so_far.len() > 1 && !so_far.ends_with('/') => Next::Tag,
            '/' if so_far == "<" => Next::Grow,
            _ if so_far.len() < self.longest && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':')) => {
                Next::Grow
            }
            _ => Next::Text,
        }
    }
}

/// The token of a whole tag, brackets included.
fn tag(raw: &str) -> Token<'_> {
    let inside = raw.trim_start_matches('<').trim_end_matches('>');
    match inside.strip_prefix('/') {
        Some(name) => Token::Close(name),
        None => Token::Open(inside),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens with neighbouring text joined, what is left at the end last.
    fn cut(chunks: &[&str]) -> Vec<String> {
        let mut tokenizer = Tokenizer::new(8);
        let mut out: Vec<String> = Vec::new();
        let mut text = String::new();
        for chunk in chunks {
            let _ = tokenizer.push(chunk, |token| {
                match token {
                    Token::Text(more) => text.push_str(more),
                    Token::Open(name) => out.extend([std::mem::take(&mut text), format!("<{name}>")]),
                    Token::Close(name) => out.extend([std::mem::take(&mut text), format!("</{name}>")]),
                }
                ControlFlow::Continue(())
            });
        }
        out.push(text);
        out.push(tokenizer.take_held());
        out.retain(|piece| !piece.is_empty());
        out
    }

    #[test]
    fn tags_and_what_only_looks_like_them() {
        assert_eq!(cut(&["a<b>c</b>"]), ["a", "<b>", "c", "</b>"]);
        assert_eq!(cut(&["<<b>", "></", "b><", "/", "c", ">"]), ["<", "<b>", ">", "</b>", "</c>"]);
        assert_eq!(cut(&["x < y, <> </> <a b> <a/> <!-- < -->"]), ["x < y, <> </> <a b> <a/> <!-- < -->"]);
        assert_eq!(cut(&["<much_too_long>"]), ["<much_too_long>"]);
        assert_eq!(cut(&["<名字>", "é</名字>"]), ["<名字>", "é", "</名字>"]);
        assert_eq!(cut(&["ab <thin"]), ["ab ", "<thin"]);
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same(text in "[<>/ab é\n]{0,40}", cuts in proptest::collection::vec(0usize..40, 0..6)) {
            let mut at: Vec<usize> = cuts.into_iter().filter(|&cut| text.is_char_boundary(cut)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let chunks: Vec<&str> = at.windows(2).filter_map(|w| text.get(w[0]..w[1])).collect();
            let whole = cut(&[&text]);
            prop_assert_eq!(&cut(&chunks), &whole);
            prop_assert_eq!(whole.concat(), text);
        }
    }
}
