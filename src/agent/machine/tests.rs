//! The machine in a small world that answers its effects, in any order.

use super::*;
use crate::agent::journal::Replay;
use crate::contract::event::TextKind;
use crate::contract::{Event, ItemEvent, PromptEvent, SessionEvent, ToolEvent};
use crate::domain::ItemBody;
use crate::domain::form::Form;
use crate::domain::model::ModelErrorKind;
use crate::domain::model::{Arguments, ProposedCall};
use crate::domain::policy::{ArgumentRule, Check, Grant, Preview, Verdict};
use crate::domain::prompt::{FormRequest, Prompt, Scope};
use crate::domain::tool::{Annotations, Risk, ToolSpec};
use crate::domain::{AskId, ToolSignal};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The world around a machine: remembers what it was asked to do, checks the invariants at every effect.
struct World {
    machine: Machine,
    stream: Option<StreamId>,
    slot: u32,
    checks: Vec<(CallId, u32)>,
    running: Vec<CallId>,
    timers: BTreeSet<TimerId>,
    prompts: BTreeMap<PromptId, Prompt>,
    closed: BTreeSet<PromptId>,
    verifying: Vec<PromptId>,
    preparing: Vec<TurnId>,
    asks: u64,
    replied: BTreeSet<StepId>,
    outcomes: BTreeMap<CallId, ToolOutcome>,
    ran: BTreeSet<CallId>,
    journal: Vec<Entry>,
    events: Vec<Event>,
}

impl World {
    fn new() -> Self {
        Self {
            machine: Machine::new(Conversation::default(), Limits { steps: 6, ..Limits::default() }, 1),
            stream: None,
            slot: 0,
            checks: Vec::new(),
            running: Vec::new(),
            timers: BTreeSet::new(),
            prompts: BTreeMap::new(),
            closed: BTreeSet::new(),
            verifying: Vec::new(),
            preparing: Vec::new(),
            asks: 0,
            replied: BTreeSet::new(),
            outcomes: BTreeMap::new(),
            ran: BTreeSet::new(),
            journal: Vec::new(),
            events: Vec::new(),
        }
    }

    fn send(&mut self, input: Input) -> Vec<Effect> {
        let effects = self.machine.handle(input);
        for effect in effects.clone() {
            self.perform(effect);
        }
        effects
    }

