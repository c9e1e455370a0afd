//! What is answered when nobody is there to ask.
//!
//! Owns what the user said beforehand: which calls are approved, the answers to forms, what a form gets that has none. **Invariant:** what the user did not
//! allow is refused, and the model is told why.

use super::answers::{Answers, Given};
use crate::domain::policy::Verdict;
use crate::domain::prompt::{
    Answer, Approval, Choose, Decision, FormRequest, LinkRequest, Prompt, PromptKind, Question, Scope,
};
use crate::domain::tool::{Origin, Risk};
use crate::domain::{Phrase, ToolId};

/// Which calls that would ask are approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Approve {
    /// None.
    #[default]
    None,
    /// Those that only read: built-in readers, and tools whose server says so of them.
    ReadOnly,
    /// All.
    All,
}

/// What a server's question gets that has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Elicit {
    /// No.
    Decline,
    /// Neither yes nor no.
    #[default]
    Cancel,
}

impl Elicit {
    fn answer(self) -> Answer {
        match self {
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        }
    }
}

/// Replies that break off in one run before it is given up.
const CUTS: u32 = 3;

/// Why a call is refused; for the model.
const REFUSED: &str = "Nobody is here to allow it: this task runs unattended, and what would have to be asked for is refused. Do not ask for it again. \
     Go on without it; if that is not possible, end the task and say what you would have needed.";

/// Why a question has no answer; for the model.
const UNANSWERED: &str = "Nobody is here to answer: this task runs unattended. Decide for yourself, or end the task and say what you would have to know.";

/// An answer, with what is said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// For the agent.
    pub answer: Answer,
    /// For the user; `None` where the events say enough.
    pub said: Option<Phrase>,
    /// Why the task is ended by it, where nothing else says so.
    pub stops: Option<Phrase>,
}

impl Reply {
    fn of(answer: Answer) -> Self {
        Self { answer, said: None, stops: None }
    }

    fn saying(self, said: Phrase) -> Self {
        Self { said: Some(said), ..self }
    }

