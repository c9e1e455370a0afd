//! The desk: calls on their way to an outcome, and everything that waits for the user.
//!
//! Owns open calls and open prompts. Does not know turns: it is told of a step's calls and asked whether they are all settled.

use super::calls::{Calls, Stand};
use super::io::{Effect, Entry, Found, Reply};
use super::ledger::{Ledger, Outbox};
use super::prompts::{About, Prompts, Wish};
use crate::contract::{PromptEvent, ToolEvent};
use crate::domain::error::Phrase;
use crate::domain::form::FieldError;
use crate::domain::policy::Verdict;
use crate::domain::prompt::{Answer, Approval, Closed, Prompt, PromptKind, Question, Scope, TrustRequest};
use crate::domain::tool::Risk;
use crate::domain::{AskId, CallId, PromptId, ServerName, StepId, TimerId, ToolOutcome, ToolSignal};
use serde_json::Value;
use std::time::Duration;

/// Longest question of a model, longest proposed answer (characters), and most of those.
const QUESTION: usize = 16 * 1024;
const OPTION: usize = 2_000;
const OPTIONS: usize = 100;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub calls: Calls,
    pub prompts: Prompts,
}

impl Desk {
    // --- prompts

    /// Registers a prompt, then announces it.
    pub fn open(
        &mut self,
        kind: PromptKind,
        about: About,
        belongs: (Option<CallId>, Option<StepId>),
        expires: Option<Duration>,
        ledger: &mut Ledger,
        out: &mut Outbox,
    ) -> PromptId {
        let id = PromptId(ledger.ids.next());
        let timer = expires.map(|_| TimerId(ledger.ids.next()));
        self.prompts.add(id, about, timer);
        if let (Some(timer), Some(after)) = (timer, expires) {
            out.push(Effect::Arm { timer, after });
        }
        let expires_ms = expires.map(|d| d.as_millis().min(u128::from(u64::MAX)) as u64);
        let (call, step) = belongs;
        out.emit(PromptEvent::Opened { prompt: Prompt { id, call, step, kind, expires_ms } });
        id
    }

    /// Closes a prompt: its timer is disarmed and everybody told. Returns what it was about.
    pub fn close(&mut self, id: PromptId, why: Closed, out: &mut Outbox) -> Option<About> {
        let open = self.prompts.remove(id)?;
        if let Some(timer) = open.timer {
            out.push(Effect::Disarm { timer });
        }
        out.emit(PromptEvent::Closed { prompt: id, why });
        Some(open.about)
    }

    // --- calls

    /// Looks at a call (again).
    pub fn check(&mut self, call: CallId, out: &mut Outbox) {
        let Some(open) = self.calls.get_mut(call) else { return };
        open.round += 1;
        if !matches!(open.stand, Stand::Asking(_)) {
            open.stand = Stand::Checking;
        }
        out.push(Effect::Check { call, round: open.round });
    }

    /// Takes what was found about a call.
    pub fn checked(&mut self, call: CallId, round: u32, found: Found, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(open) = self.calls.get_mut(call) else { return };
        if open.round != round || !matches!(open.stand, Stand::Checking | Stand::Asking(_)) {
            return;
        }
        open.seen = round;
        let amendment = open.amendment.take();
        match (open.stand, amendment) {
            (Stand::Asking(prompt), Some(arguments)) => self.amended(call, prompt, arguments, found, ledger, out),
            (Stand::Asking(prompt), None) => self.rechecked(call, prompt, found, ledger, out),
            _ => self.first_checked(call, found, ledger, out),
        }
    }

