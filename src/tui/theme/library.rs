//! Finding and reading themes.
//!
//! A theme is TOML: `inherits` names another, `[palette]` names colours, `[roles]` says how each role looks. A role is `"accent bold on surface"` (a
//! colour, emphasis, `on` a background, in any order) or a table `{ fg, bg, bold, italic, dim, underline, reversed }`. A colour is `default`, one of
//! the sixteen by name, `#rrggbb`, a name of the palette, or in the palette `mix A B N` (N hundredths from A to B). The palette's `background` is
//! replaced by the terminal's own where that is known and alike. What cannot be read is a warning, never an error.

use super::colour::{self, Depth, Rgb, fit, is_light, mix, parse};
use super::{Role, Theme};
use crate::disk;
use crate::domain::{Notice, Phrase};
use ratatui::style::{Color, Modifier, Style};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The built-in themes; a test holds them against `themes/`.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../../themes/dark.toml")),
    ("light", include_str!("../../../themes/light.toml")),
    ("ansi", include_str!("../../../themes/ansi.toml")),
    ("high-contrast", include_str!("../../../themes/high-contrast.toml")),
];

/// Themes may inherit so many others in a row.
const DEEPEST: usize = 8;

/// What is known of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminal {
    /// How many colours it shows.
    pub depth: Depth,
    /// Its background, once it has answered.
    pub background: Option<Rgb>,
}

/// All themes there are.
#[derive(Debug, Clone, Default)]
pub struct Library {
    directory: Option<PathBuf>,
}

impl Library {
    /// The built-in themes, and those of a directory; a theme there wins over a built-in one of its name.
    pub fn new(directory: Option<&Path>) -> Self {
        Self { directory: directory.map(Path::to_owned) }
    }

    /// The names of all themes, built-in ones first. Reads the directory.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        let files = self.directory.as_ref().and_then(|directory| std::fs::read_dir(directory).ok());
        let mut own: Vec<String> = files
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
            .filter(|name| !names.contains(name))
            .collect();
        own.sort();
        names.append(&mut own);
        names
    }

    /// A theme by name, fitted to the terminal, and what was wrong with it. `auto` goes by the terminal's background, and is the careful `ansi` until
    /// that is known. An unknown name is `auto` with a warning.
    pub fn load(&self, name: &str, terminal: Terminal) -> (Theme, Vec<Notice>) {
        let mut warnings = Vec::new();
        let mut source = Source::default();
        let wanted = if name == "auto" { auto(terminal) } else { name };
        if !self.collect(wanted, 0, &mut source, &mut warnings) {
            source = Source::default();
            self.collect(auto(terminal), 0, &mut source, &mut warnings);
        }
        let theme = source.theme(terminal, &mut warnings);
        (theme, warnings)
    }

    /// Reads a theme and what it inherits. Answers whether there is such a theme.
    fn collect(&self, name: &str, depth: usize, source: &mut Source, warnings: &mut Vec<Notice>) -> bool {
        let Some((file, text)) = self.read(name, warnings) else {
            warnings.push(Notice::warning(Phrase::new("theme.not_found").with("name", name)));
            return false;
        };
        let table = match text.parse::<Table>() {
            Ok(table) => table,
            Err(problem) => {
                let phrase = Phrase::new("theme.unreadable").with("file", &file).with("problem", problem.message());
                warnings.push(Notice::warning(phrase));
                return false;
            }
        };
        if let Some(parent) = table.get("inherits").and_then(Value::as_str) {
            if depth >= DEEPEST {
                warnings.push(Notice::warning(Phrase::new("theme.loop").with("file", &file)));
                return true;
            }
            self.collect(parent, depth + 1, source, warnings);
        }
        for (key, value) in table {
            match (key.as_str(), value) {
                ("palette", Value::Table(palette)) => source.palette.extend(palette),
                ("roles", Value::Table(roles)) => {
                    source.roles.extend(roles.into_iter().map(|(role, look)| (role, (look, file.clone()))));
                }
                ("inherits" | "description", Value::String(_)) => {}
                (key, _) => warnings
                    .push(Notice::warning(Phrase::new("theme.unknown_key").with("file", &file).with("key", key))),
            }
        }
        true
    }

    fn read(&self, name: &str, warnings: &mut Vec<Notice>) -> Option<(String, String)> {
        // A name is a name, not a path.
        if let Some(directory) = self.directory.as_ref().filter(|_| !name.contains(['/', '\\'])) {
            let path = directory.join(format!("{name}.toml"));
            let file = path.display().to_string();
            match disk::read(&path) {
                Ok(Some(text)) => return Some((file, text)),
                Ok(None) => {}
                Err(problem) => {
                    let phrase = Phrase::new("theme.unreadable").with("file", file).with("problem", problem);
                    warnings.push(Notice::warning(phrase));
                }
            }
        }
        let (_, text) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name)?;
        Some((name.to_owned(), (*text).to_owned()))
    }
}

