//! `mcpane mcp …`: what is configured, changing it, trusting it, trying it.
//!
//! Owns no state: each command reads the configuration, does one thing, prints, and gives the exit status.

mod import;
mod list;
mod trust;
mod trying;
mod write;

pub(super) use list::short;
pub(super) use trying::{REFUSED, not_allowed, outcome};

use super::ground::Ground;
use super::{USAGE, fail};
use crate::cli::paper::{Ink, Paper, Piece, plain};
use crate::cli::servers::{Mcp, Servers};
use crate::config::env::Env;
use crate::domain::{Level, Notice, Phrase};
use crate::strings::Strings;
use std::io;
use std::process::ExitCode;

/// Runs the command.
pub fn run(servers: Servers, env: Env, strings: &Strings) -> ExitCode {
    let mut ground = match Ground::load(&servers.place, env) {
        Ok(ground) => ground,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let done = match servers.action {
        Mcp::List { json } => Ok(list::list(&ground, form(json))),
        Mcp::Get { server, json } => list::get(&ground, &server, form(json)),
        Mcp::Test { server } => trying::test(&ground, &server),
        Mcp::Tools { server, json } => trying::tools(&ground, server.as_deref(), form(json)),
        Mcp::Add(add) => write::add(&mut ground, &add),
        Mcp::AddJson { server, entry, scope, replace } => {
            write::add_json(&mut ground, &server, &entry, (scope, write::existing(replace)))
        }
        Mcp::Remove { server, scope } => write::remove(&mut ground, &server, scope),
        Mcp::Import { source, file, scope, replace } => {
            let existing = write::existing(replace);
            import::import(
                &mut ground,
                &import::Wanted { program: source, file: file.as_deref(), whose: scope, existing },
            )
        }
        Mcp::Trust => Ok(trust::trust(&mut ground)),
    };
    done.unwrap_or_else(|problem| refuse(&ground, &problem, USAGE))
}

/// How something is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// For people.
    Text,
    /// For programs.
    Json,
}

fn form(json: bool) -> Shape {
    if json { Shape::Json } else { Shape::Text }
}

/// Says why nothing was done.
pub(super) fn refuse(ground: &Ground, problem: &Phrase, status: u8) -> ExitCode {
    let mut paper = ground.aside();
    paper.item(0, plain("mcpane:"), &ground.say(problem));
    let _ = paper.write(&mut io::stderr().lock());
    ExitCode::from(status)
}

/// Says something beside the answer.
pub(super) fn mention(ground: &Ground, notices: &[Notice]) {
    let mut paper = ground.aside();
    notice_lines(&mut paper, 0, notices, ground);
    let _ = paper.write(&mut io::stderr().lock());
}

/// Notices, one below the other.
pub(super) fn notice_lines(paper: &mut Paper, indent: usize, notices: &[Notice], ground: &Ground) {
    for notice in notices {
        paper.item(indent, mark(notice.level), &ground.say(&notice.text));
    }
}

/// The mark before a notice.
pub(super) fn mark(level: Level) -> Piece {
    match level {
        Level::Info => (Ink::Dim, "·".to_owned()),
        Level::Warning => (Ink::Warn, "!".to_owned()),
        Level::Error => (Ink::Bad, "✗".to_owned()),
    }
}
