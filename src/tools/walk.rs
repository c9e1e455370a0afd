//! Walking through directories as a person would look at them.
//!
//! Owns: which files count (ignore files are honoured, dot files are shown, the stores of version control are not), never through a link, always
//! bounded; names that are near one that does not exist. Does not: format for the model.

use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Directories that hold the store of a version control, not work.
const STORES: &[&str] = &[".git", ".hg", ".svn", ".jj"];
/// Most entries that are looked at for a listing.
const MOST_ENTRIES: usize = 100_000;

/// When to give up.
#[derive(Debug, Clone)]
pub struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

/// Why something was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It was called off.
    Cancelled,
    /// The time was up.
    Time,
    /// There was too much.
    Count,
}

impl Stop {
    /// After this time, or when called off.
    pub fn after(time: Duration, cancel: CancellationToken) -> Self {
        Self { cancel, deadline: Instant::now() + time }
    }

    /// Whether to stop now.
    pub fn now(&self) -> Option<Stopped> {
        if self.cancel.is_cancelled() {
            Some(Stopped::Cancelled)
        } else if Instant::now() >= self.deadline {
            Some(Stopped::Time)
        } else {
            None
        }
    }
}

/// Whether ignore files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// `.gitignore`, `.ignore` and the like are honoured.
    Honoured,
    /// Everything counts.
    Off,
}

/// How deep to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only the directory itself.
    One,
    /// All below it.
    All,
}

/// A pattern for names.
#[derive(Debug, Clone)]
pub struct Pattern {
    glob: GlobMatcher,
    whole_path: bool,
}

impl Pattern {
    /// `*.rs` looks at the name alone, `src/**/*.rs` at the path below where the walk begins. The error is for the model.
    pub fn new(glob: &str) -> Result<Self, String> {
        let bare = glob.trim_start_matches("./").trim_start_matches('/');
        match GlobBuilder::new(bare).literal_separator(true).build() {
            Ok(built) => Ok(Self { glob: built.compile_matcher(), whole_path: bare.contains('/') }),
            Err(error) => Err(format!("{glob:?} is not a glob pattern: {error}")),
        }
    }

    /// Whether it can fit only below the root's own entries.
    pub fn is_deep(&self) -> bool {
        self.whole_path
    }

    /// Whether a path below the walk's root fits.
    pub fn fits(&self, below: &Path) -> bool {
        if self.whole_path {
            return self.glob.is_match(below);
        }
        below.file_name().is_some_and(|name| self.glob.is_match(name))
    }
}

/// The walk. Sorted by path; a link is an entry and is not followed.
pub fn builder(root: &Path, rules: Rules, depth: Depth) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    let honoured = rules == Rules::Honoured;
    builder
        .hidden(false)
        .ignore(honoured)
        .git_ignore(honoured)
        .git_global(honoured)
        .git_exclude(honoured)
        .parents(honoured)
        .require_git(false)
        .follow_links(false)
        .max_depth((depth == Depth::One).then_some(1))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.depth() == 0 || !STORES.iter().any(|store| entry.file_name() == *store));
    builder
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A file.
    File,
    /// A link, and where it leads.
    Link(PathBuf),
}

/// An entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Below the root.
    pub path: PathBuf,
    /// How far below: 1 for the root's own entries.
    pub depth: usize,
    /// What it is.
    pub kind: Kind,
}

/// A listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Whether ignore files counted.
    pub rules: Rules,
    /// Whether it was given up.
    pub stopped: Option<Stopped>,
}

/// Lists a directory. Where the ignore files would hide everything (the directory itself is an ignored one), they do not count.
pub fn list(root: &Path, depth: Depth, pattern: Option<&Pattern>, stop: &Stop) -> Listing {
    let honoured = list_with(root, Rules::Honoured, depth, pattern, stop);
    if !honoured.entries.is_empty() || honoured.stopped.is_some() {
        return honoured;
    }
    let all = list_with(root, Rules::Off, depth, pattern, stop);
    if all.entries.is_empty() { honoured } else { all }
}

fn list_with(root: &Path, rules: Rules, depth: Depth, pattern: Option<&Pattern>, stop: &Stop) -> Listing {
    let mut listing = Listing { entries: Vec::new(), rules, stopped: None };
    for (seen, found) in builder(root, rules, depth).build().enumerate() {
        listing.stopped = if seen >= MOST_ENTRIES { Some(Stopped::Count) } else { stop.now() };
        if listing.stopped.is_some() {
            break;
        }
        // What cannot be read is passed over: one closed directory must not hide the others.
        let Ok(found) = found else { continue };
        let Ok(below) = found.path().strip_prefix(root) else { continue };
        if found.depth() == 0 || pattern.is_some_and(|pattern| !pattern.fits(below)) {
            continue;
        }
        let kind = match found.file_type() {
            Some(kind) if kind.is_dir() => Kind::Directory,
            Some(kind) if kind.is_symlink() => Kind::Link(found.path().read_link().unwrap_or_default()),
            _ => Kind::File,
        };
        listing.entries.push(Entry { path: below.to_owned(), depth: found.depth(), kind });
    }
    listing
}

