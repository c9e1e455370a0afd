//! The user's rules: which calls run, ask or never run.
//!
//! Owns: the pattern language of `[rules]` in `config.toml` and matching a call against it. Pure: no file, no clock; paths come resolved in the
//! call's facts. Does not know grants or defaults.
//!
//! # Patterns
//!
//! ```text
//! tool                      a built-in tool           read_file
//! server:tool               a tool of an MCP server   github:create_issue   github:*   *:delete_*
//! *                         every tool
//! …(name=pattern, …)        only calls whose arguments match, all of them; a.b is b inside a
//! ```
//!
//! `*` stands for any run of characters, also none. `\` takes the next character as it is: `\*`, `\,`, `\)`, `\:`. Numbers, `true`, `false` and `null` are
//! matched as JSON writes them, text as it is, lists by their members. An argument that is absent matches nothing.
//!
//! - **Files** (`path` of a built-in): compared after the call's path was resolved, so `..` and symlinks do not help. Relative patterns start in the
//!   project, `~/` at home. `*` stays inside one directory, `**` does not; `docs/**` is `docs` and all below.
//! - **Commands** (`command` of `execute_command`, `command` and `cmd` of MCP tools): in `allow`, a wildcard never matches a character with which one
//!   command can bring another along: `; & | < > $ ( )`, a backtick, a line end. `git status*` allows `git status -s`, not `git status; rm -rf /`. In `deny`
//!   and `ask` it matches everything, and the parts of a compound or quoted command are looked at one by one: `rm *` also stops
//!   `make && rm x` and `sh -c 'rm x'`. A rule is no sandbox: a program that is allowed can start others.
//! - Elsewhere, a wildcard in `allow` does not match text that climbs with `..`.
//!
//! **Deny wins, then ask, then allow**, whatever the order.

use super::Subject;
use super::glob::{Glob, anything, find_plain, split_plain, unescaped};
use crate::domain::tool::Risk;
use crate::domain::{Phrase, ToolId};
use serde_json::Value;
use std::borrow::Cow;

/// What a rule does with the calls it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// They run.
    Allow,
    /// The user is asked, every time.
    Ask,
    /// They never run.
    Deny,
}

pub use super::glob::Place;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    effect: Effect,
    text: String,
    from: String,
    tool: ToolPattern,
    arguments: Vec<ArgumentPattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ToolPattern {
    Every,
    Builtin(Glob),
    On(Glob, Glob),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ArgumentPattern {
    /// Steps from the arguments' object to the value.
    name: Vec<String>,
    value: Glob,
    /// The same pattern read as one of files.
    file: Option<Glob>,
}

/// All rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    rules: Vec<Rule>,
}

impl Rules {
    /// Adds a rule as it stands in the configuration; `from` is where (`config.toml:12`, `--allow`). The phrase says what is wrong with it; it is then
    /// left out.
    pub fn add(&mut self, effect: Effect, text: &str, from: &str, place: &Place) -> Result<(), Phrase> {
        self.rules.push(Rule::parse(effect, text, from, place)?);
        Ok(())
    }

    /// The rule that decides about a call: of those that match, the strictest; of equally strict ones, the first.
    pub fn judge(&self, subject: &Subject<'_>) -> Option<&Rule> {
        let mut found: Option<&Rule> = None;
        for rule in &self.rules {
            if found.is_none_or(|known| rule.effect > known.effect) && rule.matches(subject) {
                found = Some(rule);
            }
        }
        found
    }

    /// What to say about rules for built-in tools that match none of these names: a misspelt `deny` protects nothing.
    pub fn for_unknown_builtins(&self, names: &[&str]) -> Vec<Phrase> {
        let is_unknown = |rule: &&Rule| match &rule.tool {
            ToolPattern::Builtin(glob) => !names.iter().any(|name| glob.matches(name, anything)),
            ToolPattern::Every | ToolPattern::On(..) => false,
        };
        let phrase =
            |rule: &Rule| Phrase::new("policy.rule_unknown_tool").with("from", &rule.from).with("rule", &rule.text);
        self.rules.iter().filter(is_unknown).map(phrase).collect()
    }
}

impl Rule {
    /// What it does.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// As the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn parse(effect: Effect, text: &str, from: &str, place: &Place) -> Result<Self, Phrase> {
        let wrong = |key: &'static str| Phrase::new(key).with("from", from).with("rule", text);
        if text.len() > 1_000 {
            return Err(Phrase::new("policy.rule_long").with("from", from));
        }
        let trimmed = text.trim();
        let (tool, arguments) = match find_plain(trimmed, '(') {
            None => (trimmed, None),
            Some(open) => {
                let rest = &trimmed[open + 1..];
                let close = find_plain(rest, ')').ok_or_else(|| wrong("policy.rule_unclosed"))?;
                if close + 1 != rest.len() {
                    return Err(wrong("policy.rule_after"));
                }
                (trimmed[..open].trim(), Some(&rest[..close]))
            }
        };
        let tool = tool_pattern(tool).ok_or_else(|| wrong("policy.rule_tool"))?;
        let arguments = match arguments {
            None => Vec::new(),
            Some(list) => split_plain(list, ',')
                .into_iter()
                .map(|one| argument_pattern(one, place).map_err(wrong))
                .collect::<Result<_, _>>()?,
        };
        Ok(Self { effect, text: text.to_owned(), from: from.to_owned(), tool, arguments })
    }

    fn matches(&self, subject: &Subject<'_>) -> bool {
        self.tool.matches(&subject.spec.id)
            && self.arguments.iter().all(|pattern| pattern.matches(self.effect, subject))
    }
}

