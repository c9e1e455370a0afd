//! Calls that a native model writes as text instead of making them: in its answer, or in its reasoning.
//!
//! Small servers do not see every format that a model was trained on, so its call stands in the text: as JSON, as XML, as lines with markers. It is
//! recovered only where it is the reply's own: the text is the call and nothing else (a fenced block around all of it, or the model's own tags, do not
//! count), every tool that it names is offered, and its arguments are whole. A call in prose, an example, a result that is repeated stay text.
//!
//! Owns: the text that is held back until that is decided. Only a text that *begins* like a call is held; the first byte that speaks against it
//! releases it. **Invariant:** what is not a call is sent on unchanged.

use super::object::meaning::{Meaning, Member, Members, member};
use super::place::is_fence;
use super::react::{self, ReactParser};
use super::xml::XmlParser;
use super::{Flow, Parser};
use crate::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use crate::domain::names::Names;
use serde_json::Value;
use std::sync::Arc;

/// So many bytes decide whether a text begins like a call.
const DECIDED: usize = 160;

/// Tags that models put around calls of their own format.
const WRAPPERS: [(&str, &str); 4] = [
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<|python_tag|>", ""),
    ("[TOOL_CALLS]", ""),
];

/// Tags of the XML protocol.
const TAGS: [&str; 4] = ["use_mcp_tool", "access_mcp_resource", "ask_followup_question", "thinking"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// More must come first.
    Open,
    /// Like a call.
    Call,
    /// Like anything else.
    Text,
}

/// A text that may be a call.
#[derive(Debug)]
pub struct Leak {
    names: Arc<Names>,
    held: String,
    look: Look,
}

/// A call that was recovered.
#[derive(Debug, Clone, PartialEq)]
pub struct Recovered {
    /// What was thought before the call, where the text says so.
    pub thought: String,
    /// The name and the arguments of each call.
    pub calls: Vec<(String, Arguments)>,
    /// The last byte closed it: nothing could have followed.
    pub closed: bool,
}

impl Leak {
    /// Watches a text of a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        let look = if names.iter().next().is_some() { Look::Open } else { Look::Text };
        Self { names, held: String::new(), look }
    }

    /// Takes the next piece: what of the text is certain to be text now.
    pub fn take(&mut self, text: String) -> Option<String> {
        match self.look {
            Look::Text => return Some(text),
            Look::Call => self.held.push_str(&text),
            Look::Open => {
                self.held.push_str(&text);
                self.look = self.look();
                if self.look == Look::Text {
                    return Some(std::mem::take(&mut self.held));
                }
            }
        }
        None
    }

    /// Whether the text was found to be text.
    pub fn is_released(&self) -> bool {
        self.look == Look::Text
    }

    /// Whether anything but white space is held back.
    pub fn holds(&self) -> bool {
        !self.held.trim().is_empty()
    }

    /// It is text, whatever it looks like: what was held back.
    pub fn release(&mut self) -> Option<String> {
        self.look = Look::Text;
        Some(std::mem::take(&mut self.held)).filter(|held| !held.is_empty())
    }

    /// The text is over: the calls that it is, if it is.
    pub fn recover(&self) -> Option<Recovered> {
        if self.look != Look::Call {
            return None;
        }
        let text = inside(self.held.trim());
        let found = self.read_json(text).or_else(|| self.read_protocol(text));
        found.filter(|found| found.calls.iter().all(|(name, _)| self.names.resolve(name).is_some()))
    }

    fn look(&self) -> Look {
        let text = self.held.trim_start();
        let text = match text.strip_prefix("```") {
            Some(rest) => match rest.split_once('\n') {
                Some((info, inside)) if is_fence(&format!("```{info}")) => inside.trim_start(),
                None if rest.len() < 20 => return Look::Open,
                _ => return Look::Text,
            },
            None => text,
        };
        let found = match text.chars().next() {
            None => Look::Open,
            Some('`') if "```".starts_with(text) => Look::Open,
            Some('{') => object(text),
            Some('<' | '[') => self.tag(text),
            Some(_) => match react::begins(text) {
                Some(true) => Look::Call,
                Some(false) => Look::Text,
                None => Look::Open,
            },
        };
        if found == Look::Open && self.held.len() > DECIDED && !text.is_empty() { Look::Text } else { found }
    }

    fn tag(&self, text: &str) -> Look {
        if WRAPPERS.iter().any(|(opening, _)| text.starts_with(opening)) {
            return Look::Call;
        }
        if let Some(list) = text.strip_prefix('[') {
            let list = list.trim_start();
            return match list.chars().next() {
                None => Look::Open,
                Some('{') => object(list),
                Some('T') if "[TOOL_CALLS]".starts_with(text) => Look::Open,
                Some(_) => Look::Text,
            };
        }
        let tag = &text[1..];
        match tag.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '|'))) {
            None => Look::Open,
            Some(end) if tag[end..].starts_with('>') && self.is_call(&tag[..end]) => Look::Call,
            Some(_) => Look::Text,
        }
    }

    fn is_call(&self, tag: &str) -> bool {
        // A name without `_` could be HTML, unless it is a built-in's.
        let named = self.names.resolve(tag).is_some_and(|id| id.server.is_none() || tag.contains('_'));
        named || TAGS.contains(&tag)
    }

    /// One object, several, or a list of them.
    fn read_json(&self, text: &str) -> Option<Recovered> {
        let mut found = Recovered { thought: String::new(), calls: Vec::new(), closed: true };
        for piece in unwrapped(text)? {
            for value in serde_json::Deserializer::from_str(piece).into_iter::<Value>() {
                let values = match value.ok()? {
                    Value::Array(list) => list,
                    one => vec![one],
                };
                for value in values {
                    self.read_value(&value, &mut found)?;
                }
            }
        }
        (!found.calls.is_empty()).then_some(found)
    }

    fn read_value(&self, value: &Value, found: &mut Recovered) -> Option<()> {
        let map = value.as_object()?;
        let mut members = Members::default();
        for (name, value) in map {
            match member(name).0 {
                Member::Thought => found.thought.push_str(value.as_str()?),
                Member::Tool | Member::Arguments => members.add(name, value.to_string()),
                // Anything else than a call has more to say; what comes with a result is no call any more.
                _ if matches!(name.as_str(), "id" | "type") => {}
                _ => return None,
            }
        }
        let nested = || map.get("function").is_some_and(Value::is_object);
        if members.arguments.is_none() && !nested() {
            return None;
        }
        match members.meaning(&self.names) {
            Meaning::Call(name, arguments @ Arguments::Parsed { .. }) => found.calls.push((name, arguments)),
            _ => return None,
        }
        Some(())
    }

    /// The XML protocol, or lines with markers: read by their own parsers.
    fn read_protocol(&self, text: &str) -> Option<Recovered> {
        if text.starts_with('<') {
            // A missing tag is forgiven where the format was taught, not here.
            return whole(&mut XmlParser::new(Arc::clone(&self.names)), text).filter(|found| found.closed);
        }
        whole(&mut ReactParser::new(Arc::clone(&self.names)), text)
    }
}

