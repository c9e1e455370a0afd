//! What a piece of text can be.

use ratatui::style::Modifier;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// What a piece of text is. Its name stands in theme files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        #[repr(u8)]
        pub enum Role {
            $($(#[$doc])* $variant,)*
        }

        impl Role {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, as in theme files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The role of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

roles! {
    /// Ordinary text: the terminal's own foreground.
    #[default]
    Text = "text";
    /// Secondary text.
    Dim = "dim";
    /// Title of a pane.
    Title = "title";
    /// Title of the focused pane.
    TitleFocused = "title-focused";
    /// Lines that separate.
    Border = "border";
    /// Lines around what has the focus.
    BorderFocused = "border-focused";
    /// What the eye should find: the caret's row, the highlighted choice.
    Accent = "accent";
    /// The highlighted row of a list.
    Selected = "selected";
    /// Selected text.
    Selection = "selection";
    /// A match of a search.
    Match = "match";
    /// The current match of a search.
    MatchCurrent = "match-current";
    /// It went well.
    Good = "good";
    /// Look out.
    Warning = "warning";
    /// It failed.
    Bad = "bad";
    /// It waits for the user.
    Waiting = "waiting";
    /// It runs.
    Running = "running";
    /// The user's own words.
    User = "user";
    /// The model's thoughts.
    Thought = "thought";
    /// Name of a tool.
    Tool = "tool";
    /// Name of an argument or field.
    Label = "label";
    /// Value of an argument or field.
    Value = "value";
    /// A key to press.
    Key = "key";
    /// Added line of a diff.
    Added = "added";
    /// Removed line of a diff.
    Removed = "removed";
    /// What changed inside an added line.
    AddedWord = "added-word";
    /// What changed inside a removed line.
    RemovedWord = "removed-word";
    /// Heading in Markdown.
    Heading = "heading";
    /// Inline code.
    Code = "code";
    /// Background of a code block.
    CodeBlock = "code-block";
    /// A link.
    Link = "link";
    /// Quoted text.
    Quote = "quote";
    /// List marker, rule, table line.
    Marker = "marker";
    /// Syntax: comment.
    SynComment = "syn-comment";
    /// Syntax: keyword.
    SynKeyword = "syn-keyword";
    /// Syntax: string.
    SynString = "syn-string";
    /// Syntax: number or constant.
    SynNumber = "syn-number";
    /// Syntax: function.
    SynFunction = "syn-function";
    /// Syntax: type.
    SynType = "syn-type";
    /// Syntax: variable, attribute, tag.
    SynVariable = "syn-variable";
    /// Syntax: operator and punctuation.
    SynPunctuation = "syn-punctuation";
    /// The layer under an overlay.
    Shade = "shade";
}

/// Number of roles.
pub const ROLES: usize = Role::ALL.len();

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
