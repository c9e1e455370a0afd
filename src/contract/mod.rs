//! The seam between the agent and whoever shows it: [`Op`] goes in, [`Event`] comes out.
//!
//! Both are plain data (`Debug + Clone + PartialEq + serde`), with no channel and no callback inside. The full-screen program, the headless printer,
//! the replayer, `--record` and the tests are consumers of the same seam. **Boundary:** imports only `domain`.

pub mod event;
pub mod op;

pub use event::{Event, ItemEvent, ModelInfo, PromptEvent, SessionEvent, ToolEvent, ToolInfo, TurnEvent};
pub use op::{ClockOp, Op, PlaybackOp, SessionOp};
