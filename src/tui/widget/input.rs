//! A text field: one line or many, with undo, over the editing engine of `ratatui-textarea`.
//!
//! Owns text, caret, wrapping and scrolling. Does not know Enter, Tab, Escape or history: it answers [`Typed::Ignored`] to what is not its own, and
//! its owner decides. The engine counts characters; here the caret moves and deletes by grapheme clusters. Drawing is our own, so that wide
//! characters, marks for control bytes and the caret's column come from the one table of widths.
//!
//! **Tokens.** A character of the private range from [`TOKEN_BASE`] stands for a label (a folded paste): drawn as the label, moved over and deleted as one.

use crate::tui::text::{sanitize, width};
use crate::tui::theme::{Paint, Role, Theme};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::borrow::Cow;
use tui_textarea::{CursorMove, TextArea};
use unicode_segmentation::UnicodeSegmentation;

/// First character of the private range that stands for labels.
pub const TOKEN_BASE: u32 = 0xF_0000;
/// Number of characters in that range.
pub const TOKENS: u32 = 0x100;

/// What became of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// Not a key of a text field, or at an edge it cannot cross.
    Ignored,
    /// The caret moved.
    Moved,
    /// The text changed.
    Changed,
}

/// How many lines a field takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// One; newlines that are pasted become spaces.
    One,
    /// Any number.
    Many,
}

/// A stretch of a line that stands in one row of the screen, in characters.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    line: usize,
    start: usize,
    end: usize,
}

/// A text field.
#[derive(Debug, Clone)]
pub struct Input {
    area: TextArea<'static>,
    lines: Lines,
    labels: Vec<String>,
    /// First row in sight.
    top: usize,
    /// Column that vertical moves aim at.
    goal: Option<u16>,
    /// Width of the last layout; vertical moves need one.
    width: u16,
    rows: Option<(u16, Vec<Stretch>)>,
}

impl Default for Input {
    fn default() -> Self {
        Self::new(Lines::Many)
    }
}

impl Input {
    /// An empty field.
    pub fn new(lines: Lines) -> Self {
        Self { area: TextArea::default(), lines, labels: Vec::new(), top: 0, goal: None, width: u16::MAX, rows: None }
    }

    /// A field of one line with a text, the caret at its end.
    pub fn line(text: &str) -> Self {
        let mut field = Self::new(Lines::One);
        field.set(text);
        field
    }

    /// The text, lines separated by `\n`. Tokens are in it as their characters.
    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Puts another text in place of this one, the caret at its end. It can be undone.
    pub fn set(&mut self, text: &str) {
        self.area.move_cursor(CursorMove::Top);
        if !self.area.is_empty() {
            self.area.clear();
        }
        self.insert(text);
    }

