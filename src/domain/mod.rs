//! Plain data that every layer shares.
//!
//! Owns the vocabulary: turns, steps, items, tool calls, prompts, forms, servers, usage.
//! Does not do IO, keep time, know a wire format or draw. **Boundary:** imports nothing of this crate.

pub mod content;
pub mod conversation;
pub mod diff;
pub mod error;
pub mod form;
pub mod id;
pub mod model;
pub mod names;
pub mod policy;
pub mod prompt;
pub mod server;
pub mod tool;
pub mod usage;

pub use content::{Blob, Content};
pub use conversation::{Conversation, Item, ItemBody, Step, StepEnd, Turn, TurnEnd, UserInput};
pub use error::{Level, Notice, Phrase};
pub use id::{AskId, CallId, ItemId, PromptId, ServerName, SessionId, StepId, TimerId, TurnId};
pub use tool::{Origin, ToolCall, ToolId, ToolOutcome, ToolSignal, ToolSpec};
pub use usage::Usage;
