//! `mcp list` and `mcp get`: what is configured, and from where. Starts nothing.

use super::{Shape, mention};
use crate::app::ground::Ground;
use crate::cli::paper::{Ink, Paper, Piece, plain};
use crate::domain::server::{ServerEntry, Transport};
use crate::domain::{Notice, Phrase};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// All servers.
pub(super) fn list(ground: &Ground, shape: Shape) -> ExitCode {
    let mut paper = ground.paper();
    if shape == Shape::Json {
        let servers: Vec<Value> = ground.entries().iter().map(|entry| entry_json(ground, entry)).collect();
        paper.json(&json!({ "servers": servers }));
        return Ground::print(&paper, 0);
    }
    mention(ground, &ground.loaded.servers.notices);
    let said = |problem: &Phrase| ground.loaded.servers.notices.iter().any(|notice| notice.text == *problem);
    let unusable = ground.entries().iter().filter(|entry| !entry.disabled).filter_map(|e| e.transport.as_ref().err());
    mention(ground, &unusable.filter(|problem| !said(problem)).cloned().map(Notice::warning).collect::<Vec<_>>());
    if ground.entries().is_empty() {
        paper.line(0, &[(Ink::Dim, ground.say(&Phrase::new("cli.no_servers")))]);
        return Ground::print(&paper, 0);
    }
    let heads = ["cli.list.name", "cli.list.state", "cli.list.way", "cli.list.from"];
    let mut rows: Vec<Vec<Piece>> =
        vec![heads.iter().map(|key| (Ink::Dim, ground.strings.get(key).to_owned())).collect()];
    for entry in ground.entries() {
        let (ink, state) = state(ground, entry);
        let name = (Ink::Strong, entry.name.to_string());
        rows.push(vec![name, (ink, state), plain(address(entry)), (Ink::Dim, origin(ground, entry))]);
    }
    paper.table(0, &rows);
    Ground::print(&paper, 0)
}

/// One server's entry.
pub(super) fn get(ground: &Ground, name: &str, shape: Shape) -> Result<ExitCode, Phrase> {
    let entry = ground.entry(name)?;
    let mut paper = ground.paper();
    if shape == Shape::Json {
        paper.json(&entry_json(ground, entry));
    } else {
        paper.line(0, &[(Ink::Strong, entry.name.to_string())]);
        paper.table(2, &fields(ground, entry));
    }
    Ok(Ground::print(&paper, 0))
}

/// What is known of an entry, one row a fact.
fn fields(ground: &Ground, entry: &ServerEntry) -> Vec<Vec<Piece>> {
    let text = |key: &'static str| (Ink::Dim, ground.strings.get(key).to_owned());
    let mut rows = vec![
        vec![text("cli.get.file"), plain(origin(ground, entry))],
        vec![text("cli.get.state"), state(ground, entry)],
    ];
    rows.extend(entry.source.shadows.iter().map(|file| vec![text("cli.get.shadows"), plain(short(ground, file))]));
    let mut row = |key, value: String| rows.push(vec![text(key), plain(value)]);
    match &entry.transport {
        Ok(Transport::Stdio { command, args, env, cwd }) => {
            row("cli.get.command", command.clone());
            for arg in args {
                row("cli.get.argument", shown_argument(arg));
            }
            for (name, value) in env {
                row("cli.get.variable", assignment(name, "=", value));
            }
            if let Some(cwd) = cwd {
                row("cli.get.cwd", short(ground, cwd));
            }
        }
        Ok(Transport::Http { url, headers } | Transport::Sse { url, headers }) => {
            row("cli.get.url", url.clone());
            for (name, value) in headers {
                row("cli.get.header", assignment(name, ": ", value));
            }
        }
        Err(problem) => row("cli.get.problem", ground.say(problem)),
    }
    let limits = entry.timeouts;
    let limits = [
        ("start", limits.start),
        ("init", limits.init),
        ("list", limits.list),
        ("call", limits.call),
        ("call_max", limits.call_max),
        ("elicit", limits.elicit),
    ];
    row("cli.get.timeouts", limits.map(|(name, seconds)| format!("{name} {seconds}")).join(", "));
    if let Some(protocol) = &entry.protocol {
        row("cli.get.protocol", protocol.clone());
    }
    for (key, patterns) in [("cli.get.allow", &entry.allow_tools), ("cli.get.deny", &entry.deny_tools)] {
        if !patterns.is_empty() {
            row(key, patterns.join(", "));
        }
    }
    rows
}

