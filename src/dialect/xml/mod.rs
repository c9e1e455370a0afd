//! The XML protocol: tags taught in the system prompt, for models without function calling of their own.
//!
//! Owns: the parser of replies ([`reader`] has the grammar, [`draft`] the rule where a parameter ends, [`text`] what its text
//! means) and the way back ([`history`], [`encode`]). One call per message; the reply is cut at the first complete one.

mod call;
mod completion;
mod draft;
mod encode;
mod history;
mod reader;
mod text;
mod token;

use super::reply::{Card, Reader, TextParser};
use super::written;
use super::{Dialect, Parser, Prompting, aliases, prompt};
use crate::domain::model::{DialectKind, FinishReason, ModelEvent, Request};
use crate::domain::names::Names;
use reader::Grammar;
use std::ops::ControlFlow;
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
            messages: written::messages(prompting.conversation, DialectKind::Xml, &history::Tags),
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

/// Cuts the text of a reply into tags, and reads them.
#[derive(Debug)]
pub struct XmlReader {
    tokens: Tokenizer,
    reader: Grammar,
}

/// Reads one reply.
pub type XmlParser = TextParser<XmlReader>;

impl XmlParser {
    /// A parser for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        let offered = names.iter().map(|(id, wire)| wire.len().max(id.to_string().len())).max().unwrap_or_default();
        let longest = offered.max(aliases().longest()).max(SHORTEST_LIMIT);
        Self::of(XmlReader { tokens: Tokenizer::new(longest), reader: Grammar::new(names) })
    }
}

impl Reader for XmlReader {
    const KIND: DialectKind = DialectKind::Xml;

    fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        let reader = &mut self.reader;
        self.tokens.push(text, |token: Token<'_>| reader.take(token, out))?;
        reader.report(out);
        ControlFlow::Continue(())
    }

    fn finish(&mut self, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) -> Option<String> {
        let held = self.tokens.take_held();
        self.reader.finish(&held, reason, out)
    }

    fn card(&mut self) -> &mut Card {
        self.reader.card()
    }

    fn work(&self) -> u64 {
        self.tokens.work() + self.reader.work()
    }
}