    fn op(&mut self, op: Op) -> Vec<Effect> {
        self.send(Input::Op(op))
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Prepare { turn } => self.preparing.push(turn),
            Effect::OpenStream { stream } => {
                assert_eq!(self.stream, None, "two requests at once");
                self.whole_history();
                self.stream = Some(stream);
                self.slot = 0;
            }
            Effect::CloseStream => self.stream = None,
            Effect::Check { call, round } => self.checks.push((call, round)),
            Effect::Run { call } => {
                let step = self.step_of(call);
                assert!(self.replied.contains(&step), "a call of a partial reply runs");
                assert!(self.ran.insert(call) || self.machine.desk.calls.get(call).is_some(), "runs twice");
                self.running.push(call);
            }
            Effect::Cancel { call } => assert!(self.running.contains(&call), "cancels what does not run"),
            Effect::Verify { prompt, .. } => self.verifying.push(prompt),
            Effect::Arm { timer, .. } => assert!(self.timers.insert(timer)),
            Effect::Disarm { timer } => {
                self.timers.remove(&timer);
            }
            Effect::Record(entry) => self.record(entry),
            Effect::Emit(event) => self.event(event),
            Effect::Reply { .. } | Effect::Remember { .. } | Effect::Trust { .. } => {}
        }
    }

    fn record(&mut self, entry: Entry) {
        match &entry {
            Entry::Reply { step, .. } => {
                self.replied.insert(*step);
            }
            Entry::Outcome { call, outcome } => {
                assert_eq!(self.outcomes.insert(*call, outcome.clone()), None, "a second outcome");
                self.running.retain(|running| running != call);
            }
            _ => {}
        }
        self.journal.push(entry);
    }

    fn event(&mut self, event: Event) {
        match &event {
            Event::Prompt(PromptEvent::Opened { prompt }) => {
                assert!(self.machine.open_prompts().contains(&prompt.id) || self.closed.contains(&prompt.id));
                assert!(self.prompts.insert(prompt.id, prompt.clone()).is_none(), "opened twice");
            }
            Event::Prompt(PromptEvent::Closed { prompt, .. }) => {
                assert!(self.prompts.remove(prompt).is_some(), "closed without being open");
                assert!(self.closed.insert(*prompt), "closed twice");
            }
            Event::Tool(ToolEvent::Finished { call, .. }) => {
                assert!(self.outcomes.contains_key(call), "announced before it was recorded");
            }
            _ => {}
        }
        self.events.push(event);
    }

    /// Holds at every request: complete steps have an outcome for each call, and incomplete ones ran nothing.
    fn whole_history(&self) {
        for step in self.machine.conversation().turns.iter().flat_map(|t| &t.steps) {
            for (call, outcome) in step.calls() {
                match step.end {
                    Some(StepEnd::Complete) => assert!(outcome.is_some(), "a call without an outcome"),
                    Some(_) => assert!(!self.ran.contains(&call.id), "a call of a cut reply ran"),
                    None => {}
                }
            }
        }
    }

    fn step_of(&self, call: CallId) -> StepId {
        let steps = self.machine.conversation().turns.iter().flat_map(|t| &t.steps);
        steps.into_iter().find(|s| s.calls().any(|(c, _)| c.id == call)).unwrap().id
    }

    // --- a model and tools

    fn model(&mut self, event: ModelEvent) {
        let Some(stream) = self.stream else { return };
        if matches!(event, ModelEvent::Finished { .. } | ModelEvent::Failed { .. }) {
            self.stream = None;
        }
        self.send(Input::Model { stream, event });
    }

    fn propose(&mut self, name: &str, arguments: Arguments) {
        let Some(stream) = self.stream else { return };
        let slot = self.slot;
        self.slot += 1;
        let call = ProposedCall { slot, provider_id: None, name: name.into(), arguments, origin: Origin::Native };
        self.send(Input::Proposed { stream, call, tool: Some(spec(name)) });
    }

    fn call(&mut self, name: &str, n: u64) {
        self.propose(name, Arguments::Parsed { value: json!({ "n": n }) });
    }

    fn finish(&mut self) {
        self.model(ModelEvent::Finished { reason: FinishReason::Stop });
    }

    fn answer_text(&mut self, text: &str) {
        self.model(ModelEvent::Answer { text: text.into() });
    }

    fn found(&mut self, verdict: Verdict) {
        let (call, round) = self.checks.remove(0);
        let name = self.machine.to_check(call).map(|(c, _)| c.asked.clone()).unwrap_or_default();
        self.send(Input::Checked { call, round, found: ready(&name, verdict) });
    }

    fn begin(&mut self, text: &str) {
        self.op(Op::Submit { input: UserInput::text(text) });
        let turn = self.preparing.pop().unwrap();
        self.send(Input::Prepared { turn, environment: None });
    }

    fn done(&mut self, call: CallId, text: &str) {
        self.send(Input::Tool { call, signal: ToolSignal::Finished(ToolOutcome::text(text)) });
    }

    fn only_prompt(&self) -> PromptId {
        assert_eq!(self.prompts.len(), 1, "{:?}", self.prompts);
        *self.prompts.keys().next().unwrap()
    }

    fn answer(&mut self, answer: Answer) -> Vec<Effect> {
        let prompt = self.only_prompt();
        self.op(Op::Answer { prompt, answer })
    }

    fn ends(&self) -> Vec<&TurnEnd> {
        let ends = self.events.iter().filter_map(|e| match e {
            Event::Turn(TurnEvent::Ended { end, .. }) => Some(end),
            _ => None,
        });
        ends.collect()
    }

    fn replayed(&self) -> Conversation {
        let mut replay = Replay::default();
        self.journal.iter().cloned().for_each(|entry| replay.take(entry));
        replay.finish()
    }
}

fn spec(name: &str) -> Arc<ToolSpec> {
    let risk = match name {
        "write" => Risk::Write,
        "ask" => Risk::Question,
        _ => Risk::External,
    };
    let id = if name == "b" { ToolId::on(&"s".into(), name) } else { ToolId::builtin(name) };
    Arc::new(ToolSpec {
        id,
        title: None,
        description: String::new(),
        input_schema: Arc::new(json!({})),
        output_schema: None,
        annotations: Annotations::default(),
        risk,
        hash: "h".into(),
    })
}

fn allow() -> Verdict {
    Verdict::Allow { why: Phrase::new("x") }
}

fn ask() -> Verdict {
    Verdict::Ask { why: Phrase::new("x") }
}

fn ready(name: &str, verdict: Verdict) -> Found {
    let grant = Grant {
        tool: ToolId::builtin(name),
        arguments: ArgumentRule::Any,
        project: "/".into(),
        definition: "h".into(),
    };
    let check = Check { verdict, warnings: Vec::new(), preview: Preview::Arguments, grant: Some(grant) };
    Found::Ready { spec: spec(name), check: Box::new(check), form: Form::default() }
}

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError { kind, message: "m".into(), status: None, retry_after_ms: None }
}

#[test]
fn thinks_calls_observes_and_answers() {
    let mut w = World::new();
    w.begin("weather");
    w.model(ModelEvent::Thinking { text: "hm".into() });
    w.call("forecast", 1);
    w.finish();
    assert_eq!(w.stream, None, "no request while the call is open");
    w.found(ask());
    w.answer(Answer::Approve { scope: Scope::Once, version: None });
    let call = w.running[0];
    w.done(call, "24 °C");
    assert!(w.stream.is_some(), "the result goes back to the model");
    w.answer_text("It is 24 °C.");
    w.finish();
    assert_eq!(w.ends(), [&TurnEnd::Done]);
    assert_eq!(&w.replayed(), w.machine.conversation());
    assert!(w.machine.is_idle());
}

