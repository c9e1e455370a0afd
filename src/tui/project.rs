//! From what the agent says to what stands in the transcript: `contract::Event` → [`Store`].
//!
//! Owns nothing but which turn is running. A delta costs one `push_str`. Events about things that are not in the store (an agent that was joined late)
//! make the entry they speak of where they can, and else change nothing.

use crate::contract::event::TextKind;
use crate::contract::{Event, ItemEvent, PromptEvent, SessionEvent, ToolEvent, TurnEvent};
use crate::domain::conversation::{Turn, TurnKind};
use crate::domain::prompt::Approval;
use crate::domain::{CallId, Conversation, ItemBody, ItemId, Level, StepId, TurnId};
use crate::tui::cell::{Cell, Change, Mark, ToolChange};
use crate::tui::transcript::{Place, SlotId, Store};
use std::time::Instant;

/// The projection.
#[derive(Debug, Default)]
pub struct Projection {
    turn: Option<TurnId>,
}

impl Projection {
    /// Takes an event into the store. `now` is on the clock of `Look::now`.
    pub fn event(&mut self, event: &Event, store: &mut Store, now: Instant) {
        match event {
            Event::Session(SessionEvent::Opened { conversation, .. }) => {
                store.clear();
                self.turn = None;
                self.replay(conversation, store);
            }
            Event::Turn(event) => self.turn(event, store),
            Event::Item(event) => self.item(event, store),
            Event::Tool(event) => self.tool(event, store, now),
            Event::Prompt(PromptEvent::Amended { approval, .. }) => amended(approval, store),
            Event::Notice(notice) if notice.level == Level::Error => {
                store.push(Place { turn: self.turn, step: None }, Cell::notice(notice.clone()));
            }
            Event::Session(_) | Event::Prompt(_) | Event::Server(_) | Event::Tools { .. } | Event::Notice(_) => {}
        }
    }

    fn place(&self, step: StepId) -> Place {
        Place { turn: self.turn, step: Some(step) }
    }

    fn turn(&mut self, event: &TurnEvent, store: &mut Store) {
        match event {
            TurnEvent::Started { turn, kind, input } => {
                self.turn = Some(*turn);
                // A tool that is run by hand says what it is in its own card.
                if *kind == TurnKind::Task || !input.text.is_empty() {
                    store.push(Place { turn: self.turn, step: None }, Cell::user(input.clone()));
                }
            }
            TurnEvent::StepStarted { turn, step, number } => store.begin_step(*turn, *step, *number),
            TurnEvent::Holding { .. } | TurnEvent::Alive { .. } => {}
            TurnEvent::StepEnded { step, end, .. } => {
                if let Some(mark) = Mark::of_step(end.clone()) {
                    store.push(self.place(*step), Cell::mark(mark));
                }
            }
            TurnEvent::Ended { turn, end } => {
                if let Some(mark) = Mark::of_turn(end.clone()) {
                    store.push(Place { turn: Some(*turn), step: None }, Cell::mark(mark));
                }
                self.turn = None;
            }
        }
    }

    fn item(&mut self, event: &ItemEvent, store: &mut Store) {
        match event {
            ItemEvent::Started { item, step, kind } => {
                let cell = match kind {
                    TextKind::Thinking => Cell::thinking(),
                    TextKind::Answer => Cell::answer(),
                };
                store.push_item(self.place(*step), *item, cell);
            }
            ItemEvent::Delta { item, text } => {
                if let Some(slot) = store.find(*item) {
                    store.change(slot, Change::Append(text));
                }
            }
            ItemEvent::Finished { item } => {
                if let Some(slot) = store.find(*item) {
                    store.change(slot, Change::Finish);
                }
            }
        }
    }

    fn slot(&self, call: CallId, step: Option<StepId>, store: &mut Store) -> SlotId {
        store
            .find_call(call)
            .unwrap_or_else(|| store.push_item(Place { turn: self.turn, step }, ItemId(call.0), Cell::tool(call)))
    }

    fn tool(&mut self, event: &ToolEvent, store: &mut Store, now: Instant) {
        let (call, step, change) = match event {
            ToolEvent::Writing { call, step, name, bytes } => {
                (*call, Some(*step), ToolChange::Writing { name, bytes: *bytes })
            }
            ToolEvent::Abandoned { call } => (*call, None, ToolChange::Abandoned),
            ToolEvent::Proposed { step, call, spec } => {
                (call.id, Some(*step), ToolChange::Proposed { call: Box::new(call.clone()), spec: spec.clone() })
            }
            ToolEvent::Checked { call, check } => (*call, None, ToolChange::Checked(check.clone())),
            ToolEvent::WaitingForServer { call, server } => (*call, None, ToolChange::WaitingForServer(server.clone())),
            ToolEvent::Started { call } => (*call, None, ToolChange::Started { at: now }),
            ToolEvent::Progress { call, progress } => (*call, None, ToolChange::Progress(progress.clone())),
            ToolEvent::Output { call, text } => (*call, None, ToolChange::Output(text)),
            ToolEvent::Suspended { call } => (*call, None, ToolChange::Suspended),
            ToolEvent::Resumed { call } => (*call, None, ToolChange::Resumed),
            ToolEvent::Finished { call, outcome } => {
                (*call, None, ToolChange::Finished { outcome: outcome.clone(), at: Some(now) })
            }
        };
        let slot = self.slot(call, step, store);
        store.change(slot, Change::Tool(change));
    }

    fn replay(&mut self, conversation: &Conversation, store: &mut Store) {
        for turn in &conversation.turns {
            self.turn = Some(turn.id);
            self.replay_turn(turn, store);
        }
        self.turn = None;
    }

