//! Where the user writes.
//!
//! Owns the draft with its folded pastes, the way through the history, and the list of completions. Does not send anything: it answers what the user
//! wants. **Invariants:** the draft changes only by the user's keys, or by text that is put back into it without loss; a cleared draft goes to the
//! history; what a folded paste holds is never lost while the draft lives.

mod completion;

use crate::tui::command::Command;
use crate::tui::history::History;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::theme::Role;
use crate::tui::widget::frame::{self, Lit};
use crate::tui::widget::input::{Lines, TOKEN_BASE, TOKENS, token_char};
use crate::tui::widget::{Input, Line, Typed};
use completion::{Completion, More};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;

pub use completion::takes_value;

/// A paste of more lines or characters than this is folded.
const FOLD_LINES: usize = 8;
const FOLD_CHARS: usize = 800;
/// Columns left of the text: one of air, the mark, one of air.
const MARK: u16 = 3;
/// Rows of the list of completions.
const ROWS: u16 = 8;

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Not a key for here.
    Ignored,
    /// Nothing further.
    Nothing,
    /// Send this. The draft is empty now.
    Send(String),
    /// Carry out a command, with what was written behind its name. The draft is empty now.
    Command(Command, String),
    /// There is no such command; the draft is as it was.
    Unknown(String),
    /// Open what waits: Enter was pressed and nothing is written.
    Open,
    /// Take the newest queued message back.
    Unqueue,
    /// Edit the draft in the external editor.
    Edit(String),
    /// Leave the program.
    Quit,
}

/// The composer.
#[derive(Debug)]
pub struct Composer {
    input: Input,
    pastes: Vec<String>,
    history: History,
    /// Which entry of the history is shown, 0 being the newest; and texts that were changed on the way, the draft itself under `None`.
    back: Option<usize>,
    kept: HashMap<Option<usize>, String>,
    completion: Option<Completion>,
    themes: Vec<String>,
    revision: u64,
}

impl Composer {
    /// An empty draft. The names of the themes complete `/theme`.
    pub fn new(history: History, themes: Vec<String>) -> Self {
        Self {
            input: Input::new(Lines::Many),
            pastes: Vec::new(),
            history,
            back: None,
            kept: HashMap::new(),
            completion: None,
            themes,
            revision: 0,
        }
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.input.is_empty()
    }

    /// The whole draft, pastes in place.
    pub fn draft(&self) -> String {
        self.expanded(&self.input.text())
    }

    /// Rises with every change of the draft.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The history, for what went wrong with it.
    pub fn history(&mut self) -> &mut History {
        &mut self.history
    }

