//! Servers out of other programs' files, as entries of ours.
//!
//! Owns: where those programs keep their servers, in which shape, and what of it has no place here. Pure but for the list of files. Does not read or write
//! files, or decide whether an entry may start.
//!
//! **Invariant:** what is not carried over is said: by name, and with the reason.

mod entry;
mod variables;

use super::paths::Dirs;
use super::servers::syntax;
use crate::config::report::Report;
use crate::domain::Phrase;
use jsonc_parser::parse_to_serde_value;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use variables::Variables;

/// A program whose files are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
    /// mcphost.
    Mcphost,
    /// opencode.
    Opencode,
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// Its name.
    pub name: String,
    /// Its entry in our form; `None` where nothing of it can be carried over.
    pub entry: Option<Value>,
    /// What the user should know: what is not carried over, and what is left to do.
    pub remarks: Vec<Phrase>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Servers, in file order.
    pub servers: Vec<Taken>,
    /// What the user should know about the whole.
    pub remarks: Vec<Phrase>,
}

impl Program {
    /// The user's own files, the one that is looked at first before the others.
    pub fn user_files(self, dirs: &Dirs) -> Vec<PathBuf> {
        let home = |path: &str| dirs.home.join(path);
        let support = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
        match self {
            Self::ClaudeDesktop => vec![home(support).join("Claude/claude_desktop_config.json")],
            Self::ClaudeCode => vec![home(".claude.json")],
            Self::Cursor => vec![home(".cursor/mcp.json")],
            Self::Vscode => vec![home(support).join("Code/User/mcp.json")],
            Self::Gemini => vec![home(".gemini/settings.json")],
            Self::Mcphost => vec![home(".mcphost.json"), home(".mcphost.yml"), home(".mcphost.yaml")],
            Self::Opencode => vec![home(".config/opencode/opencode.json"), home(".config/opencode/opencode.jsonc")],
        }
    }

    /// A project's files.
    pub fn project_files(self, project: &Path) -> Vec<PathBuf> {
        let names: &[&str] = match self {
            Self::ClaudeDesktop => &[],
            // mcpane reads it itself.
            Self::ClaudeCode => &[".mcp.json"],
            Self::Cursor => &[".cursor/mcp.json"],
            Self::Vscode => &[".vscode/mcp.json"],
            Self::Gemini => &[".gemini/settings.json"],
            Self::Mcphost => &[".mcphost.json", ".mcphost.yml"],
            Self::Opencode => &["opencode.json", "opencode.jsonc"],
        };
        names.iter().map(|name| project.join(name)).collect()
    }

    /// Reads the text of a file. `project` stands in for the folder that is open in an editor.
    pub fn read(self, text: &str, file: &Path, project: &Path) -> Result<Found, Phrase> {
        if file.extension().is_some_and(|ending| ending == "yml" || ending == "yaml") {
            return Err(Phrase::new("import.yaml").with("file", file.display()));
        }
        let root = parse_to_serde_value::<Option<Value>>(text, &syntax()).map_err(|error| {
            let line = Report::new(file, text).line(error.range().start);
            Phrase::new("import.json").with("file", file.display()).with("line", line).with("problem", error.kind())
        })?;
        let Some(Value::Object(root)) = root else { return Ok(Found::default()) };
        let mut found = Found::default();
        let variables = Variables::new(self, self.inputs(&root), project);
        for (name, server) in self.servers(&root, project, &mut found.remarks) {
            let mut taken = entry::translate(self, &name, &server, &variables);
            if self.is_off(&root, &name)
                && let Some(Value::Object(entry)) = &mut taken.entry
            {
                entry.insert("disabled".to_owned(), Value::Bool(true));
            }
            found.servers.push(taken);
        }
        Ok(found)
    }

    /// The servers as they stand.
    fn servers(self, root: &Map<String, Value>, project: &Path, remarks: &mut Vec<Phrase>) -> Vec<(String, Value)> {
        let table = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut servers: Vec<(String, Value)> = Vec::new();
        match self {
            Self::ClaudeDesktop | Self::Cursor | Self::Gemini | Self::Mcphost => {
                servers.extend(table(root.get("mcpServers")));
            }
            Self::ClaudeCode => {
                let projects = table(root.get("projects"));
                let here = project.display().to_string();
                servers.extend(table(projects.get(&here).and_then(|own| own.get("mcpServers"))));
                servers.extend(table(root.get("mcpServers")));
                let others = projects.iter().filter(|(path, _)| **path != here);
                let count: usize = others.map(|(_, other)| table(other.get("mcpServers")).len()).sum();
                if count > 0 {
                    remarks.push(Phrase::new("import.other_projects").with("count", count));
                }
            }
            Self::Vscode => {
                let inner = root.get("mcp").and_then(|mcp| mcp.get("servers"));
                servers.extend(table(root.get("servers").or(inner)));
            }
            Self::Opencode => {
                let mcp = table(root.get("mcp"));
                // The second version of its format puts them one level deeper.
                let deeper = mcp.get("servers").filter(|inner| inner.get("type").is_none());
                servers.extend(deeper.map_or_else(|| mcp.clone(), |inner| table(Some(inner))));
            }
        }
        servers
    }

    /// What VS Code would ask the user for.
    fn inputs(self, root: &Map<String, Value>) -> Vec<Value> {
        let inner = || root.get("mcp").and_then(|mcp| mcp.get("inputs"));
        let inputs = root.get("inputs").or_else(inner).and_then(Value::as_array);
        inputs.filter(|_| self == Self::Vscode).cloned().unwrap_or_default()
    }

    /// Whether a list beside the servers switches one off.
    fn is_off(self, root: &Map<String, Value>, name: &str) -> bool {
        let listed = |key: &str| {
            let list = root.get("mcp").and_then(|mcp| mcp.get(key)).and_then(Value::as_array)?;
            Some(list.iter().any(|item| item.as_str() == Some(name)))
        };
        self == Self::Gemini && (listed("excluded") == Some(true) || listed("allowed") == Some(false))
    }
}

#[cfg(test)]
mod tests;
