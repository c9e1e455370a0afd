//! What the agent is doing now, in one short text.

use crate::contract::event::TextKind;
use crate::contract::{Event, ItemEvent, SessionEvent, ToolEvent, TurnEvent};
use crate::domain::conversation::TurnKind;
use crate::domain::{CallId, TurnId};
use crate::tui::look::Look;
use std::collections::BTreeMap;
use std::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Asking,
    Holding,
    Reading,
    Thinking,
    Answering,
    Writing,
}

/// Whether the user has asked for the turn to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// No.
    No,
    /// Yes; the agent has not said yet that it did.
    Asked,
}

#[derive(Debug)]
struct Turn {
    id: TurnId,
    since: Instant,
    doing: Doing,
    ending: Ending,
    /// Names of the calls that run.
    running: BTreeMap<CallId, String>,
    names: BTreeMap<CallId, String>,
}

/// What the agent is doing.
#[derive(Debug, Default)]
pub struct Activity {
    turn: Option<Turn>,
    queued: usize,
}

impl Activity {
    /// Whether a turn runs.
    pub fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    /// Since when the turn runs.
    pub fn since(&self) -> Option<Instant> {
        self.turn.as_ref().map(|turn| turn.since)
    }

    /// Messages that wait for the turn to end.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Whether the running turn was asked to end; notes that it is now.
    pub fn interrupt(&mut self) -> Option<Ending> {
        let turn = self.turn.as_mut()?;
        Some(std::mem::replace(&mut turn.ending, Ending::Asked))
    }

    /// Takes in news.
    pub fn event(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Session(SessionEvent::Opened { .. }) => *self = Self::default(),
            Event::Session(SessionEvent::Queued { waiting, .. } | SessionEvent::Unqueued { waiting, .. }) => {
                self.queued = *waiting;
            }
            Event::Session(SessionEvent::Closed) => self.turn = None,
            Event::Turn(TurnEvent::Started { turn, kind, .. }) => {
                // A queued message that begins a turn waits no longer.
                if *kind == TurnKind::Task {
                    self.queued = self.queued.saturating_sub(1);
                }
                self.turn = Some(Turn {
                    id: *turn,
                    since: now,
                    doing: Doing::Asking,
                    ending: Ending::No,
                    running: BTreeMap::new(),
                    names: BTreeMap::new(),
                });
            }
            Event::Turn(TurnEvent::Ended { turn, .. }) => {
                if self.turn.as_ref().is_some_and(|running| running.id == *turn) {
                    self.turn = None;
                }
            }
            _ => {
                if let Some(turn) = &mut self.turn {
                    turn.event(event);
                }
            }
        }
    }

    /// The text: `Thinking`, `Running weather:get_forecast`. `None` when no turn runs.
    pub fn text(&self, look: &Look<'_>, waits: usize) -> Option<String> {
        let turn = self.turn.as_ref()?;
        let strings = look.strings;
        if turn.ending == Ending::Asked {
            return Some(strings.get("pane.doing_ending").to_owned());
        }
        if let Some(name) = turn.running.values().next() {
            return Some(match turn.running.len() {
                1 => strings.fill("pane.doing_running", &[("tool", name)]),
                n => strings.fill("pane.doing_running_several", &[("count", &n.to_string())]),
            });
        }
        let key = match turn.doing {
            _ if waits > 0 => "pane.doing_waits",
            Doing::Asking => "pane.doing_asking",
            Doing::Holding => "pane.doing_holding",
            Doing::Reading => "pane.doing_reading",
            Doing::Thinking => "pane.doing_thinking",
            Doing::Answering => "pane.doing_answering",
            Doing::Writing => "pane.doing_writing",
        };
        Some(strings.get(key).to_owned())
    }
}

impl Turn {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Turn(TurnEvent::StepStarted { .. }) => self.doing = Doing::Asking,
            Event::Turn(TurnEvent::Holding { .. }) => self.doing = Doing::Holding,
            Event::Turn(TurnEvent::Alive { .. }) => self.doing = Doing::Reading,
            Event::Item(ItemEvent::Started { kind, .. }) => {
                self.doing = match kind {
                    TextKind::Thinking => Doing::Thinking,
                    TextKind::Answer => Doing::Answering,
                };
            }
            Event::Tool(ToolEvent::Writing { call, name, .. }) => {
                self.doing = Doing::Writing;
                // Comes with every piece of the arguments: cheap when nothing is new.
                if self.names.get(call).is_none_or(|known| known != name) {
                    self.names.insert(*call, name.clone());
                }
            }
            Event::Tool(ToolEvent::Proposed { call, .. }) => {
                self.names.insert(call.id, call.shown_name());
            }
            Event::Tool(ToolEvent::Started { call } | ToolEvent::Resumed { call }) => {
                let name = self.names.get(call).cloned().unwrap_or_default();
                self.running.insert(*call, name);
            }
            Event::Tool(ToolEvent::Suspended { call } | ToolEvent::Finished { call, .. }) => {
                self.running.remove(call);
            }
            _ => {}
        }
    }
}
