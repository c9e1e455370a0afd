//! The screen without a terminal: press keys, feed events, let time pass, look. For tests.

use crate::contract::{Event, Op};
use crate::strings::{Language, Strings};
use crate::tui::dress::Dress;
use crate::tui::frame::{Motion, Painted};
use crate::tui::history::History;
use crate::tui::keymap::{Chord, Keymap};
use crate::tui::msg::Msg;
use crate::tui::outcome::Effect;
use crate::tui::pane::composer::Composer;
use crate::tui::settings::Settings;
use crate::tui::text::highlight::Mode;
use crate::tui::theme::{Role, Theme};
use crate::tui::transcript::Store;
use crate::tui::ui::Ui;
use crate::tui::wardrobe::Wardrobe;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect, Size};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A screen of some size at some time.
pub struct Harness {
    /// The screen's owner.
    pub ui: Ui,
    now: Instant,
    size: Size,
    effects: Vec<Effect>,
}

impl Harness {
    /// An empty screen with the built-in keys and English texts.
    pub fn new(columns: u16, rows: u16) -> Self {
        Self::with(columns, rows, Settings::default(), Language::En)
    }

    /// A screen with these settings.
    pub fn with(columns: u16, rows: u16, settings: Settings, language: Language) -> Self {
        let size = Size::new(columns, rows);
        let dress = Dress {
            theme: Theme::probe(),
            strings: Strings::new(language),
            keymap: Keymap::built_in(),
            ascii: settings.ascii,
            animate: true,
            shift_enter: false,
        };
        let composer = Composer::new(History::default(), Vec::new());
        let mut ui = Ui::new(settings, dress, Wardrobe::default(), composer, size);
        ui.scene.store = Store::with_colours(Mode::Inline);
        Self { ui, now: Instant::now(), size, effects: Vec::new() }
    }

    /// Hands in a message.
    pub fn send(&mut self, msg: Msg) -> &mut Self {
        let effects = self.ui.update(msg, self.now);
        self.effects.extend(effects);
        self
    }

    /// Presses a key by its name in hints: `Ctrl-O`, `Enter`, `x`. An unknown name presses nothing.
    pub fn press(&mut self, name: &str) -> &mut Self {
        match Chord::parse(name) {
            Some(chord) => self.send(Msg::Key(chord.event())),
            None => self,
        }
    }

    /// Types a text key by key.
    pub fn type_text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            self.send(Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
        }
        self
    }

    /// Pastes a text.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.send(Msg::Paste(text.to_owned()))
    }

    /// Lets the agent say something.
    pub fn feed(&mut self, event: Event) -> &mut Self {
        self.send(Msg::Agent(event))
    }

    /// Lets time pass.
    pub fn advance(&mut self, time: Duration) -> &mut Self {
        self.now += time;
        if self.ui.due().is_some_and(|due| due <= self.now) {
            self.send(Msg::Time);
        }
        self
    }

    /// The time on this screen's clock.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Changes the screen's size.
    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.size = Size::new(columns, rows);
        self.send(Msg::Resize(self.size))
    }

    /// What the loop would have to do since this was asked last.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// What was asked of the agent since this or [`Self::effects`] was asked last, without the draft.
    pub fn ops(&mut self) -> Vec<Op> {
        self.effects()
            .into_iter()
            .filter_map(|effect| match effect {
                Effect::Op(Op::Session(crate::contract::SessionOp::Draft { .. })) => None,
                Effect::Op(op) => Some(op),
                _ => None,
            })
            .collect()
    }

    /// Draws a frame.
    pub fn draw(&mut self) -> (Buffer, Painted) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, self.size.width, self.size.height));
        let painted = self.ui.draw(&mut buffer, self.now);
        (buffer, painted)
    }

    /// The screen as text, without trailing blanks.
    pub fn text(&mut self) -> String {
        let (buffer, _) = self.draw();
        let rows: Vec<String> = (0..self.size.height).map(|y| row_text(&buffer, y).trim_end().to_owned()).collect();
        rows.join("\n")
    }

    /// The screen as text, then where which role is painted, then caret and motion.
    pub fn screen(&mut self) -> String {
        let (buffer, painted) = self.draw();
        let mut out = String::new();
        for y in 0..self.size.height {
            let _ = writeln!(out, "{:>2}|{}|", y, row_text(&buffer, y));
        }
        for y in 0..self.size.height {
            let roles = row_roles(&buffer, y);
            if !roles.is_empty() {
                let _ = writeln!(out, "{y:>2} {roles}");
            }
        }
        let caret = painted.caret.map_or("none".to_owned(), |Position { x, y }| format!("{x},{y}"));
        let moves = if painted.motion == Motion::Spinning { ", moves" } else { "" };
        let _ = write!(out, "caret {caret}{moves}");
        out
    }
}

fn row(buffer: &Buffer, y: u16) -> impl Iterator<Item = (u16, &Cell)> {
    (0..buffer.area.width).filter_map(move |x| buffer.cell((x, y)).map(|cell| (x, cell)))
}

fn row_text(buffer: &Buffer, y: u16) -> String {
    let mut out = String::new();
    let mut covered = 0;
    for (_, cell) in row(buffer, y) {
        if covered > 0 {
            covered -= 1;
            continue;
        }
        covered = crate::tui::text::width::of(cell.symbol()).saturating_sub(1);
        out.push_str(cell.symbol());
    }
    out
}

/// Stretches of one role, blanks in plain text left out: `Title 1-6  Dim+bold 9-20`.
fn row_roles(buffer: &Buffer, y: u16) -> String {
    let mut stretches: Vec<(String, u16, u16)> = Vec::new();
    for (x, cell) in row(buffer, y) {
        let role = Theme::role_of(cell.fg);
        let plain = role.is_none_or(|role| role == Role::Text) && cell.modifier.is_empty();
        if plain {
            continue;
        }
        let mut name = role.map_or_else(|| "Text".to_owned(), |role| format!("{role:?}"));
        for (emphasis, _) in cell.modifier.iter_names() {
            name.push('+');
            name.push_str(&emphasis.to_lowercase());
        }
        match stretches.last_mut() {
            Some((last, _, end)) if *last == name && *end + 1 == x => *end = x,
            _ => stretches.push((name, x, x)),
        }
    }
    let words: Vec<String> = stretches.into_iter().map(|(name, from, to)| format!("{name} {from}-{to}")).collect();
    words.join("  ")
}
