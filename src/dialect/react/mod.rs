//! The ReAct protocol in plain text: `Thought:`, `Action:` with `Action Input:`, `Observation:`, `Final Answer:`.
//!
//! For models that write neither function calls nor tags. Owns: the parser of replies ([`reader`] has the grammar, [`marker`] the words at line
//! starts, [`draft`] where an action ends, [`input`] what its input means) and the way back ([`encode`]). One action per message; the reply is cut
//! where its input ends, and never read on at `Observation:`.

mod draft;
mod encode;
mod input;
mod marker;
mod reader;

use super::reply::TextParser;
use super::{Dialect, Parser, Prompting, prompt, written};
use crate::domain::model::{DialectKind, Request};
use crate::domain::names::Names;
use reader::ReactReader;
use std::sync::Arc;

/// The dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct React;

/// Where a provider may stop: what follows is ours to write. The line's end keeps the word legal inside a line.
const STOP: &str = "\nObservation:";

impl Dialect for React {
    fn kind(&self) -> DialectKind {
        DialectKind::React
    }

    fn request(&self, prompting: &Prompting<'_>) -> Request {
        let hand = encode::Lines(prompting.names);
        Request {
            model: prompting.model.to_owned(),
            system: prompt::system(DialectKind::React, prompting),
            messages: written::messages(prompting.conversation, DialectKind::React, &hand),
            stop: if prompting.stop_strings { vec![STOP.to_owned()] } else { Vec::new() },
            ..Request::default()
        }
    }

    fn parser(&self, names: Arc<Names>) -> Box<dyn Parser> {
        Box::new(ReactParser::new(names))
    }
}

/// Whether the text begins with a thought or an action; `None` where more of it must come first.
pub fn begins(text: &str) -> Option<bool> {
    let (line, rest) = match text.split_once('\n') {
        Some((line, _)) => (line, marker::Rest::Gone),
        None => (text, marker::Rest::ToCome),
    };
    match marker::sight(line, rest) {
        marker::Sight::Open => None,
        marker::Sight::Found(found, _) => Some(matches!(found, marker::Marker::Thought | marker::Marker::Action)),
        marker::Sight::Nothing => Some(false),
    }
}

/// Reads one reply.
pub type ReactParser = TextParser<ReactReader>;

impl ReactParser {
    /// A parser for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self::of(ReactReader::new(names))
    }
}
