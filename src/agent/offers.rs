//! The tools on offer: the toolbox, and whether its list has to be told anew.
//!
//! Owns the toolbox. Does not run calls (`runner`) or judge them (`checking`).

use crate::contract::{Event, ToolInfo};
use crate::domain::names::NameRule;
use crate::domain::server::ServerSignal;
use crate::domain::{Phrase, ServerName, ToolSpec};
use crate::policy::Policy;
use crate::schema;
use crate::tools::toolbox::{Offer, Toolbox};
use std::sync::Arc;

/// See the module.
pub(super) struct Offers {
    pub toolbox: Toolbox,
    resources: Offer,
    changed: bool,
}

impl Offers {
    /// The list is told at the next [`Self::news`].
    pub fn new(toolbox: Toolbox) -> Self {
        Self { toolbox, resources: Offer::Hidden, changed: true }
    }

    /// Another model may want other names.
    pub fn set_name_rule(&mut self, rule: NameRule) {
        self.toolbox.set_name_rule(rule);
        self.changed = true;
    }

    /// Whether any server has resources.
    pub fn set_resources(&mut self, offer: Offer) {
        self.toolbox.offer_resources(offer);
        self.changed |= std::mem::replace(&mut self.resources, offer) != offer;
    }

    /// Grants were given or taken back.
    pub fn grants_changed(&mut self) {
        self.changed = true;
    }

    /// Takes news of a server in: what the user should know, and whether the definitions of its tools may be others now.
    pub fn hear(&mut self, signal: &ServerSignal) -> (Vec<Phrase>, Option<ServerName>) {
        match signal {
            ServerSignal::Removed { server } => {
                self.toolbox.remove_server(server);
                self.changed = true;
                (Vec::new(), Some(server.clone()))
            }
            ServerSignal::Tools { server, tools, .. } => {
                self.changed = true;
                (self.toolbox.set_server_tools(server, tools.clone()), Some(server.clone()))
            }
            _ => (Vec::new(), None),
        }
    }

    /// The list, if it changed since it was told last.
    pub fn news(&mut self, policy: &Policy) -> Option<Event> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let names = self.toolbox.names();
        let info = |spec: &Arc<ToolSpec>| ToolInfo {
            spec: Arc::clone(spec),
            wire_name: names.wire(&spec.id).unwrap_or_default().to_owned(),
            form: schema::form::form(&spec.input_schema),
            grants: policy.grants(&spec.id),
        };
        Some(Event::Tools { tools: self.toolbox.list().iter().map(info).collect() })
    }
}
