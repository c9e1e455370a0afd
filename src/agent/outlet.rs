//! Events on their way out: lossless, and cheap when the reader is slow.
//!
//! Neighbouring pieces of one text are joined while they wait, and of a call's progress only the newest waits, so a burst costs the reader a few
//! events, and whoever sends it cannot fill memory.

use crate::contract::{Event, ItemEvent, ToolEvent, TurnEvent};
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// See the module.
#[derive(Debug)]
pub struct Outlet {
    events: mpsc::Sender<Event>,
    pending: VecDeque<Event>,
}

impl Outlet {
    /// An outlet into a channel.
    pub fn new(events: mpsc::Sender<Event>) -> Self {
        Self { events, pending: VecDeque::new() }
    }

    /// Takes an event. It leaves at the next [`Self::flush`].
    pub fn push(&mut self, event: Event) {
        if let Some(last) = self.pending.back_mut() {
            match (last, &event) {
                (
                    Event::Item(ItemEvent::Delta { item, text }),
                    Event::Item(ItemEvent::Delta { item: other, text: more }),
                ) if item == other => {
                    text.push_str(more);
                    return;
                }
                (
                    Event::Tool(ToolEvent::Output { call, text }),
                    Event::Tool(ToolEvent::Output { call: other, text: more }),
                ) if call == other => {
                    text.push_str(more);
                    return;
                }
                (
                    Event::Tool(ToolEvent::Progress { call, progress }),
                    Event::Tool(ToolEvent::Progress { call: other, progress: newer }),
                ) if call == other => {
                    progress.clone_from(newer);
                    return;
                }
                (
                    Event::Tool(ToolEvent::Writing { call, name, bytes, .. }),
                    Event::Tool(ToolEvent::Writing { call: other, name: again, bytes: more, .. }),
                ) if call == other && (again.is_empty() || name == again) => {
                    *bytes = (*bytes).max(*more);
                    return;
                }
                (Event::Turn(TurnEvent::Alive { step }), Event::Turn(TurnEvent::Alive { step: other }))
                    if step == other =>
                {
                    return;
                }
                _ => {}
            }
        }
        self.pending.push_back(event);
    }

    /// How many events wait.
    pub fn waiting(&self) -> usize {
        self.pending.len()
    }

    /// Sends what the channel takes now.
    pub fn flush(&mut self) {
        while !self.pending.is_empty() {
            let Ok(permit) = self.events.try_reserve() else { return };
            if let Some(event) = self.pending.pop_front() {
                permit.send(event);
            }
        }
    }

    /// Waits until the channel takes more; at once when nothing waits. `false` when nobody reads any more.
    pub async fn room(&self) -> bool {
        self.events.reserve().await.is_ok()
    }

    /// Whether nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.events.is_closed()
    }

    /// Sends everything, waiting as long as the reader reads.
    pub async fn drain(&mut self) {
        while let Some(event) = self.pending.pop_front() {
            if self.events.send(event).await.is_err() {
                self.pending.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::tool::Progress;
    use crate::domain::{CallId, ItemId};

    #[test]
    fn what_only_says_how_far_it_is_waits_once() {
        let (sender, _receiver) = mpsc::channel(1);
        let mut outlet = Outlet::new(sender);
        let call = CallId(1);
        for n in 0..10_000_u32 {
            let progress = Progress { done: f64::from(n), total: None, message: Some("m".repeat(4000)) };
            outlet.push(ToolEvent::Progress { call, progress }.into());
        }
        assert_eq!(outlet.waiting(), 1);
        outlet.push(ToolEvent::Progress { call: CallId(2), progress: Progress::default() }.into());
        assert_eq!(outlet.waiting(), 2);
        let Some(Event::Tool(ToolEvent::Progress { progress, .. })) = outlet.pending.front() else { panic!() };
        assert_eq!(progress.done, 9999.0);
    }

    #[tokio::test]
    async fn joins_what_waits_and_loses_nothing() {
        let (sender, mut receiver) = mpsc::channel(1);
        let mut outlet = Outlet::new(sender);
        let delta = |item, text: &str| Event::Item(ItemEvent::Delta { item: ItemId(item), text: text.into() });
        for n in 0..100 {
            outlet.push(delta(1, &n.to_string()));
        }
        outlet.push(delta(2, "x"));
        assert_eq!(outlet.waiting(), 2);
        outlet.flush();
        assert_eq!(outlet.waiting(), 1, "the channel holds one");
        let whole: String = (0..100).map(|n: u32| n.to_string()).collect();
        assert_eq!(receiver.recv().await, Some(delta(1, &whole)));
        assert!(outlet.room().await);
        outlet.drain().await;
        assert_eq!(receiver.recv().await, Some(delta(2, "x")));
    }
}
