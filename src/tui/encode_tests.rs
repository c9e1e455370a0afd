use super::*;
use crate::tui::text::width;
use proptest::prelude::*;
use ratatui::style::{Color, Style};

fn buffer(lines: &[&str]) -> Buffer {
    Buffer::with_lines(lines.iter().copied())
}

fn encoded(from: &Buffer, to: &Buffer, frame: &Frame) -> String {
    let mut bytes = Vec::new();
    encode(&mut bytes, &mut from.clone(), to, frame).unwrap();
    String::from_utf8(bytes).unwrap()
}

const fn at(x: u16, y: u16) -> Position {
    Position::new(x, y)
}

#[test]
fn an_unchanged_frame_is_no_bytes() {
    let screen = buffer(&["one", "two"]);
    assert_eq!(
        encoded(&screen, &screen, &Frame { was: Some(at(1, 1)), caret: Some(at(1, 1)), ..Frame::default() }),
        ""
    );
}

#[test]
fn only_what_changed_is_written_and_the_caret_comes_last() {
    let (from, to) = (buffer(&["one", "two"]), buffer(&["one", "twx"]));
    let out = encoded(&from, &to, &Frame { was: Some(at(0, 0)), caret: Some(at(2, 1)), ..Frame::default() });
    assert_eq!(out, "\x1b[?2026h\x1b[?25l\x1b[2;3Hx\x1b[2;3H\x1b[?25h\x1b[?2026l");
}

#[test]
fn moving_the_caret_alone_is_short() {
    let screen = buffer(&["one"]);
    let out = encoded(&screen, &screen, &Frame { was: Some(at(0, 0)), caret: Some(at(1, 0)), ..Frame::default() });
    assert_eq!(out, "\x1b[?2026h\x1b[1;2H\x1b[?25h\x1b[?2026l");
}

#[test]
fn short_gaps_are_written_and_long_ones_jumped() {
    let (from, to) = (buffer(&["ab cd efghijkl"]), buffer(&["xb yd efghijkz"]));
    let out = encoded(&from, &to, &Frame::default());
    assert_eq!(out, "\x1b[?2026h\x1b[1;1Hxb y\x1b[9Cz\x1b[?2026l");
}

#[test]
fn no_cell_can_steer_the_terminal() {
    let from = buffer(&["abc"]);
    for evil in ["\x1b]0;x\x07", "\x1b", "\u{9b}31m", "\n"] {
        // In a debug build the buffer itself does not take these.
        assert_eq!(sanitize::cell(evil), "\u{fffd}");
    }
    for evil in ["\u{202e}", "a\u{200b}", "\u{feff}"] {
        let mut to = from.clone();
        to[(1, 0)].set_symbol(evil);
        let out = encoded(&from, &to, &Frame { ..Frame::default() });
        assert!(out.contains('\u{fffd}') && !out.contains(evil), "{out:?}");
    }
}

#[test]
fn looks_are_sent_as_far_as_they_differ() {
    let from = buffer(&["    "]);
    let mut to = from.clone();
    let red = Style::new().fg(Color::Rgb(1, 2, 3));
    to.set_string(0, 0, "a", red.add_modifier(Modifier::BOLD));
    to.set_string(1, 0, "b", red);
    to.set_string(2, 0, "c", Style::new());
    let out = encoded(&from, &to, &Frame::default());
    assert_eq!(out, "\x1b[?2026h\x1b[1;1H\x1b[1;38;2;1;2;3ma\x1b[22mb\x1b[39mc\x1b[?2026l");
}

