//! The whole conversation as plain text, for the normal screen after leaving.

use super::store::Store;
use crate::strings::Strings;

/// The conversation line by line, sanitized, not wrapped, without colours.
pub fn plain<'a>(store: &'a Store, strings: &'a Strings) -> impl Iterator<Item = String> + 'a {
    let _ = strings;
    store.iter().map(|(_, slot)| format!("{:?}", slot.cell.kind()))
}
