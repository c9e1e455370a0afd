//! The conversation as entries, and the windows through which panes look at it.
//!
//! [`Store`] owns every entry of the conversation, once. Each pane is a [`View`] over it: a filter by kind with its own place, folds, selection and
//! search. **Invariants:** a view never holds an absolute row number; rows exist only near what is drawn; a view that is not drawn costs an index.

pub mod plain;
pub mod store;
pub mod view;

pub use plain::plain;
pub use store::{Place, SlotId, Store};
pub use view::{Attention, Below, Direction, Drawn, Filter, Found, Scroll, View};
