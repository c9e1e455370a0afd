//! The MCP servers that the user and the project have configured.
//!
//! Owns: the order of the files, merging them, expanding variables, and what changed between two readings. Does not start anything.
//!
//! Files, in this order; a later one replaces a *whole* entry of the same name: `~/.mcp.json` → `<config dir>/mcp.json` → `./.mcp.json` → `./.mcpane/mcp.json` →
//! `--mcp-config`. **Invariants:** entries of a project's file are marked untrusted until the user trusted that file with exactly this content; a file that
//! the user refused does not count; a file that cannot be read is a warning and the others count. `trust` comes from the user's own files, and for a name
//! that a project's file took over from the user, from nowhere.

mod expand;
mod parse;
mod raw;

use self::expand::{Fault, expand};
use self::parse::Owner;
pub use self::parse::syntax;
use self::raw::{Kind, Raw};
use super::env::Env;
use super::paths::{Dirs, project_servers};
use super::report;
use super::settings::{self, Placed};
use super::trust::{Standing, Trust};
use crate::domain::prompt::TrustRequest;
use crate::domain::server::{ServerEntry, Source, Transport};
use crate::domain::{Notice, Phrase, ServerName};
use crate::schema::hash;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's own.
    User,
    /// The project's: needs trust.
    Project,
    /// Named with `--mcp-config`: as trusted as the command line it stands on.
    Named,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// There is none.
    Missing,
    /// It counts, with so many entries.
    Read(usize),
    /// It could not be read.
    Broken,
    /// It waits for the user's trust, with so many entries.
    Untrusted(usize),
    /// The user refused it.
    Refused,
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReport {
    /// Where.
    pub path: PathBuf,
    /// Whose.
    pub scope: Scope,
    /// What became of it.
    pub state: FileState,
}

/// Where servers come from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// Variables.
    pub env: &'a Env,
    /// The user's directories.
    pub dirs: &'a Dirs,
    /// The project: absolute.
    pub project: &'a Path,
    /// Files of `--mcp-config`, relative to the project.
    pub named: &'a [PathBuf],
    /// `--strict-mcp-config`: only those.
    pub strict: Strict,
    /// Servers that `config.toml` trusts read-only.
    pub read_only: &'a [Placed],
}

/// Whether only the files of `--mcp-config` count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strict {
    /// All files count.
    #[default]
    No,
    /// Only those named.
    Yes,
}

/// All servers, with what is to be said about their files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Servers {
    /// In the order they were first named.
    pub entries: Vec<ServerEntry>,
    /// Warnings.
    pub notices: Vec<Notice>,
    /// Files of the project that wait for trust.
    pub pending: Vec<TrustRequest>,
    /// Every file that was looked for, in order.
    pub files: Vec<FileReport>,
}

/// The files that are looked for, in order, each once: in the home directory, `./.mcp.json` is the user's own.
pub fn files(inputs: &Inputs<'_>) -> Vec<(PathBuf, Scope)> {
    let user = inputs.dirs.servers().map(|path| (path, Scope::User));
    let project = project_servers(inputs.project).map(|path| (path, Scope::Project));
    let named = inputs.named.iter().map(|path| (inputs.project.join(path), Scope::Named));
    let standing = user.into_iter().chain(project).filter(|_| inputs.strict == Strict::No);
    let mut out: Vec<(PathBuf, Scope)> = Vec::new();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    for (path, scope) in standing.chain(named) {
        let same = out.iter().position(|(known, _)| real(known) == real(&path));
        match (same, scope) {
            (None, _) => out.push((path, scope)),
            // Naming a file says that it is meant, and puts it last.
            (Some(at), Scope::Named) => {
                let before = out.remove(at).1;
                out.push((path, if before == Scope::User { Scope::User } else { Scope::Named }));
            }
            (Some(_), _) => {}
        }
    }
    out
}

/// Reads and merges all files.
pub fn load(inputs: &Inputs<'_>, trust: &mut Trust) -> Servers {
    let mut servers = Servers::default();
    for (path, scope) in files(inputs) {
        let state = servers.take(&path, scope, inputs, trust);
        servers.files.push(FileReport { path, scope, state });
    }
    servers.believe(inputs.read_only);
    servers
}

