use super::*;
use crate::tui::text::glyph::Signs;
use crate::tui::text::row::Row;
use crate::tui::theme::Role;
use proptest::prelude::*;

fn setting(width: u16) -> Setting<'static> {
    Setting { width, base: Role::Text, signs: Signs::Symbols, image: "image", colours: None }
}

fn all_rows(blocks: &Blocks, text: &str, width: u16) -> Vec<Row> {
    (0..blocks.count()).flat_map(|i| blocks.render(text, i, &setting(width)).rows).collect()
}

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.text.to_string()).collect()
}

fn covers(blocks: &Blocks, text: &str) {
    let mut at = 0;
    for i in 0..blocks.count() {
        let range = blocks.range(i);
        assert_eq!(range.start, at, "block {i}");
        at = range.end;
        if !range.is_empty() {
            assert_eq!(blocks.at(range.start), i);
            assert_eq!(blocks.at(range.end - 1), i);
        }
    }
    assert_eq!(at, text.len());
}

/// Feeds a text in pieces, looking at it after each.
fn stream(text: &str, flow: Flow, cuts: &[usize], group: usize) -> Blocks {
    let mut blocks = Blocks { group, ..Blocks::new(flow) };
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.sort_unstable();
    let mut sealed: Vec<Range<usize>> = Vec::new();
    for mut cut in cuts {
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        blocks.update(&text[..cut], Growth::Open);
        covers(&blocks, &text[..cut]);
        for (i, range) in sealed.iter().enumerate() {
            assert_eq!(blocks.range(i), *range, "a sealed block moved");
        }
        sealed = (0..blocks.list.len()).map(|i| blocks.range(i)).collect();
        // The last sealed block ends where the open one begins.
        let _ = all_rows(&blocks, &text[..cut], 40);
    }
    blocks.update(text, Growth::Whole);
    covers(&blocks, text);
    blocks
}

fn whole(text: &str, width: u16) -> Vec<Row> {
    markdown::render(text, 0..text.len(), Context::default(), &setting(width)).rows
}

fn same(text: &str, cuts: &[usize], width: u16) {
    // Sealed one by one, a few at a time, and nearly all at once.
    for group in [1, 24, scan::GROUP] {
        same_in_groups(text, cuts, width, group);
    }
}

fn same_in_groups(text: &str, cuts: &[usize], width: u16, group: usize) {
    let blocks = stream(text, Flow::Markdown, cuts, group);
    assert_eq!(blocks.forced(), 0);
    let (ours, theirs) = (all_rows(&blocks, text, width), whole(text, width));
    let differs = (0..ours.len().max(theirs.len())).find(|&i| ours.get(i) != theirs.get(i));
    if let Some(i) = differs {
        let short: String = text.chars().take(300).collect();
        panic!("row {i}:\n ours  {:?}\n whole {:?}\n in {short:?}\n", ours.get(i), theirs.get(i));
    }
}

#[test]
fn what_is_final_is_sealed_and_small_blocks_together() {
    let long = "word ".repeat(60);
    let mut blocks = Blocks::new(Flow::Markdown);
    blocks.update("# One\n\npara\n\n- a\n- b\n", Growth::Open);
    assert_eq!((blocks.count(), blocks.range(0)), (1, 0..21));
    let text = format!("# One\n\npara\n\n- a\n- b\n\n{long}\n\nopen\n");
    blocks.update(&text, Growth::Open);
    assert_eq!((blocks.count(), blocks.range(0)), (2, 0..text.len() - 5));
    blocks.update(&text, Growth::Whole);
    assert_eq!((blocks.count(), blocks.forced()), (2, 0));
}

#[test]
fn sealed_is_whole_for_chosen_documents() {
    for text in [
        "1. a\n1. b\n1. c\n\ntext\n",
        "7. a\n8. b\n\n   more\n9. c\n",
        "- a\n  - b\n    - c\n- d\n\n- e\n* f\n",
        "para\n- tight\n- list\npara\n\n- loose\n\n- list\n",
        "```rust\nfn a() {}\n```\ntext\n~~~\nx\n",
        "  ```\n  a\n   b\n  ```\n",
        "- x\n  ```\n  code\n  ```\n- y\n",
        "> q\n> - a\n> - b\n\n> other\n",
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\nafter\n",
        "see [a][1] and [b]\n\n[1]: http://x.y\n[b]: http://z\n",
        "Title\n===\n\nSub\n---\ntext\n***\n",
        "<div>\nhi\n</div>\n\n<!-- c\n\nd -->\ntext\n",
        "    indented\n\n    code\n\ntext\n",
        "- [ ] a\n- [x] b\n",
        "\n\n\nlate\n",
        "[only]: http://definition\n",
        "",
    ] {
        let every: Vec<usize> = (0..=text.len()).collect();
        same(text, &every, 30);
        same(text, &[], 30);
    }
}

