//! Where keys go when no layer and no opened prompt takes them.

use crate::tui::layout::Arrangement;

/// A content pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaneId {
    /// What the user and the model said.
    Answer,
    /// What the model thought.
    Thinking,
    /// The calls.
    Tools,
    /// All three kinds in order.
    Timeline,
}

impl PaneId {
    /// The three panes that filter by kind, in the order of their numbers.
    pub const KINDS: [Self; 3] = [Self::Answer, Self::Thinking, Self::Tools];

    /// The key of its title in the catalogue.
    pub fn title(self) -> &'static str {
        match self {
            Self::Answer => "pane.answer",
            Self::Thinking => "pane.thinking",
            Self::Tools => "pane.tools",
            Self::Timeline => "pane.timeline",
        }
    }
}

/// What has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Focus {
    /// The composer.
    Composer,
    /// A pane.
    Pane(PaneId),
}

/// Which way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// To the next.
    Next,
    /// To the one before.
    Previous,
}

impl Focus {
    /// What `Tab` goes to.
    #[must_use]
    pub fn turn(self, turn: Turn, arrangement: Arrangement) -> Self {
        let order: &[Self] = match arrangement {
            Arrangement::Timeline => &[Self::Composer, Self::Pane(PaneId::Timeline)],
            Arrangement::TooSmall => &[Self::Composer],
            Arrangement::Split | Arrangement::Stack => {
                &[Self::Composer, Self::Pane(PaneId::Answer), Self::Pane(PaneId::Thinking), Self::Pane(PaneId::Tools)]
            }
        };
        let at = order.iter().position(|focus| *focus == self).unwrap_or(0);
        let to = match turn {
            Turn::Next => at + 1,
            Turn::Previous => at + order.len() - 1,
        };
        order[to % order.len()]
    }

    /// The same place in another arrangement.
    #[must_use]
    pub fn fit(self, arrangement: Arrangement) -> Self {
        match (self, arrangement) {
            (Self::Composer, _) | (_, Arrangement::TooSmall) => Self::Composer,
            (Self::Pane(_), Arrangement::Timeline) => Self::Pane(PaneId::Timeline),
            (Self::Pane(PaneId::Timeline), _) => Self::Pane(PaneId::Answer),
            (pane, _) => pane,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_goes_round_both_ways() {
        let mut focus = Focus::Composer;
        for expected in [PaneId::Answer, PaneId::Thinking, PaneId::Tools] {
            focus = focus.turn(Turn::Next, Arrangement::Split);
            assert_eq!(focus, Focus::Pane(expected));
        }
        assert_eq!(focus.turn(Turn::Next, Arrangement::Split), Focus::Composer);
        assert_eq!(Focus::Composer.turn(Turn::Previous, Arrangement::Stack), Focus::Pane(PaneId::Tools));
        assert_eq!(focus.fit(Arrangement::Timeline), Focus::Pane(PaneId::Timeline));
        assert_eq!(focus.fit(Arrangement::TooSmall), Focus::Composer);
    }
}