/// The inside of a fenced block around the whole text.
fn inside(text: &str) -> &str {
    let Some((first, rest)) = text.split_once('\n') else { return text };
    let body = rest.trim_end().strip_suffix("```").filter(|body| is_fence(first) && !body.contains("```"));
    body.map_or(text, str::trim)
}

/// The texts inside the models' own tags; the text itself where it has none.
fn unwrapped(text: &str) -> Option<Vec<&str>> {
    let Some((opening, closing)) = WRAPPERS.iter().find(|(opening, _)| text.starts_with(opening)) else {
        return Some(vec![text]);
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let inside = rest.trim_start().strip_prefix(opening)?;
        let end = if closing.is_empty() { inside.len() } else { inside.find(closing).unwrap_or(inside.len()) };
        pieces.push(inside[..end].trim());
        rest = inside[end..].strip_prefix(closing).unwrap_or_default();
    }
    Some(pieces)
}

/// How the object's first member looks.
fn object(text: &str) -> Look {
    let Some(name) = text[1..].trim_start().strip_prefix('"') else {
        return if text[1..].trim().is_empty() { Look::Open } else { Look::Text };
    };
    match name.split_once('"') {
        None => Look::Open,
        Some((name, _)) => match member(name).0 {
            Member::Thought | Member::Tool | Member::Arguments => Look::Call,
            _ if matches!(name, "id" | "type") => Look::Call,
            _ => Look::Text,
        },
    }
}

/// What a parser makes of a text that is a call from its first to its last byte.
fn whole(parser: &mut dyn Parser, text: &str) -> Option<Recovered> {
    let (last, _) = text.char_indices().next_back()?;
    let mut events = Vec::new();
    if parser.feed(StreamEvent::Text { text: text[..last].to_owned() }, &mut events) == Flow::Stop {
        // Something stands behind the call.
        return None;
    }
    let closed = parser.feed(StreamEvent::Text { text: text[last..].to_owned() }, &mut events) == Flow::Stop;
    parser.feed(StreamEvent::Finish { reason: FinishReason::Stop }, &mut events);
    parser.end(&mut events);
    let mut found = Recovered { thought: String::new(), calls: Vec::new(), closed };
    for event in events {
        match event {
            ModelEvent::Thinking { text } => found.thought.push_str(&text),
            ModelEvent::Call(call) if matches!(call.arguments, Arguments::Parsed { .. }) => {
                found.calls.push((call.name, call.arguments));
            }
            ModelEvent::CallStarted { .. } | ModelEvent::CallGrew { .. } | ModelEvent::Finished { .. } => {}
            _ => return None,
        }
    }
    (found.calls.len() == 1).then_some(found)
}
