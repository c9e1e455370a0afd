//! What is configured, what became of it, and what is wrong: as data, for `mcpane doctor` and whoever shows it.
//!
//! Owns the shape of the report and how facts become findings. Does not start servers or print: it is given what the loaders said and what a start came
//! to. Paths and commands are looked at where they stand; one request is sent to the model's endpoint, without a key.
//!
//! **Invariant:** every warning of a loader stands in the report exactly once, at its file or among the rest.

pub mod files;
pub mod model;
pub mod path;
pub mod server;
pub mod terminal;

use crate::domain::{Level, Notice, Phrase};
use crate::strings::Strings;
use serde::Serialize;

/// The report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Things that are wrong, warnings included.
    pub wrong: usize,
    /// Every file that was looked for, in order.
    pub files: Vec<files::File>,
    /// Every server.
    pub servers: Vec<server::Server>,
    /// The model.
    pub model: model::Model,
    /// The terminal.
    pub terminal: terminal::Terminal,
    /// What belongs to none of these.
    pub other: Vec<Finding>,
}

impl Report {
    /// Puts the parts together and counts.
    pub fn new(
        (files, other): (Vec<files::File>, Vec<Finding>),
        servers: Vec<server::Server>,
        model: model::Model,
        terminal: terminal::Terminal,
    ) -> Self {
        let findings = files.iter().flat_map(|file| &file.findings);
        let findings = findings.chain(servers.iter().flat_map(|server| &server.findings));
        let findings = findings.chain(&model.findings).chain(&terminal.findings).chain(&other);
        let wrong = findings.filter(|finding| finding.level > Level::Info).count();
        Self { ok: wrong == 0, wrong, files, servers, model, terminal, other }
    }
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters: what is only worth knowing is nothing wrong.
    pub level: Level,
    /// Which text of the catalogue it is, for programs.
    pub key: String,
    /// The text.
    pub text: String,
    /// The line in the file it was found in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Finding {
    /// A notice as a finding.
    pub fn of(notice: &Notice, strings: &Strings) -> Self {
        Self::new(notice.level, &notice.text, strings)
    }

    /// A phrase as a finding.
    pub fn new(level: Level, phrase: &Phrase, strings: &Strings) -> Self {
        let line = argument(phrase, "line").and_then(|line| line.parse().ok());
        Self { level, key: phrase.key.to_string(), text: strings.render(phrase), line, fix: None }
    }

    /// With what to do about it.
    #[must_use]
    pub fn with_fix(mut self, fix: Option<&Phrase>, strings: &Strings) -> Self {
        self.fix = fix.map(|fix| strings.render(fix));
        self
    }
}

/// An argument of a phrase.
fn argument<'a>(phrase: &'a Phrase, name: &str) -> Option<&'a str> {
    phrase.args.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}