#[test]
fn parallel_calls_are_answered_by_their_own_ids() {
    let mut w = World::new();
    w.begin("two");
    w.call("a", 1);
    w.call("b", 2);
    w.finish();
    w.found(ask());
    w.found(ask());
    let ids: Vec<PromptId> = w.prompts.keys().copied().collect();
    let call_of = |w: &World, id: PromptId| w.prompts[&id].call.unwrap();
    let (first, second) = (call_of(&w, ids[0]), call_of(&w, ids[1]));
    w.op(Op::Answer { prompt: ids[1], answer: Answer::Approve { scope: Scope::Once, version: None } });
    assert_eq!(w.running, [second]);
    w.op(Op::Answer { prompt: ids[0], answer: Answer::Reject { reason: Some("no".into()) } });
    assert_eq!(w.outcomes[&first], ToolOutcome::Rejected { reason: Some("no".into()) });
    // A late answer changes nothing.
    assert_eq!(w.op(Op::Answer { prompt: ids[0], answer: Answer::Approve { scope: Scope::Once, version: None } }), []);
    w.done(second, "ok");
    assert!(w.stream.is_some());
}

#[test]
fn identical_calls_run_once_and_too_many_are_refused() {
    let mut w = World::new();
    w.begin("many");
    for _ in 0..13 {
        w.call("same", 1);
    }
    for n in 2..=10 {
        w.call("other", n);
    }
    w.finish();
    assert_eq!(w.checks.len(), 8);
    let same = w.outcomes.values().filter(|o| matches!(o, ToolOutcome::SameAs { .. })).count();
    let refused = w.outcomes.values().filter(|o| matches!(o, ToolOutcome::Failed { .. })).count();
    assert_eq!((same, refused), (12, 2));
}

#[test]
fn a_cut_off_call_never_runs_and_the_model_is_told() {
    let mut w = World::new();
    w.begin("long");
    w.call("first", 1);
    w.propose("write", Arguments::CutOff { text: "{\"path\":".into() });
    w.model(ModelEvent::Finished { reason: FinishReason::Length });
    assert!(w.checks.is_empty() && w.running.is_empty());
    assert!(w.stream.is_some(), "it is asked again");
    let step = &w.machine.conversation().turns[0].steps[0];
    assert!(matches!(step.end, Some(StepEnd::Cut { .. })));
    assert!(step.reminder.as_ref().unwrap().contains("cut off"));
    assert_eq!(w.outcomes.values().collect::<Vec<_>>(), [&ToolOutcome::Cancelled]);
}

#[test]
fn two_reminders_then_the_user_decides() {
    let mut w = World::new();
    w.begin("x");
    for _ in 0..3 {
        assert!(w.prompts.is_empty());
        w.model(ModelEvent::Thinking { text: "only thinking".into() });
        w.finish();
    }
    assert!(matches!(w.prompts.values().next().unwrap().kind, PromptKind::Decision(Decision::OffFormat)));
    w.answer(Answer::Choose(Choose::Stop));
    assert_eq!(w.ends(), [&TurnEnd::Stopped]);
}

#[test]
fn failed_requests_are_tried_again_five_times_with_a_way_out() {
    let mut w = World::new();
    w.begin("x");
    for attempt in 1..=5 {
        w.model(ModelEvent::Failed { error: error(ModelErrorKind::Overloaded) });
        let prompt = w.prompts.values().next().unwrap().clone();
        assert!(prompt.expires_ms.unwrap() >= 1000);
        assert!(matches!(prompt.kind, PromptKind::Decision(Decision::Retry { attempt: a, of: 5, .. }) if a == attempt));
        if attempt % 2 == 0 {
            w.answer(Answer::Choose(Choose::Continue));
        } else {
            let timer = *w.timers.iter().next().unwrap();
            w.send(Input::Timer(timer));
        }
        assert!(w.stream.is_some());
    }
    w.model(ModelEvent::Failed { error: error(ModelErrorKind::Overloaded) });
    assert!(matches!(w.prompts.values().next().unwrap().kind, PromptKind::Decision(Decision::GaveUp { .. })));
    w.answer(Answer::Choose(Choose::Stop));
    assert!(matches!(w.ends()[..], [TurnEnd::Failed { .. }]));
}

#[test]
fn other_refusals_are_not_tried_again() {
    for kind in
        [ModelErrorKind::Auth, ModelErrorKind::BadRequest, ModelErrorKind::Certificate, ModelErrorKind::NotFound]
    {
        let mut w = World::new();
        w.begin("x");
        w.model(ModelEvent::Failed { error: error(kind) });
        assert!(matches!(w.ends()[..], [TurnEnd::Failed { .. }]), "{kind:?}");
    }
}

