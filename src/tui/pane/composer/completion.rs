//! What can follow a `/` at the beginning of the draft: commands, and the values of the few commands that take one.

use crate::domain::model::DialectKind;
use crate::strings::Strings;
use crate::tui::command::Command;
use crate::tui::keymap::{Context, Keymap};
use crate::tui::layout::Mode;
use crate::tui::widget::List;

/// One thing that can be completed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The whole line it makes: `/dialect xml`.
    pub line: String,
    /// What it is, for the eye.
    pub title: String,
    /// The key that does the same, if any.
    pub key: String,
    /// The command, and whether more can follow.
    pub more: More,
}

/// Whether an entry is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// Nothing can follow.
    Nothing,
    /// A value can follow.
    Value,
}

/// The open list.
#[derive(Debug, Clone)]
pub struct Completion {
    /// What there is to choose from.
    pub entries: Vec<Entry>,
    /// Which is highlighted.
    pub list: List,
}

/// Whether a command takes a value after its name.
pub fn takes_value(command: Command) -> bool {
    matches!(command, Command::Model | Command::Dialect | Command::Theme | Command::Layout)
}

fn values(command: Command, themes: &[String]) -> Vec<String> {
    match command {
        Command::Dialect => {
            let kinds = DialectKind::NAMES.iter().map(|(name, _)| *name);
            std::iter::once("auto").chain(kinds).map(str::to_owned).collect()
        }
        Command::Layout => [Mode::Auto, Mode::Split, Mode::Stack, Mode::Timeline].map(|m| m.name().to_owned()).to_vec(),
        Command::Theme => themes.to_vec(),
        _ => Vec::new(),
    }
}

/// The command of a line that begins with a slash, and what follows its name. `None` for anything else; `Err` names a command that there is not.
pub fn parse(text: &str) -> Option<Result<(Command, String), String>> {
    let rest = text.strip_prefix('/')?;
    let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    // A path is no command, and neither is a single slash.
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let found = Command::ALL.iter().copied().find(|command| command.slash() == Some(name));
    Some(found.map(|command| (command, value.trim().to_owned())).ok_or_else(|| name.to_owned()))
}

impl Completion {
    /// What can follow this text; `None` when that is nothing.
    pub fn of(text: &str, strings: &Strings, keymap: &Keymap, themes: &[String]) -> Option<Self> {
        let rest = text.strip_prefix('/').filter(|rest| !rest.contains('\n'))?;
        let entries = match rest.split_once(' ') {
            None => commands(rest, strings, keymap),
            Some((name, typed)) => {
                let command = Command::ALL.iter().copied().find(|command| command.slash() == Some(name))?;
                let fits = values(command, themes).into_iter().filter(|value| value.starts_with(typed.trim_start()));
                let entry = |value| Entry {
                    line: format!("/{name} {value}"),
                    title: String::new(),
                    key: String::new(),
                    more: More::Nothing,
                };
                fits.map(entry).collect()
            }
        };
        (!entries.is_empty()).then(|| Self { entries, list: List::default() })
    }

    /// The highlighted entry.
    pub fn chosen(&self) -> Option<&Entry> {
        self.entries.get(self.list.selected())
    }
}

fn commands(typed: &str, strings: &Strings, keymap: &Keymap) -> Vec<Entry> {
    let named = Command::ALL.iter().filter_map(|command| command.slash().map(|slash| (*command, slash)));
    let mut found: Vec<_> = named.filter(|(_, slash)| slash.starts_with(typed)).collect();
    found.sort_by_key(|(_, slash)| *slash);
    found
        .into_iter()
        .map(|(command, slash)| Entry {
            line: format!("/{slash}"),
            title: strings.get(&format!("command.{}", command.name())).to_owned(),
            key: [Context::Global, Context::Composer, Context::Pane]
                .into_iter()
                .find_map(|context| keymap.label(context, command))
                .unwrap_or_default(),
            more: if takes_value(command) { More::Value } else { More::Nothing },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_or_text() {
        assert_eq!(parse("/dialect  xml "), Some(Ok((Command::Dialect, "xml".into()))));
        assert_eq!(parse("/nonsense"), Some(Err("nonsense".into())));
        assert_eq!(parse("/etc/hosts what is this"), None);
        assert_eq!(parse("/"), None);
        assert_eq!(parse("a /help"), None);
    }

    #[test]
    fn completes_names_and_values() {
        let (strings, keymap) = (Strings::default(), Keymap::built_in());
        let of = |text| Completion::of(text, &strings, &keymap, &["dark".into()]);
        let lines = |text| of(text).unwrap().entries.into_iter().map(|e| e.line).collect::<Vec<_>>();
        assert_eq!(lines("/he"), ["/help"]);
        assert_eq!(lines("/dialect n"), ["/dialect native"]);
        assert_eq!(lines("/theme "), ["/theme dark"]);
        assert!(of("/help me").is_none());
        assert!(of("no").is_none());
        assert!(lines("/").len() > 8);
    }
}
