//! Every action that a key, the palette or a `/command` can start. One line each.

use serde::{Deserialize, Serialize};

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $name:literal $(/ $slash:literal)?;)*) => {
        /// An action. Its name stands in `keymap.toml`; its title is the text `command.<name>` of the catalogue.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Command {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl Command {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, as in `keymap.toml`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The `/command` that starts it, without the slash, where it has one.
            pub fn slash(self) -> Option<&'static str> {
                match self { $(Self::$variant => commands!(@slash $($slash)?),)* }
            }

            /// The command of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
    (@slash $slash:literal) => { Some($slash) };
    (@slash) => { None };
}

commands! {
    // anywhere
    /// Open what waits.
    OpenWaiting = "open-waiting" / "waiting";
    /// Next field or pane, or completion.
    Next = "next";
    /// Previous field or pane.
    Previous = "previous";
    /// The palette.
    Palette = "palette" / "commands";
    /// Keys and help.
    Help = "help" / "help";
    /// The servers.
    Servers = "servers" / "servers";
    /// The tools.
    Tools = "tools" / "tools";
    /// All notices.
    Notices = "notices" / "notices";
    /// Draw everything anew.
    Redraw = "redraw" / "redraw";
    /// Suspend.
    Suspend = "suspend";
    /// Innermost thing closes.
    Escape = "escape";
    /// Interrupt, else clear, else (twice) quit.
    InterruptOrQuit = "interrupt-or-quit";
    /// Quit when the composer is empty.
    QuitWhenEmpty = "quit-when-empty";
    /// Quit.
    Quit = "quit" / "quit";
    /// Interrupt the running turn.
    Interrupt = "interrupt" / "interrupt";
    /// Start a new session.
    NewSession = "new-session" / "new";
    /// Read the configuration files again.
    Reload = "reload" / "reload";
    /// Choose a theme.
    Theme = "theme" / "theme";
    /// Choose a layout.
    Layout = "layout" / "layout";
    /// Write the transcript to the normal screen on exit.
    DumpOnExit = "dump-on-exit" / "dump";
    /// What is known about the model, and `/model NAME`.
    Model = "model" / "model";
    /// `/dialect NAME`.
    Dialect = "dialect" / "dialect";

    // composer
    /// Send, or open what waits when empty.
    Send = "send";
    /// A new line.
    NewLine = "new-line";
    /// Older entry of the history, at the top edge; takes the queued message back.
    HistoryUp = "history-up";
    /// Newer entry of the history, at the bottom edge.
    HistoryDown = "history-down";
    /// Put the text of a folded paste in its place.
    OpenPaste = "open-paste";
    /// Edit the draft in the external editor.
    Editor = "editor" / "editor";

    // content panes
    /// One line up.
    Up = "up";
    /// One line down.
    Down = "down";
    /// One page up.
    PageUp = "page-up";
    /// One page down.
    PageDown = "page-down";
    /// To the beginning.
    Top = "top";
    /// To the end, and follow it.
    Bottom = "bottom";
    /// To the step before.
    StepBack = "step-back";
    /// To the step after.
    StepForward = "step-forward";
    /// First pane (answer).
    Pane1 = "pane-1";
    /// Second pane (thinking).
    Pane2 = "pane-2";
    /// Third pane (tools).
    Pane3 = "pane-3";
    /// Open or fold the entry; opens a waiting call.
    Toggle = "toggle";
    /// This pane alone, and back.
    Zoom = "zoom";
    /// Narrower.
    Shrink = "shrink";
    /// Wider.
    Grow = "grow";
    /// Search.
    Search = "search";
    /// Next match.
    NextMatch = "next-match";
    /// Previous match.
    PreviousMatch = "previous-match";
    /// Start or end a selection.
    Select = "select";
    /// Copy the selection, or the entry.
    Copy = "copy";
    /// Details of the entry.
    Details = "details";
    /// Back to the composer.
    ToComposer = "to-composer";

    // an opened call
    /// Run it this once.
    ApproveOnce = "approve-once";
    /// Run it, and alike for this session.
    ApproveSession = "approve-session";
    /// Run it, and alike from now on (confirmed).
    ApproveAlways = "approve-always";
    /// Do not run it.
    Reject = "reject";
    /// Do not run it, and say why.
    RejectWithReason = "reject-with-reason";
    /// Edit its arguments.
    EditArguments = "edit-arguments";
    /// Write its result by hand.
    AnswerByHand = "answer-by-hand";
    /// Schema, annotations, diff.
    CallDetails = "call-details";
    /// The highlighted choice.
    Confirm = "confirm";

    // form
    /// Next field; submits on the last.
    FieldNext = "field-next";
    /// The field before.
    FieldPrevious = "field-previous";
    /// The choice to the left.
    ChoiceLeft = "choice-left";
    /// The choice to the right.
    ChoiceRight = "choice-right";
    /// Toggle.
    FieldToggle = "field-toggle";
    /// Submit.
    Submit = "submit";
    /// Decline.
    Decline = "decline";

    // a recording
    /// The next thing in it.
    PlaybackStep = "playback-step";
    /// Pause, or go on.
    PlaybackPause = "playback-pause";
    /// Twice as fast.
    PlaybackFaster = "playback-faster";
    /// Half as fast.
    PlaybackSlower = "playback-slower";
}
