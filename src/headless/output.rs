//! What is printed: the answer, one object, or every event.
//!
//! Owns how standard output reads. Pure: facts in, lines out. **Invariant:** known secrets are masked in every form; a text is sanitized, JSON is escaped as
//! JSON is.

use super::course::{Called, Course, End};
use crate::contract::Event;
use crate::domain::content::plain;
use crate::domain::{CallId, ToolOutcome};
use crate::redact::Redactor;
use crate::sanitize;
use crate::strings::Strings;
use serde_json::{Map, Value, json};

/// `--output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// The answer.
    #[default]
    Text,
    /// One object, at the end.
    Json,
    /// The events of the contract, one object a line.
    Stream,
}

/// An event as a line of JSON, with `type` first. An event that cannot be written (there is none) is left out.
pub fn event_line(event: &Event, redactor: &Redactor) -> Option<Vec<u8>> {
    let mut value = serde_json::to_value(event).ok()?;
    redactor.mask_json(&mut value);
    line_of(&value)
}

/// A value on a line of its own.
pub fn line_of(value: &Value) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(value).ok()?;
    line.push(b'\n');
    Some(line)
}

/// The answer as text: what would steer a terminal is shown as marks.
pub fn answer_text(answer: &str, redactor: &Redactor) -> Vec<u8> {
    let masked = redactor.mask_text(answer.trim_end());
    let mut out = String::with_capacity(masked.len() + 1);
    for line in masked.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        // Tabs steer nothing, and code needs them.
        for (n, piece) in line.split('\t').enumerate() {
            if n > 0 {
                out.push('\t');
            }
            out.push_str(&sanitize::line(piece));
        }
        out.push('\n');
    }
    out.into_bytes()
}

/// All that became of the task, as one line.
pub fn result_line(course: &Course, strings: &Strings, redactor: &Redactor) -> Option<Vec<u8>> {
    let end = course.end();
    let problem = match &end {
        End::Failed(problem) => Some(strings.render(problem)),
        _ => None,
    };
    let mut value = json!({
        "type": "result",
        "status": end.name(),
        "exit": end.status(),
        "answer": course.answer(),
        "problem": problem,
        "session": course.session,
        "model": course.model.name,
        "dialect": course.model.dialect,
        "steps": course.steps,
        "calls": course.calls.iter().map(call).collect::<Vec<_>>(),
        "usage": course.usage,
    });
    redactor.mask_json(&mut value);
    line_of(&value)
}

fn call(called: &Called) -> Value {
    let mut out = Map::new();
    out.insert("tool".into(), Value::String(called.call.shown_name()));
    out.insert("arguments".into(), called.call.arguments.clone());
    let (outcome, text) = called.outcome.as_ref().map_or(("open", None), told);
    out.insert("outcome".into(), Value::String(outcome.into()));
    out.insert("result".into(), text.map_or(Value::Null, Value::String));
    Value::Object(out)
}

/// The name of an outcome, and its text.
fn told(outcome: &ToolOutcome) -> (&'static str, Option<String>) {
    match outcome {
        ToolOutcome::Done { content, is_error, for_model, .. } => {
            let text = for_model.clone().unwrap_or_else(|| plain(content));
            (if *is_error { "error" } else { "done" }, Some(text))
        }
        ToolOutcome::Failed { message, .. } => ("failed", Some(message.clone())),
        ToolOutcome::Rejected { reason } => ("refused", reason.clone()),
        ToolOutcome::ByHand { text } => ("by_hand", Some(text.clone())),
        ToolOutcome::Cancelled => ("cancelled", None),
        ToolOutcome::Interrupted => ("interrupted", None),
        ToolOutcome::SameAs { call: CallId(_) } => ("same", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{SessionEvent, TurnEvent};
    use crate::domain::server::ServerSignal;
    use crate::domain::{Conversation, Notice, Phrase, TurnEnd, TurnId};

    #[test]
    fn every_kind_of_event_begins_with_its_type_and_can_be_read_back() {
        let opened = SessionEvent::Opened {
            id: "s".into(),
            cwd: "/".into(),
            conversation: Conversation::default(),
            draft: String::new(),
        };
        let events: Vec<Event> = vec![
            opened.into(),
            TurnEvent::Ended { turn: TurnId(1), end: TurnEnd::StepLimit }.into(),
            ServerSignal::Removed { server: "s".into() }.into(),
            ServerSignal::Stderr { server: "s".into(), lines: vec!["x".into()] }.into(),
            Event::Tools { tools: Vec::new() },
            Notice::info(Phrase::new("app.name")).into(),
        ];
        for event in events {
            let line = String::from_utf8(event_line(&event, &Redactor::default()).unwrap()).unwrap();
            assert!(line.starts_with("{\"type\":\"") && line.ends_with("}\n"), "{line}");
            assert_eq!(line.matches("\"type\"").count(), 1, "{line}");
            assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        }
    }

    #[test]
    fn an_answer_steers_no_terminal_and_tells_no_secret() {
        let redactor = Redactor::default();
        redactor.register("hunter2-hunter2");
        let text = answer_text("a\tb\r\n\u{1b}[31mred hunter2-hunter2\n\n", &redactor);
        assert_eq!(String::from_utf8(text).unwrap(), "a\tb\n␛[31mred •••\n");
    }

    #[test]
    fn the_result_says_how_it_ended() {
        let course = Course::default();
        let line = result_line(&course, &Strings::default(), &Redactor::default()).unwrap();
        let value: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!((&value["type"], &value["status"], &value["exit"]), (&json!("result"), &json!("failed"), &json!(1)));
        assert!(value["problem"].is_string() && value["answer"].is_null());
    }
}
