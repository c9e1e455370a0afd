//! `mcpane call SERVER:TOOL`: one call without a model.
//!
//! Owns the course of the call: the server is started, the arguments are complete and valid before anything runs, what the server asks is put before the
//! user or answered *cancel*, and the outcome becomes output and exit status. Calling by hand is the user's own leave; a rule that denies still denies.

mod arguments;
mod asks;
mod output;

use super::fleet::{Fleet, block_on, status_of, stopped};
use super::ground::Ground;
use super::manage::{REFUSED, not_allowed, outcome, refuse};
use super::prepare::{self, Front};
use super::{USAGE, fail};
use crate::cli::servers::Call;
use crate::config::env::Env;
use crate::domain::policy::{Facts, Verdict};
use crate::domain::server::{ServerEntry, ServerSignal};
use crate::domain::{CallId, Origin, Phrase, ToolOutcome, ToolSignal, ToolSpec};
use crate::mcp::Run;
use crate::policy::Subject;
use crate::strings::Strings;
use output::Progress;
use serde_json::{Map, Value};
use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How long a cancelled call may take to be told so.
const AFTER_CANCEL: Duration = Duration::from_secs(3);

/// Why a call came to nothing: what to say and the exit status.
type Nothing = (Option<Phrase>, u8);

/// Runs the command.
pub fn run(call: &Call, env: Env, strings: &Strings) -> ExitCode {
    let ground = match Ground::load(&call.place, env) {
        Ok(ground) => ground,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let (entry, tool) = match target(&ground, &call.tool) {
        Ok(target) => target,
        Err(problem) => return refuse(&ground, &problem, USAGE),
    };
    if let Some(status) = not_allowed(&ground, &entry) {
        return status;
    }
    let given = match arguments::given(call.arguments.as_deref()) {
        Ok(given) => given,
        Err(problem) => return refuse(&ground, &problem, USAGE),
    };
    let done = block_on(async {
        let mut fleet = Fleet::start(&ground, vec![entry.clone()]);
        let done = perform(&ground, &mut fleet, (&entry, &tool), given).await;
        fleet.end().await;
        done
    });
    match done {
        Ok(Ok((spec, done))) => output::print(&ground, call.output, &spec, &done),
        Ok(Err((Some(problem), status))) => refuse(&ground, &problem, status),
        Ok(Err((None, status))) => ExitCode::from(status),
        Err(error) => refuse(&ground, &Phrase::literal(error.to_string()), 1),
    }
}

/// The server and the tool that are named. A server's name may hold a colon itself: the longest that fits counts.
fn target(ground: &Ground, text: &str) -> Result<(ServerEntry, String), Phrase> {
    let fits = |entry: &&ServerEntry| {
        text.strip_prefix(entry.name.as_str()).and_then(|rest| rest.strip_prefix(':')).is_some_and(|t| !t.is_empty())
    };
    let found = ground.entries().iter().filter(fits).max_by_key(|entry| entry.name.as_str().len());
    if let Some(entry) = found {
        return Ok((entry.clone(), text[entry.name.as_str().len() + 1..].to_owned()));
    }
    match text.split_once(':') {
        Some((server, tool)) if !tool.is_empty() => Err(ground.entry(server).err().unwrap_or_else(|| bad_target(text))),
        _ => Err(bad_target(text)),
    }
}

fn bad_target(text: &str) -> Phrase {
    Phrase::new("call.bad_target").with("text", text)
}

/// The whole course, with the servers running.
async fn perform(
    ground: &Ground,
    fleet: &mut Fleet,
    (entry, tool): (&ServerEntry, &str),
    given: Option<Map<String, Value>>,
) -> Result<(Arc<ToolSpec>, ToolOutcome), Nothing> {
    tokio::select! {
        () = fleet.settle() => {}
        number = stopped() => return Err((None, status_of(number))),
    }
    let spec = find(ground, fleet, entry, tool)?;
    let arguments = arguments::complete(ground, &spec, given).await?;
    allowed(ground, entry, &spec, &arguments)?;
    let outcome = call(ground, fleet, &spec, arguments).await?;
    Ok((spec, outcome))
}

/// The definition of the tool, or why there is none.
fn find(ground: &Ground, fleet: &Fleet, entry: &ServerEntry, tool: &str) -> Result<Arc<ToolSpec>, Nothing> {
    let Some(seen) = fleet.seen.get(&entry.name).filter(|seen| seen.is_ready()) else {
        let mut paper = ground.aside();
        if let Some(seen) = fleet.seen.get(&entry.name) {
            outcome(&mut paper, 0, ground, seen);
        }
        let _ = paper.write(&mut io::stderr().lock());
        return Err((Some(Phrase::new("call.no_server").with("server", &entry.name)), 1));
    };
    if let Some(spec) = seen.tools.iter().find(|spec| &*spec.id.name == tool) {
        return Ok(Arc::clone(spec));
    }
    if let Some((_, problem)) = seen.rejected.iter().find(|(name, _)| name == tool) {
        let text = Phrase::new("doctor.rejected").with("tool", tool).with("problem", problem);
        return Err((Some(text), USAGE));
    }
    let names: Vec<&str> = seen.tools.iter().map(|spec| &*spec.id.name).collect();
    let unknown = |key| Phrase::new(key).with("server", &entry.name).with("tool", tool);
    let text = match crate::config::report::guess(tool, &names, &[]) {
        Some(near) => unknown("call.no_tool_near").with("near", near),
        None => unknown("call.no_tool").with("known", names.join(", ")),
    };
    Err((Some(text), USAGE))
}

/// A rule of the user's that denies the call holds for their own hand too.
fn allowed(
    ground: &Ground,
    entry: &ServerEntry,
    spec: &ToolSpec,
    arguments: &Map<String, Value>,
) -> Result<(), Nothing> {
    let policy = prepare::policy(&ground.loaded.config, &ground.dirs, Front::Screen, &mut Vec::new())
        .map_err(|problem| (Some(problem), USAGE))?;
    let judgement = policy.decide(&Subject {
        spec,
        arguments: &Value::Object(arguments.clone()),
        origin: Origin::Hand,
        facts: &Facts::default(),
        trusted_read_only: entry.trust_read_only,
    });
    match judgement.verdict {
        Verdict::Deny { why } => Err((Some(why), REFUSED)),
        Verdict::Allow { .. } | Verdict::Ask { .. } => Ok(()),
    }
}

/// Makes the call, shows how far it has come, and puts what the server asks before the user.
async fn call(
    ground: &Ground,
    fleet: &mut Fleet,
    spec: &ToolSpec,
    arguments: Map<String, Value>,
) -> Result<ToolOutcome, Nothing> {
    let (tell, mut news) = mpsc::unbounded_channel();
    let cancel = CancellationToken::new();
    let signals = Arc::new(move |signal| drop(tell.send(signal)));
    let run = Run { call: CallId(1), signals, cancel: cancel.clone() };
    let mcp = fleet.mcp.clone();
    let mut calling = pin!(mcp.call(spec.id.clone(), arguments, run));
    let mut progress = Progress::new(ground);
    let mut stop = pin!(stopped());
    loop {
        tokio::select! {
            biased;
            Some(signal) = news.recv() => if let ToolSignal::Progress(step) = signal {
                progress.show(&step);
            },
            done = &mut calling => {
                progress.end();
                return Ok(done);
            }
            number = &mut stop => {
                progress.end();
                cancel.cancel();
                // The server is told; whether it still answers is not waited for long.
                let _ = tokio::time::timeout(AFTER_CANCEL, &mut calling).await;
                return Err((Some(Phrase::new("call.interrupted").with("tool", &spec.id)), status_of(number)));
            }
            signal = fleet.next() => {
                let Some(ServerSignal::Asks { ask, server, what, expires_ms, .. }) = signal else { continue };
                progress.end();
                let question = asks::Question { ask, server, what, expires_ms };
                match asks::put(ground, fleet, question, &mut calling).await {
                    asks::Then::GoOn => {}
                    asks::Then::Done(done) => return Ok(done),
                    asks::Then::Stop(number) => {
                        cancel.cancel();
                        let _ = tokio::time::timeout(AFTER_CANCEL, &mut calling).await;
                        return Err((Some(Phrase::new("call.interrupted").with("tool", &spec.id)), status_of(number)));
                    }
                }
            }
        }
    }
}
