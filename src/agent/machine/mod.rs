//! The pure machine: `handle(Input) -> Vec<Effect>`. No async, no clock, no IO.
//!
//! Owns the flow of turns and steps. The reply that is arriving is [`reply`]'s, calls and prompts are [`desk`]'s, the conversation is
//! [`ledger`]'s. **Invariants** (property-tested): every call gets exactly one outcome before the next request is built; a partial or cut-off
//! reply never runs a tool and never enters history; an answer for a closed prompt changes nothing; `Rejected`, `Failed`, `Cancelled` and
//! `Interrupted` are four different outcomes. **Boundary:** imports `contract` and `domain` only.

mod backoff;
mod bounds;
mod calls;
mod desk;
mod hand;
pub mod io;
mod ledger;
mod phase;
mod prompts;
mod queue;
mod repeat;
mod reply;
#[cfg(test)]
mod tests;
mod triage;

pub use bounds::Limits;
pub use io::{Effect, Entry, Found, Input, Reply as AskReply, StreamId};
use ledger::{Ids, Outbox};

use crate::contract::{Op, TurnEvent};
use crate::domain::conversation::{TurnEnd, TurnKind};
use crate::domain::error::Phrase;
use crate::domain::model::{FinishReason, ModelError, ModelEvent};
use crate::domain::prompt::{Answer, Choose, Closed, Decision, PromptKind};
use crate::domain::tool::Origin;
use crate::domain::{
    CallId, Conversation, PromptId, Step, StepEnd, StepId, TimerId, ToolCall, ToolId, ToolOutcome, TurnId, UserInput,
};
use bounds::Bounds;
use calls::Stand;
use desk::Desk;
use ledger::{Ledger, highest_id};
use phase::Phase;
use prompts::About;
use queue::Queue;
use reply::{Completion, Reply};
use serde_json::{Value, json};
use std::time::Duration;

/// See the module.
#[derive(Debug)]
pub struct Machine {
    ledger: Ledger,
    desk: Desk,
    bounds: Bounds,
    phase: Phase,
    queue: Queue,
    reply: Option<Reply>,
    by_hand: hand::ByHand,
}

impl Machine {
    /// A machine over a conversation (empty, or read back from a journal). `seed` feeds the jitter of retries.
    pub fn new(conversation: Conversation, limits: Limits, seed: u64) -> Self {
        let ids = Ids(highest_id(&conversation));
        Self {
            ledger: Ledger { conversation, ids },
            desk: Desk::default(),
            bounds: Bounds::new(limits, seed),
            phase: Phase::Idle,
            queue: Queue::default(),
            reply: None,
            by_hand: hand::ByHand::default(),
        }
    }

    /// The conversation as it stands.
    pub fn conversation(&self) -> &Conversation {
        &self.ledger.conversation
    }

    /// The arguments of a call that is to be checked: the user's edit if there is one, else the call's own.
    pub fn to_check(&self, call: CallId) -> Option<(&ToolCall, &Value)> {
        let stored = self.ledger.call(call)?;
        let amended = self.desk.calls.get(call).and_then(|open| open.amendment.as_ref());
        Some((stored, amended.unwrap_or(&stored.arguments)))
    }

