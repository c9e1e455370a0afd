//! What a grant covers. Pure.
//!
//! Owns: matching a call against a grant. **Invariant:** a grant covers a call only with the same tool, the same project and the same definition.
//!
//! Files under version control's own directory and mcpane's project files ([`is_protected`]) are not covered by a grant for the directory
//! they lie in: who may write them may run programs later.

use super::Subject;
use crate::domain::policy::{ArgumentRule, Grant};
use std::path::{Component, Path};

/// How the store sees a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was granted that has to do with it.
    None,
    /// Granted for this session.
    Session,
    /// Granted for good.
    Always,
    /// It was granted, but the definition changed since.
    Void {
        /// Which parts of the definition changed: names of its fields, comma separated; empty where the old one is not known.
        changed: String,
    },
}

/// How a grant relates to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// It covers it.
    Yes,
    /// It would, but the definition changed.
    Void,
    /// It does not.
    No,
}

/// Whether a grant covers a call in a project.
pub fn cover(grant: &Grant, subject: &Subject<'_>, project: &str) -> Cover {
    if grant.tool != subject.spec.id || grant.project != project || !arguments(&grant.arguments, subject) {
        return Cover::No;
    }
    if grant.definition == subject.spec.hash { Cover::Yes } else { Cover::Void }
}

fn arguments(rule: &ArgumentRule, subject: &Subject<'_>) -> bool {
    match rule {
        ArgumentRule::Any => true,
        ArgumentRule::Exactly { arguments } => arguments == subject.arguments,
        ArgumentRule::Inside { directory } => {
            let paths = &subject.facts.paths;
            !paths.is_empty() && paths.iter().all(|path| is_inside(path, directory) && !is_protected(path))
        }
    }
}

/// Whether a path is a directory or lies in it. Both absolute; a path that still climbs lies nowhere.
pub fn is_inside(path: &str, directory: &str) -> bool {
    let path = Path::new(path);
    let climbs = path.components().any(|step| step == Component::ParentDir);
    !directory.is_empty() && !climbs && path.is_absolute() && path.starts_with(directory)
}

/// Whether what is written there may be run or believed later: hooks of version control, mcpane's own files in a project.
pub fn is_protected(path: &str) -> bool {
    let path = Path::new(path);
    let named = |step: Component<'_>| {
        let step = step.as_os_str().to_string_lossy().to_lowercase();
        matches!(step.as_str(), ".git" | ".hg" | ".svn" | ".jj" | ".mcpane" | ".mcp.json")
    };
    path.components().any(named)
}
