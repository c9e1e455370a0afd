//! From text to rows: width, sanitizing, wrapping, Markdown, colours, diffs.
//!
//! Owns everything that turns a string into finished [`Row`]s. Does not know cells, panes or the terminal.

pub mod blocks;
pub mod diff;
pub mod glyph;
pub mod highlight;
pub mod json;
pub mod markdown;
pub mod measure;
pub mod row;
pub mod width;
pub mod wrap;

pub use crate::sanitize;
pub use glyph::{Glyphs, Signs};
pub use row::{Fill, Row, RowBuilder, Run};
pub use wrap::{Frame, Span};
