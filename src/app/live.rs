//! The configuration while the program runs: servers read again, files trusted, the Tour's server added.
//!
//! Owns the trust store and what servers are configured. **Invariant:** a project's file counts only with the very content that was trusted.

use crate::agent::{Changes, Settings};
use crate::config::env::Env;
use crate::config::load::{self, Config, Flags, Inputs};
use crate::config::paths::Dirs;
use crate::config::secrets;
use crate::config::servers::{Servers, diff};
use crate::config::trust::Trust;
use crate::domain::prompt::TrustRequest;
use crate::domain::server::{ServerEntry, Source, Timeouts, Transport};
use crate::domain::{Notice, Phrase};
use crate::redact::Redactor;
use std::path::PathBuf;
use std::sync::Arc;

/// The name under which the scripted model knows the embedded server.
const DEMO: &str = "demo";
/// What stands where the file of an entry is named.
const EMBEDDED: &str = "mcpane demo-server";

/// See the module.
pub struct Live {
    /// Variables.
    pub env: Arc<Env>,
    /// The user's directories.
    pub dirs: Dirs,
    /// The working directory.
    pub project: PathBuf,
    /// The command line.
    pub flags: Flags,
    /// The settings that hold.
    pub config: Arc<Config>,
    /// What the user trusted.
    pub trust: Trust,
    /// Servers as they were loaded last.
    pub entries: Vec<ServerEntry>,
    /// Questions that were not put yet.
    pub pending: Vec<TrustRequest>,
    /// The program itself.
    pub exe: PathBuf,
    /// Whether the scripted model is in use.
    pub tour: bool,
    /// Variables that keys are read from.
    pub key_variables: Vec<String>,
    /// Masks what is written.
    pub redactor: Redactor,
}

impl Live {
    /// Makes every secret known that is known now.
    pub fn register_secrets(&self) {
        let named = self.key_variables.iter().map(String::as_str);
        for secret in secrets::collect(&self.env, named, &self.entries) {
            self.redactor.register(&secret);
        }
    }

    fn current(&self) -> Vec<ServerEntry> {
        let mut entries = self.entries.clone();
        if self.tour {
            let shadows = entries.iter().filter(|entry| entry.name.as_str() == DEMO).map(|e| e.source.file.clone());
            let source = Source { file: EMBEDDED.to_owned(), line: 0, shadows: shadows.collect() };
            entries.retain(|entry| entry.name.as_str() != DEMO);
            entries.push(self.embedded(source));
        }
        entries
    }

    fn embedded(&self, source: Source) -> ServerEntry {
        let command = self.exe.to_string_lossy().into_owned();
        ServerEntry {
            name: DEMO.into(),
            transport: Ok(Transport::Stdio {
                command,
                args: vec!["demo-server".to_owned()],
                env: Vec::new(),
                cwd: None,
            }),
            source,
            disabled: false,
            untrusted: false,
            lazy: true,
            protocol: None,
            timeouts: Timeouts::default(),
            tool_timeouts: Vec::new(),
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            trust_read_only: false,
            fingerprint: concat!("mcpane demo-server ", env!("CARGO_PKG_VERSION")).into(),
        }
    }

    fn load(&mut self) -> Servers {
        let inputs = Inputs { env: &self.env, dirs: &self.dirs, project: &self.project, flags: &self.flags };
        load::load_servers(&inputs, &self.config, &mut self.trust)
    }

    /// Reads the files of servers again; what changed is told.
    fn reread(&mut self) -> Changes {
        let Servers { entries, notices, pending, .. } = self.load();
        let changed = diff(&self.entries, &entries);
        self.entries = entries;
        self.register_secrets();
        let mut notices = notices;
        if changed.is_empty() {
            notices.push(Notice::info(Phrase::new("app.reload_nothing")));
        } else {
            let names = |list: &[crate::domain::ServerName]| {
                list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            for (key, list) in [
                ("app.reload_added", &changed.added),
                ("app.reload_removed", &changed.removed),
                ("app.reload_changed", &changed.changed),
            ] {
                if !list.is_empty() {
                    notices.push(Notice::info(Phrase::new(key).with("servers", names(list))));
                }
            }
        }
        Changes { servers: Some(self.current()), trust: pending, notices }
    }
}

impl Settings for Live {
    fn servers(&mut self) -> Changes {
        Changes { servers: Some(self.current()), trust: std::mem::take(&mut self.pending), notices: Vec::new() }
    }

    fn reload(&mut self) -> Changes {
        // Whoever reads the files again may have changed their mind about one.
        self.trust.ask_again();
        self.reread()
    }

    fn model_changed(&mut self, name: &str) -> Changes {
        let tour = crate::provider::catalog::split(name).0 == DEMO;
        if std::mem::replace(&mut self.tour, tour) == tour {
            return Changes::default();
        }
        Changes { servers: Some(self.current()), ..Changes::default() }
    }

    fn trust(&mut self, file: &str, yes: bool) -> Changes {
        let known = self.load().notices;
        let answered = self.trust.answer(file, yes);
        let mut changes = self.reread();
        // An answer is no wish to hear everything again.
        changes.notices.retain(|notice| !known.contains(notice));
        changes.notices.extend(answered.err());
        changes
    }

    fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }
}