/// A value whose name is a secret's is masked here; what the redactor knows is masked where it is printed.
fn assignment(name: &str, between: &str, value: &str) -> String {
    let secret = crate::redact::is_secret_name(name);
    format!("{name}{between}{}", if secret { crate::redact::MASK } else { value })
}

fn shown_argument(arg: &str) -> String {
    if arg.is_empty() { "\"\"".to_owned() } else { arg.to_owned() }
}

/// The state of an entry that nobody has started.
pub(in crate::app) fn state(ground: &Ground, entry: &ServerEntry) -> Piece {
    let (ink, key) = match &entry.transport {
        _ if entry.disabled => (Ink::Dim, "cli.state.disabled"),
        _ if entry.untrusted => (Ink::Warn, "cli.state.untrusted"),
        Err(_) => (Ink::Bad, "cli.state.unusable"),
        Ok(_) => (Ink::Good, "cli.state.usable"),
    };
    (ink, ground.strings.get(key).to_owned())
}

/// How it is reached, in one line.
pub(in crate::app) fn address(entry: &ServerEntry) -> String {
    match &entry.transport {
        Ok(Transport::Stdio { command, args, .. }) => {
            let mut words = vec![command.clone()];
            words.extend(args.iter().map(|arg| shown_argument(arg)));
            words.join(" ")
        }
        Ok(Transport::Http { url, .. } | Transport::Sse { url, .. }) => url.clone(),
        Err(_) => "—".to_owned(),
    }
}

/// The file and line of an entry.
pub(in crate::app) fn origin(ground: &Ground, entry: &ServerEntry) -> String {
    format!("{}:{}", short(ground, &entry.source.file), entry.source.line)
}

/// A path as a user would write it: below the project with `./`, below the home directory with `~/`.
pub(in crate::app) fn short(ground: &Ground, path: &str) -> String {
    let below = |directory: &Path| Path::new(path).strip_prefix(directory).ok().map(Path::display);
    if let Some(rest) = below(&ground.project).filter(|_| ground.project != ground.dirs.home) {
        return format!("./{rest}");
    }
    below(&ground.dirs.home).map_or_else(|| path.to_owned(), |rest| format!("~/{rest}"))
}

fn entry_json(ground: &Ground, entry: &ServerEntry) -> Value {
    let mut out = json!({
        "name": entry.name,
        "file": entry.source.file,
        "line": entry.source.line,
        "shadows": entry.source.shadows,
        "disabled": entry.disabled,
        "untrusted": entry.untrusted,
        "lazy": entry.lazy,
        "protocol": entry.protocol,
        "timeout": entry.timeouts,
        "tools": { "allow": entry.allow_tools, "deny": entry.deny_tools },
        "read_only": entry.trust_read_only,
    });
    match &entry.transport {
        Ok(Transport::Stdio { command, args, env, cwd }) => {
            out["type"] = json!("stdio");
            out["command"] = json!(command);
            out["args"] = json!(args);
            out["env"] = object(env);
            out["cwd"] = json!(cwd);
        }
        Ok(transport @ (Transport::Http { url, headers } | Transport::Sse { url, headers })) => {
            out["type"] = json!(if matches!(transport, Transport::Sse { .. }) { "sse" } else { "http" });
            out["url"] = json!(url);
            out["headers"] = object(headers);
        }
        Err(problem) => out["problem"] = json!(ground.say(problem)),
    }
    out
}

fn object(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

/// A server in one line, for the answers of other commands.
pub(super) fn summary(paper: &mut Paper, ground: &Ground, entry: &ServerEntry) {
    paper.line(2, &[(Ink::Strong, entry.name.to_string()), plain("  "), plain(address(entry))]);
    paper.line(2, &[(Ink::Dim, origin(ground, entry))]);
}
