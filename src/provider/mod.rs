//! Talking to models.
//!
//! Owns: the trait that every model is behind, the catalogue of known endpoints, the HTTP transport and the wire formats.
//! Does not: retry (the agent's machine decides, so that the countdown is visible and can be cut short), or know dialects.

mod body;
pub mod catalog;
pub mod demo;
mod endpoint;
pub mod listing;
pub mod notices;
pub mod probe;
pub mod problem;
pub mod reply;
pub mod transport;
pub mod wire;

use crate::domain::Notice;
use crate::domain::model::{ModelError, Request, StreamEvent};
use crate::domain::names::NameRule;
use futures::Stream;
use futures::future::BoxFuture;
use std::pin::Pin;

/// A reply as it arrives. Dropping it cancels the request.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<StreamEvent, ModelError>> + Send>>;

/// What a model behind a provider can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// It has function calling of its own.
    pub native_tools: bool,
    /// Its endpoint honours stop strings.
    pub stop_strings: bool,
    /// It wants its reasoning back in the history (`reasoning_content`).
    pub reasoning_back: bool,
    /// It reads pictures.
    pub images: bool,
    /// Context size in tokens, where known.
    pub context: Option<u64>,
    /// What it accepts as a tool's name.
    pub names: NameRule,
}

/// A model that can be asked.
pub trait Provider: Send + Sync {
    /// `provider:model`, for people.
    fn name(&self) -> &str;
    /// The model's name at its provider, for [`Request::model`].
    fn model(&self) -> &str;
    /// What it can do.
    fn abilities(&self) -> &Abilities;
    /// Whether it is the scripted one.
    fn is_scripted(&self) -> bool {
        false
    }
    /// What it has to say to the user since the last time it was asked: a prompt that was cut, schemas that were simplified.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
    /// Sends a request. The future resolves when the reply begins (or is refused); the stream ends with
    /// [`StreamEvent::Finish`] or an error, and nothing follows either.
    fn stream(&self, request: Request) -> BoxFuture<'static, Result<EventStream, ModelError>>;
}