/// Most names proposed for one that does not exist.
const MOST_NEAR: usize = 5;

/// What somebody who asked for a missing path may have meant: like names beside it, and the same name elsewhere below `root`.
pub fn near(root: &Path, missing: &Path) -> Vec<PathBuf> {
    let Some(name) = missing.file_name() else { return Vec::new() };
    let wanted = name.to_string_lossy().to_lowercase();
    let mut found: Vec<(f64, PathBuf)> = Vec::new();
    if let Some(beside) = missing.parent().and_then(|parent| std::fs::read_dir(parent).ok()) {
        for entry in beside.flatten().take(2_000) {
            let other = entry.file_name().to_string_lossy().to_lowercase();
            let score = strsim::normalized_damerau_levenshtein(&wanted, &other);
            if score >= 0.6 || (wanted.len() > 2 && other.starts_with(&wanted)) {
                found.push((score, entry.path()));
            }
        }
    }
    let stop = Stop::after(Duration::from_millis(300), CancellationToken::new());
    for entry in builder(root, Rules::Honoured, Depth::All).build().take(5_000).flatten() {
        if stop.now().is_some() {
            break;
        }
        let path = entry.path();
        // `a/src/main.rs` for `src/main.rs`, or `main.rs` elsewhere.
        if entry.file_name().to_string_lossy().to_lowercase() == wanted && found.iter().all(|(_, known)| known != path)
        {
            found.push((0.9, path.to_owned()));
        }
    }
    found.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.cmp(y)));
    found.truncate(MOST_NEAR);
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn stop() -> Stop {
        Stop::after(Duration::from_secs(20), CancellationToken::new())
    }

    fn names(listing: &Listing) -> Vec<String> {
        listing.entries.iter().map(|entry| entry.path.display().to_string()).collect()
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in ["src/main.rs", "src/deep/lib.rs", "target/debug/x", "made/y", ".env", ".git/config", "notes.md"] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), path).unwrap();
        }
        std::fs::write(root.join(".gitignore"), "/target\n/made/**\n").unwrap();
        symlink("/etc", root.join("etc")).unwrap();
        (dir, root)
    }

    #[test]
    fn ignored_files_and_stores_are_left_out_dot_files_are_not_and_links_are_not_followed() {
        let (_dir, root) = tree();
        let all = list(&root, Depth::All, None, &stop());
        assert_eq!(
            names(&all),
            [".env", ".gitignore", "etc", "made", "notes.md", "src", "src/deep", "src/deep/lib.rs", "src/main.rs"]
        );
        assert_eq!(all.entries[2].kind, Kind::Link("/etc".into()));
        assert_eq!(
            names(&list(&root, Depth::One, None, &stop())),
            [".env", ".gitignore", "etc", "made", "notes.md", "src"]
        );
        let target = list(&root.join("target"), Depth::All, None, &stop());
        assert_eq!(names(&target), ["debug", "debug/x"], "an ignored directory that is named is listed");
        let made = list(&root.join("made"), Depth::All, None, &stop());
        assert_eq!((names(&made), made.rules), (vec!["y".to_owned()], Rules::Off));
    }

    #[test]
    fn patterns_look_at_names_or_paths() {
        let (_dir, root) = tree();
        let with = |glob: &str| names(&list(&root, Depth::All, Some(&Pattern::new(glob).unwrap()), &stop()));
        assert_eq!(with("*.rs"), ["src/deep/lib.rs", "src/main.rs"]);
        assert_eq!(with("./src/*.rs"), ["src/main.rs"]);
        assert_eq!(with("src/**/*.rs"), ["src/deep/lib.rs", "src/main.rs"]);
        assert!(Pattern::new("a[").is_err());
    }

    #[test]
    fn near_names() {
        let (_dir, root) = tree();
        assert_eq!(near(&root, &root.join("src/man.rs"))[0], root.join("src/main.rs"));
        assert_eq!(near(&root, &root.join("lib.rs"))[0], root.join("src/deep/lib.rs"));
        assert_eq!(near(&root, &root.join("nothing/like/it")), Vec::<PathBuf>::new());
    }

    #[test]
    fn it_can_be_called_off() {
        let (_dir, root) = tree();
        let cancel = CancellationToken::new();
        cancel.cancel();
        let listing = list(&root, Depth::All, None, &Stop::after(Duration::from_secs(9), cancel));
        assert_eq!((listing.entries.len(), listing.stopped), (0, Some(Stopped::Cancelled)));
    }
}
