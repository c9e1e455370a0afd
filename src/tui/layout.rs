//! Where everything stands on the screen. Pure: sizes and wishes in, rectangles out.
//!
//! From the top: header, panes, dock (what waits), composer, hints. **Invariants:** the rectangles do not overlap and lie inside the screen; header,
//! composer and hints are there at every size from [`MIN`] up.

use crate::tui::focus::PaneId;
use ratatui::layout::{Rect, Size};
use serde::{Deserialize, Serialize};

/// The smallest screen that can be used.
pub const MIN: Size = Size::new(40, 12);
/// From here up there is room for panes side by side.
pub const SPLIT: Size = Size::new(100, 24);

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Side by side where there is room, else one at a time.
    #[default]
    Auto,
    /// Side by side.
    Split,
    /// One pane at a time.
    Stack,
    /// All kinds in order in one pane.
    Timeline,
}

impl Mode {
    /// The one after this, round.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Auto => Self::Split,
            Self::Split => Self::Stack,
            Self::Stack => Self::Timeline,
            Self::Timeline => Self::Auto,
        }
    }

    /// Its name, as in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Split => "split",
            Self::Stack => "stack",
            Self::Timeline => "timeline",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Auto, Self::Split, Self::Stack, Self::Timeline].into_iter().find(|mode| mode.name() == name)
    }

    /// How this is arranged on a screen of this size. Panes side by side need [`SPLIT`] whoever asks for them.
    pub fn arrange(self, screen: Size) -> Arrangement {
        if screen.width < MIN.width || screen.height < MIN.height {
            return Arrangement::TooSmall;
        }
        match self {
            Self::Auto | Self::Split if screen.width >= SPLIT.width && screen.height >= SPLIT.height => {
                Arrangement::Split
            }
            // A call and its thought are seen where they belong, with no pane to change to.
            Self::Auto | Self::Timeline => Arrangement::Timeline,
            Self::Split | Self::Stack => Arrangement::Stack,
        }
    }
}

/// How the panes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// Side by side.
    Split,
    /// One at a time.
    Stack,
    /// All kinds in one pane.
    Timeline,
    /// Nothing can be shown.
    TooSmall,
}

/// Which pane is shown where only one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The pane that a stack shows.
    pub pane: PaneId,
    /// It alone is shown though there would be room for more.
    pub zoom: Zoom,
    /// Share of the left column, percent.
    pub left: u16,
}

/// Whether one pane has all the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Zoom {
    /// No.
    #[default]
    Off,
    /// Yes.
    On,
}

/// Bounds of the left column's share, percent.
pub const LEFT: std::ops::RangeInclusive<u16> = 30..=75;

/// Rows that the parts below the panes would like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Rows of the composer's text.
    pub composer: u16,
    /// Rows of the dock.
    pub dock: u16,
}

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Areas {
    /// The arrangement.
    pub arrangement: Arrangement,
    /// One row at the top.
    pub header: Rect,
    /// Each pane that is shown: its first row is its title.
    pub panes: Vec<(PaneId, Rect)>,
    /// The column between the left and the right panes.
    pub divider: Option<Rect>,
    /// What waits; may be empty.
    pub dock: Rect,
    /// The composer: its first row is a rule.
    pub composer: Rect,
    /// One row at the bottom.
    pub hints: Rect,
}

/// Whether the dock has been opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dock {
    /// Nothing, or one line.
    Closed,
    /// A card that takes the keys.
    Open,
}

/// Rows of text that the composer gets: a third of the screen at most, one while an opened card needs the room.
pub fn composer_rows(screen: Size, wanted: u16, dock: Dock) -> u16 {
    let most = match dock {
        Dock::Open if screen.height < SPLIT.height => 1,
        _ => (screen.height / 3).max(1),
    };
    wanted.clamp(1, most)
}

/// Rows that the dock may take, beside a composer of so many rows.
pub fn dock_room(screen: Size, composer: u16, dock: Dock) -> u16 {
    let kept = match dock {
        Dock::Open if screen.height < 16 => 0,
        Dock::Open => screen.height / 5,
        Dock::Closed => 4,
    };
    screen.height.saturating_sub(2 + composer + 1 + kept)
}

