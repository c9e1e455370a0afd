//! How a step or a turn ended, where that is worth a line.

use crate::domain::{StepEnd, TurnEnd};

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
}
