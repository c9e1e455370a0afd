//! Changing a text by SEARCH/REPLACE blocks.
//!
//! Owns: reading the blocks that a model wrote, finding each one's place, and putting the replacement there. Pure.
//!
//! How a place is found, the first way that finds any:
//! 1. whole lines, exactly;
//! 2. a piece of text, exactly;
//! 3. whole lines, whatever blanks stand at their ends;
//! 4. whole lines moved in or out as one (the replacement is moved alike).
//!
//! A block must have *one* place: of several, the only one behind the block before it; or, where as many blocks with this text follow as there are
//! places, one after another. Otherwise nothing is changed and the model is told the lines. A wrong place is worse than a second try.
//!
//! **Invariants:** all blocks are placed in the text as it was, and none overlap; what lies between them stays as it was, byte for byte.

use super::ends;
use std::fmt::Write as _;
use std::ops::Range;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What to look for. Lines end with `\n`; the last one need not.
    pub search: String,
    /// What takes its place.
    pub replace: String,
}

/// How exactly a block was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// As written.
    Exact,
    /// But for blanks at line ends.
    LineEnds,
    /// But for its indentation.
    Indentation,
}

/// A changed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// How each block was found.
    pub matches: Vec<Match>,
}

/// How to write the blocks, for error messages.
pub const FORMAT: &str = "Write each change as:\n<<<<<<< SEARCH\nlines as they are in the file\n=======\nlines to put there instead\n>>>>>>> REPLACE";

/// Reads the blocks of a diff. Text and code fences around them are passed over.
pub fn parse(diff: &str) -> Result<Vec<Block>, String> {
    enum At {
        Outside,
        Search,
        Replace,
    }
    let mut blocks = Vec::new();
    let (mut at, mut search, mut replace) = (At::Outside, String::new(), String::new());
    for line in diff.split_inclusive('\n') {
        let bare = line.trim_end();
        match at {
            At::Outside if is_mark(bare, '<', "SEARCH") => at = At::Search,
            At::Outside if is_mark(bare, '>', "REPLACE") => {
                return Err(format!("A `>>>>>>> REPLACE` stands without a block before it. {FORMAT}"));
            }
            At::Outside => {}
            At::Search if bare == "=======" => at = At::Replace,
            At::Search if is_mark(bare, '<', "SEARCH") || is_mark(bare, '>', "REPLACE") => {
                return Err(format!("Block {} has no `=======` line. {FORMAT}", blocks.len() + 1));
            }
            At::Search => push_line(&mut search, line),
            At::Replace if is_mark(bare, '>', "REPLACE") => {
                blocks.push(Block { search: std::mem::take(&mut search), replace: std::mem::take(&mut replace) });
                at = At::Outside;
            }
            At::Replace if is_mark(bare, '<', "SEARCH") => {
                return Err(format!("Block {} does not end with `>>>>>>> REPLACE`. {FORMAT}", blocks.len() + 1));
            }
            At::Replace => push_line(&mut replace, line),
        }
    }
    match at {
        At::Outside if blocks.is_empty() => Err(format!("There is no SEARCH/REPLACE block in the diff. {FORMAT}")),
        At::Outside => Ok(blocks),
        At::Search | At::Replace => {
            Err(format!("Block {} does not end with `>>>>>>> REPLACE`. {FORMAT}", blocks.len() + 1))
        }
    }
}

