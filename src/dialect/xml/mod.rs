//! The XML protocol: tags taught in the system prompt, for models without function calling of their own.
//!
//! Owns: the parser of replies ([`reader`] has the grammar, [`draft`] the rule where a parameter ends, [`text`] what its text
//! means) and the way back ([`history`], [`encode`]). One call per message; the reply is cut at the first complete one.

mod call;
mod code;
mod completion;
mod draft;
mod encode;
mod history;
mod reader;
mod text;
mod token;

use super::calls::Calls;
use super::{Dialect, Flow, Parser, Prompting, aliases, prompt};
use crate::domain::model::{DialectKind, FinishReason, ModelEvent, Request, StreamEvent};
use crate::domain::names::Names;
use reader::Reader;
use std::sync::Arc;
use token::{Token, Tokenizer};

/// The dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Xml;

impl Dialect for Xml {
    fn kind(&self) -> DialectKind {
        DialectKind::Xml
    }

    fn request(&self, prompting: &Prompting<'_>) -> Request {
        Request {
            model: prompting.model.to_owned(),
            system: prompt::system(DialectKind::Xml, prompting),
            messages: history::messages(prompting.conversation),
            stop: if prompting.stop_strings { stop_strings(prompting) } else { Vec::new() },
            ..Request::default()
        }
    }

    fn parser(&self, names: Arc<Names>) -> Box<dyn Parser> {
        Box::new(XmlParser::new(names))
    }
}

/// The length of tag names that every parser reads, in bytes: the longest of the protocol's own.
const SHORTEST_LIMIT: usize = "ask_follow_up_question".len();

/// How many stop strings every provider takes. Source: OpenAI's chat completions, `stop`.
const MAX_STOPS: usize = 4;

/// Closing tags at which the provider may stop. Tools whose text is likely to hold such a tag itself (files that are written)
/// have none: there the stream is closed instead.
fn stop_strings(prompting: &Prompting<'_>) -> Vec<String> {
    let offered = |name: &str| prompting.tools.iter().any(|tool| tool.id.server.is_none() && &*tool.id.name == name);
    let on_servers = prompting.tools.iter().any(|tool| tool.id.server.is_some());
    let mut tags = vec![completion::TAG];
    tags.extend(on_servers.then_some("use_mcp_tool"));
    let builtin = ["read_file", "execute_command", "search_files", "list_files"];
    tags.extend(builtin.into_iter().filter(|name| offered(name)));
    tags.into_iter().take(MAX_STOPS).map(|tag| format!("</{tag}>")).collect()
}

/// What the model is told when its message could not be used.
fn reminder(problem: &str) -> String {
    prompt::fill(include_str!("../../../assets/prompts/xml.reminder.md").trim_end(), &[("problem", problem)])
}

/// Reads one reply.
pub struct XmlParser {
    tokens: Tokenizer,
    reader: Reader,
    /// Calls of servers that turn text into function calls by themselves.
    calls: Calls,
    finish: Option<FinishReason>,
    flow: Flow,
}

impl XmlParser {
    /// A parser for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        let offered = names.iter().map(|(id, wire)| wire.len().max(id.to_string().len())).max().unwrap_or_default();
        let longest = offered.max(aliases().longest()).max(SHORTEST_LIMIT);
        Self {
            tokens: Tokenizer::new(longest),
            reader: Reader::new(names),
            calls: Calls::default(),
            finish: None,
            flow: Flow::Continue,
        }
    }

    /// Bytes looked at so far, each time they were: linear in the text, whatever it holds and however it is cut.
    pub fn work(&self) -> u64 {
        self.tokens.work() + self.reader.work()
    }

    fn text(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        let reader = &mut self.reader;
        if self.tokens.push(text, |token: Token<'_>| reader.take(token, out)).is_break() {
            self.flow = Flow::Stop;
        } else {
            reader.report(out);
        }
    }
}

impl Parser for XmlParser {
    fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow {
        match event {
            StreamEvent::Alive => out.push(ModelEvent::Alive),
            StreamEvent::Usage { usage } => out.push(ModelEvent::Usage { usage }),
            _ if self.flow == Flow::Stop => {}
            StreamEvent::Text { text } => self.text(&text, out),
            StreamEvent::Reasoning { text } => out.push(ModelEvent::Thinking { text }),
            StreamEvent::Opaque { value } => out.push(ModelEvent::Opaque { value }),
            StreamEvent::CallStart { slot, id, name } => {
                self.reader.reserve(slot);
                self.calls.start(slot, id, name, out);
                if self.calls.any_sent() {
                    // One call per message: the next one was only just announced and is never sent.
                    out.pop();
                    self.flow = Flow::Stop;
                }
            }
            StreamEvent::CallArguments { slot, text } => self.calls.grow(slot, &text, out),
            StreamEvent::Finish { reason } => self.finish = Some(reason),
        }
        self.flow
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        if self.flow == Flow::Stop {
            out.push(ModelEvent::Finished { reason: FinishReason::Closed });
            return;
        }
        let held = self.tokens.take_held();
        let wrong = self.reader.finish(&held, self.finish.as_ref(), out);
        if self.calls.any() {
            self.calls.finish(self.finish.as_ref(), out);
        } else if let Some(problem) = wrong {
            out.push(ModelEvent::OffFormat { reminder: reminder(&problem) });
        }
        let reason = self.finish.take().unwrap_or_else(|| FinishReason::Other("no finish".to_owned()));
        out.push(ModelEvent::Finished { reason });
    }
}