    /// Inserts a text at the caret.
    pub fn insert(&mut self, text: &str) {
        if text.is_empty() {
            self.changed();
            return;
        }
        let text: Cow<'_, str> = match self.lines {
            Lines::One if text.contains(['\n', '\r']) => {
                Cow::Owned(text.trim_end_matches(['\n', '\r']).replace("\r\n", " ").replace(['\n', '\r'], " "))
            }
            Lines::Many if text.contains('\r') => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
            _ => Cow::Borrowed(text),
        };
        self.area.insert_str(text);
        self.changed();
    }

    /// Labels of the tokens, the first for [`TOKEN_BASE`].
    pub fn set_labels(&mut self, labels: Vec<String>) {
        self.labels = labels;
        self.rows = None;
    }

    /// The token left of the caret, else the one at it.
    pub fn token_at_caret(&self) -> Option<usize> {
        let (line, column) = self.caret();
        let text = &self.area.lines()[line];
        let before = column.checked_sub(1).and_then(|c| text.chars().nth(c));
        before.and_then(token).or_else(|| text.chars().nth(column).and_then(token))
    }

    /// Puts a text in a token's place; the caret stands after it. Whether the token was there.
    pub fn replace_token(&mut self, index: usize, text: &str) -> bool {
        let found = self.area.lines().iter().enumerate().find_map(|(line, content)| {
            content.chars().position(|c| token(c) == Some(index)).map(|column| (line, column))
        });
        let Some((line, column)) = found else { return false };
        self.jump(line, column);
        self.area.delete_next_char();
        self.insert(text);
        true
    }

    /// Line and character of the caret, from 0.
    pub fn caret(&self) -> (usize, usize) {
        let caret = self.area.cursor();
        (caret.0, caret.1)
    }

    /// Whether the caret stands in the first row of the screen layout.
    pub fn in_first_row(&mut self) -> bool {
        self.caret_row() == 0
    }

    /// Whether the caret stands in the last row of the screen layout.
    pub fn in_last_row(&mut self) -> bool {
        let row = self.caret_row();
        row + 1 == self.layout(self.width).len()
    }

    /// The caret to the very end.
    pub fn to_end(&mut self) {
        self.move_to(CursorMove::Bottom);
        self.move_to(CursorMove::End);
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match (key.code, ctrl, alt) {
            (KeyCode::Char(c), false, false) => self.edit(|area| {
                area.insert_char(c);
                true
            }),
            (KeyCode::Backspace, false, false) | (KeyCode::Char('h'), true, false) => self.delete_before(),
            (KeyCode::Delete, false, false) | (KeyCode::Char('d'), true, false) => self.delete_after(),
            (KeyCode::Backspace, ..) | (KeyCode::Char('w'), true, false) => self.edit(TextArea::delete_word),
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), false, true) => self.edit(TextArea::delete_next_word),
            (KeyCode::Char('u'), true, false) => self.edit(TextArea::delete_line_by_head),
            (KeyCode::Char('k'), true, false) => self.edit(TextArea::delete_line_by_end),
            (KeyCode::Char('y'), true, false) => self.edit(TextArea::paste),
            (KeyCode::Char('_' | 'z'), true, false) => self.edit(TextArea::undo),
            (KeyCode::Char('r'), true, false) | (KeyCode::Char('_'), _, true) => self.edit(TextArea::redo),
            _ => self.motion(key.code, ctrl, alt),
        }
    }

    fn motion(&mut self, code: KeyCode, ctrl: bool, alt: bool) -> Typed {
        match (code, ctrl, alt) {
            (KeyCode::Left, false, false) | (KeyCode::Char('b'), true, false) => self.step_back(),
            (KeyCode::Right, false, false) | (KeyCode::Char('f'), true, false) => self.step_forward(),
            (KeyCode::Left, ..) | (KeyCode::Char('b'), false, true) => self.move_to(CursorMove::WordBack),
            (KeyCode::Right, ..) | (KeyCode::Char('f'), false, true) => self.move_to(CursorMove::WordForward),
            (KeyCode::Home, true, _) => self.move_to(CursorMove::Top),
            (KeyCode::End, true, _) => {
                self.to_end();
                Typed::Moved
            }
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, false) => self.move_to(CursorMove::Head),
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, false) => self.move_to(CursorMove::End),
            (KeyCode::Up, false, false) => self.vertical(-1),
            (KeyCode::Down, false, false) => self.vertical(1),
            _ => Typed::Ignored,
        }
    }

    fn edit(&mut self, edit: impl FnOnce(&mut TextArea<'static>) -> bool) -> Typed {
        let did = edit(&mut self.area);
        self.changed();
        if did { Typed::Changed } else { Typed::Moved }
    }

    fn changed(&mut self) {
        self.rows = None;
        self.goal = None;
    }

    fn move_to(&mut self, to: CursorMove) -> Typed {
        self.goal = None;
        self.area.move_cursor(to);
        Typed::Moved
    }

    fn jump(&mut self, line: usize, column: usize) {
        self.area.move_cursor(CursorMove::Jump(line.min(65_535) as u16, column.min(65_535) as u16));
    }

    /// Characters of the grapheme cluster that ends at the caret.
    fn cluster_before(&self) -> usize {
        let (line, column) = self.caret();
        let head: String = self.area.lines()[line].chars().take(column).collect();
        head.graphemes(true).next_back().map_or(0, |g| g.chars().count())
    }

    /// Characters of the grapheme cluster that begins at the caret.
    fn cluster_after(&self) -> usize {
        let (line, column) = self.caret();
        let text = &self.area.lines()[line];
        let at = text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
        text[at..].graphemes(true).next().map_or(0, |g| g.chars().count())
    }

    fn step_back(&mut self) -> Typed {
        let (line, column) = self.caret();
        match self.cluster_before() {
            0 => return self.move_to(CursorMove::Back),
            n => self.jump(line, column - n),
        }
        self.goal = None;
        Typed::Moved
    }

    fn step_forward(&mut self) -> Typed {
        let (line, column) = self.caret();
        match self.cluster_after() {
            0 => return self.move_to(CursorMove::Forward),
            n => self.jump(line, column + n),
        }
        self.goal = None;
        Typed::Moved
    }

    fn delete_before(&mut self) -> Typed {
        let n = self.cluster_before();
        if n <= 1 {
            return self.edit(TextArea::delete_char);
        }
        let (line, column) = self.caret();
        self.jump(line, column - n);
        self.delete_cluster(n)
    }

    fn delete_after(&mut self) -> Typed {
        match self.cluster_after() {
            n if n > 1 => self.delete_cluster(n),
            _ => self.edit(TextArea::delete_next_char),
        }
    }

    /// Deletes as one step of undo, and leaves what was cut before in place.
    fn delete_cluster(&mut self, n: usize) -> Typed {
        self.edit(|area| {
            let kept = area.yank_text();
            let did = area.delete_str(n);
            area.set_yank_text(kept);
            did
        })
    }

    fn vertical(&mut self, by: isize) -> Typed {
        let row = self.caret_row();
        let column = self.goal.unwrap_or_else(|| self.caret_column());
        let rows = self.layout(self.width);
        let Some(stretch) = row.checked_add_signed(by).and_then(|row| rows.get(row).copied()) else {
            return Typed::Ignored;
        };
        let target = self.character_at(stretch, column);
        self.jump(stretch.line, target);
        self.goal = Some(column);
        Typed::Moved
    }

    /// The character of a stretch that stands in, or last before, a column.
    fn character_at(&self, stretch: Stretch, column: u16) -> usize {
        let last = self.layout_is_last_of_line(stretch);
        let (mut at, mut x) = (stretch.start, 0);
        for (text, chars) in self.pieces(stretch) {
            let next = x + width::of(&text);
            if next > column || (!last && at + chars >= stretch.end) {
                break;
            }
            at += chars;
            x = next;
        }
        at
    }

    fn layout_is_last_of_line(&self, stretch: Stretch) -> bool {
        self.area.lines()[stretch.line].chars().count() == stretch.end
    }

    fn caret_row(&mut self) -> usize {
        let (line, column) = self.caret();
        let rows = self.layout(self.width);
        rows.iter().rposition(|r| r.line == line && r.start <= column).unwrap_or(0)
    }

    fn caret_column(&mut self) -> u16 {
        let row = self.caret_row();
        let column = self.caret().1;
        let stretch = self.layout(self.width)[row];
        let until = Stretch { end: column.min(stretch.end), ..stretch };
        self.pieces(until).map(|(text, _)| width::of(&text)).sum()
    }

    /// What a stretch shows, grapheme by grapheme, with the number of characters behind each.
    fn pieces(&self, stretch: Stretch) -> impl Iterator<Item = (Cow<'_, str>, usize)> {
        let text = &self.area.lines()[stretch.line];
        let byte = |n: usize| text.char_indices().nth(n).map_or(text.len(), |(at, _)| at);
        text[byte(stretch.start)..byte(stretch.end)].graphemes(true).map(|g| (self.shown(g), g.chars().count()))
    }

    fn shown<'a>(&'a self, grapheme: &'a str) -> Cow<'a, str> {
        let label = grapheme.chars().next().and_then(token).and_then(|index| self.labels.get(index));
        label.map_or_else(|| sanitize::line(grapheme), |label| Cow::Borrowed(label.as_str()))
    }

    /// Rows that the text takes at a width. One column is kept for the caret behind the last character.
    pub fn height(&mut self, width: u16) -> usize {
        self.width = width;
        self.layout(width).len()
    }

    fn layout(&mut self, columns: u16) -> &[Stretch] {
        if self.rows.as_ref().is_none_or(|(w, _)| *w != columns) {
            let room = columns.saturating_sub(1).max(1);
            let mut rows = Vec::new();
            for line in 0..self.area.lines().len() {
                match self.lines {
                    Lines::One => rows.push(Stretch { line, start: 0, end: self.area.lines()[line].chars().count() }),
                    Lines::Many => self.wrap(line, room, &mut rows),
                }
            }
            self.rows = Some((columns, rows));
        }
        self.rows.as_ref().map_or(&[], |(_, rows)| rows)
    }

    /// Wraps one line: behind the last space that fits, else between graphemes.
    fn wrap(&self, line: usize, room: u16, rows: &mut Vec<Stretch>) {
        let whole = Stretch { line, start: 0, end: usize::MAX };
        let (mut start, mut x, mut at) = (0, 0, 0);
        // End of the last word in this row, and the column behind it.
        let mut fold: Option<(usize, u16)> = None;
        for (text, chars) in self.pieces(whole) {
            let columns = width::of(&text);
            let space = text == " ";
            // One space may hang over the edge, where the caret else stands.
            while x + columns > room && (!space || x > room) && at > start {
                let (cut, used) = fold.filter(|(cut, _)| *cut > start).unwrap_or((at, x));
                rows.push(Stretch { line, start, end: cut });
                start = cut;
                x -= used;
                fold = None;
            }
            at += chars;
            x += columns;
            if space {
                fold = Some((at, x));
            }
        }
        rows.push(Stretch { line, start, end: at });
    }

    /// Draws the field, scrolled so that the caret is in sight; returns where the caret stands.
    pub fn draw(&mut self, area: Rect, buffer: &mut Buffer, theme: &Theme, paint: impl Into<Paint>) -> Position {
        let paint = paint.into();
        self.width = area.width;
        let row = self.caret_row();
        let height = usize::from(area.height.max(1));
        let count = self.layout(area.width).len();
        self.top = self.top.min(row).max((row + 1).saturating_sub(height)).min(count.saturating_sub(height.min(count)));
        let caret = self.caret_column();
        // A field of one line scrolls sideways.
        let skip = match self.lines {
            Lines::One => (caret + 1).saturating_sub(area.width),
            Lines::Many => 0,
        };
        let top = self.top;
        for y in 0..area.height {
            let Some(stretch) = self.layout(area.width).get(top + usize::from(y)).copied() else { break };
            let mut x = 0_u16;
            for (text, _) in self.pieces(stretch) {
                let is_label = matches!(text, Cow::Borrowed(label) if self.labels.iter().any(|l| l == label));
                let style = theme.style(if is_label { Paint::from(Role::Accent) } else { paint });
                for (piece, columns) in width::pieces(&text) {
                    let next = x + columns;
                    if x >= skip && next - skip <= area.width && columns > 0 {
                        width::put(buffer, area.x + x - skip, area.y + y, piece, columns, style);
                    }
                    x = next;
                }
            }
        }
        let x = (caret - skip).min(area.width.saturating_sub(1));
        let y = (row - self.top).min(height - 1) as u16;
        Position::new(area.x + x, area.y + y)
    }
}

