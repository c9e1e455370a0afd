//! What the request shows: the last task, the results after it, the tools, and how calls are to be written.

use crate::domain::content::plain;
use crate::domain::model::{Message, Request, ToolDecl};
use crate::strings::Language;

/// How calls are to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As functions.
    Native,
    /// As XML tags in the text.
    Xml,
    /// As thoughts and actions in plain text.
    React,
    /// As one JSON object.
    Json,
}

impl Style {
    /// What the system prompt teaches; without functions and without a lesson there is only the native way.
    fn of(request: &Request) -> Self {
        let teaches =
            |words: &[&str]| request.tools.is_empty() && words.iter().any(|word| request.system.contains(word));
        if teaches(&["<use_mcp_tool>", "<attempt_completion>"]) {
            Self::Xml
        } else if teaches(&["Action Input:"]) {
            Self::React
        } else if teaches(&["{\"thought\":"]) {
            Self::Json
        } else {
            Self::Native
        }
    }
}

/// What came back from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    /// What the model was told.
    pub text: String,
    /// Whether it is a result to work with.
    pub usable: bool,
}

/// The request, as the script needs it.
pub(super) struct Scene<'a> {
    pub task: String,
    pub language: Language,
    pub style: Style,
    /// Oldest first; only those after the task.
    pub results: Vec<Outcome>,
    tools: &'a [ToolDecl],
    system: &'a str,
}

impl<'a> Scene<'a> {
    pub(super) fn read(request: &'a Request) -> Self {
        let style = Style::of(request);
        // A task travels in `<task>`. Where no message has the tag, the last message of the user's that is no result counts.
        let messages = &request.messages;
        let at = messages.iter().rposition(|message| said(message).is_some_and(|text| text.contains("<task>")));
        let at =
            at.or_else(|| messages.iter().rposition(|message| said(message).is_some_and(|text| !is_labelled(&text))));
        let task = at.map(|at| task_of(&request.messages[at])).unwrap_or_default();
        let after = &request.messages[at.map_or(0, |at| at + 1)..];
        let results = match style {
            Style::Native => after.iter().filter_map(native_result).collect(),
            Style::Xml | Style::React | Style::Json => text_results(after),
        };
        let language = if task.chars().any(is_han) { Language::Zh } else { Language::En };
        Self { task, language, style, results, tools: &request.tools, system: &request.system }
    }

    /// The name under which a tool can be called: the wire name natively, its own name in XML. `None` when it is not offered.
    pub(super) fn offered(&self, server: Option<&str>, tool: &str) -> Option<String> {
        match (self.style, server) {
            (Style::React | Style::Json, Some(server)) if self.system.contains(&format!("{server}__{tool}")) => {
                Some(format!("{server}__{tool}"))
            }
            (Style::Xml | Style::React | Style::Json, _) => self.system.contains(tool).then(|| tool.to_owned()),
            (Style::Native, None) => self.tools.iter().any(|decl| decl.name == tool).then(|| tool.to_owned()),
            (Style::Native, Some(server)) => {
                let exact = format!("{server}__{tool}");
                let suffix = format!("__{tool}");
                let names = || self.tools.iter().map(|decl| decl.name.as_str());
                let found =
                    names().find(|name| *name == exact).or_else(|| names().find(|name| name.ends_with(&suffix)));
                found.map(str::to_owned)
            }
        }
    }
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}

/// What a message of the user's says.
fn said(message: &Message) -> Option<String> {
    match message {
        Message::User { content } => Some(plain(content)),
        Message::Assistant { .. } | Message::Tool { .. } => None,
    }
}

/// The last task of a message: one that the model never came to answer stands in the same message as the next.
fn task_of(message: &Message) -> String {
    let text = said(message).unwrap_or_default();
    let task = text.rsplit_once("<task>").map_or(text.as_str(), |(_, rest)| rest);
    let task = task.split_once("</task>").map_or(task, |(task, _)| task);
    without_environment(task).trim().to_owned()
}

/// What a result begins with in plain text.
const OBSERVATION: &str = "Observation:";

/// `[use_mcp_tool for 'demo'] Result:` and its like.
fn is_labelled(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default();
    (first.starts_with('[') && first.contains("] Result")) || first.starts_with(OBSERVATION)
}

fn native_result(message: &Message) -> Option<Outcome> {
    let Message::Tool { content, is_error, .. } = message else { return None };
    let text = plain(content);
    Some(Outcome { usable: !*is_error && is_usable(&text), text: by_hand(&text).to_owned() })
}

fn text_results(after: &[Message]) -> Vec<Outcome> {
    let texts: Vec<String> = after.iter().filter_map(said).collect();
    // Reminders and hints are user messages too. Where nothing carries a label, every message counts as a result: better one step too far
    // than the same call for ever.
    let labelled = texts.iter().any(|text| is_labelled(text));
    texts
        .iter()
        .filter(|text| !labelled || is_labelled(text))
        .map(|text| {
            let body = match text.trim_start().strip_prefix(OBSERVATION) {
                Some(body) => body,
                None if is_labelled(text) => text.split_once('\n').map_or("", |(_, body)| body),
                None => text,
            };
            let body = without_environment(body).trim();
            Outcome { usable: is_usable(body), text: by_hand(body).to_owned() }
        })
        .collect()
}

fn without_environment(text: &str) -> &str {
    text.split_once("<environment_details>").map_or(text, |(text, _)| text)
}

/// Text has no flag for a failure: like any model, this one has to read what it is told.
fn is_usable(text: &str) -> bool {
    const FAILURES: [&str; 5] = [
        "The user rejected this call",
        "The call failed",
        "The tool reported an error",
        "This call was cancelled",
        "This call was interrupted",
    ];
    !FAILURES.iter().any(|words| text.trim_start().starts_with(words))
}

fn by_hand(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with("The user did not run the tool") => rest,
        _ => text,
    }
}
