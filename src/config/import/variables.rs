//! Variables as other programs write them, in our way: `${NAME}` and `${NAME:-default}`. Pure.

use super::Program;
use crate::domain::Phrase;
use serde_json::Value;
use std::path::Path;

/// What variables stand for.
pub(super) struct Variables<'a> {
    program: Program,
    inputs: Vec<Value>,
    project: &'a Path,
}

impl<'a> Variables<'a> {
    /// Of a program, with what it would ask the user for, in this project.
    pub(super) fn new(program: Program, inputs: Vec<Value>, project: &'a Path) -> Self {
        Self { program, inputs, project }
    }

    /// A text with its variables in our way; what has none is said.
    pub(super) fn fill(&self, text: &str, remarks: &mut Vec<Phrase>) -> String {
        match self.program {
            // It fills nothing in, and we would.
            Program::ClaudeDesktop => {
                if text.contains("${") {
                    remarks.push(Phrase::new("import.filled_now").with("text", text));
                }
                text.to_owned()
            }
            Program::ClaudeCode => text.to_owned(),
            Program::Gemini => dollars(text),
            Program::Cursor | Program::Vscode => braces(text, "${", |name| self.of_editor(name, remarks)),
            Program::Mcphost => braces(text, "${", |name| Some(format!("${{{}}}", name.strip_prefix("env://")?))),
            Program::Opencode => braces(text, "{", |name| {
                if let Some(name) = name.strip_prefix("env:") {
                    return Some(format!("${{{name}}}"));
                }
                if name.starts_with("file:") {
                    remarks.push(Phrase::new("import.lost_variable").with("text", format!("{{{name}}}")));
                }
                None
            }),
        }
    }

    /// A variable of an editor.
    fn of_editor(&self, name: &str, remarks: &mut Vec<Phrase>) -> Option<String> {
        if let Some(variable) = name.strip_prefix("env:") {
            return Some(format!("${{{variable}}}"));
        }
        if let Some(id) = name.strip_prefix("input:") {
            return Some(self.of_input(id, remarks));
        }
        match name {
            "workspaceFolder" | "workspaceRoot" => {
                let folder = self.project.display().to_string();
                remarks.push(Phrase::new("import.folder").with("text", format!("${{{name}}}")).with("folder", &folder));
                Some(folder)
            }
            "workspaceFolderBasename" => {
                Some(self.project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
            }
            "userHome" => Some("${HOME}".to_owned()),
            "pathSeparator" | "/" => Some("/".to_owned()),
            _ if name.contains(':') => {
                remarks.push(Phrase::new("import.lost_variable").with("text", format!("${{{name}}}")));
                None
            }
            _ => None,
        }
    }

    /// What the editor would ask for becomes a variable of the environment.
    fn of_input(&self, id: &str, remarks: &mut Vec<Phrase>) -> String {
        let input = self.inputs.iter().find(|input| input["id"] == id);
        let variable = variable_name(id);
        let secret = input.is_some_and(|input| input["password"] == true);
        let default = input.and_then(|input| input["default"].as_str()).filter(|_| !secret);
        let about = input.and_then(|input| input["description"].as_str()).unwrap_or(id);
        let about = about.lines().next().unwrap_or_default();
        remarks.push(Phrase::new("import.input").with("variable", &variable).with("about", about));
        match default {
            Some(default) if !default.contains('}') => format!("${{{variable}:-{default}}}"),
            _ => format!("${{{variable}}}"),
        }
    }
}

/// A name that the environment knows: `github-token` is `GITHUB_TOKEN`.
fn variable_name(id: &str) -> String {
    let name: String =
        id.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("INPUT_{name}") } else { name }
}

/// Replaces `open…}` where the inside is known.
fn braces(text: &str, open: &str, mut known: impl FnMut(&str) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(open) {
        let inside = &rest[at + open.len()..];
        let Some(end) = inside.find('}') else { break };
        out.push_str(&rest[..at]);
        match known(&inside[..end]) {
            Some(new) => out.push_str(&new),
            None => out.push_str(&rest[at..=at + open.len() + end]),
        }
        rest = &inside[end + 1..];
    }
    out.push_str(rest);
    out
}

/// `$NAME` as `${NAME}`.
fn dollars(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        if length > 0 && !after.starts_with(|c: char| c.is_ascii_digit()) {
            out.extend(["${", &after[..length], "}"]);
        } else {
            out.push('$');
            out.push_str(&after[..length]);
        }
        rest = &after[length..];
    }
    out.push_str(rest);
    out
}
