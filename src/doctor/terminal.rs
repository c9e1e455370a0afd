//! The terminal, as far as the environment and the system tell. It is not asked anything.

use super::Finding;
use crate::config::env::Env;
use crate::domain::{Level, Phrase};
use crate::strings::Strings;
use serde::Serialize;
use std::io::{self, IsTerminal as _};

/// The terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Terminal {
    /// Standard input is one.
    pub input: bool,
    /// Standard output is one.
    pub output: bool,
    /// `TERM`.
    pub term: String,
    /// How many colours are used: `none`, `16`, `256`, `true`.
    pub colours: &'static str,
    /// Columns and rows, where there is a terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<(u16, u16)>,
    /// Whether the locale is a UTF-8 one.
    pub utf8: bool,
    /// Inside tmux.
    pub tmux: bool,
    /// Over SSH.
    pub ssh: bool,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Looks at the terminal. `colours` is what the screen would use.
pub fn look(env: &Env, colours: &'static str, strings: &Strings) -> Terminal {
    let (input, output) = (io::stdin().is_terminal(), io::stdout().is_terminal());
    let term = env.get("TERM").unwrap_or_default().to_owned();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| env.filled(name)).unwrap_or_default();
    let utf8 = locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0);
    let mut findings = Vec::new();
    let mut say = |phrase: Phrase| findings.push(Finding::new(Level::Info, &phrase, strings));
    if term == "dumb" {
        say(Phrase::new("app.dumb_terminal"));
    }
    if output && !utf8 {
        say(Phrase::new("doctor.no_utf8").with("locale", if locale.is_empty() { "C" } else { locale }));
    }
    Terminal {
        input,
        output,
        term,
        colours,
        size: size.map(|size| (size.ws_col, size.ws_row)),
        utf8,
        tmux: env.filled("TMUX").is_some(),
        ssh: env.filled("SSH_CONNECTION").is_some() || env.filled("SSH_TTY").is_some(),
        findings,
    }
}
