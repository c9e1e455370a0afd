//! Where a command is found, as the system would look for it when a server starts. Reads directories; starts nothing.

use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// What a command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// This program would run.
    At(PathBuf),
    /// There is a file, but it may not be executed.
    NotExecutable(PathBuf),
    /// There is nothing.
    Nowhere,
}

/// Looks for a command: one with a slash below `cwd`, else in the directories of `path` (a value of `PATH`).
pub fn find(command: &str, path: Option<&str>, cwd: &Path) -> Found {
    if command.contains('/') {
        return judge(cwd.join(command));
    }
    let mut barred = None;
    for directory in path.unwrap_or_default().split(':') {
        // An empty one is the working directory.
        match judge(cwd.join(directory).join(command)) {
            Found::At(program) => return Found::At(program),
            Found::NotExecutable(program) => barred = barred.or(Some(program)),
            Found::Nowhere => {}
        }
    }
    barred.map_or(Found::Nowhere, Found::NotExecutable)
}

fn judge(program: PathBuf) -> Found {
    if !program.is_file() {
        return Found::Nowhere;
    }
    if access(&program, Access::EXEC_OK).is_ok() { Found::At(program) } else { Found::NotExecutable(program) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn as_the_system_looks() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, mode) in [("a/tool", 0o644), ("b/tool", 0o755), ("a/other", 0o644), ("here", 0o755)] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = format!("{}:{}:/nowhere", at("a").display(), at("b").display());
        let find = |command: &str| super::find(command, Some(&path), dir.path());
        assert_eq!(find("tool"), Found::At(at("b/tool")));
        assert_eq!(find("other"), Found::NotExecutable(at("a/other")));
        assert_eq!(find("nothing"), Found::Nowhere);
        assert_eq!(find("./here"), Found::At(at("./here")));
        assert_eq!(find("a"), Found::Nowhere, "a directory is no program");
        assert_eq!(super::find("here", Some(""), dir.path()), Found::At(at("here")));
    }
}
