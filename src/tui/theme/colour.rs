//! Reading colours, mixing them, and making do with fewer.

use ratatui::style::Color;

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Depth {
    /// None: `NO_COLOR`, or a terminal without any.
    None,
    /// The sixteen of its own palette.
    #[default]
    Ansi,
    /// 256.
    Indexed,
    /// All.
    True,
}

/// A colour in 24 bits.
pub(super) type Rgb = (u8, u8, u8);

/// The names of the terminal's own colours.
const NAMED: &[(&str, Color, Rgb)] = &[
    ("black", Color::Black, (0, 0, 0)),
    ("red", Color::Red, (205, 49, 49)),
    ("green", Color::Green, (13, 158, 90)),
    ("yellow", Color::Yellow, (200, 160, 20)),
    ("blue", Color::Blue, (36, 114, 200)),
    ("magenta", Color::Magenta, (188, 63, 188)),
    ("cyan", Color::Cyan, (17, 168, 205)),
    ("white", Color::Gray, (204, 204, 204)),
    ("bright-black", Color::DarkGray, (110, 110, 110)),
    ("bright-red", Color::LightRed, (241, 76, 76)),
    ("bright-green", Color::LightGreen, (35, 209, 139)),
    ("bright-yellow", Color::LightYellow, (245, 235, 67)),
    ("bright-blue", Color::LightBlue, (59, 142, 234)),
    ("bright-magenta", Color::LightMagenta, (214, 112, 214)),
    ("bright-cyan", Color::LightCyan, (41, 184, 219)),
    ("bright-white", Color::White, (240, 240, 240)),
];

/// Reads `default`, a name of the terminal's own colours, or `#rrggbb`.
pub(super) fn parse(text: &str) -> Option<Color> {
    if text == "default" {
        return Some(Color::Reset);
    }
    if let Some((_, colour, _)) = NAMED.iter().find(|(name, ..)| *name == text) {
        return Some(*colour);
    }
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, r, g, b] = number.to_be_bytes();
    Some(Color::Rgb(r, g, b))
}

/// So many hundredths of the way from one colour to another.
pub(super) fn mix(from: Color, to: Color, percent: u8) -> Color {
    let ((r1, g1, b1), (r2, g2, b2)) = (rgb(from), rgb(to));
    let step = |a: u8, b: u8| {
        let way = (i32::from(b) - i32::from(a)) * i32::from(percent.min(100)) / 100;
        (i32::from(a) + way).clamp(0, 255) as u8
    };
    Color::Rgb(step(r1, r2), step(g1, g2), step(b1, b2))
}

fn rgb(colour: Color) -> Rgb {
    match colour {
        Color::Rgb(r, g, b) => (r, g, b),
        other => NAMED.iter().find(|(_, named, _)| *named == other).map_or((128, 128, 128), |(.., rgb)| *rgb),
    }
}

/// Whether a background is a light one.
pub(super) fn is_light((r, g, b): Rgb) -> bool {
    // Rec. 601 luma.
    u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114 > 140 * 1000
}

/// The nearest colour that the terminal can show.
pub(super) fn fit(colour: Color, depth: Depth) -> Color {
    let Color::Rgb(r, g, b) = colour else {
        return if depth == Depth::None { Color::Reset } else { colour };
    };
    match depth {
        Depth::True => colour,
        Depth::Indexed => Color::Indexed(indexed((r, g, b))),
        Depth::Ansi => nearest((r, g, b)),
        Depth::None => Color::Reset,
    }
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let part = |a: u8, b: u8, weight: u32| u32::from(a.abs_diff(b)).pow(2) * weight;
    part(a.0, b.0, 3) + part(a.1, b.1, 4) + part(a.2, b.2, 2)
}

/// The nearest of the colour cube and the greys (the first sixteen are the user's own and not known).
fn indexed(colour: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| (0..6).min_by_key(|&i| LEVELS[i].abs_diff(value)).unwrap_or(0);
    let (r, g, b) = (level(colour.0), level(colour.1), level(colour.2));
    let cube = (LEVELS[r], LEVELS[g], LEVELS[b]);
    let mean = (u16::from(colour.0) + u16::from(colour.1) + u16::from(colour.2)) / 3;
    let grey = (mean.saturating_sub(3) / 10).min(23) as u8;
    let tone = 8 + grey * 10;
    if distance((tone, tone, tone), colour) < distance(cube, colour) {
        232 + grey
    } else {
        (16 + 36 * r + 6 * g + b) as u8
    }
}

/// The nearest of the sixteen, by hue first: a pale blue is blue, not white.
fn nearest(colour: Rgb) -> Color {
    let (max, min) = (colour.0.max(colour.1).max(colour.2), colour.0.min(colour.1).min(colour.2));
    if max - min < 40 {
        return match max {
            0..=60 => Color::Black,
            61..=150 => Color::DarkGray,
            151..=225 => Color::Gray,
            _ => Color::White,
        };
    }
    // Stretched to full saturation, so that only the hue decides.
    let full = |value: u8| (u32::from(value - min) * 255 / u32::from(max - min)) as u8;
    let hue = (full(colour.0), full(colour.1), full(colour.2));
    const HUES: [(Color, Rgb); 6] = [
        (Color::Red, (255, 0, 0)),
        (Color::Green, (0, 255, 0)),
        (Color::Yellow, (255, 220, 0)),
        (Color::Blue, (0, 60, 255)),
        (Color::Magenta, (255, 0, 255)),
        (Color::Cyan, (0, 255, 255)),
    ];
    HUES.iter().min_by_key(|(_, pure)| distance(*pure, hue)).map_or(Color::Reset, |(colour, _)| *colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_fits() {
        assert_eq!(parse("#8ab4f8"), Some(Color::Rgb(0x8a, 0xb4, 0xf8)));
        assert_eq!(parse("bright-black"), Some(Color::DarkGray));
        assert_eq!(parse("#12345"), None);
        assert_eq!(parse("blurple"), None);
        assert_eq!(fit(Color::Rgb(0x8a, 0xb4, 0xf8), Depth::Ansi), Color::Blue);
        assert_eq!(fit(Color::Rgb(0xf2, 0x8b, 0x82), Depth::Ansi), Color::Red);
        assert_eq!(fit(Color::Rgb(255, 0, 0), Depth::Indexed), Color::Indexed(196));
        assert_eq!(fit(Color::Rgb(0x1f, 0x23, 0x2b), Depth::Indexed), Color::Indexed(235));
        assert_eq!(mix(Color::Rgb(0, 0, 0), Color::Rgb(200, 100, 50), 10), Color::Rgb(20, 10, 5));
        assert!(is_light((250, 250, 245)) && !is_light((30, 30, 46)));
    }
}
