//! Getting a text onto the user's clipboard over whatever lies between.
//!
//! OSC 52 asks the terminal; no terminal answers whether it did. So the text is also written to a file that only the user can read, where there is one to
//! write, and the notice names both. Nothing is run.

use crate::domain::{Notice, Phrase};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Many terminals ignore a longer sequence.
const LIMIT: usize = 100_000;

/// What lies between the program and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Through {
    /// Nothing.
    #[default]
    Direct,
    /// tmux: it takes the sequence itself or hands it on, depending on its settings.
    Tmux,
    /// GNU screen: hands it on.
    Screen,
    /// A terminal without a clipboard (the Linux console).
    NoClipboard,
}

impl Through {
    /// What the environment says: `TERM`, and whether `TMUX` and `STY` are set.
    pub fn of(term: &str, tmux: Option<&str>, screen: Option<&str>) -> Self {
        match (term, tmux, screen) {
            (_, Some(tmux), _) if !tmux.is_empty() => Self::Tmux,
            (_, _, Some(screen)) if !screen.is_empty() => Self::Screen,
            ("linux" | "dumb", ..) => Self::NoClipboard,
            _ => Self::Direct,
        }
    }
}

/// The bytes that ask the terminal; `None` where that cannot work.
pub fn sequence(text: &str, through: Through) -> Option<Vec<u8>> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > LIMIT || through == Through::NoClipboard {
        return None;
    }
    let plain = format!("\x1b]52;c;{encoded}\x07");
    let bytes = match through {
        // tmux takes the plain one with `set-clipboard on`, the wrapped one with `allow-passthrough on`.
        Through::Tmux => format!("{plain}\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")),
        Through::Screen => format!("\x1bP{plain}\x1b\\"),
        Through::Direct | Through::NoClipboard => plain,
    };
    Some(bytes.into_bytes())
}

/// Copies: the sequence through `send`, the text into `file`. Says which of the two was done.
pub fn copy(text: &str, through: Through, file: Option<&Path>, send: impl FnOnce(&[u8]) -> io::Result<()>) -> Notice {
    let count = text.chars().count();
    let sent = sequence(text, through).is_some_and(|bytes| send(&bytes).is_ok());
    let written = file.map(|file| write(file, text).map(|()| file.display()));
    match (sent, written) {
        (true, Some(Ok(file))) => Notice::info(Phrase::new("pane.copied_both").with("count", count).with("file", file)),
        (true, _) => Notice::info(Phrase::new("pane.copied_terminal").with("count", count)),
        (false, Some(Ok(file))) => {
            Notice::info(Phrase::new("pane.copied_file").with("count", count).with("file", file))
        }
        (false, Some(Err(error))) => Notice::warning(Phrase::new("pane.copied_nowhere").with("error", error)),
        (false, None) => Notice::warning(Phrase::new("pane.copied_nowhere").with("error", "OSC 52")),
    }
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_for_what_lies_between() {
        let bytes = |through| String::from_utf8(sequence("hi", through).unwrap()).unwrap();
        assert_eq!(bytes(Through::Direct), "\x1b]52;c;aGk=\x07");
        assert_eq!(bytes(Through::Tmux), "\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\");
        assert_eq!(bytes(Through::Screen), "\x1bP\x1b]52;c;aGk=\x07\x1b\\");
        assert_eq!(sequence("hi", Through::NoClipboard), None);
        assert_eq!(sequence(&"x".repeat(LIMIT), Through::Direct), None);
        assert_eq!(Through::of("xterm", Some("/tmp/tmux"), None), Through::Tmux);
        assert_eq!(Through::of("linux", None, Some("")), Through::NoClipboard);
    }

    #[test]
    fn says_where_the_text_went() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sub/copied");
        let notice = copy("hi", Through::Direct, Some(&file), |_| Ok(()));
        assert_eq!(notice.text.key, "pane.copied_both");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "hi");
        let notice = copy("hi", Through::NoClipboard, Some(&file), |_| Ok(()));
        assert_eq!(notice.text.key, "pane.copied_file");
        let notice = copy("hi", Through::NoClipboard, None, |_| Ok(()));
        assert_eq!(notice.text.key, "pane.copied_nowhere");
    }
}
