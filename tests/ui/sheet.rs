//! A transcript view on a sheet of cells: drawn, dumped with role names, sent to an emulated terminal.

use mcpane::strings::{Language, Strings};
use mcpane::tui::cell::{Cell, Change};
use mcpane::tui::keymap::Keymap;
use mcpane::tui::look::Look;
use mcpane::tui::text::highlight::Mode;
use mcpane::tui::theme::{Library, Role, Terminal, Theme};
use mcpane::tui::transcript::{Attention, Drawn, Filter, Place, Store, View};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::fmt::Write as _;
use std::time::Instant;

/// A store, a view on it, and everything a frame needs.
pub struct Sheet {
    pub store: Store,
    pub view: View,
    pub theme: Theme,
    pub strings: Strings,
    pub keymap: Keymap,
    pub now: Instant,
    pub ascii: bool,
    pub area: Rect,
    pub attention: Attention,
    pub drawn: Drawn,
}

impl Sheet {
    pub fn new(filter: Filter, width: u16, height: u16) -> Self {
        Self {
            store: Store::with_colours(Mode::Inline),
            view: View::new(filter),
            theme: Theme::probe(),
            strings: Strings::new(Language::En),
            keymap: Keymap::built_in(),
            now: Instant::now(),
            ascii: false,
            area: Rect::new(0, 0, width, height),
            attention: Attention::Elsewhere,
            drawn: Drawn::default(),
        }
    }

    /// Does something with the view.
    pub fn with<T>(&mut self, act: impl FnOnce(&mut View, &Store, &Look<'_>) -> T) -> T {
        let look = Look {
            theme: &self.theme,
            strings: &self.strings,
            keymap: &self.keymap,
            now: self.now,
            ascii: self.ascii,
            animate: true,
            shift_enter: false,
        };
        act(&mut self.view, &self.store, &look)
    }

    pub fn answer(&mut self, text: &str) -> mcpane::tui::transcript::SlotId {
        let id = self.store.push(Place::default(), Cell::answer());
        self.store.change(id, Change::Append(text));
        self.store.change(id, Change::Finish);
        id
    }

    pub fn draw(&mut self) -> Buffer {
        let mut buffer = Buffer::empty(self.area);
        let (area, attention) = (self.area, self.attention);
        self.drawn = self.with(|view, store, look| view.draw(store, area, &mut buffer, look, attention));
        buffer
    }

    pub fn theme(&mut self, name: &str, terminal: Terminal) {
        self.theme = Library::default().load(name, terminal).0;
    }
}

/// The text of a buffer, line by line, without trailing spaces.
pub fn text(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    (area.y..area.bottom())
        .map(|y| {
            let mut line = String::new();
            let mut covered = 0;
            for x in area.x..area.right() {
                let cell = &buffer[(x, y)];
                if covered > 0 {
                    covered -= 1;
                    continue;
                }
                covered = mcpane::tui::text::width::of(cell.symbol()).max(1) - 1;
                line.push_str(cell.symbol());
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// A buffer drawn with the probe theme: each line, and below it which role lies where.
pub fn dump(buffer: &Buffer) -> String {
    let mut out = String::new();
    for (y, line) in text(buffer).iter().enumerate() {
        let y = buffer.area.y + y as u16;
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in buffer.area.x..buffer.area.right() {
            let cell = &buffer[(x, y)];
            let role = Theme::role_of(cell.fg).filter(|role| *role != Role::Text);
            let mut name = role.map_or_else(String::new, |role| role.name().to_owned());
            if !cell.modifier.is_empty() {
                let _ = write!(name, " {:?}", cell.modifier);
            }
            match runs.last_mut() {
                Some((_, end, last)) if *end == x && *last == name => *end = x + 1,
                _ => runs.push((x, x + 1, name)),
            }
        }
        let _ = writeln!(out, "|{line}");
        let said: Vec<String> = runs
            .iter()
            .filter(|(.., name)| !name.is_empty())
            .map(|(from, to, name)| format!("{from}-{to} {}", name.trim()))
            .collect();
        if !said.is_empty() {
            let _ = writeln!(out, "    {}", said.join(" · "));
        }
    }
    out
}

/// The bytes that draw a buffer after another.
pub fn ansi(before: &Buffer, after: &Buffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut backend = CrosstermBackend::new(&mut bytes);
    backend.draw(before.diff_iter(after)).unwrap();
    Backend::flush(&mut backend).unwrap();
    bytes
}
