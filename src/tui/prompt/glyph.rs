//! The few symbols that prompts are drawn with, and their ASCII stand-ins; how keys are named in hints.
//!
//! The English catalogue keeps to ASCII in `[prompt]` and `[form]`, so that ASCII mode needs no second set of texts.

use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::text::glyph::Signs;
use crate::tui::theme::Role;
use crate::tui::widget::Line;

/// The signs of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Glyphs {
    pub waits: &'static str,
    pub pointer: &'static str,
    pub cross: &'static str,
    pub warning: &'static str,
    pub rule: &'static str,
    /// Between things in a line, with its spaces.
    pub dot: &'static str,
    pub dash: &'static str,
    pub minus: &'static str,
    pub more: &'static str,
    pub open: &'static str,
    pub close: &'static str,
    pub radio: [&'static str; 2],
    pub check: [&'static str; 2],
    pub bar: &'static str,
    pub thumb: &'static str,
    pub up: &'static str,
    pub down: &'static str,
}

/// The symbols of this frame.
pub(super) fn glyphs(look: &Look<'_>) -> Glyphs {
    let base = Signs::of(look).glyphs();
    let fine = !look.ascii;
    let pick = |symbol: &'static str, plain: &'static str| if fine { symbol } else { plain };
    Glyphs {
        waits: base.waiting,
        pointer: base.user,
        cross: base.bad,
        warning: base.warning,
        rule: base.line,
        dot: base.dot,
        dash: pick("–", "-"),
        minus: pick("−", "-"),
        more: base.more,
        open: pick("⟨", "<"),
        close: pick("⟩", ">"),
        radio: ["( )", pick("(•)", "(o)")],
        check: ["[ ]", "[x]"],
        bar: base.current,
        thumb: pick("▐", "#"),
        up: pick("↑", "^"),
        down: base.down,
    }
}

/// The name of a command's key in a context; `None` where it has none.
pub(super) fn key_name(look: &Look<'_>, context: Context, command: Command) -> Option<String> {
    let label = look.keymap.label(context, command)?;
    if !look.ascii {
        return Some(label);
    }
    Some(label.replace('↑', "Up").replace('↓', "Down").replace('←', "Left").replace('→', "Right"))
}

/// The keys that work, with what they do: `Enter next · Esc cancel`. The last one says how to leave.
pub(super) struct Hints<'a> {
    look: &'a Look<'a>,
    units: Vec<(String, &'a str)>,
}

impl<'a> Hints<'a> {
    pub(super) fn new(look: &'a Look<'a>) -> Self {
        Self { look, units: Vec::new() }
    }

    /// Adds a command's key with what it does; nothing where the command has no key.
    #[must_use]
    pub(super) fn key(self, context: Context, command: Command, text: &'a str) -> Self {
        match key_name(self.look, context, command) {
            Some(name) => self.keys(&name, text),
            None => self,
        }
    }

    /// Adds two keys with what they do together: `←→ choose`.
    #[must_use]
    pub(super) fn pair(self, context: Context, commands: [Command; 2], text: &'a str) -> Self {
        let [one, two] = commands.map(|command| key_name(self.look, context, command));
        let name = match (one, two) {
            (Some(one), Some(two)) if one.chars().count() == 1 && two.chars().count() == 1 => format!("{one}{two}"),
            (Some(one), Some(two)) => format!("{one}/{two}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return self,
        };
        self.keys(&name, text)
    }

    /// Adds keys that no keymap names.
    #[must_use]
    pub(super) fn keys(mut self, keys: &str, text: &'a str) -> Self {
        self.units.push((keys.to_owned(), self.look.strings.get(text)));
        self
    }

    /// All of them.
    pub(super) fn finish(self) -> Line {
        self.within(u16::MAX)
    }

    /// The first ones and the last, as many as fit whole.
    pub(super) fn within(&self, columns: u16) -> Line {
        let mut keep = self.units.len();
        loop {
            let line = self.line(keep);
            if line.width() <= columns || keep <= 1 {
                return line;
            }
            keep -= 1;
        }
    }

    fn line(&self, keep: usize) -> Line {
        let mut line = Line::new();
        let first = self.units.iter().take(keep.saturating_sub(1));
        for (keys, text) in first.chain(self.units.last()) {
            if !line.is_empty() {
                line.push(glyphs(self.look).dot, Role::Dim);
            }
            line.push(keys, Role::Key).push(" ", Role::Dim).push(text, Role::Dim);
        }
        line
    }
}
