//! The grammar of a reply: thoughts, answers, one call or the completion.
//!
//! Top-level tags: `<thinking>` (or `<think>`), the tag of every offered built-in (true name or alias), `<use_mcp_tool>`,
//! `<access_mcp_resource>`, `<ask_followup_question>`, `<attempt_completion>`; leniently also an MCP tool by its own name where
//! that holds a `_` (so that it is no HTML). Everything else is text: unknown tags, tags in code, a tag that is only mentioned.
//!
//! **Invariants:** nothing follows the first complete call or completion. A partial tag is never sent on. A call that was not
//! closed is never parsed: cut off where the reply was cut, malformed where the model ended it.
//! A call inside thoughts counts only where a line starts with it, and only as *recovered* (it always asks): models forget
//! `</thinking>`, and what follows such a call is invention.

use super::call;
use super::completion::{self, Completion, written};
use super::draft::{Draft, Progress, Rest, Target};
use super::token::Token;
use crate::dialect::place::Place;
use crate::dialect::prompt;
use crate::dialect::reply::{Card, Ending};
use crate::dialect::voice::{Kind, Voice};
use crate::domain::model::{Arguments, DialectKind, FinishReason, ModelEvent};
use crate::domain::names::Names;
use crate::domain::tool::Origin;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a tag opens.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Opens {
    Thoughts,
    Call(Target),
    Completion,
    Nothing,
}

/// What is open.
#[derive(Debug)]
enum Open {
    /// Nothing: thoughts or plain text.
    Text,
    Call(Draft),
    Completion(Completion),
}

/// How the reply stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    /// A call or a completion was sent: nothing is read any more.
    Done,
}

/// Reads the text of one reply.
#[derive(Debug)]
pub struct Grammar {
    names: Arc<Names>,
    /// What tags were found to open.
    known: HashMap<String, Opens>,
    voice: Voice,
    kind: Kind,
    place: Place,
    open: Open,
    state: State,
    card: Card,
    /// Tags of calls that were taken for text.
    mentioned: Vec<String>,
    /// One of them was closed, so it was meant as a call.
    broken: bool,
    /// A call stands in a fenced block.
    fenced: bool,
    work: u64,
}

