//! What the bodies of several wire formats share. Pure.
//!
//! Owns: laying an entry's own fields over a body, which pictures models take, ids of calls in letters that a provider accepts, and where in a
//! reply a signed block stood ([`place`], [`weave`]).

use crate::domain::Content;
use crate::domain::content::Blob;
use crate::domain::model::CallRef;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Lays a field over a body. The entry's own fields win; objects (`stream_options`, `chat_template_kwargs`) are joined.
pub(super) fn merge(into: &mut Map<String, Value>, name: &str, value: &Value) {
    if let (Some(Value::Object(have)), Value::Object(more)) = (into.get_mut(name), value) {
        for (name, value) in more {
            merge(have, name, value);
        }
    } else {
        into.insert(name.to_owned(), value.clone());
    }
}

/// Largest picture that is sent, bytes of base64. A larger one would be refused, and with it every later request of the session.
const LARGEST_PICTURE: usize = 5 << 20;

/// The picture in a block, if it is one that models take: of a kind that all of them know, and not too large.
pub(super) fn picture(block: &Content) -> Option<(&str, &Blob)> {
    let Content::Image { mime, data } = block else { return None };
    let known = matches!(mime.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    (known && data.base64.len() <= LARGEST_PICTURE).then_some((mime.as_str(), data))
}

/// Ids of calls in `[A-Za-z0-9_-]{1,64}`. After a change of provider the history holds ids that this one would refuse.
///
/// **Invariant:** the same id gives the same answer, two ids never the same one.
#[derive(Default)]
pub(super) struct Ids {
    given: HashMap<String, String>,
    taken: HashSet<String>,
}

impl Ids {
    pub(super) fn legal(&mut self, id: &str) -> String {
        if let Some(known) = self.given.get(id) {
            return known.clone();
        }
        let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let plain: String = id.chars().map(letter).take(64).collect();
        let plain = if plain.is_empty() { "_".to_owned() } else { plain };
        let mut legal = plain.clone();
        let mut number = 1;
        while !self.taken.insert(legal.clone()) {
            number += 1;
            let tail = format!("_{number}");
            legal = format!("{}{tail}", &plain[..plain.len().min(64 - tail.len())]);
        }
        self.given.insert(id.to_owned(), legal.clone());
        legal
    }
}

/// How far a reply had come when a block was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Point {
    /// Calls begun before it.
    pub(super) calls: usize,
    /// Characters of text before it. White space does not count: it is not kept at the ends of what was said.
    pub(super) chars: usize,
}

impl Point {
    /// Counts a piece of text.
    pub(super) fn said(&mut self, text: &str) {
        self.chars += text.chars().filter(|c| !c.is_whitespace()).count();
    }
}

/// A signed block with its place in the reply, as it is kept in the history.
pub(super) fn place(block: Value, at: Point) -> Value {
    json!({ "block": block, "calls": at.calls, "chars": at.chars })
}

/// A part of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part<'a> {
    /// Text; never only white space.
    Text(&'a str),
    /// A call.
    Call(&'a CallRef),
    /// A signed block.
    Block(&'a Value),
}

/// The parts of a reply in the order in which the model wrote them, as far as its signed blocks tell; the rest is text, then calls.
pub(super) fn weave<'a>(text: &'a str, opaque: &'a [Value], calls: &'a [CallRef]) -> Vec<Part<'a>> {
    let mut out = Vec::with_capacity(opaque.len() + calls.len() + 1);
    let (mut rest, mut said, mut called) = (text, 0, 0);
    for kept in opaque {
        let Some(block) = kept.get("block") else { continue };
        let count =
            |name: &str| kept.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let (before, after) = split(rest, count("chars").saturating_sub(said));
        say(before, &mut out);
        (rest, said) = (after, said.max(count("chars")));
        let upto = count("calls").clamp(called, calls.len());
        if upto > called {
            // What was called comes after what was said before it.
            out.extend(calls[called..upto].iter().map(Part::Call));
            called = upto;
        }
        out.push(Part::Block(block));
    }
    say(rest, &mut out);
    out.extend(calls[called..].iter().map(Part::Call));
    out
}

fn say<'a>(text: &'a str, out: &mut Vec<Part<'a>>) {
    if !text.trim().is_empty() {
        out.push(Part::Text(text));
    }
}

/// In two after that many characters that are not white space.
fn split(text: &str, chars: usize) -> (&str, &str) {
    if chars == 0 {
        return ("", text);
    }
    let last = text.char_indices().filter(|(_, c)| !c.is_whitespace()).nth(chars - 1);
    last.map_or((text, ""), |(at, c)| text.split_at(at + c.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_legal_and_distinct() {
        let mut ids = Ids::default();
        assert_eq!(ids.legal("toolu_01-x"), "toolu_01-x");
        assert_eq!(ids.legal("functions.f:0"), "functions_f_0");
        assert_eq!(ids.legal("functions.f.0"), "functions_f_0_2");
        assert_eq!(ids.legal("functions.f:0"), "functions_f_0");
        let long = "é".repeat(80);
        assert_eq!((ids.legal(&long).len(), ids.legal(&format!("{long}!")).len()), (64, 64));
        assert_eq!(ids.legal(""), "_");
    }

    #[test]
    fn blocks_stand_where_they_stood() {
        let call = |id: &str| CallRef { id: id.into(), name: "f".into(), arguments: json!({}) };
        let calls = [call("a"), call("b")];
        let blocks = [
            place(json!(1), Point::default()),
            place(json!(2), Point { calls: 0, chars: 6 }),
            place(json!(3), Point { calls: 1, chars: 6 }),
        ];
        // The text lost its blank ends on the way.
        let parts = weave("one two\n\nthree", &blocks, &calls);
        let (one, two, three) = (json!(1), json!(2), json!(3));
        let expected = [
            Part::Block(&one),
            Part::Text("one two"),
            Part::Block(&two),
            Part::Call(&calls[0]),
            Part::Block(&three),
            Part::Text("\n\nthree"),
            Part::Call(&calls[1]),
        ];
        assert_eq!(parts, expected);
        // A history that lost a call, and a block of another version.
        assert_eq!(weave("", &[place(json!(1), Point { calls: 9, chars: 9 }), json!({})], &calls[..1]).len(), 2);
    }
}
