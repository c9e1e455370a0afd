//! One JSON object a reply: `thought`, then `tool` and `arguments`, or `answer`.
//!
//! For models that write JSON better than anything else. Owns: the parser of replies ([`reader`] has the grammar, [`scan`] reads the object as it
//! arrives, [`meaning`] knows what its members mean) and the way back ([`encode`]). The reply is cut at the object's last bracket.

mod encode;
pub mod meaning;
mod reader;
mod scan;

use super::reply::TextParser;
use super::{Dialect, Parser, Prompting, prompt, written};
use crate::domain::model::{DialectKind, Request};
use crate::domain::names::Names;
use reader::ObjectReader;
use std::sync::Arc;

/// The dialect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json;

impl Dialect for Json {
    fn kind(&self) -> DialectKind {
        DialectKind::Json
    }

    fn request(&self, prompting: &Prompting<'_>) -> Request {
        let hand = encode::Objects(prompting.names);
        Request {
            model: prompting.model.to_owned(),
            system: prompt::system(DialectKind::Json, prompting),
            messages: written::messages(prompting.conversation, DialectKind::Json, &hand),
            ..Request::default()
        }
    }

    fn parser(&self, names: Arc<Names>) -> Box<dyn Parser> {
        Box::new(ObjectParser::new(names))
    }
}

/// Reads one reply.
pub type ObjectParser = TextParser<ObjectReader>;

impl ObjectParser {
    /// A parser for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self::of(ObjectReader::new(names))
    }
}
