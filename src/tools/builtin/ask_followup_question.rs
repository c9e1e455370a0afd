//! `ask_followup_question`: asks the user. The agent's machine makes a prompt of it; the tool itself never runs.

use super::define;
use crate::domain::policy::{Facts, Preview};
use crate::domain::tool::Risk;
use crate::domain::{ToolOutcome, ToolSpec};
use crate::tools::{Inspection, Invocation, Tool};
use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool.
pub struct AskFollowupQuestion {
    spec: Arc<ToolSpec>,
}

impl AskFollowupQuestion {
    /// The tool.
    pub fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "The question." },
                "options": { "type": "array", "items": { "type": "string" }, "description": "Answers to choose from." }
            },
            "required": ["question"]
        });
        let description = include_str!("../../../assets/tools/ask_followup_question.md");
        Self { spec: define("ask_followup_question", description, Risk::Question, schema) }
    }
}

impl Tool for AskFollowupQuestion {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, _arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        // It touches nothing, and nothing is inside everything.
        let facts = Facts { inside: true, ..Facts::default() };
        ready(Inspection { facts, preview: Preview::Arguments, warnings: Vec::new() }).boxed()
    }

    fn run(&self, _call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        ready(ToolOutcome::failed("Nobody is here to be asked. Go on with what you know, and say what you assumed."))
            .boxed()
    }
}
