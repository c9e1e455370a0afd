//! One configuration file, and what is wrong with it.
//!
//! Owns: reading a file's text with its limits, and collecting warnings with file, line and a guess at what was meant. Does not know any key.

use crate::domain::{Level, Notice, Phrase};
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// Configuration files larger than this are not read.
const LARGEST: u64 = 1 << 20;

/// Reads a file: `None` if there is none. A byte order mark is dropped.
pub fn read(path: &Path) -> Result<Option<String>, Phrase> {
    let problem = |key: &'static str| Phrase::new(key).with("file", path.display());
    let unreadable = |error: &io::Error| problem("config.unreadable").with("problem", error);
    let absent = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    // Asked before it is opened: opening a named pipe would wait for somebody to write.
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(problem("config.no_file")),
        Err(error) if absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    }
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(&error)),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(problem("config.too_large"));
    }
    let text = String::from_utf8(bytes).map_err(|_| problem("config.not_utf8"))?;
    Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)))
}

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Text.
    Text,
    /// A number.
    Number,
    /// A whole number, not negative.
    Whole,
    /// Yes or no.
    Bool,
    /// A list of texts.
    Texts,
    /// A table (TOML) or object (JSON).
    Table,
}

/// Warnings about one file.
pub struct Report<'a> {
    file: String,
    text: &'a str,
    notices: Vec<Notice>,
}

impl<'a> Report<'a> {
    /// No warnings yet.
    pub fn new(file: &Path, text: &'a str) -> Self {
        Self { file: file.display().to_string(), text, notices: Vec::new() }
    }

    /// The file's name, as it stands in warnings.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line of a place in the text, from 1.
    pub fn line(&self, offset: usize) -> u32 {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        before.split(|byte| *byte == b'\n').count() as u32
    }

    /// A phrase with `file` and `line` filled in.
    pub fn phrase(&self, key: &'static str, offset: usize) -> Phrase {
        Phrase::new(key).with("file", &self.file).with("line", self.line(offset))
    }

    /// Adds a warning.
    pub fn warn(&mut self, phrase: Phrase) {
        self.notices.push(Notice { level: Level::Warning, text: phrase });
    }

    /// A key that does nothing, with a guess at what was meant.
    pub fn unknown(&mut self, offset: usize, key: &str, known: &[&str], aliases: &[(&str, &str)]) {
        let text = match guess(key, known, aliases) {
            Some(guess) => self.phrase("config.unknown_key_guess", offset).with("guess", guess),
            None => self.phrase("config.unknown_key", offset),
        };
        self.warn(text.with("key", visible(key)));
    }

    /// A value of another type. It is ignored.
    pub fn wrong_type(&mut self, offset: usize, key: &str, expected: Expected) {
        let phrase = match expected {
            Expected::Text => "config.not_text",
            Expected::Number => "config.not_number",
            Expected::Whole => "config.not_whole",
            Expected::Bool => "config.not_bool",
            Expected::Texts => "config.not_texts",
            Expected::Table => "config.not_table",
        };
        self.warn(self.phrase(phrase, offset).with("key", visible(key)));
    }

    /// A value that is none of those allowed. It is ignored.
    pub fn not_one_of(&mut self, offset: usize, key: &str, value: &str, allowed: &[&str]) {
        let phrase = self.phrase("config.not_one_of", offset).with("key", visible(key)).with("value", visible(value));
        self.warn(phrase.with("allowed", allowed.join(", ")));
    }

    /// Everything that was found.
    pub fn into_notices(self) -> Vec<Notice> {
        self.notices
    }
}

/// The known name that was probably meant: the same after cleaning, an alias from another program, or near enough.
pub fn guess<'a>(name: &str, known: &[&'a str], aliases: &[(&str, &'a str)]) -> Option<&'a str> {
    let plain = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let wanted = plain(name);
    if wanted.is_empty() {
        return None;
    }
    let alias = aliases.iter().find(|(alias, _)| plain(alias) == wanted).map(|(_, meant)| *meant);
    let near = || {
        let scored = known.iter().map(|known| (strsim::normalized_damerau_levenshtein(&wanted, &plain(known)), *known));
        scored.filter(|(score, _)| *score >= 0.6).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
    };
    known.iter().find(|known| plain(known) == wanted).copied().or(alias).or_else(near)
}

/// White space and marks that cannot be seen and do not belong at the ends of a name, or anywhere in it.
pub fn is_hidden(c: char) -> bool {
    (c.is_whitespace() && c != ' ')
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A name without hidden characters and without white space at its ends.
pub fn cleaned(name: &str) -> String {
    name.chars().filter(|c| !is_hidden(*c)).collect::<String>().trim().to_owned()
}

/// A name as it can be shown: what is hidden in it becomes its code.
pub fn visible(name: &str) -> String {
    let shown = |c: char| if is_hidden(c) { format!("\\u{{{:x}}}", c as u32) } else { c.to_string() };
    let text: String = name.chars().take(200).map(shown).collect();
    if text.starts_with(' ') || text.ends_with(' ') { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses() {
        let known = ["command", "args", "env", "cwd", "url", "disabled"];
        let aliases = [("environment", "env"), ("working_directory", "cwd")];
        for (name, meant) in [
            ("commnad", Some("command")),
            ("Command", Some("command")),
            ("command\u{200b}", Some("command")),
            ("environment", Some("env")),
            ("workingDirectory", Some("cwd")),
            ("arg", Some("args")),
            ("disable", Some("disabled")),
            ("colour", None),
            ("", None),
            ("\u{200b}", None),
        ] {
            assert_eq!(guess(name, &known, &aliases), meant, "{name}");
        }
    }

    #[test]
    fn hidden_characters_are_seen() {
        assert_eq!(cleaned(" a\u{200b}b\u{a0}"), "ab");
        assert_eq!(cleaned("my server"), "my server");
        assert_eq!(visible("a\u{200b}"), "a\\u{200b}");
        assert_eq!(visible("a "), "\"a \"");
    }

    #[test]
    fn files_are_read_within_limits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert_eq!(read(&path), Ok(None));
        assert_eq!(read(&path.join("below")), Ok(None));
        fs::write(&path, "\u{feff}x").unwrap();
        assert_eq!(read(&path), Ok(Some("x".into())));
        assert_eq!(read(&path.join("below")), Ok(None));
        for (bytes, key) in [(vec![0xff], "config.not_utf8"), (vec![b' '; 1 << 21], "config.too_large")] {
            fs::write(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap_err().key, key);
        }
        assert_eq!(read(dir.path()).unwrap_err().key, "config.no_file");
        #[cfg(target_os = "linux")]
        {
            let pipe = dir.path().join("pipe");
            rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
            assert_eq!(read(&pipe).unwrap_err().key, "config.no_file");
        }
    }
}