    fn replay_turn(&mut self, turn: &Turn, store: &mut Store) {
        if turn.kind == TurnKind::Task || !turn.input.text.is_empty() {
            store.push(Place { turn: self.turn, step: None }, Cell::user(turn.input.clone()));
        }
        for (number, step) in (1..).zip(&turn.steps) {
            store.begin_step(turn.id, step.id, number);
            for item in &step.items {
                self.replay_item(step.id, item.id, &item.body, store);
            }
            if let Some(mark) = step.end.clone().and_then(Mark::of_step) {
                store.push(self.place(step.id), Cell::mark(mark));
            }
        }
        if let Some(mark) = turn.end.clone().and_then(Mark::of_turn) {
            store.push(Place { turn: self.turn, step: None }, Cell::mark(mark));
        }
    }

    fn replay_item(&mut self, step: StepId, id: ItemId, body: &ItemBody, store: &mut Store) {
        let place = self.place(step);
        let mut text = |cell, text: &str| {
            let slot = store.push_item(place, id, cell);
            store.change(slot, Change::Append(text));
            store.change(slot, Change::Finish);
        };
        match body {
            // Only its provider can read it.
            ItemBody::Thinking { text: thought, opaque: Some(_) } if thought.is_empty() => {}
            ItemBody::Thinking { text: thought, .. } => text(Cell::thinking(), thought),
            ItemBody::Answer { text: answer } => text(Cell::answer(), answer),
            ItemBody::Call { call, outcome } => {
                let slot = self.slot(call.id, Some(step), store);
                let proposed = ToolChange::Proposed { call: Box::new(call.clone()), spec: None };
                store.change(slot, Change::Tool(proposed));
                if let Some(outcome) = outcome {
                    let finished = ToolChange::Finished { outcome: outcome.clone(), at: None };
                    store.change(slot, Change::Tool(finished));
                }
            }
        }
    }
}

/// The user changed a call's arguments: its card shows the new ones.
fn amended(approval: &Approval, store: &mut Store) {
    if let Some(slot) = store.find_call(approval.call.id) {
        let call = Box::new(approval.call.clone());
        store.change(slot, Change::Tool(ToolChange::Proposed { call, spec: Some(approval.spec.clone()) }));
        store.change(slot, Change::Tool(ToolChange::Checked(Box::new(approval.check.clone()))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conversation::Item;
    use crate::domain::{Origin, Step, ToolCall, ToolOutcome, TurnEnd, UserInput};
    use crate::tui::cell::Kind;
    use crate::tui::cell::tool::Stage;

    fn kinds(store: &Store) -> Vec<Kind> {
        store.iter().map(|(_, slot)| slot.cell.kind()).collect()
    }

    fn call(id: u64) -> ToolCall {
        ToolCall {
            id: CallId(id),
            provider_id: None,
            asked: "read_file".into(),
            tool: None,
            arguments: serde_json::json!({}),
            origin: Origin::Native,
        }
    }

    #[test]
    fn a_turn_as_it_happens() {
        let (mut store, mut projection, now) = (Store::new(), Projection::default(), Instant::now());
        let (turn, step, item) = (TurnId(1), StepId(2), ItemId(3));
        let events = [
            Event::Turn(TurnEvent::Started { turn, kind: TurnKind::Task, input: UserInput::text("go") }),
            Event::Turn(TurnEvent::StepStarted { turn, step, number: 1 }),
            Event::Item(ItemEvent::Started { item, step, kind: TextKind::Thinking }),
            Event::Item(ItemEvent::Delta { item, text: "hm".into() }),
            Event::Item(ItemEvent::Finished { item }),
            Event::Tool(ToolEvent::Writing { call: CallId(4), step, name: "read".into(), bytes: 4 }),
            Event::Tool(ToolEvent::Proposed { step, call: call(4), spec: None }),
            Event::Tool(ToolEvent::Finished { call: CallId(4), outcome: ToolOutcome::text("x") }),
            Event::Turn(TurnEvent::Ended { turn, end: TurnEnd::Interrupted }),
        ];
        for event in &events {
            projection.event(event, &mut store, now);
        }
        assert_eq!(kinds(&store), [Kind::User, Kind::Thinking, Kind::Tool, Kind::Mark]);
        assert_eq!(store.step_number(step), Some((1, 1)));
        let slot = store.get(store.find_call(CallId(4)).unwrap()).unwrap();
        assert_eq!(slot.place, Place { turn: Some(turn), step: Some(step) });
        assert!(matches!(&slot.cell, Cell::Tool(tool) if tool.stage() == Stage::Ended));
    }

    #[test]
    fn a_session_read_back() {
        let answer = Item { id: ItemId(2), body: ItemBody::Answer { text: "done".into() } };
        let asked = Item { id: ItemId(3), body: ItemBody::Call { call: call(3), outcome: None } };
        let step = Step { id: StepId(1), items: vec![asked, answer], ..Step::default() };
        let turn = Turn { id: TurnId(0), input: UserInput::text("go"), steps: vec![step], ..Turn::default() };
        let opened = SessionEvent::Opened {
            id: "s".into(),
            cwd: String::new(),
            conversation: Conversation { turns: vec![turn] },
            draft: String::new(),
        };
        let mut store = Store::new();
        store.push(Place::default(), Cell::answer());
        Projection::default().event(&Event::Session(opened), &mut store, Instant::now());
        assert_eq!(kinds(&store), [Kind::User, Kind::Tool, Kind::Answer]);
    }
}
