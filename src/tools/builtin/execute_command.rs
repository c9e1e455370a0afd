//! `execute_command`: a shell command.
//!
//! Decided: `SHELL -c`, where the shell is the scene's (`/bin/sh` by default: what models write is sh). A command that ends with another
//! status than 0 is an error that ran, not a failure of the tool. Without `timeout_seconds` it may be silent for the scene's idle limit and run for
//! its total one; with it, it may run so long whether silent or not.

use super::{define, impossible, optional_number, optional_text, refused, text};
use crate::domain::policy::{Facts, Preview};
use crate::domain::tool::Risk;
use crate::domain::{Content, Phrase, ToolOutcome, ToolSpec};
use crate::tools::output::{self, Output};
use crate::tools::process::{self, End, Launch, Ran};
use crate::tools::scene::{Limits, Scene, Use};
use crate::tools::seen::Seen;
use crate::tools::{Inspection, Invocation, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "execute_command";

/// The tool.
pub struct ExecuteCommand {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl ExecuteCommand {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "description": "The command line." },
                "cwd": { "type": "string", "description": "Directory to run it in; the working directory if left out." },
                "timeout_seconds": { "type": "integer", "minimum": 1, "description": "Stop it after this time." }
            },
            "required": ["command"]
        });
        let description = include_str!("../../../assets/tools/execute_command.md");
        Self { spec: define(NAME, description, Risk::Command, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for ExecuteCommand {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        async { inspect(&self.scene, arguments) }.boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        run(Arc::clone(&self.scene), call).boxed()
    }
}

fn cwd_of(arguments: &Value) -> &str {
    optional_text(arguments, "cwd").filter(|cwd| !cwd.is_empty()).unwrap_or(".")
}

fn command_of(arguments: &Value) -> Result<&str, String> {
    match text(arguments, "command")? {
        command if command.trim().is_empty() => Err("The command is empty.".to_owned()),
        command if command.contains('\0') => Err("The command holds a NUL byte.".to_owned()),
        command => Ok(command),
    }
}

fn inspect(scene: &Scene, arguments: &Value) -> Inspection {
    let (command, place) = match (command_of(arguments), scene.look(cwd_of(arguments), Use::Change)) {
        (Ok(command), Ok(place)) => (command, place),
        (Err(why), place) => return impossible(why, place.ok()),
        (_, Err(why)) => return impossible(why, None),
    };
    scene.keep(NAME, arguments, Seen { path: place.path.clone(), print: None });
    let facts = Facts { command: Some(command.to_owned()), ..place.facts() };
    let cwd = place.path.display().to_string();
    let mut warnings = place.warnings;
    if process::has_invisible(command) {
        warnings.push(Phrase::new("tool.invisible"));
    }
    Inspection { facts, preview: Preview::Command { command: command.to_owned(), cwd }, warnings }
}

fn limits(arguments: &Value, of: Limits) -> Limits {
    match optional_number(arguments, "timeout_seconds") {
        Some(seconds) => {
            let total = Duration::from_secs(seconds.max(1)).min(of.total);
            Limits { idle: total, total }
        }
        None => of,
    }
}

async fn run(scene: Arc<Scene>, call: Invocation) -> ToolOutcome {
    let command = match command_of(&call.arguments) {
        Ok(command) => command,
        Err(why) => return ToolOutcome::failed(why),
    };
    let place = match scene.again(NAME, &call.arguments, cwd_of(&call.arguments), Use::Change) {
        Ok((place, _)) => place,
        Err(why) => return refused(&call, why),
    };
    if !place.path.is_dir() {
        return ToolOutcome::failed(format!("{} is not a directory; the command did not run.", place.asked));
    }
    if call.cancel.is_cancelled() {
        return ToolOutcome::Interrupted;
    }
    let setting = scene.setting();
    let limits = limits(&call.arguments, setting.limits);
    let launch = Launch { command, cwd: &place.path, shell: &setting.shell, environment: &setting.environment, limits };
    let mut output = Output::new(call.call, scene.budget(), scene.spill(), Arc::clone(&call.signals));
    match process::run(launch, scene.strays(), &mut output, &call.cancel).await {
        Ok(ran) => ended(&scene, ran, output, limits),
        Err(error) => ToolOutcome::failed(format!("The command could not be started: {error}")),
    }
}

fn ended(scene: &Arc<Scene>, ran: Ran, mut output: Output, limits: Limits) -> ToolOutcome {
    match ran.end {
        End::Exited(status) => {
            let footer = format!("{}{}", background(&ran, &mut output), status_line(status));
            let (collected, file) = output.finish(&footer);
            if let Some(group) = ran.group {
                scene.strays().adopt(group);
            }
            if let Some(pipe) = ran.pipe {
                tokio::spawn(output::drain(pipe, file));
            }
            ToolOutcome::Done {
                content: vec![Content::text(collected.content)],
                is_error: !status.success(),
                for_model: collected.for_model,
                spilled: collected.spilled.map(|path| path.display().to_string()),
                millis: 0,
            }
        }
        End::Cancelled => ToolOutcome::Interrupted,
        End::Idle => {
            stopped(output, &format!("It wrote nothing for {} seconds and was stopped.", limits.idle.as_secs()))
        }
        End::TooLong => stopped(output, &format!("It ran for {} seconds and was stopped.", limits.total.as_secs())),
    }
}

/// A command that was ended may have done something before.
fn stopped(output: Output, why: &str) -> ToolOutcome {
    let (collected, _) = output.finish(&format!("[{why} Give a larger timeout_seconds if it needs more time.]"));
    ToolOutcome::Failed { message: collected.for_model.unwrap_or(collected.content), may_have_run: true }
}

fn background(ran: &Ran, output: &mut Output) -> String {
    match (ran.group, &ran.pipe) {
        (None, None) => String::new(),
        (_, Some(_)) => {
            let to = output
                .file()
                .map_or_else(String::new, |path| format!(" What it writes from now on goes to {}.", path.display()));
            format!("[A part of it goes on in the background until this session ends.{to}]\n")
        }
        (Some(_), None) => "[A part of it goes on in the background until this session ends.]\n".to_owned(),
    }
}

fn status_line(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("[exit code {code}]"),
        (None, Some(signal)) => format!("[ended by signal {signal}]"),
        (None, None) => "[ended]".to_owned(),
    }
}
