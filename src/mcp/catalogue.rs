//! The last known tools of a server, on disk, so that it need not be started to know what it can do.
//!
//! Owns: `<state dir>/catalogue/<fingerprint>.json`. The fingerprint covers what decides how a server starts: a changed entry has no catalogue.
//! The file holds the definitions as the server sent them; they are read anew each time, so a stricter version of this program is not fooled by
//! an older one's files. Written owner-only and atomically. A file that cannot be read is no catalogue; it costs a start, nothing else.

use crate::disk;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Largest file that is read or written.
const LIMIT: u64 = 16 * 1024 * 1024;
/// Version of the file's form.
const VERSION: u32 = 1;

/// What is remembered of a server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Catalogue {
    /// Version of the file's form.
    pub(super) version: u32,
    /// The server's name when it was written; only for people who look into the file.
    #[serde(default)]
    pub(super) server: String,
    /// Name and version that the server gave itself.
    #[serde(default)]
    pub(super) identity: Option<String>,
    /// Protocol revision that was agreed on.
    #[serde(default)]
    pub(super) protocol: Option<String>,
    /// Its instructions for the model.
    #[serde(default)]
    pub(super) instructions: Option<String>,
    /// Whether it has resources.
    #[serde(default)]
    pub(super) resources: bool,
    /// The definitions, as received.
    pub(super) tools: Vec<Value>,
}

impl Catalogue {
    /// A catalogue of these definitions.
    pub(super) fn new(server: &str, tools: Vec<Value>) -> Self {
        Self { version: VERSION, server: server.to_owned(), tools, ..Self::default() }
    }

    /// What is known of the entry with this fingerprint.
    pub(super) fn load(state_dir: &Path, fingerprint: &str) -> Option<Self> {
        let text = disk::read(&path(state_dir, fingerprint)).ok()??;
        let read: Self = serde_json::from_str(&text).ok()?;
        (read.version == VERSION).then_some(read)
    }

    /// Remembers it. Writes nothing where the file says so already.
    pub(super) fn store(&self, state_dir: &Path, fingerprint: &str) -> io::Result<()> {
        if Self::load(state_dir, fingerprint).as_ref() == Some(self) {
            return Ok(());
        }
        let text = serde_json::to_vec(self)?;
        if text.len() as u64 > LIMIT {
            return Err(io::Error::other("the list of tools is too large to be remembered"));
        }
        let path = path(state_dir, fingerprint);
        let dir = path.parent().unwrap_or(state_dir);
        std::fs::create_dir_all(dir)?;
        // `NamedTempFile` makes its files owner-only.
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&text)?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The file of a fingerprint. A fingerprint is hexadecimal; anything else in it is replaced, so that it can name no other place.
fn path(state_dir: &Path, fingerprint: &str) -> PathBuf {
    let name: String = fingerprint.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(128).collect();
    state_dir.join("catalogue").join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_stored_is_found_and_is_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = Catalogue {
            instructions: Some("i".into()),
            ..Catalogue::new("s", vec![json!({ "name": "t", "inputSchema": { "z": 1, "a": 2 } })])
        };
        assert_eq!(Catalogue::load(dir.path(), "ab12"), None);
        catalogue.store(dir.path(), "ab12").unwrap();
        assert_eq!(Catalogue::load(dir.path(), "ab12"), Some(catalogue.clone()));
        assert_eq!(Catalogue::load(dir.path(), "ab13"), None);
        let file = dir.path().join("catalogue/ab12.json");
        let before = std::fs::metadata(&file).unwrap();
        assert_eq!(before.permissions().mode() & 0o777, 0o600);
        catalogue.store(dir.path(), "ab12").unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), before.modified().unwrap(), "written again");
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Catalogue::load(dir.path(), "ab12"), None);
    }

    #[test]
    fn a_fingerprint_names_no_other_place() {
        assert_eq!(path(Path::new("/s"), "../../x"), Path::new("/s/catalogue/______x.json"));
    }
}
