//! What commands without a screen stand on: the configuration as the full-screen program would read it, and where they print.
//!
//! Owns the trust store while the command runs. Starts nothing.

use super::models::Models;
use super::prepare::{self, Front};
use crate::cli::paper::{Colours, Paper};
use crate::cli::servers::Place;
use crate::config::env::Env;
use crate::config::load::{self, Flags, Inputs, Loaded};
use crate::config::paths::Dirs;
use crate::config::secrets;
use crate::config::trust::Trust;
use crate::domain::server::ServerEntry;
use crate::domain::{Notice, Phrase};
use crate::guard::Guard;
use crate::redact::Redactor;
use crate::strings::Strings;
use crate::{mcp, telemetry};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// See the module.
pub struct Ground {
    /// Variables.
    pub env: Arc<Env>,
    /// The user's directories.
    pub dirs: Dirs,
    /// The working directory.
    pub project: PathBuf,
    /// The command line.
    pub flags: Flags,
    /// What the user trusts.
    pub trust: Trust,
    /// What is wrong with the trust store.
    pub trust_notices: Vec<Notice>,
    /// Settings and servers.
    pub loaded: Loaded,
    /// Masks what is written.
    pub redactor: Redactor,
    /// The program itself.
    pub exe: PathBuf,
    /// Texts.
    pub strings: Strings,
}

impl Ground {
    /// Reads everything.
    pub fn load(place: &Place, env: Env) -> Result<Self, Phrase> {
        let dirs = Dirs::of(&env).ok_or_else(|| Phrase::new("app.no_home"))?;
        let flags = prepare::flags(&place.options(), Front::Screen);
        let project = prepare::project(place.cwd.as_deref())?;
        let redactor = Redactor::default();
        let _ = telemetry::start(&dirs.state.join("log"), env.filled("MCPANE_LOG"), &redactor);
        let (mut trust, trust_notices) = Trust::load(&dirs.trust());
        let inputs = Inputs { env: &env, dirs: &dirs, project: &project, flags: &flags };
        let loaded = load::load(&inputs, &mut trust);
        let strings = Strings::new(loaded.config.ui.lang);
        let exe = std::env::current_exe().map_err(|error| Phrase::literal(error.to_string()))?;
        let ground =
            Self { env: Arc::new(env), dirs, project, flags, trust, trust_notices, loaded, redactor, exe, strings };
        ground.register_secrets();
        Ok(ground)
    }

    /// Reads settings and servers again, after a file was changed.
    pub fn reload(&mut self) {
        let inputs = Inputs { env: &self.env, dirs: &self.dirs, project: &self.project, flags: &self.flags };
        self.loaded = load::load(&inputs, &mut self.trust);
        self.register_secrets();
    }

    /// Models that can be opened, with what is wrong with the user's providers.
    pub fn models(&self) -> (Models, Vec<Notice>) {
        Models::new(Arc::new(self.loaded.config.clone()), Arc::clone(&self.env), self.redactor.clone())
    }

    fn register_secrets(&self) {
        let variables = self.models().0.key_variables();
        let named = variables.iter().map(String::as_str);
        for secret in secrets::collect(&self.env, named, &self.loaded.servers.entries) {
            self.redactor.register(&secret);
        }
    }

    /// All servers.
    pub fn entries(&self) -> &[ServerEntry] {
        &self.loaded.servers.entries
    }

    /// The server of this name; else what to say.
    pub fn entry(&self, name: &str) -> Result<&ServerEntry, Phrase> {
        let entries = self.entries();
        entries.iter().find(|entry| entry.name.as_str() == name).ok_or_else(|| {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            let near = crate::config::report::guess(name, &names, &[]);
            match (near, names.is_empty()) {
                (Some(near), _) => Phrase::new("cli.no_server_near").with("server", name).with("near", near),
                (None, true) => Phrase::new("cli.no_servers"),
                (None, false) => Phrase::new("cli.no_server").with("server", name).with("known", names.join(", ")),
            }
        })
    }

    /// What the MCP side needs.
    pub fn mcp_options(&self) -> mcp::Options {
        mcp::Options {
            state_dir: self.dirs.state.clone(),
            roots: self.loaded.config.working_dirs.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            guard: Guard::start(&self.exe),
            redactor: self.redactor.clone(),
            tap: None,
        }
    }

    /// A sheet for standard output.
    pub fn paper(&self) -> Paper {
        Paper::new(self.colours(io::stdout().is_terminal()), self.redactor.clone())
    }

    /// A sheet for standard error.
    pub fn aside(&self) -> Paper {
        Paper::new(self.colours(io::stderr().is_terminal()), self.redactor.clone())
    }

    fn colours(&self, terminal: bool) -> Colours {
        let around = &self.loaded.config.surroundings;
        if terminal && !around.no_color && !around.dumb { Colours::On } else { Colours::Off }
    }

    /// A phrase in the user's language.
    pub fn say(&self, phrase: &Phrase) -> String {
        self.strings.render(phrase)
    }

    /// Writes a sheet to standard output; the status where that worked.
    pub fn print(paper: &Paper, status: u8) -> ExitCode {
        match paper.write(&mut io::stdout().lock()) {
            Ok(()) => ExitCode::from(status),
            Err(_) => ExitCode::FAILURE,
        }
    }
}
