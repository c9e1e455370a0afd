//! A conversation as Markdown, to be read or kept.
//!
//! Owns the form of it. Text of models and servers stands in it as it came; whoever prints it to a terminal sanitizes it. **Invariant:** a fence is longer
//! than any run of backticks inside it, so that nothing breaks out of one.

use crate::domain::content::plain;
use crate::domain::{Content, Conversation, ItemBody, Phrase, StepEnd, ToolCall, ToolOutcome, Turn, TurnEnd};
use crate::strings::Strings;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Results are cut to a few lines.
    Short,
    /// Everything.
    Whole,
}

/// Lines of a result that are told of it in short.
const LINES: usize = 12;

/// What stands above it all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading<'a> {
    /// The session's id.
    pub id: &'a str,
    /// Where it worked.
    pub cwd: &'a str,
    /// When it began.
    pub created: &'a str,
}

/// The conversation.
pub fn markdown(heading: &Heading<'_>, conversation: &Conversation, depth: Depth, strings: &Strings) -> String {
    let mut out = Tale { out: String::new(), depth, strings };
    out.line(&format!("# {}\n\n- {}\n- {}", heading.id, heading.cwd, heading.created));
    for turn in &conversation.turns {
        out.turn(turn);
    }
    out.out
}

struct Tale<'s> {
    out: String,
    depth: Depth,
    strings: &'s Strings,
}

impl Tale<'_> {
    /// A block, with an empty line before it.
    fn line(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, key: &str) {
        let text = format!("## {}", self.strings.get(key));
        self.line(&text);
    }

    fn note(&mut self, phrase: &Phrase) {
        let text = format!("*{}*", self.strings.render(phrase));
        self.line(&text);
    }

    fn turn(&mut self, turn: &Turn) {
        self.heading("run.you");
        self.line(&turn.input.text);
        for attached in &turn.input.attachments {
            let (name, text) = match attached {
                Content::Resource { uri, text: Some(text), .. } => (uri.clone(), text.clone()),
                other => (String::new(), other.to_plain()),
            };
            self.fenced(&name, &text);
        }
        for step in &turn.steps {
            for item in &step.items {
                match &item.body {
                    ItemBody::Thinking { text, .. } => {
                        self.heading("run.thinking");
                        let quoted: Vec<String> =
                            text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
                        self.line(&quoted.join("\n"));
                    }
                    ItemBody::Answer { text } => {
                        self.heading("run.answer");
                        self.line(text);
                    }
                    ItemBody::Call { call, outcome } => self.call(call, outcome.as_ref()),
                }
            }
            match &step.end {
                Some(StepEnd::Cut { problem }) => self.note(problem),
                Some(StepEnd::Interrupted) => self.note(&Phrase::new("run.end_interrupted")),
                Some(StepEnd::Complete) | None => {}
            }
        }
        match &turn.end {
            Some(TurnEnd::Failed { problem }) => self.note(problem),
            Some(TurnEnd::StepLimit) => self.note(&Phrase::new("run.limit")),
            Some(TurnEnd::Stopped) => self.note(&Phrase::new("run.stopped")),
            Some(TurnEnd::Interrupted) => self.note(&Phrase::new("run.end_interrupted")),
            Some(TurnEnd::Done) | None => {}
        }
    }

    fn call(&mut self, call: &ToolCall, outcome: Option<&ToolOutcome>) {
        let name = format!("## {}: {}", self.strings.get("run.call"), call.shown_name());
        self.line(&name);
        if call.arguments.as_object().is_none_or(|fields| !fields.is_empty()) {
            let text = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
            self.fenced("json", &text);
        }
        match outcome {
            Some(ToolOutcome::Done { content, is_error, .. }) => {
                if *is_error {
                    self.note(&Phrase::new("run.tool_error"));
                }
                self.fenced("", &plain(content));
            }
            Some(ToolOutcome::Failed { message, .. }) => {
                self.note(&Phrase::new("run.failed"));
                self.fenced("", message);
            }
            Some(ToolOutcome::Rejected { reason }) => {
                self.note(&Phrase::new("run.refused"));
                if let Some(reason) = reason {
                    self.fenced("", reason);
                }
            }
            Some(ToolOutcome::ByHand { text }) => {
                self.note(&Phrase::new("run.by_hand"));
                self.fenced("", text);
            }
            Some(ToolOutcome::Cancelled) => self.note(&Phrase::new("run.cancelled")),
            Some(ToolOutcome::Interrupted) | None => self.note(&Phrase::new("run.may_have_run")),
            Some(ToolOutcome::SameAs { .. }) => self.note(&Phrase::new("run.same")),
        }
    }

    fn fenced(&mut self, name: &str, text: &str) {
        let mut longest = 2;
        let mut run = 0;
        for c in text.chars() {
            run = if c == '`' { run + 1 } else { 0 };
            longest = longest.max(run);
        }
        let fence = "`".repeat(longest + 1);
        let lines = text.trim_end().lines().count();
        let body = if self.depth == Depth::Short && lines > LINES + 1 {
            let head: Vec<&str> = text.lines().take(LINES).collect();
            let more = self.strings.fill("run.more_lines", &[("count", &(lines - LINES).to_string())]);
            format!("{}\n… {more}", head.join("\n"))
        } else {
            text.trim_end().to_owned()
        };
        self.line(&format!("{fence}{name}\n{body}\n{fence}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, Item, ItemId, Origin, Step, UserInput};
    use serde_json::json;

    #[test]
    fn everything_stands_in_it_and_nothing_breaks_out() {
        let call = ToolCall {
            id: CallId(1),
            provider_id: None,
            asked: "read_file".into(),
            tool: None,
            arguments: json!({ "path": "x" }),
            origin: Origin::Native,
        };
        let result = format!("````\n{}", "line\n".repeat(30));
        let body = ItemBody::Call { call, outcome: Some(ToolOutcome::text(result)) };
        let items = vec![
            Item { id: ItemId(2), body: ItemBody::Thinking { text: "a\nb".into(), opaque: None } },
            Item { id: ItemId(1), body },
            Item { id: ItemId(3), body: ItemBody::Answer { text: "done".into() } },
        ];
        let step = Step { items, ..Step::default() };
        let turn =
            Turn { input: UserInput::text("go"), steps: vec![step], end: Some(TurnEnd::StepLimit), ..Turn::default() };
        let conversation = Conversation { turns: vec![turn] };
        let heading = Heading { id: "s", cwd: "/w", created: "now" };
        let strings = Strings::default();
        let whole = markdown(&heading, &conversation, Depth::Whole, &strings);
        assert!(whole.starts_with("# s\n\n- /w\n- now\n"), "{whole}");
        for part in ["\ngo\n", "> a\n> b\n", "read_file", "\"path\": \"x\"", "\ndone\n", "\n`````\n````\nline\n"] {
            assert!(whole.contains(part), "{part:?} in {whole}");
        }
        assert_eq!(whole.matches("\nline").count(), 30);
        let short = markdown(&heading, &conversation, Depth::Short, &strings);
        assert_eq!(short.matches("\nline").count(), LINES - 1);
        assert!(short.contains("19"), "{short}");
    }
}
