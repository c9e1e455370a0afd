//! Answers to what servers ask, written down beforehand (`--answers FILE`).
//!
//! ```json
//! {
//!   "deployer": {
//!     "deploy": { "environment": "staging", "regions": ["eu-west"] },
//!     "login":  [ { "name": "ada" }, { "code": 1234 } ],
//!     "rename": "decline",
//!     "*":      { "confirm": true }
//!   },
//!   "*": { "*": { "email": "ada@example.org" } },
//!   "ask_followup_question": ["the first one", "yes"]
//! }
//! ```
//!
//! By server, then by the tool whose call asks, then by field; `*` stands for every server or every tool. What stands nearer wins, field by field: server and
//! tool, server and `*`, `*` and `*`. A list answers one question after the other; behind its end there is no answer. `"decline"` and `"cancel"` are answers
//! too. Fields that a form does not have are left aside; fields without an answer take the form's default. What the model itself asks is answered by the text,
//! or the texts one after the other, under `ask_followup_question`.
//!
//! Owns the answers and which of them were given. Whether they satisfy the server's schema is the agent's to say.

use crate::domain::Phrase;
use crate::domain::form::Form;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Stands for every server, and for every tool.
const ANY: &str = "*";
/// The tool by which a model asks.
const QUESTION: &str = "ask_followup_question";

/// One answer to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Values of fields.
    Fields(Map<String, Value>),
    /// No.
    Decline,
    /// Neither yes nor no.
    Cancel,
}

/// What stands under a tool.
#[derive(Debug, Clone)]
enum Entry {
    /// For every question.
    Always(Given),
    /// One after the other.
    Each(std::vec::IntoIter<Given>),
}

/// The answers of a file.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    forms: BTreeMap<(String, String), Entry>,
    questions: std::vec::IntoIter<String>,
}

impl Answers {
    /// Reads a file's text. `file` is named in what is wrong with it.
    pub fn parse(text: &str, file: &str) -> Result<Self, Phrase> {
        let wrong = |problem: String| Phrase::new("run.bad_answers").with("file", file).with("problem", problem);
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let Value::Object(servers) = value else {
            return Err(Phrase::new("run.answers_shape").with("file", file).with("place", "$"));
        };
        let mut answers = Self::default();
        for (server, tools) in servers {
            answers
                .take(&server, tools)
                .map_err(|at| Phrase::new("run.answers_shape").with("file", file).with("place", at))?;
        }
        Ok(answers)
    }

    /// Takes what stands under a server's name; else the place of what is wrong.
    fn take(&mut self, server: &str, tools: Value) -> Result<(), String> {
        let tools = match tools {
            Value::Object(tools) => tools,
            Value::String(text) if server == QUESTION => {
                self.questions = vec![text].into_iter();
                return Ok(());
            }
            Value::Array(texts) if server == QUESTION => {
                let texts: Option<Vec<String>> = texts.iter().map(|text| text.as_str().map(str::to_owned)).collect();
                self.questions = texts.ok_or_else(|| server.to_owned())?.into_iter();
                return Ok(());
            }
            _ => return Err(server.to_owned()),
        };
        for (tool, value) in tools {
            let place = || format!("{server}.{tool}");
            let entry = match value {
                Value::Array(list) => {
                    let all: Option<Vec<Given>> = list.into_iter().map(given).collect();
                    Entry::Each(all.ok_or_else(place)?.into_iter())
                }
                one => Entry::Always(given(one).ok_or_else(place)?),
            };
            self.forms.insert((server.to_owned(), tool), entry);
        }
        Ok(())
    }

    /// The answer to a server's form, asked during a call of `tool`. `None`: there is none.
    pub fn form(&mut self, server: &str, tool: Option<&str>, form: &Form) -> Option<Given> {
        let tool = tool.unwrap_or(ANY);
        let mut places = vec![(server, tool), (server, ANY), (ANY, ANY)];
        places.dedup();
        let mut found: Option<Map<String, Value>> = None;
        for (server, tool) in places {
            let next = match self.forms.get_mut(&(server.to_owned(), tool.to_owned())) {
                Some(Entry::Always(given)) => Some(given.clone()),
                Some(Entry::Each(rest)) => rest.next(),
                None => None,
            };
            match (next, &mut found) {
                (Some(Given::Fields(fields)), None) => found = Some(fields),
                (Some(Given::Fields(fields)), Some(found)) => {
                    for (name, value) in fields {
                        found.entry(name).or_insert(value);
                    }
                }
                (Some(other), None) => return Some(other),
                // What is farther away says nothing more.
                (Some(_), Some(_)) | (None, _) => {}
            }
        }
        Some(Given::Fields(fitted(found?, form)))
    }

