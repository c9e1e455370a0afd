//! Names of tools on the wire, and the way back.
//!
//! A tool is shown as `server:tool` and sent as `server__tool`, made legal for the provider by a readable prefix and a stable hash
//! where needed. **Invariant:** the map is injective, and depends only on the set of tools, not on their order.

use super::tool::ToolId;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// What a provider accepts as a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameRule {
    /// Largest length in bytes.
    pub max: usize,
    /// Whether `-` and `.` are legal beside letters, digits and `_`.
    pub dash: bool,
}

impl Default for NameRule {
    /// What every known provider accepts: `[A-Za-z0-9_-]{1,64}`.
    fn default() -> Self {
        Self { max: 64, dash: true }
    }
}

/// The map between tools and their names on the wire.
#[derive(Debug, Clone, Default)]
pub struct Names {
    to_wire: BTreeMap<ToolId, String>,
    from_wire: HashMap<String, ToolId>,
    aliases: HashMap<String, String>,
}

impl Names {
    /// Names for a set of tools. `aliases` maps names that models know from elsewhere to built-ins' names.
    pub fn new<'a>(
        tools: impl IntoIterator<Item = &'a ToolId>,
        rule: NameRule,
        aliases: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut tools: Vec<&ToolId> = tools.into_iter().collect();
        tools.sort();
        tools.dedup();
        let plain: Vec<String> = tools.iter().map(|id| legal(&qualified(id), rule)).collect();
        let mut count: HashMap<&str, usize> = HashMap::new();
        for name in &plain {
            *count.entry(name).or_default() += 1;
        }
        let mut names = Self { aliases: aliases.into_iter().collect(), ..Self::default() };
        for (id, name) in tools.iter().zip(&plain) {
            let raw = qualified(id);
            // A name that had to be changed, or that two tools share, carries a hash of the true one.
            let exact = *name == raw && (count[name.as_str()] == 1 || id.server.is_none());
            let wire = if exact { raw } else { hashed(id, rule) };
            names.from_wire.insert(wire.clone(), (*id).clone());
            names.to_wire.insert((*id).clone(), wire);
        }
        names
    }

    /// The name on the wire.
    pub fn wire(&self, id: &ToolId) -> Option<&str> {
        self.to_wire.get(id).map(String::as_str)
    }

    /// The tool that a model means: by wire name, by `server:tool`, by a bare name that only one tool has, or by alias.
    pub fn resolve(&self, asked: &str) -> Option<&ToolId> {
        let asked = asked.trim();
        if let Some(id) = self.from_wire.get(asked) {
            return Some(id);
        }
        if let Some((server, tool)) = asked.split_once(':') {
            let found = self
                .to_wire
                .keys()
                .find(|id| id.server.as_ref().is_some_and(|s| s.as_str() == server) && &*id.name == tool);
            if found.is_some() {
                return found;
            }
        }
        if let Some(target) = self.aliases.get(asked) {
            let id = ToolId::builtin(target);
            if let Some((id, _)) = self.to_wire.get_key_value(&id) {
                return Some(id);
            }
        }
        let mut same = self.to_wire.keys().filter(|id| &*id.name == asked);
        match (same.next(), same.next()) {
            (Some(id), None) => Some(id),
            _ => None,
        }
    }

    /// The tool of a server, by the server's and the tool's own names.
    pub fn on_server(&self, server: &str, tool: &str) -> Option<&ToolId> {
        self.to_wire.keys().find(|id| id.server.as_ref().is_some_and(|s| s.as_str() == server) && &*id.name == tool)
    }

    /// Every tool with its wire name, sorted by true name.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolId, &str)> {
        self.to_wire.iter().map(|(id, wire)| (id, wire.as_str()))
    }
}

fn qualified(id: &ToolId) -> String {
    match &id.server {
        Some(server) => format!("{server}__{}", id.name),
        None => id.name.to_string(),
    }
}

fn is_legal(c: char, rule: NameRule) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (rule.dash && c == '-')
}

fn legal(name: &str, rule: NameRule) -> String {
    let mut out: String = name.chars().map(|c| if is_legal(c, rule) { c } else { '_' }).collect();
    out.truncate(rule.max);
    if out.is_empty() {
        out.push('_');
    }
    out
}

fn hashed(id: &ToolId, rule: NameRule) -> String {
    // The separator cannot stand in a server's name and a tool's name alike without changing the hash.
    let mut hash = Sha256::new();
    hash.update(id.server.as_ref().map_or("", |s| s.as_str()).as_bytes());
    hash.update([0]);
    hash.update(id.name.as_bytes());
    let digest = hash.finalize();
    let suffix: String = digest.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let mut prefix = legal(&qualified(id), rule);
    prefix.truncate(rule.max.saturating_sub(suffix.len() + 1));
    format!("{prefix}_{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(server: &str, name: &str) -> ToolId {
        if server.is_empty() { ToolId::builtin(name) } else { ToolId::on(&server.into(), name) }
    }

    #[test]
    fn readable_where_possible() {
        let tools = [id("weather", "get_forecast"), id("", "read_file"), id("a", "get (x)"), id("s", &"n".repeat(80))];
        let names = Names::new(&tools, NameRule::default(), [("Read".to_owned(), "read_file".to_owned())]);
        assert_eq!(names.wire(&tools[0]), Some("weather__get_forecast"));
        assert_eq!(names.wire(&tools[1]), Some("read_file"));
        assert!(names.wire(&tools[2]).unwrap().starts_with("a__get__x__"));
        assert_eq!(names.wire(&tools[3]).unwrap().len(), 64);
        for asked in ["weather__get_forecast", "weather:get_forecast", "get_forecast", " get_forecast "] {
            assert_eq!(names.resolve(asked), Some(&tools[0]), "{asked}");
        }
        assert_eq!(names.resolve("Read"), Some(&tools[1]));
        assert_eq!(names.resolve("nothing"), None);
    }

    #[test]
    fn two_tools_of_one_bare_name_are_never_guessed() {
        let tools = [id("github", "search"), id("jira", "search")];
        let names = Names::new(&tools, NameRule::default(), []);
        assert_eq!(names.resolve("search"), None);
        assert_eq!(names.resolve("jira:search"), Some(&tools[1]));
    }

    #[test]
    fn a_builtin_wins_its_bare_name() {
        // Server "a" with tool "b" and a built-in that is called "a__b".
        let tools = [id("a", "b"), id("", "a__b")];
        let names = Names::new(&tools, NameRule::default(), []);
        assert_eq!(names.resolve("a__b"), Some(&tools[1]));
        assert_eq!(names.resolve("a:b"), Some(&tools[0]));
    }

    proptest! {
        #[test]
        fn injective_legal_and_independent_of_order(
            pairs in proptest::collection::vec(("[a-c_:( -]{0,4}", "[a-c_:( é-]{1,70}"), 1..12)
        ) {
            let tools: Vec<ToolId> = pairs.iter().map(|(s, n)| id(s, n)).collect();
            let rule = NameRule::default();
            let names = Names::new(&tools, rule, []);
            let mut reversed = tools.clone();
            reversed.reverse();
            let again = Names::new(&reversed, rule, []);
            for tool in &tools {
                let wire = names.wire(tool).unwrap();
                prop_assert!(wire.len() <= 64 && !wire.is_empty());
                prop_assert!(wire.chars().all(|c| is_legal(c, rule)));
                prop_assert_eq!(names.resolve(wire), Some(tool));
                prop_assert_eq!(again.wire(tool), Some(wire));
            }
        }
    }
}
