//! An agent for other programs: a model, a folder, a list of servers, and defaults for the rest.
//!
//! Owns the settings that never change. What a user of the full-screen program sets in files is set here in code: every field of the [`Kit`] is open.

use super::machine::Limits;
use super::speaking::{Manner, Speaking};
use super::{Changes, Kit, Settings};
use crate::domain::Phrase;
use crate::domain::server::ServerEntry;
use crate::guard::Guard;
use crate::mcp;
use crate::policy::{Place, Policy, Rules, Store};
use crate::provider::Provider;
use crate::redact::Redactor;
use crate::tools::scene::Setting;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings that stay as they are: these servers, and nothing to be trusted.
#[derive(Debug, Default)]
pub struct Fixed {
    /// The servers.
    pub servers: Vec<ServerEntry>,
    /// Masks what is written.
    pub redactor: Redactor,
}

impl Settings for Fixed {
    fn servers(&mut self) -> Changes {
        Changes { servers: Some(self.servers.clone()), ..Changes::default() }
    }

    fn reload(&mut self) -> Changes {
        Changes::default()
    }

    fn model_changed(&mut self, _name: &str) -> Changes {
        Changes::default()
    }

    fn trust(&mut self, _file: &str, _yes: bool) -> Changes {
        Changes::default()
    }

    fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }
}

impl Kit {
    /// A kit with a model and the built-in tools, working in `cwd`. Journals and whatever else is written go below `state`. There are no servers, no rules and
    /// no grants that last: what the defaults of the policy do not allow comes as a prompt. Nobody guards the processes (see [`Guard`]).
    pub fn plain(cwd: impl Into<PathBuf>, state: &Path, model: Arc<dyn Provider>) -> Self {
        let cwd = cwd.into();
        let shown = cwd.to_string_lossy().into_owned();
        let manner =
            Manner { system: format!("{}, /bin/sh", std::env::consts::OS), cwd: shown.clone(), ..Manner::default() };
        let open = |name: &str| Err(Phrase::literal(name));
        Self {
            speaking: Speaking::new(Some(model), Box::new(open), manner),
            setting: Setting::new(&cwd, state.join("spill")),
            mcp: mcp::Options {
                state_dir: state.to_owned(),
                roots: vec![cwd.clone()],
                version: env!("CARGO_PKG_VERSION").to_owned(),
                guard: Guard::none(),
                redactor: Redactor::default(),
                tap: None,
            },
            policy: Arc::new(Policy::new(Rules::default(), Place { project: shown, home: None }, Store::in_memory())),
            settings: Box::new(Fixed::default()),
            sessions: state.join("sessions"),
            resumed: None,
            limits: Limits::default(),
            seed: fastrand::u64(..),
            cwd,
        }
    }

    /// The same with these servers.
    #[must_use]
    pub fn with_servers(mut self, servers: Vec<ServerEntry>) -> Self {
        let redactor = self.settings.redactor();
        self.settings = Box::new(Fixed { servers, redactor });
        self
    }
}
