//! How a step or a turn ended, where that is worth a line.

use super::Ctx;
use crate::domain::{StepEnd, TurnEnd};
use crate::strings::Strings;
use crate::tui::text::row::Row;
use crate::tui::text::wrap::{Frame, Span, wrap};
use crate::tui::theme::Role;

/// An end worth a line. An ordinary end has none: [`Mark::of_turn`] and [`Mark::of_step`] answer `None` for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A turn ended in another way than done.
    Turn(TurnEnd),
    /// A step ended in another way than complete.
    Step(StepEnd),
}

impl Mark {
    /// The mark of a turn's end.
    pub fn of_turn(end: TurnEnd) -> Option<Self> {
        (end != TurnEnd::Done).then_some(Self::Turn(end))
    }

    /// The mark of a step's end.
    pub fn of_step(end: StepEnd) -> Option<Self> {
        (end != StepEnd::Complete).then_some(Self::Step(end))
    }

    /// What it says.
    pub fn text(&self, strings: &Strings) -> String {
        let problem = |key: &str, problem| strings.fill(key, &[("problem", &strings.render(problem))]);
        match self {
            Self::Turn(TurnEnd::Done) | Self::Step(StepEnd::Complete) => strings.get("cell.done").to_owned(),
            Self::Turn(TurnEnd::Interrupted) => strings.get("cell.turn_interrupted").to_owned(),
            Self::Turn(TurnEnd::Stopped) => strings.get("cell.turn_stopped").to_owned(),
            Self::Turn(TurnEnd::StepLimit) => strings.get("cell.turn_step_limit").to_owned(),
            Self::Turn(TurnEnd::Failed { problem: why }) => problem("cell.turn_failed", why),
            Self::Step(StepEnd::Cut { problem: why }) => problem("cell.step_cut", why),
            Self::Step(StepEnd::Interrupted) => strings.get("cell.step_interrupted").to_owned(),
        }
    }

    pub(super) fn rows(&self, ctx: &Ctx<'_>) -> Vec<Row> {
        let glyphs = ctx.signs().glyphs();
        let (sign, role) = match self {
            Self::Turn(TurnEnd::Failed { .. }) => (glyphs.bad, Role::Bad),
            Self::Step(StepEnd::Cut { .. }) => (glyphs.warning, Role::Warning),
            _ => (glyphs.off, Role::Dim),
        };
        let frame = Frame {
            width: ctx.width,
            first: vec![(format!("{sign} ").into(), role.into())],
            rest: vec![("  ".into(), Role::Text.into())],
            ..Frame::default()
        };
        let mut rows = Vec::new();
        let text = self.text(ctx.look.strings).replace('\n', " ");
        wrap(&[Span { text: text.into(), paint: role.into(), source: 0..0 }], &frame, 0, &mut rows);
        rows
    }
}
