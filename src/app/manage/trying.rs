//! `mcp test` and `mcp tools`: servers started to see what they are.

use super::{Shape, list, mention, refuse};
use crate::app::fleet::{Fleet, Seen, block_on, status_of, stopped};
use crate::app::ground::Ground;
use crate::cli::paper::{Ink, Paper, Piece, plain};
use crate::domain::server::ServerEntry;
use crate::domain::{Notice, Phrase, ToolSpec};
use serde_json::{Value, json};
use std::process::ExitCode;

/// A call or a start that would need trust was refused.
pub(in crate::app) const REFUSED: u8 = 3;

/// Starts one server and says how it went. 0 if it works.
pub(super) fn test(ground: &Ground, name: &str) -> Result<ExitCode, Phrase> {
    let entry = ground.entry(name)?.clone();
    if let Some(status) = not_allowed(ground, &entry) {
        return Ok(status);
    }
    let seen = match started(ground, vec![entry.clone()]) {
        Ok(fleet) => fleet.into_iter().next().unwrap_or_default(),
        Err(status) => return Ok(status),
    };
    let mut paper = ground.paper();
    list::summary(&mut paper, ground, &entry);
    paper.gap();
    outcome(&mut paper, 2, ground, &seen);
    let good = seen.is_ready() && seen.rejected.is_empty();
    Ok(Ground::print(&paper, u8::from(!good)))
}

/// What a started server said, for people.
pub(in crate::app) fn outcome(paper: &mut Paper, indent: usize, ground: &Ground, seen: &Seen) {
    let Some(status) = &seen.status else { return };
    let text = |key: &str, args: &[(&str, &str)]| ground.strings.fill(key, args);
    if let Some(reason) = &status.reason {
        paper.item(indent, (Ink::Bad, "✗".into()), &ground.say(reason));
        if let Some(fix) = &status.fix {
            paper.line(indent + 2, &[(Ink::Strong, ground.say(fix))]);
        }
    }
    if let Some(millis) = status.start_millis {
        let millis = millis.to_string();
        let identity = status.identity.clone().unwrap_or_default();
        let protocol = status.protocol.clone().unwrap_or_default();
        let line = text("cli.test.ready", &[("millis", &millis), ("identity", &identity), ("protocol", &protocol)]);
        paper.item(indent, (Ink::Good, "✓".into()), &line);
    }
    if seen.is_ready() {
        let line = text("cli.test.tools", &[("count", &seen.tools.len().to_string())]);
        paper.item(indent, (Ink::Good, "✓".into()), &line);
    }
    for (tool, problem) in &seen.rejected {
        let line = text("cli.test.rejected", &[("tool", tool), ("problem", problem)]);
        paper.item(indent, (Ink::Warn, "!".into()), &line);
    }
    if status.noise > 0 {
        let line = text("cli.test.noise", &[("count", &status.noise.to_string())]);
        paper.item(indent, (Ink::Dim, "·".into()), &line);
    }
    // A reason quotes what was written last; else it is shown here.
    let quoted = status.reason.as_ref().is_some_and(|reason| reason.args.iter().any(|(name, _)| name == "said"));
    if !quoted && !seen.stderr.is_empty() {
        paper.line(indent, &[(Ink::Dim, ground.strings.get("cli.test.stderr").to_owned())]);
        for line in seen.stderr.iter().rev().take(5).rev() {
            paper.line(indent + 2, &[(Ink::Dim, line.clone())]);
        }
    }
}

/// The tools of a server, or of all that may start.
pub(super) fn tools(ground: &Ground, name: Option<&str>, shape: Shape) -> Result<ExitCode, Phrase> {
    let entries: Vec<ServerEntry> = match name {
        Some(name) => {
            let entry = ground.entry(name)?.clone();
            if let Some(status) = not_allowed(ground, &entry) {
                return Ok(status);
            }
            vec![entry]
        }
        None => ground.entries().iter().filter(|entry| !entry.disabled && !entry.untrusted).cloned().collect(),
    };
    let all = match started(ground, entries) {
        Ok(all) => all,
        Err(status) => return Ok(status),
    };
    let mut paper = ground.paper();
    let specs = || all.iter().flat_map(|seen| seen.tools.iter());
    if shape == Shape::Json {
        let tools: Vec<Value> = specs().map(|spec| tool_json(spec)).collect();
        paper.json(&json!({ "tools": tools }));
    } else {
        let rows: Vec<Vec<Piece>> = specs().map(|spec| tool_row(spec)).collect();
        paper.table(0, &rows);
    }
    let problems: Vec<Notice> = all.iter().flat_map(|seen| problems(ground, seen)).collect();
    mention(ground, &problems);
    let waiting = ground.entries().iter().filter(|entry| name.is_none() && entry.untrusted).count();
    if waiting > 0 {
        mention(ground, &[Notice::info(Phrase::new("cli.some_untrusted").with("count", waiting))]);
    }
    let failed = all.iter().any(|seen| !seen.is_ready());
    Ok(Ground::print(&paper, u8::from(failed)))
}

/// What was wrong with a server, in a line each.
fn problems(ground: &Ground, seen: &Seen) -> Vec<Notice> {
    let Some(status) = &seen.status else { return Vec::new() };
    let mut out = Vec::new();
    if let Some(reason) = &status.reason {
        let text = Phrase::new("cli.server_says").with("server", &status.name).with("what", ground.say(reason));
        out.push(Notice::error(text));
    }
    for (tool, problem) in &seen.rejected {
        let what = ground.strings.fill("cli.test.rejected", &[("tool", tool), ("problem", problem)]);
        let text = Phrase::new("cli.server_says").with("server", &status.name).with("what", what);
        out.push(Notice::warning(text));
    }
    out
}

fn tool_row(spec: &ToolSpec) -> Vec<Piece> {
    let about = spec.description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let about: String = match about.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", &about[..at]),
        None => about.to_owned(),
    };
    vec![(Ink::Strong, spec.id.to_string()), plain(about)]
}

fn tool_json(spec: &ToolSpec) -> Value {
    json!({
        "server": spec.id.server,
        "name": spec.id.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "outputSchema": spec.output_schema,
        "annotations": spec.annotations,
        "hash": spec.hash,
    })
}

/// Why a server is not started, said; `None` if it may be.
pub(in crate::app) fn not_allowed(ground: &Ground, entry: &ServerEntry) -> Option<ExitCode> {
    let file = list::short(ground, &entry.source.file);
    if entry.untrusted {
        let text = Phrase::new("cli.untrusted").with("server", &entry.name).with("file", file);
        return Some(refuse(ground, &text, REFUSED));
    }
    if entry.disabled {
        let text = Phrase::new("cli.disabled").with("server", &entry.name).with("file", list::origin(ground, entry));
        return Some(refuse(ground, &text, REFUSED));
    }
    None
}

/// Starts servers, waits for what becomes of each, and ends them; an exit status where the user had enough.
fn started(ground: &Ground, entries: Vec<ServerEntry>) -> Result<Vec<Seen>, ExitCode> {
    let ran = block_on(async {
        let mut fleet = Fleet::start(ground, entries);
        let stopped = tokio::select! {
            () = fleet.settle() => None,
            number = stopped() => Some(number),
        };
        let seen: Vec<Seen> = fleet.seen.values().cloned().collect();
        fleet.end().await;
        match stopped {
            None => Ok(seen),
            Some(number) => Err(ExitCode::from(status_of(number))),
        }
    });
    ran.unwrap_or_else(|error| Err(refuse(ground, &Phrase::literal(error.to_string()), 1)))
}
