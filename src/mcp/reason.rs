//! Why a server is in its state, and what to do about it: facts turned into phrases of the catalogue.
//!
//! Owns no state. The model reads the same sentences, in English.

use super::convert;
use super::launch::{Exit, LaunchError};
use super::transport::{Fault, LINE_LIMIT};
use crate::domain::{Phrase, ServerName};
use crate::redact::Redactor;
use crate::strings::{Language, Strings};
use rmcp::model::ErrorData;
use std::borrow::Cow;

/// Lines of standard error in a reason.
const LAST_LINES: usize = 6;
/// Longest message of a server in a reason, bytes.
const MESSAGE: usize = 2 * 1024;

/// What is wrong, and what to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trouble {
    /// Why.
    pub(super) reason: Phrase,
    /// What to do about it.
    pub(super) fix: Option<Phrase>,
}

impl Trouble {
    /// Trouble with something to do about it.
    pub(super) fn new(reason: Phrase, fix: Phrase) -> Self {
        Self { reason, fix: Some(fix) }
    }

    /// The same with secrets masked.
    pub(super) fn masked(mut self, redactor: &Redactor) -> Self {
        for (_, value) in &mut self.reason.args {
            if let Cow::Owned(masked) = redactor.mask_text(value) {
                *value = masked;
            }
        }
        self
    }

    /// The same for the model.
    pub(super) fn text(&self) -> String {
        Strings::new(Language::En).render(&self.reason)
    }
}

impl From<Phrase> for Trouble {
    fn from(reason: Phrase) -> Self {
        Self { reason, fix: None }
    }
}

/// How many lines of the log a reason quotes.
pub(super) const fn quoted() -> usize {
    LAST_LINES
}

/// The connection is over.
pub(super) fn ended(exit: Option<Exit>, fault: Option<&Fault>, said: Option<String>) -> Trouble {
    match fault {
        Some(Fault::LineTooLong) => {
            let reason = Phrase::new("server.line_too_long").with("limit", LINE_LIMIT / (1024 * 1024));
            return Trouble::new(reason, Phrase::new("server.fix_report"));
        }
        Some(Fault::Io(error)) => {
            return Trouble::new(Phrase::new("server.pipe").with("error", error), Phrase::new("server.fix_restart"));
        }
        Some(Fault::Lost(trouble) | Fault::Gone(trouble) | Fault::Login(trouble)) => return trouble.clone(),
        None => {}
    }
    let fix = Phrase::new(if said.is_some() { "server.fix_stderr" } else { "server.fix_restart" });
    let reason = match (exit, said) {
        (Some(Exit::Code(code)), None) => Phrase::new("server.exited").with("code", code),
        (Some(Exit::Code(code)), Some(said)) => {
            Phrase::new("server.exited_saying").with("code", code).with("said", said)
        }
        (Some(Exit::Signal(signal)), None) => Phrase::new("server.killed").with("signal", signal_name(signal)),
        (Some(Exit::Signal(signal)), Some(said)) => {
            Phrase::new("server.killed_saying").with("signal", signal_name(signal)).with("said", said)
        }
        (None, None) => Phrase::new("server.closed"),
        (None, Some(said)) => Phrase::new("server.closed_saying").with("said", said),
    };
    Trouble::new(reason, fix)
}

/// It could not be started.
pub(super) fn launch(error: &LaunchError, command: &str, file: &str) -> Trouble {
    match error {
        LaunchError::NotFound => Trouble::new(
            Phrase::new("server.not_found").with("command", command),
            Phrase::new("server.fix_install").with("command", command).with("file", file),
        ),
        LaunchError::NoInterpreter => Trouble::new(
            Phrase::new("server.no_interpreter").with("command", command),
            Phrase::new("server.fix_interpreter").with("command", command),
        ),
        LaunchError::NotExecutable => Trouble::new(
            Phrase::new("server.not_executable").with("command", command),
            Phrase::new("server.fix_executable").with("command", command),
        ),
        LaunchError::NoDirectory(cwd) => Trouble::new(
            Phrase::new("server.no_directory").with("cwd", cwd),
            Phrase::new("server.fix_directory").with("file", file),
        ),
        LaunchError::Other(error) => {
            Trouble::new(Phrase::new("server.not_started").with("error", error), Phrase::new("server.fix_restart"))
        }
    }
}

/// It did not answer in time. `limit` names the setting: `start` or `init`.
pub(super) fn silent(server: &ServerName, limit: &str, seconds: u64, said: Option<String>) -> Trouble {
    let reason = match said {
        None => Phrase::new("server.silent").with("seconds", seconds),
        Some(said) => Phrase::new("server.silent_saying").with("seconds", seconds).with("said", said),
    };
    Trouble::new(reason, Phrase::new("server.fix_timeout").with("server", server).with("limit", limit))
}

/// It refused the handshake.
pub(super) fn refused(error: &ErrorData) -> Trouble {
    let said = convert::clip(&error.message, MESSAGE);
    let reason = Phrase::new("server.refused").with("error", said).with("code", error.code.0);
    Trouble::new(reason, Phrase::new("server.fix_protocol"))
}

/// The handshake went wrong in a way that only the library can word.
pub(super) fn garbled(error: impl ToString) -> Trouble {
    Trouble::new(
        Phrase::new("server.garbled").with("error", convert::clip(&error.to_string(), MESSAGE)),
        Phrase::new("server.fix_protocol"),
    )
}

/// It answered with a protocol revision that cannot be used.
pub(super) fn version(theirs: &str, ours: &str) -> Trouble {
    let reason = Phrase::new("server.version").with("theirs", convert::clip(theirs, 64)).with("ours", ours);
    Trouble::new(reason, Phrase::new("server.fix_protocol"))
}

/// Its entry asks for a protocol revision that is not spoken.
pub(super) fn pinned(version: &str, known: &str) -> Trouble {
    let reason = Phrase::new("server.pinned").with("version", version);
    Trouble::new(reason, Phrase::new("server.fix_pin").with("known", known))
}

/// The usual signals by name, the others by number.
fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return number.to_string(),
    };
    name.to_owned()
}