#[test]
fn a_cut_stream_keeps_what_came_and_offers_a_retry() {
    let mut w = World::new();
    w.begin("x");
    w.answer_text("half an ans");
    w.call("never", 1);
    w.model(ModelEvent::Failed { error: error(ModelErrorKind::Cut) });
    assert!(matches!(w.prompts.values().next().unwrap().kind, PromptKind::Decision(Decision::StreamCut { .. })));
    let step = &w.machine.conversation().turns[0].steps[0];
    assert!(matches!(&step.items[0].body, ItemBody::Answer { text } if text == "half an ans"));
    assert!(w.ran.is_empty());
    w.answer(Answer::Choose(Choose::Continue));
    assert!(w.stream.is_some());
    w.answer_text("whole");
    w.finish();
    assert_eq!(w.ends(), [&TurnEnd::Done]);
}

#[test]
fn the_same_call_step_after_step_is_noticed() {
    let mut w = World::new();
    w.begin("x");
    for _ in 0..2 {
        w.call("again", 1);
        w.finish();
        w.found(allow());
        let call = w.running[0];
        w.done(call, "ok");
    }
    w.call("again", 1);
    w.finish();
    assert!(w.checks.is_empty(), "held until the user has decided");
    w.answer(Answer::Choose(Choose::Hint { text: "try something else".into() }));
    assert!(w.stream.is_some());
    let last = w.outcomes.values().next_back().unwrap();
    assert_eq!(last, &ToolOutcome::Rejected { reason: Some("try something else".into()) });
}

#[test]
fn the_step_limit_asks() {
    let mut w = World::new();
    w.begin("x");
    for n in 0..6 {
        w.call("a", n);
        w.finish();
        w.found(allow());
        let call = w.running[0];
        w.done(call, "ok");
    }
    assert!(matches!(w.prompts.values().next().unwrap().kind, PromptKind::Decision(Decision::StepLimit { limit: 6 })));
    w.answer(Answer::Choose(Choose::Hint { text: "Come to an end.".into() }));
    assert!(w.stream.is_some());
    let steps = &w.machine.conversation().turns[0].steps;
    assert_eq!((steps.len(), steps[5].reminder.as_deref()), (7, Some("Come to an end.")));
    w.call("a", 9);
    w.finish();
    assert_eq!(&w.replayed().turns[0].steps[5], &w.machine.conversation().turns[0].steps[5]);
}

#[test]
fn an_interrupted_tool_may_have_run_and_a_waiting_one_did_not() {
    let mut w = World::new();
    w.begin("x");
    w.call("runs", 1);
    w.call("waits", 2);
    w.finish();
    w.found(allow());
    w.found(ask());
    let running = w.running[0];
    let effects = w.op(Op::Interrupt);
    assert!(effects.contains(&Effect::Cancel { call: running }));
    w.send(Input::Tool { call: running, signal: ToolSignal::Finished(ToolOutcome::Interrupted) });
    let outcomes: Vec<_> = w.outcomes.values().cloned().collect();
    assert_eq!(outcomes, [ToolOutcome::Interrupted, ToolOutcome::Cancelled]);
    assert_eq!(w.ends(), [&TurnEnd::Interrupted]);
    assert!(w.timers.is_empty() && w.prompts.is_empty());
    let step = &w.machine.conversation().turns[0].steps[0];
    assert_eq!(step.end, Some(StepEnd::Complete), "the model learns what was called off");
}

#[test]
fn a_tool_that_ignores_its_cancellation_is_given_up() {
    let mut w = World::new();
    w.begin("x");
    w.call("stuck", 1);
    w.finish();
    w.found(allow());
    w.op(Op::Interrupt);
    let timer = *w.timers.iter().next().unwrap();
    w.send(Input::Timer(timer));
    assert_eq!(w.ends(), [&TurnEnd::Interrupted]);
    assert!(w.machine.is_idle());
}

#[test]
fn an_interrupted_reply_stays_on_screen_and_out_of_history() {
    let mut w = World::new();
    w.begin("x");
    w.answer_text("half");
    w.op(Op::Interrupt);
    assert_eq!(w.stream, None);
    assert_eq!(w.machine.conversation().turns[0].steps[0].end, Some(StepEnd::Interrupted));
    assert_eq!(w.ends(), [&TurnEnd::Interrupted]);
}

#[test]
fn edited_arguments_are_checked_and_shown_before_they_can_be_approved() {
    let mut w = World::new();
    w.begin("x");
    w.call("a", 1);
    w.finish();
    w.found(ask());
    let prompt = w.only_prompt();
    w.op(Op::Amend { prompt, arguments: json!({ "n": "bad" }) });
    assert_eq!(w.answer(Answer::Approve { scope: Scope::Once, version: None }), [], "not what was shown");
    let (call, round) = w.checks.remove(0);
    assert_eq!(w.machine.to_check(call).unwrap().1, &json!({ "n": "bad" }));
    w.send(Input::Checked { call, round, found: Found::Invalid { message: "n".into(), problems: Vec::new() } });
    assert!(matches!(w.events.last(), Some(Event::Prompt(PromptEvent::Refused { .. }))));
    assert_eq!(w.machine.to_check(call).unwrap().1, &json!({ "n": 1 }), "a bad edit changes nothing");
    w.op(Op::Amend { prompt, arguments: json!({ "n": 2 }) });
    w.found(allow());
    assert!(w.running.is_empty(), "an edit never runs by itself");
    w.answer(Answer::Approve { scope: Scope::Once, version: None });
    assert_eq!(w.running, [call]);
    assert_eq!(w.replayed().call(call).unwrap().0.arguments, json!({ "n": 2 }));
}

