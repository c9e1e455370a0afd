//! Finds the bracket that closes a JSON value, piece by piece.
//!
//! Knows brackets and strings, nothing else: whether the value is valid is for its parser to say. One step a byte.

/// How far inside the value the text is.
#[derive(Debug, Clone, Default)]
pub struct Balance {
    depth: usize,
    /// The mark that ends the string.
    quote: Option<u8>,
    escaped: bool,
    /// A further mark that begins strings.
    also: Option<u8>,
}

impl Balance {
    /// Behind an opening bracket; strings may begin with this mark too.
    pub fn quoting(also: u8) -> Self {
        Self { depth: 1, also: Some(also), ..Self::default() }
    }

    /// Behind an opening bracket.
    pub fn inside() -> Self {
        Self { depth: 1, ..Self::default() }
    }

    /// Whether the text is inside a string.
    pub fn is_quoted(&self) -> bool {
        self.quote.is_some()
    }

    /// Whether no bracket is open.
    pub fn is_closed(&self) -> bool {
        self.depth == 0
    }

    /// Goes on over the text; the place of the bracket that closes the value, if it is there.
    pub fn pass(&mut self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if let Some(quote) = self.quote {
                if self.escaped {
                    self.escaped = false;
                } else if byte == b'\\' {
                    self.escaped = true;
                } else if byte == quote {
                    self.quote = None;
                }
                at += 1;
                continue;
            }
            match byte {
                b'"' => self.quote = Some(byte),
                b'{' | b'[' | b'(' => self.depth += 1,
                b'}' | b']' | b')' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                _ if self.also == Some(byte) => self.quote = Some(byte),
                _ => {}
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_bracket_in_any_pieces() {
        for (text, end) in [
            ("{}", Some(1)),
            ("{\"a\": [1, {\"b\": \"}\\\"]\"}]} x", Some(25)),
            ("{\"a\": \"\\\\\"}", Some(10)),
            ("{\"a\": \"", None),
            ("[{}", None),
        ] {
            assert_eq!(Balance::default().pass(text), end, "{text}");
            let mut balance = Balance::default();
            let mut found = None;
            for (at, c) in text.char_indices() {
                if found.is_none() && balance.pass(&text[at..at + c.len_utf8()]).is_some() {
                    found = Some(at);
                }
            }
            assert_eq!(found, end, "{text}");
        }
        assert_eq!(Balance::quoting(b'\'').pass("a=')', b=(1))"), Some(12));
    }
}
