//! Which key does what, as data: `assets/keymap.toml`, and the user's `keymap.toml` over it.

use crate::tui::command::Command;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::HashMap;

/// Where a key is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// Anywhere, after the others.
    Global,
    /// In the composer.
    Composer,
    /// In a content pane.
    Pane,
    /// In an opened call.
    Call,
    /// In a form.
    Form,
    /// While a recording is played.
    Playback,
}

impl Context {
    const ALL: [Self; 6] = [Self::Global, Self::Composer, Self::Pane, Self::Call, Self::Form, Self::Playback];

    fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Composer => "composer",
            Self::Pane => "pane",
            Self::Call => "call",
            Self::Form => "form",
            Self::Playback => "playback",
        }
    }
}

/// A key with its modifiers, in one form: shifted characters carry no Shift, Shift-Tab is `BackTab`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl From<KeyEvent> for Chord {
    fn from(key: KeyEvent) -> Self {
        let mut modifiers = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        let mut code = key.code;
        match code {
            KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => code = KeyCode::BackTab,
            // Terminals differ in the case they report with Ctrl and Alt, so it says nothing.
            KeyCode::Char(c) if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                code = KeyCode::Char(c.to_ascii_lowercase());
            }
            _ => {}
        }
        if matches!(code, KeyCode::Char(_) | KeyCode::BackTab) {
            modifiers -= KeyModifiers::SHIFT;
        }
        Self { code, modifiers }
    }
}

impl Chord {
    /// Reads `Ctrl-O`, `Alt-Enter`, `F2`, `?`, `Space`, `PgUp`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((head, tail)) = rest.split_once('-') {
            if tail.is_empty() {
                break;
            }
            modifiers |= match head.to_ascii_lowercase().as_str() {
                "ctrl" => KeyModifiers::CONTROL,
                "alt" => KeyModifiers::ALT,
                "shift" => KeyModifiers::SHIFT,
                _ => return None,
            };
            rest = tail;
        }
        let code = match rest.to_ascii_lowercase().as_str() {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "space" => KeyCode::Char(' '),
            "backspace" => KeyCode::Backspace,
            "del" => KeyCode::Delete,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "pgup" => KeyCode::PageUp,
            "pgdn" => KeyCode::PageDown,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            lower => {
                let mut chars = rest.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => KeyCode::Char(c),
                    (Some('f' | 'F'), Some(_)) => KeyCode::F(lower[1..].parse().ok().filter(|n| (1..=24).contains(n))?),
                    _ => return None,
                }
            }
        };
        Some(Self::from(KeyEvent::new(code, modifiers)))
    }

    /// The key event it is.
    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }

    /// The way it is written in hints.
    pub fn label(self) -> String {
        let mut out = String::new();
        for (flag, name) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(flag) {
                out.push_str(name);
            }
        }
        let name = match self.code {
            KeyCode::Enter => "Enter",
            KeyCode::Esc => "Esc",
            KeyCode::Tab => "Tab",
            KeyCode::BackTab => "Shift-Tab",
            KeyCode::Char(' ') => "Space",
            KeyCode::Backspace => "Backspace",
            KeyCode::Delete => "Del",
            KeyCode::Up => "↑",
            KeyCode::Down => "↓",
            KeyCode::Left => "←",
            KeyCode::Right => "→",
            KeyCode::PageUp => "PgUp",
            KeyCode::PageDown => "PgDn",
            KeyCode::Home => "Home",
            KeyCode::End => "End",
            KeyCode::F(n) => return format!("{out}F{n}"),
            KeyCode::Char(c) => {
                let upper = !self.modifiers.is_empty();
                out.push(if upper { c.to_ascii_uppercase() } else { c });
                return out;
            }
            _ => "?",
        };
        out.push_str(name);
        out
    }
}

const DEFAULT: &str = include_str!("../../../assets/keymap.toml");

/// The bindings.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    bindings: HashMap<(Context, Chord), Command>,
    /// In file order, for hints: the first key of a command is the one that is named.
    order: Vec<(Context, Command, Chord)>,
}