/// What one entry would be if it stood in a file of this scope: what makes it unusable, and warnings. Variables are not looked at. `from` is said
/// instead of a file.
pub fn judge(name: &str, entry: &Value, from: &str, scope: Scope) -> (Option<Phrase>, Vec<Notice>) {
    let text = format!("{:#}", json!({ "mcpServers": { name: entry } }));
    let owner = if scope == Scope::User { Owner::User } else { Owner::Other };
    let (raws, notices, _) = parse::parse(&text, Path::new(from), owner);
    match raws.into_iter().next() {
        Some(Raw { fault: None, name, line, url: Some(url), .. }) if !url.contains("${") && !is_address(&url) => {
            let bad = Phrase::new("config.bad_url").with("server", name).with("file", from).with("line", line);
            (Some(bad), notices)
        }
        Some(raw) => (raw.fault, notices),
        None => (notices.first().map(|notice| notice.text.clone()), notices),
    }
}

/// The names of the entries in a text.
pub fn names(text: &str) -> Vec<String> {
    parse::parse(text, Path::new(""), Owner::Other).0.into_iter().map(|raw| raw.name).collect()
}

impl Servers {
    fn take(&mut self, path: &Path, scope: Scope, inputs: &Inputs<'_>, trust: &mut Trust) -> FileState {
        let text = match report::read(path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                if scope == Scope::Named {
                    self.notices.push(Notice::error(Phrase::new("config.missing_file").with("file", path.display())));
                }
                return FileState::Missing;
            }
            Err(phrase) => {
                self.notices.push(Notice::warning(phrase));
                return FileState::Broken;
            }
        };
        let standing = if scope == Scope::Project { trust.standing(path, &text) } else { Standing::Trusted };
        if standing == Standing::Refused {
            return FileState::Refused;
        }
        let owner = if scope == Scope::User { Owner::User } else { Owner::Other };
        let (raws, notices, good) = parse::parse(&text, path, owner);
        self.notices.extend(notices);
        if !good {
            return FileState::Broken;
        }
        let count = raws.len();
        let untrusted = standing == Standing::Unknown && count > 0;
        if untrusted {
            let starts = raws.iter().map(|raw| (ServerName::from(raw.name.as_str()), raw.describe())).collect();
            self.pending.push(trust.request(path, &text, starts));
        }
        for raw in raws {
            self.add(raw, path, untrusted, inputs);
        }
        if untrusted { FileState::Untrusted(count) } else { FileState::Read(count) }
    }

    fn add(&mut self, raw: Raw, path: &Path, untrusted: bool, inputs: &Inputs<'_>) {
        let mut entry = entry(raw, path, inputs);
        entry.untrusted = untrusted;
        let Some(same) = self.entries.iter_mut().find(|known| known.name == entry.name) else {
            return self.entries.push(entry);
        };
        entry.source.shadows.clone_from(&same.source.shadows);
        entry.source.shadows.push(same.source.file.clone());
        if entry.transport.is_err() && same.transport.is_ok() {
            let text = Phrase::new("config.shadows_good")
                .with("server", &entry.name)
                .with("file", &entry.source.file)
                .with("line", entry.source.line)
                .with("other", &same.source.file);
            self.notices.push(Notice::warning(text));
        }
        *same = entry;
    }

    /// Applies `[servers.NAME] trust` of the user's settings.
    fn believe(&mut self, read_only: &[Placed]) {
        let project: Vec<String> =
            self.files.iter().filter(|f| f.scope == Scope::Project).map(|f| f.path.display().to_string()).collect();
        for placed in read_only {
            let found = self.entries.iter_mut().find(|entry| entry.name.as_str() == placed.text);
            let problem = match found {
                None => "config.trust_unknown",
                // The user may have meant the server that the project's file put away.
                Some(entry) if project.contains(&entry.source.file) && !entry.source.shadows.is_empty() => {
                    "config.trust_shadowed"
                }
                Some(entry) => {
                    entry.trust_read_only = true;
                    continue;
                }
            };
            self.notices.push(Notice::warning(settings::at(placed, problem).with("server", &placed.text)));
        }
    }
}

