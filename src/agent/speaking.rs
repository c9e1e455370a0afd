//! The model in use and the dialect it is spoken to in.
//!
//! Owns both choices, and builds requests. The same conversation and tools give the same request.

use crate::contract::ModelInfo;
use crate::dialect::{Dialect, Parser, Prompting, ServerBrief, dialect};
use crate::domain::model::{DialectKind, ModelError, ModelErrorKind, Opaque, Request};
use crate::domain::names::NameRule;
use crate::domain::{Conversation, Notice, Phrase};
use crate::provider::Provider;
use crate::tools::toolbox::Toolbox;
use serde_json::{Value, json};
use std::sync::Arc;

/// Opens a model by its full name, `provider:model`.
pub type OpenModel = Box<dyn Fn(&str) -> Result<Arc<dyn Provider>, Phrase> + Send + Sync>;

/// What the settings say about how models are spoken to.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Dialect to use; `None` chooses by what the model can do.
    pub dialect: Option<DialectKind>,
    /// Pieces of the system prompt that the user replaced: name → text.
    pub overrides: Vec<(String, String)>,
    /// Language that answers should be in.
    pub language: Option<String>,
    /// Further instructions.
    pub instructions: Option<String>,
    /// Operating system and shell, as the model is told.
    pub system: String,
    /// Working directory, as the model is told.
    pub cwd: String,
}

/// A request on its way.
pub struct Spoken {
    /// Who is asked.
    pub provider: Arc<dyn Provider>,
    /// What is asked.
    pub request: Request,
    /// Reads the reply.
    pub parser: Box<dyn Parser>,
}

/// See the module.
pub struct Speaking {
    model: Option<Arc<dyn Provider>>,
    open: OpenModel,
    /// How models are spoken to.
    pub manner: Manner,
}

impl Speaking {
    /// Speaks to a model, if there is one yet.
    pub fn new(model: Option<Arc<dyn Provider>>, open: OpenModel, manner: Manner) -> Self {
        Self { model, open, manner }
    }

    /// The model.
    pub fn model(&self) -> Option<&Arc<dyn Provider>> {
        self.model.as_ref()
    }

    /// Changes to another model.
    pub fn use_model(&mut self, name: &str) -> Result<(), Phrase> {
        self.model = Some((self.open)(name)?);
        Ok(())
    }

    /// What its endpoint has to say to the user.
    pub fn notices(&self) -> Vec<Notice> {
        self.model.as_ref().map(|model| model.notices()).unwrap_or_default()
    }

    /// What its provider accepts as a tool's name.
    pub fn name_rule(&self) -> NameRule {
        self.model.as_ref().map_or_else(NameRule::default, |model| model.abilities().names)
    }

    fn dialect(&self) -> &'static dyn Dialect {
        let native = self.model.as_ref().is_none_or(|model| model.abilities().native_tools);
        let chosen = self.manner.dialect.and_then(dialect);
        let fallback: &'static dyn Dialect =
            if native { &crate::dialect::native::Native } else { &crate::dialect::xml::Xml };
        chosen.unwrap_or(fallback)
    }

    /// The model and its dialect, for people.
    pub fn info(&self) -> ModelInfo {
        let Some(model) = &self.model else { return ModelInfo::default() };
        ModelInfo {
            name: model.name().to_owned(),
            dialect: Some(self.dialect().kind()),
            context: model.abilities().context,
            scripted: model.is_scripted(),
        }
    }

    /// The request for the conversation as it stands, and a reader for its reply. `None` without a model.
    pub fn request(&self, conversation: &Conversation, toolbox: &Toolbox, servers: &[ServerBrief]) -> Option<Spoken> {
        let model = self.model.as_ref()?;
        let (tools, names) = (toolbox.list(), toolbox.names());
        let dialect = self.dialect();
        let request = dialect.request(&Prompting {
            conversation,
            tools: &tools,
            names: &names,
            servers,
            overrides: &self.manner.overrides,
            cwd: &self.manner.cwd,
            system: &self.manner.system,
            language: self.manner.language.as_deref(),
            instructions: self.manner.instructions.as_deref(),
            model: model.model(),
            full_model: model.name(),
            stop_strings: model.abilities().stop_strings,
            reasoning_back: model.abilities().reasoning_back,
        });
        Some(Spoken { provider: Arc::clone(model), request, parser: dialect.parser(names) })
    }

    /// A signed block with the name of the model it belongs to.
    pub fn sign(&self, value: Value) -> Value {
        let Some(model) = &self.model else { return value };
        let block = Opaque { model: Arc::from(model.name()), value };
        serde_json::to_value(block).unwrap_or_else(|_| json!(null))
    }
}

/// What a request without a model fails with.
pub fn no_model() -> ModelError {
    let message = "no model is chosen".to_owned();
    ModelError { kind: ModelErrorKind::NotFound, message, status: None, retry_after_ms: None }
}
