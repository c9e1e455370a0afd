//! What a terminal sends for a key.

/// The bytes of a key by its name: `enter`, `esc`, `c-o`, `a-d`, `f2`, `up`, or one character.
pub fn bytes(name: &str) -> Vec<u8> {
    let fixed = match name {
        "enter" => "\r",
        "esc" => "\x1b",
        "tab" => "\t",
        "s-tab" => "\x1b[Z",
        "space" => " ",
        "bspace" => "\x7f",
        "del" => "\x1b[3~",
        "up" => "\x1b[A",
        "down" => "\x1b[B",
        "right" => "\x1b[C",
        "left" => "\x1b[D",
        "home" => "\x1b[H",
        "end" => "\x1b[F",
        "pgup" => "\x1b[5~",
        "pgdn" => "\x1b[6~",
        "a-enter" => "\x1b\r",
        "s-enter" => "\x1b[13;2u",
        "f1" => "\x1bOP",
        "f2" => "\x1bOQ",
        "f3" => "\x1bOR",
        _ => "",
    };
    if !fixed.is_empty() {
        return fixed.as_bytes().to_vec();
    }
    let mut letters = name.chars();
    match (letters.next(), letters.next(), letters.next(), letters.next()) {
        (Some('c'), Some('-'), Some(letter @ 'a'..='z'), None) => vec![letter as u8 - 96],
        (Some('a'), Some('-'), Some(letter), None) => format!("\x1b{letter}").into_bytes(),
        (Some(_), None, ..) => name.as_bytes().to_vec(),
        _ => panic!("there is no key {name:?}"),
    }
}
