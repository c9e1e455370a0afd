//! Every kind of entry as it looks, folded and opened, in two languages and in ASCII.

use crate::gallery::{conversation, open_all};
use crate::sheet::{Sheet, dump, text};
use mcpane::strings::{Language, Strings};
use mcpane::tui::transcript::{Filter, plain};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn cut(buffer: &Buffer) -> Buffer {
    let rows = text(buffer).iter().rposition(|line| !line.is_empty()).unwrap_or(0) + 1;
    let mut page = buffer.clone();
    page.resize(Rect::new(0, 0, buffer.area.width, rows as u16));
    page
}

fn sheet(filter: Filter, width: u16, language: Language) -> Sheet {
    let mut sheet = Sheet::new(filter, width, 200);
    sheet.strings = Strings::new(language);
    conversation(&mut sheet.store, sheet.now);
    sheet.draw();
    sheet
}

#[test]
fn calls_folded() {
    let mut sheet = sheet(Filter::TOOLS, 64, Language::En);
    insta::assert_snapshot!("tools_folded_en", dump(&cut(&sheet.draw())));
    sheet.area.width = 34;
    sheet.strings = Strings::new(Language::Zh);
    insta::assert_snapshot!("tools_folded_zh_narrow", text(&cut(&sheet.draw())).join("\n"));
}

#[test]
fn a_narrow_call_says_how_it_ended() {
    let mut sheet = sheet(Filter::TOOLS, 40, Language::En);
    for columns in [40, 64] {
        sheet.area.width = columns;
        let lines = text(&cut(&sheet.draw()));
        assert!(lines.iter().any(|line| line.contains("interrupted, may have run")), "{columns}: {lines:#?}");
    }
}

#[test]
fn calls_opened() {
    let mut sheet = sheet(Filter::TOOLS, 64, Language::Zh);
    sheet.with(open_all);
    insta::assert_snapshot!("tools_open_zh", dump(&cut(&sheet.draw())));
}

#[test]
fn ascii_is_ascii() {
    let mut sheet = sheet(Filter::TIMELINE, 64, Language::En);
    sheet.ascii = true;
    let lines = text(&cut(&sheet.draw()));
    // The texts themselves hold what they hold.
    let ours = lines.iter().filter(|line| !["纽", "24 °C"].iter().any(|text| line.contains(text)));
    for line in ours {
        assert!(line.is_ascii(), "{line}");
    }
}

#[test]
fn the_dump_on_leaving() {
    let sheet = sheet(Filter::TIMELINE, 64, Language::En);
    insta::assert_snapshot!("plain_en", plain(&sheet.store, &sheet.strings).collect::<Vec<_>>().join("\n"));
}