impl Grammar {
    /// A reader for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self {
            names,
            known: HashMap::new(),
            voice: Voice::default(),
            kind: Kind::Answer,
            place: Place::default(),
            open: Open::Text,
            state: State::Reading,
            card: Card::default(),
            mentioned: Vec::new(),
            broken: false,
            fenced: false,
            work: 0,
        }
    }

    /// The card of the text's call.
    pub fn card(&mut self) -> &mut Card {
        &mut self.card
    }

    /// Bytes looked at so far, each time they were.
    pub fn work(&self) -> u64 {
        let open = if let Open::Call(draft) = &self.open { draft.work() } else { 0 };
        self.work + open
    }

    /// Takes the next token; breaks where the reply is cut.
    pub fn take(&mut self, token: Token<'_>, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        match &mut self.open {
            Open::Text => {
                self.top(token, out);
                return ControlFlow::Continue(());
            }
            Open::Call(draft) => {
                if self.kind == Kind::Thinking && matches!(token, Token::Close("thinking" | "think")) {
                    // It was only rehearsed.
                    let raw = draft.raw().to_owned();
                    self.as_text(&raw, out);
                    self.top(token, out);
                    return ControlFlow::Continue(());
                }
                match draft.take(token) {
                    Progress::More => self.announce(out),
                    Progress::Complete => return self.complete(out),
                    Progress::NotACall => {
                        let (raw, tag) = (draft.raw().to_owned(), draft.tag().to_owned());
                        self.mentioned.push(tag);
                        self.as_text(&raw, out);
                        self.top(token, out);
                    }
                }
            }
            Open::Completion(completion) => match completion.take(token, &mut self.voice, out) {
                Progress::More => {}
                Progress::Complete => {
                    self.finish_completion(out);
                    return ControlFlow::Break(());
                }
                Progress::NotACall => {
                    let raw = completion.raw().to_owned();
                    self.mentioned.push(completion::TAG.to_owned());
                    self.as_text(&raw, out);
                    self.top(token, out);
                }
            },
        }
        ControlFlow::Continue(())
    }

    /// Says how far the call being written has grown, if it has.
    pub fn report(&mut self, out: &mut Vec<ModelEvent>) {
        if let Open::Call(draft) = &self.open {
            self.card.grow(draft.size(), out);
        }
    }

    /// The text is over. `held` is the beginning of a tag that never came whole. Returns what is wrong with the reply as a
    /// whole, if anything.
    pub fn finish(&mut self, held: &str, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) -> Option<String> {
        if self.state == State::Done {
            return None;
        }
        let ending = Ending::of(reason);
        let wrong = match &mut self.open {
            Open::Text => {
                if ending != Ending::Cut || !self.is_begun_tag(held) {
                    self.top(Token::Text(held), out);
                }
                None
            }
            Open::Call(draft) => {
                let rest = draft.finish(held, ending);
                self.rest_of_call(rest, ending, out)
            }
            Open::Completion(completion) => {
                match completion.finish(held, ending, &mut self.voice, out) {
                    Rest::Complete => self.finish_completion(out),
                    Rest::Mention if ending != Ending::Cut => {
                        let raw = completion.raw().to_owned() + held;
                        self.flush(&raw, out);
                    }
                    Rest::Mention | Rest::Unclosed(_) => {}
                }
                None
            }
        };
        if self.state == State::Done || ending == Ending::Cut { None } else { wrong.or_else(|| self.off_format()) }
    }

    /// What is wrong with a reply that neither called nor completed.
    fn off_format(&self) -> Option<String> {
        if self.broken {
            return Some("The tool call could not be read.".to_owned());
        }
        if self.fenced && (self.place.in_fence() || !self.place.has_prose()) {
            return Some("The tool call stands in a code block.".to_owned());
        }
        (!self.voice.has_answered()).then(|| "The message holds neither a tool call nor an answer.".to_owned())
    }

    fn rest_of_call(&mut self, rest: Rest, ending: Ending, out: &mut Vec<ModelEvent>) -> Option<String> {
        let Open::Call(draft) = &self.open else { return None };
        let raw = draft.raw().to_owned();
        let named = call::name(draft, &self.names);
        match rest {
            Rest::Complete => {
                let _ = self.complete(out);
                None
            }
            Rest::Mention if ending == Ending::Cut => None,
            Rest::Mention => {
                self.flush(&raw, out);
                None
            }
            Rest::Unclosed(_) if ending == Ending::Cut => {
                let name = named.unwrap_or_else(|| draft.tag().to_owned());
                self.send(name, Arguments::CutOff { text: raw }, out);
                None
            }
            Rest::Unclosed(tag) => {
                let problem = format!("<{tag}> is not closed, so the call is not complete.");
                if let Some(name) = named {
                    self.send(name, Arguments::Malformed { text: raw, problem }, out);
                    return None;
                }
                self.as_text(&raw, out);
                Some(problem)
            }
        }
    }

    fn top(&mut self, token: Token<'_>, out: &mut Vec<ModelEvent>) {
        match token {
            Token::Text(text) => self.say(text, out),
            Token::Open(name) => self.opening(name, out),
            Token::Close(name) => self.closing(name, out),
        }
    }

    fn opening(&mut self, name: &str, out: &mut Vec<ModelEvent>) {
        let opens = self.opens(name);
        if self.place.in_code() {
            self.fenced |= self.place.in_fence() && matches!(opens, Opens::Call(_) | Opens::Completion);
            self.say(&written(Token::Open(name)), out);
            return;
        }
        let inside_thoughts = self.kind == Kind::Thinking;
        match opens {
            Opens::Thoughts if !inside_thoughts => self.turn_to(Kind::Thinking),
            Opens::Call(target) if !inside_thoughts || self.place.at_line_start() => {
                self.open = Open::Call(Draft::new(name, target));
            }
            Opens::Completion if !inside_thoughts || self.place.at_line_start() => {
                self.open = Open::Completion(Completion::new(&self.place));
            }
            _ => self.say(&written(Token::Open(name)), out),
        }
    }

    fn closing(&mut self, name: &str, out: &mut Vec<ModelEvent>) {
        if matches!(name, "thinking" | "think") {
            if self.kind == Kind::Thinking {
                self.turn_to(Kind::Answer);
                return;
            }
            // The chat template opened the thought in the prompt and it was empty.
            if !self.voice.has_answered() {
                return;
            }
        }
        self.broken |= self.mentioned.iter().any(|mentioned| mentioned == name);
        self.say(&written(Token::Close(name)), out);
    }

    fn turn_to(&mut self, kind: Kind) {
        self.voice.pause();
        self.kind = kind;
        self.place = Place::default();
    }

    fn say(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        self.work += 2 * text.len() as u64;
        self.place.pass(text);
        self.voice.say(self.kind, text, out);
    }

    /// What was held back is text after all.
    fn as_text(&mut self, raw: &str, out: &mut Vec<ModelEvent>) {
        self.open = Open::Text;
        self.say(raw, out);
    }

    fn opens(&mut self, tag: &str) -> Opens {
        if let Some(known) = self.known.get(tag) {
            return known.clone();
        }
        let opens = match tag {
            "thinking" | "think" => Opens::Thoughts,
            completion::TAG => Opens::Completion,
            "use_mcp_tool" => Opens::Call(Target::Mcp),
            "access_mcp_resource" => Opens::Call(Target::Builtin(tag.to_owned())),
            "ask_followup_question" | "ask_follow_up_question" => {
                Opens::Call(Target::Builtin("ask_followup_question".to_owned()))
            }
            _ => match self.names.resolve(tag) {
                Some(id) if id.server.is_none() => Opens::Call(Target::Builtin(id.name.to_string())),
                Some(_) if tag.contains('_') => Opens::Call(Target::Direct),
                _ => Opens::Nothing,
            },
        };
        self.known.insert(tag.to_owned(), opens.clone());
        opens
    }

    /// Whether the partial tag could have become one that opens something.
    fn is_begun_tag(&self, held: &str) -> bool {
        let Some(begun) = held.strip_prefix('<') else { return false };
        let fixed = ["thinking", "use_mcp_tool", "access_mcp_resource", "ask_followup_question", completion::TAG];
        begun.starts_with('/')
            || fixed.iter().any(|tag| tag.starts_with(begun))
            || self.names.iter().any(|(id, wire)| wire.starts_with(begun) || id.name.starts_with(begun))
    }

    fn announce(&mut self, out: &mut Vec<ModelEvent>) {
        let Open::Call(draft) = &self.open else { return };
        // In thoughts it may still be abandoned.
        if self.card.is_announced() || !draft.is_certain() || self.kind == Kind::Thinking {
            return;
        }
        if let Some(name) = call::name(draft, &self.names) {
            self.card.announce(&name, out);
        }
    }

    fn complete(&mut self, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        let Open::Call(draft) = &self.open else { return ControlFlow::Break(()) };
        match call::read(draft, &self.names) {
            Ok((name, arguments)) => self.send(name, arguments, out),
            Err(problem) => {
                // The raw text stays in sight; the model is told what is wrong with it.
                let raw = draft.raw().to_owned();
                self.as_text(&raw, out);
                self.state = State::Done;
                out.push(ModelEvent::OffFormat { reminder: prompt::reminder(DialectKind::Xml, &problem) });
            }
        }
        ControlFlow::Break(())
    }

    fn send(&mut self, name: String, arguments: Arguments, out: &mut Vec<ModelEvent>) {
        self.card.announce(&name, out);
        self.report(out);
        let origin = if self.kind == Kind::Thinking { Origin::Recovered } else { Origin::Xml };
        self.card.send(name, arguments, origin, out);
        self.state = State::Done;
    }

    fn finish_completion(&mut self, out: &mut Vec<ModelEvent>) {
        if let Open::Completion(completion) = std::mem::replace(&mut self.open, Open::Text) {
            out.push(ModelEvent::Completion { command: completion.into_command() });
            self.state = State::Done;
        }
    }

    /// The reply ends with the tag of a call and nothing in it: where a line starts with it, it was meant as one.
    fn flush(&mut self, raw: &str, out: &mut Vec<ModelEvent>) {
        self.broken |= self.place.at_line_start();
        self.as_text(raw, out);
    }
}