fn auto(terminal: Terminal) -> &'static str {
    match terminal.background {
        _ if terminal.depth <= Depth::Ansi => "ansi",
        Some(background) if is_light(background) => "light",
        Some(_) => "dark",
        None => "ansi",
    }
}

/// A theme's text, inherited parts in it.
#[derive(Default)]
struct Source {
    palette: Table,
    roles: HashMap<String, (Value, String)>,
}

/// Roles whose background is what they say: without it they are shown reversed.
const MARKED: &[Role] = &[Role::Selected, Role::Selection, Role::MatchCurrent];

impl Source {
    fn theme(&self, terminal: Terminal, warnings: &mut Vec<Notice>) -> Theme {
        let mut theme = Theme::default();
        let palette = self.colours(terminal);
        for (name, (look, file)) in &self.roles {
            let Some(role) = Role::from_name(name) else {
                warnings.push(Notice::warning(Phrase::new("theme.unknown_role").with("file", file).with("role", name)));
                continue;
            };
            match style(look, &palette) {
                Ok(style) => theme.set(role, fitted(style, role, terminal.depth)),
                Err(word) => warnings.push(Notice::warning(
                    Phrase::new("theme.unknown_word").with("file", file).with("role", name).with("word", word),
                )),
            }
        }
        theme
    }

    /// The palette as colours. `mix` may name colours that are not mixed themselves.
    fn colours(&self, terminal: Terminal) -> HashMap<&str, Color> {
        let mut plain: HashMap<&str, Color> = HashMap::new();
        for (name, value) in &self.palette {
            if let Some(colour) = value.as_str().and_then(parse) {
                plain.insert(name, colour);
            }
        }
        if let (Some(Color::Rgb(r, g, b)), Some(real)) = (plain.get("background"), terminal.background)
            && is_light((*r, *g, *b)) == is_light(real)
        {
            plain.insert("background", Color::Rgb(real.0, real.1, real.2));
        }
        let mixed: Vec<(&str, Color)> = self
            .palette
            .iter()
            .filter_map(|(name, value)| {
                let words: Vec<&str> = value.as_str()?.split_whitespace().collect();
                let ["mix", from, to, percent] = words[..] else { return None };
                let colour = |word: &str| plain.get(word).copied().or_else(|| parse(word));
                Some((name.as_str(), mix(colour(from)?, colour(to)?, percent.parse().ok()?)))
            })
            .collect();
        plain.extend(mixed);
        plain
    }
}

