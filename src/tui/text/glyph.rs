//! The signs of the interface, in symbols and in ASCII. A sign never stands alone: a word says the same.

use crate::tui::look::Look;
use crate::tui::text::width;

/// A set of signs.
#[derive(Debug, PartialEq, Eq)]
pub struct Glyphs {
    /// It went well.
    pub good: &'static str,
    /// It failed.
    pub bad: &'static str,
    /// It waits for the user.
    pub waiting: &'static str,
    /// It is on its way.
    pub open: &'static str,
    /// It was put aside: rejected, called off.
    pub off: &'static str,
    /// It does nothing, and nothing is wrong with that.
    pub idle: &'static str,
    /// It is suspended.
    pub paused: &'static str,
    /// Look out.
    pub warning: &'static str,
    /// Worth knowing.
    pub info: &'static str,
    /// The user's words follow.
    pub user: &'static str,
    /// A thought follows.
    pub thought: &'static str,
    /// A result follows.
    pub result: &'static str,
    /// Between things in a line, with its spaces.
    pub dot: &'static str,
    /// Something was left out.
    pub more: &'static str,
    /// Below is more.
    pub down: &'static str,
    /// Bar beside the current entry, one column.
    pub current: &'static str,
    /// Bar beside quoted text.
    pub quote: &'static str,
    /// List items, by depth.
    pub bullets: [&'static str; 3],
    /// A task that is done.
    pub done: &'static str,
    /// A task that is not done.
    pub todo: &'static str,
    /// Horizontal line.
    pub line: &'static str,
    /// Vertical line of a table.
    pub column: &'static str,
    /// Where the lines of a table cross.
    pub cross: &'static str,
    /// Filled part of a progress bar.
    pub full: &'static str,
    /// Empty part of a progress bar.
    pub empty: &'static str,
    /// Between a file's name before and after.
    pub to: &'static str,
    /// A turning sign, frame by frame.
    pub spinner: &'static [&'static str],
}

const SYMBOLS: Glyphs = Glyphs {
    good: "✓",
    bad: "✗",
    waiting: "●",
    open: "◌",
    off: "⊘",
    idle: "○",
    paused: "◐",
    warning: "▲",
    info: "·",
    user: "›",
    thought: "∴",
    result: "→",
    dot: " · ",
    more: "…",
    down: "↓",
    current: "▎",
    quote: "▎",
    bullets: ["•", "◦", "▪"],
    done: "✓",
    todo: "○",
    line: "─",
    column: "│",
    cross: "┼",
    full: "━",
    empty: "─",
    to: "→",
    spinner: &["◜", "◝", "◞", "◟"],
};

/// Where ambiguous characters take two columns, lines drawn with them would be twice as long as meant; the lines are ASCII there, the marks stay.
const WIDE: Glyphs = Glyphs {
    current: "|",
    quote: "|",
    line: "-",
    column: "|",
    cross: "+",
    full: "=",
    empty: "-",
    dot: " - ",
    more: "...",
    ..SYMBOLS
};

const ASCII: Glyphs = Glyphs {
    good: "+",
    bad: "x",
    waiting: "*",
    open: "o",
    off: "-",
    idle: ".",
    paused: "=",
    warning: "!",
    info: "-",
    user: ">",
    thought: "~",
    result: "->",
    down: "v",
    bullets: ["*", "-", "+"],
    done: "[x]",
    todo: "[ ]",
    to: "->",
    spinner: &["|", "/", "-", "\\"],
    ..WIDE
};

/// Which signs to draw with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Signs {
    /// Symbols and lines.
    #[default]
    Symbols,
    /// ASCII only.
    Ascii,
}

impl Signs {
    /// The signs a look asks for.
    pub fn of(look: &Look<'_>) -> Self {
        if look.ascii { Self::Ascii } else { Self::Symbols }
    }

    /// The signs themselves.
    pub fn glyphs(self) -> &'static Glyphs {
        match self {
            Self::Ascii => &ASCII,
            Self::Symbols if width::ambiguous_wide() => &WIDE,
            Self::Symbols => &SYMBOLS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_is_ascii() {
        let all = format!("{ASCII:?}");
        assert!(all.is_ascii(), "{all}");
    }

    #[test]
    fn lines_take_one_column() {
        for set in [&SYMBOLS, &WIDE, &ASCII] {
            for sign in [set.current, set.line, set.column, set.cross, set.full, set.empty] {
                assert_eq!(width::of(sign), 1, "{sign}");
            }
        }
    }
}