impl Keymap {
    /// The built-in bindings.
    pub fn built_in() -> Self {
        let mut map = Self::default();
        let problems = map.merge(DEFAULT);
        debug_assert!(problems.is_empty(), "{problems:?}");
        map
    }

    /// Takes in a file of bindings: `[context]`, `command = ["key", …]`. A command that is named anew loses its earlier keys in that
    /// context; an empty list unbinds it. Returns what could not be understood.
    pub fn merge(&mut self, text: &str) -> Vec<String> {
        let root: toml::Table = match text.parse() {
            Ok(root) => root,
            Err(error) => return vec![error.to_string()],
        };
        let mut problems = Vec::new();
        for (section, table) in root {
            let Some(context) = Context::ALL.into_iter().find(|c| c.name() == section) else {
                problems.push(format!("[{section}]"));
                continue;
            };
            for (name, keys) in table.as_table().cloned().unwrap_or_default() {
                match (Command::from_name(&name), keys.as_array()) {
                    (Some(command), Some(keys)) => self.bind(context, command, keys, &mut problems),
                    _ => problems.push(format!("[{section}] {name}")),
                }
            }
        }
        problems
    }

    fn bind(&mut self, context: Context, command: Command, keys: &[toml::Value], problems: &mut Vec<String>) {
        self.bindings.retain(|(c, _), bound| *c != context || *bound != command);
        self.order.retain(|(c, bound, _)| *c != context || *bound != command);
        for key in keys {
            let Some(chord) = key.as_str().and_then(Chord::parse) else {
                problems.push(format!("[{}] {}: {key}", context.name(), command.name()));
                continue;
            };
            self.bindings.insert((context, chord), command);
            self.order.push((context, command, chord));
        }
    }

    /// What a key does in this context alone.
    pub fn find(&self, context: Context, key: KeyEvent) -> Option<Command> {
        self.bindings.get(&(context, Chord::from(key))).copied()
    }

    /// All keys of a command in a context, as they are written in hints, in file order.
    pub fn labels(&self, context: Context, command: Command) -> Vec<String> {
        let mine = self.order.iter().filter(|(c, bound, chord)| {
            *c == context && *bound == command && self.bindings.get(&(context, *chord)) == Some(&command)
        });
        mine.map(|(_, _, chord)| chord.label()).collect()
    }

    /// The first key of a command in a context, as it is written in hints.
    pub fn label(&self, context: Context, command: Command) -> Option<String> {
        let found = self.order.iter().find(|(c, bound, chord)| {
            *c == context && *bound == command && self.bindings.get(&(context, *chord)) == Some(&command)
        });
        found.map(|(_, _, chord)| chord.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_is_understood() {
        let mut map = Keymap::default();
        assert_eq!(map.merge(DEFAULT), Vec::<String>::new());
        assert_eq!(map.label(Context::Global, Command::OpenWaiting).as_deref(), Some("Ctrl-O"));
    }

    #[test]
    fn keys_are_read_and_written() {
        for (text, label) in [
            ("ctrl-o", "Ctrl-O"),
            ("Alt-Enter", "Alt-Enter"),
            ("f2", "F2"),
            ("?", "?"),
            ("-", "-"),
            ("G", "G"),
            ("Alt-D", "Alt-D"),
            ("Shift-Tab", "Shift-Tab"),
        ] {
            assert_eq!(Chord::parse(text).map(Chord::label).as_deref(), Some(label), "{text}");
        }
        assert_eq!(Chord::parse("Hyper-x"), None);
        let shifted = KeyEvent::new(KeyCode::Char('G'), KeyModifiers::SHIFT);
        assert_eq!(Some(Chord::from(shifted)), Chord::parse("G"));
        assert_eq!(Some(Chord::from(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::ALT))), Chord::parse("Alt-D"));
    }

    #[test]
    fn the_users_file_replaces_a_command_keys() {
        let mut map = Keymap::built_in();
        assert_eq!(map.merge("[global]\nopen-waiting = ['Ctrl-T']\n[nowhere]\n"), ["[nowhere]"]);
        let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        assert_eq!(map.find(Context::Global, ctrl('o')), None);
        assert_eq!(map.find(Context::Global, ctrl('t')), Some(Command::OpenWaiting));
    }
}
