//! Bytes that arrive in pieces, as text.
//!
//! Owns: decoding UTF-8 whose characters may be split between pieces; what is not UTF-8 becomes U+FFFD and is counted.

/// Decodes.
#[derive(Debug, Default)]
pub struct Utf8 {
    held: Vec<u8>,
    replaced: u64,
}

impl Utf8 {
    /// Appends the text of the next bytes. A character that is not complete yet is held back.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        if self.held.is_empty() {
            self.take(bytes, out);
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            self.take(&joined, out);
        }
    }

    /// Nothing follows: appends what was held back.
    pub fn end(&mut self, out: &mut String) {
        if !self.held.is_empty() {
            self.held.clear();
            self.replaced += 1;
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// How many times something was not UTF-8.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    fn take(&mut self, bytes: &[u8], out: &mut String) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            out.push_str(chunk.valid());
            let bad = chunk.invalid();
            if bad.is_empty() {
                continue;
            }
            // At the very end, what could still become a character waits for the next piece.
            let unfinished = std::str::from_utf8(bad).is_err_and(|error| error.error_len().is_none());
            if chunks.peek().is_none() && unfinished {
                self.held = bad.to_vec();
            } else {
                self.replaced += 1;
                out.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_splitting_gives_the_same_text(bytes in proptest::collection::vec(prop_oneof![0x20u8..0x7f, any::<u8>(), Just(0xe5), Just(0xad), Just(0x97)], 0..60), size in 1usize..9) {
            let mut utf8 = Utf8::default();
            let mut out = String::new();
            for piece in bytes.chunks(size) { utf8.push(piece, &mut out); }
            utf8.end(&mut out);
            prop_assert_eq!(&out, &String::from_utf8_lossy(&bytes));
            prop_assert_eq!(utf8.replaced() == 0, std::str::from_utf8(&bytes).is_ok());
        }
    }
}
