//! Colours, as data. The only place that knows any.
//!
//! A row says what a piece of text *is* ([`Role`]); the theme says how that looks.

pub mod probe;

use ratatui::style::{Modifier, Style};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Role {
    /// Ordinary text: the terminal's own foreground.
    #[default]
    Text,
    /// Secondary text.
    Dim,
    /// Title of a pane.
    Title,
    /// Title of the focused pane.
    TitleFocused,
    /// Lines that separate.
    Border,
    /// Lines around what has the focus.
    BorderFocused,
    /// What the eye should find: the caret's row, the highlighted choice.
    Accent,
    /// The highlighted row of a list.
    Selected,
    /// Selected text.
    Selection,
    /// A match of a search.
    Match,
    /// The current match of a search.
    MatchCurrent,
    /// It went well.
    Good,
    /// Look out.
    Warning,
    /// It failed.
    Bad,
    /// It waits for the user.
    Waiting,
    /// It runs.
    Running,
    /// The user's own words.
    User,
    /// The model's thoughts.
    Thought,
    /// Name of a tool.
    Tool,
    /// Name of an argument or field.
    Label,
    /// Value of an argument or field.
    Value,
    /// A key to press.
    Key,
    /// Added line of a diff.
    Added,
    /// Removed line of a diff.
    Removed,
    /// What changed inside an added line.
    AddedWord,
    /// What changed inside a removed line.
    RemovedWord,
    /// Heading in Markdown.
    Heading,
    /// Inline code.
    Code,
    /// Background of a code block.
    CodeBlock,
    /// A link.
    Link,
    /// Quoted text.
    Quote,
    /// List marker, rule, table line.
    Marker,
    /// Syntax: comment.
    SynComment,
    /// Syntax: keyword.
    SynKeyword,
    /// Syntax: string.
    SynString,
    /// Syntax: number or constant.
    SynNumber,
    /// Syntax: function.
    SynFunction,
    /// Syntax: type.
    SynType,
    /// Syntax: variable, attribute, tag.
    SynVariable,
    /// Syntax: operator and punctuation.
    SynPunctuation,
    /// The layer under an overlay.
    Shade,
}

/// Number of roles.
pub const ROLES: usize = Role::Shade as usize + 1;

/// How a piece of text is painted: its role, and emphasis on top of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Paint {
    /// What it is.
    pub role: Role,
    /// Emphasis that the text itself asks for (bold, italic, crossed out, underlined).
    pub emphasis: Modifier,
}

impl From<Role> for Paint {
    fn from(role: Role) -> Self {
        Self { role, emphasis: Modifier::empty() }
    }
}

impl Role {
    /// This role with emphasis.
    pub fn with(self, emphasis: Modifier) -> Paint {
        Paint { role: self, emphasis }
    }
}

/// How every role looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    styles: [Style; ROLES],
}

impl Default for Theme {
    /// Everything in the terminal's own colours.
    fn default() -> Self {
        Self { styles: [Style::new(); ROLES] }
    }
}

impl Theme {
    /// How a paint looks.
    pub fn style(&self, paint: impl Into<Paint>) -> Style {
        let paint = paint.into();
        self.styles[paint.role as usize].add_modifier(paint.emphasis)
    }
}
