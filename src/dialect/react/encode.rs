//! Writes thoughts, actions and answers the way the system prompt teaches them.
//!
//! **Invariant:** an action that is written and read again is the same call, and no text of a thought or an answer reads as a marker.

use super::marker::{Rest, Sight, sight};
use crate::dialect::place::Place;
use crate::dialect::written::{Act, Hand, Said};
use crate::dialect::{json, naming};
use crate::domain::ToolCall;
use crate::domain::names::Names;
use std::borrow::Cow;

/// Writes messages in lines with markers.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a>(pub &'a Names);

impl Hand for Lines<'_> {
    fn message(&self, said: &Said<'_>) -> String {
        let mut thoughts: Vec<&str> = said.thoughts.clone();
        if matches!(said.act, Act::Call(_)) && !said.text.is_empty() {
            // What was said beside a call is a thought here: the example that the model sees keeps to the format.
            thoughts.push(&said.text);
        }
        let mut parts = Vec::new();
        if !thoughts.is_empty() {
            parts.push(closed(&unmarked(&format!("Thought: {}", thoughts.join("\n\n")), 1)));
        }
        match said.act {
            Act::Call(call) => {
                let (name, input) = (naming::in_history(call, self.0), json::spaced(&call.arguments));
                parts.push(format!("Action: {name}\nAction Input: {input}"));
            }
            Act::Completion(_) => parts.push(unmarked(&format!("Final Answer: {}", said.text), 1).into_owned()),
            Act::Nothing => parts.extend((!said.text.is_empty()).then(|| unmarked(&said.text, 0).into_owned())),
        }
        parts.join("\n")
    }

    fn result(&self, _call: &ToolCall, text: &str) -> String {
        format!("Observation: {text}")
    }
}

/// The text with every line that would be read as a marker, from this line on, as a quotation.
fn unmarked(text: &str, from: usize) -> Cow<'_, str> {
    let is_marker = |line: &str| matches!(sight(line, Rest::Gone), Sight::Found(..));
    if !text.lines().skip(from).any(is_marker) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number >= from && is_marker(line) {
            out.push_str("> ");
        }
        out.push_str(line);
    }
    Cow::Owned(out)
}

/// The text with its fenced block closed: an action behind it must not stand in one.
fn closed(text: &str) -> String {
    let mut place = Place::default();
    place.pass(text);
    if place.in_fence() { format!("{text}\n{}", place.fence()) } else { text.to_owned() }
}
