//! Markdown as it looks: snapshots with role names, wide and narrow, in two languages.

use crate::sheet::{Sheet, dump, text};
use mcpane::strings::{Language, Strings};
use mcpane::tui::transcript::Filter;

fn page(source: &str, width: u16, language: Language) -> String {
    let mut sheet = Sheet::new(Filter::ANSWER, width, 200);
    sheet.strings = Strings::new(language);
    sheet.answer(source);
    let buffer = sheet.draw();
    let rows = text(&buffer).iter().rposition(|line| !line.is_empty()).unwrap_or(0) + 1;
    let mut page = buffer.clone();
    page.resize(ratatui::layout::Rect::new(0, 0, width, rows as u16));
    dump(&page)
}

#[test]
fn english_zoo() {
    insta::assert_snapshot!("zoo_en_80", page(include_str!("zoo_en.md"), 82, Language::En));
    insta::assert_snapshot!("zoo_en_40", page(include_str!("zoo_en.md"), 42, Language::En));
}

#[test]
fn chinese_zoo() {
    insta::assert_snapshot!("zoo_zh_80", page(include_str!("zoo_zh.md"), 82, Language::Zh));
    insta::assert_snapshot!("zoo_zh_40", page(include_str!("zoo_zh.md"), 42, Language::Zh));
}
