//! The doctor's report for people.
//!
//! Owns how it is laid out: parts with a heading, one thing a line with its mark, what is wrong below it. Decides nothing about what is wrong.

use super::paper::{Ink, Paper, Piece, plain};
use crate::doctor::files::{File, State};
use crate::doctor::model::Model;
use crate::doctor::server::{Era, Server};
use crate::doctor::terminal::Terminal;
use crate::doctor::{Finding, Report};
use crate::domain::Level;
use crate::domain::server::ServerState;
use crate::strings::Strings;

/// What printing needs.
pub struct Printer<'a> {
    /// Where to.
    pub paper: &'a mut Paper,
    /// Texts.
    pub strings: &'a Strings,
    /// A path as a user would write it.
    pub short: &'a dyn Fn(&str) -> String,
}

/// Prints the whole report.
pub fn print(report: &Report, printer: &mut Printer<'_>) {
    printer.files(&report.files);
    printer.servers(&report.servers);
    printer.model(&report.model);
    printer.terminal(&report.terminal);
    if !report.other.is_empty() {
        printer.heading("doctor.other");
        printer.findings(2, &report.other, "");
    }
    printer.paper.gap();
    if report.ok {
        let text = printer.strings.get("doctor.good").to_owned();
        printer.paper.line(0, &[(Ink::Good, text)]);
    } else {
        let text = printer.strings.fill("doctor.wrong", &[("count", &report.wrong.to_string())]);
        printer.paper.line(0, &[(Ink::Bad, text)]);
    }
}

fn mark(level: Option<Level>) -> Piece {
    match level {
        None => (Ink::Good, "✓".to_owned()),
        Some(Level::Info) => (Ink::Dim, "·".to_owned()),
        Some(Level::Warning) => (Ink::Warn, "!".to_owned()),
        Some(Level::Error) => (Ink::Bad, "✗".to_owned()),
    }
}

fn worst(findings: &[Finding]) -> Option<Level> {
    findings.iter().map(|finding| finding.level).max()
}

