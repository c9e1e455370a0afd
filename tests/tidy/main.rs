//! Rules of the house, read off the sources.
//!
//! Each rule stands in its own file with tests on bad snippets: a rule that cannot fail is none. Here they meet the real tree; a message is
//! `file:line: what is wrong`.

// All of this is test code, not only what stands in `#[test]` functions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod assets;
mod facts;
mod imports;
mod shape;
mod source;
mod texts;

use source::{Tree, Violation};
use std::sync::LazyLock;

fn tree() -> &'static Tree {
    static TREE: LazyLock<Tree> = LazyLock::new(|| Tree::load(&source::root().join("src")));
    &TREE
}

#[track_caller]
fn none(violations: Vec<Violation>) {
    let mut lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    lines.sort();
    lines.dedup();
    assert!(lines.is_empty(), "{} against the rules of the house:\n{}\n", lines.len(), lines.join("\n"));
}

#[test]
fn the_tree_is_read_whole() {
    let tree = tree();
    for module in ["domain::tool", "tools::builtin::read_file", "tui::command"] {
        assert!(tree.sources.iter().any(|source| source.module == module), "{module}");
    }
    assert!(tree.sources.iter().all(|source| !source.path.ends_with("tests.rs")), "tests are no part of the house");
}

#[test]
fn imports_follow_the_directions() {
    none(imports::directions(tree()));
}

#[test]
fn what_must_never_be_used_is_not() {
    none(imports::forbidden(tree()));
}

#[test]
fn siblings_do_not_import_each_other() {
    none(imports::siblings(tree()));
}

#[test]
fn files_and_functions_are_small_and_headed() {
    none(shape::sizes(tree()));
    none(shape::headers(tree()));
}

#[test]
fn nothing_is_left_undone() {
    none(shape::undone(tree()));
    none(shape::marks(&source::root()));
}

#[test]
fn names_say_what_things_are() {
    none(shape::names(tree()));
}

#[test]
fn every_key_has_a_text_and_every_text_a_use() {
    let catalogue = texts::catalogue(&source::root());
    none(texts::keys(tree(), &catalogue));
    none(texts::arguments(tree(), &catalogue));
}

#[test]
fn the_screen_holds_no_texts_of_its_own() {
    none(texts::interface(tree()));
}

#[test]
fn every_asset_is_in_its_table() {
    none(assets::tables(tree(), &source::root()));
}

#[test]
fn aliases_name_the_parameters_that_tools_have() {
    none(assets::aliases(&source::root()));
}