    /// Whether nothing runs and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle && self.desk.calls.all().is_empty()
    }

    /// Ids of the prompts that are open.
    pub fn open_prompts(&self) -> Vec<PromptId> {
        self.desk.prompts.ids()
    }

    /// Takes what happened; returns what to do, in order.
    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        let mut out = Outbox::default();
        self.take(input, &mut out);
        self.desk.pump(&mut out);
        self.finish_steps(&mut out);
        out.0
    }

    fn take(&mut self, input: Input, out: &mut Outbox) {
        match input {
            Input::Op(op) => self.op(op, out),
            Input::Prepared { turn, environment } => self.prepared(turn, environment, out),
            Input::Model { stream, event } => self.model(stream, event, out),
            Input::Proposed { stream, call, tool } => {
                self.with_reply(stream, |reply, step, ids| reply.propose(call, tool, step, ids, out));
            }
            Input::Checked { call, round, found } => {
                self.desk.checked(call, round, found, &mut self.ledger, out);
            }
            Input::Tool { call, signal } => self.desk.signal(call, signal, &mut self.ledger, out),
            Input::ToolsChanged { server } => self.desk.tools_changed(&server, out),
            Input::Asked { ask, call, kind, expires } => {
                self.desk.asked(ask, call, kind, expires, &mut self.ledger, out);
            }
            Input::AskWithdrawn { ask } => self.desk.ask_withdrawn(ask, out),
            Input::Verified { prompt, problems } => self.desk.verified(prompt, problems, out),
            Input::TrustAsked(request) => self.desk.trust_asked(request, &mut self.ledger, out),
            Input::Timer(timer) => self.timer(timer, out),
        }
    }

    fn op(&mut self, op: Op, out: &mut Outbox) {
        match op {
            Op::Submit { input } if self.phase == Phase::Idle => self.begin_turn(input, out),
            Op::Submit { input } => self.queue.push(input, out),
            Op::Unqueue => self.queue.take_back(out),
            Op::Answer { prompt, answer } => self.answer(prompt, answer, out),
            Op::Amend { prompt, arguments } => self.desk.amend(prompt, arguments, out),
            Op::Interrupt => self.interrupt(out),
            Op::CancelCall { call } => self.desk.call_off(call, &mut self.ledger, out),
            Op::RunTool { tool, arguments } => {
                self.by_hand.run(&tool, arguments, &mut self.desk, &mut self.ledger, out);
            }
            Op::Shutdown => {
                self.desk.shut_down(&mut self.ledger, out);
                self.interrupt(out);
            }
            // The driver's business.
            Op::Revoke { .. }
            | Op::Server { .. }
            | Op::Reload
            | Op::UseModel { .. }
            | Op::UseDialect { .. }
            | Op::Session(_)
            | Op::Clock(_)
            | Op::Playback(_) => {}
        }
    }

    // --- turns and steps

    fn begin_turn(&mut self, input: UserInput, out: &mut Outbox) {
        let turn = self.ledger.new_turn(TurnKind::Task, input, out);
        self.bounds.new_turn();
        self.phase = Phase::Preparing { turn };
        out.push(Effect::Prepare { turn });
    }

    fn prepared(&mut self, turn: TurnId, environment: Option<String>, out: &mut Outbox) {
        if self.phase != (Phase::Preparing { turn }) {
            return;
        }
        if let (Some(text), Some(turn)) = (environment, self.ledger.conversation.turn_mut(turn)) {
            turn.environment = Some(text.clone());
            out.record(Entry::Environment { turn: turn.id, text });
        }
        self.next_step(turn, out);
    }

    /// Begins the next step, unless the turn has had its share of steps.
    fn next_step(&mut self, turn: TurnId, out: &mut Outbox) {
        if !self.bounds.take_step() {
            let limit = self.bounds.limits.steps;
            return self.decide(turn, None, Decision::StepLimit { limit }, None, out);
        }
        let step = self.ledger.new_step(turn, out);
        self.request(turn, step, out);
    }

    fn request(&mut self, turn: TurnId, step: StepId, out: &mut Outbox) {
        let stream = StreamId(self.ledger.ids.next());
        self.reply = Some(Reply::new(stream, step));
        self.phase = Phase::Streaming { turn };
        out.push(Effect::OpenStream { stream });
    }

    fn end_turn(&mut self, turn: TurnId, end: TurnEnd, out: &mut Outbox) {
        if let Some(stored) = self.ledger.conversation.turn_mut(turn) {
            stored.end = Some(end.clone());
        }
        self.phase = Phase::Idle;
        self.reply = None;
        out.record(Entry::TurnEnd { turn, end: end.clone() });
        out.emit(TurnEvent::Ended { turn, end: end.clone() });
        if end != TurnEnd::Done {
            self.queue.give_back(out);
        } else if let Some(next) = self.queue.next() {
            self.begin_turn(next, out);
        }
    }

    // --- the reply

    fn with_reply(&mut self, stream: StreamId, act: impl FnOnce(&mut Reply, &mut Step, &mut Ids)) {
        let Some(reply) = self.reply.as_mut().filter(|reply| reply.stream == stream) else { return };
        if let Some(step) = self.ledger.conversation.step_mut(reply.step) {
            act(reply, step, &mut self.ledger.ids);
        }
    }

    fn model(&mut self, stream: StreamId, event: ModelEvent, out: &mut Outbox) {
        let Some(reply) = self.reply.as_ref().filter(|reply| reply.stream == stream) else { return };
        let step = reply.step;
        match event {
            ModelEvent::Alive => out.emit(TurnEvent::Alive { step }),
            ModelEvent::Finished { reason } => self.reply_finished(reason, out),
            ModelEvent::Failed { error } => self.reply_failed(error, out),
            event => self.with_reply(stream, |reply, step, ids| reply.take(event, step, ids, out)),
        }
    }

    /// Takes the reply off the stream: what was open in it is closed.
    fn close_reply(&mut self, out: &mut Outbox) -> Option<(TurnId, Reply)> {
        let Phase::Streaming { turn } = self.phase else { return None };
        let mut reply = self.reply.take()?;
        if let Some(step) = self.ledger.conversation.step_mut(reply.step) {
            reply.close(step, out);
        }
        Some((turn, reply))
    }

    fn reply_finished(&mut self, reason: FinishReason, out: &mut Outbox) {
        let Some((turn, reply)) = self.close_reply(out) else { return };
        let step = reply.step;
        if reply.cut_off {
            return self.remind(turn, &reply, Phrase::new("agent.length"), bounds::CUT_OFF.to_owned(), out);
        }
        if let Some(reminder) = reply.off_format.clone() {
            return self.remind(turn, &reply, Phrase::new("agent.off_format"), reminder, out);
        }
        let silent = reply.calls.is_empty() && !reply.answered && reply.completion == Completion::None;
        if silent && reason == FinishReason::Filtered {
            let problem = Phrase::new("agent.filtered");
            self.ledger.end_step(step, StepEnd::Cut { problem: problem.clone() }, Some(reason), out);
            return self.end_turn(turn, TurnEnd::Failed { problem }, out);
        }
        if silent {
            return self.remind(turn, &reply, Phrase::new("agent.off_format"), bounds::EMPTY.to_owned(), out);
        }
        self.bounds.forgive();
        let completed = reply.completion != Completion::None;
        if let Some(step) = self.ledger.conversation.step_mut(step) {
            step.completed = completed;
        }
        out.record(Entry::Reply { step, reason: reason.clone(), usage: reply.usage, completed });
        if let Completion::Command(command) = &reply.completion {
            self.propose_command(step, command, out);
        }
        if reply.calls.is_empty() && !matches!(reply.completion, Completion::Command(_)) {
            self.ledger.end_step(step, StepEnd::Complete, Some(reason), out);
            return self.end_turn(turn, TurnEnd::Done, out);
        }
        self.phase = Phase::Acting { turn, step };
        self.act(turn, step, &reply, out);
    }

    /// The reply is of no use: it is kept on screen, left out of history, and the model is told why. Not for ever.
    fn remind(&mut self, turn: TurnId, reply: &Reply, problem: Phrase, reminder: String, out: &mut Outbox) {
        let step = reply.step;
        self.ledger.cancel(&reply.calls, out);
        if let Some(step) = self.ledger.conversation.step_mut(step) {
            step.reminder = Some(reminder);
        }
        self.ledger.end_step(step, StepEnd::Cut { problem }, None, out);
        if self.bounds.take_reminder() {
            self.next_step(turn, out);
        } else {
            self.decide(turn, Some(step), Decision::OffFormat, None, out);
        }
    }

    fn reply_failed(&mut self, error: ModelError, out: &mut Outbox) {
        let Some(began) = self.reply.as_ref().map(|reply| reply.began) else { return };
        let Some((turn, reply)) = self.close_reply(out) else { return };
        let step = reply.step;
        if began {
            self.ledger.cancel(&reply.calls, out);
            self.ledger.end_step(step, StepEnd::Cut { problem: error.phrase() }, None, out);
            return self.decide(turn, Some(step), Decision::StreamCut { error }, None, out);
        }
        if !bounds::worth_a_try(error.kind) {
            self.ledger.end_step(step, StepEnd::Cut { problem: error.phrase() }, None, out);
            return self.end_turn(turn, TurnEnd::Failed { problem: error.phrase() }, out);
        }
        let (on, wait) = match self.bounds.take_try(&error) {
            Some((attempt, wait)) => (Decision::Retry { attempt, of: self.bounds.limits.retries, error }, Some(wait)),
            None => (Decision::GaveUp { error }, None),
        };
        self.decide(turn, Some(step), on, wait, out);
    }

    // --- calls

    fn act(&mut self, turn: TurnId, step: StepId, reply: &Reply, out: &mut Outbox) {
        let mut to_run = Vec::new();
        for (id, outcome) in triage::sort(&reply.calls, &self.ledger.conversation, self.bounds.limits.calls) {
            match outcome {
                Some(outcome) => self.ledger.settle(id, outcome, out),
                None => to_run.push(id),
            }
        }
        let conversation = &self.ledger.conversation;
        let calls = to_run.iter().filter_map(|id| conversation.call(*id)).map(|(call, _)| call);
        let times = self.bounds.repeated(calls).filter(|_| !to_run.is_empty());
        for id in &to_run {
            let recovered = self.ledger.call(*id).is_some_and(|call| call.origin == Origin::Recovered);
            let stand = if times.is_some() { Stand::Held } else { Stand::Checking };
            self.desk.calls.add(*id, step, stand, recovered);
        }
        if let Some(times) = times {
            let tool = to_run.first().and_then(|id| self.ledger.call(*id)).map(ToolCall::shown_name);
            let on = Decision::Repeated { tool: tool.unwrap_or_default(), times };
            self.decide(turn, Some(step), on, None, out);
        } else {
            for id in to_run {
                self.desk.check(id, out);
            }
        }
    }

    /// The command that comes with a completion is a call of its own, which always asks.
    fn propose_command(&mut self, step: StepId, command: &str, out: &mut Outbox) {
        let tool = ToolId::builtin("execute_command");
        let call = self.ledger.add_call(step, tool, json!({ "command": command }), Origin::Xml, out);
        self.desk.calls.add(call, step, Stand::Checking, true);
        self.desk.check(call, out);
    }

    /// Ends the steps whose calls all have their outcome.
    fn finish_steps(&mut self, out: &mut Outbox) {
        self.by_hand.finish(&self.desk, &mut self.ledger, out);
        match self.phase {
            Phase::Acting { turn, step } if self.desk.calls.is_done(step) => {
                self.ledger.end_step(step, StepEnd::Complete, None, out);
                if self.ledger.completed(step) {
                    self.end_turn(turn, TurnEnd::Done, out);
                } else {
                    self.next_step(turn, out);
                }
            }
            Phase::Stopping { turn, step, grace } if self.desk.calls.is_done(step) => {
                out.push(Effect::Disarm { timer: grace });
                self.ledger.end_step(step, StepEnd::Complete, None, out);
                self.end_turn(turn, TurnEnd::Interrupted, out);
            }
            _ => {}
        }
    }

    // --- decisions

    fn decide(
        &mut self,
        turn: TurnId,
        step: Option<StepId>,
        on: Decision,
        expires: Option<Duration>,
        out: &mut Outbox,
    ) {
        let kind = PromptKind::Decision(on.clone());
        let prompt = self.desk.open(kind, About::Decision, (None, step), expires, &mut self.ledger, out);
        self.phase = Phase::Deciding { turn, step, prompt, on };
    }

    fn answer(&mut self, prompt: PromptId, answer: Answer, out: &mut Outbox) {
        match (&self.phase, &answer) {
            (Phase::Deciding { prompt: open, .. }, Answer::Choose(choice)) if *open == prompt => {
                let choice = choice.clone();
                self.desk.close(prompt, Closed::Answered { answer }, out);
                self.decided(choice, out);
            }
            _ => self.desk.answer(prompt, answer, &mut self.ledger, out),
        }
    }

    /// Goes on from a decision. The prompt is closed already.
    fn decided(&mut self, choice: Choose, out: &mut Outbox) {
        let Phase::Deciding { turn, step, on, .. } = self.phase.clone() else { return };
        let hint = match &choice {
            Choose::Hint { text } => Some(text.clone()),
            _ => None,
        };
        match (on, step) {
            (Decision::Repeated { .. }, Some(step)) => return self.decided_repeated(turn, step, choice, out),
            (on, step) if choice == Choose::Stop => return self.give_up(turn, step, on, out),
            (Decision::Retry { .. }, Some(step)) => return self.request(turn, step, out),
            (Decision::GaveUp { .. }, Some(step)) => {
                self.bounds.more_tries();
                return self.request(turn, step, out);
            }
            (Decision::StepLimit { .. }, _) => self.bounds.more_steps(),
            (Decision::OffFormat, _) => self.bounds.forgive(),
            _ => self.bounds.give_back_step(),
        }
        if let Some(text) = hint {
            self.ledger.hint(turn, step, text, out);
        }
        self.next_step(turn, out);
    }

    fn decided_repeated(&mut self, turn: TurnId, step: StepId, choice: Choose, out: &mut Outbox) {
        self.bounds.forget_repeats();
        self.phase = Phase::Acting { turn, step };
        match choice {
            Choose::Continue => {
                self.desk.calls.of_step(step).into_iter().for_each(|call| self.desk.check(call, out));
            }
            Choose::Hint { text } => {
                self.desk.settle_all(step, &ToolOutcome::Rejected { reason: Some(text) }, &mut self.ledger, out);
            }
            Choose::Stop => {
                self.desk.settle_all(step, &ToolOutcome::Cancelled, &mut self.ledger, out);
                self.ledger.end_step(step, StepEnd::Complete, None, out);
                self.end_turn(turn, TurnEnd::Stopped, out);
            }
        }
    }

    fn give_up(&mut self, turn: TurnId, step: Option<StepId>, on: Decision, out: &mut Outbox) {
        let end = bounds::end_of(&on);
        if let (TurnEnd::Failed { problem }, Some(step)) = (&end, step) {
            self.ledger.end_step(step, StepEnd::Cut { problem: problem.clone() }, None, out);
        }
        self.end_turn(turn, end, out);
    }

    // --- stopping

    fn interrupt(&mut self, out: &mut Outbox) {
        match self.phase.clone() {
            Phase::Idle => self.by_hand.stop(&mut self.desk, &mut self.ledger, out),
            Phase::Preparing { turn } => self.end_turn(turn, TurnEnd::Interrupted, out),
            Phase::Streaming { turn } => {
                out.push(Effect::CloseStream);
                if let Some((_, reply)) = self.close_reply(out) {
                    self.ledger.cancel(&reply.calls, out);
                    self.ledger.end_step(reply.step, StepEnd::Interrupted, None, out);
                }
                self.end_turn(turn, TurnEnd::Interrupted, out);
            }
            Phase::Acting { turn, step } => self.stop_calls(turn, step, out),
            Phase::Deciding { turn, step, prompt, on } => {
                self.desk.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.interrupted") }, out);
                match (on, step) {
                    (Decision::Repeated { .. }, Some(step)) => self.stop_calls(turn, step, out),
                    (_, step) => {
                        if let Some(step) = step {
                            self.ledger.end_step(step, StepEnd::Interrupted, None, out);
                        }
                        self.end_turn(turn, TurnEnd::Interrupted, out);
                    }
                }
            }
            // A second time: whatever has not ended by now is given up.
            Phase::Stopping { step, .. } => {
                self.desk.settle_all(step, &ToolOutcome::Interrupted, &mut self.ledger, out);
            }
        }
    }

    fn stop_calls(&mut self, turn: TurnId, step: StepId, out: &mut Outbox) {
        for call in self.desk.calls.of_step(step) {
            self.desk.call_off(call, &mut self.ledger, out);
        }
        let grace = TimerId(self.ledger.ids.next());
        out.push(Effect::Arm { timer: grace, after: self.bounds.limits.grace });
        self.phase = Phase::Stopping { turn, step, grace };
    }

    fn timer(&mut self, timer: TimerId, out: &mut Outbox) {
        if let Phase::Stopping { step, grace, .. } = self.phase
            && grace == timer
        {
            return self.desk.settle_all(step, &ToolOutcome::Interrupted, &mut self.ledger, out);
        }
        let Some(prompt) = self.desk.prompts.by_timer(timer) else { return };
        if self.desk.expired(prompt, out) == Some(About::Decision) {
            self.decided(Choose::Continue, out);
        }
    }
}
