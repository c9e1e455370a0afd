//! A call that is being written: where its parameters begin and end.
//!
//! **The rule.** After the tool's tag come parameters, each in its own tag. A parameter ends at its own closing tag, but only
//! where what follows (after white space) makes sense there: the tool's closing tag, or the tag of another parameter. A
//! closing tag followed by anything else is part of the text. So text may hold `<`, code, other tags, and its own closing tag.
//! Two refinements for text that speaks about this very protocol:
//! - Parameters that hold whole files, edits or JSON (`long` in `aliases.toml`, and `arguments`) are followed only by the
//!   tool's closing tag or by a parameter that the tool is known to have and that is not given yet.
//! - The tool's own tag at the start of a line inside a parameter opens an example; the closing tag that belongs to it does
//!   not end the call.
//!
//! Where a stop string ended the reply, the tool's closing tag may be missing.
//! In place of parameters there may be one JSON object.
//!
//! **Invariants:** every byte is looked at a fixed number of times, whatever it holds. The decision comes with the tool's
//! closing tag: nothing after it is needed, so the stream can be closed there.

use super::token::Token;
use crate::dialect::aliases::aliases;
use crate::dialect::reply::Ending;
use std::ops::Range;

/// Tags that open something at the top of a reply and are never a parameter.
const NEVER_PARAMETERS: [&str; 5] = ["use_mcp_tool", "access_mcp_resource", "attempt_completion", "thinking", "think"];

/// What the tag calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A tool of a server, named inside.
    Mcp,
    /// A built-in tool, by its true name.
    Builtin(String),
    /// A tool of a server, called by a tag of its own.
    Direct,
}

/// Whether the call goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It is not complete.
    More,
    /// The tag was only mentioned: it and this token are text. The token was not taken.
    NotACall,
    /// The tool's closing tag was reached.
    Complete,
}

/// How a call stands when the reply is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// It counts as complete.
    Complete,
    /// There is nothing but the tag.
    Mention,
    /// This tag was never closed.
    Unclosed(String),
}

#[derive(Debug)]
struct Parameter {
    name: String,
    /// Of the raw text; empty until it is closed.
    text: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// After the tool's tag.
    Begun,
    /// In the text of the last parameter.
    Inside,
    /// After a closing tag of the last parameter that began here.
    MayBeClosed(usize),
    /// In a JSON object that began here.
    Object(usize),
}

/// The call so far.
#[derive(Debug)]
pub struct Draft {
    tag: String,
    target: Target,
    /// Everything from the tool's tag on.
    raw: String,
    parameters: Vec<Parameter>,
    phase: Phase,
    /// Open examples of this very tool inside the parameter.
    nested: usize,
    /// The last place where the parameter could have ended if an example was none.
    fallback: Option<usize>,
    work: u64,
}

impl Draft {
    /// Starts with the tool's tag.
    pub fn new(tag: &str, target: Target) -> Self {
        Self {
            tag: tag.to_owned(),
            target,
            raw: format!("<{tag}>"),
            parameters: Vec::new(),
            phase: Phase::Begun,
            nested: 0,
            fallback: None,
            work: 0,
        }
    }

    /// The tool's tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// What it calls.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Everything so far, as it was written.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether more than a mention was written.
    pub fn is_certain(&self) -> bool {
        !matches!(self.phase, Phase::Begun)
    }

    /// Bytes written inside the tool's tag.
    pub fn size(&self) -> usize {
        self.raw.len() - self.tag.len() - 2
    }

    /// Bytes looked at so far, each time they were.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Closed parameters with their raw text, in order.
    pub fn closed(&self) -> impl Iterator<Item = (&str, &str)> {
        let closed = self.parameters.iter().filter(|parameter| parameter.text.end > 0);
        closed.map(|parameter| (parameter.name.as_str(), &self.raw[parameter.text.clone()]))
    }

    /// Whether the parameter holds whole files, edits or JSON.
    pub fn is_long(&self, parameter: &str) -> bool {
        if self.target == Target::Mcp { parameter == "arguments" } else { aliases().is_long(parameter) }
    }

