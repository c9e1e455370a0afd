//! `list_files`: what is in a directory.
//!
//! Decided: ignore rules hold, dot files are shown (they matter in a project), the stores of version control are not; a link is shown with where it
//! leads and never followed. When there is too much, what lies nearest to the top is kept: it says most about the rest.

use super::{define, inspect_reading, is_set, optional_text, refused, run_off_thread};
use crate::domain::tool::Risk;
use crate::domain::{ToolOutcome, ToolSpec};
use crate::tools::scene::{Scene, Use};
use crate::tools::walk::{self, Depth, Entry, Kind, Listing, Pattern, Rules, Stop, Stopped};
use crate::tools::{Inspection, Invocation, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "list_files";
/// Time for one listing.
const TIME: Duration = Duration::from_secs(10);
/// Most entries in one listing.
const MOST: usize = 800;
/// Room for the notes below the list.
const NOTES: usize = 500;

/// The tool.
pub struct ListFiles {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl ListFiles {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The directory; the working directory if left out." },
                "recursive": { "type": "boolean", "description": "Also list what is below." },
                "pattern": { "type": "string", "description": "A glob pattern; only matching entries are listed." }
            },
            "required": []
        });
        let description = include_str!("../../../assets/tools/list_files.md");
        Self { spec: define(NAME, description, Risk::Read, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for ListFiles {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        async { inspect_reading(&self.scene, NAME, arguments, path_of(arguments)) }.boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let scene = Arc::clone(&self.scene);
        run_off_thread(move || list(&scene, &call)).boxed()
    }
}

fn path_of(arguments: &Value) -> &str {
    optional_text(arguments, "path").filter(|path| !path.is_empty()).unwrap_or(".")
}

fn list(scene: &Scene, call: &Invocation) -> ToolOutcome {
    let asked = path_of(&call.arguments);
    let place = match scene.again(NAME, &call.arguments, asked, Use::Read) {
        Ok((place, _)) => place,
        Err(why) => return refused(call, why),
    };
    match place.path.symlink_metadata() {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return ToolOutcome::failed(format!("{asked} is a file, not a directory. Use read_file.")),
        Err(error) => return ToolOutcome::failed(missing(scene, asked, &place.path, &error)),
    }
    let pattern = match optional_text(&call.arguments, "pattern").filter(|text| !text.is_empty()).map(Pattern::new) {
        Some(Err(why)) => return ToolOutcome::failed(why),
        Some(Ok(pattern)) => Some(pattern),
        None => None,
    };
    // A pattern with a directory in it can only fit below.
    let deep = is_set(&call.arguments, "recursive") || pattern.as_ref().is_some_and(Pattern::is_deep);
    let depth = if deep { Depth::All } else { Depth::One };
    let listing = walk::list(&place.path, depth, pattern.as_ref(), &Stop::after(TIME, call.cancel.clone()));
    if listing.stopped == Some(Stopped::Cancelled) {
        return ToolOutcome::Interrupted;
    }
    ToolOutcome::text(written(listing, scene.budget()))
}

/// Why a directory cannot be listed, with names that are near.
fn missing(scene: &Scene, asked: &str, path: &Path, error: &std::io::Error) -> String {
    let near: Vec<String> = walk::near(scene.cwd(), path).iter().map(|near| scene.shown(near)).collect();
    let hint = if near.is_empty() { String::new() } else { format!(" Near names: {}.", near.join(", ")) };
    format!("{asked} cannot be listed: {error}.{hint}")
}

fn written(listing: Listing, budget: usize) -> String {
    let total = listing.entries.len();
    let mut notes = Vec::new();
    match listing.stopped {
        Some(Stopped::Count) => {
            notes.push("[There are more files than can be looked at; name a directory below.]".to_owned());
        }
        Some(_) => notes.push(format!("[Stopped after {} seconds; name a directory below.]", TIME.as_secs())),
        None => {}
    }
    if listing.rules == Rules::Off {
        notes.push("[This directory is excluded by ignore rules; everything in it is listed.]".to_owned());
    }
    if total == 0 {
        notes.insert(0, "[Nothing there.]".to_owned());
    }
    let kept = nearest(listing.entries, budget.saturating_sub(NOTES));
    if kept.len() < total {
        notes.push(format!(
            "[{} of {total} entries, those nearest to the top. Name a directory below, or a pattern, to see others.]",
            kept.len()
        ));
    }
    kept.into_iter().map(|(line, _)| line).chain(notes).collect::<Vec<_>>().join("\n")
}

/// Lines of the entries nearest to the top that fit, sorted by path.
fn nearest(entries: Vec<Entry>, budget: usize) -> Vec<(String, usize)> {
    let mut lines: Vec<(String, usize)> = entries
        .into_iter()
        .map(|entry| {
            // A name may hold a line break; written out it stays one line.
            let path = entry.path.display().to_string().replace('\n', "\\n");
            let line = match entry.kind {
                Kind::Directory => format!("{path}/"),
                Kind::File => path,
                Kind::Link(target) => format!("{path} -> {}", target.display()),
            };
            (line, entry.depth)
        })
        .collect();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|&index| lines[index].1);
    let mut size = 0;
    let fits = order
        .iter()
        .take_while(|&&index| {
            size += lines[index].0.len() + 1;
            size <= budget
        })
        .count()
        .min(MOST);
    let mut keep = vec![false; lines.len()];
    for &index in &order[..fits] {
        keep[index] = true;
    }
    let mut index = 0;
    lines.retain(|_| {
        index += 1;
        keep[index - 1]
    });
    lines
}