    fn expanded(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match (c as u32).checked_sub(TOKEN_BASE).and_then(|n| self.pastes.get(n as usize)) {
                Some(paste) => out.push_str(paste),
                None => out.push(c),
            }
        }
        out
    }

    /// Puts a text into the draft in place of what is there (from the editor, from a crash). It can be undone.
    pub fn replace(&mut self, text: &str) {
        self.input.set(&foreign(text));
        self.changed();
    }

    /// Puts a text that comes back (a queued message, a text that could not be sent) before what is there.
    pub fn put_back(&mut self, text: &str) {
        let draft = self.input.text();
        let joined = if draft.is_empty() { foreign(text) } else { format!("{}\n{draft}", foreign(text)) };
        self.input.set(&joined);
        self.changed();
    }

    /// Empties the draft; it goes to the history. Whether there was one.
    pub fn clear(&mut self) -> bool {
        if self.is_empty() {
            return false;
        }
        let draft = self.draft();
        self.history.push(&draft);
        self.reset();
        true
    }

    fn reset(&mut self) {
        self.input = Input::new(Lines::Many);
        self.pastes.clear();
        self.back = None;
        self.kept.clear();
        self.changed();
    }

    fn changed(&mut self) {
        self.revision += 1;
        self.completion = None;
    }

    /// Takes pasted text. A long one is folded into one mark that stands for it.
    pub fn paste(&mut self, text: &str, look: &Look<'_>) {
        let text = foreign(text);
        let lines = text.lines().count();
        let chars = text.chars().count();
        let long = lines > FOLD_LINES || chars > FOLD_CHARS;
        match token_char(self.pastes.len()).filter(|_| long) {
            Some(token) => {
                self.pastes.push(text);
                self.label(look);
                self.input.insert(&token.to_string());
            }
            None => self.input.insert(&text),
        }
        self.changed();
        self.complete(look);
    }

    fn label(&mut self, look: &Look<'_>) {
        let label = |(i, paste): (usize, &String)| {
            let (lines, chars) = (paste.lines().count(), paste.chars().count());
            let (key, count) = if lines > 1 { ("pane.paste_lines", lines) } else { ("pane.paste_characters", chars) };
            look.strings.fill(key, &[("number", &(i + 1).to_string()), ("count", &count.to_string())])
        };
        let labels = self.pastes.iter().enumerate().map(label).collect();
        self.input.set_labels(labels);
    }

    fn complete(&mut self, look: &Look<'_>) {
        self.completion = Completion::of(&self.input.text(), look.strings, look.keymap, &self.themes);
    }

    /// Whether the list of completions is open.
    pub fn is_completing(&self) -> bool {
        self.completion.is_some()
    }

    /// Takes a key. `queued` messages wait behind the running turn.
    pub fn key(&mut self, key: KeyEvent, look: &Look<'_>, queued: usize) -> Wish {
        if let Some(wish) = self.completion_key(key, look) {
            return wish;
        }
        let command = look.keymap.find(Context::Composer, key);
        match command {
            Some(Command::Send) => self.enter(look),
            Some(Command::NewLine) => {
                self.input.insert("\n");
                self.changed();
                Wish::Nothing
            }
            Some(Command::HistoryUp) => self.up(queued),
            Some(Command::HistoryDown) => self.down(),
            Some(Command::QuitWhenEmpty) if self.is_empty() => Wish::Quit,
            Some(Command::QuitWhenEmpty) | None => self.plain_key(key, look),
            Some(command) => self.command(command, look),
        }
    }

    /// Carries out one of the composer's own commands.
    pub fn command(&mut self, command: Command, look: &Look<'_>) -> Wish {
        match command {
            Command::Send => self.enter(look),
            Command::Editor => Wish::Edit(self.draft()),
            Command::OpenPaste => {
                self.open_paste();
                Wish::Nothing
            }
            Command::QuitWhenEmpty if self.is_empty() => Wish::Quit,
            _ => Wish::Ignored,
        }
    }

    fn plain_key(&mut self, key: KeyEvent, look: &Look<'_>) -> Wish {
        // A key that means something everywhere is not taken for editing, whatever the editing engine knows about it.
        if look.keymap.find(Context::Global, key).is_some() {
            return Wish::Ignored;
        }
        match self.input.key(key) {
            Typed::Ignored => Wish::Ignored,
            Typed::Moved => {
                self.completion = None;
                Wish::Nothing
            }
            Typed::Changed => {
                self.changed();
                self.complete(look);
                Wish::Nothing
            }
        }
    }

    fn completion_key(&mut self, key: KeyEvent, look: &Look<'_>) -> Option<Wish> {
        let completion = self.completion.as_mut()?;
        match key.code {
            KeyCode::Esc => self.completion = None,
            KeyCode::Up | KeyCode::Down => {
                completion.list.key(key, completion.entries.len());
            }
            KeyCode::Tab => {
                let entry = completion.chosen()?.clone();
                let space = if entry.more == More::Value { " " } else { "" };
                self.input.set(&format!("{}{space}", entry.line));
                self.changed();
                if entry.more == More::Value {
                    self.complete(look);
                }
            }
            KeyCode::Enter if key.modifiers == KeyModifiers::NONE => {
                let line = completion.chosen()?.line.clone();
                self.input.set(&line);
                self.changed();
                return Some(self.enter(look));
            }
            _ => return None,
        }
        Some(Wish::Nothing)
    }

    fn enter(&mut self, look: &Look<'_>) -> Wish {
        let (line, column) = self.input.caret();
        let text = self.input.text();
        let before = text.split('\n').nth(line).and_then(|l| column.checked_sub(1).and_then(|c| l.chars().nth(c)));
        // A backslash before Enter asks for a new line where no key for it arrives.
        if before == Some('\\') {
            self.input.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE));
            self.input.insert("\n");
            self.changed();
            return Wish::Nothing;
        }
        let draft = self.expanded(&text);
        if draft.trim().is_empty() {
            return if text.is_empty() { Wish::Open } else { Wish::Nothing };
        }
        match completion::parse(&draft) {
            Some(Err(name)) => return Wish::Unknown(name),
            Some(Ok((command, value))) if value.is_empty() || takes_value(command) => {
                self.history.push(&draft);
                self.reset();
                return Wish::Command(command, value);
            }
            // A command that takes nothing, with something behind it, is a sentence.
            Some(Ok(_)) | None => {}
        }
        let _ = look;
        self.history.push(&draft);
        self.reset();
        Wish::Send(draft)
    }

    fn open_paste(&mut self) {
        let index = self.input.token_at_caret().or_else(|| self.pastes.len().checked_sub(1));
        if let Some((index, text)) = index.and_then(|i| Some((i, self.pastes.get(i)?.clone())))
            && self.input.replace_token(index, &text)
        {
            self.changed();
        }
    }

    fn up(&mut self, queued: usize) -> Wish {
        if self.input.key(KeyEvent::new(KeyCode::Up, KeyModifiers::NONE)) != Typed::Ignored {
            return Wish::Nothing;
        }
        if queued > 0 && self.back.is_none() {
            return Wish::Unqueue;
        }
        let next = self.back.map_or(0, |back| back + 1);
        if self.history.get(next).is_some() {
            self.go(Some(next));
        }
        Wish::Nothing
    }

    fn down(&mut self) -> Wish {
        if self.input.key(KeyEvent::new(KeyCode::Down, KeyModifiers::NONE)) == Typed::Ignored
            && let Some(back) = self.back
        {
            self.go(back.checked_sub(1));
        }
        Wish::Nothing
    }

    /// Shows another entry of the history, or the draft again. What was written here is kept.
    fn go(&mut self, to: Option<usize>) {
        let text = self.input.text();
        self.kept.insert(self.back, text);
        let shown = self.kept.remove(&to).or_else(|| to.and_then(|back| self.history.get(back).map(foreign)));
        self.back = to;
        self.input.set(&shown.unwrap_or_default());
        self.changed();
    }

    /// Rows that the text takes in a composer of this width.
    pub fn rows(&mut self, width: u16) -> u16 {
        self.input.height(width.saturating_sub(MARK + 1)).min(usize::from(u16::MAX)) as u16
    }

    /// Whether the caret stands at a folded paste.
    pub fn is_at_paste(&self) -> bool {
        !self.pastes.is_empty() && self.input.token_at_caret().is_some()
    }

    /// Draws the rule with what it says on the left and on the right, then the text. Returns where the caret stands.
    pub fn draw(
        &mut self,
        area: Rect,
        buffer: &mut Buffer,
        look: &Look<'_>,
        lit: Lit,
        (left, right): (&Line, &Line),
    ) -> Position {
        frame::rule(Rect { height: 1, ..area }, buffer, look, lit, left, right);
        let text = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let mark = look.glyphs().user;
        let role = if lit == Lit::Bright { Role::Accent } else { Role::Dim };
        Line::of(mark, role).draw(Rect { x: text.x + 1, width: 1, height: 1, ..text }, buffer, look.theme);
        let place = Rect { x: text.x + MARK, width: text.width.saturating_sub(MARK + 1), ..text };
        if self.is_empty() {
            Line::of(look.strings.get("pane.placeholder"), Role::Dim).draw(place, buffer, look.theme);
        }
        self.input.draw(place, buffer, look.theme, Role::Text)
    }

    /// Draws the list of completions upwards from the composer's rule.
    pub fn draw_completion(&mut self, above: Rect, buffer: &mut Buffer, look: &Look<'_>) {
        let Some(completion) = &mut self.completion else { return };
        let rows = (completion.entries.len().min(usize::from(ROWS)) as u16).min(above.height.saturating_sub(1));
        let place = Rect { y: above.bottom() - rows - 1, height: rows + 1, ..above };
        frame::blank(place, buffer, look);
        frame::rule(Rect { height: 1, ..place }, buffer, look, Lit::Dim, &Line::new(), &Line::new());
        let names = completion.entries.iter().map(|e| Line::of(&e.line, Role::Text).width()).max().unwrap_or(0);
        let window = completion.list.window(completion.entries.len(), usize::from(rows));
        for (y, index) in (place.y + 1..).zip(window) {
            let entry = &completion.entries[index];
            let selected = index == completion.list.selected();
            let row = Rect { y, height: 1, ..place };
            let mut line = Line::new();
            let pointer = look.glyphs().user;
            let paint = if selected { Role::Selected } else { Role::Text };
            if selected {
                buffer.set_style(row, look.theme.style(Role::Selected));
            }
            line.push(if selected { pointer } else { " " }, if selected { Role::Accent } else { Role::Text });
            line.push(" ", paint).push(&entry.line, paint);
            let gap = usize::from(names - Line::of(&entry.line, paint).width()) + 3;
            let second = if selected { Role::Selected } else { Role::Dim };
            line.push(&" ".repeat(gap), paint).push(&entry.title, second);
            line.draw(Rect { x: row.x + 1, width: row.width.saturating_sub(2), ..row }, buffer, look.theme);
            let key = Line::of(&entry.key, if selected { Role::Selected } else { Role::Dim });
            if line.width() + key.width() + 4 < row.width {
                key.draw_right(Rect { width: row.width - 2, ..row }, buffer, look.theme);
            }
        }
        let edge = Rect { x: place.right().saturating_sub(1), y: place.y + 1, height: rows, ..place };
        completion.list.thumb(edge, buffer, look, completion.entries.len());
    }
}

/// Text from outside may hold the characters that stand for pastes here.
fn foreign(text: &str) -> String {
    let ours = TOKEN_BASE..TOKEN_BASE + TOKENS;
    text.chars().map(|c| if ours.contains(&(c as u32)) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
