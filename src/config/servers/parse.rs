//! The text of a server file, as entries with warnings. Pure.
//!
//! Owns: the keys of `mcpServers` (and `servers`, VS Code's name for it), their types, and the warnings about them, with line and guess. Reads comments and
//! trailing commas. Does not expand variables or merge files.
//!
//! **Invariants:** whatever the text is, reading it gives entries and warnings; a bad entry never drops another; an entry that cannot be used stays in
//! the list with its fault, so that it is seen and does not silently give way to one of the same name.

use super::raw::{Kind, Raw};
use crate::config::report::{Expected, Report, cleaned, is_hidden, visible};
use crate::domain::Notice;
use crate::domain::server::Timeouts;
use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::path::Path;

/// Names of `type`; programs do not agree on one for HTTP.
const KINDS: [(&str, Kind); 6] = [
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("sse", Kind::Sse),
    ("streamable-http", Kind::Http),
    ("streamableHttp", Kind::Http),
    ("streamable_http", Kind::Http),
];

const KEYS: [&str; 15] = [
    "type", "command", "args", "env", "cwd", "url", "headers", "oauth", "disabled", "lazy", "protocol", "timeout",
    "tools", "trust", "sampling",
];

/// What other programs call these keys.
const ALIASES: [(&str, &str); 17] = [
    ("environment", "env"),
    ("cmd", "command"),
    ("executable", "command"),
    ("arguments", "args"),
    ("working_directory", "cwd"),
    ("dir", "cwd"),
    ("workdir", "cwd"),
    ("endpoint", "url"),
    ("uri", "url"),
    ("server_url", "url"),
    ("http_url", "url"),
    ("transport", "type"),
    ("transport_type", "type"),
    ("enabled", "disabled"),
    ("http_headers", "headers"),
    ("timeout_ms", "timeout"),
    ("disabled_tools", "tools"),
];

const REVISIONS: [&str; 6] = ["auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// What may stand in a file: `trust` and `sampling` are the user's to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// One of the user's own files.
    User,
    /// A project's, or one named on the command line.
    Other,
}

/// What is read beside plain JSON: comments and trailing commas, and nothing else.
pub const fn syntax() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a file's text. The flag says whether the file could be read at all.
pub fn parse(text: &str, file: &Path, owner: Owner) -> (Vec<Raw>, Vec<Notice>, bool) {
    let mut report = Report::new(file, text);
    let root = match parse_to_ast(text, &CollectOptions::default(), &syntax()) {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let phrase = report.phrase("config.json", error.range().start).with("problem", error.kind());
            report.warn(phrase);
            return (Vec::new(), report.into_notices(), false);
        }
    };
    let mut reader = Reader { report, owner, out: Vec::new() };
    let good = match &root {
        // An empty file says nothing, and nothing wrong.
        None => true,
        Some(Value::Object(root)) => {
            reader.root(root);
            true
        }
        Some(other) => {
            reader.report.wrong_type(other.start(), "{}", Expected::Table);
            false
        }
    };
    (reader.out, reader.report.into_notices(), good)
}

struct Reader<'a> {
    report: Report<'a>,
    owner: Owner,
    out: Vec<Raw>,
}

