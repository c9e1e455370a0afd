//! A theme from which the role of each cell can be read back, for tests that look at the screen without caring for colours.

use super::{ROLES, Role, Theme};
use ratatui::style::{Color, Style};

/// All roles, in the order of their numbers.
pub const ALL: [Role; ROLES] = [
    Role::Text,
    Role::Dim,
    Role::Title,
    Role::TitleFocused,
    Role::Border,
    Role::BorderFocused,
    Role::Accent,
    Role::Selected,
    Role::Selection,
    Role::Match,
    Role::MatchCurrent,
    Role::Good,
    Role::Warning,
    Role::Bad,
    Role::Waiting,
    Role::Running,
    Role::User,
    Role::Thought,
    Role::Tool,
    Role::Label,
    Role::Value,
    Role::Key,
    Role::Added,
    Role::Removed,
    Role::AddedWord,
    Role::RemovedWord,
    Role::Heading,
    Role::Code,
    Role::CodeBlock,
    Role::Link,
    Role::Quote,
    Role::Marker,
    Role::SynComment,
    Role::SynKeyword,
    Role::SynString,
    Role::SynNumber,
    Role::SynFunction,
    Role::SynType,
    Role::SynVariable,
    Role::SynPunctuation,
    Role::Shade,
];

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
        Some(Color::Indexed(number)) => ALL.get(usize::from(number).checked_sub(1)?).copied(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_read_back() {
        let theme = theme();
        for (number, expected) in ALL.into_iter().enumerate() {
            assert_eq!(expected as usize, number);
            assert_eq!(role(theme.style(expected)), Some(expected));
        }
    }
}