    /// Whether a parameter of this name is being written.
    pub fn has_begun(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|known| known.name == parameter)
    }

    /// The JSON object in place of parameters.
    pub fn object(&self) -> Option<&str> {
        let Phase::Object(start) = self.phase else { return None };
        let text = self.raw[start..].trim_end();
        let closing = text.strip_suffix('>').and_then(|text| text.strip_suffix(self.tag.as_str()));
        Some(closing.and_then(|text| text.strip_suffix("</")).unwrap_or(text))
    }

    /// Goes on with the next token.
    pub fn take(&mut self, token: Token<'_>) -> Progress {
        match self.phase {
            Phase::Begun => self.begin(token),
            Phase::Inside => {
                self.inside(token);
                Progress::More
            }
            Phase::MayBeClosed(end) => self.after_closing_tag(end, token),
            Phase::Object(_) => {
                self.keep(token);
                if token == Token::Close(&self.tag) { Progress::Complete } else { Progress::More }
            }
        }
    }

    /// The reply is over. `held` is the beginning of a tag that never came whole.
    pub fn finish(&mut self, held: &str, ending: Ending) -> Rest {
        let closing = format!("</{}>", self.tag);
        if !held.is_empty() && !closing.starts_with(held) {
            self.take(Token::Text(held));
        }
        let done = ending == Ending::Stopped;
        match (self.phase, self.fallback) {
            (Phase::Begun, _) => Rest::Mention,
            (Phase::MayBeClosed(end), _) if done && self.nested == 0 => self.close(end),
            (Phase::Inside, Some(end)) if done => self.close(end),
            (Phase::Object(start), _) if done && crate::dialect::json::arguments(&self.raw[start..]).is_ok() => {
                Rest::Complete
            }
            (Phase::Object(_), _) => Rest::Unclosed(self.tag.clone()),
            _ => Rest::Unclosed(self.parameters.last().map_or_else(|| self.tag.clone(), |open| open.name.clone())),
        }
    }

    fn close(&mut self, end: usize) -> Rest {
        self.end_parameter(end);
        Rest::Complete
    }

    fn begin(&mut self, token: Token<'_>) -> Progress {
        match token {
            Token::Text(text) if text.trim().is_empty() => self.keep(token),
            Token::Text(text) if text.trim_start().starts_with('{') => {
                self.phase = Phase::Object(self.raw.len() + text.len() - text.trim_start().len());
                self.keep(token);
            }
            Token::Open(name) if self.can_be_parameter(name) => self.open_parameter(name),
            Token::Close(name) if name == self.tag => {
                self.keep(token);
                return Progress::Complete;
            }
            _ => return Progress::NotACall,
        }
        Progress::More
    }

    fn inside(&mut self, token: Token<'_>) {
        match token {
            Token::Close(name) if self.parameters.last().is_some_and(|open| open.name == name) => {
                self.phase = Phase::MayBeClosed(self.raw.len());
            }
            Token::Open(name) if name == self.tag && self.is_at_line_start() => self.nested += 1,
            Token::Close(name) if name == self.tag => self.nested = self.nested.saturating_sub(1),
            _ => {}
        }
        self.keep(token);
    }

    fn after_closing_tag(&mut self, end: usize, token: Token<'_>) -> Progress {
        match token {
            Token::Text(text) if text.trim().is_empty() => self.keep(token),
            Token::Close(name) if name == self.tag && self.nested == 0 => {
                self.end_parameter(end);
                self.keep(token);
                return Progress::Complete;
            }
            Token::Open(name) if self.nested == 0 && self.may_follow(name) => {
                self.end_parameter(end);
                self.open_parameter(name);
            }
            _ => {
                if token == Token::Close(&self.tag) {
                    self.fallback = Some(end);
                }
                self.phase = Phase::Inside;
                self.inside(token);
            }
        }
        Progress::More
    }

    /// Whether this parameter makes sense after the one that may be closed.
    fn may_follow(&self, name: &str) -> bool {
        let known = match &self.target {
            Target::Mcp => Some(matches!(name, "server_name" | "tool_name" | "arguments")),
            Target::Builtin(tool) => aliases().has_parameter(tool, name),
            Target::Direct => None,
        };
        let long = self.parameters.last().is_some_and(|open| self.is_long(&open.name));
        if long { known.unwrap_or(true) && !self.has_begun(name) } else { self.can_be_parameter(name) }
    }

    fn can_be_parameter(&self, name: &str) -> bool {
        name != self.tag && !NEVER_PARAMETERS.contains(&name)
    }

    fn open_parameter(&mut self, name: &str) {
        self.keep(Token::Open(name));
        let start = self.raw.len();
        self.parameters.push(Parameter { name: name.to_owned(), text: start..0 });
        self.phase = Phase::Inside;
        self.fallback = None;
    }

    fn end_parameter(&mut self, end: usize) {
        if let Some(open) = self.parameters.last_mut() {
            open.text.end = end;
        }
    }

    fn is_at_line_start(&mut self) -> bool {
        let line = self.raw.trim_end_matches([' ', '\t']);
        self.work += (self.raw.len() - line.len()) as u64;
        line.ends_with('\n')
    }

    fn keep(&mut self, token: Token<'_>) {
        let before = self.raw.len();
        match token {
            Token::Text(text) => self.raw.push_str(text),
            Token::Open(name) => ["<", name, ">"].iter().for_each(|part| self.raw.push_str(part)),
            Token::Close(name) => ["</", name, ">"].iter().for_each(|part| self.raw.push_str(part)),
        }
        // Once to see what it is, once to copy it.
        self.work += 2 * (self.raw.len() - before) as u64;
    }
}