#[test]
fn an_approval_of_what_has_changed_meanwhile_approves_nothing() {
    let (mut w, prompt, call) = looked_at_again();
    let seen = |version| Answer::Approve { scope: Scope::Always, version: Some(version) };
    let Found::Ready { spec, mut check, form } = ready("b", ask()) else { panic!() };
    check.warnings.push(Phrase::new("tool.linked"));
    w.send(Input::Checked { call, round: 2, found: Found::Ready { spec, check, form } });
    // The card that shows the change is on its way to the user, whose key was pressed before it came.
    let effects = w.answer(seen(0));
    let [Effect::Emit(Event::Prompt(PromptEvent::Refused { prompt: refused, .. })), Effect::Emit(Event::Prompt(shown))] =
        effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    let PromptEvent::Amended { approval, .. } = shown else { panic!("{shown:?}") };
    assert_eq!((*refused, approval.version), (prompt, 1));
    assert!(w.running.is_empty());
    w.answer(seen(1));
    assert_eq!(w.running, [call]);
}

/// A call that is asked about, and looked at once more because its server's tools were read anew.
fn looked_at_again() -> (World, PromptId, CallId) {
    let mut w = World::new();
    w.begin("x");
    w.call("b", 1);
    w.finish();
    w.found(ask());
    let prompt = w.only_prompt();
    w.send(Input::ToolsChanged { server: "another".into() });
    assert!(w.checks.is_empty());
    w.send(Input::ToolsChanged { server: "s".into() });
    let call = w.checks[0].0;
    (w, prompt, call)
}

#[test]
fn an_approval_while_a_call_is_looked_at_again_holds_if_nothing_changed() {
    let (mut w, _, call) = looked_at_again();
    w.answer(Answer::Approve { scope: Scope::Once, version: None });
    assert!(w.prompts.is_empty() && w.running.is_empty(), "it was answered, and waits for the look");
    w.send(Input::Checked { call, round: 2, found: ready("b", ask()) });
    assert_eq!(w.running, [call]);
}

#[test]
fn an_approval_while_a_call_is_looked_at_again_is_void_if_something_changed() {
    let (mut w, prompt, call) = looked_at_again();
    w.answer(Answer::Approve { scope: Scope::Session, version: None });
    let Found::Ready { spec, mut check, form } = ready("b", ask()) else { panic!() };
    check.preview = Preview::Command { command: "another".into(), cwd: "/".into() };
    w.send(Input::Checked { call, round: 2, found: Found::Ready { spec, check, form } });
    assert!(w.running.is_empty());
    assert_ne!(w.only_prompt(), prompt, "it asks again");
    w.answer(Answer::Approve { scope: Scope::Once, version: None });
    assert_eq!(w.running, [call]);
}

#[test]
fn a_waiting_call_that_can_no_longer_be_says_so() {
    let (mut w, prompt, call) = looked_at_again();
    w.send(Input::Checked { call, round: 2, found: Found::Invalid { message: "gone".into(), problems: Vec::new() } });
    let why = Closed::Withdrawn { why: Phrase::new("agent.no_longer") };
    assert!(w.events.contains(&Event::Prompt(PromptEvent::Closed { prompt, why })));
    assert_eq!(w.outcomes[&call], ToolOutcome::failed("gone"));
}

#[test]
fn a_link_takes_no_values_and_a_form_no_text() {
    let link = crate::domain::prompt::LinkRequest { server: "s".into(), message: "m".into(), url: "u".into() };
    let form = FormRequest { server: "s".into(), message: "m".into(), form: Form::default() };
    let mut w = World::new();
    let asked = |kind| Input::Asked { ask: AskId(1), call: None, kind, expires: Duration::from_secs(300) };
    w.send(asked(PromptKind::Link(link)));
    let values = serde_json::Map::from_iter([("x".to_owned(), json!(1))]);
    let effects = w.answer(Answer::Submit { values });
    assert_eq!(effects.last(), Some(&Effect::Reply { ask: AskId(1), reply: AskReply::Visited }));
    w.send(asked(PromptKind::Form(form)));
    assert_eq!(w.answer(Answer::Text { text: "visited".into() }), []);
}

