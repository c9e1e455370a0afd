//! The conversation as it grows, and the numbers given out in it.

use super::io::{Effect, Entry};
use crate::contract::{Event, ToolEvent, TurnEvent};
use crate::domain::conversation::TurnKind;
use crate::domain::model::FinishReason;
use crate::domain::tool::Origin;
use crate::domain::{
    CallId, Conversation, Item, ItemBody, ItemId, Step, StepEnd, StepId, ToolCall, ToolId, ToolOutcome, Turn, TurnId,
    UserInput,
};
use serde_json::Value;

/// Gives out numbers in rising order.
#[derive(Debug, Default)]
pub(super) struct Ids(pub u64);

impl Ids {
    pub fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// Effects in the order they are to be performed.
#[derive(Debug, Default)]
pub(super) struct Outbox(pub Vec<Effect>);

impl Outbox {
    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    pub fn emit(&mut self, event: impl Into<Event>) {
        self.0.push(Effect::Emit(event.into()));
    }

    pub fn record(&mut self, entry: Entry) {
        self.0.push(Effect::Record(entry));
    }
}

/// The conversation and its numbers.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub conversation: Conversation,
    pub ids: Ids,
}

impl Ledger {
    /// Gives a call its outcome. The journal has it before anybody sees it. A second outcome changes nothing.
    pub fn settle(&mut self, call: CallId, outcome: ToolOutcome, out: &mut Outbox) {
        let Some((_, place)) = self.conversation.call_mut(call) else { return };
        if place.is_some() {
            return;
        }
        *place = Some(outcome.clone());
        out.record(Entry::Outcome { call, outcome: outcome.clone() });
        out.emit(ToolEvent::Finished { call, outcome });
    }

    /// Calls of a reply that is not used.
    pub fn cancel(&mut self, calls: &[(CallId, Option<String>)], out: &mut Outbox) {
        for (call, _) in calls {
            self.settle(*call, ToolOutcome::Cancelled, out);
        }
    }

    /// What the user tells the model after a step, or after the last one of a turn.
    pub fn hint(&mut self, turn: TurnId, step: Option<StepId>, text: String, out: &mut Outbox) {
        let Some(turn) = self.conversation.turn_mut(turn) else { return };
        let Some(step) = turn.steps.iter_mut().rfind(|one| step.is_none_or(|step| one.id == step)) else { return };
        step.reminder = Some(text.clone());
        out.record(Entry::Hint { step: step.id, text });
    }

    /// Whether a step declared the task done.
    pub fn completed(&self, step: StepId) -> bool {
        let steps = self.conversation.turns.iter().rev().flat_map(|turn| &turn.steps);
        steps.into_iter().find(|s| s.id == step).is_some_and(|s| s.completed)
    }

    pub fn call(&self, call: CallId) -> Option<&ToolCall> {
        self.conversation.call(call).map(|(call, _)| call)
    }

    /// Begins a turn.
    pub fn new_turn(&mut self, kind: TurnKind, input: UserInput, out: &mut Outbox) -> TurnId {
        let turn = TurnId(self.ids.next());
        self.conversation.turns.push(Turn { id: turn, kind, input: input.clone(), ..Turn::default() });
        out.record(Entry::Turn { turn, kind, input: input.clone() });
        out.emit(TurnEvent::Started { turn, kind, input });
        turn
    }

    /// Begins a step of a turn.
    pub fn new_step(&mut self, turn: TurnId, out: &mut Outbox) -> StepId {
        let step = StepId(self.ids.next());
        let mut number = 0;
        if let Some(turn) = self.conversation.turn_mut(turn) {
            turn.steps.push(Step { id: step, ..Step::default() });
            number = turn.steps.len() as u32;
        }
        out.record(Entry::Step { turn, step });
        out.emit(TurnEvent::StepStarted { turn, step, number });
        step
    }

    /// Ends a step, once.
    pub fn end_step(&mut self, step: StepId, end: StepEnd, reason: Option<FinishReason>, out: &mut Outbox) {
        let Some(stored) = self.conversation.step_mut(step) else { return };
        if stored.end.is_some() {
            return;
        }
        stored.end = Some(end.clone());
        let (usage, reminder) = (stored.usage, stored.reminder.clone());
        out.record(Entry::StepEnd { step, end: end.clone(), reminder });
        out.emit(TurnEvent::StepEnded { step, end, reason, usage });
    }

    /// Adds a call that the model did not write.
    pub fn add_call(
        &mut self,
        step: StepId,
        tool: ToolId,
        arguments: Value,
        origin: Origin,
        out: &mut Outbox,
    ) -> CallId {
        let id = CallId(self.ids.next());
        let asked = tool.to_string();
        let call = ToolCall { id, provider_id: None, asked, tool: Some(tool), arguments, origin };
        let item = Item { id: ItemId(id.0), body: ItemBody::Call { call: call.clone(), outcome: None } };
        if let Some(step) = self.conversation.step_mut(step) {
            step.items.push(item.clone());
        }
        out.record(Entry::Item { step, item });
        out.emit(ToolEvent::Proposed { step, call, spec: None });
        id
    }
}

/// The largest number given out in a conversation.
pub(super) fn highest_id(conversation: &Conversation) -> u64 {
    let mut highest = 0;
    for turn in &conversation.turns {
        highest = highest.max(turn.id.0);
        for step in &turn.steps {
            highest = highest.max(step.id.0);
            highest = step.items.iter().map(|item| item.id.0).fold(highest, u64::max);
        }
    }
    highest
}
