//! `mcp import`: servers of another program, written into a file of ours.
//!
//! **Invariant:** what a project's file brings never becomes the user's own without being looked at: it goes into the project's file, which asks for trust.

use super::{list, mention, write};
use crate::app::ground::Ground;
use crate::cli::paper::{Ink, Paper, plain};
use crate::cli::servers::{Program as Named, Whose};
use crate::config::edit::{self, Existing};
use crate::config::import::{Program, Taken};
use crate::config::report;
use crate::config::servers::{self, Scope};
use crate::domain::{Notice, Phrase};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is to be imported.
pub(super) struct Wanted<'a> {
    /// Whose servers.
    pub(super) program: Named,
    /// The file, if it is not the usual one.
    pub(super) file: Option<&'a Path>,
    /// Whose file it goes into.
    pub(super) whose: Whose,
    /// What to do with those that are there.
    pub(super) existing: Existing,
}

/// Imports. 0 if every server was carried over or is there already.
pub(super) fn import(ground: &mut Ground, wanted: &Wanted<'_>) -> Result<ExitCode, Phrase> {
    let program = program(wanted.program);
    let (file, text) = source(ground, program, wanted)?;
    let own = ground.project == ground.dirs.home || !real(&file).starts_with(&ground.project);
    if !own && wanted.whose == Whose::User {
        return Err(Phrase::new("import.of_project").with("file", list::short(ground, &file.display().to_string())));
    }
    let found = program.read(&text, &file, &ground.project)?;
    let shown = list::short(ground, &file.display().to_string());
    if found.servers.is_empty() {
        return Err(Phrase::new("import.nothing").with("file", shown));
    }
    let scope = write::scope(wanted.whose);
    let place = write::place(ground, &write::new_file(ground, wanted.whose));
    let (good, bad) = sift(found.servers, scope);
    let entries: Vec<(String, Value)> =
        good.iter().filter_map(|taken| Some((taken.name.clone(), taken.entry.clone()?))).collect();
    let changed = edit::put(&place, &entries, wanted.existing)?;
    let mut notices: Vec<Notice> = found.remarks.into_iter().map(Notice::warning).collect();
    if own {
        notices.extend(write::keep_trust(ground, &place.file, scope, &changed));
    } else if changed.after.is_some() {
        let file = list::short(ground, &place.file.display().to_string());
        notices.push(Notice::warning(Phrase::new("cli.still_untrusted").with("file", file)));
    }
    ground.reload();
    let mut paper = ground.paper();
    let target = list::short(ground, &place.file.display().to_string());
    let head = ground.strings.fill("import.head", &[("file", &shown), ("target", &target)]);
    paper.line(0, &[plain(head)]);
    for taken in &good {
        let kept = changed.kept.contains(&taken.name);
        let mark = if kept { (Ink::Dim, "·") } else { (Ink::Good, "✓") };
        paper.line(2, &[(mark.0, mark.1.to_owned()), plain(" "), (Ink::Strong, taken.name.clone())]);
        if kept {
            let text = ground.strings.fill("import.kept", &[("file", &target)]);
            paper.line(4, &[(Ink::Dim, text)]);
        } else {
            remarks(&mut paper, ground, taken);
        }
    }
    for taken in &bad {
        paper.line(2, &[(Ink::Bad, "✗".into()), plain(" "), (Ink::Strong, taken.name.clone())]);
        remarks(&mut paper, ground, taken);
    }
    notices.extend(entries.iter().filter_map(|(name, entry)| write::exposed(name, entry, scope)));
    let written = changed.done.iter();
    notices.extend(written.flat_map(|name| write::after_put(ground, name, &place.file)));
    let done = Ground::print(&paper, u8::from(!bad.is_empty()));
    mention(ground, &notices);
    Ok(done)
}

fn program(named: Named) -> Program {
    match named {
        Named::ClaudeDesktop => Program::ClaudeDesktop,
        Named::ClaudeCode => Program::ClaudeCode,
        Named::Cursor => Program::Cursor,
        Named::Vscode => Program::Vscode,
        Named::Gemini => Program::Gemini,
        Named::Mcphost => Program::Mcphost,
        Named::Opencode => Program::Opencode,
    }
}

/// The file and its text: the one that is named, else the first that there is.
fn source(ground: &Ground, program: Program, wanted: &Wanted<'_>) -> Result<(PathBuf, String), Phrase> {
    let files = match (wanted.file, wanted.whose) {
        (Some(file), _) => vec![file.to_path_buf()],
        (None, Whose::User) => program.user_files(&ground.dirs),
        (None, Whose::Project) => program.project_files(&ground.project),
    };
    for file in &files {
        if let Some(text) = report::read(file)? {
            return Ok((file.clone(), text));
        }
    }
    let shown: Vec<String> = files.iter().map(|file| list::short(ground, &file.display().to_string())).collect();
    Err(Phrase::new("import.no_file").with("files", shown.join(", ")))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

/// Those that can be written, and those that cannot, with why.
fn sift(servers: Vec<Taken>, scope: Scope) -> (Vec<Taken>, Vec<Taken>) {
    let judge = |mut taken: Taken| {
        if report::cleaned(&taken.name) != taken.name || taken.name.is_empty() {
            taken.remarks.push(Phrase::new("cli.bad_name").with("name", &taken.name));
            taken.entry = None;
        }
        let fault = taken.entry.as_ref().and_then(|entry| servers::judge(&taken.name, entry, "JSON", scope).0);
        if let Some(fault) = fault {
            taken.remarks.push(fault);
            taken.entry = None;
        }
        taken
    };
    servers.into_iter().map(judge).partition(|taken| taken.entry.is_some())
}

fn remarks(paper: &mut Paper, ground: &Ground, taken: &Taken) {
    for remark in &taken.remarks {
        paper.item(4, (Ink::Warn, "!".into()), &ground.say(remark));
    }
}
