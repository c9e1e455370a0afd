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
use crate::strings::Strings;
use crate::tui::look::Look;
use crate::tui::text::blocks::{Flow, Growth};
use crate::tui::text::row::{Row, RowBuilder};
use crate::tui::text::{Signs, sanitize};
use crate::tui::theme::{Paint, Role};

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

    /// How it is shown unless the user says otherwise.
    pub(in crate::tui) fn default_fold(&self, company: Company) -> Fold {
        match self {
            Self::User(cell) if cell.is_long() => Fold::Closed,
            Self::Tool(_) => Fold::Closed,
            Self::Thinking(cell) if company == Company::Mixed && cell.is_whole() && cell.is_long() => Fold::Closed,
            _ => Fold::Open,
        }
    }

    /// Whether there is anything to open or fold.
    pub(in crate::tui) fn folds(&self) -> bool {
        !matches!(self, Self::Notice(_) | Self::Mark(_))
    }

    /// What it is made of, in order.
    pub(in crate::tui) fn parts<'a>(&'a self, shown: Shown, out: &mut Vec<Part<'a>>) {
        match self {
            Self::User(cell) => cell.parts(shown, out),
            Self::Thinking(cell) => cell.parts(shown, out),
            Self::Answer(cell) => cell.parts(shown, out),
            Self::Tool(cell) => cell.parts(shown, out),
            Self::Notice(_) | Self::Mark(_) => out.push(Part::rows(0, "")),
        }
    }

    /// The rows of a part that is no text: all of them, or those of one chunk.
    pub(in crate::tui) fn rows(&self, key: u16, chunk: usize, shown: Shown, ctx: &Ctx<'_>) -> Vec<Row> {
        match self {
            Self::User(cell) => cell.rows(key, ctx),
            Self::Thinking(cell) => cell.rows(key, shown, ctx),
            Self::Answer(cell) => cell.rows(ctx),
            Self::Tool(cell) => cell.rows(key, chunk, shown, ctx),
            Self::Notice(cell) => cell.rows(ctx),
            Self::Mark(cell) => cell.rows(ctx),
        }
    }

    /// Its text as it came, for the clipboard.
    pub fn copy_text(&self, look: &Look<'_>) -> String {
        match self {
            Self::User(cell) => cell.text().to_owned(),
            Self::Thinking(cell) => cell.text().to_owned(),
            Self::Answer(cell) => cell.text().to_owned(),
            Self::Tool(cell) => cell.copy_text(look.strings),
            Self::Notice(cell) => look.strings.render(&cell.notice().text),
            Self::Mark(cell) => cell.text(look.strings),
        }
    }

    /// The entry as plain lines: sanitized, not wrapped.
    pub(in crate::tui) fn plain_lines<'a>(&'a self, strings: &Strings) -> Box<dyn Iterator<Item = String> + 'a> {
        let glyphs = Signs::Symbols.glyphs();
        match self {
            Self::User(cell) => prefixed(cell.text(), glyphs.user),
            Self::Thinking(cell) => prefixed(cell.text(), glyphs.thought),
            Self::Answer(cell) => Box::new(cell.text().trim().lines().map(|line| sanitize::line(line).into_owned())),
            Self::Tool(cell) => {
                let title = sanitize::line(&cell.title(strings)).into_owned();
                let body = cell.body_text(strings);
                let lines: Vec<String> = body
                    .lines()
                    .skip(1)
                    .map(|line| format!("  {}", sanitize::line(line)).trim_end().to_owned())
                    .collect();
                Box::new(std::iter::once(title).chain(lines))
            }
            Self::Notice(cell) => {
                let text = strings.render(&cell.notice().text);
                Box::new(std::iter::once(format!("{} {}", glyphs.info, sanitize::line(&text.replace('\n', " ")))))
            }
            Self::Mark(cell) => {
                let text = cell.text(strings);
                Box::new(std::iter::once(format!("{} {}", glyphs.off, sanitize::line(&text.replace('\n', " ")))))
            }
        }
    }

    /// About how many rows it takes, without looking closer.
    pub(in crate::tui) fn weight(&self) -> u32 {
        let text = |text: &str| (text.len() / 64 + 2) as u32;
        match self {
            Self::User(cell) if cell.is_long() => 14,
            Self::User(cell) => text(cell.text()),
            Self::Thinking(cell) => text(cell.text()),
            Self::Answer(cell) => text(cell.text()),
            Self::Tool(_) => 4,
            Self::Notice(_) | Self::Mark(_) => 2,
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

/// Whether an entry is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    /// All of it is shown.
    Open,
    /// Only what matters at a glance.
    Closed,
}

/// What stands beside an entry in its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Company {
    /// Entries of its own kind: no need to say what it is.
    Own,
    /// All kinds.
    Mixed,
}

