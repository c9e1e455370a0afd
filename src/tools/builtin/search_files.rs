//! `search_files`: lines that match a regular expression.
//!
//! Decided: the `regex` crate (linear time, whatever the pattern) over the same walk as `list_files`, file by file in order, so that the same
//! question gets the same answer; results are grouped by file like ripgrep's. Bounded in time, in matches and in bytes.

use super::{define, impossible, inspect_reading, optional_number, optional_text, refused, run_off_thread, text};
use crate::domain::tool::Risk;
use crate::domain::{ToolOutcome, ToolSpec};
use crate::tools::cut::count;
use crate::tools::ends;
use crate::tools::scene::{Place, Scene, Use};
use crate::tools::walk::{self, Depth, Pattern, Rules, Stop, Stopped};
use crate::tools::{Inspection, Invocation, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use regex::{Regex, RegexBuilder};
use rustix::fs::OFlags;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "search_files";
/// Time for one search.
const TIME: Duration = Duration::from_secs(20);
/// Most matching lines.
const MOST_LINES: usize = 200;
/// Largest file that is searched.
const MOST_FILE: u64 = 16 * 1024 * 1024;
/// Bytes of a line that are shown.
const MOST_SHOWN: usize = 300;
/// Most lines shown around a match.
const MOST_CONTEXT: u64 = 10;
/// Room for the notes.
const NOTES: usize = 600;
/// Where a file is looked at to see whether it is text.
const SNIFFED: usize = 8 * 1024;

/// The tool.
pub struct SearchFiles {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl SearchFiles {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string", "description": "The regular expression." },
                "path": { "type": "string", "description": "Directory or file to search; the working directory if left out." },
                "glob": { "type": "string", "description": "Only files that match this glob pattern." },
                "context": { "type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "description": "Lines to show around each match." }
            },
            "required": ["pattern"]
        });
        let description = include_str!("../../../assets/tools/search_files.md");
        Self { spec: define(NAME, description, Risk::Read, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for SearchFiles {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        async {
            let inspection = inspect_reading(&self.scene, NAME, arguments, path_of(arguments));
            match Wanted::of(arguments) {
                Ok(_) => inspection,
                Err(why) => Inspection { facts: inspection.facts, ..impossible(why, None) },
            }
        }
        .boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let scene = Arc::clone(&self.scene);
        run_off_thread(move || run(&scene, &call)).boxed()
    }
}

fn path_of(arguments: &Value) -> &str {
    optional_text(arguments, "path").filter(|path| !path.is_empty()).unwrap_or(".")
}

/// What is looked for.
struct Wanted {
    regex: Regex,
    glob: Option<Pattern>,
    context: usize,
}

impl Wanted {
    fn of(arguments: &Value) -> Result<Self, String> {
        let pattern = text(arguments, "pattern")?;
        let regex = RegexBuilder::new(pattern).multi_line(true).crlf(true).build().map_err(|error| {
            format!(
                "{pattern:?} is not a regular expression: {error}\nTo search for the text itself, escape it: {:?}",
                regex::escape(pattern)
            )
        })?;
        let glob = optional_text(arguments, "glob").filter(|glob| !glob.is_empty()).map(Pattern::new).transpose()?;
        let context = optional_number(arguments, "context").unwrap_or(0).min(MOST_CONTEXT) as usize;
        Ok(Self { regex, glob, context })
    }
}

fn run(scene: &Scene, call: &Invocation) -> ToolOutcome {
    let place = match scene.again(NAME, &call.arguments, path_of(&call.arguments), Use::Read) {
        Ok((place, _)) => place,
        Err(why) => return refused(call, why),
    };
    let wanted = match Wanted::of(&call.arguments) {
        Ok(wanted) => wanted,
        Err(why) => return ToolOutcome::failed(why),
    };
    if let Err(error) = place.path.symlink_metadata() {
        return ToolOutcome::failed(format!(
            "{} cannot be searched: {error}. Use list_files to see what there is.",
            place.asked
        ));
    }
    let stop = Stop::after(TIME, call.cancel.clone());
    let mut search = Search::new(scene, &wanted);
    search.walk(&place, Rules::Honoured, &stop);
    if search.seen == 0 && search.stopped.is_none() {
        // The place itself is an ignored one, or there is nothing.
        search.walk(&place, Rules::Off, &stop);
    }
    if search.stopped == Some(Stopped::Cancelled) {
        return ToolOutcome::Interrupted;
    }
    ToolOutcome::text(search.written())
}

/// A running search.
struct Search<'a> {
    scene: &'a Scene,
    wanted: &'a Wanted,
    out: String,
    room: usize,
    /// Files that fit the glob, those of them that were searched, those with a match.
    seen: u64,
    searched: u64,
    matched: u64,
    lines: usize,
    too_large: u64,
    stopped: Option<Stopped>,
}

impl<'a> Search<'a> {
    fn new(scene: &'a Scene, wanted: &'a Wanted) -> Self {
        let room = scene.budget().saturating_sub(NOTES);
        Self {
            scene,
            wanted,
            out: String::new(),
            room,
            seen: 0,
            searched: 0,
            matched: 0,
            lines: 0,
            too_large: 0,
            stopped: None,
        }
    }

    fn walk(&mut self, place: &Place, rules: Rules, stop: &Stop) {
        for found in walk::builder(&place.path, rules, Depth::All).build().flatten() {
            self.stopped = stop.now();
            if self.stopped.is_some() {
                return;
            }
            if !found.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let below = found.path().strip_prefix(&place.path).unwrap_or(found.path());
            // A file that was named itself is searched whatever the glob says.
            if found.depth() > 0 && self.wanted.glob.as_ref().is_some_and(|glob| !glob.fits(below)) {
                continue;
            }
            self.seen += 1;
            self.file(found.path());
            if self.stopped.is_some() {
                return;
            }
        }
    }

    fn file(&mut self, path: &Path) {
        // NOFOLLOW: what the walk saw as a file must not be followed when it has become a link.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let Ok(file) = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path) else { return };
        if file.metadata().map_or(0, |found| found.len()) > MOST_FILE {
            self.too_large += 1;
            return;
        }
        let mut bytes = Vec::new();
        if file.take(MOST_FILE).read_to_end(&mut bytes).is_err() || bytes[..bytes.len().min(SNIFFED)].contains(&0) {
            return;
        }
        self.searched += 1;
        let text = String::from_utf8_lossy(&bytes);
        if self.wanted.regex.is_match(&text) {
            self.matches(path, &text);
        }
    }

    fn matches(&mut self, path: &Path, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let hits = hits(&self.wanted.regex, text, MOST_LINES - self.lines + 1);
        let mut group = format!("{}\n", self.scene.shown(path));
        let mut shown_to: Option<usize> = None;
        for (index, _) in &hits {
            if self.lines == MOST_LINES {
                self.stopped = Some(Stopped::Count);
                break;
            }
            let from = index.saturating_sub(self.wanted.context).max(shown_to.map_or(0, |last| last + 1));
            let to = (index + self.wanted.context).min(lines.len().saturating_sub(1));
            if self.wanted.context > 0 && shown_to.is_some_and(|last| from > last + 1) {
                group.push_str("--\n");
            }
            for (at, line) in lines.iter().enumerate().take(to + 1).skip(from) {
                let hit = hits.iter().find(|(hit, _)| *hit == at);
                let mark = if hit.is_some() { ':' } else { '-' };
                let shown = around(line, hit.map_or(0..0, |(_, span)| span.clone()));
                let _ = writeln!(group, "{}{mark}{shown}", at + 1);
            }
            self.lines += 1;
            shown_to = Some(shown_to.map_or(to, |last| last.max(to)));
            if self.out.len() + group.len() > self.room {
                self.stopped = Some(Stopped::Count);
                break;
            }
        }
        if self.out.len() + group.len() > self.room {
            let fits = ends::floor(&group, self.room - self.out.len());
            group.truncate(group[..fits].rfind('\n').map_or(0, |end| end + 1));
        }
        self.matched += 1;
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(&group);
    }

    fn written(self) -> String {
        let mut out = self.out;
        let files = count(self.searched, "file");
        if self.lines == 0 {
            let _ = writeln!(out, "No match in {files}.");
        }
        match self.stopped {
            Some(Stopped::Count) => {
                let _ = writeln!(out, "[There are more matches. Make the pattern more exact, or name a path or glob.]");
            }
            Some(_) => {
                let _ = writeln!(out, "[Stopped after {} seconds and {files}; name a path or glob.]", TIME.as_secs());
            }
            None if self.lines > 0 => {
                let lines = count(self.lines as u64, "matching line");
                let _ = writeln!(out, "[{lines} in {} of {files}]", self.matched);
            }
            None => {}
        }
        if self.too_large > 0 {
            let _ = writeln!(out, "[{} too large to be searched]", count(self.too_large, "file"));
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// Lines (from 0) with a match, at most `most`, and where in the line the first one is.
fn hits(regex: &Regex, text: &str, most: usize) -> Vec<(usize, Range<usize>)> {
    let mut hits: Vec<(usize, Range<usize>)> = Vec::new();
    let (mut line, mut line_start, mut at) = (0, 0, 0);
    for found in regex.find_iter(text) {
        // Behind the last newline there is no line.
        if found.start() == text.len() && text.ends_with('\n') {
            break;
        }
        while let Some(newline) = text[at..found.start()].find('\n') {
            at += newline + 1;
            line += 1;
            line_start = at;
        }
        if hits.last().is_none_or(|(last, _)| *last != line) {
            if hits.len() == most {
                break;
            }
            hits.push((line, found.start() - line_start..found.end() - line_start));
        }
    }
    hits
}

/// A line, or where it is very long the part around the match.
fn around(line: &str, span: Range<usize>) -> String {
    if line.len() <= MOST_SHOWN {
        return line.to_owned();
    }
    let from = ends::floor(line, span.start.saturating_sub(MOST_SHOWN / 3).min(line.len() - MOST_SHOWN));
    let to = ends::floor(line, from + MOST_SHOWN);
    format!("{}{}{}", if from > 0 { "…" } else { "" }, &line[from..to], if to < line.len() { "…" } else { "" })
}
