//! Makes a schema from outside safe to compile.
//!
//! Owns: a copy of the schema in which nothing points outside, nests too deep, is too large or holds a pattern that the engine refuses; and the
//! list of what was taken out for it. Taken out means *true*: that part is not checked, and said so. Does not validate.
//!
//! **Invariant:** the walk is bounded by [`DEPTH`], [`NODES`] and [`PATTERNS`], and knows where a schema stands and where data does: a property that is
//! called `$ref`, and an example that looks like a schema, are left alone.

use crate::domain::Phrase;
use jsonschema::{Draft, PatternOptions};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Levels of a schema that are looked at.
pub const DEPTH: usize = 64;
/// Objects and arrays of a schema that are looked at.
pub const NODES: usize = 20_000;
/// Patterns that are compiled.
pub const PATTERNS: usize = 100;
/// Longest pattern, bytes.
const PATTERN_LENGTH: usize = 2_000;
/// A keyword that counts the work of a validation; see `validate`.
pub(super) const FUEL: &str = "x-mcpane-fuel";

/// Why a part of a schema is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It refers to another document, which is never fetched.
    Remote(String),
    /// It refers to a place that does not exist.
    Dangling(String),
    /// Its pattern cannot be compiled, or is too long.
    Pattern(String),
    /// Its `$schema` is not a draft that is known; it was read as 2020-12.
    Draft(String),
    /// It is nested too deep.
    Deep,
    /// It is too large.
    Large,
    /// It is no valid schema.
    Invalid(String),
    /// Checking took too long; nothing of it is known to hold.
    Work,
}

/// A part of a schema that is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// JSON pointer into the schema.
    pub at: String,
    /// Why.
    pub reason: Reason,
}

impl Unchecked {
    /// What to tell the user.
    pub fn phrase(&self) -> Phrase {
        let (key, what) = match &self.reason {
            Reason::Remote(what) => ("policy.unchecked_remote", Some(what)),
            Reason::Dangling(what) => ("policy.unchecked_dangling", Some(what)),
            Reason::Pattern(what) => ("policy.unchecked_pattern", Some(what)),
            Reason::Draft(what) => ("policy.unchecked_draft", Some(what)),
            Reason::Deep => ("policy.unchecked_deep", None),
            Reason::Large => ("policy.unchecked_large", None),
            Reason::Invalid(what) => ("policy.unchecked_invalid", Some(what)),
            Reason::Work => ("policy.unchecked_work", None),
        };
        let phrase = Phrase::new(key).with("at", if self.at.is_empty() { "/" } else { &self.at });
        what.map_or(phrase.clone(), |what| phrase.with("what", what))
    }
}

/// A schema that can be compiled.
pub(super) struct Prepared {
    pub(super) schema: Value,
    pub(super) draft: Draft,
    pub(super) unchecked: Vec<Unchecked>,
}

/// Reports of what was taken out are kept up to this many: a hostile schema must not fill memory with them.
const REPORTS: usize = 50;

pub(super) fn prepare(schema: &Value) -> Prepared {
    let mut walk = Walk {
        root: schema,
        own_uri: schema
            .get("$id")
            .or_else(|| schema.get("id"))
            .and_then(Value::as_str)
            .map(|id| id.trim_end_matches('#')),
        anchors: HashSet::new(),
        nodes: NODES,
        patterns: BTreeMap::new(),
        unchecked: Vec::new(),
    };
    let draft = walk.draft();
    walk.anchors = anchors(schema);
    let copy = walk.schema(schema, "", 0);
    Prepared { schema: copy, draft, unchecked: walk.unchecked }
}

/// Options under which every pattern is compiled: look-around works, backtracking is bounded.
pub(super) fn pattern_options() -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(5_000).size_limit(1 << 20).dfa_size_limit(1 << 20)
}

