//! What commands print: aligned, safe for a terminal, coloured only on one.
//!
//! Owns the text of one answer until it is written. **Invariants:** nothing reaches the terminal unsanitized, known secrets are masked, and without a
//! terminal (or with `NO_COLOR`) there is no escape sequence in it. It knows nothing of what it prints.

use crate::redact::Redactor;
use crate::tui::text::{sanitize, width};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{self, Write};

/// How a piece of text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// As it is.
    Plain,
    /// A title, a name.
    Strong,
    /// Less important.
    Dim,
    /// As it should be.
    Good,
    /// Worth a look.
    Warn,
    /// Wrong.
    Bad,
}

impl Ink {
    /// The sixteen colours that every terminal has, as its user chose them.
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        }
    }
}

/// Whether inks are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// They are.
    On,
    /// Plain text.
    Off,
}

/// A piece of text with its ink.
pub type Piece = (Ink, String);

/// A piece that is shown as it is.
pub fn plain(text: impl Into<String>) -> Piece {
    (Ink::Plain, text.into())
}

/// A sheet that is written on.
pub struct Paper {
    text: String,
    colours: Colours,
    redactor: Redactor,
}

impl Paper {
    /// An empty one.
    pub fn new(colours: Colours, redactor: Redactor) -> Self {
        Self { text: String::new(), colours, redactor }
    }

    /// A line of pieces, indented.
    pub fn line(&mut self, indent: usize, pieces: &[Piece]) {
        let _ = write!(self.text, "{:indent$}", "");
        for (ink, text) in pieces {
            self.piece(*ink, text);
        }
        self.end_line();
    }

    /// An empty line, unless nothing stands above it.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A text of any number of lines, indented.
    pub fn block(&mut self, indent: usize, ink: Ink, text: &str) {
        for line in text.lines() {
            self.line(indent, &[(ink, line.to_owned())]);
        }
    }

    /// A list: `mark text`, further lines of the text below its beginning.
    pub fn item(&mut self, indent: usize, mark: Piece, text: &str) {
        let deep = indent + usize::from(width::of(&mark.1)) + 1;
        let mut lines = text.lines();
        self.line(indent, &[mark, plain(" "), plain(lines.next().unwrap_or_default())]);
        for line in lines {
            self.line(deep, &[(Ink::Dim, line.to_owned())]);
        }
    }

    /// Rows whose cells stand below each other; the last cell of a row is not padded.
    pub fn table(&mut self, indent: usize, rows: &[Vec<Piece>]) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let wide = |at: usize| {
            let cells = rows.iter().filter(|row| row.len() > at + 1);
            cells.map(|row| usize::from(width::of(&self.safe(&row[at].1)))).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..columns).map(wide).collect();
        for row in rows {
            let _ = write!(self.text, "{:indent$}", "");
            for (at, (ink, text)) in row.iter().enumerate() {
                self.piece(*ink, text);
                if at + 1 < row.len() {
                    let missing = widths[at].saturating_sub(usize::from(width::of(&self.safe(text)))) + 2;
                    let _ = write!(self.text, "{:missing$}", "");
                }
            }
            self.end_line();
        }
    }

    /// A JSON document. What a terminal could misread stands in it as an escape.
    pub fn json(&mut self, value: &Value) {
        let mut value = value.clone();
        self.redactor.mask_json(&mut value);
        self.text.push_str(&escaped(&format!("{value:#}")));
        self.text.push('\n');
    }

    /// What stands on it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Writes it. A reader that has gone away (`| head`) is no error.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match to.write_all(self.text.as_bytes()).and_then(|()| to.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    fn safe(&self, text: &str) -> String {
        let masked = self.redactor.mask_text(text);
        sanitize::line(&masked).into_owned()
    }

    fn piece(&mut self, ink: Ink, text: &str) {
        let text = self.safe(text);
        if self.colours == Colours::On && ink != Ink::Plain && !text.is_empty() {
            let _ = write!(self.text, "\x1b[{}m{text}\x1b[0m", ink.code());
        } else {
            self.text.push_str(&text);
        }
    }

    fn end_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
    }
}

/// JSON text whose strings hold nothing that a terminal would act on.
pub fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for line in json.split_inclusive('\n') {
        if sanitize::is_clean(line.trim_end_matches('\n')) {
            out.push_str(line);
            continue;
        }
        for c in line.chars() {
            if c == '\n' || sanitize::is_clean(c.encode_utf8(&mut [0; 4])) {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn columns_stand_below_each_other_whatever_is_in_them() {
        let redactor = Redactor::default();
        redactor.register("hunter2hunter2");
        let mut paper = Paper::new(Colours::Off, redactor);
        paper.table(
            2,
            &[
                vec![plain("名字"), plain("a"), plain("end ")],
                vec![plain("x\x1b[2J"), plain("hunter2hunter2"), plain("y")],
                vec![plain("alone")],
            ],
        );
        assert_eq!(paper.text(), "  名字   a    end\n  x␛[2J  •••  y\n  alone\n");
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        let mut paper = Paper::new(Colours::On, Redactor::default());
        paper.line(1, &[(Ink::Bad, "no".into()), plain(" way")]);
        paper.item(0, (Ink::Warn, "!".into()), "one\ntwo");
        assert_eq!(paper.text(), " \x1b[31mno\x1b[0m way\n\x1b[33m!\x1b[0m one\n  \x1b[2mtwo\x1b[0m\n");
    }

    #[test]
    fn json_stays_json_and_harmless() {
        let mut paper = Paper::new(Colours::On, Redactor::default());
        let value = json!({ "text": "a\u{1b}[2J\u{202e}b\u{e0001}", "api_key": "s3cr3t" });
        paper.json(&value);
        assert!(paper.text().chars().all(|c| c == '\n' || sanitize::is_clean(&c.to_string())), "{:?}", paper.text());
        let read: Value = serde_json::from_str(paper.text()).unwrap();
        assert_eq!(read, json!({ "text": value["text"], "api_key": "•••" }));
    }
}