fn modifier(word: &str) -> Option<Modifier> {
    Some(match word {
        "bold" => Modifier::BOLD,
        "italic" => Modifier::ITALIC,
        "dim" => Modifier::DIM,
        "underline" => Modifier::UNDERLINED,
        "reversed" => Modifier::REVERSED,
        "crossed" => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

/// A role's look; the word that was not understood otherwise.
fn style(look: &Value, palette: &HashMap<&str, Color>) -> Result<Style, String> {
    let colour = |word: &str| palette.get(word).copied().or_else(|| parse(word)).ok_or_else(|| word.to_owned());
    let mut style = Style::new();
    match look {
        Value::String(text) => {
            let mut words = text.split_whitespace();
            while let Some(word) = words.next() {
                if word == "on" {
                    style = style.bg(colour(words.next().unwrap_or_default())?);
                } else if let Some(modifier) = modifier(word) {
                    style = style.add_modifier(modifier);
                } else {
                    style = style.fg(colour(word)?);
                }
            }
        }
        Value::Table(table) => {
            for (key, value) in table {
                style = match (key.as_str(), value) {
                    ("fg", Value::String(word)) => style.fg(colour(word)?),
                    ("bg", Value::String(word)) => style.bg(colour(word)?),
                    (word, Value::Boolean(on)) => {
                        let modifier = modifier(word).ok_or_else(|| word.to_owned())?;
                        if *on { style.add_modifier(modifier) } else { style }
                    }
                    (word, _) => return Err(word.to_owned()),
                };
            }
        }
        other => return Err(other.to_string()),
    }
    Ok(style)
}

/// A style with the colours that the terminal has.
fn fitted(mut style: Style, role: Role, depth: Depth) -> Style {
    let had_background = style.bg.is_some();
    if depth <= Depth::Ansi {
        // A slight background has no like among sixteen colours.
        style.bg = style.bg.filter(|bg| depth == Depth::Ansi && !matches!(bg, Color::Rgb(..)));
        if style.bg.is_none() && had_background && MARKED.contains(&role) {
            style = style.add_modifier(Modifier::REVERSED);
        }
        if style.bg.is_none() && had_background && matches!(role, Role::Match | Role::AddedWord | Role::RemovedWord) {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
    }
    style.fg = style.fg.map(|fg| fit(fg, depth)).filter(|fg| depth > Depth::None || *fg != Color::Reset);
    style.bg = style.bg.map(|bg| colour::fit(bg, depth));
    style
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TRUE: Terminal = Terminal { depth: Depth::True, background: None };

    #[test]
    fn the_table_is_the_directory() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("themes");
        let files: BTreeSet<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let table: BTreeSet<String> = BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, table);
    }

    #[test]
    fn built_in_themes_load_without_a_warning_at_every_depth() {
        for (name, _) in BUILT_IN {
            for depth in [Depth::None, Depth::Ansi, Depth::Indexed, Depth::True] {
                let (theme, warnings) = Library::default().load(name, Terminal { depth, background: None });
                assert_eq!(warnings, []);
                for role in MARKED {
                    assert_ne!(theme.style(*role), Style::new(), "{name} {role:?} is to be seen at {depth:?}");
                }
                if depth == Depth::None {
                    for role in Role::ALL {
                        let style = theme.style(*role);
                        assert_eq!((style.fg, style.bg), (None, None), "{name} {role:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_sixteen_colours_are_enough_for_ansi() {
        let (theme, _) = Library::default().load("ansi", TRUE);
        for role in Role::ALL {
            let style = theme.style(*role);
            assert!(!matches!(style.fg, Some(Color::Rgb(..))) && !matches!(style.bg, Some(Color::Rgb(..))), "{role:?}");
        }
    }

    #[test]
    fn auto_goes_by_the_background() {
        let library = Library::default();
        let auto = |background| library.load("auto", Terminal { background, ..TRUE }).0;
        let named = |name, background| library.load(name, Terminal { background, ..TRUE }).0;
        assert_eq!(auto(None), named("ansi", None));
        assert_eq!(auto(Some((10, 10, 20))), named("dark", Some((10, 10, 20))));
        assert_eq!(auto(Some((250, 250, 250))), named("light", Some((250, 250, 250))));
        assert_ne!(named("dark", Some((40, 40, 60))), named("dark", None), "slight backgrounds follow the real one");
        assert_eq!(
            library.load("auto", Terminal { depth: Depth::Ansi, background: Some((0, 0, 0)) }).0,
            named("ansi", None)
        );
    }

    #[test]
    fn faults_of_a_file_are_warnings() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
        write(
            "mine.toml",
            "inherits = 'dark'\ncolour = 1\n[palette]\naccent = '#ff0000'\n[roles]\nnope = 'red'\nbad = 'blurple'\ngood = { fg = 'accent', bold = true }\nwarning = 'purple'\n",
        );
        write("broken.toml", "= 3");
        write("loop.toml", "inherits = 'loop'");
        let library = Library::new(Some(directory.path()));
        assert!(library.names().contains(&"mine".to_owned()));
        let (theme, warnings) = library.load("mine", TRUE);
        let keys: BTreeSet<&str> = warnings.iter().map(|warning| &*warning.text.key).collect();
        assert_eq!(keys, ["theme.unknown_key", "theme.unknown_role", "theme.unknown_word"].into());
        assert_eq!(warnings.len(), 4);
        assert_eq!(theme.style(Role::Good), Style::new().fg(Color::Rgb(255, 0, 0)).add_modifier(Modifier::BOLD));
        assert_eq!(theme.style(Role::Accent).fg, Some(Color::Rgb(255, 0, 0)), "roles see the new palette");
        assert_eq!(library.load("broken", TRUE).1.len(), 1);
        assert!(library.load("loop", TRUE).1.iter().any(|warning| warning.text.key == "theme.loop"));
        assert_eq!(library.load("../../etc/passwd", TRUE).1.len(), 1);
    }
}
