//! Selected rows as the text they came from.

use super::walk::{Spot, Walk};
use crate::tui::cell::{Body, Fold, Shown};

/// The source text from one row to another, whole rows. Of what is no text (a call's head, a diff) the rows as they are shown.
pub(super) fn between(walk: &mut Walk<'_, '_>, from: Spot, to: Spot) -> String {
    let mut out = String::new();
    let mut written = from.entry;
    for entry in from.entry..=to.entry {
        let parts = walk.parts(entry).len();
        let first = if entry == from.entry { from.part } else { 0 };
        let last = if entry == to.entry { to.part } else { parts.saturating_sub(1) };
        for part in first..=last {
            let start = (entry, part) == (from.entry, from.part);
            let end = (entry, part) == (to.entry, to.part);
            let text = piece(walk, entry, part, start.then_some(from), end.then_some(to));
            if !text.is_empty() {
                if !out.is_empty() {
                    // Entries are told apart.
                    out.push_str(if entry == written { "\n" } else { "\n\n" });
                }
                written = entry;
                out.push_str(text.trim_end_matches('\n'));
            }
        }
    }
    out
}

fn piece(walk: &mut Walk<'_, '_>, entry: usize, part: usize, from: Option<Spot>, to: Option<Spot>) -> String {
    let source = source(walk, entry, part);
    let blocks = walk.parts(entry).get(part).map_or(0, super::layout::PartLayout::blocks);
    if let Some(text) = source {
        let bound = |walk: &mut Walk<'_, '_>, spot: Option<Spot>| {
            spot.and_then(|spot| walk.rows(spot).get(spot.row).map(|row| row.source.clone()))
        };
        let start = bound(walk, from).map_or(0, |range| range.start);
        let end = bound(walk, to).map_or(text.len(), |range| range.end);
        return text.get(start..end.max(start)).unwrap_or_default().to_owned();
    }
    let start = Spot { entry, part, block: 0, row: 0 };
    let mut lines = Vec::new();
    for block in from.map_or(0, |spot| spot.block)..blocks {
        let rows = walk.rows(Spot { block, ..start });
        for (row, line) in rows.iter().enumerate() {
            let spot = Spot { block, row, ..start };
            if from.is_none_or(|from| spot >= from) && to.is_none_or(|to| spot <= to) {
                lines.push(close_up(line.text.trim_end()));
            }
        }
    }
    lines.join("\n")
}

/// What stood at the two ends of a row, with two spaces between.
fn close_up(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    match line[start..].find("   ") {
        Some(gap) => format!("{}  {}", &line[..start + gap], line[start + gap..].trim_start()),
        None => line.to_owned(),
    }
}

/// The source of a part, if it is laid out from it.
fn source(walk: &mut Walk<'_, '_>, entry: usize, part: usize) -> Option<String> {
    let key = walk.parts(entry).get(part)?.key;
    let id = *walk.entries.get(entry)?;
    let fold = walk.folds.get(&id).copied().unwrap_or(Fold::Open);
    let mut parts = Vec::new();
    walk.store.get(id)?.cell.parts(Shown { fold, company: walk.company }, &mut parts);
    let part = parts.iter().find(|part| part.key == key)?;
    matches!(part.body, Body::Text { .. }).then(|| part.text.to_owned())
}
