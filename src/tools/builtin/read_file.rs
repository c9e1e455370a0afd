//! `read_file`: a text file, or a picture.
//!
//! Decided: plain text without line numbers, because what a model reads is what it must write into a SEARCH block, and small models copy the
//! numbers along. Numbers stand only in the notes. UTF-8, and UTF-16 with its mark; other encodings are shown as far as they are ASCII, and it
//! is said. Read in one pass with bounded memory, whatever the size.

use super::{define, impossible, inspect_reading, optional_number, refused, run_off_thread, text};
use crate::domain::tool::Risk;
use crate::domain::{Blob, Content, ToolOutcome, ToolSpec};
use crate::tools::cut::count;
use crate::tools::ends::{self, Cut, Ends, Kept};
use crate::tools::file::{Kind, Missing, Spot};
use crate::tools::scene::{Place, Scene, Use};
use crate::tools::utf8::Utf8;
use crate::tools::{Inspection, Invocation, Tool, media, walk};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const NAME: &str = "read_file";
/// Largest picture that is handed on; providers take no larger one.
const MOST_PICTURE: u64 = 5 * 1024 * 1024;
/// Largest file in UTF-16.
const MOST_WIDE: u64 = 16 * 1024 * 1024;
/// Bytes read at once; the first piece decides what kind of file it is.
const PIECE: usize = 64 * 1024;
/// Room for the notes.
const NOTES: usize = 400;

/// The tool.
pub struct ReadFile {
    spec: Arc<ToolSpec>,
    scene: Arc<Scene>,
}

impl ReadFile {
    /// The tool in its scene.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The file." },
                "start_line": { "type": "integer", "minimum": 1, "description": "First line to read, from 1." },
                "end_line": { "type": "integer", "minimum": 1, "description": "Last line to read." }
            },
            "required": ["path"]
        });
        let description = include_str!("../../../assets/tools/read_file.md");
        Self { spec: define(NAME, description, Risk::Read, schema), scene: Arc::clone(scene) }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn inspect<'a>(&'a self, arguments: &'a Value) -> BoxFuture<'a, Inspection> {
        async {
            match text(arguments, "path") {
                Ok(asked) => inspect_reading(&self.scene, NAME, arguments, asked),
                Err(why) => impossible(why, None),
            }
        }
        .boxed()
    }

    fn run(&self, call: Invocation) -> BoxFuture<'static, ToolOutcome> {
        let scene = Arc::clone(&self.scene);
        run_off_thread(move || run(&scene, &call)).boxed()
    }
}

/// Which lines are wanted, from 1, both included.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: u64,
    to: u64,
}

fn run(scene: &Scene, call: &Invocation) -> ToolOutcome {
    let asked = match text(&call.arguments, "path") {
        Ok(asked) => asked,
        Err(why) => return ToolOutcome::failed(why),
    };
    let place = match scene.again(NAME, &call.arguments, asked, Use::Read) {
        Ok((place, _)) => place,
        Err(why) => return refused(call, why),
    };
    let (from, to) = (optional_number(&call.arguments, "start_line"), optional_number(&call.arguments, "end_line"));
    let range =
        (from.is_some() || to.is_some()).then(|| Range { from: from.unwrap_or(1).max(1), to: to.unwrap_or(u64::MAX) });
    if let Some(Range { from, to }) = range
        && to < from
    {
        return ToolOutcome::failed(format!("end_line {to} is before start_line {from}."));
    }
    match open(scene, &place).and_then(|file| read(scene, &place, file, range, &call.cancel)) {
        Ok(outcome) => outcome,
        Err(why) => ToolOutcome::failed(why),
    }
}

fn open(scene: &Scene, place: &Place) -> Result<File, String> {
    let asked = &place.asked;
    let directory = || format!("{asked} is a directory. Use list_files.");
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => missing(scene, place),
        io::ErrorKind::IsADirectory => directory(),
        _ => format!("{asked} cannot be read: {error}"),
    };
    let spot = Spot::at(&place.path, Missing::Fail).map_err(failed)?;
    match spot.kind().map_err(failed)? {
        None => Err(missing(scene, place)),
        Some(Kind::Directory) => Err(directory()),
        Some(Kind::Other) => Err(format!("{asked} is not a regular file.")),
        Some(Kind::File) => spot.open().map_err(failed),
    }
}