fn token(c: char) -> Option<usize> {
    (c as u32).checked_sub(TOKEN_BASE).filter(|n| *n < TOKENS).map(|n| n as usize)
}

/// The character that stands for a label.
pub fn token_char(index: usize) -> Option<char> {
    u32::try_from(index).ok().filter(|n| *n < TOKENS).and_then(|n| char::from_u32(TOKEN_BASE + n))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn press(field: &mut Input, code: KeyCode) -> Typed {
        field.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn rows(field: &mut Input, columns: u16) -> Vec<String> {
        let rows = field.layout(columns).to_vec();
        rows.into_iter().map(|r| field.pieces(r).map(|(t, _)| t.into_owned()).collect()).collect()
    }

    #[test]
    fn wraps_at_words_and_keeps_room_for_the_caret() {
        let mut field = Input::new(Lines::Many);
        field.insert("hello brave world");
        assert_eq!(rows(&mut field, 12), ["hello brave ", "world"]);
        assert_eq!(rows(&mut field, 5), ["hell", "o ", "brav", "e ", "worl", "d"]);
        field.set("纽约明天");
        assert_eq!(rows(&mut field, 6), ["纽约", "明天"]);
    }

    #[test]
    fn moves_between_rows_and_stops_at_the_edges() {
        let mut field = Input::new(Lines::Many);
        field.insert("hello brave world");
        assert_eq!(field.height(12), 2);
        assert_eq!(press(&mut field, KeyCode::Down), Typed::Ignored);
        assert_eq!(press(&mut field, KeyCode::Up), Typed::Moved);
        assert_eq!(field.caret(), (0, 5));
        assert!(field.in_first_row());
        assert_eq!(press(&mut field, KeyCode::Up), Typed::Ignored);
        assert_eq!(press(&mut field, KeyCode::Down), Typed::Moved);
        assert_eq!(field.caret(), (0, 17));
    }

    #[test]
    fn deletes_whole_clusters_and_undoes_them() {
        let mut field = Input::new(Lines::Many);
        field.insert("a👩\u{200d}💻e\u{301}");
        press(&mut field, KeyCode::Backspace);
        assert_eq!(field.text(), "a👩\u{200d}💻");
        press(&mut field, KeyCode::Backspace);
        assert_eq!(field.text(), "a");
        field.key(KeyEvent::new(KeyCode::Char('_'), KeyModifiers::CONTROL));
        assert_eq!(field.text(), "a👩\u{200d}💻");
    }

    #[test]
    fn a_token_is_one_thing() {
        let mut field = Input::new(Lines::Many);
        field.set_labels(vec!["[paste 1]".into()]);
        field.insert(&format!("see {} ok", token_char(0).unwrap()));
        assert_eq!(rows(&mut field, 40), ["see [paste 1] ok"]);
        for _ in 0..3 {
            press(&mut field, KeyCode::Left);
        }
        assert_eq!(field.token_at_caret(), Some(0));
        assert!(field.replace_token(0, "x\ny"));
        assert_eq!(field.text(), "see x\ny ok");
    }

    #[test]
    fn one_line_takes_no_newline() {
        let mut field = Input::line("a");
        field.insert("b\nc\r\n");
        assert_eq!(field.text(), "ab c");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn rows_fit_and_lose_nothing(text in "[a-z 纽é👩\u{200d}\n]{0,60}", columns in 6_u16..20) {
            let mut field = Input::new(Lines::Many);
            field.insert(&text);
            let joined: String = rows(&mut field, columns).concat();
            prop_assert_eq!(joined, sanitized(&text));
            for row in rows(&mut field, columns) {
                prop_assert!(width::of(row.trim_end()) < columns, "{row:?}");
            }
            let area = Rect::new(0, 0, columns, 3);
            let mut buffer = Buffer::empty(area);
            let caret = field.draw(area, &mut buffer, &Theme::default(), Role::Text);
            prop_assert!(caret.x < columns && caret.y < 3);
        }
    }

    fn sanitized(text: &str) -> String {
        text.split('\n').flat_map(|l| l.graphemes(true)).map(|g| sanitize::line(g).into_owned()).collect()
    }
}
