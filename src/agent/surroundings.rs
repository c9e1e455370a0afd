//! What a message tells the model about where it works: the working directory and its files.
//!
//! Reads the disk; what it finds is rendered by `dialect::environment`.

use crate::dialect::{self, Environment};
use crate::domain::{Conversation, Step, ToolOutcome};
use serde_json::Value;
use std::path::Path;

/// Files named at most; more are only counted.
const FILES: usize = 200;
/// Entries looked at at most, so that a huge tree costs no more than a large one.
const LOOKED_AT: usize = 20_000;

/// The files below a directory that ignore rules let through, relative, sorted, at most [`FILES`]; and how many more there are
/// (of those that were looked at).
fn files(directory: &Path) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let walk = ignore::WalkBuilder::new(directory).require_git(false).max_depth(Some(6)).build();
    for entry in walk.flatten().take(LOOKED_AT) {
        let Ok(relative) = entry.path().strip_prefix(directory) else { continue };
        if relative.as_os_str().is_empty() {
            continue;
        }
        let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
        let mut name = relative.to_string_lossy().into_owned();
        if is_directory {
            name.push('/');
        }
        found.push(name);
    }
    // Shallow entries first: they tell most about a project.
    found.sort_by_key(|name| (name.trim_end_matches('/').matches('/').count(), name.clone()));
    let more = found.len().saturating_sub(FILES);
    found.truncate(FILES);
    found.sort();
    (found, more)
}

/// The environment part of a message sent now. Reads the disk.
pub fn environment(cwd: &Path, system: &str, read: &[String], written: &[String]) -> String {
    let (files, more) = files(cwd);
    let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M %Z, %A").to_string();
    let cwd = cwd.to_string_lossy();
    dialect::environment(&Environment { cwd: &cwd, files: &files, more, read, written, time: &time, system })
}

/// Files that calls of this session read and wrote, in the order of the first time.
pub fn touched(conversation: &Conversation) -> (Vec<String>, Vec<String>) {
    let (mut read, mut written) = (Vec::new(), Vec::new());
    let calls = conversation.turns.iter().flat_map(|turn| &turn.steps).flat_map(Step::calls);
    for (call, outcome) in calls {
        let Some(ToolOutcome::Done { is_error: false, .. }) = outcome else { continue };
        let Some(tool) = call.tool.as_ref().filter(|tool| tool.server.is_none()) else { continue };
        let list = match &*tool.name {
            "read_file" => &mut read,
            "write_to_file" | "replace_in_file" => &mut written,
            _ => continue,
        };
        if let Some(path) = call.arguments.get("path").and_then(Value::as_str)
            && !list.iter().any(|known| known == path)
        {
            list.push(path.to_owned());
        }
    }
    (read, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_what_ignore_rules_let_through_shallow_first() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        std::fs::create_dir_all(root.join("src/deep")).unwrap();
        std::fs::create_dir_all(root.join("target")).unwrap();
        for name in [".gitignore", "README.md", "src/main.rs", "src/deep/x.rs", "target/out"] {
            std::fs::write(root.join(name), if name == ".gitignore" { "target/\n" } else { "" }).unwrap();
        }
        let (files, more) = files(root);
        assert_eq!(files, ["README.md", "src/", "src/deep/", "src/deep/x.rs", "src/main.rs"]);
        assert_eq!(more, 0);
        for n in 0..300 {
            std::fs::write(root.join(format!("src/deep/{n}.rs")), "").unwrap();
        }
        let (files, more) = super::files(root);
        assert_eq!((files.len(), more), (200, 105));
        assert!(files.contains(&"README.md".to_owned()));
    }
}
