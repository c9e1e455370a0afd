//! The whole conversation as plain text, for the normal screen after leaving.

use super::store::Store;
use crate::strings::Strings;

/// The conversation line by line, sanitized, not wrapped, without colours; an empty line between entries. Costs what is taken from it.
pub fn plain<'a>(store: &'a Store, strings: &'a Strings) -> impl Iterator<Item = String> + 'a {
    store.iter().enumerate().flat_map(move |(i, (_, slot))| {
        let gap = (i > 0).then(String::new);
        gap.into_iter().chain(slot.cell.plain_lines(strings))
    })
}