/// An entry ready to be started, or with the reason why it cannot be.
fn entry(raw: Raw, path: &Path, inputs: &Inputs<'_>) -> ServerEntry {
    let file = path.display().to_string();
    let transport = match &raw.fault {
        Some(fault) => Err(fault.clone()),
        None => transport(&raw, &file, inputs),
    };
    let fingerprint = fingerprint(&raw, transport.as_ref().ok());
    ServerEntry {
        name: raw.name.into(),
        transport,
        source: Source { file, line: raw.line, shadows: Vec::new() },
        disabled: raw.disabled,
        untrusted: false,
        lazy: raw.lazy,
        protocol: raw.protocol,
        timeouts: raw.timeouts,
        tool_timeouts: raw.tool_timeouts,
        allow_tools: raw.allow_tools,
        deny_tools: raw.deny_tools,
        trust_read_only: raw.trust_read_only,
        fingerprint: fingerprint.into(),
    }
}

fn transport(raw: &Raw, file: &str, inputs: &Inputs<'_>) -> Result<Transport, Phrase> {
    let fill = |field: &str, text: &str| {
        expand(text, inputs.env).map_err(|fault| {
            let (key, name, value) = match fault {
                Fault::Unset(variable) => ("config.unset_variable", "variable", variable),
                Fault::Syntax(text) => ("config.bad_variable", "text", text),
            };
            let phrase = Phrase::new(key).with(name, value).with("field", field);
            phrase.with("file", file).with("line", raw.line).with("server", &raw.name)
        })
    };
    let pairs = |field: &str, pairs: &[(String, String)]| {
        pairs
            .iter()
            .map(|(name, value)| Ok((name.clone(), fill(&format!("{field}.{name}"), value)?)))
            .collect::<Result<Vec<_>, Phrase>>()
    };
    let address = || {
        let url = fill("url", raw.url.as_deref().unwrap_or_default())?;
        let bad = || Phrase::new("config.bad_url").with("server", &raw.name).with("file", file).with("line", raw.line);
        if is_address(&url) { Ok(url) } else { Err(bad()) }
    };
    match raw.kind {
        Some(Kind::Http) => Ok(Transport::Http { url: address()?, headers: pairs("headers", &raw.headers)? }),
        Some(Kind::Sse) => Ok(Transport::Sse { url: address()?, headers: pairs("headers", &raw.headers)? }),
        Some(Kind::Stdio) | None => {
            let args = raw.args.iter().enumerate().map(|(at, arg)| fill(&format!("args[{at}]"), arg));
            Ok(Transport::Stdio {
                command: fill("command", raw.command.as_deref().unwrap_or_default())?,
                args: args.collect::<Result<_, _>>()?,
                env: pairs("env", &raw.env)?,
                cwd: match &raw.cwd {
                    Some(cwd) => Some(inputs.project.join(fill("cwd", cwd)?).display().to_string()),
                    None => None,
                },
            })
        }
    }
}

fn is_address(text: &str) -> bool {
    url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// SHA-256 over what decides how a server starts. Time limits, filters and trust are not in it: they do not change its tools.
fn fingerprint(raw: &Raw, transport: Option<&Transport>) -> String {
    let how = match transport {
        Some(transport) => json!({ "transport": transport, "protocol": raw.protocol }),
        None => json!({ "unusable": raw.describe(), "protocol": raw.protocol }),
    };
    hash::hex(hash::canonical(&how).as_bytes())
}

/// What changed between two readings, by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// Not there before.
    pub added: Vec<ServerName>,
    /// No longer there.
    pub removed: Vec<ServerName>,
    /// Anything of their entries but the place they stand at.
    pub changed: Vec<ServerName>,
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Compares two readings. A server whose entry only moved to another line is not changed, and need not be restarted.
pub fn diff(old: &[ServerEntry], new: &[ServerEntry]) -> Changes {
    let find = |list: &[ServerEntry], name: &ServerName| list.iter().find(|entry| entry.name == *name).cloned();
    let mut changes = Changes::default();
    for entry in new {
        let before = find(old, &entry.name).map(|before| ServerEntry { source: entry.source.clone(), ..before });
        match before {
            None => changes.added.push(entry.name.clone()),
            Some(before) if before != *entry => changes.changed.push(entry.name.clone()),
            Some(_) => {}
        }
    }
    changes.removed =
        old.iter().filter(|entry| find(new, &entry.name).is_none()).map(|entry| entry.name.clone()).collect();
    changes
}

#[cfg(test)]
mod tests;
