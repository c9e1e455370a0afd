//! `mcpane sessions`, and `--resume` without an id: the journals, listed, printed, removed.

use super::prepare::project;
use super::{USAGE, fail, kept};
use crate::agent::journal::{self, Outline};
use crate::cli::Options;
use crate::cli::sessions::{Export, Sessions, What};
use crate::config::env::Env;
use crate::config::paths::Dirs;
use crate::domain::Phrase;
use crate::headless::tale::{Depth, Heading, markdown};
use crate::sanitize;
use crate::strings::Strings;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Characters of a title.
const TITLE: usize = 72;

/// Where journals stand.
struct Shelves {
    all: PathBuf,
    mine: PathBuf,
}

impl Shelves {
    fn find(cwd: Option<&Path>, env: &Env) -> Result<Self, Phrase> {
        let dirs = Dirs::of(env).ok_or_else(|| Phrase::new("app.no_home"))?;
        let project = project(cwd)?;
        Ok(Self { all: dirs.sessions(), mine: dirs.sessions().join(kept::project_key(&project)) })
    }
}

/// Whose sessions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    ThisFolder,
    Everyones,
}

/// In which form they are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Rows,
    Json,
}

/// Does what is wished; the exit status.
pub fn run(wish: &Sessions, env: &Env, strings: &Strings) -> ExitCode {
    let shelves = match Shelves::find(wish.cwd.as_deref(), env) {
        Ok(shelves) => shelves,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let text = match &wish.what {
        What::List { all, json } => {
            let whose = if *all { Whose::Everyones } else { Whose::ThisFolder };
            list(&shelves, whose, if *json { Form::Json } else { Form::Rows }, strings)
        }
        What::Show { id } => show(&shelves, id, strings),
        What::Export { id, output } => export(&shelves, id, *output, strings),
        What::Rm { id } => return remove(&shelves, id, strings),
    };
    match text {
        Ok(text) => print(&text),
        Err(problem) => fail(&strings.render(&problem), 1),
    }
}

/// Lists the sessions that there are to go on with, for somebody who named none.
pub fn choose(options: &Options, env: &Env, strings: &Strings) -> ExitCode {
    let listed = Shelves::find(options.cwd.as_deref(), env)
        .and_then(|shelves| list(&shelves, Whose::ThisFolder, Form::Rows, strings));
    match listed {
        Ok(list) => {
            let _ = io::stderr().write_all(&list);
            fail(strings.get("app.session_choose"), USAGE)
        }
        Err(problem) => fail(&strings.render(&problem), USAGE),
    }
}

/// Writes to standard output. Whoever stops reading is not told off.
fn print(text: &[u8]) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(141),
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn unreadable(error: io::Error) -> Phrase {
    Phrase::new("app.resume_failed").with("error", error)
}

fn list(shelves: &Shelves, whose: Whose, form: Form, strings: &Strings) -> Result<Vec<u8>, Phrase> {
    let found = match whose {
        Whose::ThisFolder => kept::of_project(&shelves.mine),
        Whose::Everyones => kept::of_all(&shelves.all),
    };
    let found = found.map_err(unreadable)?;
    let mut out = String::new();
    for one in &found {
        if form == Form::Json {
            out.push_str(&about(one).to_string());
        } else {
            let mut parts = vec![one.header.id.to_string(), when(one), turns(one, strings)];
            if whose == Whose::Everyones {
                parts.push(one.header.cwd.clone());
            }
            parts.push(title(one));
            out.push_str(&sanitize::line(&parts.join("  ")));
        }
        out.push('\n');
    }
    if found.is_empty() && form == Form::Rows {
        out.push_str(strings.get("app.session_none"));
        out.push('\n');
    }
    Ok(out.into_bytes())
}

fn about(one: &Outline) -> Value {
    let modified = Timestamp::try_from(one.modified).map(|at| at.to_string()).ok();
    json!({
        "id": one.header.id, "title": one.title, "turns": one.turns, "cwd": one.header.cwd, "created": one.header.created,
        "modified": modified, "open": one.held, "file": one.path,
    })
}

/// When it was written last, on the user's clock.
fn when(one: &Outline) -> String {
    let at = Timestamp::try_from(one.modified).unwrap_or_default();
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn turns(one: &Outline, strings: &Strings) -> String {
    let key = if one.held { "app.session_turns_open" } else { "app.session_turns" };
    strings.fill(key, &[("count", &format!("{:>3}", one.turns))])
}

fn title(one: &Outline) -> String {
    let line = one.title.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn show(shelves: &Shelves, id: &str, strings: &Strings) -> Result<Vec<u8>, Phrase> {
    let text = tale(shelves, id, Depth::Short, strings)?;
    Ok(safe(&text).into_bytes())
}

fn export(shelves: &Shelves, id: &str, form: Export, strings: &Strings) -> Result<Vec<u8>, Phrase> {
    match form {
        Export::Md => {
            let text = tale(shelves, id, Depth::Whole, strings)?;
            // In a file it stays as it is.
            Ok(if io::stdout().is_terminal() { safe(&text) } else { text }.into_bytes())
        }
        Export::Json => {
            let outline = kept::find(id, &shelves.all, &shelves.mine)?;
            let kept = journal::look(&outline.path).map_err(unreadable)?;
            let value = json!({
                "id": kept.header.id, "cwd": kept.header.cwd, "created": kept.header.created, "damaged": kept.damaged,
                "conversation": kept.conversation,
            });
            let mut text = serde_json::to_vec_pretty(&value).map_err(|error| Phrase::literal(error.to_string()))?;
            text.push(b'\n');
            Ok(text)
        }
    }
}

fn tale(shelves: &Shelves, id: &str, depth: Depth, strings: &Strings) -> Result<String, Phrase> {
    let outline = kept::find(id, &shelves.all, &shelves.mine)?;
    let kept = journal::look(&outline.path).map_err(unreadable)?;
    let heading = Heading { id: kept.header.id.as_str(), cwd: &kept.header.cwd, created: &kept.header.created };
    Ok(markdown(&heading, &kept.conversation, depth, strings))
}

/// Without anything that would steer a terminal.
fn safe(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(sanitize::line).collect();
    lines.join("\n") + "\n"
}

fn remove(shelves: &Shelves, ids: &[String], strings: &Strings) -> ExitCode {
    let mut status = ExitCode::SUCCESS;
    for id in ids {
        let removed = kept::find(id, &shelves.all, &shelves.mine).and_then(|outline| {
            journal::remove(&outline.path).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock => Phrase::new("app.session_held").with("id", &outline.header.id),
                _ => Phrase::new("app.session_not_removed").with("id", &outline.header.id).with("error", error),
            })
        });
        if let Err(problem) = removed {
            status = fail(&strings.render(&problem), 1);
        }
    }
    status
}
