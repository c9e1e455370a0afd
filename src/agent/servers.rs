//! What the agent remembers of MCP servers: how they stand, and the schemas of what they ask.
//!
//! Does not talk to them; the MCP side does.

use crate::dialect::ServerBrief;
use crate::domain::form::FieldError;
use crate::domain::prompt::{FormRequest, LinkRequest, PromptKind};
use crate::domain::server::{ServerAsk, ServerEntry, ServerState, ServerStatus};
use crate::domain::{AskId, ServerName};
use crate::schema;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Default)]
pub struct Servers {
    entries: BTreeMap<ServerName, ServerEntry>,
    statuses: BTreeMap<ServerName, ServerStatus>,
    asks: HashMap<AskId, Arc<Value>>,
}

impl Servers {
    /// The servers there are from now on.
    pub fn configure(&mut self, entries: &[ServerEntry]) {
        self.entries = entries.iter().map(|entry| (entry.name.clone(), entry.clone())).collect();
        self.statuses.retain(|name, _| self.entries.contains_key(name));
    }

    /// A server's status changed.
    pub fn status(&mut self, status: ServerStatus) {
        self.statuses.insert(status.name.clone(), status);
    }

    /// A server is gone.
    pub fn removed(&mut self, server: &ServerName) {
        self.statuses.remove(server);
        self.entries.remove(server);
    }

    /// Whether the user's own configuration believes a server's `readOnlyHint`.
    pub fn trusts_read_only(&self, server: Option<&ServerName>) -> bool {
        server.and_then(|name| self.entries.get(name)).is_some_and(|entry| entry.trust_read_only)
    }

    /// Servers whose tools are not known yet but may be soon.
    pub fn unsettled(&self) -> Vec<ServerName> {
        let usable =
            self.entries.values().filter(|entry| !entry.disabled && !entry.untrusted && entry.transport.is_ok());
        let open = usable.filter(|entry| match self.statuses.get(&entry.name) {
            None => true,
            Some(status) => {
                let may_come = matches!(
                    status.state,
                    ServerState::Idle | ServerState::Starting | ServerState::Initializing | ServerState::Ready
                );
                status.tools.is_none() && may_come
            }
        });
        open.map(|entry| entry.name.clone()).collect()
    }

    /// The servers as the system prompt presents them, sorted by name.
    pub fn briefs(&self) -> Vec<ServerBrief> {
        let starting = self.unsettled();
        let known = self.statuses.values().filter(|status| status.tools.is_some() || starting.contains(&status.name));
        known
            .map(|status| ServerBrief {
                name: status.name.clone(),
                instructions: status.instructions.clone(),
                starting: status.tools.is_none(),
                resources: status.resources,
            })
            .collect()
    }

    /// Whether any server has resources.
    pub fn any_resources(&self) -> bool {
        self.statuses.values().any(|status| status.resources)
    }

    /// What a server asks, as a prompt. Its schema is kept until [`Self::forget`].
    pub fn ask(&mut self, ask: AskId, server: ServerName, what: ServerAsk) -> PromptKind {
        match what {
            ServerAsk::Form { message, schema } => {
                let form = schema::form::form(&schema);
                self.asks.insert(ask, schema);
                PromptKind::Form(FormRequest { server, message, form })
            }
            ServerAsk::Link { message, url } => PromptKind::Link(LinkRequest { server, message, url }),
        }
    }

    /// What is wrong with a filled form, against the server's whole schema.
    pub fn verify(&self, ask: AskId, values: &Map<String, Value>) -> Vec<(String, FieldError)> {
        let Some(schema) = self.asks.get(&ask) else { return Vec::new() };
        let by_field = crate::domain::form::check::check_form(&schema::form::form(schema), values);
        if !by_field.is_empty() {
            return by_field;
        }
        let problems = schema::Validator::new(schema).validate(&Value::Object(values.clone()));
        let field = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
        problems
            .into_iter()
            .map(|problem| (field(&problem.path), FieldError::Schema { problem: problem.message }))
            .collect()
    }

    /// A question was answered or taken back.
    pub fn forget(&mut self, ask: AskId) {
        self.asks.remove(&ask);
    }
}