/// `%41` → `A`; what is no escape stays. For pointers in references.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(byte) = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(byte);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Names given with `$anchor` and `$dynamicAnchor`.
fn anchors(schema: &Value) -> HashSet<&str> {
    let mut found = HashSet::new();
    let mut todo = vec![(schema, 0)];
    let mut left = NODES;
    while let Some((value, depth)) = todo.pop() {
        left = left.saturating_sub(1);
        if left == 0 || depth > DEPTH {
            continue;
        }
        match value {
            Value::Object(map) => {
                found.extend(["$anchor", "$dynamicAnchor"].iter().filter_map(|key| map.get(*key)?.as_str()));
                todo.extend(map.values().map(|v| (v, depth + 1)));
            }
            Value::Array(items) => todo.extend(items.iter().map(|v| (v, depth + 1))),
            _ => {}
        }
    }
    found
}

struct Walk<'a> {
    root: &'a Value,
    own_uri: Option<&'a str>,
    anchors: HashSet<&'a str>,
    nodes: usize,
    /// Whether a pattern compiles, by pattern.
    patterns: BTreeMap<&'a str, bool>,
    unchecked: Vec<Unchecked>,
}

impl<'a> Walk<'a> {
    fn report(&mut self, at: &str, reason: Reason) {
        if self.unchecked.len() < REPORTS {
            self.unchecked.push(Unchecked { at: at.to_owned(), reason });
        }
    }

    fn draft(&mut self) -> Draft {
        let Some(named) = self.root.get("$schema").and_then(Value::as_str) else { return Draft::Draft202012 };
        let known = [
            ("draft-04", Draft::Draft4),
            ("draft-06", Draft::Draft6),
            ("draft-07", Draft::Draft7),
            ("2019-09", Draft::Draft201909),
            ("2020-12", Draft::Draft202012),
        ];
        let official = named.contains("json-schema.org/");
        let found = known.iter().find(|(mark, _)| official && named.contains(mark));
        if let Some((_, draft)) = found {
            return *draft;
        }
        self.report("/$schema", Reason::Draft(named.to_owned()));
        Draft::Draft202012
    }

    /// Copies what stands where a schema is expected.
    fn schema(&mut self, value: &'a Value, at: &str, depth: usize) -> Value {
        match value {
            Value::Object(map) => {
                if !self.enter(at, depth) {
                    return json!({});
                }
                let mut out = Map::new();
                for (key, value) in map {
                    self.keyword(key, value, at, depth, &mut out);
                }
                self.meter(&mut out, at);
                Value::Object(out)
            }
            // A list of schemas, or data under a keyword that we do not know.
            Value::Array(items) => {
                if !self.enter(at, depth) {
                    return json!([]);
                }
                Value::Array(
                    items
                        .iter()
                        .enumerate()
                        .map(|(i, item)| self.schema(item, &format!("{at}/{i}"), depth + 1))
                        .collect(),
                )
            }
            other => other.clone(),
        }
    }

    /// Plants the keyword that counts the work. It stands in front of `allOf`, because that is the first of the keywords that apply several schemas
    /// to one value: a visit is counted before it can multiply. (The compiler runs keywords in an order of its own, unknown ones last.)
    fn meter(&mut self, schema: &mut Map<String, Value>, at: &str) {
        let mut members = vec![json!({ FUEL: true })];
        match schema.get_mut("allOf") {
            None => {}
            Some(Value::Array(own)) => members.append(own),
            Some(_) => self.report(&format!("{at}/allOf"), Reason::Invalid("allOf is not a list".to_owned())),
        }
        schema.insert("allOf".to_owned(), Value::Array(members));
    }

    /// Counts a node; `false` where the schema ends because it is too deep or too large.
    fn enter(&mut self, at: &str, depth: usize) -> bool {
        if depth > DEPTH {
            self.report(at, Reason::Deep);
            return false;
        }
        if self.nodes == 0 {
            self.report(at, Reason::Large);
            return false;
        }
        self.nodes -= 1;
        true
    }

