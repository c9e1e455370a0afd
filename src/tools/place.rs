//! Where a path leads.
//!
//! Owns: turning what a model wrote (`~/x`, `../a`, a link) into the absolute path that would be opened, with every symlink of the
//! existing part followed, and the question whether that lies inside a directory.
//! Does not: open anything (`file`), or decide what is allowed (`policy`).
//!
//! **Invariant:** for a path that exists the answer is the one of the system's own `realpath`; a link or a `..` never makes a place look
//! as if it were inside.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links followed before a path counts as a circle; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Absolute, no link in its existing part, no `.` or `..`.
    pub path: PathBuf,
    /// Whether a link stood on the way.
    pub linked: bool,
}

/// Follows `asked`, from `base` (absolute) where it is relative. What does not exist is taken as written; a path that cannot be looked at
/// is an error.
pub fn resolve(base: &Path, asked: &Path) -> io::Result<Resolved> {
    let mut todo: VecDeque<OsString> = VecDeque::new();
    queue(&mut todo, &base.join(asked));
    let mut path = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            path.pop();
            continue;
        }
        path.push(&part);
        match path.symlink_metadata() {
            Ok(found) if found.file_type().is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::other("too many links: they lead in a circle"));
                }
                let target = path.read_link()?;
                path.pop();
                if target.is_absolute() {
                    path = PathBuf::from("/");
                }
                queue(&mut todo, &target);
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Resolved { path, linked: links > 0 })
}

/// Puts the parts of a path before what is still to do.
fn queue(todo: &mut VecDeque<OsString>, path: &Path) {
    for part in path.components().rev() {
        match part {
            Component::Normal(name) => todo.push_front(name.to_owned()),
            Component::ParentDir => todo.push_front(OsString::from("..")),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
}

/// Replaces a leading `~` by the home directory. `~name` is left alone: it is a file of that name.
pub fn expand(asked: &str, home: Option<&Path>) -> PathBuf {
    match (asked.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_owned(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(asked),
    }
}

/// Whether a resolved path lies in one of these resolved directories, or is one.
pub fn inside<'a>(path: &Path, directories: impl IntoIterator<Item = &'a PathBuf>) -> bool {
    directories.into_iter().any(|directory| path.starts_with(directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn home_is_expanded_only_as_a_whole_part() {
        let home = Path::new("/home/u");
        assert_eq!(expand("~", Some(home)), home);
        assert_eq!(expand("~//x/y", Some(home)), Path::new("/home/u/x/y"));
        assert_eq!(expand("~other/x", Some(home)), Path::new("~other/x"));
        assert_eq!(expand("~/x", None), Path::new("~/x"));
    }

    #[test]
    fn links_are_followed_where_they_lead_and_missing_parts_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir_all(work.join("a/b")).unwrap();
        std::fs::create_dir(root.join("outside")).unwrap();
        symlink("../outside", work.join("out")).unwrap();
        symlink("a/b", work.join("in")).unwrap();
        symlink(root.join("nowhere/file"), work.join("dangling")).unwrap();
        symlink("loop", work.join("loop")).unwrap();
        let place = |asked: &str| resolve(&work, Path::new(asked)).unwrap();
        assert_eq!(place("in/new/x.txt"), Resolved { path: work.join("a/b/new/x.txt"), linked: true });
        assert_eq!(place("in/../y"), Resolved { path: work.join("a/y"), linked: true }, "`..` goes up from the target");
        assert_eq!(place("out/x").path, root.join("outside/x"));
        assert_eq!(place("dangling").path, root.join("nowhere/file"));
        assert_eq!(place("missing/../../other").path, root.join("other"));
        assert_eq!(place("a/./b"), Resolved { path: work.join("a/b"), linked: false });
        assert!(resolve(&work, Path::new("loop/x")).is_err());
        assert!(inside(&work, [&work]) && inside(&work.join("x"), [&work]));
        assert!(!inside(&root.join("workshop"), [&work]), "a longer name is not inside");
    }

    #[derive(Debug, Clone)]
    enum Made {
        Dir(String),
        File(String),
        Link(String, String),
    }

    fn part() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => "[abc]".prop_map(String::from),
            2 => Just("..".to_owned()),
            1 => Just(".".to_owned()),
            1 => Just("work".to_owned()),
            1 => Just("out".to_owned()),
        ]
    }

    fn path(most: usize) -> impl Strategy<Value = String> {
        (proptest::collection::vec(part(), 1..most), prop_oneof![4 => Just(""), 1 => Just("ROOT/")])
            .prop_map(|(parts, start)| format!("{start}{}", parts.join("/")))
    }

    fn made() -> impl Strategy<Value = Made> {
        prop_oneof![
            path(4).prop_map(Made::Dir),
            path(4).prop_map(Made::File),
            (path(4), path(5)).prop_map(|(at, to)| Made::Link(at, to)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
        #[test]
        fn the_same_as_realpath_and_never_inside_by_a_trick(
            things in proptest::collection::vec(made(), 0..14),
            asked in proptest::collection::vec(path(6), 1..6),
        ) {
            let dir = tempfile::tempdir().unwrap();
            // Deep enough that no run of `..` leaves the temporary directory's own tree unnoticed.
            let root = dir.path().canonicalize().unwrap();
            let work = root.join("work");
            std::fs::create_dir_all(&work).unwrap();
            std::fs::create_dir_all(root.join("out")).unwrap();
            let absolute = |text: &str| text.replace("ROOT", root.to_str().unwrap());
            // Only what lands below `root` is made: random `..` must not write elsewhere.
            let below = |text: &str| {
                let at = resolve(&work, Path::new(&absolute(text))).ok()?;
                (at.path.starts_with(&root) && at.path != root && at.path != work).then_some(at.path)
            };
            for thing in &things {
                match thing {
                    Made::Dir(at) => { if let Some(at) = below(at) { let _ = std::fs::create_dir_all(at); } }
                    Made::File(at) => { if let Some(at) = below(at).filter(|at| !at.exists()) { let _ = std::fs::write(at, "x"); } }
                    Made::Link(at, to) => { if let Some(at) = below(at) { let _ = symlink(absolute(to), at); } }
                }
            }
            for asked in &asked {
                let asked = absolute(asked);
                let ours = resolve(&work, Path::new(&asked));
                if let Ok(real) = work.join(&asked).canonicalize() {
                    let ours = ours.unwrap();
                    prop_assert_eq!(&ours.path, &real, "{}", asked);
                    prop_assert_eq!(inside(&ours.path, [&work]), real.starts_with(&work));
                } else if let Ok(ours) = ours {
                    // Not there: what would be made there lies below its real parent.
                    prop_assert!(!ours.path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)));
                    let mut existing = ours.path.as_path();
                    while !existing.exists() { existing = existing.parent().unwrap(); }
                    prop_assert_eq!(existing.canonicalize().unwrap(), existing);
                }
            }
        }
    }
}
