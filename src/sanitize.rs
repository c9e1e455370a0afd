//! Text from models and servers is data: control bytes, bidi overrides and zero-width characters are shown as marks and never sent.
//!
//! Source of the bidi set: Unicode TR9; of the trick itself: CVE-2021-42574.

use std::borrow::Cow;

/// What a character that may not reach the terminal is shown as; `None` for a harmless one.
fn mark(c: char) -> Option<char> {
    match c {
        // C0 controls as their control pictures (U+2400…); DEL as its own.
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        // C1 controls, bidi controls, zero-width and other invisible format characters, tags, variation selectors supplement, non-characters.
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200c}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => Some('\u{fffd}'),
        _ => None,
    }
}

/// Whether a text can be drawn as it is.
pub fn is_clean(text: &str) -> bool {
    // Printable ASCII is the rule, and cheap to see.
    if text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return true;
    }
    text.chars().all(|c| c != '\u{200d}' && mark(c).is_none())
}

/// What is sent to the terminal for a cell: its text, or a mark where that could steer the terminal. Whoever draws has made its text safe already;
/// this is the one door that everything goes through, so that a place where that was forgotten harms nobody.
pub fn cell(symbol: &str) -> &str {
    let is_safe = |c: char| c == '\u{200d}' || mark(c).is_none();
    if symbol.bytes().all(|b| matches!(b, b' '..=b'~')) || symbol.chars().all(is_safe) { symbol } else { "\u{fffd}" }
}

/// A piece of a line (as `width::pieces` cuts it; a slice of `line`) made safe to draw. Whether a joiner joins is seen from what follows it.
pub fn piece<'a>(line: &str, piece: &'a str) -> Cow<'a, str> {
    if piece.ends_with('\u{200d}') {
        let end = piece.as_ptr() as usize - line.as_ptr() as usize + piece.len();
        let after = line.get(end..).and_then(|rest| rest.chars().next());
        let before = piece.chars().rev().nth(1);
        if before.is_some_and(joins) && after.is_some_and(joins) {
            let body = &piece[..piece.len() - '\u{200d}'.len_utf8()];
            return if is_clean(body) {
                Cow::Borrowed(piece)
            } else {
                Cow::Owned(self::line(body).into_owned() + "\u{200d}")
            };
        }
    }
    self::line(piece)
}

/// One line of text made safe to draw. Tabs become spaces up to the next multiple of four; a newline is shown as a mark, so split first.
/// A zero-width joiner is kept only where it joins emoji.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut column = 0_usize;
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\t' => {
                let spaces = 4 - column % 4;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\u{200d}' if joins(before) && rest.peek().is_some_and(|&next| joins(next)) => out.push(c),
            '\u{200d}' => {
                out.push('\u{fffd}');
                column += 1;
            }
            _ => {
                out.push(mark(c).unwrap_or(c));
                column += 1;
            }
        }
        before = c;
    }
    Cow::Owned(out)
}

/// Whether a zero-width joiner beside this character makes an emoji sequence (a variation selector stands between some of them).
fn joins(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_what_would_steer_the_terminal() {
        assert_eq!(line("plain"), "plain");
        assert_eq!(line("\u{1b}[31mred"), "␛[31mred");
        assert_eq!(line("a\u{202e}b\u{200b}c"), "a\u{fffd}b\u{fffd}c");
        assert_eq!(line("\u{9b}31m"), "\u{fffd}31m");
        assert_eq!(line("a\tb"), "a   b");
        assert_eq!(line("👩\u{200d}💻"), "👩\u{200d}💻");
        assert_eq!(line("x\u{200d}y"), "x\u{fffd}y");
    }

    proptest! {
        #[test]
        fn no_control_is_left(text in any::<String>()) {
            let clean = line(&text);
            prop_assert!(clean.chars().all(|c| !c.is_control()));
            let again = line(&clean).into_owned();
            prop_assert_eq!(again, clean);
        }
    }
}
