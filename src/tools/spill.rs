//! Files that hold what is too large, or not readable, for the model.
//!
//! Owns: the spill directory of a session: made when first needed (0700), one file a call (0600), known secrets masked like in everything
//! that is written. Does not: delete (the session's owner does), or decide what goes there (`cut`, `output`).

use crate::domain::CallId;
use crate::redact::Redactor;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The directory.
#[derive(Clone)]
pub struct Spill {
    directory: PathBuf,
    redactor: Redactor,
}

impl Spill {
    /// A directory that need not exist yet.
    pub fn new(directory: PathBuf, redactor: Redactor) -> Self {
        Self { directory, redactor }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The file that a call's text goes to.
    pub fn text_path(&self, call: CallId) -> PathBuf {
        self.directory.join(format!("{call}.txt"))
    }

    /// Writes a whole text.
    pub fn text(&self, call: CallId, text: &str) -> io::Result<PathBuf> {
        let path = self.text_path(call);
        self.create(&path)?.write_all(self.redactor.mask_text(text).as_bytes())?;
        Ok(path)
    }

    /// Writes the `number`th piece of binary data of a call.
    pub fn data(&self, call: CallId, number: usize, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.directory.join(format!("{call}-{number}.{extension}"));
        self.create(&path)?.write_all(bytes)?;
        Ok(path)
    }

    /// Begins a text that arrives in pieces.
    pub fn begin(&self, call: CallId) -> io::Result<Pouring> {
        let path = self.text_path(call);
        Ok(Pouring { file: self.create(&path)?, path, redactor: self.redactor.clone(), line: String::new() })
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        // An older file of that name is not written into: it may be a link, or somebody may hold it open.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }
}

/// A text being written in pieces.
pub struct Pouring {
    file: File,
    path: PathBuf,
    redactor: Redactor,
    line: String,
}

/// Longest piece held back so that a secret split between two pieces is still recognised.
const LONGEST_LINE: usize = 64 * 1024;

impl Pouring {
    /// Where it goes.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the next piece. Masked line by line.
    pub fn pour(&mut self, text: &str) -> io::Result<()> {
        self.line.push_str(text);
        if let Some(end) = self.line.rfind('\n') {
            let whole: String = self.line.drain(..=end).collect();
            self.file.write_all(self.redactor.mask_text(&whole).as_bytes())?;
        }
        if self.line.len() > LONGEST_LINE { self.end() } else { Ok(()) }
    }

    /// Writes what was held back.
    pub fn end(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.line);
        self.file.write_all(self.redactor.mask_text(&rest).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn private_masked_and_never_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        redactor.register("hunter2");
        let spill = Spill::new(dir.path().join("deep/spill"), redactor);
        let path = spill.text(CallId(7), "the password is hunter2").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "the password is •••");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(spill.directory().metadata().unwrap().permissions().mode() & 0o777, 0o700);

        let other = dir.path().join("other");
        std::fs::write(&other, "mine").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let mut pouring = spill.begin(CallId(7)).unwrap();
        for piece in ["hun", "ter2\nhunt", "er2"] {
            pouring.pour(piece).unwrap();
        }
        pouring.end().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "•••\n•••");
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "mine");
    }
}
