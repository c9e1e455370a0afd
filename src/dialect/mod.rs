//! How tool calls are written in what the model says.
//!
//! Owns: building a request from the conversation, and reading a reply back into thoughts, answers and calls. Pure: no IO, no clock.
//! Parsers are incremental: any chunking of the same text gives the same events (neighbouring pieces of text joined, the last
//! [`ModelEvent::CallGrew`] of a run counting), and no event shows a tag that is not complete.

pub mod aliases;
mod balance;
mod calls;
mod coerce;
mod environment;
mod history;
mod json;
mod leak;
mod naming;
pub mod native;
pub mod object;
pub mod outcome;
mod place;
pub mod prompt;
pub mod react;
pub mod reply;
pub mod shown;
mod voice;
mod written;
pub mod xml;

pub use aliases::{aliases, apply_argument_aliases};
pub use coerce::coerce;
pub use environment::{Environment, MAX_FILES, environment};

use crate::domain::model::{DialectKind, ModelEvent, Request, StreamEvent};
use crate::domain::names::Names;
use crate::domain::{Conversation, ServerName, ToolSpec};
use std::sync::Arc;

/// A connected server as the system prompt presents it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerBrief {
    /// Its name.
    pub name: ServerName,
    /// Its instructions for the model.
    pub instructions: Option<String>,
    /// It is still starting: its tools are not known yet.
    pub starting: bool,
    /// It offers resources.
    pub resources: bool,
}

/// Everything a request is built from.
pub struct Prompting<'a> {
    /// The conversation; steps that are not complete and turns run by hand are left out.
    pub conversation: &'a Conversation,
    /// Tools to offer, sorted by true name.
    pub tools: &'a [Arc<ToolSpec>],
    /// Their names on the wire.
    pub names: &'a Names,
    /// Connected servers, sorted by name.
    pub servers: &'a [ServerBrief],
    /// Pieces of the system prompt: name without `.md` → text that replaces the built-in one.
    pub overrides: &'a [(String, String)],
    /// Working directory, as the system prompt names it.
    pub cwd: &'a str,
    /// Operating system and shell, as the system prompt names them.
    pub system: &'a str,
    /// Language the model should answer in, as the user wrote it in the settings.
    pub language: Option<&'a str>,
    /// Further instructions: the user's, the trusted project's.
    pub instructions: Option<&'a str>,
    /// The model's name at its provider.
    pub model: &'a str,
    /// `provider:model`, to recognise its own signed thoughts.
    pub full_model: &'a str,
    /// The endpoint honours stop strings.
    pub stop_strings: bool,
    /// The provider wants reasoning back.
    pub reasoning_back: bool,
}

/// Whether a reply should be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Feed the next event.
    Continue,
    /// The reply is cut here: close the stream, what follows is never believed nor kept.
    Stop,
}

/// Reads one reply.
pub trait Parser: Send {
    /// Takes the next event of the stream and appends what it means.
    fn feed(&mut self, event: StreamEvent, out: &mut Vec<ModelEvent>) -> Flow;
    /// The stream is over (or was closed after [`Flow::Stop`]): appends what is still held back and [`ModelEvent::Finished`].
    fn end(&mut self, out: &mut Vec<ModelEvent>);
}

/// One way of writing calls.
pub trait Dialect: Send + Sync {
    /// Which one.
    fn kind(&self) -> DialectKind;
    /// Builds the request: system prompt, history, tools, stop strings. The same input gives the same bytes.
    fn request(&self, prompting: &Prompting<'_>) -> Request;
    /// A reader for the reply to it.
    fn parser(&self, names: Arc<Names>) -> Box<dyn Parser>;
}

/// Whether a tool of this name is one of the program's own.
pub fn is_builtin(name: &str) -> bool {
    aliases().tools().any(|tool| tool == name)
}

/// The dialect of this kind; `None` where it is not built.
pub fn dialect(kind: DialectKind) -> Option<&'static dyn Dialect> {
    match kind {
        DialectKind::Native => Some(&native::Native),
        DialectKind::Xml => Some(&xml::Xml),
        DialectKind::React => Some(&react::React),
        DialectKind::Json => Some(&object::Json),
    }
}