    fn first_checked(&mut self, call: CallId, found: Found, ledger: &mut Ledger, out: &mut Outbox) {
        let (spec, check, form) = match found {
            Found::Ready { spec, check, form } => (spec, check, form),
            other => return self.refused(call, other, ledger, out),
        };
        let Some(open) = self.calls.get_mut(call) else { return };
        let as_before = open.allowed.take().is_some_and(|(hash, before)| hash == spec.hash && before == check);
        let allowed = as_before || (matches!(check.verdict, Verdict::Allow { .. }) && !open.always_ask);
        let question = spec.risk == Risk::Question;
        open.found = Some((spec, check.clone(), form));
        out.emit(ToolEvent::Checked { call, check });
        if question {
            self.ask_question(call, ledger, out);
        } else if allowed {
            self.ready(call);
        } else {
            self.ask_approval(call, ledger, out);
        }
    }

    /// A call that cannot or may not run gets its outcome.
    fn refused(&mut self, call: CallId, found: Found, ledger: &mut Ledger, out: &mut Outbox) {
        match found {
            Found::Invalid { message, .. } => self.settle(call, ToolOutcome::failed(message), ledger, out),
            Found::Denied { check, message } => {
                out.emit(ToolEvent::Checked { call, check });
                self.settle(call, ToolOutcome::Rejected { reason: Some(message) }, ledger, out);
            }
            Found::Ready { .. } => {}
        }
    }

    /// The user's own edit was checked: the card shows the new state, or the form what is wrong with it. It always goes on waiting.
    fn amended(
        &mut self,
        call: CallId,
        prompt: PromptId,
        arguments: Value,
        found: Found,
        ledger: &mut Ledger,
        out: &mut Outbox,
    ) {
        let (spec, check, form) = match found {
            Found::Ready { spec, check, form } => (spec, check, form),
            Found::Invalid { message, problems } => {
                let problems = if problems.is_empty() { whole(message) } else { problems };
                return out.emit(PromptEvent::Refused { prompt, problems });
            }
            Found::Denied { message, .. } => {
                return out.emit(PromptEvent::Refused { prompt, problems: whole(message) });
            }
        };
        if let Some((call, _)) = ledger.conversation.call_mut(call) {
            call.arguments.clone_from(&arguments);
            out.record(Entry::Call { call: call.id, tool: call.tool.clone(), arguments });
        }
        if let Some(open) = self.calls.get_mut(call) {
            open.found = Some((spec, check.clone(), form));
            open.version += 1;
        }
        out.emit(ToolEvent::Checked { call, check });
        self.show_anew(call, prompt, ledger, out);
    }

    /// Shows a waiting call as it stands now.
    fn show_anew(&self, call: CallId, prompt: PromptId, ledger: &Ledger, out: &mut Outbox) {
        if let Some(approval) = self.approval(call, ledger) {
            out.emit(PromptEvent::Amended { prompt, approval: Box::new(approval) });
        }
    }

    /// A waiting call was checked anew because something around it changed: a file was written, a grant was given, its tool's definition is another.
    fn rechecked(&mut self, call: CallId, prompt: PromptId, found: Found, ledger: &mut Ledger, out: &mut Outbox) {
        let (spec, check, form) = match found {
            Found::Ready { spec, check, form } => (spec, check, form),
            other => {
                self.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.no_longer") }, out);
                return self.refused(call, other, ledger, out);
            }
        };
        let Some(open) = self.calls.get_mut(call) else { return };
        let allowed = matches!(check.verdict, Verdict::Allow { .. }) && !open.always_ask;
        let before = open.found.as_ref();
        let same = before.is_some_and(|(tool, before, _)| *before == check && tool.hash == spec.hash);
        open.found = Some((spec, check.clone(), form));
        if allowed {
            self.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.granted") }, out);
            self.ready(call);
        } else if !same {
            open.version += 1;
            out.emit(ToolEvent::Checked { call, check });
            self.show_anew(call, prompt, ledger, out);
        }
    }

    fn approval(&self, call: CallId, ledger: &Ledger) -> Option<Approval> {
        let open = self.calls.get(call)?;
        let (spec, check, form) = open.found.clone()?;
        let call = ledger.call(call)?.clone();
        Some(Approval { call, spec, check: *check, form, problems: Vec::new(), version: open.version })
    }

