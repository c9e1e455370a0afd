//! Which dialect a model is spoken to in when nobody chose one: native, then XML, then ReAct, on evidence.
//!
//! Owns: the evidence of this session, and what was learned about models before (through [`Memory`]). One step down follows when
//! - the provider refuses a request with tools (4xx, 501), refuses it with a single simple one too, and takes the same request in XML: a condition that is
//!   tried out, not read from a message;
//! - two replies in a row were malformed, or, natively, had to be recovered from text.
//!
//! **Invariants:** a dialect that was chosen is never changed; what the provider said first is told when no step helps.

use crate::dialect;
use crate::domain::model::{Arguments, DialectKind, ModelError, ModelErrorKind, ModelEvent, Request};
use crate::domain::tool::Origin;
use crate::domain::{Notice, Phrase};

/// Malformed replies in a row that are evidence.
const ENOUGH: u32 = 2;

/// What is known about models from earlier sessions.
pub trait Memory: Send {
    /// The dialect that was learned for a model, `provider:name`.
    fn recall(&self, model: &str) -> Option<DialectKind>;
    /// Keeps it; `None` forgets. What the user should know when that failed.
    fn learn(&mut self, model: &str, dialect: Option<DialectKind>) -> Option<Notice>;
}

/// Remembers for this session only.
#[derive(Debug, Default)]
pub struct Session(Vec<(String, DialectKind)>);

impl Memory for Session {
    fn recall(&self, model: &str) -> Option<DialectKind> {
        self.0.iter().find(|(known, _)| known == model).map(|(_, kind)| *kind)
    }

    fn learn(&mut self, model: &str, dialect: Option<DialectKind>) -> Option<Notice> {
        self.0.retain(|(known, _)| known != model);
        self.0.extend(dialect.map(|kind| (model.to_owned(), kind)));
        None
    }
}

/// A refused request is being tried in another way.
#[derive(Debug)]
enum Trial {
    /// No.
    None,
    /// With one simple tool: are tools refused at all? The first refusal.
    OneTool(ModelError),
    /// In XML.
    Xml(ModelError),
}

/// What follows from what a reply brought.
#[derive(Debug, Default)]
pub struct Heard {
    /// What the machine should hear.
    pub events: Vec<ModelEvent>,
    /// Whether the request is sent anew instead.
    pub again: Again,
    /// Whether another dialect is used from now on.
    pub changed: bool,
    /// What the user should know.
    pub notices: Vec<Notice>,
}

/// Whether a request is sent anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Again {
    /// It is not.
    #[default]
    No,
    /// It is, as it is built now.
    Yes,
}

/// The model that is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// `provider:model`.
    pub model: &'a str,
    /// It can call functions natively, as far as its entry says.
    pub native: bool,
    /// The user chose its dialect, or it is the scripted one: nothing is learned.
    pub settled: bool,
}

/// See the module.
pub struct Ladder {
    memory: Box<dyn Memory>,
    trial: Trial,
    /// The model for which tools were found to be taken: it is not tried again.
    takes_tools: Option<String>,
    malformed: u32,
    bad: bool,
}

impl Default for Ladder {
    fn default() -> Self {
        Self::new(Box::<Session>::default())
    }
}

impl Ladder {
    /// A ladder over what was learned before.
    pub fn new(memory: Box<dyn Memory>) -> Self {
        Self { memory, trial: Trial::None, takes_tools: None, malformed: 0, bad: false }
    }

    /// The dialect for a model that nobody chose one for.
    pub fn rung(&self, asked: Asked<'_>) -> DialectKind {
        if matches!(self.trial, Trial::Xml(_)) {
            return DialectKind::Xml;
        }
        let learned = if asked.settled { None } else { self.memory.recall(asked.model) };
        learned.unwrap_or(if asked.native { DialectKind::Native } else { DialectKind::Xml })
    }

    /// Makes the request fit the trial.
    pub fn fit(&self, mut request: Request) -> Request {
        if matches!(self.trial, Trial::OneTool(_)) {
            // The program's own tools have the simplest definitions.
            let own = request.tools.iter().position(|tool| dialect::is_builtin(&tool.name)).unwrap_or_default();
            request.tools = request.tools.split_off(own);
            request.tools.truncate(1);
        }
        request
    }

    /// The user wants the model to be tried from the top again.
    pub fn forget(&mut self, model: &str) -> Option<Notice> {
        self.start_over();
        self.memory.recall(model).and_then(|_| self.memory.learn(model, None))
    }