fn missing(scene: &Scene, place: &Place) -> String {
    let near: Vec<String> = walk::near(scene.cwd(), &place.path).iter().map(|path| scene.shown(path)).collect();
    if near.is_empty() {
        return format!("There is no file {}. Use list_files to see what there is.", place.asked);
    }
    format!("There is no file {}. Near names: {}.", place.asked, near.join(", "))
}

fn read(
    scene: &Scene,
    place: &Place,
    mut file: File,
    range: Option<Range>,
    cancel: &CancellationToken,
) -> Result<ToolOutcome, String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", place.asked);
    let size = file.metadata().map_err(failed)?.len();
    let mut first = Vec::new();
    file.by_ref().take(PIECE as u64).read_to_end(&mut first).map_err(failed)?;
    if let Some(mime) = media::picture(&first) {
        return picture(place, mime, first, file, size);
    }
    let text = match first.as_slice() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => wide(place, first, file, size)?,
        bytes => {
            if let Some(what) = media::signature(bytes).or_else(|| bytes.contains(&0).then_some("binary data")) {
                return Err(format!("{} is not text but {what}, {}.", place.asked, media::size(size)));
            }
            let mut lines = Lines::new(range, scene.budget().saturating_sub(NOTES));
            if lines.read(&first, file, cancel).map_err(failed)? == Flow::Stopped {
                return Ok(ToolOutcome::Interrupted);
            }
            return lines.outcome(place);
        }
    };
    let mut lines = Lines::new(range, scene.budget().saturating_sub(NOTES));
    lines.add(&text);
    lines.wide = true;
    lines.outcome(place)
}

fn picture(
    place: &Place,
    mime: &'static str,
    mut bytes: Vec<u8>,
    file: File,
    size: u64,
) -> Result<ToolOutcome, String> {
    if size > MOST_PICTURE {
        let limit = media::size(MOST_PICTURE);
        return Err(format!("{} is a picture of {}; at most {limit} can be read.", place.asked, media::size(size)));
    }
    file.take(MOST_PICTURE)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{} cannot be read: {error}", place.asked))?;
    let data = Blob { base64: STANDARD.encode(&bytes).into(), bytes: bytes.len() };
    let said = format!("[{}: {}]", media::describe("image", mime, &data), place.asked);
    let content = vec![Content::Image { mime: mime.to_owned(), data }];
    Ok(ToolOutcome::Done { content, is_error: false, for_model: Some(said), spilled: None, millis: 0 })
}

fn wide(place: &Place, mut bytes: Vec<u8>, file: File, size: u64) -> Result<String, String> {
    if size > MOST_WIDE {
        return Err(format!("{} is a text in UTF-16 of {}: too large.", place.asked, media::size(size)));
    }
    file.take(MOST_WIDE).read_to_end(&mut bytes).map_err(|error| format!("{} cannot be read: {error}", place.asked))?;
    let little = bytes[0] == 0xff;
    let units: Vec<u16> = bytes[2..]
        .chunks_exact(2)
        .map(
            |pair| if little { u16::from_le_bytes([pair[0], pair[1]]) } else { u16::from_be_bytes([pair[0], pair[1]]) },
        )
        .collect();
    Ok(String::from_utf16_lossy(&units))
}

#[derive(Debug, PartialEq, Eq)]
enum Flow {
    Ended,
    Stopped,
}

/// The wanted lines of a text that comes in pieces.
struct Lines {
    range: Option<Range>,
    kept: Ends,
    /// The line that the next byte belongs to, from 1.
    line: u64,
    ends_with_newline: bool,
    bytes: u64,
    replaced: u64,
    wide: bool,
}

impl Lines {
    fn new(range: Option<Range>, room: usize) -> Self {
        // Who names lines reads on from there: the beginning matters. Else the end says much about a file, too.
        let kept = if range.is_some() { Ends::new(room, 0) } else { Ends::new(room * 2 / 3, room - room * 2 / 3) };
        Self { range, kept, line: 1, ends_with_newline: true, bytes: 0, replaced: 0, wide: false }
    }