    fn ask_approval(&mut self, call: CallId, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(approval) = self.approval(call, ledger) else { return };
        let kind = PromptKind::Approval(Box::new(approval));
        self.ask_about(call, kind, About::Approval(call), ledger, out);
    }

    fn ask_question(&mut self, call: CallId, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(arguments) = ledger.call(call).map(|c| c.arguments.clone()) else { return };
        let text = clipped(arguments.get("question").and_then(Value::as_str).unwrap_or_default(), QUESTION);
        let options = arguments.get("options").and_then(Value::as_array);
        let options = options.into_iter().flatten().filter_map(Value::as_str).take(OPTIONS);
        let options = options.map(|option| clipped(option, OPTION)).collect();
        let kind = PromptKind::Question(Question { text, options });
        self.ask_about(call, kind, About::Question(call), ledger, out);
    }

    fn ask_about(&mut self, call: CallId, kind: PromptKind, about: About, ledger: &mut Ledger, out: &mut Outbox) {
        let step = self.calls.get(call).map(|open| open.step);
        let prompt = self.open(kind, about, (Some(call), step), None, ledger, out);
        if let Some(open) = self.calls.get_mut(call) {
            open.stand = Stand::Asking(prompt);
        }
    }

    fn ready(&mut self, call: CallId) {
        if let Some(open) = self.calls.get_mut(call) {
            open.stand = Stand::Ready;
        }
    }

    /// Gives a call its outcome and takes it off the desk.
    pub fn settle(&mut self, call: CallId, outcome: ToolOutcome, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(open) = self.calls.remove(call) else { return };
        if let Stand::Asking(prompt) = open.stand {
            self.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.interrupted") }, out);
        }
        let wrote = open.found.is_some_and(|(spec, ..)| matches!(spec.risk, Risk::Write | Risk::Command));
        ledger.settle(call, outcome, out);
        if wrote {
            // What waits may have been inspected against files that are no longer as they were.
            for other in self.calls.asking(|spec| spec.risk == Risk::Write) {
                self.check(other, out);
            }
        }
    }

    /// Runs what may run now.
    pub fn pump(&mut self, out: &mut Outbox) {
        for call in self.calls.start_ready() {
            out.record(Entry::Started { call });
            out.push(Effect::Run { call });
        }
    }

    /// Takes news of a running call.
    pub fn signal(&mut self, call: CallId, signal: ToolSignal, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(open) = self.calls.get_mut(call) else { return };
        if !matches!(open.stand, Stand::Running | Stand::Stopping) {
            return;
        }
        match signal {
            ToolSignal::WaitingForServer { server } => out.emit(ToolEvent::WaitingForServer { call, server }),
            ToolSignal::Started => out.emit(ToolEvent::Started { call }),
            ToolSignal::Progress(progress) => out.emit(ToolEvent::Progress { call, progress }),
            ToolSignal::Output { text } => out.emit(ToolEvent::Output { call, text }),
            ToolSignal::Suspended => out.emit(ToolEvent::Suspended { call }),
            ToolSignal::Resumed => out.emit(ToolEvent::Resumed { call }),
            ToolSignal::Stale if open.stand == Stand::Stopping => {
                self.settle(call, ToolOutcome::Cancelled, ledger, out);
            }
            ToolSignal::Stale => self.check(call, out),
            ToolSignal::Finished(outcome) => self.settle(call, outcome, ledger, out),
        }
    }

    /// Calls a call off, wherever it stands.
    pub fn call_off(&mut self, call: CallId, ledger: &mut Ledger, out: &mut Outbox) {
        let Some(open) = self.calls.get_mut(call) else { return };
        match open.stand {
            Stand::Running => {
                open.stand = Stand::Stopping;
                out.push(Effect::Cancel { call });
            }
            Stand::Stopping => {}
            _ => self.settle(call, ToolOutcome::Cancelled, ledger, out),
        }
    }

