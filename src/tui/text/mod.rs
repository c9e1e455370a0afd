//! From text to rows: width, sanitizing, wrapping, Markdown, colours, diffs.
//!
//! Owns everything that turns a string into finished [`Row`]s. Does not know cells, panes or the terminal.

pub mod row;
pub mod sanitize;
pub mod width;

pub use row::{Row, RowBuilder, Run};
