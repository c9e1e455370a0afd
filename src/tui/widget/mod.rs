//! Small parts that panes, prompts and layers are built of. None of them knows what it is used for.

pub mod frame;
pub mod input;
pub mod line;
pub mod list;
pub mod pager;
pub mod scrollbar;
pub mod spinner;

pub use input::{Input, Typed};
pub use line::Line;
pub use list::List;
pub use pager::Pager;
