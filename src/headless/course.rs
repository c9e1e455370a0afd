//! What becomes of the task: its calls, its answer, its end.
//!
//! Owns what is kept of the events for the end of the run. Pure: events in, facts out.

use crate::contract::event::TextKind;
use crate::contract::{Event, ItemEvent, ModelInfo, SessionEvent, ToolEvent, TurnEvent};
use crate::domain::policy::{Check, Verdict};
use crate::domain::server::{ServerSignal, ServerStatus};
use crate::domain::{
    CallId, ItemId, Phrase, ServerName, SessionId, StepEnd, StepId, ToolCall, ToolId, ToolOutcome, TurnEnd, Usage,
};
use std::collections::BTreeMap;

/// How the task ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It is done.
    Done,
    /// A call was refused, and no later one succeeded.
    Refused,
    /// The model or the task failed.
    Failed(Phrase),
    /// It took all its steps.
    StepLimit,
    /// It was interrupted.
    Interrupted,
}

impl End {
    /// The exit status.
    pub fn status(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed(_) => 1,
            Self::Refused => 3,
            Self::StepLimit => 4,
            Self::Interrupted => 130,
        }
    }

    /// Its name in the output.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Refused => "refused",
            Self::StepLimit => "step_limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A call and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// Its step.
    pub step: StepId,
    /// The call.
    pub call: ToolCall,
    /// What was found out about it.
    pub check: Option<Box<Check>>,
    /// Its outcome.
    pub outcome: Option<ToolOutcome>,
}

impl Called {
    /// Why it asks or is denied.
    pub fn why(&self) -> Option<&Phrase> {
        match &self.check.as_ref()?.verdict {
            Verdict::Ask { why } | Verdict::Deny { why } => Some(why),
            Verdict::Allow { .. } => None,
        }
    }
}

/// Whether something was told before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It was not.
    Fresh,
    /// It was.
    Old,
}

