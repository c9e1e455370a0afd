//! Which files of projects the user trusts.
//!
//! Owns `<state dir>/trust.json` (0600): for each file the hashes of the contents that were trusted, and the last of those contents, so that a change can
//! be shown. A refusal is kept in memory for this session only. Does not read the project's files, or ask.
//!
//! **Invariants:** trust is for a path *and* a content: any change asks anew, and what was trusted once (another branch) is not asked again. What is
//! accepted is the content that was shown, not what stands in the file by then. A change reads the file again under its lock.

use crate::disk;
use crate::domain::prompt::TrustRequest;
use crate::domain::{Notice, Phrase, ServerName, diff};
use crate::schema::hash;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

const VERSION: u64 = 1;
/// Contents remembered for each file.
const REMEMBERED: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Trusted {
    /// SHA-256 of trusted contents, the newest last.
    hashes: Vec<String>,
    /// The content trusted last.
    content: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u64,
    #[serde(default)]
    files: BTreeMap<String, Trusted>,
}

/// Where the user stands about a file with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Trusted.
    Trusted,
    /// Refused in this session.
    Refused,
    /// Not asked yet, or changed since.
    Unknown,
}

/// What the user trusts.
#[derive(Debug, Default)]
pub struct Trust {
    file: Option<PathBuf>,
    files: BTreeMap<String, Trusted>,
    refused: HashSet<(String, String)>,
    /// Contents that were shown to the user and wait for an answer, by file.
    asked: BTreeMap<String, String>,
}

impl Trust {
    /// Trust in nothing, kept nowhere.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Reads the file; one that cannot be read trusts nothing, with a warning.
    pub fn load(file: &Path) -> (Self, Vec<Notice>) {
        let mut trust = Self { file: Some(file.to_path_buf()), ..Self::default() };
        let read = match disk::read(file) {
            Ok(Some(text)) => parse(&text),
            Ok(None) => Ok(Contents::default()),
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(contents) => {
                trust.files = contents.files;
                (trust, Vec::new())
            }
            Err(problem) => {
                let text = Phrase::new("config.trust_broken").with("file", file.display()).with("problem", problem);
                (trust, vec![Notice::warning(text)])
            }
        }
    }

    /// Where the user stands about a file with this content.
    pub fn standing(&self, path: &Path, content: &str) -> Standing {
        let (key, hash) = (key(path), hash::hex(content.as_bytes()));
        if self.files.get(&key).is_some_and(|trusted| trusted.hashes.contains(&hash)) {
            Standing::Trusted
        } else if self.refused.contains(&(key, hash)) {
            Standing::Refused
        } else {
            Standing::Unknown
        }
    }

    /// Whether a file with this content is trusted.
    pub fn is_trusted(&self, path: &Path, content: &str) -> bool {
        self.standing(path, content) == Standing::Trusted
    }

    /// The question to the user. `servers` is what trusting the file would start. A file that starts nothing is shown line by line, also the first
    /// time.
    pub fn request(&mut self, path: &Path, content: &str, servers: Vec<(ServerName, String)>) -> TrustRequest {
        let file = key(path);
        self.asked.insert(file.clone(), content.to_owned());
        let changes = match self.files.get(&file) {
            Some(trusted) => diff::lines(&trusted.content, content),
            None if servers.is_empty() => diff::added(content),
            None => Vec::new(),
        };
        TrustRequest { file, servers, changes }
    }

    /// The user's answer to [`Self::request`], for the content that was shown. An answer for a file that was not asked about changes nothing.
    pub fn answer(&mut self, file: &str, yes: bool) -> Result<(), Notice> {
        let Some(content) = self.asked.remove(file) else { return Ok(()) };
        if yes {
            self.accept(Path::new(file), &content)
        } else {
            self.refuse(Path::new(file), &content);
            Ok(())
        }
    }

    /// Trusts a file with this content from now on. The error says why that holds for this session only.
    pub fn accept(&mut self, path: &Path, content: &str) -> Result<(), Notice> {
        let (key, hash) = (key(path), hash::hex(content.as_bytes()));
        self.refused.remove(&(key.clone(), hash.clone()));
        add(self.files.entry(key.clone()).or_default(), &hash, content);
        let Some(file) = self.file.clone() else { return Ok(()) };
        let written: io::Result<_> = disk::update(&file, |before| {
            let mut contents = match before.as_deref().map(parse) {
                None => Contents::default(),
                Some(Ok(contents)) => contents,
                Some(Err(_)) => {
                    disk::write(&file.with_extension("json.broken"), before.as_deref().unwrap_or_default())?;
                    Contents::default()
                }
            };
            if contents.version > VERSION {
                return Err(io::Error::other("it was written by a newer mcpane"));
            }
            contents.version = VERSION;
            add(contents.files.entry(key).or_default(), &hash, content);
            let text = serde_json::to_string_pretty(&contents)?;
            Ok((Some(text), contents.files))
        });
        match written {
            Ok(files) => {
                self.files = files;
                Ok(())
            }
            Err(error) => {
                let text = Phrase::new("config.trust_unsaved").with("file", file.display()).with("problem", error);
                Err(Notice::warning(text))
            }
        }
    }