/// Changes a text whose lines end with `\n`.
pub fn apply(text: &str, blocks: &[Block]) -> Result<Edited, String> {
    let lines = Lines::of(text);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut matches = Vec::new();
    let mut behind = 0;
    for (index, block) in blocks.iter().enumerate() {
        let name = if blocks.len() == 1 { "The search text".to_owned() } else { format!("Block {}", index + 1) };
        if block.search.trim().is_empty() {
            return Err(format!(
                "{name} is empty: there is no place to look for. To write the whole file, use write_to_file."
            ));
        }
        let (found, how) = places(&lines, block);
        let free: Vec<Place> =
            found.iter().filter(|place| changes.iter().all(|(taken, _)| apart(taken, &place.range))).cloned().collect();
        let same = blocks[index..].iter().filter(|other| other.search == block.search).count();
        let later: Vec<&Place> = free.iter().filter(|place| place.range.start >= behind).collect();
        let place = match (free.as_slice(), later.as_slice()) {
            ([only], _) => only,
            ([], _) if found.is_empty() => return Err(not_found(&name, &lines, &block.search)),
            ([], _) => return Err(format!("{name} overlaps another block. Join the two into one.")),
            (_, [only]) => *only,
            (_, [first, ..]) if same == later.len() => *first,
            (all, _) => return Err(ambiguous(&name, &lines, all)),
        };
        behind = place.range.end;
        matches.push(how);
        changes.push((place.range.clone(), place.replace.clone()));
    }
    changes.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replace) in changes {
        out.push_str(&text[at..range.start]);
        out.push_str(&replace);
        at = range.end;
    }
    out.push_str(&text[at..]);
    Ok(Edited { text: out, matches })
}

fn is_mark(line: &str, sign: char, word: &str) -> bool {
    let rest = line.trim_start_matches(sign);
    (5..=9).contains(&(line.len() - rest.len())) && rest.trim_matches([' ', '<', '>']) == word
}

fn push_line(to: &mut String, line: &str) {
    match line.strip_suffix("\r\n") {
        Some(line) => {
            to.push_str(line);
            to.push('\n');
        }
        None => to.push_str(line),
    }
}

#[derive(Debug, Clone)]
struct Place {
    range: Range<usize>,
    replace: String,
}

fn apart(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.end <= b.start || b.end <= a.start
}

/// A text with its lines (without their ends).
struct Lines<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let mut at = 0;
        let lines = text
            .split_inclusive('\n')
            .map(|line| {
                let start = at;
                at += line.len();
                start..start + line.trim_end_matches('\n').len()
            })
            .collect();
        Self { text, lines }
    }

    fn get(&self, index: usize) -> &'a str {
        &self.text[self.lines[index].clone()]
    }

    fn number(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset)
    }

    /// Starts of all runs of lines that `same` finds equal to `search`; runs may overlap, which makes them ambiguous.
    fn runs(&self, search: &[&str], same: impl Fn(usize, &[&str]) -> bool) -> Vec<usize> {
        let last = (self.lines.len() + 1).saturating_sub(search.len());
        (0..last).filter(|&at| same(at, search)).collect()
    }

    /// The change of a run of lines. Deleting lines takes their newlines with them.
    fn place(&self, first: usize, count: usize, replace: &str) -> Place {
        let (start, mut end) = (self.lines[first].start, self.lines[first + count - 1].end);
        if replace.is_empty() && end < self.text.len() {
            end += 1;
        }
        Place { range: start..end, replace: replace.strip_suffix('\n').unwrap_or(replace).to_owned() }
    }
}

fn places(lines: &Lines<'_>, block: &Block) -> (Vec<Place>, Match) {
    let search: Vec<&str> = block.search.lines().collect();
    let run = |first| lines.place(first, search.len(), &block.replace);
    let exact: Vec<Place> = lines
        .runs(&search, |at, search| search.iter().enumerate().all(|(i, line)| lines.get(at + i) == *line))
        .into_iter()
        .map(run)
        .collect();
    if !exact.is_empty() && block.search.ends_with('\n') {
        return (exact, Match::Exact);
    }
    let pieces = pieces(lines.text, block);
    if !pieces.is_empty() {
        return (pieces, Match::Exact);
    }
    let ends: Vec<Place> = lines
        .runs(&search, |at, search| {
            search.iter().enumerate().all(|(i, line)| lines.get(at + i).trim_end() == line.trim_end())
        })
        .into_iter()
        .map(run)
        .collect();
    if !ends.is_empty() {
        return (ends, Match::LineEnds);
    }
    let moved = lines
        .runs(&search, |at, search| shift(lines, at, search).is_some())
        .into_iter()
        .filter_map(|first| {
            let shift = shift(lines, first, &search)?;
            Some(lines.place(first, search.len(), &moved(&block.replace, &shift)))
        })
        .collect();
    (moved, Match::Indentation)
}