#[derive(Debug)]
struct Said {
    item: ItemId,
    kind: TextKind,
    text: String,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Course {
    /// The session's id.
    pub session: Option<SessionId>,
    /// The model that works.
    pub model: ModelInfo,
    /// All tokens used.
    pub usage: Usage,
    /// Steps begun.
    pub steps: u32,
    /// Servers that have failed, and whether that is news.
    pub failed: BTreeMap<ServerName, News>,
    /// All calls, in order.
    pub calls: Vec<Called>,
    /// What was wrong with the last step, if it could not be used.
    pub cut: Option<Phrase>,
    /// Texts of the step that is under way.
    said: Vec<Said>,
    answer: Option<String>,
    refused: Option<StepId>,
    succeeded: Option<StepId>,
    stopped: Option<Phrase>,
    end: Option<TurnEnd>,
}

impl Course {
    /// Takes in what happened.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Session(SessionEvent::Opened { id, .. }) => self.session = Some(id.clone()),
            Event::Session(SessionEvent::Model { model }) => self.model = model.clone(),
            Event::Session(SessionEvent::Context { total, .. }) => self.usage = *total,
            Event::Turn(event) => self.turn(event),
            Event::Item(event) => self.item(event),
            Event::Tool(event) => self.tool(event),
            Event::Server(ServerSignal::Status(status)) => self.server(status),
            _ => {}
        }
    }

    fn turn(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::StepStarted { .. } => {
                self.steps += 1;
                self.said.clear();
            }
            TurnEvent::StepEnded { end, .. } => {
                let said = std::mem::take(&mut self.said);
                self.cut = if let StepEnd::Cut { problem } = end { Some(problem.clone()) } else { None };
                let texts: Vec<String> = said
                    .into_iter()
                    .filter(|said| said.kind == TextKind::Answer && !said.text.trim().is_empty())
                    .map(|said| said.text)
                    .collect();
                if *end == StepEnd::Complete && !texts.is_empty() {
                    self.answer = Some(texts.join("\n\n"));
                }
            }
            TurnEvent::Ended { end, .. } => self.end = Some(end.clone()),
            TurnEvent::Started { .. } | TurnEvent::Holding { .. } | TurnEvent::Alive { .. } => {}
        }
    }

    fn server(&mut self, status: &ServerStatus) {
        if status.state.is_failed() {
            let before = self.failed.get(&status.name).copied();
            let news = if before.is_some() { News::Old } else { News::Fresh };
            self.failed.insert(status.name.clone(), news);
        } else {
            self.failed.remove(&status.name);
        }
    }

    fn item(&mut self, event: &ItemEvent) {
        match event {
            ItemEvent::Started { item, kind, .. } => {
                self.said.push(Said { item: *item, kind: *kind, text: String::new() });
            }
            ItemEvent::Delta { item, text } => {
                if let Some(said) = self.said.iter_mut().rfind(|said| said.item == *item) {
                    said.text.push_str(text);
                }
            }
            ItemEvent::Finished { .. } => {}
        }
    }

    fn tool(&mut self, event: &ToolEvent) {
        match event {
            ToolEvent::Proposed { step, call, .. } => {
                self.calls.push(Called { step: *step, call: call.clone(), check: None, outcome: None });
            }
            ToolEvent::Checked { call, check } => {
                if let Some(called) = self.called_mut(*call) {
                    called.check = Some(check.clone());
                }
            }
            ToolEvent::Finished { call, outcome } => {
                let Some(called) = self.called_mut(*call) else { return };
                called.outcome = Some(outcome.clone());
                let step = called.step;
                match outcome {
                    ToolOutcome::Rejected { .. } => self.refused = self.refused.max(Some(step)),
                    ToolOutcome::Done { is_error: false, .. } => self.succeeded = self.succeeded.max(Some(step)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn called_mut(&mut self, id: CallId) -> Option<&mut Called> {
        self.calls.iter_mut().rfind(|called| called.call.id == id)
    }

    /// A call.
    pub fn called(&self, id: CallId) -> Option<&Called> {
        self.calls.iter().rfind(|called| called.call.id == id)
    }

    /// The tool that a call runs.
    pub fn tool_of(&self, id: CallId) -> Option<&ToolId> {
        self.called(id)?.call.tool.as_ref()
    }

    /// A call's question had an answer that was no good: as if the call had been refused.
    pub fn badly_answered(&mut self, call: Option<CallId>) {
        let step = call.and_then(|call| self.called(call)).map(|called| called.step);
        self.refused = self.refused.max(step);
    }

    /// The turn is being ended for this reason.
    pub fn stopped(&mut self, why: Phrase) {
        self.stopped = Some(why);
    }

    /// Whether the turn has ended.
    pub fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// The model's last word to the user: the text of the last reply that had one.
    pub fn answer(&self) -> Option<&str> {
        self.answer.as_deref()
    }

    /// How it ended.
    pub fn end(&self) -> End {
        let refused = self.refused.is_some() && self.succeeded <= self.refused;
        match &self.end {
            Some(TurnEnd::Done | TurnEnd::Stopped) if refused => End::Refused,
            Some(TurnEnd::Done) => End::Done,
            Some(TurnEnd::Stopped) => End::Failed(self.stopped.clone().unwrap_or_else(|| Phrase::new("run.stopped"))),
            Some(TurnEnd::StepLimit) => End::StepLimit,
            Some(TurnEnd::Failed { problem }) => End::Failed(problem.clone()),
            Some(TurnEnd::Interrupted) => End::Interrupted,
            None => End::Failed(Phrase::new("run.agent_ended")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Origin, TurnId};
    use serde_json::json;

    fn call(course: &mut Course, step: u64, id: u64, outcome: ToolOutcome) {
        let call = ToolCall {
            id: CallId(id),
            provider_id: None,
            asked: "t".into(),
            tool: None,
            arguments: json!({}),
            origin: Origin::Native,
        };
        course.event(&ToolEvent::Proposed { step: StepId(step), call, spec: None }.into());
        course.event(&ToolEvent::Finished { call: CallId(id), outcome }.into());
    }

    fn ended(mut course: Course, end: TurnEnd) -> End {
        course.event(&TurnEvent::Ended { turn: TurnId(1), end }.into());
        course.end()
    }

    #[test]
    fn a_refusal_counts_unless_a_later_call_succeeds() {
        let refused = || ToolOutcome::Rejected { reason: None };
        let mut course = Course::default();
        call(&mut course, 1, 10, refused());
        call(&mut course, 1, 11, ToolOutcome::text("in the same reply"));
        call(&mut course, 2, 12, ToolOutcome::failed("no"));
        assert_eq!(ended(course, TurnEnd::Done), End::Refused);

        let mut course = Course::default();
        call(&mut course, 1, 10, refused());
        call(&mut course, 2, 11, ToolOutcome::text("another way"));
        assert_eq!(ended(course, TurnEnd::Done), End::Done);

        let mut course = Course::default();
        call(&mut course, 1, 10, ToolOutcome::text("asked for an answer"));
        course.badly_answered(Some(CallId(10)));
        assert_eq!(ended(course, TurnEnd::Done), End::Refused);

        let mut course = Course::default();
        call(&mut course, 1, 10, refused());
        assert_eq!(ended(course, TurnEnd::StepLimit), End::StepLimit);
        assert_eq!(ended(Course::default(), TurnEnd::Done), End::Done);
        assert_eq!(Course::default().end().status(), 1, "the agent ended without a word");
    }

    #[test]
    fn the_answer_is_the_last_whole_reply_that_has_one() {
        let mut course = Course::default();
        let mut reply = |step: u64, texts: &[(TextKind, &str)], end: StepEnd| {
            let step = StepId(step);
            course.event(&TurnEvent::StepStarted { turn: TurnId(1), step, number: 1 }.into());
            for (n, (kind, text)) in texts.iter().enumerate() {
                let item = ItemId(step.0 * 10 + n as u64);
                course.event(&ItemEvent::Started { item, step, kind: *kind }.into());
                for piece in text.split_inclusive(' ') {
                    course.event(&ItemEvent::Delta { item, text: piece.into() }.into());
                }
            }
            course.event(&TurnEvent::StepEnded { step, end, reason: None, usage: Usage::default() }.into());
        };
        reply(1, &[(TextKind::Thinking, "hm"), (TextKind::Answer, "let me see")], StepEnd::Complete);
        reply(2, &[(TextKind::Answer, "it is"), (TextKind::Answer, "so and so")], StepEnd::Complete);
        reply(3, &[(TextKind::Answer, "half a th")], StepEnd::Interrupted);
        reply(4, &[(TextKind::Thinking, "done")], StepEnd::Complete);
        assert_eq!(course.answer(), Some("it is\n\nso and so"));
        assert_eq!(course.steps, 4);
    }
}
