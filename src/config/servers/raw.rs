//! A server's entry as it stands in its file.
//!
//! Owns: the entry before variables are expanded and files are merged, and how it is shown to a user who should trust it. Pure.

use crate::domain::Phrase;
use crate::domain::server::Timeouts;

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A child process.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// The older HTTP with SSE.
    Sse,
}

/// An entry as it stands in its file; nothing is expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// Name, without hidden characters.
    pub name: String,
    /// Line, from 1.
    pub line: u32,
    /// `type`, or what the other keys say.
    pub kind: Option<Kind>,
    /// Program.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, in file order.
    pub env: Vec<(String, String)>,
    /// Its directory.
    pub cwd: Option<String>,
    /// Address.
    pub url: Option<String>,
    /// Headers, in file order.
    pub headers: Vec<(String, String)>,
    /// Switched off.
    pub disabled: bool,
    /// Started when needed.
    pub lazy: bool,
    /// Revision; `None` is automatic.
    pub protocol: Option<String>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Time limits of single tools.
    pub tool_timeouts: Vec<(String, u64)>,
    /// Only these tools.
    pub allow_tools: Vec<String>,
    /// Never these.
    pub deny_tools: Vec<String>,
    /// `trust = "read-only"`.
    pub trust_read_only: bool,
    /// Why it cannot be used.
    pub fault: Option<Phrase>,
}

impl Raw {
    /// An entry that says nothing yet.
    pub fn new(name: String, line: u32) -> Self {
        Self {
            name,
            line,
            kind: None,
            command: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            url: None,
            headers: Vec::new(),
            disabled: false,
            lazy: true,
            protocol: None,
            timeouts: Timeouts::default(),
            tool_timeouts: Vec::new(),
            allow_tools: Vec::new(),
            deny_tools: Vec::new(),
            trust_read_only: false,
            fault: None,
        }
    }

    /// What trusting this entry would start, as it stands: variables are shown, not their values. Everything that changes what runs is in it.
    pub fn describe(&self) -> String {
        let assign =
            |pairs: &[(String, String)]| pairs.iter().map(|(k, v)| format!("{k}={}", quoted(v))).collect::<Vec<_>>();
        if self.kind == Some(Kind::Stdio) {
            let mut words = assign(&self.env);
            words.extend(self.command.iter().chain(&self.args).map(|word| quoted(word)));
            let line = words.join(" ");
            return self.cwd.as_ref().map_or(line.clone(), |cwd| format!("cd {} && {line}", quoted(cwd)));
        }
        let url = self.url.clone().unwrap_or_default();
        let headers: Vec<String> = self.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        if headers.is_empty() { url } else { format!("{url} ({})", headers.join(", ")) }
    }
}

/// A word as a shell would need it, so that `a b` and `a`, `b` look different.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,{}$".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