#[test]
fn a_grant_lets_the_alike_go_and_writes_run_one_by_one() {
    let mut w = World::new();
    w.begin("x");
    for n in 0..3 {
        w.call("write", n);
    }
    w.finish();
    for _ in 0..3 {
        w.found(ask());
    }
    let first = *w.prompts.keys().next().unwrap();
    w.op(Op::Answer { prompt: first, answer: Answer::Approve { scope: Scope::Session, version: None } });
    assert_eq!(w.running.len(), 1);
    w.found(allow());
    w.found(allow());
    assert!(w.prompts.is_empty());
    assert_eq!(w.running.len(), 1, "one write at a time");
    let call = w.running[0];
    w.done(call, "ok");
    assert_eq!(w.running.len(), 1);
    // The file is no longer as it was when this one was inspected.
    let call = w.running[0];
    w.running.clear();
    w.send(Input::Tool { call, signal: ToolSignal::Stale });
    assert_eq!(w.checks.last().unwrap().0, call);
    w.found(ask());
    assert_eq!(w.prompts.len(), 1, "it asks again with the new diff");
}

#[test]
fn a_question_is_answered_by_text() {
    let mut w = World::new();
    w.begin("x");
    w.propose("ask", Arguments::Parsed { value: json!({ "question": "Which?", "options": ["a", "b"] }) });
    w.finish();
    w.found(allow());
    let prompt = w.prompts.values().next().unwrap();
    assert!(matches!(&prompt.kind, PromptKind::Question(q) if q.text == "Which?" && q.options == ["a", "b"]));
    w.answer(Answer::Text { text: "b".into() });
    assert_eq!(w.outcomes.values().next().unwrap(), &ToolOutcome::text("b"));
    assert!(w.stream.is_some());
}

#[test]
fn a_completions_command_runs_only_after_approval() {
    let mut w = World::new();
    w.begin("x");
    w.answer_text("done");
    w.model(ModelEvent::Completion { command: Some("open result.html".into()) });
    w.finish();
    w.found(allow());
    assert!(w.running.is_empty(), "it asks whatever the policy says");
    w.answer(Answer::Approve { scope: Scope::Once, version: None });
    let call = w.running[0];
    w.done(call, "");
    assert_eq!(w.ends(), [&TurnEnd::Done]);
    assert_eq!(w.stream, None);
}

#[test]
fn a_form_that_does_not_satisfy_the_servers_schema_stays_open() {
    let mut w = World::new();
    let form = FormRequest { server: "s".into(), message: "m".into(), form: Form::default() };
    w.send(Input::Asked { ask: AskId(1), call: None, kind: PromptKind::Form(form), expires: Duration::from_secs(300) });
    let prompt = w.only_prompt();
    w.answer(Answer::Submit { values: serde_json::Map::new() });
    let problem = (String::new(), crate::domain::form::FieldError::Required);
    w.send(Input::Verified { prompt, problems: vec![problem] });
    assert!(w.prompts.contains_key(&prompt));
    w.answer(Answer::Submit { values: serde_json::Map::new() });
    let effects = w.send(Input::Verified { prompt, problems: Vec::new() });
    assert!(matches!(effects.last(), Some(Effect::Reply { reply: AskReply::Accept(_), .. })));
    assert!(w.prompts.is_empty());
}

#[test]
fn an_expired_form_answers_cancel() {
    let mut w = World::new();
    let form = FormRequest { server: "s".into(), message: "m".into(), form: Form::default() };
    w.send(Input::Asked { ask: AskId(1), call: None, kind: PromptKind::Form(form), expires: Duration::from_secs(300) });
    let timer = *w.timers.iter().next().unwrap();
    let effects = w.send(Input::Timer(timer));
    assert!(effects.contains(&Effect::Reply { ask: AskId(1), reply: AskReply::Cancel }));
}

#[test]
fn queued_messages_follow_or_come_back() {
    let mut w = World::new();
    w.begin("first");
    w.op(Op::Submit { input: UserInput::text("second") });
    w.op(Op::Submit { input: UserInput::text("third") });
    w.op(Op::Unqueue);
    w.answer_text("a");
    w.finish();
    assert_eq!(w.preparing.len(), 1, "the queued message follows");
    w.op(Op::Submit { input: UserInput::text("fourth") });
    w.op(Op::Interrupt);
    let back = w.events.iter().rev().find_map(|e| match e {
        Event::Session(SessionEvent::Unqueued { input, .. }) => Some(input.text.as_str()),
        _ => None,
    });
    assert_eq!(back, Some("fourth"), "after an interrupt it goes back to the composer");
}

#[test]
fn a_tool_run_by_hand_is_no_business_of_the_model() {
    let mut w = World::new();
    w.begin("task");
    w.op(Op::RunTool { tool: ToolId::builtin("a"), arguments: json!({}) });
    w.found(allow());
    let call = w.running[0];
    w.done(call, "ok");
    assert_eq!(w.ends(), [&TurnEnd::Done]);
    assert!(w.stream.is_some(), "the task goes on");
    w.answer_text("x");
    w.finish();
    assert_eq!(w.ends().len(), 2);
    assert_eq!(&w.replayed(), w.machine.conversation());
}

