//! Wide text never breaks a border: rows drawn into a buffer, sent as bytes, read by emulated terminals that draw sequences as terminals do.

use crate::sheet::{Sheet, ansi};
use mcpane::tui::text::width;
use mcpane::tui::transcript::Filter;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthChar;

const TEXTS: &[&str] = &[
    "天气很好，明天24℃，● → 左右。「好」",
    "👩\u{200d}💻👩\u{200d}👩\u{200d}👧\u{200d}👦 family 🏳\u{fe0f}\u{200d}🌈 flag",
    "🇩🇪🇫🇷🇨🇳 and 👍🏽 and ❤\u{fe0f} and 1\u{fe0f}\u{20e3} and ⌚\u{fe0e}",
    "cafe\u{301} Z\u{335}\u{321}\u{327}\u{322}a\u{338}l\u{334}g\u{337}o\u{336} \u{301}x",
    "हिन्दी नमस्ते ไทยกำลัง ﷽ العربية עברית 한국어 か\u{3099}",
    "\u{1b}[2J\u{1b}[31mred\u{7}\u{202e}evil\u{200b}\u{feff}\tx",
    "| 名字 | value |\n|---|--:|\n| 👍🏽 | ● |",
    "```\n天气 👩\u{200d}💻 ❤\u{fe0f}\n```",
    "plain ASCII text that is a little longer than the pane is wide",
];

/// A terminal that gives every character the columns it has by itself, as those without grapheme clusters do.
struct Simple {
    cells: Vec<Vec<String>>,
    at: (usize, usize),
    ambiguous: usize,
}

impl Simple {
    fn new(area: Rect, ambiguous: usize) -> Self {
        let row = vec![" ".to_owned(); usize::from(area.width)];
        Self { cells: vec![row; usize::from(area.height)], at: (0, 0), ambiguous }
    }

    fn columns(&self, c: char) -> usize {
        if self.ambiguous == 2 { c.width_cjk() } else { c.width() }.unwrap_or(0)
    }

    fn feed(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c == '\u{1b}' {
                assert_eq!(chars.next(), Some('['));
                let body: String = chars.by_ref().take_while_inclusive(|c| !c.is_ascii_alphabetic());
                if let Some(place) = body.strip_suffix('H') {
                    let (y, x) = place.split_once(';').unwrap();
                    self.at = (x.parse::<usize>().unwrap() - 1, y.parse::<usize>().unwrap() - 1);
                } else {
                    assert!(body.ends_with('m'), "{body:?}");
                }
                continue;
            }
            assert!(!c.is_control(), "{c:?}");
            self.put(c);
        }
    }

    fn put(&mut self, c: char) {
        let (x, y) = self.at;
        let columns = self.columns(c);
        let row = &mut self.cells[y];
        if columns == 0 {
            if let Some(cell) = x.checked_sub(1).and_then(|x| row.get_mut(x)) {
                cell.push(c);
            }
            return;
        }
        for covered in x..x + columns {
            let cell = row.get_mut(covered).unwrap_or_else(|| panic!("{c:?} leaves the screen at {x}"));
            *cell = String::new();
        }
        row[x] = c.to_string();
        self.at.0 += columns;
    }
}

trait TakeInclusive: Iterator<Item = char> {
    fn take_while_inclusive(&mut self, wanted: impl Fn(&char) -> bool) -> String {
        let mut out = String::new();
        for c in self {
            out.push(c);
            if !wanted(&c) {
                break;
            }
        }
        out
    }
}

impl<T: Iterator<Item = char>> TakeInclusive for T {}

/// Frames of a bordered pane while it is scrolled: the whole of it, and what is written from frame to frame.
fn frames(inner: u16) -> Vec<(Buffer, Vec<u8>)> {
    let area = Rect::new(0, 0, inner + 2, 6);
    let mut sheet = Sheet::new(Filter::ANSWER, inner, 6);
    sheet.area.x = 1;
    let mut before = Buffer::empty(area);
    let mut frames = Vec::new();
    let mut frame = |sheet: &mut Sheet| {
        let mut buffer = Buffer::empty(area);
        for y in 0..area.height {
            buffer[(0, y)].set_symbol("|");
            buffer[(inner + 1, y)].set_symbol("|");
        }
        let place = Rect::new(1, 0, inner, 6);
        let attention = sheet.attention;
        sheet.with(|view, store, look| view.draw(store, place, &mut buffer, look, attention));
        let bytes = ansi(&before, &buffer);
        before = buffer.clone();
        frames.push((buffer, bytes));
    };
    for text in TEXTS.iter().chain(TEXTS) {
        sheet.answer(text);
        frame(&mut sheet);
    }
    for rows in [-1, -1, -3, 2, -7, 1, 30] {
        sheet.with(|view, store, look| view.scroll(rows, store, look));
        frame(&mut sheet);
    }
    frames
}

fn borders_hold_in_a_simple_terminal(ambiguous: usize) {
    for inner in [8, 13, 20, 33, 60] {
        let mut terminal = Simple::new(Rect::new(0, 0, inner + 2, 6), ambiguous);
        for (n, (_, bytes)) in frames(inner).iter().enumerate() {
            terminal.feed(bytes);
            for (y, row) in terminal.cells.iter().enumerate() {
                assert_eq!(
                    (row[0].as_str(), row.last().map(String::as_str)),
                    ("|", Some("|")),
                    "frame {n}, row {y}: {row:?}"
                );
            }
        }
    }
}

#[test]
fn borders_hold_where_characters_stand_alone() {
    borders_hold_in_a_simple_terminal(1);
}

#[test]
fn borders_hold_in_vt100() {
    for inner in [8, 13, 20, 33, 60] {
        let mut parser = vt100::Parser::new(6, inner + 2, 0);
        for (n, (buffer, bytes)) in frames(inner).iter().enumerate() {
            parser.process(bytes);
            for y in 0..6 {
                let cell = |x| parser.screen().cell(y, x).map(|cell| cell.contents().to_owned()).unwrap_or_default();
                assert_eq!((cell(0), cell(inner + 1)), ("|".into(), "|".into()), "frame {n}, row {y}");
                // The emulator drops U+FFFD, which real terminals draw; that row is out of step until the next move.
                if (1..=inner).any(|x| buffer[(x, y)].symbol().contains('\u{fffd}')) {
                    continue;
                }
                for x in 1..=inner {
                    let ours = buffer[(x, y)].symbol();
                    if ours.is_ascii() && ours != " " {
                        assert_eq!(cell(x), ours, "frame {n}, {x},{y}");
                    }
                }
            }
        }
    }
}

/// The width of ambiguous characters holds for a process, so this test looks at it in a process of its own.
#[test]
fn borders_hold_where_ambiguous_characters_are_wide() {
    const INSIDE: &str = "MCPANE_TEST_AMBIGUOUS";
    if std::env::var_os(INSIDE).is_some() {
        width::set_ambiguous_wide(true);
        assert_eq!(width::of("●"), 2);
        borders_hold_in_a_simple_terminal(2);
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "wide::borders_hold_where_ambiguous_characters_are_wide"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