impl Reader<'_> {
    fn root(&mut self, root: &Object<'_>) {
        for property in self.unique(root) {
            match property.name.as_str() {
                "mcpServers" | "servers" => {
                    if let Some(servers) = self.object(property) {
                        servers.properties.iter().for_each(|server| self.server(server));
                    }
                }
                "$schema" => {}
                other => {
                    let aliases = [("mcp_servers", "mcpServers"), ("mcp", "mcpServers")];
                    self.report.unknown(property.start(), other, &["mcpServers", "servers"], &aliases);
                }
            }
        }
    }

    fn server(&mut self, property: &ObjectProp<'_>) {
        let (written, at) = (property.name.as_str(), property.start());
        let name = cleaned(written);
        if name != written {
            let phrase = self.report.phrase("config.hidden_in_name", at).with("name", visible(written));
            self.report.warn(phrase);
        }
        if name.is_empty() {
            let phrase = self.report.phrase("config.no_name", at);
            return self.report.warn(phrase);
        }
        let mut raw = Raw::new(name, self.report.line(at));
        match &property.value {
            Value::Object(entry) => self.entry(entry, &mut raw, at),
            _ => self.fail(&mut raw, "config.entry_not_table", at),
        }
        self.infer(&mut raw, at);
        if let Some(same) = self.out.iter_mut().find(|known| known.name == raw.name) {
            let phrase = self.report.phrase("config.duplicate_server", at);
            let phrase = phrase.with("server", &raw.name).with("other", same.line);
            *same = raw;
            self.report.warn(phrase);
        } else {
            self.out.push(raw);
        }
    }

    /// Marks an entry as unusable; the first fault counts.
    fn fail(&mut self, raw: &mut Raw, key: &'static str, at: usize) {
        let phrase = self.report.phrase(key, at).with("server", &raw.name);
        self.report.warn(phrase.clone());
        raw.fault.get_or_insert(phrase);
    }

    fn entry(&mut self, entry: &Object<'_>, raw: &mut Raw, at: usize) {
        for property in self.unique(entry) {
            self.key(property, raw);
        }
        if let (Some(command), true) = (&raw.command, raw.args.is_empty())
            && command.contains(char::is_whitespace)
            && !command.contains('/')
        {
            let phrase = self
                .report
                .phrase("config.command_spaces", at)
                .with("server", &raw.name)
                .with("command", visible(command));
            self.report.warn(phrase);
        }
    }

    fn key(&mut self, property: &ObjectProp<'_>, raw: &mut Raw) {
        let at = property.start();
        match property.name.as_str() {
            "type" => raw.kind = self.kind(property),
            "command" => raw.command = self.needed(property, raw, Self::text),
            "args" => raw.args = self.needed(property, raw, Self::texts).unwrap_or_default(),
            "env" => raw.env = self.needed(property, raw, Self::pairs).unwrap_or_default(),
            "cwd" => raw.cwd = self.needed(property, raw, Self::text),
            "url" => raw.url = self.needed(property, raw, Self::text),
            "headers" => raw.headers = self.needed(property, raw, Self::pairs).unwrap_or_default(),
            "disabled" => raw.disabled = self.bool(property).unwrap_or(raw.disabled),
            "lazy" => raw.lazy = self.bool(property).unwrap_or(raw.lazy),
            "protocol" => raw.protocol = self.protocol(property),
            "timeout" => self.timeouts(property, &mut raw.timeouts),
            "tools" => self.tools(property, raw),
            "trust" | "sampling" if self.owner == Owner::Other => {
                let phrase = self.report.phrase("config.user_only", at).with("key", property.name.as_str());
                self.report.warn(phrase.with("server", &raw.name));
            }
            "trust" => raw.trust_read_only = self.trust(property),
            key @ ("oauth" | "sampling") => {
                let phrase = self.report.phrase("config.not_yet", at).with("key", key);
                self.report.warn(phrase);
            }
            other => self.report.unknown(at, other, &KEYS, &ALIASES),
        }
    }

    /// A value that decides how the server starts: if it is wrong, the server must not start without it.
    fn needed<T>(
        &mut self,
        property: &ObjectProp<'_>,
        raw: &mut Raw,
        read: fn(&mut Self, &ObjectProp<'_>) -> Option<T>,
    ) -> Option<T> {
        let found = read(self, property);
        if found.is_none() {
            let phrase = self.report.phrase("config.bad_field", property.start()).with("field", property.name.as_str());
            raw.fault.get_or_insert(phrase.with("server", &raw.name));
        }
        found
    }

    /// What is left open by `type` is plain from the other keys.
    fn infer(&mut self, raw: &mut Raw, at: usize) {
        if raw.fault.is_some() {
            return;
        }
        let blank = |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let (command, url) = (!blank(&raw.command), !blank(&raw.url));
        let kind = match (raw.kind, command, url) {
            (Some(kind), ..) => kind,
            (None, true, both) => {
                if both {
                    let phrase = self.report.phrase("config.both", at).with("server", &raw.name);
                    self.report.warn(phrase);
                }
                Kind::Stdio
            }
            (None, false, true) => Kind::Http,
            (None, false, false) => return self.fail(raw, "config.neither", at),
        };
        raw.kind = Some(kind);
        match kind {
            Kind::Stdio if !command => self.fail(raw, "config.no_command", at),
            Kind::Http | Kind::Sse if !url => self.fail(raw, "config.no_url", at),
            _ => {}
        }
    }

    fn kind(&mut self, property: &ObjectProp<'_>) -> Option<Kind> {
        let text = self.text(property)?;
        let found = KINDS.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind);
        if found.is_none() {
            self.report.not_one_of(property.start(), "type", &text, &["stdio", "http", "sse"]);
        }
        found
    }

    fn protocol(&mut self, property: &ObjectProp<'_>) -> Option<String> {
        let text = self.text(property)?;
        if !REVISIONS.contains(&text.as_str()) {
            self.report.not_one_of(property.start(), "protocol", &text, &REVISIONS);
            return None;
        }
        Some(text).filter(|text| text != "auto")
    }

    fn trust(&mut self, property: &ObjectProp<'_>) -> bool {
        let Some(text) = self.text(property) else { return false };
        if text != "read-only" {
            self.report.not_one_of(property.start(), "trust", &text, &["read-only"]);
        }
        text == "read-only"
    }

    fn timeouts(&mut self, property: &ObjectProp<'_>, timeouts: &mut Timeouts) {
        let Some(table) = self.object(property) else { return };
        for inner in self.unique(table) {
            let place = match inner.name.as_str() {
                "start" => &mut timeouts.start,
                "init" => &mut timeouts.init,
                "list" => &mut timeouts.list,
                "call" => &mut timeouts.call,
                "call_max" => &mut timeouts.call_max,
                "elicit" => &mut timeouts.elicit,
                other => {
                    let known = ["start", "init", "list", "call", "call_max", "elicit"];
                    let aliases = [("startup", "start"), ("tool", "call"), ("request", "call"), ("max", "call_max")];
                    self.report.unknown(inner.start(), other, &known, &aliases);
                    continue;
                }
            };
            if let Some(seconds) = self.seconds(inner) {
                *place = seconds;
            }
        }
    }

    fn tools(&mut self, property: &ObjectProp<'_>, raw: &mut Raw) {
        let Some(table) = self.object(property) else { return };
        for inner in self.unique(table) {
            match (inner.name.as_str(), &inner.value) {
                ("allow", _) => raw.allow_tools = self.texts(inner).unwrap_or_default(),
                ("deny", _) => raw.deny_tools = self.texts(inner).unwrap_or_default(),
                (tool, Value::Object(settings)) => {
                    for setting in self.unique(settings) {
                        match setting.name.as_str() {
                            "timeout" => raw
                                .tool_timeouts
                                .extend(self.seconds(setting).map(|seconds| (tool.to_owned(), seconds))),
                            other => self.report.unknown(setting.start(), other, &["timeout"], &[]),
                        }
                    }
                }
                (other, Value::Array(_)) => self.report.unknown(
                    inner.start(),
                    other,
                    &["allow", "deny"],
                    &[("exclude", "deny"), ("include", "allow")],
                ),
                (other, _) => self.report.wrong_type(inner.start(), other, Expected::Table),
            }
        }
    }

    // --- values

    /// Properties without those that a later one of the same name replaces.
    fn unique<'o, 'a>(&mut self, object: &'o Object<'a>) -> Vec<&'o ObjectProp<'a>> {
        let mut out: Vec<&ObjectProp<'_>> = Vec::new();
        for property in &object.properties {
            if let Some(same) = out.iter_mut().find(|known| known.name.as_str() == property.name.as_str()) {
                let phrase = self
                    .report
                    .phrase("config.duplicate_key", property.start())
                    .with("key", visible(property.name.as_str()));
                self.report.warn(phrase);
                *same = property;
            } else {
                out.push(property);
            }
        }
        out
    }

    fn object<'o, 'a>(&mut self, property: &'o ObjectProp<'a>) -> Option<&'o Object<'a>> {
        let found = property.value.as_object();
        if found.is_none() {
            self.report.wrong_type(property.start(), property.name.as_str(), Expected::Table);
        }
        found
    }

    fn text(&mut self, property: &ObjectProp<'_>) -> Option<String> {
        let Some(literal) = property.value.as_string_lit() else {
            self.report.wrong_type(property.start(), property.name.as_str(), Expected::Text);
            return None;
        };
        Some(self.unhidden(property, &literal.value))
    }

    /// What is copied from web pages often brings a no-break space along, or the line end.
    fn unhidden(&mut self, property: &ObjectProp<'_>, text: &str) -> String {
        let trimmed = text.trim_matches(|c: char| is_hidden(c) || c == ' ');
        if trimmed.len() != text.len() {
            let phrase = self.report.phrase("config.hidden_in_value", property.start());
            self.report.warn(phrase.with("key", property.name.as_str()).with("value", visible(text)));
        }
        trimmed.to_owned()
    }

    fn texts(&mut self, property: &ObjectProp<'_>) -> Option<Vec<String>> {
        let Value::Array(Array { elements, .. }) = &property.value else {
            self.report.wrong_type(property.start(), property.name.as_str(), Expected::Texts);
            return None;
        };
        let texts: Option<Vec<String>> = elements.iter().map(plain).collect();
        if texts.is_none() {
            self.report.wrong_type(property.start(), property.name.as_str(), Expected::Texts);
        }
        texts
    }

    fn pairs(&mut self, property: &ObjectProp<'_>) -> Option<Vec<(String, String)>> {
        let table = self.object(property)?;
        let mut out = Vec::new();
        for inner in self.unique(table) {
            let name = inner.name.as_str();
            let Some(value) = plain(&inner.value) else {
                self.report.wrong_type(inner.start(), name, Expected::Text);
                return None;
            };
            if name.is_empty() || name.contains(['=', '\0']) {
                let phrase = self.report.phrase("config.bad_name", inner.start()).with("name", visible(name));
                self.report.warn(phrase);
                return None;
            }
            out.push((name.to_owned(), value));
        }
        Some(out)
    }

    fn bool(&mut self, property: &ObjectProp<'_>) -> Option<bool> {
        // A quoted answer is an answer: to start a server that somebody meant to switch off would be worse than a warning.
        let said = match &property.value {
            Value::BooleanLit(literal) => return Some(literal.value),
            Value::StringLit(literal) => match literal.value.as_ref() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        self.report.wrong_type(property.start(), property.name.as_str(), Expected::Bool);
        said
    }

    fn seconds(&mut self, property: &ObjectProp<'_>) -> Option<u64> {
        let seconds = property.value.as_number_lit().and_then(|number| number.value.parse::<u64>().ok());
        let found = seconds.filter(|seconds| (1..=u64::from(u32::MAX)).contains(seconds));
        if found.is_none() {
            self.report.wrong_type(property.start(), property.name.as_str(), Expected::Whole);
        }
        found
    }
}

/// A text, or a number or truth value as its text.
fn plain(value: &Value<'_>) -> Option<String> {
    match value {
        Value::StringLit(literal) => Some(literal.value.to_string()),
        Value::NumberLit(literal) => Some(literal.value.to_owned()),
        Value::BooleanLit(literal) => Some(literal.value.to_string()),
        Value::NullKeyword(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