    /// Another model, dialect or turn: evidence counts anew.
    pub fn start_over(&mut self) {
        self.trial = Trial::None;
        self.takes_tools = None;
        self.malformed = 0;
        self.bad = false;
    }

    /// Takes what a reply in this dialect brought. `tools`: its request offered some natively.
    pub fn hear(&mut self, asked: Asked<'_>, kind: DialectKind, tools: usize, events: Vec<ModelEvent>) -> Heard {
        if asked.settled {
            return Heard { events, ..Heard::default() };
        }
        let mut heard = Heard::default();
        for event in events {
            match event {
                ModelEvent::Failed { error } if self.is_evidence(&error, asked, kind, tools) => {
                    return Heard { again: Again::Yes, ..Heard::default() };
                }
                ModelEvent::Failed { error } => {
                    let first = match std::mem::replace(&mut self.trial, Trial::None) {
                        Trial::OneTool(first) | Trial::Xml(first) => first,
                        Trial::None => error,
                    };
                    heard.events.push(ModelEvent::Failed { error: first });
                }
                event => {
                    if self.settle(asked, &mut heard) {
                        return heard;
                    }
                    self.judge(&event, asked, kind, &mut heard);
                    heard.events.push(event);
                }
            }
        }
        heard
    }

    /// Whether the refusal leads to another try.
    fn is_evidence(&mut self, error: &ModelError, asked: Asked<'_>, kind: DialectKind, tools: usize) -> bool {
        let refused =
            matches!(error.kind, ModelErrorKind::BadRequest | ModelErrorKind::NotFound) || error.status == Some(501);
        if !refused || self.takes_tools.as_deref() == Some(asked.model) {
            return false;
        }
        match std::mem::replace(&mut self.trial, Trial::None) {
            Trial::None if kind == DialectKind::Native && tools > 1 => self.trial = Trial::OneTool(error.clone()),
            Trial::None if kind == DialectKind::Native && tools == 1 => self.trial = Trial::Xml(error.clone()),
            Trial::OneTool(first) => self.trial = Trial::Xml(first),
            other => {
                self.trial = other;
                return false;
            }
        }
        true
    }

    /// A reply began: what the trial showed. True where the reply is of no further use.
    fn settle(&mut self, asked: Asked<'_>, heard: &mut Heard) -> bool {
        match std::mem::replace(&mut self.trial, Trial::None) {
            Trial::None => false,
            // One tool is taken, all of them are not: one of the definitions is at fault, not the model.
            Trial::OneTool(first) => {
                self.takes_tools = Some(asked.model.to_owned());
                heard.events = vec![ModelEvent::Failed { error: first }];
                true
            }
            Trial::Xml(_) => {
                self.learn(asked, DialectKind::Xml, "agent.no_native_tools", heard);
                false
            }
        }
    }

