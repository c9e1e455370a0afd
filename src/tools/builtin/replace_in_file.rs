//! `replace_in_file`: parts of a file. How a block finds its place is written in `tools::edit`.

use super::{define, impossible, off_thread, optional_text, refused, run_off_thread, text};
use crate::domain::policy::Preview;
use crate::domain::tool::Risk;
use crate::domain::{ToolOutcome, ToolSpec};
use crate::tools::cut::count;
use crate::tools::edit::{self, Block, Edited, Match};
use crate::tools::scene::Scene;
use crate::tools::target::{Failure, Target, Text};
use crate::tools::{Inspection, Invocation, Tool, walk};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

const NAME: &str = "replace_in_file";

/// The tool.
pub struct ReplaceInFile {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl ReplaceInFile {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file." },
                "diff": { "type": "string", "description": "SEARCH/REPLACE blocks." },
                "search": { "type": "string", "description": "Instead of diff: the text to look for." },
                "replace": { "type": "string", "description": "Instead of diff: the text to put there." }
            },
            "required": ["path"]
        });
        let description = include_str!("../../../assets/tools/replace_in_file.md");
        Self { spec: define(NAME, description, Risk::Write, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for ReplaceInFile {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        let (scene, arguments) = (Arc::clone(&self.scene), arguments.clone());
        async move { off_thread(move || inspect(&scene, &arguments)).await.unwrap_or_else(|why| impossible(why, None)) }
            .boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let scene = Arc::clone(&self.scene);
        run_off_thread(move || run(&scene, &call)).boxed()
    }
}

fn blocks(arguments: &Value) -> Result<Vec<Block>, String> {
    let (diff, search) = (optional_text(arguments, "diff"), optional_text(arguments, "search"));
    match (diff.filter(|diff| !diff.is_empty()), search) {
        (Some(_), Some(_)) => Err("Give either diff, or search and replace, not both.".to_owned()),
        (Some(diff), None) => edit::parse(diff),
        (None, Some(search)) => {
            let replace = optional_text(arguments, "replace").ok_or("The argument replace is missing.")?;
            Ok(vec![Block { search: search.replace("\r\n", "\n"), replace: replace.replace("\r\n", "\n") }])
        }
        (None, None) => Err(format!("The argument diff is missing. {}", edit::FORMAT)),
    }
}

/// The file's text and what becomes of it.
fn edited(scene: &Scene, target: &Target, arguments: &Value) -> Result<(Text, Edited), String> {
    let blocks = blocks(arguments)?;
    let asked = &target.place.asked;
    let Some(text) = target.text() else {
        if target.old.is_some() {
            return Err(format!("{asked} is not a text in UTF-8, so it cannot be changed in parts."));
        }
        let near: Vec<String> =
            walk::near(scene.cwd(), &target.place.path).iter().map(|path| scene.shown(path)).collect();
        let hint = if near.is_empty() { String::new() } else { format!(" Near names: {}.", near.join(", ")) };
        return Err(format!("There is no file {asked}. To make it, use write_to_file.{hint}"));
    };
    let edited = edit::apply(&text.plain, &blocks)?;
    if edited.text == text.plain {
        return Err(format!("The edit changes nothing: {asked} says this already."));
    }
    Ok((text, edited))
}

fn inspect(scene: &Scene, arguments: &Value) -> Inspection {
    let target = match text(arguments, "path").map(|path| Target::inspect(scene, NAME, arguments, path)) {
        Ok(Ok(target)) => target,
        Ok(Err((why, place))) => return impossible(why, place),
        Err(why) => return impossible(why, None),
    };
    match edited(scene, &target, arguments) {
        Ok((text, edited)) => {
            let preview = Preview::Diff(target.diff(Some(&text), &edited.text));
            Inspection { facts: target.place.facts(), preview, warnings: target.place.warnings }
        }
        Err(why) => impossible(why, Some(target.place)),
    }
}

fn run(scene: &Scene, call: &Invocation) -> ToolOutcome {
    let path = match text(&call.arguments, "path") {
        Ok(path) => path,
        Err(why) => return ToolOutcome::failed(why),
    };
    let target = match Target::again(scene, NAME, &call.arguments, path) {
        Ok(target) => target,
        Err(why) => return refused(call, why),
    };
    let (text, edited) = match edited(scene, &target, &call.arguments) {
        Ok(done) => done,
        Err(why) => return ToolOutcome::failed(why),
    };
    if call.cancel.is_cancelled() {
        return ToolOutcome::Interrupted;
    }
    match target.write(text.shape.dress(&edited.text).as_bytes()) {
        Ok(()) => ToolOutcome::text(done(path, &edited, text.shape.note())),
        Err(Failure::Untouched(message)) => ToolOutcome::failed(message),
        Err(Failure::Touched(message)) => ToolOutcome::Failed { message, may_have_run: true },
    }
}

fn done(path: &str, edited: &Edited, kept: &str) -> String {
    let mut out = format!("Changed {} in {path}.{kept}", count(edited.matches.len() as u64, "place"));
    for (index, found) in edited.matches.iter().enumerate() {
        let how = match found {
            Match::Exact => continue,
            Match::LineEnds => "blanks at line ends",
            Match::Indentation => "its indentation (the replacement was moved alike)",
        };
        let _ = write!(out, " Block {} was found only but for {how}.", index + 1);
    }
    out
}
