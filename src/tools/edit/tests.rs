use super::*;
use proptest::prelude::*;

fn block(search: &str, replace: &str) -> Block {
    Block { search: search.to_owned(), replace: replace.to_owned() }
}

fn edited(text: &str, blocks: &[Block]) -> String {
    apply(text, blocks).unwrap().text
}

#[test]
fn reads_blocks_with_noise_around() {
    let diff = "Here:\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\nand\n<<<<<<<  SEARCH  \nx\n\n=======\n>>>>>>> REPLACE";
    assert_eq!(parse(diff).unwrap(), [block("a\n", "b\n"), block("x\n\n", "")]);
    assert_eq!(parse("<<<<<<< SEARCH\r\na\r\n=======\r\nb\r\n>>>>>>> REPLACE\r\n").unwrap(), [block("a\n", "b\n")]);
}

#[test]
fn a_conflict_of_git_may_stand_inside() {
    let diff = "<<<<<<< SEARCH\n<<<<<<< HEAD\nours\n=======\ntheirs\n=======\n>>>>>>> branch\n>>>>>>> REPLACE";
    let blocks = parse(diff).unwrap();
    assert_eq!(blocks[0], block("<<<<<<< HEAD\nours\n", "theirs\n=======\n>>>>>>> branch\n"));
}