    fn judge(&mut self, event: &ModelEvent, asked: Asked<'_>, kind: DialectKind, heard: &mut Heard) {
        match event {
            ModelEvent::OffFormat { .. } => self.bad = true,
            ModelEvent::Call(call) => {
                self.bad |= matches!(call.arguments, Arguments::Malformed { .. })
                    || (kind == DialectKind::Native && call.origin == Origin::Recovered);
            }
            ModelEvent::Finished { .. } => {
                self.malformed = if std::mem::take(&mut self.bad) { self.malformed + 1 } else { 0 };
                let below = match kind {
                    DialectKind::Native => Some(DialectKind::Xml),
                    DialectKind::Xml => Some(DialectKind::React),
                    DialectKind::React | DialectKind::Json => None,
                };
                if let Some(below) = below.filter(|_| self.malformed >= ENOUGH) {
                    self.malformed = 0;
                    self.learn(asked, below, "agent.climbs_down", heard);
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, asked: Asked<'_>, kind: DialectKind, key: &'static str, heard: &mut Heard) {
        let text = Phrase::new(key).with("model", asked.model).with("dialect", kind.name());
        heard.notices.push(Notice::warning(text));
        heard.notices.extend(self.memory.learn(asked.model, Some(kind)));
        heard.changed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::model::{FinishReason, ProposedCall};

    const ASKED: Asked<'_> = Asked { model: "p:m", native: true, settled: false };

    fn refused() -> ModelEvent {
        let error = |message: &str| ModelError {
            kind: ModelErrorKind::BadRequest,
            message: message.to_owned(),
            status: Some(400),
            retry_after_ms: None,
        };
        ModelEvent::Failed { error: error("first") }
    }

    fn finished(bad: bool) -> Vec<ModelEvent> {
        let reminder = ModelEvent::OffFormat { reminder: "x".into() };
        let end = ModelEvent::Finished { reason: FinishReason::Stop };
        if bad { vec![reminder, end] } else { vec![end] }
    }

    #[test]
    fn a_refusal_is_tried_out_before_it_is_believed() {
        let mut ladder = Ladder::default();
        assert_eq!(ladder.hear(ASKED, DialectKind::Native, 9, vec![refused()]).again, Again::Yes);
        assert_eq!(ladder.rung(ASKED), DialectKind::Native, "one tool alone first");
        assert_eq!(ladder.hear(ASKED, DialectKind::Native, 1, vec![refused()]).again, Again::Yes);
        assert_eq!(ladder.rung(ASKED), DialectKind::Xml);
        let heard = ladder.hear(ASKED, DialectKind::Xml, 0, vec![ModelEvent::Alive]);
        assert!(heard.changed && heard.notices.len() == 1 && heard.events == [ModelEvent::Alive]);
        assert_eq!(ladder.rung(ASKED), DialectKind::Xml);
        assert_eq!(ladder.rung(Asked { model: "p:other", ..ASKED }), DialectKind::Native);
        assert_eq!(ladder.forget("p:m"), None);
        assert_eq!(ladder.rung(ASKED), DialectKind::Native);
    }

    #[test]
    fn a_refusal_for_another_reason_stays_one() {
        let mut ladder = Ladder::default();
        ladder.hear(ASKED, DialectKind::Native, 9, vec![refused()]);
        ladder.hear(ASKED, DialectKind::Native, 1, vec![refused()]);
        let heard = ladder.hear(ASKED, DialectKind::Xml, 0, vec![refused()]);
        assert_eq!((heard.again, heard.changed, heard.events), (Again::No, false, vec![refused()]));
        assert_eq!(ladder.rung(ASKED), DialectKind::Native);
        // One tool is taken: one of the others is at fault, and that is told; it is not tried a second time.
        ladder.hear(ASKED, DialectKind::Native, 9, vec![refused()]);
        let heard = ladder.hear(ASKED, DialectKind::Native, 1, vec![ModelEvent::Alive]);
        assert_eq!((heard.again, heard.events), (Again::No, vec![refused()]));
        let heard = ladder.hear(ASKED, DialectKind::Native, 9, vec![refused()]);
        assert_eq!((heard.again, heard.events), (Again::No, vec![refused()]));
        let settled = Asked { settled: true, ..ASKED };
        assert_eq!(Ladder::default().hear(settled, DialectKind::Native, 9, vec![refused()]).again, Again::No);
        assert_eq!(Ladder::default().hear(ASKED, DialectKind::Xml, 0, vec![refused()]).again, Again::No);
    }

    #[test]
    fn two_malformed_replies_in_a_row_lead_down_one_step() {
        let mut ladder = Ladder::default();
        for (kind, bad, below) in [
            (DialectKind::Native, true, None),
            (DialectKind::Native, false, None),
            (DialectKind::Native, true, None),
            (DialectKind::Native, true, Some(DialectKind::Xml)),
            (DialectKind::Xml, true, None),
            (DialectKind::Xml, true, Some(DialectKind::React)),
            (DialectKind::React, true, None),
            (DialectKind::React, true, None),
        ] {
            let heard = ladder.hear(ASKED, kind, 0, finished(bad));
            assert_eq!(heard.changed, below.is_some(), "{kind:?}");
            assert_eq!(ladder.rung(ASKED), below.unwrap_or(kind));
        }
        let call = |origin| {
            let arguments = Arguments::Parsed { value: serde_json::json!({}) };
            let call = ProposedCall { slot: 0, provider_id: None, name: "x".into(), arguments, origin };
            vec![ModelEvent::Call(call), ModelEvent::Finished { reason: FinishReason::Stop }]
        };
        let mut ladder = Ladder::default();
        assert!(!ladder.hear(ASKED, DialectKind::Native, 1, call(Origin::Recovered)).changed);
        assert!(ladder.hear(ASKED, DialectKind::Native, 1, call(Origin::Recovered)).changed);
        assert!(!ladder.hear(ASKED, DialectKind::Native, 1, call(Origin::Native)).changed);
    }
}
