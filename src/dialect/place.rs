//! Whether a place in streamed Markdown is inside code.
//!
//! Follows CommonMark as far as tags need it: fenced blocks (three or more backticks or tildes at the start of a line), and
//! inline code, here within one line so that a stray backtick hides no more than its own line. One step a byte.

/// The place that the text has reached.
#[derive(Debug, Default)]
pub struct Place {
    line: Line,
    /// The open fenced block: its mark and how long its fence is.
    fence: Option<(u8, usize)>,
    /// The open inline code: how many backticks opened it.
    inline: Option<usize>,
    /// Backticks that were just read.
    run: usize,
    prose: bool,
}

#[derive(Debug, Clone, Copy, Default)]
enum Line {
    /// Nothing but spaces so far.
    #[default]
    Start,
    /// Only this mark so often, after spaces.
    Marks(u8, usize),
    /// After the marks of a fence that opens at the end of the line.
    Opening(u8, usize),
    /// After the marks of a fence that closes at the end of the line, if only spaces follow.
    Closing,
    /// Anything else.
    Within,
}

impl Place {
    /// Goes on over the text.
    pub fn pass(&mut self, text: &str) {
        for byte in text.bytes() {
            if self.fence.is_some() { self.step_in_fence(byte) } else { self.step(byte) }
        }
    }

    /// Whether what follows here is inside code.
    pub fn in_code(&self) -> bool {
        let marks = match self.line {
            Line::Marks(b'`', _) | Line::Opening(..) => true,
            Line::Marks(_, count) => count >= 3,
            _ => false,
        };
        let inline = match self.inline {
            None => self.run > 0,
            Some(opened) => self.run != opened,
        };
        self.fence.is_some() || marks || inline
    }

    /// Whether a fenced block is open, if the text ends here.
    pub fn in_fence(&self) -> bool {
        let closing = match self.line {
            Line::Marks(mark, count) => self.closes(mark, count),
            line => matches!(line, Line::Closing),
        };
        (self.fence.is_some() && !closing) || matches!(self.line, Line::Opening(..))
    }

    /// The fence that closes the open block; nothing where none is open.
    pub fn fence(&self) -> String {
        let (mark, count) = match (self.fence, self.line) {
            (Some(fence), _) => fence,
            (None, Line::Opening(mark, count)) => (mark, count),
            _ => return String::new(),
        };
        char::from(mark).to_string().repeat(count)
    }

    /// Whether nothing but white space stands before this place on its line.
    pub fn at_line_start(&self) -> bool {
        matches!(self.line, Line::Start)
    }

    /// Whether there was any text outside of fenced blocks.
    pub fn has_prose(&self) -> bool {
        self.prose
    }

    fn step(&mut self, byte: u8) {
        match (self.line, byte) {
            (Line::Opening(mark, count) | Line::Marks(mark, count), b'\n') if count >= 3 => {
                self.fence = Some((mark, count));
                self.line = Line::Start;
            }
            (_, b'\n') => {
                (self.line, self.inline, self.run) = (Line::Start, None, 0);
            }
            (Line::Start, b' ' | b'\t' | b'\r') => {}
            (Line::Start, b'`' | b'~') => self.line = Line::Marks(byte, 1),
            (Line::Marks(mark, count), _) if byte == mark => self.line = Line::Marks(mark, count + 1),
            (Line::Marks(mark, count), _) if count >= 3 => {
                self.line = Line::Opening(mark, count);
                self.step(byte);
            }
            // A fence's line holds no backtick: these were inline code.
            (Line::Opening(mark, count), _) => {
                if (mark, byte) == (b'`', b'`') {
                    (self.line, self.inline, self.run, self.prose) = (Line::Within, Some(count), 1, true);
                }
            }
            (Line::Marks(mark, count), _) => {
                self.run = if mark == b'`' { count } else { 0 };
                self.within(byte);
            }
            _ => self.within(byte),
        }
    }

    fn within(&mut self, byte: u8) {
        (self.line, self.prose) = (Line::Within, true);
        if byte == b'`' {
            self.run += 1;
        } else if self.run > 0 {
            self.inline = match self.inline {
                None => Some(self.run),
                Some(opened) if opened == self.run => None,
                open => open,
            };
            self.run = 0;
        }
    }

    fn closes(&self, mark: u8, count: usize) -> bool {
        self.fence.is_some_and(|(open, least)| open == mark && count >= least)
    }

    fn step_in_fence(&mut self, byte: u8) {
        self.line = match (self.line, byte) {
            (Line::Marks(mark, count), b'\n') if self.closes(mark, count) => {
                self.fence = None;
                Line::Start
            }
            (Line::Closing, b'\n') => {
                self.fence = None;
                Line::Start
            }
            (_, b'\n') | (Line::Start, b' ' | b'\t' | b'\r') => Line::Start,
            (Line::Start, b'`' | b'~') => Line::Marks(byte, 1),
            (Line::Marks(mark, count), _) if byte == mark => Line::Marks(mark, count + 1),
            (Line::Marks(mark, count), b' ' | b'\t' | b'\r') if self.closes(mark, count) => Line::Closing,
            (Line::Closing, b' ' | b'\t' | b'\r') => Line::Closing,
            _ => Line::Within,
        };
    }
}

/// Whether the line, more of which may come, is the mark of a fenced block or the beginning of one.
pub fn may_be_fence(line: &str) -> bool {
    "```".starts_with(line.trim()) || is_fence(line)
}

/// Whether the line opens or closes a fenced block.
pub fn is_fence(line: &str) -> bool {
    let line = line.trim();
    line.strip_prefix("```")
        .is_some_and(|info| info.len() <= 16 && info.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> (bool, bool) {
        let mut place = Place::default();
        place.pass(text);
        (place.in_code(), place.at_line_start())
    }

    #[test]
    fn code_is_recognised() {
        for text in [
            "`",
            "a `",
            "a `b",
            "``a ` b",
            "```\n",
            "```xml\na",
            "~~~\n",
            "  ```rs\n\n",
            "````\n```\n",
            "```\n``` x\n",
            "```a",
            "~~~",
            "``",
        ] {
            assert!(after(text).0, "{text:?} is code");
        }
        for text in [
            "",
            "a",
            "`a`",
            "`a` b",
            "a `b\n",
            "```\na\n```\n",
            "~~~\n~~~\nb",
            "```a` b` c",
            "~~ a",
            "``` a ``` b",
            "```\n```",
            "a ``b`` c",
        ] {
            let code = after(text).0;
            assert_eq!(code, text == "```a` b` c" || text == "```\n```", "{text:?}");
        }
    }

    #[test]
    fn line_starts() {
        for text in ["", "a\n", "a\n  ", "`a\n", "```\n"] {
            assert!(after(text).1, "{text:?}");
        }
        assert!(!after("a").1 && !after("\na ").1);
    }

    #[test]
    fn prose_is_what_stands_outside_of_fences() {
        let prose = |text: &str| {
            let mut place = Place::default();
            place.pass(text);
            place.has_prose()
        };
        assert!(!prose("```xml\na `b`\n```\n") && !prose("\n  \n"));
        assert!(prose("a\n```\n") && prose("```\n```\nb") && prose("`a`"));
    }
}
