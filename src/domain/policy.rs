//! May this call run? The answer, and what the user can grant.

use super::error::Phrase;
use super::tool::ToolId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Which arguments a grant covers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "match", rename_all = "snake_case")]
pub enum ArgumentRule {
    /// Any arguments.
    Any,
    /// These arguments exactly (a command, say).
    Exactly {
        /// The arguments.
        arguments: Value,
    },
    /// Any arguments whose file lies in this directory.
    Inside {
        /// Absolute, symlinks resolved.
        directory: String,
    },
}

/// Exactly what a *session* or *always* answer allows. It is shown before it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// The tool.
    pub tool: ToolId,
    /// The arguments it covers.
    pub arguments: ArgumentRule,
    /// The project directory it holds in.
    pub project: String,
    /// The tool definition's hash; a changed definition voids the grant.
    pub definition: Arc<str>,
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow {
        /// Why nobody was asked.
        why: Phrase,
    },
    /// The user is asked.
    Ask {
        /// Why.
        why: Phrase,
    },
    /// It never runs.
    Deny {
        /// Why; the model reads it too.
        why: Phrase,
    },
}

/// One line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// `' '`, `'+'` or `'-'`.
    pub sign: char,
    /// Line number in the file before, for `' '` and `'-'`.
    pub old: Option<u32>,
    /// Line number in the file after, for `' '` and `'+'`.
    pub new: Option<u32>,
    /// The line without its end.
    pub text: String,
}

/// What a write would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file as the model named it.
    pub path: String,
    /// Whether it exists already.
    pub exists: bool,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Hunks with three lines of context, one after another.
    pub hunks: Vec<Vec<DiffLine>>,
    /// Lines left out because the diff is too large to show.
    pub omitted: usize,
}

/// What the user sees of a call before answering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "preview", rename_all = "snake_case")]
pub enum Preview {
    /// Its arguments.
    Arguments,
    /// A change to a file.
    Diff(FileDiff),
    /// A command.
    Command {
        /// The whole command line.
        command: String,
        /// Where it runs.
        cwd: String,
    },
    /// A write that cannot be done as asked (a search text that is not there); shown with the reason.
    Impossible {
        /// Why.
        why: String,
    },
}

/// What was found out about a call before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Whether it may run.
    pub verdict: Verdict,
    /// What the user should know before saying yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Phrase>,
    /// What it would do.
    pub preview: Preview,
    /// What *session* and *always* would allow; `None` where only *once* is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}

/// What a tool knows about a call before it runs, for the policy to judge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Files or directories it touches: absolute, symlinks of the existing part resolved.
    pub paths: Vec<String>,
    /// Whether all of them lie inside the working directories.
    pub inside: bool,
    /// The command line it runs.
    pub command: Option<String>,
}
