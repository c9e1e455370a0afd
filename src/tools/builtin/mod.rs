//! Built-in tools, one file each.
//!
//! Owns: the table of them, and what their files share: making a definition, reading arguments, moving file work off the async threads.
//! A new tool is one file here, its description in `assets/tools/`, and one line in [`all`].

mod access_mcp_resource;
mod ask_followup_question;
mod execute_command;
mod list_files;
mod read_file;
mod replace_in_file;
mod search_files;
mod write_to_file;

use super::scene::{Place, Refusal, Scene, Use};
use super::seen::Seen;
use crate::domain::policy::{Facts, Preview};
use crate::domain::tool::{Annotations, Risk};
use crate::domain::{ToolId, ToolOutcome, ToolSignal, ToolSpec};
use crate::tools::{Inspection, Invocation, Tool};
use serde_json::Value;
use std::sync::Arc;

/// All built-in tools of a scene, and those that it was given.
pub fn all(scene: &Arc<Scene>) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ask_followup_question::AskFollowupQuestion::new()),
        Arc::new(execute_command::ExecuteCommand::new(scene)),
        Arc::new(list_files::ListFiles::new(scene)),
        Arc::new(read_file::ReadFile::new(scene)),
        Arc::new(replace_in_file::ReplaceInFile::new(scene)),
        Arc::new(search_files::SearchFiles::new(scene)),
        Arc::new(write_to_file::WriteToFile::new(scene)),
    ];
    if let Some(resources) = &scene.setting().resources {
        tools.push(Arc::new(access_mcp_resource::AccessMcpResource::new(resources)));
    }
    for brought in &scene.setting().tools {
        if tools.iter().all(|tool| tool.spec().id != brought.spec().id) {
            tools.push(Arc::clone(brought));
        }
    }
    tools
}

/// A definition. `schema` is sent as it stands: its order must not depend on anything.
fn define(name: &str, description: &str, risk: Risk, schema: Value) -> Arc<ToolSpec> {
    let annotations = match risk {
        Risk::Read | Risk::Question => Annotations {
            read_only: Some(true),
            destructive: Some(false),
            idempotent: Some(true),
            open_world: Some(false),
        },
        Risk::Write => Annotations {
            read_only: Some(false),
            destructive: Some(true),
            idempotent: Some(true),
            open_world: Some(false),
        },
        Risk::Command | Risk::External => Annotations { read_only: Some(false), ..Annotations::default() },
    };
    let description = description.trim().to_owned();
    let hash = crate::schema::definition_hash(name, &description, &schema, None, &annotations);
    Arc::new(ToolSpec {
        id: ToolId::builtin(name),
        title: None,
        description,
        input_schema: Arc::new(schema),
        output_schema: None,
        annotations,
        risk,
        hash,
    })
}

/// A text argument that must be there.
fn text<'a>(arguments: &'a Value, name: &str) -> Result<&'a str, String> {
    optional_text(arguments, name).ok_or_else(|| format!("The argument {name} is missing or is no text."))
}

/// A text argument that may be left out; `null` counts as left out.
fn optional_text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// A number that may be left out. Text that is a number will do: the text dialects write nothing else.
fn optional_number(arguments: &Value, name: &str) -> Option<u64> {
    let value = arguments.get(name)?;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
        .or_else(|| value.as_str()?.trim().parse().ok())
}

/// What may stand behind a yes or no that may be left out.
fn is_set(arguments: &Value, name: &str) -> bool {
    match arguments.get(name) {
        Some(Value::Bool(set)) => *set,
        Some(Value::String(text)) => text.trim().eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// A call that cannot be done as asked; `place` where it is known at all.
fn impossible(why: String, place: Option<Place>) -> Inspection {
    let facts = place.as_ref().map_or_else(Facts::default, Place::facts);
    Inspection { facts, preview: Preview::Impossible { why }, warnings: place.map(|p| p.warnings).unwrap_or_default() }
}

/// The inspection of a call that only reads at a path.
fn inspect_reading(scene: &Scene, tool: &str, arguments: &Value, asked: &str) -> Inspection {
    match scene.look(asked, Use::Read) {
        Ok(place) => {
            scene.keep(tool, arguments, Seen { path: place.path.clone(), print: None });
            Inspection { facts: place.facts(), preview: Preview::Arguments, warnings: place.warnings }
        }
        Err(why) => impossible(why, None),
    }
}

/// A call that may not go ahead: nothing was done. Where another inspection may help, the machine is told.
fn refused(invocation: &Invocation, refusal: Refusal) -> ToolOutcome {
    match refusal {
        Refusal::Stale(why) => {
            (invocation.signals)(ToolSignal::Stale);
            ToolOutcome::failed(why)
        }
        Refusal::Impossible(why) => ToolOutcome::failed(why),
    }
}

/// Does file work where it holds up nobody.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| format!("The tool broke: {error}"))
}

/// Runs file work as a call.
async fn run_off_thread(work: impl FnOnce() -> ToolOutcome + Send + 'static) -> ToolOutcome {
    off_thread(work).await.unwrap_or_else(|why| ToolOutcome::Failed { message: why, may_have_run: true })
}

#[cfg(test)]
mod tests;
