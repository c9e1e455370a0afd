//! Tools that the user runs by hand: each a turn of its own, which the model never sees.

use super::calls::Stand;
use super::desk::Desk;
use super::io::Entry;
use super::ledger::{Ledger, Outbox};
use crate::contract::TurnEvent;
use crate::domain::conversation::{TurnEnd, TurnKind};
use crate::domain::model::FinishReason;
use crate::domain::tool::Origin;
use crate::domain::{StepEnd, StepId, ToolId, TurnId, Usage, UserInput};
use serde_json::Value;
use std::collections::BTreeMap;

/// Their steps that are not done yet, with their turns.
#[derive(Debug, Default)]
pub(super) struct ByHand {
    steps: BTreeMap<StepId, TurnId>,
}

impl ByHand {
    /// Runs a tool.
    pub fn run(&mut self, tool: &ToolId, arguments: Value, desk: &mut Desk, ledger: &mut Ledger, out: &mut Outbox) {
        let turn = ledger.new_turn(TurnKind::Hand, UserInput::text(tool.to_string()), out);
        let step = ledger.new_step(turn, out);
        self.steps.insert(step, turn);
        out.record(Entry::Reply { step, reason: FinishReason::ToolCalls, usage: Usage::default(), completed: false });
        let call = ledger.add_call(step, tool.clone(), arguments, Origin::Hand, out);
        desk.calls.add(call, step, Stand::Checking, false);
        desk.check(call, out);
    }

    /// Calls off what is not done yet.
    pub fn stop(&self, desk: &mut Desk, ledger: &mut Ledger, out: &mut Outbox) {
        for step in self.steps.keys() {
            for call in desk.calls.of_step(*step) {
                desk.call_off(call, ledger, out);
            }
        }
    }

    /// Ends what is done.
    pub fn finish(&mut self, desk: &Desk, ledger: &mut Ledger, out: &mut Outbox) {
        self.steps.retain(|step, turn| {
            if !desk.calls.is_done(*step) {
                return true;
            }
            ledger.end_step(*step, StepEnd::Complete, None, out);
            if let Some(stored) = ledger.conversation.turn_mut(*turn) {
                stored.end = Some(TurnEnd::Done);
            }
            out.record(Entry::TurnEnd { turn: *turn, end: TurnEnd::Done });
            out.emit(TurnEvent::Ended { turn: *turn, end: TurnEnd::Done });
            false
        });
    }
}