impl ToolPattern {
    fn matches(&self, id: &ToolId) -> bool {
        match (self, &id.server) {
            (Self::Every, _) => true,
            (Self::Builtin(name), None) => name.matches(&id.name, anything),
            (Self::On(server, name), Some(on)) => {
                server.matches(on.as_str(), anything) && name.matches(&id.name, anything)
            }
            (Self::Builtin(_), Some(_)) | (Self::On(..), None) => false,
        }
    }
}

/// The last plain `:` divides: tools of MCP have none in their names, servers may.
fn tool_pattern(text: &str) -> Option<ToolPattern> {
    if text == "*" {
        return Some(ToolPattern::Every);
    }
    let colons = split_plain(text, ':');
    let (name, server) = colons.split_last()?;
    let server = server.join(":");
    match (server.is_empty(), colons.len(), name.is_empty()) {
        (_, _, true) => None,
        (_, 1, _) => Some(ToolPattern::Builtin(Glob::plain(name))),
        (true, _, _) => None,
        (false, _, _) => Some(ToolPattern::On(Glob::plain(&server), Glob::plain(name))),
    }
}

fn argument_pattern(text: &str, place: &Place) -> Result<ArgumentPattern, &'static str> {
    let at = find_plain(text, '=').ok_or("policy.rule_equals")?;
    let (name, value) = (text[..at].trim(), text[at + 1..].trim());
    let name: Vec<String> = split_plain(name, '.').into_iter().map(unescaped).collect();
    if name.iter().any(String::is_empty) {
        return Err("policy.rule_name");
    }
    let is_file = name.len() == 1 && PATHS.contains(&name[0].as_str());
    let file = if is_file { Some(Glob::file(value, place)?) } else { None };
    Ok(ArgumentPattern { name, value: Glob::plain(value), file })
}

/// Arguments of built-ins that name files; the call's facts hold them resolved.
const PATHS: [&str; 4] = ["path", "paths", "file", "directory"];
/// Arguments that are command lines.
const COMMANDS: [&str; 2] = ["command", "cmd"];

impl ArgumentPattern {
    fn matches(&self, effect: Effect, subject: &Subject<'_>) -> bool {
        let builtin = subject.spec.id.server.is_none();
        if let Some(file) =
            self.file.as_ref().filter(|_| builtin && matches!(subject.spec.risk, Risk::Read | Risk::Write))
        {
            return quantified(effect, &subject.facts.paths, |path| file.matches_file(path));
        }
        let is_command = self.name.len() == 1 && COMMANDS.contains(&self.name[0].as_str());
        if is_command && let Some(command) = subject.facts.command.as_deref() {
            return self.matches_command(effect, command);
        }
        let Some(value) = self.name.iter().try_fold(subject.arguments, |value, step| value.get(step)) else {
            return false;
        };
        let members = match value {
            Value::Array(members) => members.as_slice(),
            other => std::slice::from_ref(other),
        };
        quantified(effect, members, |member| {
            let text = text_of(member);
            if is_command { self.matches_command(effect, &text) } else { self.matches_text(effect, &text) }
        })
    }

    fn matches_text(&self, effect: Effect, text: &str) -> bool {
        let climbs = || text.split(['/', '\\']).any(|step| step == "..");
        if effect == Effect::Allow && self.value.has_wildcard() && climbs() {
            return false;
        }
        self.value.matches(text, anything)
    }

    fn matches_command(&self, effect: Effect, command: &str) -> bool {
        let command = command.trim();
        match effect {
            Effect::Allow => self.value.matches(command, is_harmless),
            Effect::Ask | Effect::Deny => {
                // Quotes divide too: `sh -c 'rm x'`.
                let divides = |c| !is_harmless(c) || matches!(c, '"' | '\'');
                let parts = command.split(divides).map(str::trim).filter(|part| !part.is_empty());
                std::iter::once(command).chain(parts).any(|part| self.value.matches(part, anything))
            }
        }
    }
}

/// To allow, everything must match; to stop, one is enough.
fn quantified<T>(effect: Effect, of: &[T], test: impl Fn(&T) -> bool) -> bool {
    match effect {
        Effect::Allow => !of.is_empty() && of.iter().all(test),
        Effect::Ask | Effect::Deny => of.iter().any(test),
    }
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Whether a character cannot bring another command along.
fn is_harmless(c: char) -> bool {
    !matches!(c, ';' | '&' | '|' | '<' | '>' | '$' | '`' | '(' | ')') && !c.is_control()
}

#[cfg(test)]
mod tests;