    fn stopping(why: Phrase) -> Self {
        Self { stops: Some(why), ..Self::of(Answer::Choose(Choose::Stop)) }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct StandIn {
    approve: Approve,
    elicit: Elicit,
    answers: Answers,
    cuts: u32,
}

impl StandIn {
    /// What the user said.
    pub fn new(approve: Approve, elicit: Elicit, answers: Answers) -> Self {
        Self { approve, elicit, answers, cuts: 0 }
    }

    /// Answers what waits. `tool`: the one whose call asks. `None`: it goes on by itself.
    pub fn answer(&mut self, prompt: &Prompt, tool: Option<&ToolId>) -> Option<Reply> {
        match &prompt.kind {
            PromptKind::Approval(approval) => Some(Reply::of(self.approval(approval))),
            PromptKind::Form(form) => Some(self.form(form, tool)),
            PromptKind::Link(link) => Some(self.link(link)),
            PromptKind::Question(question) => Some(self.question(question)),
            PromptKind::Decision(decision) => self.decision(decision),
            PromptKind::Trust(_) => Some(Reply::of(Answer::Trust { yes: false })),
        }
    }

    fn approval(&self, approval: &Approval) -> Answer {
        if self.covers(approval) {
            Answer::Approve { scope: Scope::Once, version: Some(approval.version) }
        } else {
            Answer::Reject { reason: Some(REFUSED.to_owned()) }
        }
    }

    fn covers(&self, approval: &Approval) -> bool {
        // The loop asks about some calls though a rule of the user allows them.
        let allowed = matches!(approval.check.verdict, Verdict::Allow { .. });
        let (spec, recovered) = (&approval.spec, approval.call.origin == Origin::Recovered);
        let reads = match spec.risk {
            Risk::Read => true,
            Risk::External => spec.annotations.read_only == Some(true) && spec.annotations.destructive != Some(true),
            Risk::Write | Risk::Command | Risk::Question => false,
        };
        match self.approve {
            Approve::All => true,
            Approve::ReadOnly => !recovered && (allowed || reads),
            Approve::None => !recovered && allowed,
        }
    }

    fn form(&mut self, form: &FormRequest, tool: Option<&ToolId>) -> Reply {
        let name = tool.map(|tool| &*tool.name);
        let answer = match self.answers.form(form.server.as_str(), name, &form.form) {
            Some(Given::Fields(values)) => Answer::Submit { values },
            Some(Given::Decline) => Answer::Decline,
            Some(Given::Cancel) => Answer::Cancel,
            None => {
                let said = Phrase::new("run.form_unanswered")
                    .with("server", &form.server)
                    .with("tool", name.unwrap_or("*"))
                    .with("message", &form.message);
                return Reply::of(self.elicit.answer()).saying(said);
            }
        };
        let said = Phrase::new("run.form_answered").with("server", &form.server).with("message", &form.message);
        Reply::of(answer).saying(said)
    }

    /// What a form gets whose answer did not satisfy its server.
    pub fn instead(&self) -> Answer {
        self.elicit.answer()
    }

    fn link(&self, link: &LinkRequest) -> Reply {
        let said = Phrase::new("run.link").with("server", &link.server).with("url", &link.url);
        Reply::of(self.elicit.answer()).saying(said)
    }

    fn question(&mut self, question: &Question) -> Reply {
        let Some(text) = self.answers.question() else {
            let said = Phrase::new("run.question_unanswered").with("question", &question.text);
            return Reply::of(Answer::Reject { reason: Some(UNANSWERED.to_owned()) }).saying(said);
        };
        let said = Phrase::new("run.question_answered").with("question", &question.text).with("answer", &text);
        Reply::of(Answer::Text { text }).saying(said)
    }

    fn decision(&mut self, decision: &Decision) -> Option<Reply> {
        match decision {
            // It goes ahead when its time has come.
            Decision::Retry { .. } => None,
            Decision::StreamCut { .. } if self.cuts < CUTS => {
                self.cuts += 1;
                Some(Reply::of(Answer::Choose(Choose::Continue)).saying(Phrase::new("run.again")))
            }
            Decision::StreamCut { .. } | Decision::GaveUp { .. } | Decision::StepLimit { .. } => {
                Some(Reply::of(Answer::Choose(Choose::Stop)))
            }
            Decision::Repeated { tool, times } => {
                Some(Reply::stopping(Phrase::new("run.repeated").with("tool", tool).with("times", times)))
            }
            Decision::OffFormat => Some(Reply::stopping(Phrase::new("run.off_format"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::form::Form;
    use crate::domain::model::{ModelError, ModelErrorKind};
    use crate::domain::policy::{Check, Preview};
    use crate::domain::tool::{Annotations, ToolSpec};
    use crate::domain::{CallId, PromptId, ToolCall};
    use serde_json::json;
    use std::sync::Arc;

    fn ask(risk: Risk, read_only: Option<bool>, origin: Origin) -> Prompt {
        let id = ToolId::builtin("t");
        let call = ToolCall {
            id: CallId(1),
            provider_id: None,
            asked: "t".into(),
            tool: Some(id.clone()),
            arguments: json!({}),
            origin,
        };
        let spec = ToolSpec {
            id,
            title: None,
            description: String::new(),
            input_schema: Arc::new(json!({})),
            output_schema: None,
            annotations: Annotations { read_only, ..Annotations::default() },
            risk,
            hash: "".into(),
        };
        let verdict = Verdict::Ask { why: Phrase::new("policy.external") };
        let check = Check { verdict, warnings: Vec::new(), preview: Preview::Arguments, grant: None };
        let approval = Approval { call, spec: Arc::new(spec), check, form: Form::default(), problems: Vec::new() };
        let kind = PromptKind::Approval(Box::new(approval));
        Prompt { id: PromptId(1), call: Some(CallId(1)), step: None, kind, expires_ms: None }
    }

    #[test]
    fn only_what_was_allowed_is_approved() {
        let approves = |approve, prompt: &Prompt| {
            let reply = StandIn::new(approve, Elicit::Cancel, Answers::default()).answer(prompt, None).unwrap();
            match reply.answer {
                Answer::Approve { scope, .. } => scope == Scope::Once,
                Answer::Reject { reason } => {
                    assert!(reason.unwrap().contains("unattended"));
                    false
                }
                other => panic!("{other:?}"),
            }
        };
        let native = Origin::Native;
        for (risk, hint, origin, read_only, all) in [
            (Risk::Read, None, native, true, true),
            (Risk::Write, Some(true), native, false, true),
            (Risk::Command, None, native, false, true),
            (Risk::External, Some(true), native, true, true),
            (Risk::External, Some(false), native, false, true),
            (Risk::External, None, native, false, true),
            (Risk::External, Some(true), Origin::Recovered, false, true),
        ] {
            let prompt = ask(risk, hint, origin);
            assert!(!approves(Approve::None, &prompt), "{risk:?}");
            assert_eq!(approves(Approve::ReadOnly, &prompt), read_only, "{risk:?} {hint:?} {origin:?}");
            assert_eq!(approves(Approve::All, &prompt), all, "{risk:?}");
        }
    }

    #[test]
    fn a_broken_stream_is_not_taken_up_for_ever() {
        let error = ModelError { kind: ModelErrorKind::Cut, message: "x".into(), status: None, retry_after_ms: None };
        let mut stand_in = StandIn::default();
        let mut decide = |decision| stand_in.decision(&decision).map(|reply| reply.answer);
        for _ in 0..CUTS {
            let cut = Decision::StreamCut { error: error.clone() };
            assert_eq!(decide(cut), Some(Answer::Choose(Choose::Continue)));
        }
        assert_eq!(decide(Decision::StreamCut { error: error.clone() }), Some(Answer::Choose(Choose::Stop)));
        assert_eq!(decide(Decision::Retry { attempt: 1, of: 5, error }), None);
    }

    #[test]
    fn every_phrase_has_its_text() {
        let mut stand_in = StandIn::default();
        let form = FormRequest { server: "s".into(), message: "m".into(), form: Form::default() };
        let link = LinkRequest { server: "s".into(), message: "m".into(), url: "u".into() };
        let question = Question { text: "q".into(), options: Vec::new() };
        let replies = [
            Some(stand_in.form(&form, None)),
            Some(stand_in.link(&link)),
            Some(stand_in.question(&question)),
            stand_in.decision(&Decision::OffFormat),
            stand_in.decision(&Decision::Repeated { tool: "t".into(), times: 3 }),
        ];
        for reply in replies.into_iter().flatten() {
            for phrase in reply.said.iter().chain(&reply.stops) {
                assert_eq!(crate::strings::lacks(phrase), Vec::<String>::new());
            }
        }
    }
}
