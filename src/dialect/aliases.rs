//! Names that models know from elsewhere.
//!
//! Owns: the table `assets/tools/aliases.toml` (other names of built-in tools and of their parameters).
//! Does not: know which tools are offered (`domain::names` does), or check arguments against a schema.
//! **Invariant:** an alias never replaces what the model said properly: a proper name that is present wins.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What is known about one built-in tool.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    parameters: Vec<String>,
    #[serde(default)]
    arguments: BTreeMap<String, String>,
}

/// The table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aliases {
    #[serde(default)]
    long: Vec<String>,
    #[serde(default)]
    tool: BTreeMap<String, Entry>,
}

impl Aliases {
    /// Other name → built-in tool, sorted by tool: what [`crate::domain::names::Names::new`] takes.
    pub fn names(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.tool.iter().flat_map(|(tool, entry)| entry.names.iter().map(move |name| (name.clone(), tool.clone())))
    }

    /// The built-in tools of the table, sorted.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tool.keys().map(String::as_str)
    }

    /// Whether the parameter holds whole files or edits.
    pub(super) fn is_long(&self, parameter: &str) -> bool {
        self.long.iter().any(|long| long == parameter)
            || self
                .tool
                .values()
                .filter_map(|entry| entry.arguments.get(parameter))
                .any(|proper| self.long.contains(proper))
    }

    /// Whether the built-in tool has the parameter, under this or its proper name; `None` where the tool is not in the table.
    pub(super) fn has_parameter(&self, tool: &str, parameter: &str) -> Option<bool> {
        let entry = self.tool.get(tool)?;
        Some(entry.parameters.iter().any(|known| known == parameter) || entry.arguments.contains_key(parameter))
    }

    /// The built-in tool's first parameter: what a plain text for it means.
    pub(super) fn first_parameter(&self, tool: &str) -> Option<&str> {
        self.tool.get(tool)?.parameters.first().map(String::as_str)
    }

    /// The length of the longest name in the table, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.tool.values().flat_map(|entry| entry.names.iter()).map(String::len).max().unwrap_or_default()
    }
}

/// The built-in table, read when first needed.
pub fn aliases() -> &'static Aliases {
    static TABLE: OnceLock<Aliases> = OnceLock::new();
    // The table is part of the program and a test reads it strictly; an empty one would only cost the aliases.
    TABLE.get_or_init(|| toml::from_str(include_str!("../../assets/tools/aliases.toml")).unwrap_or_default())
}

/// Renames arguments of a built-in tool that carry a name from elsewhere. `tool` is its true name. Order is kept.
pub fn apply_argument_aliases(tool: &str, arguments: &mut Value) {
    let (Some(entry), Value::Object(map)) = (aliases().tool.get(tool), arguments) else { return };
    if !map.keys().any(|key| entry.arguments.contains_key(key)) {
        return;
    }
    let old = std::mem::take(map);
    let proper: Vec<String> = old.keys().filter(|key| !entry.arguments.contains_key(*key)).cloned().collect();
    for (key, value) in old {
        match entry.arguments.get(&key) {
            Some(name) if !proper.contains(name) && !map.contains_key(name) => map.insert(name.clone(), value),
            _ => map.insert(key, value),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ToolId;
    use crate::domain::names::{NameRule, Names};
    use serde_json::json;

    #[test]
    fn the_table_is_read_strictly() {
        let table: Aliases = toml::from_str(include_str!("../../assets/tools/aliases.toml")).unwrap();
        assert!(table.tool.len() >= 7);
        let mut seen = std::collections::HashSet::new();
        for (tool, entry) in &table.tool {
            assert!(seen.insert(tool.clone()), "{tool} twice");
            for name in &entry.names {
                assert!(seen.insert(name.clone()), "{name} means two tools");
            }
            for (alias, proper) in &entry.arguments {
                assert!(entry.parameters.contains(proper), "{tool}: {alias} → {proper}, which is no parameter");
                assert!(!entry.parameters.contains(alias), "{tool}: {alias} is a parameter itself");
            }
        }
    }

    #[test]
    fn names_from_elsewhere_resolve() {
        let tools = ["read_file", "write_to_file", "execute_command", "search_files", "ask_followup_question"];
        let tools: Vec<ToolId> = tools.iter().map(|name| ToolId::builtin(name)).collect();
        let names = Names::new(&tools, NameRule::default(), aliases().names());
        for (asked, tool) in
            [("read", 0), ("Read", 0), ("Write", 1), ("Bash", 2), ("Grep", 3), ("ask_follow_up_question", 4)]
        {
            assert_eq!(names.resolve(asked), Some(&tools[tool]), "{asked}");
        }
        assert_eq!(names.resolve("Edit"), None, "its tool is not offered");
    }

    #[test]
    fn arguments_are_renamed_unless_the_proper_name_is_there() {
        let mut arguments = json!({"end_line": 3, "file_path": "a"});
        apply_argument_aliases("read_file", &mut arguments);
        assert_eq!(arguments.to_string(), r#"{"end_line":3,"path":"a"}"#);
        let mut both = json!({"file_path": "a", "path": "b"});
        apply_argument_aliases("read_file", &mut both);
        assert_eq!(both, json!({"file_path": "a", "path": "b"}));
        let mut two = json!({"file": "a", "filename": "b"});
        apply_argument_aliases("read_file", &mut two);
        assert_eq!(two, json!({"path": "a", "filename": "b"}));
        let mut foreign = json!({"file_path": "a"});
        apply_argument_aliases("no_such_tool", &mut foreign);
        assert_eq!(foreign, json!({"file_path": "a"}));
        let mut odd = json!("text");
        apply_argument_aliases("read_file", &mut odd);
        assert_eq!(odd, json!("text"));
    }
}
