//! What a JSON object says: a call, an answer, or nothing that can be used.
//!
//! Owns the names of its members, as models write them. Shared with ReAct (an action written as an object) and with the recovery of calls from text.

use crate::dialect::{json, naming};
use crate::domain::model::Arguments;
use crate::domain::names::Names;
use serde_json::{Map, Value};

/// What a member of the object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Member {
    /// What the model thinks.
    Thought,
    /// The tool it calls.
    Tool,
    /// The arguments of the call.
    Arguments,
    /// What it says to the user.
    Answer,
    /// Anything else.
    Other,
}

/// Whether a member's name leaves no doubt that the object belongs to the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// It leaves none.
    Sure,
    /// Data may have a member of that name too.
    Doubtful,
}

/// What the member of this name is.
pub fn member(name: &str) -> (Member, Certainty) {
    match name {
        "thought" | "thoughts" | "thinking" | "reasoning" | "思考" => (Member::Thought, Certainty::Sure),
        "tool" | "tool_name" | "toolName" | "tool_call" => (Member::Tool, Certainty::Sure),
        "action" | "name" | "function" => (Member::Tool, Certainty::Doubtful),
        "arguments" | "tool_input" | "action_input" | "tool_args" => (Member::Arguments, Certainty::Sure),
        "args" | "parameters" | "params" | "input" => (Member::Arguments, Certainty::Doubtful),
        "answer" | "final_answer" | "finalAnswer" | "final answer" => (Member::Answer, Certainty::Sure),
        "result" | "response" => (Member::Answer, Certainty::Doubtful),
        _ => (Member::Other, Certainty::Doubtful),
    }
}

/// What the object says.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// A call: its name and arguments.
    Call(String, Arguments),
    /// The task is done; the text, where it was not told yet.
    Answer(Option<String>),
    /// Nothing; what is wrong with it.
    Nothing(String),
}

/// Members of an object as they were written.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// The tool: JSON text.
    pub tool: Option<String>,
    /// The arguments: JSON text.
    pub arguments: Option<String>,
    /// The answer, where it is no text that was told already: JSON text.
    pub answer: Option<String>,
    /// An answer was told.
    pub answered: bool,
    /// The others: name and JSON text.
    pub others: Vec<(String, String)>,
}

const NEITHER: &str = "The object holds neither \"tool\" nor \"answer\".";

impl Members {
    /// Adds a member.
    pub fn add(&mut self, name: &str, raw: String) {
        if raw == "null" {
            return;
        }
        match member(name).0 {
            Member::Tool if self.tool.is_none() => self.tool = Some(raw),
            Member::Arguments if self.arguments.is_none() => self.arguments = Some(raw),
            Member::Answer if self.answer.is_none() => self.answer = Some(raw),
            Member::Thought => {}
            _ => self.others.push((name.to_owned(), raw)),
        }
    }

    /// The name of the tool, where there is one.
    pub fn name(&self) -> Option<String> {
        let name = match self.tool_value()? {
            Value::String(name) => name,
            Value::Object(map) => inner_name(&map)?,
            _ => return None,
        };
        let name = name.trim();
        (!name.is_empty() && !matches!(name, "null" | "none" | "None")).then(|| name.to_owned())
    }

    fn tool_value(&self) -> Option<Value> {
        serde_json::from_str(self.tool.as_deref()?).ok()
    }

    /// What they say together.
    pub fn meaning(&self, names: &Names) -> Meaning {
        let answer = || self.answer.as_deref().map(told).filter(|text| !text.trim().is_empty());
        let Some(name) = self.name() else {
            return match answer() {
                None if !self.answered => Meaning::Nothing(NEITHER.to_owned()),
                text => Meaning::Answer(text),
            };
        };
        let arguments = self.arguments();
        if naming::is_finish(&name, names) {
            let text = answer().or_else(|| answer_of(&arguments));
            return match text {
                None if !self.answered => Meaning::Nothing(NEITHER.to_owned()),
                text => Meaning::Answer(text),
            };
        }
        Meaning::Call(naming::meant(&name, names), arguments)
    }

    fn arguments(&self) -> Arguments {
        let inner = match self.tool_value() {
            Some(Value::Object(map)) => inner_arguments(&map),
            _ => None,
        };
        match (&self.arguments, inner) {
            (Some(raw), _) => match json::arguments(raw) {
                Ok(value) => Arguments::Parsed { value },
                Err(problem) => Arguments::Malformed { text: raw.clone(), problem },
            },
            (None, Some(value)) => match json::arguments(&value.to_string()) {
                Ok(value) => Arguments::Parsed { value },
                Err(problem) => Arguments::Malformed { text: value.to_string(), problem },
            },
            // Arguments beside the tool's name: what they mean is clear, and the schema says whether they fit.
            (None, None) => {
                let others = self.others.iter().filter(|(name, _)| !matches!(name.as_str(), "id" | "type" | "status"));
                let parsed = others.filter_map(|(name, raw)| Some((name.clone(), serde_json::from_str(raw).ok()?)));
                Arguments::Parsed { value: Value::Object(parsed.collect()) }
            }
        }
    }
}

fn inner_name(map: &Map<String, Value>) -> Option<String> {
    let named = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    named("name").or_else(|| named("tool")).or_else(|| match map.get("function") {
        Some(Value::Object(inner)) => inner_name(inner),
        Some(Value::String(name)) => Some(name.clone()),
        _ => None,
    })
}

fn inner_arguments(map: &Map<String, Value>) -> Option<Value> {
    let found = map.iter().find(|(key, _)| member(key).0 == Member::Arguments).map(|(_, value)| value.clone());
    found.or_else(|| map.get("function").and_then(Value::as_object).and_then(inner_arguments))
}

/// What an object's text says.
pub fn of_text(text: &str, names: &Names) -> Meaning {
    match json::arguments(text) {
        Ok(Value::Object(map)) => {
            let mut members = Members::default();
            map.iter().for_each(|(name, value)| members.add(name, value.to_string()));
            members.meaning(names)
        }
        Ok(_) => Meaning::Nothing(NEITHER.to_owned()),
        Err(problem) => Meaning::Nothing(problem),
    }
}

/// The text of arguments that were given to "final answer" as if that were a tool: their only or best string.
pub fn answer_of(arguments: &Arguments) -> Option<String> {
    let Arguments::Parsed { value: Value::Object(map) } = arguments else { return None };
    let best = map.iter().find(|(name, _)| member(name).0 == Member::Answer).or_else(|| map.iter().next());
    best.map(|(_, value)| value.as_str().map_or_else(|| json::spaced(value), str::to_owned))
}

/// JSON as it is told to the user: a string without its quotes.
fn told(raw: &str) -> String {
    match serde_json::from_str(raw) {
        Ok(Value::String(text)) => text,
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_else(|_| raw.to_owned()),
        Err(_) => raw.to_owned(),
    }
}
