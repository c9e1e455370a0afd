//! The file that a call would change.
//!
//! Owns: reading it when the call is inspected, and writing it when the call runs, only if it is still what was seen.
//! Does not: make the new content (`write_to_file`, `replace_in_file`).

use super::change::{self, Shape};
use super::file::{Kind, Missing, Spot};
use super::media;
use super::scene::{Place, Refusal, Scene, Use};
use super::seen::{self, Seen};
use crate::domain::policy::FileDiff;
use serde_json::Value;
use std::io;

/// Largest file that a call changes.
const MOST: u64 = 64 * 1024 * 1024;
/// Largest text that is compared line by line.
const MOST_COMPARED: usize = 4 * 1024 * 1024;

/// The file as it was found.
pub struct Target {
    /// Where.
    pub place: Place,
    /// What it holds; `None` where there is none.
    pub old: Option<Vec<u8>>,
}

/// What stands in a text file.
pub struct Text {
    /// How it is written.
    pub shape: Shape,
    /// Without mark, lines ended by `\n`.
    pub plain: String,
}

/// Why nothing, or perhaps something, was written.
#[derive(Debug)]
pub enum Failure {
    /// Nothing was.
    Untouched(String),
    /// Something may have been.
    Touched(String),
}

impl Target {
    /// Looks at the file of an inspected call, and remembers it. An error comes with the place where that is known.
    pub fn inspect(scene: &Scene, tool: &str, arguments: &Value, asked: &str) -> Result<Self, (String, Option<Place>)> {
        let place = scene.look(asked, Use::Change).map_err(|why| (why, None))?;
        let found = read(&place);
        let print = found.as_ref().ok().and_then(|old| old.as_deref().map(seen::print));
        scene.keep(tool, arguments, Seen { path: place.path.clone(), print });
        match found {
            Ok(old) => Ok(Self { place, old }),
            Err(why) => Err((why, Some(place))),
        }
    }

    /// Finds the file again when the call runs. Refuses where it changed since it was inspected.
    pub fn again(scene: &Scene, tool: &str, arguments: &Value, asked: &str) -> Result<Self, Refusal> {
        let (place, seen) = scene.again(tool, arguments, asked, Use::Change)?;
        let old = read(&place).map_err(Refusal::Impossible)?;
        if old.as_deref().map(seen::print) != seen.print {
            return Err(Refusal::Stale(format!(
                "{} changed after this call was checked, so nothing was written. Read it again, then call again.",
                scene.shown(&place.path)
            )));
        }
        Ok(Self { place, old })
    }

    /// The text in the file; `None` where it holds something else.
    pub fn text(&self) -> Option<Text> {
        let old = std::str::from_utf8(self.old.as_deref()?).ok().filter(|text| !text.contains('\0'))?;
        let shape = Shape::of(old);
        Some(Text { shape, plain: shape.plain(old) })
    }

    /// What writing `new` (lines ended by `\n`) would change.
    pub fn diff(&self, text: Option<&Text>, new: &str) -> FileDiff {
        let old = text.map(|text| text.plain.as_str());
        let old = if self.old.is_some() { Some(old.unwrap_or_default()) } else { None };
        match old {
            Some(old) if old.len() > MOST_COMPARED || new.len() > MOST_COMPARED => {
                change::sizes(&self.place.asked, old.lines().count(), new)
            }
            old => change::diff(&self.place.asked, old, new),
        }
    }

    /// Writes the new bytes.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let failed = |error: &io::Error| format!("{} could not be written: {error}", self.place.asked);
        let spot = Spot::at(&self.place.path, Missing::Make).map_err(|error| Failure::Untouched(failed(&error)))?;
        spot.replace(bytes).map_err(|error| Failure::Touched(failed(&error)))
    }
}

fn read(place: &Place) -> Result<Option<Vec<u8>>, String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::FileTooLarge => {
            format!("{} is larger than {}: it cannot be changed by this tool.", place.asked, media::size(MOST))
        }
        _ => format!("{} cannot be read: {error}", place.asked),
    };
    let spot = match Spot::at(&place.path, Missing::Fail) {
        Ok(spot) => spot,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(format!("{} is a directory.", place.asked));
        }
        Err(error) => return Err(failed(error)),
    };
    match spot.kind().map_err(failed)? {
        None => Ok(None),
        Some(Kind::File) => spot.read(MOST).map_err(failed),
        Some(Kind::Directory) => Err(format!("{} is a directory.", place.asked)),
        Some(Kind::Other) => Err(format!("{} is not a regular file.", place.asked)),
    }
}