    /// Gives every open call of a step the same outcome.
    pub fn settle_all(&mut self, step: StepId, outcome: &ToolOutcome, ledger: &mut Ledger, out: &mut Outbox) {
        for call in self.calls.of_step(step) {
            self.settle(call, outcome.clone(), ledger, out);
        }
    }

    /// Everything ends: servers get *cancel*, calls are called off.
    pub fn shut_down(&mut self, ledger: &mut Ledger, out: &mut Outbox) {
        for (prompt, ask) in self.prompts.asks() {
            self.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.interrupted") }, out);
            out.push(Effect::Reply { ask, reply: Reply::Cancel });
        }
        for call in self.calls.all() {
            self.call_off(call, ledger, out);
        }
    }

    // --- answers

    /// Takes an answer that is about a call, a server's question or a file. Decisions are not its business.
    pub fn answer(&mut self, prompt: PromptId, answer: Answer, ledger: &mut Ledger, out: &mut Outbox) {
        match self.prompts.about(prompt).cloned() {
            Some(About::Approval(call)) => self.answer_approval(prompt, call, answer, ledger, out),
            Some(About::Question(call)) => {
                let outcome = match &answer {
                    Answer::Text { text } => ToolOutcome::text(text.clone()),
                    Answer::Reject { reason } => ToolOutcome::Rejected { reason: reason.clone() },
                    Answer::Decline | Answer::Cancel => ToolOutcome::Rejected { reason: None },
                    _ => return,
                };
                self.close(prompt, Closed::Answered { answer }, out);
                self.settle(call, outcome, ledger, out);
            }
            Some(About::Ask { ask, wish, verifying: None }) => self.answer_ask(prompt, (ask, wish), answer, out),
            Some(About::Trust(file)) => {
                let yes = match answer {
                    Answer::Trust { yes } => yes,
                    Answer::Cancel | Answer::Decline => false,
                    _ => return,
                };
                self.close(prompt, Closed::Answered { answer: Answer::Trust { yes } }, out);
                out.push(Effect::Trust { file, yes });
            }
            Some(About::Ask { .. } | About::Decision) | None => {}
        }
    }

    fn answer_approval(
        &mut self,
        prompt: PromptId,
        call: CallId,
        answer: Answer,
        ledger: &mut Ledger,
        out: &mut Outbox,
    ) {
        match answer.clone() {
            Answer::Approve { scope, version } => {
                let Some(open) = self.calls.get_mut(call) else { return };
                if open.amendment.is_some() {
                    // What the user would approve is not what was last shown.
                    return;
                }
                if version.is_some_and(|seen| seen != open.version) {
                    // It changed while the answer was on its way.
                    out.emit(PromptEvent::Refused { prompt, problems: Vec::new() });
                    return self.show_anew(call, prompt, ledger, out);
                }
                let grant = open.found.as_ref().and_then(|(_, check, _)| check.grant.clone());
                if open.is_looked_at() {
                    // What it was approved for may be different by now; the look under way will tell.
                    open.stand = Stand::Checking;
                    open.allowed = open.found.as_ref().map(|(spec, check, _)| (spec.hash.clone(), check.clone()));
                } else {
                    open.stand = Stand::Ready;
                }
                self.close(prompt, Closed::Answered { answer }, out);
                if let (Some(grant), Scope::Session | Scope::Always) = (grant, scope) {
                    let tool = grant.tool.clone();
                    out.push(Effect::Remember { grant, scope });
                    for other in self.calls.asking(|spec| spec.id == tool) {
                        self.check(other, out);
                    }
                }
            }
            Answer::Reject { reason } => {
                self.close(prompt, Closed::Answered { answer }, out);
                self.settle(call, ToolOutcome::Rejected { reason }, ledger, out);
            }
            Answer::ByHand { text } => {
                self.close(prompt, Closed::Answered { answer }, out);
                self.settle(call, ToolOutcome::ByHand { text }, ledger, out);
            }
            _ => {}
        }
    }