#[test]
fn text_items_are_told_apart_and_blank_ones_left_out() {
    let mut w = World::new();
    w.begin("x");
    w.model(ModelEvent::Answer { text: "\n\n".into() });
    w.model(ModelEvent::Thinking { text: "\nt1".into() });
    w.model(ModelEvent::Thinking { text: " t2".into() });
    w.answer_text("a");
    w.finish();
    let kinds: Vec<TextKind> = w
        .events
        .iter()
        .filter_map(|e| match e {
            Event::Item(ItemEvent::Started { kind, .. }) => Some(*kind),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [TextKind::Thinking, TextKind::Answer]);
}

// --- any order of anything

#[derive(Debug, Clone)]
enum Act {
    Submit,
    Interrupt,
    CancelCall(u8),
    Hand,
    Unqueue,
    Prepare,
    Think,
    Say,
    Call(u8, u8),
    CutOff,
    Malformed,
    Complete(bool),
    OffFormat,
    Finish(bool),
    Fail(u8),
    Check(u8, u8),
    Signal(u8, u8),
    Answer(u8, u8),
    Late(u8),
    Amend(u8),
    Asked,
    Withdraw(u8),
    Verify(u8, bool),
    Timer(u8),
    Stale(u8),
    Tools,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => Just(Act::Submit),
        1 => Just(Act::Interrupt),
        1 => any::<u8>().prop_map(Act::CancelCall),
        1 => Just(Act::Hand),
        1 => Just(Act::Unqueue),
        8 => Just(Act::Prepare),
        4 => Just(Act::Think),
        4 => Just(Act::Say),
        8 => (0_u8..4, 0_u8..3).prop_map(|(a, b)| Act::Call(a, b)),
        1 => Just(Act::CutOff),
        1 => Just(Act::Malformed),
        1 => any::<bool>().prop_map(Act::Complete),
        1 => Just(Act::OffFormat),
        8 => any::<bool>().prop_map(Act::Finish),
        2 => any::<u8>().prop_map(Act::Fail),
        14 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Act::Check(a, b)),
        14 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Act::Signal(a, b)),
        14 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Act::Answer(a, b)),
        2 => any::<u8>().prop_map(Act::Late),
        3 => any::<u8>().prop_map(Act::Amend),
        2 => Just(Act::Asked),
        1 => any::<u8>().prop_map(Act::Withdraw),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(a, b)| Act::Verify(a, b)),
        3 => any::<u8>().prop_map(Act::Timer),
        1 => any::<u8>().prop_map(Act::Stale),
        1 => Just(Act::Tools),
    ];
    proptest::collection::vec(act, 1..120)
}

fn pick<T: Copy>(items: &[T], n: u8) -> Option<T> {
    if items.is_empty() { None } else { Some(items[usize::from(n) % items.len()]) }
}

impl World {
    fn act(&mut self, act: Act) {
        match act {
            Act::Submit => drop(self.op(Op::Submit { input: UserInput::text("t") })),
            Act::Interrupt => drop(self.op(Op::Interrupt)),
            Act::CancelCall(n) => {
                if let Some(call) = pick(&self.machine.desk.calls.all(), n) {
                    self.op(Op::CancelCall { call });
                }
            }
            Act::Hand => drop(self.op(Op::RunTool { tool: ToolId::builtin("a"), arguments: json!({}) })),
            Act::Unqueue => drop(self.op(Op::Unqueue)),
            Act::Prepare => {
                if let Some(turn) = self.preparing.pop() {
                    self.send(Input::Prepared { turn, environment: Some("e".into()) });
                }
            }
            Act::Think => self.model(ModelEvent::Thinking { text: "t".into() }),
            Act::Say => self.answer_text("a"),
            Act::Call(name, n) => self.call(["a", "b", "write", "ask"][usize::from(name)], u64::from(n)),
            Act::CutOff => self.propose("a", Arguments::CutOff { text: "{".into() }),
            Act::Malformed => self.propose("a", Arguments::Malformed { text: "{".into(), problem: "p".into() }),
            Act::Complete(with) => self.model(ModelEvent::Completion { command: with.then(|| "c".into()) }),
            Act::OffFormat => self.model(ModelEvent::OffFormat { reminder: "r".into() }),
            Act::Finish(length) => {
                let reason = if length { FinishReason::Length } else { FinishReason::Stop };
                self.model(ModelEvent::Finished { reason });
            }
            Act::Fail(n) => {
                let kinds = [ModelErrorKind::Network, ModelErrorKind::Auth, ModelErrorKind::Cut];
                self.model(ModelEvent::Failed { error: error(kinds[usize::from(n) % 3]) });
            }
            Act::Check(n, kind) => self.act_check(n, kind),
            Act::Signal(n, kind) => self.act_signal(n, kind),
            Act::Answer(n, kind) => self.act_answer(n, kind),
            Act::Late(n) => {
                let closed: Vec<PromptId> = self.closed.iter().copied().collect();
                if let Some(prompt) = pick(&closed, n) {
                    let effects =
                        self.op(Op::Answer { prompt, answer: Answer::Approve { scope: Scope::Once, version: None } });
                    assert_eq!(effects, [], "an answer for a closed prompt changes something");
                }
            }
            Act::Amend(n) => {
                let open: Vec<PromptId> = self.prompts.keys().copied().collect();
                if let Some(prompt) = pick(&open, n) {
                    self.op(Op::Amend { prompt, arguments: json!({ "n": 99 }) });
                }
            }
            Act::Asked => {
                self.asks += 1;
                let form = FormRequest { server: "s".into(), message: String::new(), form: Form::default() };
                let call = self.running.first().copied();
                let kind = PromptKind::Form(form);
                self.send(Input::Asked { ask: AskId(self.asks), call, kind, expires: Duration::from_secs(1) });
            }
            Act::Withdraw(n) => {
                if self.asks > 0 {
                    let ask = AskId(u64::from(n) % self.asks + 1);
                    self.send(Input::AskWithdrawn { ask });
                }
            }
            Act::Verify(n, good) => {
                if let Some(prompt) = pick(&self.verifying, n) {
                    self.verifying.retain(|p| *p != prompt);
                    let bad = (String::new(), crate::domain::form::FieldError::Required);
                    self.send(Input::Verified { prompt, problems: if good { Vec::new() } else { vec![bad] } });
                }
            }
            Act::Timer(n) => {
                let timers: Vec<TimerId> = self.timers.iter().copied().collect();
                if let Some(timer) = pick(&timers, n) {
                    self.timers.remove(&timer);
                    self.send(Input::Timer(timer));
                }
            }
            Act::Tools => drop(self.send(Input::ToolsChanged { server: "s".into() })),
            Act::Stale(n) => {
                if let Some(call) = pick(&self.running, n) {
                    self.running.retain(|c| *c != call);
                    self.send(Input::Tool { call, signal: ToolSignal::Stale });
                }
            }
        }
    }

