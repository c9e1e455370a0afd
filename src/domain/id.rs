//! Identifiers. Numbers are given out by the agent's machine in rising order and never reused within a session.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! number_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}

number_id! {
    /// One user message and everything that follows until the model is done with it.
    TurnId,
    /// One reply of the model within a turn, with the results of its calls.
    StepId,
    /// One entry of a step: a thought, an answer or a call.
    ItemId,
    /// One tool call. The same number is the call's item.
    CallId,
    /// One thing that waits for the user: an approval, a form, a question.
    PromptId,
    /// One request from an MCP server for the user's input, numbered by the MCP side.
    AskId,
    /// One armed timer of the machine.
    TimerId,
}

macro_rules! text_id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// The text itself.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(s: &str) -> Self {
                Self(Arc::from(s))
            }
        }

        impl From<String> for $name {
            fn from(s: String) -> Self {
                Self(Arc::from(s))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

text_id! {
    /// The name of an MCP server, as written in its configuration file.
    ServerName,
    /// A session's id: the name of its journal without the ending.
    SessionId,
}
