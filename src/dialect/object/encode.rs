//! Writes messages as objects, the way the system prompt teaches them.
//!
//! **Invariant:** a call that is written and read again is the same call.

use crate::dialect::written::{Act, Hand, Said};
use crate::dialect::{json, naming};
use crate::domain::ToolCall;
use crate::domain::names::Names;
use serde_json::{Map, Value};

/// Writes messages as objects.
#[derive(Debug, Clone, Copy)]
pub struct Objects<'a>(pub &'a Names);

impl Hand for Objects<'_> {
    fn message(&self, said: &Said<'_>) -> String {
        let mut thoughts: Vec<&str> = said.thoughts.clone();
        if matches!(said.act, Act::Call(_)) && !said.text.is_empty() {
            // What was said beside a call is a thought here: the example that the model sees keeps to the format.
            thoughts.push(&said.text);
        }
        let mut object = Map::new();
        if !thoughts.is_empty() {
            object.insert("thought".to_owned(), Value::from(thoughts.join("\n\n")));
        }
        match said.act {
            Act::Call(call) => {
                object.insert("tool".to_owned(), Value::from(naming::in_history(call, self.0)));
                object.insert("arguments".to_owned(), call.arguments.clone());
            }
            Act::Nothing if said.text.is_empty() => {}
            Act::Completion(_) | Act::Nothing => {
                object.insert("answer".to_owned(), Value::from(said.text.as_str()));
            }
        }
        json::spaced(&Value::Object(object))
    }

    fn result(&self, call: &ToolCall, text: &str) -> String {
        format!("[{}] Result:\n{text}", naming::in_history(call, self.0))
    }
}