    /// Forgets what was refused: the user wants to be asked again.
    pub fn ask_again(&mut self) {
        self.refused.clear();
    }

    /// Refuses a file with this content for this session.
    pub fn refuse(&mut self, path: &Path, content: &str) {
        self.refused.insert((key(path), hash::hex(content.as_bytes())));
    }
}

fn parse(text: &str) -> Result<Contents, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn add(trusted: &mut Trusted, hash: &str, content: &str) {
    trusted.hashes.retain(|known| known != hash);
    trusted.hashes.push(hash.to_owned());
    let surplus = trusted.hashes.len().saturating_sub(REMEMBERED);
    trusted.hashes.drain(..surplus);
    content.clone_into(&mut trusted.content);
}

/// A file is known by its real path, so that a link does not make it another one.
fn key(path: &Path) -> String {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn load(file: &Path) -> Trust {
        let (trust, notices) = Trust::load(file);
        assert_eq!(notices, []);
        trust
    }

    #[test]
    fn trust_is_asked_once_for_each_content() {
        let dir = tempfile::tempdir().unwrap();
        let (file, project) = (dir.path().join("state/trust.json"), dir.path().join(".mcp.json"));
        let mut trust = load(&file);
        let servers = vec![(ServerName::from("s"), "npx s".to_owned())];
        assert_eq!(trust.standing(&project, "one"), Standing::Unknown);
        let request = trust.request(&project, "one", servers.clone());
        assert_eq!((request.servers.len(), request.changes.len()), (1, 0));
        trust.answer(&request.file, true).unwrap();
        assert!(trust.is_trusted(&project, "one"));
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        let mut again = load(&file);
        assert!(again.is_trusted(&project, "one") && !again.is_trusted(&project, "two"));
        assert!(!again.is_trusted(&dir.path().join("other.json"), "one"));
        let request = again.request(&project, "two", servers);
        assert_eq!(
            request.changes.iter().map(|l| (l.sign, l.text.as_str())).collect::<Vec<_>>(),
            [('-', "one"), ('+', "two")]
        );
        again.answer(&request.file, true).unwrap();
        assert!(again.is_trusted(&project, "one"), "another branch is not asked about again");
        assert!(load(&file).is_trusted(&project, "two"));
    }

    #[test]
    fn what_is_accepted_is_what_was_shown() {
        let mut trust = Trust::in_memory();
        let file = trust.request(Path::new("/p/.mcp.json"), "shown", Vec::new()).file;
        trust.answer(&file, true).unwrap();
        assert!(trust.is_trusted(Path::new("/p/.mcp.json"), "shown"));
        assert!(!trust.is_trusted(Path::new("/p/.mcp.json"), "changed meanwhile"));
        trust.answer("/never/asked", true).unwrap();
        assert!(!trust.is_trusted(Path::new("/never/asked"), ""));
    }

    #[test]
    fn a_refusal_holds_for_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let (file, project) = (dir.path().join("trust.json"), dir.path().join(".mcp.json"));
        let mut trust = load(&file);
        let asked = trust.request(&project, "x", Vec::new()).file;
        trust.answer(&asked, false).unwrap();
        assert_eq!(trust.standing(&project, "x"), Standing::Refused);
        assert_eq!(trust.standing(&project, "y"), Standing::Unknown);
        assert_eq!(load(&file).standing(&project, "x"), Standing::Unknown);
        trust.accept(&project, "x").unwrap();
        assert!(trust.is_trusted(&project, "x"));
    }

    #[test]
    fn settings_are_shown_line_by_line_the_first_time() {
        let request = Trust::in_memory().request(Path::new("/p/config.toml"), "a = 1\nb = 2\n", Vec::new());
        assert_eq!(request.changes.iter().map(|l| l.sign).collect::<String>(), "++");
    }

    #[test]
    fn two_processes_do_not_lose_each_others_trust() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trust.json");
        let (mut a, mut b) = (load(&file), load(&file));
        a.accept(Path::new("/a"), "x").unwrap();
        b.accept(Path::new("/b"), "x").unwrap();
        let both = load(&file);
        assert!(both.is_trusted(Path::new("/a"), "x") && both.is_trusted(Path::new("/b"), "x"));
    }

    #[test]
    fn a_broken_file_trusts_nothing_and_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("trust.json");
        fs::write(&file, "{").unwrap();
        let (mut trust, notices) = Trust::load(&file);
        assert_eq!(
            (notices[0].text.key.as_ref(), crate::strings::lacks(&notices[0].text).len()),
            ("config.trust_broken", 0)
        );
        trust.accept(Path::new("/a"), "x").unwrap();
        assert!(load(&file).is_trusted(Path::new("/a"), "x"));
        assert_eq!(fs::read_to_string(dir.path().join("trust.json.broken")).unwrap(), "{");
        fs::write(&file, r#"{ "version": 9, "files": {} }"#).unwrap();
        assert_eq!(load(&file).accept(Path::new("/a"), "x").unwrap_err().text.key, "config.trust_unsaved");
    }
}