    /// Changes the arguments of a call that waits for approval, if they prove good.
    pub fn amend(&mut self, prompt: PromptId, arguments: Value, out: &mut Outbox) {
        let Some(About::Approval(call)) = self.prompts.about(prompt).cloned() else { return };
        if let Some(open) = self.calls.get_mut(call) {
            open.amendment = Some(arguments);
            self.check(call, out);
        }
    }

    /// The definitions of a server's tools may be others now: calls of them that wait are looked at anew.
    pub fn tools_changed(&mut self, server: &ServerName, out: &mut Outbox) {
        for call in self.calls.asking(|spec| spec.id.server.as_ref() == Some(server)) {
            self.check(call, out);
        }
    }

    // --- servers' questions

    /// A server asks.
    pub fn asked(
        &mut self,
        ask: AskId,
        call: Option<CallId>,
        kind: PromptKind,
        expires: Duration,
        ledger: &mut Ledger,
        out: &mut Outbox,
    ) {
        let step = call.and_then(|call| self.calls.get(call)).map(|open| open.step);
        let wish = if matches!(kind, PromptKind::Link(_)) { Wish::Link } else { Wish::Form };
        self.open(kind, About::Ask { ask, wish, verifying: None }, (call, step), Some(expires), ledger, out);
    }

    /// A server no longer asks.
    pub fn ask_withdrawn(&mut self, ask: AskId, out: &mut Outbox) {
        if let Some(prompt) = self.prompts.by_ask(ask) {
            self.close(prompt, Closed::Withdrawn { why: Phrase::new("agent.server_withdrew") }, out);
        }
    }

    fn answer_ask(&mut self, prompt: PromptId, (ask, wish): (AskId, Wish), answer: Answer, out: &mut Outbox) {
        let reply = match (&answer, wish) {
            (Answer::Submit { values }, Wish::Form) => {
                if let Some(open) = self.prompts.get_mut(prompt) {
                    open.about = About::Ask { ask, wish, verifying: Some(values.clone()) };
                }
                out.push(Effect::Verify { prompt, ask, values: values.clone() });
                return;
            }
            // A link takes no values: it was visited.
            (Answer::Submit { .. }, Wish::Link) => Reply::Visited,
            (Answer::Decline, _) => Reply::Decline,
            (Answer::Cancel, _) => Reply::Cancel,
            _ => return,
        };
        self.close(prompt, Closed::Answered { answer }, out);
        out.push(Effect::Reply { ask, reply });
    }

    /// A submitted form was checked against the server's whole schema.
    pub fn verified(&mut self, prompt: PromptId, problems: Vec<(String, FieldError)>, out: &mut Outbox) {
        let Some(open) = self.prompts.get_mut(prompt) else { return };
        let About::Ask { ask, verifying, .. } = &mut open.about else { return };
        let (ask, Some(values)) = (*ask, verifying.take()) else { return };
        if problems.is_empty() {
            self.close(prompt, Closed::Answered { answer: Answer::Submit { values: values.clone() } }, out);
            out.push(Effect::Reply { ask, reply: Reply::Accept(values) });
        } else {
            out.emit(PromptEvent::Refused { prompt, problems });
        }
    }

    /// A prompt's time ran out. Returns what it was about when that is not the desk's business.
    pub fn expired(&mut self, prompt: PromptId, out: &mut Outbox) -> Option<About> {
        let about = self.close(prompt, Closed::Expired, out)?;
        if let About::Ask { ask, .. } = about {
            out.push(Effect::Reply { ask, reply: Reply::Cancel });
            return None;
        }
        Some(about)
    }

    /// A project's file asks to be trusted.
    pub fn trust_asked(&mut self, request: TrustRequest, ledger: &mut Ledger, out: &mut Outbox) {
        let about = About::Trust(request.file.clone());
        self.open(PromptKind::Trust(request), about, (None, None), None, ledger, out);
    }
}

fn clipped(text: &str, most: usize) -> String {
    text.char_indices().nth(most).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

fn whole(problem: String) -> Vec<(String, FieldError)> {
    vec![(String::new(), FieldError::Schema { problem })]
}