#[test]
fn broken_blocks_say_what_is_missing() {
    for (diff, says) in [
        ("nothing", "no SEARCH/REPLACE block"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE", "no `=======`"),
        ("<<<<<<< SEARCH\na\n=======\nb", "does not end"),
        ("<<<<<<< SEARCH\na\n=======\nb\n<<<<<<< SEARCH\n", "Block 1 does not end"),
        (">>>>>>> REPLACE", "without a block"),
    ] {
        assert!(parse(diff).unwrap_err().contains(says), "{diff}");
    }
}

#[test]
fn whole_lines_first() {
    // "a" is also a piece of "bar"; as a line it stands once.
    assert_eq!(edited("bar\na\n", &[block("a\n", "x\ny\n")]), "bar\nx\ny\n");
    assert_eq!(edited("one\ntwo", &[block("two\n", "2\n")]), "one\n2", "no newline at the end before, none after");
    assert_eq!(edited("one\ntwo\nthree\n", &[block("two\n", "")]), "one\nthree\n");
    assert_eq!(edited("one\ntwo", &[block("two\n", "")]), "one\n");
    assert_eq!(edited("one\ntwo\n", &[block("one\n", "\n")]), "\ntwo\n", "an empty line is not nothing");
    assert_eq!(edited("one\n", &[block("one\n", "")]), "");
}

#[test]
fn a_piece_of_a_line() {
    assert_eq!(edited("let x = 1;\n", &[block("x = 1", "y = 2")]), "let y = 2;\n");
    assert_eq!(
        edited("let x = 1;\n", &[block("x = 1\n", "y = 2\n")]),
        "let y = 2;\n",
        "written as a line, meant as a piece"
    );
    assert_eq!(edited("a b", &[block("b", "")]), "a ");
}

#[test]
fn blanks_at_line_ends_and_indentation_are_forgiven() {
    let found = apply("a  \nb\n", &[block("a\nb \n", "c\n")]).unwrap();
    assert_eq!((found.text.as_str(), found.matches.as_slice()), ("c\n", [Match::LineEnds].as_slice()));
    let text = "fn f() {\n        if x {\n            y();\n        }\n}\n";
    let found = apply(text, &[block("if x {\n    y();\n}\n", "if z {\n    y();\n\n    w();\n}\n")]).unwrap();
    assert_eq!(found.text, "fn f() {\n        if z {\n            y();\n\n            w();\n        }\n}\n");
    assert_eq!(found.matches, [Match::Indentation]);
    // Moved in too far by the model.
    assert_eq!(edited("if x:\n\ty\n", &[block("\tif x:\n\t\ty\n", "\tif z:\n\t\ty\n")]), "if z:\n\ty\n");
    // Not moved as one: this is another text.
    assert!(apply("if x:\n  y\n", &[block("  if x:\n      y\n", "z\n")]).is_err());
}

#[test]
fn one_place_only() {
    let text = "start\nx = 1\nmiddle\nx = 1\nend\n";
    let error = apply(text, &[block("x = 1\n", "x = 2\n")]).unwrap_err();
    assert!(error.contains("2 places (lines 2, 4)"), "{error}");
    // Behind the block before there is only one.
    assert_eq!(
        edited(text, &[block("middle\n", "MIDDLE\n"), block("x = 1\n", "x = 2\n")]),
        "start\nx = 1\nMIDDLE\nx = 2\nend\n"
    );
    // As many blocks as places.
    assert_eq!(
        edited(text, &[block("x = 1\n", "x = 2\n"), block("x = 1\n", "x = 3\n")]),
        "start\nx = 2\nmiddle\nx = 3\nend\n"
    );
    // Out of order is no fault where it is clear.
    assert_eq!(edited("a\nb\n", &[block("b\n", "B\n"), block("a\n", "A\n")]), "A\nB\n");
    assert!(apply("a\nb\nc\n", &[block("a\nb\n", ""), block("b\nc\n", "")]).unwrap_err().contains("overlaps"));
}

#[test]
fn what_is_not_there_shows_what_is() {
    let text = "fn main() {\n    let colour = \"red\";\n    println!(\"{colour}\");\n}\n";
    let error = apply(text, &[block("    let color = \"red\";\n", "")]).unwrap_err();
    assert!(error.contains("    2 |     let colour = \"red\";"), "{error}");
    let error = apply(text, &[block("completely different text that is nowhere\n", "")]).unwrap_err();
    assert!(!error.contains("nearest"), "{error}");
    assert!(apply(text, &[block(" \n", "x")]).unwrap_err().contains("empty"));
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec("[ ]{0,4}[ab]{0,2}[ ]{0,1}", 1..14)
        .prop_flat_map(|lines| (Just(lines.join("\n")), prop_oneof![Just(""), Just("\n")]))
        .prop_map(|(text, end)| text + end)
}

proptest! {
    #[test]
    fn exact_blocks_change_only_what_they_name(text in text(), from in 0usize..14, count in 1usize..4, replace in "([xy]{1,3}\n){0,3}") {
        let lines: Vec<&str> = text.lines().collect();
        prop_assume!(from + count <= lines.len());
        let run = &lines[from..from + count];
        prop_assume!(!run.concat().trim().is_empty());
        let search = run.join("\n") + "\n";
        let times = (0..=lines.len() - count).filter(|&at| lines[at..at + count] == *run).count();
        match apply(&text, &[block(&search, &replace)]) {
            Ok(edited) => {
                prop_assert_eq!(times, 1, "only a clear place is changed");
                let mut expected: Vec<&str> = lines[..from].to_vec();
                expected.extend(replace.lines());
                expected.extend(&lines[from + count..]);
                prop_assert_eq!(edited.text.lines().collect::<Vec<_>>(), expected);
                prop_assert_eq!(edited.matches, [Match::Exact]);
                if !edited.text.is_empty() && !replace.is_empty() {
                    prop_assert_eq!(edited.text.ends_with('\n'), text.ends_with('\n'));
                }
            }
            Err(error) => prop_assert!(times > 1 && error.contains("places"), "{} times: {error}", times),
        }
    }

    #[test]
    fn a_text_moved_in_is_found_and_the_replacement_moved_alike(lines in proptest::collection::vec("[ ]{0,4}[ab]{1,3}", 1..6), by in 1usize..8) {
        // The block starts at the left; in the file everything stands `by` further in.
        let mut block_lines = lines.clone();
        block_lines[0] = block_lines[0].trim().to_owned();
        let there: String = block_lines.iter().map(|line| format!("{}{line}\n", " ".repeat(by))).collect();
        let text = format!("start\n{there}end\n");
        let search: String = block_lines.iter().map(|line| format!("{line}\n")).collect();
        let replace = search.replace(['a', 'b'], "x");
        prop_assume!(pieces(&text, &block(&search, "")).is_empty());
        let edited = apply(&text, &[block(&search, &replace)]).unwrap();
        prop_assert_eq!(edited.text, format!("start\n{}end\n", there.replace(['a', 'b'], "x")));
    }

    #[test]
    fn nothing_breaks_it(text in "([ab ]{0,3}\n?){0,12}", blocks in proptest::collection::vec(("([ab ]{0,3}\n?){0,3}", "([ab ]{0,3}\n?){0,3}"), 1..4)) {
        let blocks: Vec<Block> = blocks.iter().map(|(s, r)| block(s, r)).collect();
        let _ = apply(&text, &blocks);
        let written: String = blocks.iter().map(|b| format!("<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n", b.search, b.replace)).collect();
        prop_assert_eq!(parse(&written).unwrap().len(), blocks.len());
    }
}