    fn act_check(&mut self, n: u8, kind: u8) {
        let Some((call, round)) = pick(&self.checks, n) else { return };
        self.checks.retain(|c| *c != (call, round));
        let name = self.machine.to_check(call).map(|(c, _)| c.asked.clone()).unwrap_or_default();
        let found = match kind % 5 {
            0 => Found::Invalid { message: "m".into(), problems: Vec::new() },
            1 => {
                let Found::Ready { check, .. } = ready(&name, ask()) else { return };
                Found::Denied { check, message: "m".into() }
            }
            2 => ready(&name, allow()),
            _ => ready(&name, ask()),
        };
        self.send(Input::Checked { call, round, found });
    }

    fn act_signal(&mut self, n: u8, kind: u8) {
        let Some(call) = pick(&self.running, n) else { return };
        let signal = match kind % 6 {
            0 => ToolSignal::Started,
            1 => ToolSignal::Suspended,
            2 => ToolSignal::Finished(ToolOutcome::failed("f")),
            3 => ToolSignal::Finished(ToolOutcome::Interrupted),
            _ => ToolSignal::Finished(ToolOutcome::text("ok")),
        };
        self.send(Input::Tool { call, signal });
    }

    fn act_answer(&mut self, n: u8, kind: u8) {
        let open: Vec<PromptId> = self.prompts.keys().copied().collect();
        let Some(prompt) = pick(&open, n) else { return };
        let answer = match kind % 9 {
            0 => Answer::Approve { scope: Scope::Once, version: None },
            1 => Answer::Approve { scope: Scope::Always, version: None },
            2 => Answer::Reject { reason: None },
            3 => Answer::ByHand { text: "h".into() },
            4 => Answer::Submit { values: serde_json::Map::new() },
            5 => Answer::Choose(Choose::Continue),
            6 => Answer::Choose(Choose::Hint { text: "h".into() }),
            7 => Answer::Choose(Choose::Stop),
            _ => Answer::Cancel,
        };
        self.op(Op::Answer { prompt, answer });
    }

    /// Ends everything: whatever the order before, the machine comes to rest.
    fn rest(&mut self) {
        for _ in 0..3 {
            self.op(Op::Shutdown);
            while let Some(call) = self.running.first().copied() {
                self.send(Input::Tool { call, signal: ToolSignal::Finished(ToolOutcome::Interrupted) });
            }
        }
        assert!(self.machine.is_idle(), "{:?}", self.machine.phase);
        assert!(self.prompts.values().all(|p| matches!(p.kind, PromptKind::Trust(_))), "{:?}", self.prompts);
        self.whole_history();
        for step in self.machine.conversation().turns.iter().flat_map(|t| &t.steps) {
            assert!(step.end.is_some());
            for (call, outcome) in step.calls() {
                assert_eq!(outcome, self.outcomes.get(&call.id), "every call has exactly one outcome");
            }
        }
        assert_eq!(&self.replayed(), self.machine.conversation());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn whatever_happens_in_whatever_order(acts in acts()) {
        let mut world = World::new();
        for act in acts {
            world.act(act);
        }
        world.rest();
    }
}
