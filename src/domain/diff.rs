//! Two texts, line by line.
//!
//! Owns: what changed between two versions of a text, as [`DiffLine`]s, for things that the user should look at before saying yes again (a trusted file, a
//! tool's definition). Pure. A file about to be written has its own, with hunks and limits, in `tools`.

use super::policy::DiffLine;
use similar::{Algorithm, ChangeTag, TextDiff};

/// Unchanged lines kept around a change.
const CONTEXT: usize = 3;

/// What changed, with a few unchanged lines around. A gap shows in the line numbers. Empty if nothing did.
pub fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(old, new);
    let groups = diff.grouped_ops(CONTEXT);
    groups.iter().flatten().flat_map(|op| diff.iter_changes(op)).map(|change| line(&change)).collect()
}

/// All lines of a text that is there for the first time.
pub fn added(new: &str) -> Vec<DiffLine> {
    lines("", new)
}

fn line(change: &similar::Change<&str>) -> DiffLine {
    let number = |index: Option<usize>| index.and_then(|index| u32::try_from(index + 1).ok());
    let sign = match change.tag() {
        ChangeTag::Equal => ' ',
        ChangeTag::Insert => '+',
        ChangeTag::Delete => '-',
    };
    let text = change.value().trim_end_matches(['\r', '\n']).to_owned();
    DiffLine { sign, old: number(change.old_index()), new: number(change.new_index()), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(old: &str, new: &str) -> String {
        lines(old, new).iter().map(|l| format!("{}{}", l.sign, l.text)).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn shows_changes_with_their_surroundings() {
        assert_eq!(signs("a\nb\nc\n", "a\nx\nc\n"), " a|-b|+x| c");
        assert_eq!(signs("same\n", "same\n"), "");
        let numbers: String = (0..20).map(|n| format!("{n}\n")).collect();
        let changed = lines(&numbers, &numbers.replace("10\n", "ten\n"));
        assert_eq!(changed.len(), 8);
        assert_eq!((changed[3].old, changed[3].new, changed[4].new), (Some(11), None, Some(11)));
        assert_eq!(added("a\nb").iter().map(|l| l.sign).collect::<String>(), "++");
    }
}
