//! Where a text is cut, and how what is put there is indented. Pure.
//!
//! **Invariant:** a cut takes out an entry, a comma beside it, white space, and comments behind the entry on its own line where nothing else stands; never
//! anything else. A new text goes where no comment can swallow it.

use jsonc_parser::ast::{Object, ObjectProp};
use jsonc_parser::common::Ranged as _;
use serde_json::Value;
use std::ops::Range;

/// A range of the text, and what stands there afterwards.
pub(super) type Cut = (Range<usize>, String);

const UNIT: &str = "  ";

/// The text after the cuts, which do not overlap.
pub(super) fn apply(text: &str, mut cuts: Vec<Cut>) -> String {
    cuts.sort_by_key(|(range, _)| range.start);
    let (mut out, mut from) = (String::with_capacity(text.len() + 256), 0);
    for (range, new) in cuts {
        out.push_str(&text[from..range.start]);
        out.push_str(&new);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// A text that has no value yet gets one, behind its comments.
pub(super) fn fresh(text: &str, value: &Value) -> Cut {
    let end = text.len();
    let before = if text.is_empty() || text.ends_with('\n') { "" } else { newline(text) };
    let value = pretty(value, "", UNIT, newline(text));
    let whole = if text.trim().is_empty() { 0..end } else { end..end };
    let before = if whole.start == 0 { "" } else { before };
    (whole, format!("{before}{value}{}", newline(text)))
}

/// Another value for an entry.
pub(super) fn replaced(text: &str, entry: &ObjectProp<'_>, value: &Value) -> Cut {
    let indent = indent_of_line(text, entry.start());
    (entry.value.start()..entry.value.end(), pretty(value, indent, &unit(text), newline(text)))
}

/// A new entry behind all others of a table.
pub(super) fn appended(text: &str, table: &Object<'_>, name: &str, value: &Value) -> Vec<Cut> {
    let (unit, line) = (unit(text), newline(text));
    let closing = indent_of_line(text, table.start());
    let indent = match table.properties.iter().find(|entry| is_first_of_line(text, entry.start())) {
        Some(entry) => indent_of_line(text, entry.start()).to_owned(),
        None => format!("{closing}{unit}"),
    };
    let entry = format!("{}: {}", Value::from(name), pretty(value, &indent, &unit, line));
    let Some(last) = table.properties.last() else {
        let inside = table.start() + 1..table.end() - 1;
        // What stands in an empty table is white space, which goes, or a comment, which stays behind the entry.
        let old = if text[inside.clone()].trim().is_empty() { inside } else { inside.start..inside.start };
        return vec![(old, format!("{line}{indent}{entry}{line}{closing}"))];
    };
    let comma = comma_after(text, last.end());
    let mut cuts = Vec::new();
    if comma.is_none() {
        cuts.push((last.end()..last.end(), ",".to_owned()));
    }
    if !text[table.start()..table.end()].contains('\n') {
        // All of it stands on one line: so does the new entry.
        let at = comma.map_or(last.end(), |comma| comma + 1);
        let end = if comma.is_some() { "," } else { "" };
        cuts.push((at..at, format!(" {}: {value}{end}", Value::from(name))));
        return merged(cuts);
    }
    let at = end_of_line_comments(text, comma.map_or(last.end(), |comma| comma + 1));
    let end = if comma.is_some() { "," } else { "" };
    // Where the table is closed on the same line, the brace goes to the next.
    let brace = text[at..].starts_with(['}', ' ', '\t']) && text[at..].trim_start_matches([' ', '\t']).starts_with('}');
    let close = if brace { format!("{line}{closing}") } else { String::new() };
    cuts.push((at..at, format!("{line}{indent}{entry}{end}{close}")));
    merged(cuts)
}

/// Two cuts at the same place are one.
fn merged(cuts: Vec<Cut>) -> Vec<Cut> {
    let mut out: Vec<Cut> = Vec::new();
    for (range, text) in cuts {
        match out.last_mut() {
            Some((before, kept)) if *before == range => kept.push_str(&text),
            _ => out.push((range, text)),
        }
    }
    out
}

/// An entry taken out of its table.
pub(super) fn removed(text: &str, table: &Object<'_>, entry: &ObjectProp<'_>) -> Vec<Cut> {
    let comma = comma_after(text, entry.end());
    let mut cuts = Vec::new();
    let end = match comma {
        // What stands between an entry and its comma is not the entry's.
        Some(comma) if text[entry.end()..comma].trim().is_empty() => comma + 1,
        Some(comma) => {
            cuts.push((comma..comma + 1, String::new()));
            entry.end()
        }
        None => {
            let before = table.properties.iter().rev().find(|other| other.end() <= entry.start());
            let comma = before.and_then(|before| comma_after(text, before.end()));
            cuts.extend(comma.map(|comma| (comma..comma + 1, String::new())));
            entry.end()
        }
    };
    cuts.push((whole_lines(text, entry.start()..end), String::new()));
    cuts
}

/// The range with all of its lines where nothing else stands on them; else with the blanks on one side.
fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let after = end_of_line_comments(text, range.end);
    let alone = text[start..range.start].trim().is_empty() && start > 0;
    if alone && text[after..].starts_with(['\n', '\r']) {
        return start..text[after..].find('\n').map_or(text.len(), |at| after + at + 1);
    }
    let blanks = text[range.end..].len() - text[range.end..].trim_start_matches([' ', '\t']).len();
    range.start..range.end + blanks
}

/// Behind the blanks and comments that end on the line that `at` is on.
fn end_of_line_comments(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        let blanks = text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
        let rest = &text[at + blanks..];
        let comment = if rest.starts_with("//") {
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(0, |end| end + 2)
        } else {
            0
        };
        if comment == 0 || rest[..comment].contains('\n') {
            // Blanks before a line's end go with what stands before them.
            return if rest.is_empty() || rest.starts_with(['\n', '\r']) { at + blanks } else { at };
        }
        at += blanks + comment;
    }
}

/// The comma behind an entry, beyond white space and comments.
fn comma_after(text: &str, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        let rest = &text[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/")? + 2
        } else {
            match rest.chars().next()? {
                ',' => return Some(at),
                white if white.is_whitespace() => white.len_utf8(),
                _ => return None,
            }
        };
        at += skipped;
    }
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn is_first_of_line(text: &str, at: usize) -> bool {
    let start = line_start(text, at);
    start > 0 && text[start..at].trim().is_empty()
}

/// The blanks that a line begins with.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// One step of indentation: that of the first line that has any.
fn unit(text: &str) -> String {
    let blanks = |line: &str| line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned();
    let first = text.lines().filter(|line| line.trim_start().starts_with(['"', '/'])).map(blanks);
    first.into_iter().find(|blanks| !blanks.is_empty()).filter(|blanks| blanks.len() <= 8).unwrap_or(UNIT.to_owned())
}

/// A value over several lines; a list of plain values stands on one.
fn pretty(value: &Value, indent: &str, unit: &str, line: &str) -> String {
    let deeper = format!("{indent}{unit}");
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let fields = fields.iter().map(|(name, value)| {
                format!("{deeper}{}: {}", Value::from(name.as_str()), pretty(value, &deeper, unit, line))
            });
            let fields: Vec<String> = fields.collect();
            format!("{{{line}{}{line}{indent}}}", fields.join(&format!(",{line}")))
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let items: Vec<String> =
                items.iter().map(|item| format!("{deeper}{}", pretty(item, &deeper, unit, line))).collect();
            format!("[{line}{}{line}{indent}]", items.join(&format!(",{line}")))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        plain => plain.to_string(),
    }
}