impl Printer<'_> {
    fn heading(&mut self, key: &str) {
        self.paper.gap();
        let text = self.strings.get(key).to_owned();
        self.paper.line(0, &[(Ink::Strong, text)]);
    }

    /// What was found, one below the other. The file that all of it is about is not repeated.
    fn findings(&mut self, indent: usize, findings: &[Finding], file: &str) {
        for finding in findings {
            let text = finding.text.strip_prefix(file).and_then(|rest| rest.strip_prefix(':').map(str::trim_start));
            self.paper.item(indent, mark(Some(finding.level)), text.unwrap_or(&finding.text));
            if let Some(fix) = &finding.fix {
                self.paper.line(indent + 2, &[(Ink::Strong, fix.clone())]);
            }
        }
    }

    fn files(&mut self, files: &[File]) {
        self.heading("doctor.files");
        let row = |file: &File| {
            let (key, ink) = match file.state {
                State::Missing => ("doctor.file.missing", Ink::Dim),
                State::Read => ("doctor.file.read", Ink::Plain),
                State::Broken => ("doctor.file.broken", Ink::Bad),
                State::Untrusted => ("doctor.file.untrusted", Ink::Warn),
                State::Refused => ("doctor.file.refused", Ink::Dim),
            };
            let mark = match file.state {
                State::Missing | State::Untrusted | State::Refused => mark(Some(Level::Info)),
                State::Broken => mark(Some(Level::Error)),
                State::Read => mark(worst(&file.findings)),
            };
            let count = file.servers.map(|count| self.strings.fill("doctor.entries", &[("count", &count.to_string())]));
            let path = (self.short)(&file.path.display().to_string());
            let path = (if file.state == State::Missing { Ink::Dim } else { Ink::Plain }, path);
            vec![mark, path, (ink, self.strings.get(key).to_owned()), (Ink::Dim, count.unwrap_or_default())]
        };
        let rows: Vec<Vec<Piece>> = files.iter().map(row).collect();
        self.paper.table(2, &rows);
        for file in files.iter().filter(|file| !file.findings.is_empty()) {
            let path = file.path.display().to_string();
            let shown = (self.short)(&path);
            self.paper.line(2, &[(Ink::Dim, shown)]);
            self.findings(4, &file.findings, &path);
        }
    }

    fn servers(&mut self, servers: &[Server]) {
        self.heading("doctor.servers");
        if servers.is_empty() {
            self.dim(2, self.strings.get("doctor.none").to_owned());
        }
        for server in servers {
            let found = worst(&server.findings);
            let ready = server.state == ServerState::Ready;
            let mark = if ready || found > Some(Level::Info) { mark(found) } else { mark(Some(Level::Info)) };
            let name = (Ink::Strong, server.name.clone());
            self.paper.line(2, &[mark, plain(" "), name, plain("  "), plain(server.address.clone())]);
            let origin = format!("{}:{}", (self.short)(&server.file), server.line);
            let mut facts = vec![origin];
            let shadows = server.shadows.iter().map(|file| (self.short)(file));
            facts.extend(shadows.map(|file| self.strings.fill("doctor.shadows", &[("file", &file)])));
            self.dim(6, facts.join(" · "));
            let facts = self.session(server);
            self.dim(6, facts);
            self.findings(6, &server.findings, "");
            self.stderr(server);
        }
    }

    /// What its start came to, in one line.
    fn session(&self, server: &Server) -> String {
        let mut facts = Vec::new();
        match server.millis {
            Some(millis) => facts.push(self.strings.fill("doctor.ready", &[("millis", &millis.to_string())])),
            None => facts.push(self.strings.get(server.state.text_key()).to_owned()),
        }
        facts.extend(server.identity.clone());
        if let (Some(protocol), Some(era)) = (&server.protocol, server.era) {
            let era = match era {
                Era::Initialize => "initialize",
                Era::Discover => "server/discover",
            };
            facts.push(self.strings.fill("doctor.session", &[("protocol", protocol), ("era", era)]));
        }
        facts.extend(server.tools.map(|count| self.strings.fill("doctor.tools", &[("count", &count.to_string())])));
        // Where the command names the program itself there is nothing to add.
        let program = server.program.as_ref().map(|program| program.display().to_string());
        facts.extend(program.filter(|path| !server.address.starts_with(path)).map(|path| (self.short)(&path)));
        facts.join(" · ")
    }

    fn stderr(&mut self, server: &Server) {
        // Of a server that works nobody needs it, and a reason quotes it.
        let quoted = server.findings.iter().any(|finding| finding.key.ends_with("_saying"));
        if quoted || server.stderr.is_empty() || worst(&server.findings) < Some(Level::Warning) {
            return;
        }
        self.dim(6, self.strings.get("doctor.stderr").to_owned());
        for line in server.stderr.iter().rev().take(5).rev() {
            self.dim(8, line.clone());
        }
    }

    fn model(&mut self, model: &Model) {
        self.heading("doctor.model");
        if let Some(name) = &model.name {
            let url = model.url.clone().unwrap_or_default();
            let mark = mark(worst(&model.findings));
            self.paper.line(2, &[mark, plain(" "), (Ink::Strong, name.clone()), plain("  "), plain(url)]);
            let mut facts = Vec::new();
            if let Some(key) = &model.key {
                let text = if key.present { "doctor.key_set" } else { "doctor.key_unset" };
                facts.push(self.strings.fill(text, &[("variable", &key.variable)]));
            }
            match model.millis {
                Some(millis) => facts.push(self.strings.fill("doctor.reachable", &[("millis", &millis.to_string())])),
                None if model.url.is_none() && model.findings.is_empty() => {
                    facts.push(self.strings.get("doctor.not_asked").to_owned());
                }
                None => {}
            }
            self.dim(6, facts.join(" · "));
        }
        self.findings(if model.name.is_some() { 6 } else { 2 }, &model.findings, "");
    }

    fn terminal(&mut self, terminal: &Terminal) {
        self.heading("doctor.terminal");
        let mut facts = Vec::new();
        if !terminal.output {
            facts.push(self.strings.get("doctor.no_tty").to_owned());
        }
        if !terminal.term.is_empty() {
            facts.push(terminal.term.clone());
        }
        facts.push(self.strings.fill("doctor.colours", &[("colours", terminal.colours)]));
        if let Some((columns, rows)) = terminal.size {
            let (columns, rows) = (columns.to_string(), rows.to_string());
            facts.push(self.strings.fill("doctor.size", &[("columns", &columns), ("rows", &rows)]));
        }
        let further = [(terminal.utf8, "UTF-8"), (terminal.tmux, "tmux"), (terminal.ssh, "SSH")];
        facts.extend(further.iter().filter(|(there, _)| *there).map(|(_, name)| (*name).to_owned()));
        self.paper.line(2, &[plain(facts.join(" · "))]);
        self.findings(2, &terminal.findings, "");
    }

    fn dim(&mut self, indent: usize, text: String) {
        if !text.is_empty() {
            self.paper.line(indent, &[(Ink::Dim, text)]);
        }
    }
}