/// How an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// Opened or not.
    pub fold: Fold,
    /// What stands beside it.
    pub company: Company,
}

/// What laying out a part needs.
#[derive(Clone, Copy)]
pub struct Ctx<'a> {
    /// Texts, time, signs.
    pub look: &'a Look<'a>,
    /// Columns.
    pub width: u16,
}

impl Ctx<'_> {
    /// The signs to draw with.
    pub fn signs(&self) -> Signs {
        Signs::of(self.look)
    }
}

/// A piece of an entry that is laid out by itself.
#[derive(Debug)]
pub struct Part<'a> {
    /// Its number within the entry; the same part has the same number in every fold.
    pub key: u16,
    /// Its source text: what is searched and copied, and laid out where the body says so.
    pub text: &'a str,
    /// What it is.
    pub body: Body,
    /// Columns it is moved to the right.
    pub inset: u16,
    /// A sign in front of its first row, within the inset.
    pub sign: Option<Sign>,
    /// What lies under all of its rows.
    pub under: Role,
}

/// A sign in front of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The user's words follow.
    User,
    /// A result follows.
    Result,
    /// A result that is an error follows.
    Error,
}

impl Sign {
    /// How it is drawn.
    pub fn drawn(self, signs: Signs) -> (&'static str, Role) {
        let glyphs = signs.glyphs();
        match self {
            Self::User => (glyphs.user, Role::Accent),
            Self::Result => (glyphs.result, Role::Dim),
            Self::Error => (glyphs.bad, Role::Bad),
        }
    }
}

/// What a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A few rows that the cell makes.
    Rows,
    /// The same, of which something moves with time: made anew for every frame.
    Ticking,
    /// Many rows that the cell makes, so many chunks.
    Chunks(usize),
    /// The text itself.
    Text {
        /// How it is laid out.
        flow: Flow,
        /// What ordinary text is.
        base: Role,
        /// Whether it may grow at its end.
        growth: Growth,
        /// Another number when the text became another one, not only longer.
        edition: u32,
    },
}

impl<'a> Part<'a> {
    /// A few rows that the cell makes.
    pub fn rows(key: u16, text: &'a str) -> Self {
        Self { key, text, body: Body::Rows, inset: 0, sign: None, under: Role::Text }
    }

    /// A text that is whole.
    pub fn text(key: u16, text: &'a str, flow: Flow, base: Role) -> Self {
        let body = Body::Text { flow, base, growth: Growth::Whole, edition: 0 };
        Self { key, text, body, inset: 0, sign: None, under: Role::Text }
    }

    /// Moved to the right.
    #[must_use]
    pub fn inset(self, columns: u16) -> Self {
        Self { inset: columns, ..self }
    }
}

/// The lines of a text with a sign before the first.
fn prefixed<'a>(text: &'a str, sign: &'static str) -> Box<dyn Iterator<Item = String> + 'a> {
    let lines = text.trim().lines().enumerate();
    Box::new(lines.map(move |(i, line)| {
        format!("{} {}", if i == 0 { sign } else { " " }, sanitize::line(line)).trim_end().to_owned()
    }))
}

/// One row for a folded text: its first line, and how many lines there are.
fn folded_row(text: &str, sign: &str, role: Role, ctx: &Ctx<'_>) -> Row {
    let text = text.trim();
    let line = sanitize::line(text.lines().next().unwrap_or_default());
    let lines = text.lines().count();
    let count =
        if lines > 1 { ctx.look.strings.fill("cell.lines", &[("n", &lines.to_string())]) } else { String::new() };
    let more = ctx.signs().glyphs().more;
    let mut builder = RowBuilder::default();
    builder.push(sign, Paint::from(role)).push(" ", Role::Text);
    split_row(builder, (&line, role.into()), (&count, Role::Dim.into()), more, ctx.width)
}

/// A row with something at its left end, cut to size, and something at its right end.
fn split_row(mut builder: RowBuilder, left: (&str, Paint), right: (&str, Paint), more: &str, columns: u16) -> Row {
    use crate::tui::text::width;
    let start = builder.width();
    let wide = width::of(right.0);
    // The right end goes first when there is no room for both.
    let room = columns.saturating_sub(start);
    let shown = if wide > 0 && room >= wide + 9 { wide + 1 } else { 0 };
    builder.push_cut(left.0, room - shown.min(room), more, left.1);
    if shown > 0 {
        builder.pad_to(columns - wide).push(right.0, right.1);
    }
    builder.finish(0..0)
}
