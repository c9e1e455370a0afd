//! What is told on standard error while the task runs: one short line for what matters.
//!
//! Owns no state: an event and what is known so far make a line, or none.

use super::course::{Called, Course, News};
use super::output::Output;
use crate::contract::{Event, PromptEvent, ToolEvent, TurnEvent};
use crate::domain::content::plain;
use crate::domain::model::ModelError;
use crate::domain::prompt::{Decision, PromptKind};
use crate::domain::server::{ServerSignal, ServerStatus};
use crate::domain::{CallId, Level, ServerName, ToolOutcome};
use crate::strings::Strings;

/// Characters of a call's arguments, and of what went wrong.
const MOST: usize = 160;

/// The line for an event, in the user's language. Text of models and servers in it is as it came. With anything but a text as output, only what went wrong is
/// told: the rest stands in the output.
pub fn line(event: &Event, course: &Course, strings: &Strings, output: Output) -> Option<String> {
    match event {
        Event::Notice(notice) if notice.level > Level::Info || output == Output::Text => {
            Some(strings.render(&notice.text))
        }
        Event::Server(ServerSignal::Status(status)) if course.failed.get(&status.name) == Some(&News::Fresh) => {
            Some(server(status, strings))
        }
        Event::Turn(event) if output == Output::Text => turn(event, course, strings),
        Event::Tool(event) if output == Output::Text => tool(event, course, strings),
        Event::Prompt(PromptEvent::Opened { prompt }) if output == Output::Text => match &prompt.kind {
            PromptKind::Decision(decision) => decided(decision, prompt.expires_ms, strings),
            _ => None,
        },
        _ => None,
    }
}

fn server(status: &ServerStatus, strings: &Strings) -> String {
    let render =
        |phrase: &Option<crate::domain::Phrase>| phrase.as_ref().map(|p| strings.render(p)).unwrap_or_default();
    let (reason, fix) = (render(&status.reason), render(&status.fix));
    strings.fill("run.server_failed", &[("server", status.name.as_str()), ("reason", &reason), ("fix", &fix)])
}

fn turn(event: &TurnEvent, course: &Course, strings: &Strings) -> Option<String> {
    match event {
        TurnEvent::Holding { servers, .. } => {
            let names: Vec<&str> = servers.iter().map(ServerName::as_str).collect();
            Some(strings.fill("run.holding", &[("servers", &names.join(", "))]))
        }
        // Told when it goes on; else the last words say it.
        TurnEvent::StepStarted { .. } => {
            let problem = strings.render(course.cut.as_ref()?);
            Some(strings.fill("run.cut", &[("problem", &problem)]))
        }
        _ => None,
    }
}

fn decided(decision: &Decision, expires_ms: Option<u64>, strings: &Strings) -> Option<String> {
    let problem = |error: &ModelError| strings.render(&error.phrase());
    match decision {
        Decision::Retry { attempt, of, error } => {
            let seconds = format!("{:.1}", expires_ms.unwrap_or_default() as f64 / 1000.0);
            let (attempt, of) = (attempt.to_string(), of.to_string());
            let args: [(&str, &str); 4] =
                [("problem", &problem(error)), ("attempt", &attempt), ("of", &of), ("seconds", &seconds)];
            Some(strings.fill("run.retry", &args))
        }
        _ => None,
    }
}

fn tool(event: &ToolEvent, course: &Course, strings: &Strings) -> Option<String> {
    match event {
        ToolEvent::Started { call } => {
            let called = course.called(*call)?;
            Some(strings.fill("run.call_started", &[("call", &written(called))]))
        }
        ToolEvent::Finished { call, outcome } => finished(*call, outcome, course, strings),
        _ => None,
    }
}

fn finished(call: CallId, outcome: &ToolOutcome, course: &Course, strings: &Strings) -> Option<String> {
    let called = course.called(call)?;
    let tool = called.call.shown_name();
    let failed = |problem: &str| Some(strings.fill("run.call_failed", &[("tool", &tool), ("problem", &cut(problem))]));
    match outcome {
        ToolOutcome::Done { is_error: false, millis, .. } => {
            let seconds = format!("{:.1}", *millis as f64 / 1000.0);
            Some(strings.fill("run.call_done", &[("tool", &tool), ("seconds", &seconds)]))
        }
        ToolOutcome::Done { content, .. } => failed(&plain(content)),
        ToolOutcome::Failed { message, .. } => failed(message),
        ToolOutcome::Rejected { .. } => {
            let why = called.why().map(|why| strings.render(why)).unwrap_or_default();
            Some(strings.fill("run.call_refused", &[("call", &written(called)), ("why", &why)]))
        }
        ToolOutcome::Interrupted => Some(strings.fill("run.call_interrupted", &[("tool", &tool)])),
        ToolOutcome::Cancelled | ToolOutcome::ByHand { .. } | ToolOutcome::SameAs { .. } => None,
    }
}

/// A call with its arguments, as far as there is room.
fn written(called: &Called) -> String {
    let arguments = match &called.call.arguments {
        serde_json::Value::Object(fields) if fields.is_empty() => String::new(),
        other => format!(" {}", cut(&other.to_string())),
    };
    format!("{}{arguments}", called.call.shown_name())
}

fn cut(text: &str) -> String {
    let line = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
