//! The events of one answer, as they come in.
//!
//! Owns: the body that is being read. **Invariant:** reading is cancel safe: a dropped [`Events::next`] loses nothing.

use super::sse::{Event, Parser};
use crate::mcp::transport::LINE_LIMIT;
use crate::web::root;
use reqwest::Response;
use std::time::Duration;

/// A stream of events.
#[derive(Debug)]
pub(super) struct Events {
    response: Response,
    parser: Parser,
    /// Where it comes from, for reasons.
    pub(super) place: String,
}

impl Events {
    /// The events of a response. `last_id` is the event that it was asked to go on after.
    pub(super) fn new(response: Response, place: String, last_id: Option<String>) -> Self {
        Self { response, parser: Parser::new(LINE_LIMIT, last_id), place }
    }

    /// The next event; `None` at an orderly end. The error says why the stream broke.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(event) = self.parser.pop() {
                return Ok(Some(event));
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => self.parser.push(&bytes),
                Ok(None) => return Ok(None),
                Err(error) => return Err(root(&error)),
            }
        }
    }

    /// Where it can be taken up again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.parser.last_id()
    }

    /// After what pause.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }
}
