//! A theme from which the role of each cell can be read back, for tests that look at the screen without caring for colours.

use super::{Role, Theme};
use ratatui::style::{Color, Style};

/// The theme: each role has an underline colour of its own.
pub fn theme() -> Theme {
    let mut theme = Theme::default();
    for (number, style) in theme.styles.iter_mut().enumerate() {
        *style = Style::new().underline_color(Color::Indexed(number as u8 + 1));
    }
    theme
}

/// The role that a cell was painted in last; `None` where nothing was painted.
pub fn role(style: Style) -> Option<Role> {
    match style.underline_color {
        Some(Color::Indexed(number)) => Role::ALL.get(usize::from(number).checked_sub(1)?).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_read_back() {
        let theme = theme();
        for (number, expected) in Role::ALL.iter().copied().enumerate() {
            assert_eq!(expected as usize, number);
            assert_eq!(role(theme.style(expected)), Some(expected));
        }
    }
}