/// Places of the search text as a piece of text. The newline that ends a block's last line belongs to the block, not to the text.
fn pieces(text: &str, block: &Block) -> Vec<Place> {
    let whole_lines = block.search.ends_with('\n');
    let bare =
        |text: &'_ str| if whole_lines { text.strip_suffix('\n').unwrap_or(text).to_owned() } else { text.to_owned() };
    let (search, replace) = (bare(&block.search), bare(&block.replace));
    text.match_indices(&search)
        .map(|(at, found)| Place { range: at..at + found.len(), replace: replace.clone() })
        .collect()
}

/// How far a run of lines stands from where it was looked for: what to take from, and put before, each line.
struct Shift {
    remove: String,
    insert: String,
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn shift(lines: &Lines<'_>, at: usize, search: &[&str]) -> Option<Shift> {
    let first = search.iter().position(|line| !line.trim().is_empty())?;
    let (theirs, ours) = (indent(search[first]), indent(lines.get(at + first)));
    // Both may go in or out: what is common stays, the rest is exchanged.
    let common = theirs.bytes().rev().zip(ours.bytes().rev()).take_while(|(a, b)| a == b).count();
    let (remove, insert) = (&theirs[..theirs.len() - common], &ours[..ours.len() - common]);
    let same = search.iter().enumerate().all(|(i, line)| {
        let there = lines.get(at + i);
        if line.trim().is_empty() {
            return there.trim().is_empty();
        }
        line.strip_prefix(remove)
            .is_some_and(|rest| there.strip_prefix(insert).is_some_and(|there| there.trim_end() == rest.trim_end()))
    });
    same.then(|| Shift { remove: remove.to_owned(), insert: insert.to_owned() })
}

fn moved(replace: &str, shift: &Shift) -> String {
    let mut out = String::with_capacity(replace.len());
    for line in replace.split_inclusive('\n') {
        if line.trim().is_empty() {
            out.push_str(line);
        } else {
            out.push_str(&shift.insert);
            out.push_str(line.strip_prefix(shift.remove.as_str()).unwrap_or(line));
        }
    }
    out
}

fn ambiguous(name: &str, lines: &Lines<'_>, all: &[Place]) -> String {
    let numbers: Vec<String> = all.iter().take(8).map(|place| lines.number(place.range.start).to_string()).collect();
    let more = if all.len() > 8 { ", …" } else { "" };
    format!(
        "{name} fits in {} places (lines {}{more}), so nothing was changed. Add lines around it until it fits in one place only.",
        all.len(),
        numbers.join(", ")
    )
}

/// Lines that are compared when looking for the nearest text.
const MOST_COMPARED: usize = 20_000;

fn not_found(name: &str, lines: &Lines<'_>, search: &str) -> String {
    let mut out = format!(
        "{name} is not in the file, so nothing was changed. The search text must be copied from the file as it is now, blanks included."
    );
    let wanted: Vec<&str> = search.lines().collect();
    let Some(at) = nearest(lines, &wanted) else { return out };
    let from = at.saturating_sub(1);
    let to = (at + wanted.len() + 1).min(lines.lines.len()).min(from + 12);
    let _ = write!(out, " The nearest text in the file:");
    for index in from..to {
        let line = lines.get(index);
        let _ = write!(out, "\n{:>5} | {}", index + 1, &line[..ends::floor(line, 200)]);
    }
    out
}

/// The line where the run most like `wanted` begins; nothing where no line is like it at all.
fn nearest(lines: &Lines<'_>, wanted: &[&str]) -> Option<usize> {
    // The longest line tells places apart best; comparing only it keeps this linear.
    let (offset, key) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let key = key.trim();
    let key = &key[..ends::floor(key, 200)];
    let mut best: Option<(f64, usize)> = None;
    for index in 0..lines.lines.len().min(MOST_COMPARED) {
        let line = lines.get(index).trim();
        let longer = line.len().max(key.len());
        // Lines of very different length cannot be alike: passing over them saves most of the work.
        if longer == 0 || line.len().min(key.len()) * 2 < longer {
            continue;
        }
        let score = strsim::normalized_levenshtein(&line[..ends::floor(line, 200)], key);
        if score > best.map_or(0.5, |(score, _)| score) {
            best = Some((score, index));
        }
    }
    best.map(|(_, index)| index.saturating_sub(offset))
}

#[cfg(test)]
mod tests;
