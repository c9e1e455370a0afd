//! `mcpane doctor`: brings the loaders, the servers, the model and the terminal together into one report.
//!
//! Owns no state. **Invariant:** a server of a file that is not trusted is never started.

use super::fleet::{Fleet, Seen, block_on, status_of, stopped};
use super::ground::Ground;
use super::manage::{refuse, short};
use super::models::Models;
use super::{USAGE, fail};
use crate::cli::paper::{Ink, plain};
use crate::cli::report::{self, Printer};
use crate::cli::servers::Doctor;
use crate::config::env::Env;
use crate::config::paths::project_settings;
use crate::doctor::files::{self, Kind, Sources, Whose};
use crate::doctor::model::{self, Key, Plan};
use crate::doctor::server::{self, Outcome, Scene};
use crate::doctor::{Report, terminal};
use crate::domain::server::{ServerEntry, ServerStatus};
use crate::domain::{Notice, Phrase, ServerName};
use crate::policy::Store;
use crate::provider::catalog::split;
use crate::strings::Strings;
use crate::tui::keymap::Keymap;
use crate::tui::theme::Depth;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

/// Runs the command: 0 if nothing is wrong, 1 if something is.
pub fn run(doctor: &Doctor, env: Env, strings: &Strings) -> ExitCode {
    let ground = match Ground::load(&doctor.place, env) {
        Ok(ground) => ground,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let report = match block_on(examine(&ground)) {
        Ok(Ok(report)) => report,
        Ok(Err(number)) => return ExitCode::from(status_of(number)),
        Err(error) => return refuse(&ground, &Phrase::literal(error.to_string()), 1),
    };
    let mut paper = ground.paper();
    if doctor.json {
        match serde_json::to_value(&report) {
            Ok(value) => paper.json(&value),
            Err(error) => return refuse(&ground, &Phrase::literal(error.to_string()), 1),
        }
    } else {
        let short = |path: &str| short(&ground, path);
        report::print(&report, &mut Printer { paper: &mut paper, strings: &ground.strings, short: &short });
    }
    Ground::print(&paper, u8::from(!report.ok))
}

/// Looks at everything; a signal's number where the user had enough.
async fn examine(ground: &Ground) -> Result<Report, i32> {
    let (models, problems) = ground.models();
    let notices = notices(ground, problems);
    let files = files::look(&Sources {
        others: others(ground),
        servers: &ground.loaded.servers.files,
        pending: &ground.loaded.pending,
        notices: &notices,
        strings: &ground.strings,
    });
    let started: Vec<ServerEntry> =
        ground.entries().iter().filter(|entry| !entry.disabled && !entry.untrusted).cloned().collect();
    announce(ground, started.len());
    let mut fleet = Fleet::start(ground, started);
    let looked =
        async { tokio::join!(fleet.settle(), model::look(plan(ground, &models), &ground.strings, &ground.redactor)).1 };
    let model = tokio::select! {
        model = looked => Ok(model),
        number = stopped() => Err(number),
    };
    let seen = std::mem::take(&mut fleet.seen);
    fleet.end().await;
    let servers = servers(ground, &seen);
    let terminal = terminal::look(&ground.env, colours(&ground.env), &ground.strings);
    Ok(Report::new(files, servers, model?, terminal))
}

/// Everything that the loaders say.
fn notices(ground: &Ground, of_providers: Vec<Notice>) -> Vec<Notice> {
    let mut out = ground.loaded.notices.clone();
    out.extend(of_providers);
    out.extend(ground.trust_notices.iter().cloned());
    out.extend(Store::load(&ground.dirs.grants()).1);
    let path = ground.dirs.keymap();
    if let Ok(text) = std::fs::read_to_string(&path) {
        let place = |problem| Phrase::new("app.bad_key").with("file", path.display()).with("problem", problem);
        out.extend(Keymap::built_in().merge(&text).into_iter().map(|problem| Notice::warning(place(problem))));
    }
    // What is wrong with an entry is told at its server.
    let told: Vec<&Phrase> = ground.entries().iter().filter_map(|entry| entry.transport.as_ref().err()).collect();
    out.retain(|notice| !told.contains(&&notice.text));
    out
}

/// Files beside those of servers.
fn others(ground: &Ground) -> Vec<(Kind, Whose, std::path::PathBuf)> {
    let mut out = vec![(Kind::Settings, Whose::User, ground.loaded.config.file.clone())];
    let project = project_settings(&ground.project);
    if project != ground.loaded.config.file {
        out.push((Kind::Settings, Whose::Project, project));
    }
    out.push((Kind::Keymap, Whose::User, ground.dirs.keymap()));
    out.push((Kind::Trust, Whose::User, ground.dirs.trust()));
    out.push((Kind::Grants, Whose::User, ground.dirs.grants()));
    out
}

/// Somebody at a terminal should know what is waited for.
fn announce(ground: &Ground, count: usize) {
    if count > 0 && io::stderr().is_terminal() {
        let mut paper = ground.aside();
        let text = ground.strings.fill("doctor.starting", &[("count", &count.to_string())]);
        paper.line(0, &[(Ink::Dim, text), plain("")]);
        let _ = paper.write(&mut io::stderr().lock());
    }
}

fn plan(ground: &Ground, models: &Models) -> Plan {
    let config = &ground.loaded.config;
    let Some(name) = config.model.clone() else { return Plan::default() };
    let full = if name.contains(':') || name == "demo" || config.base_url.is_none() {
        name.clone()
    } else {
        format!("openai:{name}")
    };
    let problem = models.open(&name).err();
    let entry = models.catalog().find(split(&full).0).ok();
    let variable = config.api_key_env.clone().or_else(|| entry.and_then(|entry| entry.key_env.clone()));
    let key = variable.map(|variable| Key {
        present: ground.env.filled(&variable).is_some(),
        // An address of the user's own may do without.
        needed: config.base_url.is_none() && entry.is_some_and(|entry| entry.needs_key),
        variable,
    });
    let url = config.base_url.clone().or_else(|| entry.map(|entry| entry.base_url.clone()));
    Plan { name: Some(name), problem, url: url.filter(|url| !url.is_empty()), key }
}

fn servers(ground: &Ground, seen: &BTreeMap<ServerName, Seen>) -> Vec<server::Server> {
    let scene = Scene { env: &ground.env, project: &ground.project, strings: &ground.strings };
    let look = |entry: &ServerEntry| {
        let seen = seen.get(&entry.name);
        let stderr: Vec<String> = seen.map(|seen| seen.stderr.iter().cloned().collect()).unwrap_or_default();
        let outcome = |status: &'_ ServerStatus, seen: &'_ Seen| {
            let outcome = Outcome { status, tools: &seen.tools, rejected: &seen.rejected, stderr: &stderr };
            server::look(entry, Some(outcome), scene)
        };
        match seen.and_then(|seen| Some((seen.status.as_ref()?, seen))) {
            Some((status, seen)) => outcome(status, seen),
            None => server::look(entry, None, scene),
        }
    };
    ground.entries().iter().map(look).collect()
}

/// How many colours the screen would use.
fn colours(env: &Env) -> &'static str {
    match super::chat::depth(env) {
        Depth::None => "none",
        Depth::Ansi => "16",
        Depth::Indexed => "256",
        Depth::True => "true",
    }
}