    /// The answer to the model's next question.
    pub fn question(&mut self) -> Option<String> {
        self.questions.next()
    }
}

fn given(value: Value) -> Option<Given> {
    match value {
        Value::Object(fields) => Some(Given::Fields(fields)),
        Value::String(word) if word == "decline" => Some(Given::Decline),
        Value::String(word) if word == "cancel" => Some(Given::Cancel),
        _ => None,
    }
}

/// The fields that the form has, and its defaults where nothing is said.
fn fitted(mut fields: Map<String, Value>, form: &Form) -> Map<String, Value> {
    let mut values = Map::new();
    for field in &form.fields {
        if let Some(value) = fields.remove(&field.name).or_else(|| field.default.clone()) {
            values.insert(field.name.clone(), value);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::form::{Field, FieldKind};
    use serde_json::json;

    fn form(fields: &[(&str, Option<Value>)]) -> Form {
        let field = |(name, default): &(&str, Option<Value>)| Field {
            name: (*name).to_owned(),
            title: None,
            description: None,
            required: true,
            kind: FieldKind::Boolean,
            default: default.clone(),
        };
        Form { fields: fields.iter().map(field).collect() }
    }

    fn answers(value: &Value) -> Answers {
        Answers::parse(&value.to_string(), "a.json").unwrap()
    }

    fn fields(value: Value) -> Option<Given> {
        given(value)
    }

    #[test]
    fn what_stands_nearer_wins_field_by_field() {
        let mut answers = answers(&json!({
            "s": { "t": { "a": 1 }, "*": { "a": 2, "b": 2 } },
            "*": { "*": { "a": 3, "b": 3, "c": 3, "elsewhere": 0 } },
        }));
        let form = form(&[("a", None), ("b", None), ("c", None), ("d", Some(json!(4))), ("e", None)]);
        assert_eq!(answers.form("s", Some("t"), &form), fields(json!({ "a": 1, "b": 2, "c": 3, "d": 4 })));
        assert_eq!(answers.form("s", None, &form), fields(json!({ "a": 2, "b": 2, "c": 3, "d": 4 })));
        assert_eq!(answers.form("x", Some("y"), &form), fields(json!({ "a": 3, "b": 3, "c": 3, "d": 4 })));
    }

    #[test]
    fn lists_answer_one_question_after_the_other() {
        let mut answers = answers(&json!({
            "s": { "t": [{ "a": 1 }, "decline"], "u": "cancel" },
            "ask_followup_question": ["x", "y"],
        }));
        let form = form(&[("a", None)]);
        assert_eq!(answers.form("s", Some("t"), &form), fields(json!({ "a": 1 })));
        assert_eq!(answers.form("s", Some("t"), &form), Some(Given::Decline));
        assert_eq!(answers.form("s", Some("t"), &form), None);
        assert_eq!(answers.form("s", Some("u"), &form), Some(Given::Cancel));
        assert_eq!(answers.form("other", Some("u"), &form), None);
        assert_eq!(
            [answers.question(), answers.question(), answers.question()],
            [Some("x".into()), Some("y".into()), None]
        );
    }

    #[test]
    fn an_entry_without_fields_takes_the_defaults() {
        let mut answers = answers(&json!({ "s": { "t": {} } }));
        assert_eq!(answers.form("s", Some("t"), &form(&[("a", Some(json!(true)))])), fields(json!({ "a": true })));
        assert_eq!(answers.form("s", Some("t"), &form(&[])), fields(json!({})), "a confirmation");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let place = |text: &str| {
            let problem = Answers::parse(text, "a.json").unwrap_err();
            assert_eq!(crate::strings::lacks(&problem), Vec::<String>::new());
            problem.args.last().map(|(_, value)| value.clone()).unwrap()
        };
        assert!(place("{").contains("line 1"));
        assert_eq!(place("[]"), "$");
        assert_eq!(place(r#"{"s": 1}"#), "s");
        assert_eq!(place(r#"{"s": {"t": "maybe"}}"#), "s.t");
        assert_eq!(place(r#"{"s": {"t": [{}, 1]}}"#), "s.t");
        assert_eq!(place(r#"{"ask_followup_question": [1]}"#), "ask_followup_question");
    }
}
