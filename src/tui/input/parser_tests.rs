use super::*;
use proptest::prelude::*;

fn parse(bytes: &[u8]) -> Vec<Received> {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(bytes, &mut out);
    parser.expire(&mut out);
    out
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Received {
    Received::Key(KeyEvent::new(code, modifiers))
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
const ALT: KeyModifiers = KeyModifiers::ALT;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

/// Whole sequences and the one key each is. None is a prefix of a longer one when another follows it.
fn table() -> Vec<(&'static [u8], Received)> {
    use KeyCode::{BackTab, Backspace, Char, Delete, Down, End, Enter, Esc, F, Home, Left, PageUp, Right, Tab, Up};
    vec![
        (b"a", key(Char('a'), NONE)),
        (b" ", key(Char(' '), NONE)),
        ("纽".as_bytes(), key(Char('纽'), NONE)),
        ("👩".as_bytes(), key(Char('👩'), NONE)),
        (b"\r", key(Enter, NONE)),
        (b"\n", key(Char('j'), CTRL)),
        (b"\t", key(Tab, NONE)),
        (b"\x7f", key(Backspace, NONE)),
        (b"\x00", key(Char(' '), CTRL)),
        (b"\x0f", key(Char('o'), CTRL)),
        (b"\x1f", key(Char('_'), CTRL)),
        (b"\x1b\r", key(Enter, ALT)),
        (b"\x1bd", key(Char('d'), ALT)),
        ("\x1bé".as_bytes(), key(Char('é'), ALT)),
        (b"\x1b\x7f", key(Backspace, ALT)),
        (b"\x1b[A", key(Up, NONE)),
        (b"\x1bOB", key(Down, NONE)),
        (b"\x1b[1;5C", key(Right, CTRL)),
        (b"\x1b[1;2D", key(Left, SHIFT)),
        (b"\x1b\x1b[D", key(Left, ALT)),
        (b"\x1b[H", key(Home, NONE)),
        (b"\x1bOF", key(End, NONE)),
        (b"\x1b[4~", key(End, NONE)),
        (b"\x1b[3;5~", key(Delete, CTRL)),
        (b"\x1b[5~", key(PageUp, NONE)),
        (b"\x1b[5$", key(PageUp, SHIFT)),
        (b"\x1b[5^", key(PageUp, CTRL)),
        (b"\x1b[Z", key(BackTab, SHIFT)),
        (b"\x1bOP", key(F(1), NONE)),
        (b"\x1b[[B", key(F(2), NONE)),
        (b"\x1b[13~", key(F(3), NONE)),
        (b"\x1b[1;2R", key(F(3), SHIFT)),
        (b"\x1b[15~", key(F(5), NONE)),
        (b"\x1b[24~", key(F(12), NONE)),
        (b"\x1bOM", key(Enter, NONE)),
        (b"\x1bOu", key(Char('5'), NONE)),
        (b"\x1b[13;2u", key(Enter, SHIFT)),
        (b"\x1b[27u", key(Esc, NONE)),
        (b"\x1b[9;2u", key(BackTab, SHIFT)),
        (b"\x1b[97;5u", key(Char('a'), CTRL)),
        (b"\x1b[97:65;2u", key(Char('A'), SHIFT)),
        (b"\x1b[100;4u", key(Char('D'), ALT | SHIFT)),
        (b"\x1b[106;5:2u", key(Char('j'), CTRL)),
        (b"\x1b[57404;129u", key(Char('5'), NONE)),
        (b"\x1b[27;5;13~", key(Enter, CTRL)),
        (b"\x1b[I", Received::Focused),
        (b"\x1b[O", Received::Unfocused),
        (b"\x1b[?1u", Received::Answer(Answer::Keyboard(1))),
        (b"\x1b[?2026;2$y", Received::Answer(Answer::Synchronizes)),
        (b"\x1b[?2027;1$y", Received::Answer(Answer::Joins)),
        (b"\x1b[?62;22c", Received::Answer(Answer::Attributes)),
        (b"\x1b]11;rgb:1111/ffff/8080\x1b\\", Received::Answer(Answer::Background(0x11, 0xff, 0x80))),
        (b"\x1b]11;#102030\x07", Received::Answer(Answer::Background(0x10, 0x20, 0x30))),
        (b"\x1b[200~one\r\ntwo\x1b[A\x1b[201~", Received::Paste("one\ntwo\x1b[A".into())),
    ]
}

/// Sequences that are nothing to us and must not type anything.
const SWALLOWED: &[&[u8]] = &[
    b"\x1b[<0;3;4M",
    b"\x1b[<35;3;4m",
    b"\x1b[M !!",
    b"\x1b[?2026;0$y",
    b"\x1b[?2027;0$y",
    b"\x1b[?997;1n",
    b"\x1b[24;80R",
    b"\x1b[97;1:3u",
    b"\x1b[57441;2u",
    b"\x1b[201~",
    b"\x1b]10;rgb:0/0/0\x07",
    b"\x1b]52;c;\x1b\\",
    b"\x1bP>|kitty(0.40)\x1b\\",
    b"\x1bP1$r0m\x1b\\",
    b"\x1b_Gi=1;OK\x1b\\",
    b"\x1b[99999999999u",
    b"\x1b[?1;2;3;4;5z",
    b"\x1bOz",
];

#[test]
fn every_sequence_is_its_key() {
    for (bytes, expected) in table() {
        assert_eq!(parse(bytes), [expected], "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn unknown_sequences_type_nothing() {
    for bytes in SWALLOWED {
        let mut with_key = bytes.to_vec();
        with_key.push(b'x');
        assert_eq!(parse(&with_key), [key(KeyCode::Char('x'), NONE)], "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_lone_escape_waits_for_its_time() {
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    parser.feed(b"\x1b", &mut out);
    assert_eq!((parser.wait(), out.len()), (Wait::Escape, 0));
    parser.expire(&mut out);
    assert_eq!(out, [key(KeyCode::Esc, NONE)]);
    assert_eq!(parser.wait(), Wait::Nothing);
}

#[test]
fn alt_with_the_starters_of_sequences() {
    assert_eq!(parse(b"\x1b["), [key(KeyCode::Char('['), ALT)]);
    assert_eq!(parse(b"\x1bO"), [key(KeyCode::Char('O'), ALT)]);
    assert_eq!(parse(b"\x1b]x"), [key(KeyCode::Char(']'), ALT), key(KeyCode::Char('x'), NONE)]);
    assert_eq!(parse(b"\x1bPx"), [key(KeyCode::Char('P'), ALT), key(KeyCode::Char('x'), NONE)]);
    assert_eq!(parse(b"\x1b[\r"), [key(KeyCode::Char('['), ALT), key(KeyCode::Enter, NONE)]);
    assert_eq!(parse(b"\x1b\x1b"), [key(KeyCode::Esc, NONE), key(KeyCode::Esc, NONE)]);
    assert_eq!(parse(b"\x1b\x1ba"), [key(KeyCode::Esc, NONE), key(KeyCode::Char('a'), ALT)]);
}

#[test]
fn a_paste_without_its_end_is_not_lost() {
    assert_eq!(parse(b"\x1b[200~half a te"), [Received::Paste("half a te".into())]);
}

#[test]
fn a_large_paste_in_small_reads() {
    let text = "line of text\n".repeat(40_000);
    let bytes = format!("\x1b[200~{text}\x1b[201~x").into_bytes();
    let (mut parser, mut out) = (Parser::default(), Vec::new());
    for chunk in bytes.chunks(1021) {
        parser.feed(chunk, &mut out);
    }
    assert_eq!(out, [Received::Paste(text), key(KeyCode::Char('x'), NONE)]);
}

fn sequences() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..table().len() + SWALLOWED.len(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cutting_changes_nothing_and_no_key_is_lost(which in sequences(), cuts in prop::collection::vec(1_usize..9, 1..40)) {
        let table = table();
        let (mut bytes, mut expected) = (Vec::new(), Vec::new());
        for index in which {
            if let Some((sequence, event)) = table.get(index) {
                bytes.extend_from_slice(sequence);
                expected.push(event.clone());
            } else {
                bytes.extend_from_slice(SWALLOWED[index - table.len()]);
            }
        }
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        let mut rest = bytes.as_slice();
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let n = (*cuts.next().unwrap()).min(rest.len());
            parser.feed(&rest[..n], &mut out);
            rest = &rest[n..];
        }
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn any_bytes_are_the_same_in_any_cuts(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 1_usize..7) {
        let (mut whole, mut pieces) = (Parser::default(), Parser::default());
        let (mut a, mut b) = (Vec::new(), Vec::new());
        whole.feed(&bytes, &mut a);
        for chunk in bytes.chunks(cut) {
            pieces.feed(chunk, &mut b);
        }
        whole.expire(&mut a);
        pieces.expire(&mut b);
        prop_assert_eq!(a, b);
    }

    #[test]
    fn after_anything_a_key_is_a_key(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let (mut parser, mut out) = (Parser::default(), Vec::new());
        parser.feed(&bytes, &mut out);
        parser.expire(&mut out);
        out.clear();
        parser.feed(b"q", &mut out);
        prop_assert_eq!(out, [key(KeyCode::Char('q'), NONE)]);
    }
}
