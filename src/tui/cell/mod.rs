//! One kind of entry a file. A cell holds what an entry *is*; what a pane makes of it (rows, folding, scrolling) is `transcript`'s.
//!
//! **Invariants:** a cell changes only through [`Change`], handed in by `transcript::Store::change`, which bumps the slot's revision: no mutator can
//! forget it. Text is stored once and unsanitized; it is cleaned where it is laid out. Cells do not import each other.

pub mod answer;
pub mod mark;
pub mod notice;
pub mod thinking;
pub mod tool;
pub mod user;

pub use answer::Answer;
pub use mark::Mark;
pub use notice::NoticeCell;
pub use thinking::Thinking;
pub use tool::{Tool, ToolChange};
pub use user::User;

use crate::domain::{CallId, Notice, UserInput};

/// The kinds of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// What the user sent.
    User,
    /// What the model thought.
    Thinking,
    /// What the model said.
    Answer,
    /// A call.
    Tool,
    /// Something the user should read.
    Notice,
    /// How a step or a turn ended.
    Mark,
}

/// An entry.
#[derive(Debug)]
pub enum Cell {
    /// What the user sent.
    User(User),
    /// What the model thought.
    Thinking(Thinking),
    /// What the model said.
    Answer(Answer),
    /// A call.
    Tool(Box<Tool>),
    /// Something the user should read.
    Notice(NoticeCell),
    /// How a step or a turn ended.
    Mark(Mark),
}

/// How a cell changes.
#[derive(Debug)]
pub enum Change<'a> {
    /// A thought or an answer grew by this piece.
    Append(&'a str),
    /// A thought or an answer is whole; nothing follows.
    Finish,
    /// Something about a call.
    Tool(ToolChange<'a>),
}

impl Cell {
    /// What the user sent.
    pub fn user(input: UserInput) -> Self {
        Self::User(User::new(input))
    }

    /// An empty thought that will grow.
    pub fn thinking() -> Self {
        Self::Thinking(Thinking::default())
    }

    /// An empty answer that will grow.
    pub fn answer() -> Self {
        Self::Answer(Answer::default())
    }

    /// A call that is being written or was just proposed.
    pub fn tool(call: CallId) -> Self {
        Self::Tool(Box::new(Tool::new(call)))
    }

    /// Something the user should read.
    pub fn notice(notice: Notice) -> Self {
        Self::Notice(NoticeCell::new(notice))
    }

    /// How a step or a turn ended.
    pub fn mark(mark: Mark) -> Self {
        Self::Mark(mark)
    }

    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::User(_) => Kind::User,
            Self::Thinking(_) => Kind::Thinking,
            Self::Answer(_) => Kind::Answer,
            Self::Tool(_) => Kind::Tool,
            Self::Notice(_) => Kind::Notice,
            Self::Mark(_) => Kind::Mark,
        }
    }

    /// Carries out a change. One that does not fit the kind changes nothing and answers `false`.
    pub(in crate::tui) fn change(&mut self, change: Change<'_>) -> bool {
        match (self, change) {
            (Self::Thinking(cell), Change::Append(text)) => cell.append(text),
            (Self::Thinking(cell), Change::Finish) => cell.finish(),
            (Self::Answer(cell), Change::Append(text)) => cell.append(text),
            (Self::Answer(cell), Change::Finish) => cell.finish(),
            (Self::Tool(cell), Change::Tool(change)) => cell.change(change),
            _ => return false,
        }
        true
    }
}