    fn read(&mut self, first: &[u8], mut file: File, cancel: &CancellationToken) -> io::Result<Flow> {
        let mut utf8 = Utf8::default();
        let mut text = String::new();
        utf8.push(first, &mut text);
        self.add(&text);
        let mut piece = vec![0; PIECE];
        loop {
            if cancel.is_cancelled() {
                return Ok(Flow::Stopped);
            }
            let count = file.read(&mut piece)?;
            text.clear();
            if count == 0 {
                break;
            }
            utf8.push(&piece[..count], &mut text);
            self.add(&text);
        }
        utf8.end(&mut text);
        self.add(&text);
        self.replaced = utf8.replaced();
        Ok(Flow::Ended)
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len() as u64;
        self.ends_with_newline = text.ends_with('\n');
        let Some(Range { from, to }) = self.range else {
            self.line += text.bytes().filter(|&byte| byte == b'\n').count() as u64;
            self.kept.push(text);
            return;
        };
        for line in text.split_inclusive('\n') {
            if (from..=to).contains(&self.line) {
                self.kept.push(line);
            }
            self.line += u64::from(line.ends_with('\n'));
        }
    }

    fn total(&self) -> u64 {
        if self.ends_with_newline { self.line - 1 } else { self.line }
    }

    fn outcome(self, place: &Place) -> Result<ToolOutcome, String> {
        let total = self.total();
        if let Some(Range { from, .. }) = self.range
            && from > total.max(1)
        {
            return Err(format!("{} has {}: start_line {from} is behind its end.", place.asked, count(total, "line")));
        }
        let mut out = String::new();
        let (range, wide, replaced, bytes) = (self.range, self.wide, self.replaced, self.bytes);
        match (self.kept.finish(), range) {
            (Kept::Whole(text), None) => out.push_str(&text),
            (Kept::Whole(text), Some(range)) => {
                out.push_str(&text);
                if range.from > 1 || range.to < total {
                    let last = range.to.min(total);
                    let more =
                        if last < total { format!("; read on with start_line {}", last + 1) } else { String::new() };
                    note(&mut out, &format!("[lines {}-{last} of {total}{more}]", range.from));
                }
            }
            (Kept::Cut(cut), None) => out.push_str(&joined(cut, place, total)),
            (Kept::Cut(cut), Some(range)) => {
                out.push_str(&cut.head);
                note(&mut out, &stopped_early(&cut, range, total));
            }
        }
        if bytes == 0 {
            out.push_str("[The file is empty.]");
        }
        if wide {
            note(&mut out, "[The file is in UTF-16.]");
        }
        if replaced > 0 {
            note(
                &mut out,
                "[The file is not UTF-8: what could not be read is shown as \u{fffd}. Writing it back would lose that.]",
            );
        }
        // The tool keeps to the budget itself, and the file is the place to read on from: nothing is left for the cutter to do.
        Ok(ToolOutcome::text(out))
    }
}

fn joined(cut: Cut, place: &Place, total: u64) -> String {
    let (first, last) = (cut.from, cut.from + cut.lines - 1);
    let note = format!(
        "[… lines {first}-{last} of {total} ({}) left out here; to read on: read_file {{\"path\": {}, \"start_line\": {first}}} …]",
        media::size(cut.bytes),
        Value::from(place.asked.as_str()),
    );
    ends::join(cut, &note)
}

fn stopped_early(cut: &Cut, range: Range, total: u64) -> String {
    let newlines = cut.from - 1;
    if newlines == 0 {
        let line = range.from;
        return format!(
            "[Line {line} of {total} is longer than what is read at once, the rest of it is left out; read on with start_line {}, or look at the line with a command.]",
            line + 1
        );
    }
    let last = range.from + newlines - 1;
    format!("[lines {}-{last} of {total}; read on with start_line {}]", range.from, last + 1)
}

fn note(out: &mut String, note: &str) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(note);
}