/// Arranges the screen.
pub fn areas(screen: Size, mode: Mode, shown: Shown, wishes: Wishes) -> Areas {
    let arrangement = mode.arrange(screen);
    let row = |y: u16, height: u16| Rect::new(0, y, screen.width, height);
    if arrangement == Arrangement::TooSmall {
        let nothing = row(0, 0);
        return Areas {
            arrangement,
            header: row(0, screen.height.min(1)),
            panes: Vec::new(),
            divider: None,
            dock: nothing,
            composer: nothing,
            hints: nothing,
        };
    }
    let composer = (wishes.composer.max(1) + 1).min(screen.height - 3);
    let dock = wishes.dock.min(screen.height - 2 - composer);
    let content = screen.height - 2 - composer - dock;
    let middle = row(1, content);
    let (panes, divider) = panes(arrangement, shown, middle);
    Areas {
        arrangement,
        header: row(0, 1),
        panes,
        divider,
        dock: row(1 + content, dock),
        composer: row(1 + content + dock, composer),
        hints: row(screen.height - 1, 1),
    }
}

fn panes(arrangement: Arrangement, shown: Shown, area: Rect) -> (Vec<(PaneId, Rect)>, Option<Rect>) {
    if area.height == 0 {
        return (Vec::new(), None);
    }
    match arrangement {
        Arrangement::Timeline => (vec![(PaneId::Timeline, area)], None),
        // An opened card may leave no room for three.
        Arrangement::Split if shown.zoom == Zoom::Off && area.height >= 6 => {
            let left = (u32::from(area.width) * u32::from(shown.left) / 100) as u16;
            let top = (area.height * 2 / 5).max(2);
            let x = area.x + left + 1;
            let right = area.width - left - 1;
            let panes = vec![
                (PaneId::Answer, Rect::new(area.x, area.y, left, area.height)),
                (PaneId::Thinking, Rect::new(x, area.y, right, top)),
                (PaneId::Tools, Rect::new(x, area.y + top, right, area.height - top)),
            ];
            (panes, Some(Rect::new(area.x + left, area.y, 1, area.height)))
        }
        _ => (vec![(shown.pane, area)], None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHOWN: Shown = Shown { pane: PaneId::Tools, zoom: Zoom::Off, left: 58 };

    fn names(areas: &Areas) -> Vec<PaneId> {
        areas.panes.iter().map(|(pane, _)| *pane).collect()
    }

    #[test]
    fn arrangements_by_size() {
        let wishes = Wishes { composer: 1, dock: 0 };
        assert_eq!(names(&areas(SPLIT, Mode::Auto, SHOWN, wishes)), PaneId::KINDS);
        let narrow = Size::new(99, 50);
        assert_eq!(names(&areas(narrow, Mode::Auto, SHOWN, wishes)), [PaneId::Timeline]);
        assert_eq!(names(&areas(narrow, Mode::Stack, SHOWN, wishes)), [PaneId::Tools]);
        assert_eq!(names(&areas(narrow, Mode::Split, SHOWN, wishes)), [PaneId::Tools]);
        assert_eq!(names(&areas(narrow, Mode::Timeline, SHOWN, wishes)), [PaneId::Timeline]);
        let zoomed = Shown { zoom: Zoom::On, ..SHOWN };
        assert_eq!(names(&areas(SPLIT, Mode::Auto, zoomed, wishes)), [PaneId::Tools]);
        assert_eq!(areas(Size::new(39, 12), Mode::Auto, SHOWN, wishes).arrangement, Arrangement::TooSmall);
    }

    #[test]
    fn small_screens_keep_room() {
        let screen = MIN;
        assert_eq!(composer_rows(screen, 9, Dock::Closed), 4);
        assert_eq!(composer_rows(screen, 9, Dock::Open), 1);
        assert_eq!(dock_room(screen, 1, Dock::Open), 8);
        assert_eq!(dock_room(Size::new(120, 40), 1, Dock::Open), 28);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn nothing_overlaps_or_leaves_the_screen(
            width in 0_u16..260, height in 0_u16..90, composer in 0_u16..200, dock in 0_u16..200, left in LEFT, mode in 0..4,
        ) {
            let screen = Size::new(width, height);
            let mode = [Mode::Auto, Mode::Split, Mode::Stack, Mode::Timeline][mode as usize];
            let all = areas(screen, mode, Shown { left, ..SHOWN }, Wishes { composer, dock });
            let mut rects: Vec<Rect> = all.panes.iter().map(|(_, r)| *r).collect();
            rects.extend([all.header, all.dock, all.composer, all.hints]);
            rects.extend(all.divider);
            for (i, a) in rects.iter().enumerate() {
                prop_assert!(a.right() <= width && a.bottom() <= height);
                for b in &rects[i + 1..] {
                    prop_assert!(a.is_empty() || b.is_empty() || !a.intersects(*b), "{a:?} {b:?}");
                }
            }
            if all.arrangement != Arrangement::TooSmall {
                prop_assert!(all.composer.height >= 2 && all.hints.height == 1);
            }
        }
    }
}