#[test]
fn a_pane_that_moved_up_is_scrolled() {
    let words =
        ["alpha", "be", "gamma ray", "delta", "of", "zeta zeta", "eta", "theta", "iota", "kappa", "l", "mu nu", "xi"];
    let lines = |from: usize| words[from..from + 10].iter().map(|w| format!("{:<24}", w.repeat(2))).collect::<Vec<_>>();
    let screen = |from: usize| Buffer::with_lines(lines(from));
    let (from, to) = (screen(0), screen(2));
    let panes = vec![from.area];
    let out = encoded(&from, &to, &Frame { panes: panes.clone(), ..Frame::default() });
    assert!(out.contains("\x1b[1;10r\x1b[1;1H\x1b[2M\x1b[r"), "{out:?}");
    assert!(out.len() < 100, "{out:?}");
    // Beside another pane only where half-done frames are not seen.
    let narrow = vec![Rect { width: from.area.width - 1, ..from.area }];
    assert!(!encoded(&from, &to, &Frame { panes: narrow.clone(), ..Frame::default() }).contains("M\x1b[r"));
    let frame = Frame { panes: narrow, synchronized: true, ..Frame::default() };
    assert!(encoded(&from, &to, &frame).contains("M\x1b[r"));
}

/// A screen of random text in random looks, drawn as everything is: piece by piece.
fn screens() -> impl Strategy<Value = Buffer> {
    let line = prop::collection::vec(("[a-c纽é ]{0,6}", 0_u8..4), 0..5);
    prop::collection::vec(line, 8).prop_map(|lines| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 24, 8));
        for (y, line) in lines.iter().enumerate() {
            let mut x = 0;
            for (text, look) in line {
                let style = [
                    Style::new(),
                    Style::new().fg(Color::Red).add_modifier(Modifier::BOLD | Modifier::ITALIC),
                    Style::new().bg(Color::Rgb(9, 9, 9)).add_modifier(Modifier::DIM),
                    Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
                ][usize::from(*look)];
                for (piece, columns) in width::pieces(text) {
                    if columns > 0 && x + columns <= 24 {
                        width::put(&mut buffer, x, y as u16, piece, columns, style);
                        x += columns;
                    }
                }
            }
        }
        buffer
    })
}

/// The same content moved up, as a growing answer moves it.
fn grown(buffer: &Buffer, by: u16, fresh: &Buffer) -> Buffer {
    let mut next = buffer.clone();
    shift(&mut next, buffer.area, by);
    let width = usize::from(buffer.area.width);
    let kept = usize::from(buffer.area.height - by) * width;
    next.content[kept..].clone_from_slice(&fresh.content[..usize::from(by) * width]);
    next
}

/// What each cell shows and how; a blank that was written is like one that was not.
fn cells(terminal: &vt100::Parser) -> Vec<String> {
    let screen = terminal.screen();
    let cell = |y, x| {
        let cell = screen.cell(y, x).unwrap();
        // The second half of a wide character is drawn with its first.
        if cell.is_wide_continuation() {
            return String::new();
        }
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        // A blank has no foreground that could be seen.
        let front = (text != " " || cell.inverse()).then(|| (cell.fgcolor(), cell.bold(), cell.dim(), cell.italic()));
        format!("{y},{x} {text} {:?} {} {front:?}", cell.bgcolor(), cell.inverse())
    };
    (0..8).flat_map(|y| (0..24).map(move |x| (y, x))).map(|(y, x)| cell(y, x)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_terminal_shows_what_was_meant(a in screens(), b in screens(), by in 0_u16..4, sync in any::<bool>()) {
        let c = grown(&b, by, &a);
        let mut terminal = vt100::Parser::new(8, 24, 0);
        let mut shown = Buffer::empty(a.area);
        for (number, next) in [&a, &b, &c, &a].into_iter().enumerate() {
            let frame = Frame { unknown: number == 0, synchronized: sync, panes: vec![Rect::new(0, 0, 20, 8), a.area], ..Frame::default() };
            let mut bytes = Vec::new();
            encode(&mut bytes, &mut shown, next, &frame).unwrap();
            terminal.process(&bytes);
            shown = next.clone();
            // The same screen, written from nothing.
            let mut fresh = vt100::Parser::new(8, 24, 0);
            let mut bytes = Vec::new();
            encode(&mut bytes, &mut Buffer::empty(a.area), next, &Frame { ..Frame::default() }).unwrap();
            fresh.process(&bytes);
            let differs = cells(&terminal).into_iter().zip(cells(&fresh)).find(|(a, b)| a != b);
            prop_assert_eq!(differs, None, "frame {}", number);
        }
    }
}
