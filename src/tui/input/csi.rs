//! What a control sequence means: the tables of keys and answers. Pure.

use super::{Answer, Received};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The meaning of `CSI parameters intermediates last`; `None` for what is not ours to know.
pub fn key(parameters: &[u8], intermediates: &[u8], last: u8) -> Option<Received> {
    let text = std::str::from_utf8(parameters).ok()?;
    if let Some(private) = text.strip_prefix('?') {
        return answer(private, intermediates, last);
    }
    if !intermediates.is_empty() || text.starts_with(['<', '=', '>']) {
        return None;
    }
    let mut groups = text.split(';').map(|group| group.split(':').map(|n| n.parse::<u32>().ok()));
    let mut first = groups.next().into_iter().flatten();
    let number = first.next().flatten();
    let shifted = first.next().flatten();
    let mut second = groups.next().into_iter().flatten();
    let modifiers = modifiers(second.next().flatten());
    let released = second.next().flatten() == Some(3);
    if released {
        return None;
    }
    match last {
        b'I' => return Some(Received::Focused),
        b'O' => return Some(Received::Unfocused),
        b'u' => return kitty(number?, shifted, modifiers),
        b'~' if number == Some(27) => {
            let code = groups.next().into_iter().flatten().next().flatten()?;
            return kitty(code, None, modifiers);
        }
        b'~' => return press(tilde(number?)?, modifiers),
        // rxvt's way of saying Shift, Ctrl, and both.
        b'$' => return press(tilde(number?)?, KeyModifiers::SHIFT),
        b'^' => return press(tilde(number?)?, KeyModifiers::CONTROL),
        b'@' => return press(tilde(number?)?, KeyModifiers::CONTROL | KeyModifiers::SHIFT),
        b'a'..=b'd' => return press(letter(last.to_ascii_uppercase())?, KeyModifiers::SHIFT),
        // `CSI row ; column R` would be a cursor report; we never ask for one, and F3 always has 1 first.
        b'R' if number.is_some_and(|n| n != 1) => return None,
        b'Z' => return press(KeyCode::BackTab, modifiers | KeyModifiers::SHIFT),
        _ => {}
    }
    press(letter(last)?, modifiers)
}

/// The meaning of `SS3 modifiers last`.
pub fn shifted(digits: &[u8], last: u8) -> Option<Received> {
    let number = std::str::from_utf8(digits).ok().and_then(|n| n.parse().ok());
    let held = modifiers(number);
    match last {
        b'a'..=b'd' => press(letter(last.to_ascii_uppercase())?, KeyModifiers::CONTROL),
        b'M' => press(KeyCode::Enter, held),
        b'I' => press(KeyCode::Tab, held),
        b'X' => press(KeyCode::Char('='), held),
        // The keypad in application mode: `*` to `9`, each 0x40 above itself.
        b'j'..=b'y' => press(KeyCode::Char(char::from(last - 0x40)), held),
        _ => press(letter(last)?, held),
    }
}

/// Always something: it ends the arms of tables in which some keys mean nothing.
#[allow(clippy::unnecessary_wraps)]
fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Received> {
    Some(Received::Key(KeyEvent::new(code, modifiers)))
}

fn answer(private: &str, intermediates: &[u8], last: u8) -> Option<Received> {
    match (intermediates, last) {
        ([], b'u') => Some(Received::Answer(Answer::Keyboard(private.parse().ok()?))),
        // DECRPM: 1 is set, 2 is not set, 3 is always set.
        (b"$", b'y') if matches!(private, "2026;1" | "2026;2" | "2026;3") => {
            Some(Received::Answer(Answer::Synchronizes))
        }
        (b"$", b'y') if matches!(private, "2027;1" | "2027;3") => Some(Received::Answer(Answer::Joins)),
        ([], b'c') => Some(Received::Answer(Answer::Attributes)),
        _ => None,
    }
}

/// Modifiers as xterm and kitty number them: one more than the sum of the bits. Locks are not modifiers.
fn modifiers(number: Option<u32>) -> KeyModifiers {
    let bits = number.unwrap_or(1).saturating_sub(1);
    let mut out = KeyModifiers::NONE;
    for (bit, modifier) in [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ] {
        if bits & bit != 0 {
            out |= modifier;
        }
    }
    out
}

fn letter(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'E' => KeyCode::KeypadBegin,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    })
}

fn tilde(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number as u8 - 10),
        17..=21 => KeyCode::F(number as u8 - 11),
        23..=26 => KeyCode::F(number as u8 - 12),
        28 | 29 => KeyCode::F(number as u8 - 13),
        31..=34 => KeyCode::F(number as u8 - 14),
        _ => return None,
    })
}

/// A key by its code point (`CSI u`, and xterm's `CSI 27 ; m ; code ~`).
fn kitty(code: u32, shifted: Option<u32>, modifiers: KeyModifiers) -> Option<Received> {
    let shift = modifiers.contains(KeyModifiers::SHIFT);
    let key = match code {
        9 if shift => return press(KeyCode::BackTab, modifiers),
        9 => KeyCode::Tab,
        10 | 13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        8 | 127 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char(char::from(b'0' + (code - 57399) as u8)),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57416 => KeyCode::Char(','),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57425 => KeyCode::Insert,
        57426 => KeyCode::Delete,
        57376..=57398 => KeyCode::F((code - 57376) as u8 + 13),
        // Locks, media keys and modifiers by themselves type nothing.
        57344..=63743 => return None,
        _ => {
            let c = char::from_u32(code).filter(|c| !c.is_control())?;
            let upper = shifted.and_then(char::from_u32).or_else(|| c.is_alphabetic().then(|| upper(c)));
            KeyCode::Char(if shift { upper.unwrap_or(c) } else { c })
        }
    };
    press(key, modifiers)
}

fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// A colour as X11 writes it: `rgb:h/h/h` with one to four digits each, `rgba:`, or `#rrggbb`.
pub fn colour(text: &str) -> Option<(u8, u8, u8)> {
    let scaled = |digits: &str| {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| (1..=4).contains(&digits.len()))?;
        Some((value * 255 / ((1 << (4 * digits.len())) - 1)) as u8)
    };
    let (r, g, b) = if let Some(hex) = text.strip_prefix('#') {
        let third = hex.len() / 3;
        (hex.get(..third)?, hex.get(third..2 * third)?, hex.get(2 * third..)?)
    } else {
        let mut parts = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?.split('/');
        (parts.next()?, parts.next()?, parts.next()?)
    };
    Some((scaled(r)?, scaled(g)?, scaled(b)?))
}