#[test]
fn a_long_fence_is_cut_at_line_ends_and_looks_whole() {
    let code: String = (0..900).map(|i| format!("let x{i} = {i}; // line\n")).collect();
    let text = format!("before\n\n```rust\n{code}```\nafter\n");
    let cuts: Vec<usize> = (0..text.len()).step_by(97).collect();
    same(&text, &cuts, 40);
    let mut blocks = Blocks::new(Flow::Markdown);
    blocks.update(&text[..text.len() - 10], Growth::Open);
    assert!(blocks.count() > 4, "parts of the open fence are sealed");
    let parses = blocks.parses();
    blocks.update(&text[..text.len() - 9], Growth::Open);
    assert_eq!(blocks.parses(), parses, "a fence is not parsed again");
}

#[test]
fn text_without_line_ends_is_cut() {
    let text = "word ".repeat(20_000);
    for flow in [Flow::Markdown, Flow::Plain] {
        let mut blocks = Blocks::new(flow);
        let mut longest = 0;
        for end in (16..text.len()).step_by(16) {
            blocks.update(&text[..end], Growth::Open);
            longest = longest.max(end - blocks.range(blocks.count() - 1).start);
        }
        assert!(longest <= 17 * 1024, "{flow:?}: {longest}");
        blocks.update(&text, Growth::Open);
        covers(&blocks, &text);
    }
}

#[test]
fn rows_of_a_long_table_keep_their_head() {
    let rows: String = (0..2000).map(|i| format!("| {i} | value {i} |\n")).collect();
    let text = format!("| n | v |\n|---|---|\n{rows}\nafter\n");
    let blocks = stream(&text, Flow::Markdown, &(0..text.len()).step_by(333).collect::<Vec<_>>(), scan::GROUP);
    assert!(blocks.forced() > 0);
    let rows = texts(&all_rows(&blocks, &text, 40));
    assert_eq!(rows.len(), 2000 + 2 + 2, "head, line, rows, gap, paragraph");
    assert!(rows[1500].starts_with("1498"), "{:?}", &rows[1499..1502]);
}

#[test]
fn a_row_cut_goes_on_in_the_next_block() {
    let text = "word ".repeat(100);
    let mut blocks = Blocks::new(Flow::Markdown);
    blocks.update(&text, Growth::Open);
    let rows = blocks.render(&text, 0, &setting(20)).rows;
    blocks.cut_open(rows[5].source.start);
    assert_eq!(blocks.count(), 2);
    covers(&blocks, &text);
    assert_eq!(texts(&all_rows(&blocks, &text, 20)), texts(&rows));
    assert_eq!(blocks.update(&text, Growth::Whole), Some(0), "a whole text is whole again");
    assert_eq!((blocks.count(), blocks.forced()), (1, 0));
    assert_eq!(texts(&all_rows(&blocks, &text, 33)), texts(&whole(&text, 33)));
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c *`_~\\[\\]]{0,12}",
        2 => "(  |    )?(-|\\*|1\\.|2\\)) {1,2}[a-c `*]{0,8}",
        2 => "( |  )?(```|~~~|````)(rs)?",
        1 => "> {0,2}[a-c -]{0,6}",
        1 => "#{1,3} [a-c]{0,5}",
        1 => Just("---".to_owned()),
        1 => Just("===".to_owned()),
        2 => "\\|[a-b ]{0,3}\\|[a-b`]{0,3}\\|",
        1 => Just("|--|:-:|".to_owned()),
        1 => "<(div|b|!-- x|/div)>?",
        1 => "\\[[ab]\\]: [a-z]{1,3}",
        3 => Just(String::new()),
        1 => " {1,6}[a-c]{1,4}",
        1 => "[天气好，。]{1,20}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn sealed_is_whole(lines in proptest::collection::vec(line(), 0..14), cuts in proptest::collection::vec(any::<usize>(), 0..8), width in 8_u16..40) {
        let text = lines.join("\n");
        same(&text, &cuts, width);
    }

    #[test]
    fn plain_lines_join_to_the_text(lines in proptest::collection::vec("[a-c 天气\t]{0,30}", 0..200), cuts in proptest::collection::vec(any::<usize>(), 0..8), width in 4_u16..40) {
        let text = lines.join("\n");
        let blocks = stream(&text, Flow::Plain, &cuts, scan::GROUP);
        let rows = all_rows(&blocks, &text, width);
        let mut at = 0;
        for row in &rows {
            prop_assert!(row.width <= width);
            prop_assert!(text[at..row.source.start].chars().all(char::is_whitespace));
            at = row.source.end;
        }
        prop_assert!(text[at..].chars().all(char::is_whitespace));
    }

    #[test]
    fn markdown_rows_fit(lines in proptest::collection::vec(line(), 0..14), width in 1_u16..40) {
        let text = lines.join("\n");
        for row in whole(&text, width) {
            prop_assert!(row.width <= width, "{:?} in {}", row, width);
            prop_assert!(row.text.chars().all(|c| !c.is_control()));
        }
    }
}
