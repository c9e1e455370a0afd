//! The conversation as entries, and the windows through which panes look at it.
//!
//! [`Store`] owns every entry of the conversation, once. Each pane is a [`View`] over it: a filter by kind with its own place, folds, selection and
//! search. **Invariants:** a view never holds an absolute row number; rows exist only near what is drawn; a view that is not drawn costs an index.

mod copy;
mod gauge;
mod layout;
mod paint;
pub mod plain;
mod search;
pub mod store;
pub mod terms;
pub mod view;
mod walk;
mod window;

pub use layout::Work;
pub use plain::plain;
pub use store::{Place, SlotId, Store};
pub use terms::{Attention, Below, Direction, Drawn, Filter, Found, Scroll};
pub use view::View;

#[cfg(test)]
mod tests;
