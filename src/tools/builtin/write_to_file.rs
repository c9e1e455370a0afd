//! `write_to_file`: a whole file, made or replaced.
//!
//! Decided: the content is taken as it is given. A code fence around it is not taken off: it may belong there, and the diff shows it. Only what a model
//! cannot see is kept: CRLF line ends (where all of the old ones are) and the byte order mark.

use super::{define, impossible, off_thread, refused, run_off_thread, text};
use crate::domain::policy::Preview;
use crate::domain::tool::Risk;
use crate::domain::{Phrase, ToolOutcome, ToolSpec};
use crate::tools::cut::count;
use crate::tools::scene::Scene;
use crate::tools::target::{Failure, Target};
use crate::tools::{Inspection, Invocation, Tool, media};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

const NAME: &str = "write_to_file";

/// The tool.
pub struct WriteToFile {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl WriteToFile {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file." },
                "content": { "type": "string", "description": "Everything that shall stand in it." }
            },
            "required": ["path", "content"]
        });
        let description = include_str!("../../../assets/tools/write_to_file.md");
        Self { spec: define(NAME, description, Risk::Write, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for WriteToFile {
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

fn inspect(scene: &Scene, arguments: &Value) -> Inspection {
    let asked = text(arguments, "path").and_then(|path| Ok((path, text(arguments, "content")?)));
    let (path, content) = match asked {
        Ok(asked) => asked,
        Err(why) => return impossible(why, None),
    };
    let target = match Target::inspect(scene, NAME, arguments, path) {
        Ok(target) => target,
        Err((why, place)) => return impossible(why, place),
    };
    let old = target.text();
    let new = old.as_ref().map_or_else(|| content.to_owned(), |old| old.shape.plain(&old.shape.dress(content)));
    let preview = Preview::Diff(target.diff(old.as_ref(), &new));
    let mut warnings = target.place.warnings.clone();
    if old.is_none() && target.old.is_some() {
        warnings.push(Phrase::new("tool.not_text").with("path", path));
    }
    Inspection { facts: target.place.facts(), preview, warnings }
}

fn run(scene: &Scene, call: &Invocation) -> ToolOutcome {
    let asked = text(&call.arguments, "path").and_then(|path| Ok((path, text(&call.arguments, "content")?)));
    let (path, content) = match asked {
        Ok(asked) => asked,
        Err(why) => return ToolOutcome::failed(why),
    };
    let target = match Target::again(scene, NAME, &call.arguments, path) {
        Ok(target) => target,
        Err(why) => return refused(call, why),
    };
    if call.cancel.is_cancelled() {
        return ToolOutcome::Interrupted;
    }
    let old = target.text();
    let new = old.as_ref().map_or_else(|| content.to_owned(), |old| old.shape.dress(content));
    let size = format!("{}, {}", count(new.lines().count() as u64, "line"), media::size(new.len() as u64));
    if target.old.as_deref() == Some(new.as_bytes()) {
        return ToolOutcome::text(format!("{path} holds exactly this already ({size}); nothing was written."));
    }
    match target.write(new.as_bytes()) {
        Ok(()) => {
            let before = match (&target.old, &old) {
                (None, _) => "new file".to_owned(),
                (Some(_), Some(old)) => format!("before: {}", count(old.plain.lines().count() as u64, "line")),
                (Some(bytes), None) => format!("before: {} that were no text", media::size(bytes.len() as u64)),
            };
            let kept = old.map_or("", |old| old.shape.note());
            ToolOutcome::text(format!("Wrote {path}: {size} ({before}).{kept}"))
        }
        Err(Failure::Untouched(message)) => ToolOutcome::failed(message),
        Err(Failure::Touched(message)) => ToolOutcome::Failed { message, may_have_run: true },
    }
}
