use super::*;
use proptest::prelude::*;

fn span(text: &str) -> Span<'_> {
    Span { text: text.into(), paint: Paint::default(), source: 0..text.len() }
}

fn rows(text: &str, columns: u16) -> Vec<Row> {
    let mut out = Vec::new();
    wrap(&[span(text)], &Frame::plain(columns), 0, &mut out);
    out
}

fn texts(text: &str, columns: u16) -> Vec<String> {
    rows(text, columns).into_iter().map(|row| row.text.into_string()).collect()
}

#[test]
fn words_go_whole_and_long_ones_are_cut() {
    assert_eq!(texts("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(texts("a  b", 10), ["a  b"]);
    assert_eq!(texts("abcdefghij klm", 5), ["abcde", "fghij", "klm"]);
    assert_eq!(texts("ab abcdefgh", 5), ["ab", "abcde", "fgh"]);
    assert_eq!(texts("", 5), [""]);
    assert_eq!(texts("  indented text", 10), ["  indented", "text"]);
    assert_eq!(texts("exact five", 5), ["exact", "five"]);
}

#[test]
fn chinese_breaks_between_characters_but_not_before_punctuation() {
    assert_eq!(texts("纽约明天晴朗。", 12), ["纽约明天晴", "朗。"]);
    assert_eq!(texts("说：「你好」吗", 8), ["说：「你", "好」吗"]);
    assert_eq!(texts("说道：「你好」吗", 8), ["说道：", "「你好」", "吗"]);
    assert_eq!(texts("用 Rust 写的程序", 8), ["用 Rust", "写的程序"]);
    assert_eq!(texts("温度24℃左右", 6), ["温度", "24℃左", "右"]);
}

#[test]
fn tabs_and_controls_are_shown_in_place() {
    assert_eq!(texts("a\tb", 20), ["a   b"]);
    assert_eq!(texts("\tb", 20), ["    b"]);
    assert_eq!(texts("x\u{1b}[31my", 20), ["x␛[31my"]);
    assert_eq!(texts("a\u{202e}b", 20), ["a\u{fffd}b"]);
}

#[test]
fn more_spaces_than_columns_can_be_counted() {
    let spaces = " ".repeat(70_000);
    assert_eq!(texts(&format!("a{spaces}b"), 20), ["a", "b"]);
    let rows = texts(&format!("{spaces}x"), 20);
    assert_eq!(rows.last().map(|row| row.trim()), Some("x"));
    assert_eq!(width::of(&"汉".repeat(70_000)), width::WIDEST);
}

#[test]
fn prefixes_hang() {
    let bar = |text: &str| (text.into(), Paint::default());
    let frame = Frame { width: 12, first: vec![bar("- ")], rest: vec![bar("  ")], ..Frame::default() };
    let mut out = Vec::new();
    wrap(&[span("one two three")], &frame, 0, &mut out);
    let texts: Vec<&str> = out.iter().map(|row| &*row.text).collect();
    assert_eq!(texts, ["- one two", "  three"]);
    assert_eq!(out[1].source, 8..13);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn rows_fit_and_join_to_the_source(text in "([a-z ,.\t]{0,6}|[天气、。「」]{0,4}|[👩💻🇩\u{200d}\u{fe0f}\u{301}\u{7}\u{202e}]{0,3}){0,12}", columns in 1_u16..30) {
        let rows = rows(&text, columns);
        prop_assert!(!rows.is_empty());
        let mut at = 0;
        for row in &rows {
            prop_assert!(row.width <= columns, "{row:?} in {columns}");
            prop_assert_eq!(row.width, width::of(&row.text));
            prop_assert!(row.text.chars().all(|c| !c.is_control()));
            prop_assert_eq!(row.runs.iter().map(|run| run.len as usize).sum::<usize>(), row.text.len());
            if row.source.is_empty() {
                continue;
            }
            // What one character of the source is shown as may be torn, so the character stands in both rows.
            prop_assert!(row.source.start >= at || !sanitize::is_clean(&text));
            prop_assert!(text[at.min(row.source.start)..row.source.start].chars().all(|c| c == ' ' || c == '\t'));
            at = row.source.end;
        }
        prop_assert!(text[at..].chars().all(|c| c == ' ' || c == '\t'), "lost {:?}", &text[at..]);
    }
}