    fn keyword(&mut self, key: &'a str, value: &'a Value, at: &str, depth: usize, out: &mut Map<String, Value>) {
        let here = || format!("{at}/{}", escaped(key));
        match key {
            // Without `$id`, every pointer is one into this document.
            "$schema" | "$id" | "$vocabulary" | FUEL => return,
            "id" if value.is_string() => return,
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                if let Some(local) = self.local(value, &here()) {
                    out.insert(key.to_owned(), local.into());
                }
                return;
            }
            "enum" | "const" | "default" | "examples" | "example" | "required" | "dependentRequired" => {
                out.insert(key.to_owned(), value.clone());
                return;
            }
            "pattern" => {
                if self.compiles(value, &here()) {
                    out.insert(key.to_owned(), value.clone());
                }
                return;
            }
            _ => {}
        }
        let maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
        let copied = match value {
            Value::Object(members) if maps.contains(&key) => self.members(key, members, &here(), depth),
            Value::Object(_) | Value::Array(_) => self.schema(value, &here(), depth + 1),
            other => other.clone(),
        };
        out.insert(key.to_owned(), copied);
    }

    /// Copies a map whose keys are names and whose values are schemas.
    fn members(&mut self, key: &str, members: &'a Map<String, Value>, at: &str, depth: usize) -> Value {
        if !self.enter(at, depth) {
            return json!({});
        }
        let mut out = Map::new();
        for (name, schema) in members {
            let here = format!("{at}/{}", escaped(name));
            if key == "patternProperties" && !self.pattern_compiles(name, &here) {
                continue;
            }
            // In `dependencies` a list of names stands beside schemas.
            let copied = if schema.is_array() { schema.clone() } else { self.schema(schema, &here, depth + 1) };
            out.insert(name.clone(), copied);
        }
        Value::Object(out)
    }

    /// The reference if it points into this document and hits something.
    fn local(&mut self, value: &'a Value, at: &str) -> Option<String> {
        let reference = value.as_str()?;
        let inner = self
            .own_uri
            .and_then(|uri| reference.strip_prefix(uri))
            .filter(|rest| rest.is_empty() || rest.starts_with('#'));
        let fragment = if reference.starts_with('#') { Some(reference) } else { inner };
        let Some(fragment) = fragment else {
            self.report(at, Reason::Remote(reference.to_owned()));
            return None;
        };
        let name = fragment.strip_prefix('#').unwrap_or("");
        let hit = if name.is_empty() || name.starts_with('/') {
            self.root.pointer(&percent_decoded(name)).is_some()
        } else {
            self.anchors.contains(name)
        };
        if !hit {
            self.report(at, Reason::Dangling(reference.to_owned()));
            return None;
        }
        Some(if fragment.is_empty() { "#".to_owned() } else { fragment.to_owned() })
    }

    fn compiles(&mut self, value: &'a Value, at: &str) -> bool {
        match value.as_str() {
            Some(pattern) => self.pattern_compiles(pattern, at),
            // Not a text: the compiler says what it is.
            None => true,
        }
    }

    fn pattern_compiles(&mut self, pattern: &'a str, at: &str) -> bool {
        let good = match self.patterns.get(pattern) {
            Some(known) => *known,
            None if self.patterns.len() >= PATTERNS || pattern.len() > PATTERN_LENGTH => false,
            None => {
                let options = jsonschema::options().with_pattern_options(pattern_options());
                let good = options.build(&json!({ "pattern": pattern })).is_ok();
                self.patterns.insert(pattern, good);
                good
            }
        };
        if !good {
            self.report(at, Reason::Pattern(pattern.chars().take(200).collect()));
        }
        good
    }
}

/// One step of a JSON pointer, RFC 6901.
pub(super) fn escaped(step: &str) -> String {
    if step.contains(['~', '/']) { step.replace('~', "~0").replace('/', "~1") } else { step.to_owned() }
}
