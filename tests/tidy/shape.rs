//! How files look: small, headed, finished, well named.

use crate::source::{Tree, Violation, files, shown};
use std::path::Path;

/// Lines of a file without its tests.
const MOST_LINES: usize = 500;
/// Lines of a function.
const MOST_FUNCTION: usize = 60;

/// Files and functions that are too long.
pub fn sizes(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        let lines = source.text.lines().count().saturating_sub(source.facts.test_lines);
        if lines > MOST_LINES {
            found.push(
                source.violation(
                    1,
                    format!("{lines} lines without tests; at most {MOST_LINES}: split by owner of state"),
                ),
            );
        }
        for function in source.facts.functions.iter().filter(|function| function.lines > MOST_FUNCTION) {
            let what = format!("fn {} has {} lines; at most {MOST_FUNCTION}", function.name, function.lines);
            found.push(source.violation(function.line, what));
        }
    }
    found
}

/// Files that do not say what they own.
pub fn headers(tree: &Tree) -> Vec<Violation> {
    tree.sources
        .iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.violation(1, "a module begins with `//! ` and says what it owns"))
        .collect()
}

/// Macros that stand for something that is not there, or write past the screen.
pub fn undone(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for (name, line) in &source.facts.macros {
            let what = match name.rsplit("::").next().unwrap_or_default() {
                "todo" | "unimplemented" => "nothing is called done that is not",
                "println" | "print" | "dbg" => "nothing is printed past the screen; write to the stream that is meant",
                "eprintln" | "eprint" if source.module != "main" => "only main writes to standard error by itself",
                _ => continue,
            };
            found.push(source.violation(*line, format!("{name}!: {what}")));
        }
    }
    found
}

/// Marks of unfinished work, in sources and tests alike.
pub fn marks(root: &Path) -> Vec<Violation> {
    let mut all = files(&root.join("src"), &["rs"]);
    all.extend(files(&root.join("tests"), &["rs"]));
    let texts = all.iter().map(|path| (shown(path), std::fs::read_to_string(path).unwrap()));
    texts.flat_map(|(path, text)| marks_in(&path, &text)).collect()
}

fn marks_in(path: &str, text: &str) -> Vec<Violation> {
    // Put together, so that this file does not hold them.
    let words = ["FIX", "XX", "TO"].map(|half| {
        half.to_owned()
            + if half == "XX" {
                "X"
            } else if half == "TO" {
                "DO"
            } else {
                "ME"
            }
    });
    let ignored = format!("#[{}", "ignore");
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mark = words
            .iter()
            .find(|word| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word.as_str()));
        let skipped = line.trim_start().starts_with(&ignored);
        if mark.is_some() || skipped {
            let what = mark.map_or("a test that does not run is none", |_| "finish it, or write an issue");
            found.push(Violation { path: path.to_owned(), line: index + 1, what: what.to_owned() });
        }
    }
    found
}

/// Names that say nothing.
pub fn names(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for source in &tree.sources {
        for (name, line) in &source.facts.names {
            let low = name.to_lowercase();
            if ["manager", "helper", "helpers", "util", "utils"].iter().any(|empty| low.ends_with(empty)) {
                found.push(source.violation(*line, format!("{name}: name it after what it owns")));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_functions_are_found_and_tests_do_not_count() {
        let body = "    x;\n".repeat(MOST_FUNCTION);
        let long = format!("//! H.\nfn f() {{\n{body}}}\n");
        assert_eq!(sizes(&Tree::of(&[("src/a.rs", &long)])).len(), 1);
        let many = format!("//! H.\n{}", "const A: u8 = 1;\n".repeat(MOST_LINES));
        assert!(sizes(&Tree::of(&[("src/a.rs", &many)]))[0].what.starts_with("501 lines"));
        let tests = format!("//! H.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "const A: u8 = 1;\n".repeat(MOST_LINES));
        assert_eq!(sizes(&Tree::of(&[("src/a.rs", &tests)])), []);
    }

    #[test]
    fn headers_are_missed() {
        assert_eq!(headers(&Tree::of(&[("src/a.rs", "//! Says."), ("src/b.rs", "// No.\nfn f() {}")])).len(), 1);
    }

    #[test]
    fn what_is_not_there_is_found() {
        let text = "fn f() { todo!(); std::println!(\"x\"); vec![unimplemented!()]; write!(f, \"x\"); }\n#[cfg(test)]\nmod t { fn g() { todo!() } }";
        assert_eq!(undone(&Tree::of(&[("src/a.rs", text)])).len(), 3);
        let [fix, later] = [["FIX", "ME"].concat(), ["TO", "DO"].concat()];
        let text = format!("// {fix}: later\nlet x = \"{later}\";\n  #[{}]\nfn t() {{}}\nstruct {later}s;", "ignore");
        assert_eq!(marks_in("src/a.rs", &text).iter().map(|v| v.line).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn empty_names_are_found() {
        let tree =
            Tree::of(&[("src/a.rs", "mod utils {}\nstruct TaskManager;\nenum Path { Helper }\nstruct Managers;")]);
        assert_eq!(names(&tree).iter().map(|v| v.line).collect::<Vec<_>>(), [1, 2]);
    }
}
