//! One server: where it comes from, whether its program is there, and what its start came to.

use super::Finding;
use super::path::{self, Found};
use crate::config::env::Env;
use crate::domain::server::{ServerEntry, ServerState, ServerStatus, Transport};
use crate::domain::{Level, Phrase, ToolSpec};
use crate::schema::Validator;
use crate::strings::Strings;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The first revision that is spoken without an `initialize` handshake.
const MODERN: &str = "2026-07-28";

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// With `initialize`: revisions up to 2025-11-25.
    Initialize,
    /// With `server/discover`.
    Discover,
}

impl Era {
    fn of(revision: &str) -> Self {
        // Revisions are dates, so that their order is that of their texts.
        if revision < MODERN { Self::Initialize } else { Self::Discover }
    }
}

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// The file of its entry.
    pub file: String,
    /// The line of its entry.
    pub line: u32,
    /// Files with an entry of the same name that does not count.
    pub shadows: Vec<String>,
    /// `stdio`, `http`, `sse`; empty where the entry does not say.
    pub transport: &'static str,
    /// Its command line or address.
    pub address: String,
    /// The program that its command comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// What became of it.
    pub state: ServerState,
    /// From the beginning of its start until it was ready, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub millis: Option<u64>,
    /// The protocol revision that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// How its session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<Era>,
    /// What it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Usable tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// The last lines it wrote to standard error.
    pub stderr: Vec<String>,
}

/// What a start came to.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    /// Its last status.
    pub status: &'a ServerStatus,
    /// Its usable tools.
    pub tools: &'a [Arc<ToolSpec>],
    /// Tools that cannot be used, with what is wrong.
    pub rejected: &'a [(String, String)],
    /// The last lines of its standard error.
    pub stderr: &'a [String],
}

/// Where things stand.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// Variables.
    pub env: &'a Env,
    /// The working directory.
    pub project: &'a Path,
    /// Texts.
    pub strings: &'a Strings,
}

/// Looks at a server. Without an outcome it was not started.
pub fn look(entry: &ServerEntry, outcome: Option<Outcome<'_>>, scene: Scene<'_>) -> Server {
    let (transport, address) = match &entry.transport {
        Ok(Transport::Stdio { command, args, .. }) => {
            ("stdio", std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" "))
        }
        Ok(Transport::Http { url, .. }) => ("http", url.clone()),
        Ok(Transport::Sse { url, .. }) => ("sse", url.clone()),
        Err(_) => ("", String::new()),
    };
    let mut server = Server {
        name: entry.name.to_string(),
        file: entry.source.file.clone(),
        line: entry.source.line,
        shadows: entry.source.shadows.clone(),
        transport,
        address,
        program: None,
        state: resting(entry),
        millis: None,
        protocol: None,
        era: None,
        identity: None,
        tools: None,
        findings: Vec::new(),
        stderr: Vec::new(),
    };
    // A server that is switched off may lack its program.
    let level = if entry.disabled { Level::Info } else { Level::Error };
    match (program(entry, scene), outcome) {
        (Ok(found), _) => server.program = found,
        // The start says the same, and what to do.
        (Err(_), Some(_)) => {}
        (Err(problem), None) => server.findings.push(Finding::new(level, &problem, scene.strings)),
    }
    if let Err(problem) = &entry.transport
        && outcome.is_none()
    {
        server.findings.push(Finding::new(level, problem, scene.strings));
    }
    if entry.untrusted {
        let text = Phrase::new("doctor.untrusted");
        server.findings.push(Finding::new(Level::Info, &text, scene.strings));
    }
    if let Some(outcome) = outcome {
        server.started(outcome, scene.strings);
    }
    server
}

fn resting(entry: &ServerEntry) -> ServerState {
    match &entry.transport {
        _ if entry.disabled => ServerState::Disabled,
        _ if entry.untrusted => ServerState::Untrusted,
        Err(_) => ServerState::StartFailed,
        Ok(_) => ServerState::Idle,
    }
}

/// The program that a command comes to.
fn program(entry: &ServerEntry, scene: Scene<'_>) -> Result<Option<PathBuf>, Phrase> {
    let Ok(Transport::Stdio { command, env, cwd, .. }) = &entry.transport else { return Ok(None) };
    let own = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let cwd = cwd.as_deref().map_or(scene.project, Path::new);
    match path::find(command, own.or_else(|| scene.env.get("PATH")), cwd) {
        Found::At(program) => Ok(Some(program)),
        Found::NotExecutable(program) => Err(Phrase::new("server.not_executable").with("command", program.display())),
        Found::Nowhere => Err(Phrase::new("server.not_found").with("command", command)),
    }
}

impl Server {
    fn started(&mut self, outcome: Outcome<'_>, strings: &Strings) {
        let status = outcome.status;
        self.state = status.state;
        self.millis = status.start_millis;
        self.era = status.protocol.as_deref().map(Era::of);
        self.protocol.clone_from(&status.protocol);
        self.identity.clone_from(&status.identity);
        self.tools = status.tools.filter(|_| !status.cached);
        self.stderr = outcome.stderr.to_vec();
        if let Some(reason) = &status.reason {
            let finding = Finding::new(Level::Error, reason, strings).with_fix(status.fix.as_ref(), strings);
            self.findings.push(finding);
        } else if status.state != ServerState::Ready {
            let text = Phrase::new("doctor.not_ready");
            self.findings.push(Finding::new(Level::Error, &text, strings));
        }
        for (tool, problem) in outcome.rejected {
            let text = Phrase::new("doctor.rejected").with("tool", tool).with("problem", problem);
            self.findings.push(Finding::new(Level::Warning, &text, strings));
        }
        for spec in outcome.tools {
            for unchecked in Validator::new(&spec.input_schema).unchecked() {
                let what = strings.render(&unchecked.phrase());
                let text = Phrase::new("doctor.schema").with("tool", &spec.id.name).with("problem", what);
                self.findings.push(Finding::new(Level::Warning, &text, strings));
            }
        }
        if status.noise > 0 {
            let text = Phrase::new("doctor.noise").with("count", status.noise);
            self.findings.push(Finding::new(Level::Info, &text, strings));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eras_by_revision() {
        assert_eq!(Era::of("2025-11-25"), Era::Initialize);
        assert_eq!(Era::of("2026-07-28"), Era::Discover);
    }
}
