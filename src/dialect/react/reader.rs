//! The grammar of a reply: a thought, then an action or the final answer.
//!
//! Text before the first marker is an answer, as a reply without any marker is. Markers count at the beginning of a line and not inside a
//! fenced block, but for a block that holds the reply itself (its first line), or an action behind a thought (then the call is *recovered* and
//! always asks: it could be an example).
//!
//! **Invariants:** nothing follows the first complete action or the final answer: an observation is never believed. No part of a marker is ever
//! sent on. An action that was cut off is never run.

use super::draft::{Draft, Progress};
use super::input;
use super::marker::{LONGEST, Marker, Rest, Sight, sight};
use crate::dialect::object::meaning::{self, Meaning};
use crate::dialect::place::{Place, is_fence, may_be_fence};
use crate::dialect::reply::{Card, Ending, Reader};
use crate::dialect::voice::{Kind, Voice};
use crate::dialect::{naming, prompt};
use crate::domain::model::{Arguments, DialectKind, FinishReason, ModelEvent};
use crate::domain::names::Names;
use crate::domain::tool::Origin;
use std::ops::ControlFlow;
use std::sync::Arc;

const NEITHER: &str = "The message holds neither an action nor a final answer.";
const NO_NAME: &str = "`Action:` must name one tool, and nothing else on its line.";

/// Which part of the reply the text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Before the first marker.
    Before,
    Thought,
    Answer,
}

/// Where on its line the text is.
#[derive(Debug)]
enum Line {
    /// At its beginning: what may still become a marker, or a fence.
    Begun(String),
    /// Behind a marker: spaces are passed over.
    Marked,
    /// Behind what decides.
    Within,
}

/// A fenced block that may hold the reply or an action.
#[derive(Debug)]
enum Fence {
    /// There is none.
    None,
    /// Its first line, held back until the next one shows what it holds.
    Held(String),
    /// It holds the reply: its last line is not shown either.
    Around,
}

/// Reads the text of one reply.
#[derive(Debug)]
pub struct ReactReader {
    names: Arc<Names>,
    voice: Voice,
    part: Part,
    line: Line,
    place: Place,
    fence: Fence,
    said: bool,
    /// How the action was written. In a fence behind a thought it could be an example.
    origin: Origin,
    action: Option<Draft>,
    done: bool,
    card: Card,
    /// An action stands in a fenced block, as an example does.
    fenced: bool,
    problem: Option<&'static str>,
    work: u64,
}

impl ReactReader {
    /// A reader for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self {
            names,
            voice: Voice::default(),
            part: Part::Before,
            line: Line::Begun(String::new()),
            place: Place::default(),
            fence: Fence::None,
            origin: Origin::React,
            said: false,
            action: None,
            done: false,
            card: Card::default(),
            fenced: false,
            problem: None,
            work: 0,
        }
    }

    fn take(&mut self, mut text: &str, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        while !text.is_empty() {
            if let Some(draft) = &mut self.action {
                let progress = draft.push(text);
                self.announce(out);
                return if progress == Progress::Complete { self.complete(out) } else { ControlFlow::Continue(()) };
            }
            text = match &mut self.line {
                Line::Within => self.within(text, out),
                Line::Marked => {
                    let rest = text.trim_start_matches([' ', '\t']);
                    if !rest.is_empty() {
                        self.line = Line::Within;
                    }
                    rest
                }
                Line::Begun(_) => self.begun(text, out)?,
            };
        }
        ControlFlow::Continue(())
    }

    /// Takes text up to the end of its line.
    fn within<'a>(&mut self, text: &'a str, out: &mut Vec<ModelEvent>) -> &'a str {
        let end = text.find('\n').map(|end| end + 1);
        let (this, rest) = text.split_at(end.unwrap_or(text.len()));
        self.say(this, out);
        if end.is_some() {
            self.line = Line::Begun(String::new());
        }
        rest
    }

    /// Takes the beginning of a line, until it is decided what it is.
    fn begun<'a>(&mut self, text: &'a str, out: &mut Vec<ModelEvent>) -> ControlFlow<(), &'a str> {
        let Line::Begun(held) = &mut self.line else { return ControlFlow::Continue(text) };
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let end = text[..end].find('\n').unwrap_or(end);
        let whole = text[end..].starts_with('\n');
        held.push_str(&text[..end]);
        self.work += held.len() as u64;
        let rest = &text[end..];
        match self.decide(if whole { Rest::Gone } else { Rest::ToCome }, out)? {
            // The line's end is still to be said.
            Decided::Text => self.line = Line::Within,
            Decided::Silent if whole => {
                self.line = Line::Begun(String::new());
                return ControlFlow::Continue(&rest[1..]);
            }
            Decided::Marked | Decided::Silent | Decided::Not => {}
        }
        ControlFlow::Continue(rest)
    }

    /// Decides what the line that begins with the held text is, if that can be said.
    fn decide(&mut self, rest: Rest, out: &mut Vec<ModelEvent>) -> ControlFlow<(), Decided> {
        let (may_hold, may_end) = (self.may_hold_fence(), rest == Rest::Gone);
        let Line::Begun(held) = &mut self.line else { return ControlFlow::Continue(Decided::Not) };
        // A line that is only a fence: what it holds shows on the next line.
        let in_code = self.place.in_fence();
        let is_fence = if may_end { is_fence(held) } else { held.len() < LONGEST && may_be_fence(held) };
        if may_hold && is_fence && !held.trim().is_empty() {
            if !may_end {
                return ControlFlow::Continue(Decided::Not);
            }
            let held = std::mem::take(held);
            return ControlFlow::Continue(self.fence_line(held, out));
        }
        let found = sight(held, rest);
        if matches!(found, Sight::Open) {
            return ControlFlow::Continue(Decided::Not);
        }
        let held = std::mem::take(held);
        if matches!(self.fence, Fence::Held(_)) && held.trim().is_empty() && held.len() < LONGEST {
            if rest == Rest::ToCome {
                self.line = Line::Begun(held);
                return ControlFlow::Continue(Decided::Not);
            }
            if let Fence::Held(first) = &mut self.fence {
                first.push_str(&held);
                first.push('\n');
            }
            return ControlFlow::Continue(Decided::Silent);
        }
        match found {
            Sight::Found(marker, at) if !in_code && self.counts(marker) => {
                self.open_fence(marker);
                self.marked(marker, &held[at..], &held, out)
            }
            _ => {
                self.release_fence(out);
                self.fenced |= in_code && matches!(found, Sight::Found(Marker::Action, _));
                self.say(&held, out);
                ControlFlow::Continue(Decided::Text)
            }
        }
    }

    /// Whether a fence here may hold the reply, or an action, or closes the one that does.
    fn may_hold_fence(&self) -> bool {
        match self.fence {
            Fence::Held(_) => false,
            Fence::Around => !self.place.in_fence(),
            Fence::None => !self.place.in_fence() && (self.part == Part::Thought || !self.said),
        }
    }

    fn fence_line(&mut self, line: String, out: &mut Vec<ModelEvent>) -> Decided {
        let bare = line.trim() == "```";
        match self.fence {
            Fence::Around if bare => {
                self.fence = Fence::None;
                Decided::Silent
            }
            Fence::None if self.part != Part::Answer => {
                self.fence = Fence::Held(line + "\n");
                Decided::Silent
            }
            _ => {
                self.say(&line, out);
                Decided::Text
            }
        }
    }

    /// Whether the marker means something here.
    fn counts(&self, marker: Marker) -> bool {
        let held = matches!(self.fence, Fence::Held(_));
        match (self.part, marker) {
            (Part::Answer, marker) => matches!(marker, Marker::Observation | Marker::Thought),
            (Part::Thought, marker) if held => matches!(marker, Marker::Action | Marker::Answer),
            _ => true,
        }
    }

    fn open_fence(&mut self, marker: Marker) {
        if matches!(self.fence, Fence::Held(_)) {
            if self.part == Part::Thought && marker == Marker::Action {
                self.origin = Origin::Recovered;
            }
            self.fence = Fence::Around;
        }
    }

    /// A fence that was held back holds something else: it is text.
    fn release_fence(&mut self, out: &mut Vec<ModelEvent>) {
        if let Fence::Held(first) = &mut self.fence {
            let first = std::mem::take(first);
            self.fence = Fence::None;
            self.say(&first, out);
        }
    }

    fn marked(
        &mut self,
        marker: Marker,
        behind: &str,
        line: &str,
        out: &mut Vec<ModelEvent>,
    ) -> ControlFlow<(), Decided> {
        match marker {
            Marker::Thought | Marker::Observation if self.part == Part::Answer => return self.end_answer(out),
            Marker::Observation => {
                self.done = true;
                if !self.voice.has_answered() {
                    out.push(ModelEvent::OffFormat { reminder: prompt::reminder(DialectKind::React, NEITHER) });
                }
                return ControlFlow::Break(());
            }
            Marker::Thought => self.turn_to(Part::Thought),
            Marker::Answer => self.turn_to(Part::Answer),
            Marker::Action => {
                self.voice.pause();
                self.action = Some(Draft::default());
            }
            Marker::Input => {
                self.problem = Some(NO_NAME);
                self.say(line, out);
                return ControlFlow::Continue(Decided::Text);
            }
        }
        self.line = Line::Marked;
        self.take(behind, out)?;
        ControlFlow::Continue(Decided::Marked)
    }

    fn end_answer(&mut self, out: &mut Vec<ModelEvent>) -> ControlFlow<(), Decided> {
        self.done = true;
        out.push(ModelEvent::Completion { command: None });
        ControlFlow::Break(())
    }

    fn turn_to(&mut self, part: Part) {
        self.voice.pause();
        self.part = part;
        self.place = Place::default();
    }

    fn say(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        self.work += text.len() as u64;
        self.place.pass(text);
        self.said |= !text.trim().is_empty();
        let kind = if self.part == Part::Thought { Kind::Thinking } else { Kind::Answer };
        self.voice.say(kind, text, out);
    }

    fn announce(&mut self, out: &mut Vec<ModelEvent>) {
        let Some(draft) = &self.action else { return };
        if let Some(name) = draft.name().filter(|name| is_name(name) && !naming::is_finish(name, &self.names)) {
            self.card.announce(&naming::meant(name, &self.names), out);
        }
        self.card.grow(draft.size(), out);
    }

    /// The action is written whole.
    fn complete(&mut self, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        let Some(draft) = self.action.take() else { return ControlFlow::Break(()) };
        self.work += draft.work();
        self.done = true;
        let (input, form) = draft.input();
        let name = draft.name().unwrap_or_default();
        let meaning = match name {
            "" => meaning::of_text(input, &self.names),
            name if naming::is_finish(name, &self.names) => {
                let arguments = input::arguments(name, input, form, &self.names);
                Meaning::Answer(Some(meaning::answer_of(&arguments).unwrap_or_else(|| input.trim().to_owned())))
            }
            name if is_name(name) => {
                let arguments = input::arguments(name, input, form, &self.names);
                Meaning::Call(naming::meant(name, &self.names), arguments)
            }
            _ => Meaning::Nothing(NO_NAME.to_owned()),
        };
        match meaning {
            Meaning::Call(name, arguments) => self.card.send(name, arguments, self.origin, out),
            Meaning::Answer(text) => {
                self.part = Part::Answer;
                self.say(&text.unwrap_or_default(), out);
                out.push(ModelEvent::Completion { command: None });
            }
            Meaning::Nothing(problem) => {
                self.part = Part::Answer;
                // The raw text stays in sight; the model is told what is wrong with it.
                self.say(&format!("Action:{}", &draft.raw()[..draft.size()]), out);
                out.push(ModelEvent::OffFormat { reminder: prompt::reminder(DialectKind::React, &problem) });
            }
        }
        ControlFlow::Break(())
    }

    fn finish_action(&mut self, ending: Ending, out: &mut Vec<ModelEvent>) {
        let Some(draft) = &mut self.action else { return };
        let whole = draft.finish() == Progress::Complete;
        let name = naming::meant(draft.begun_name(), &self.names);
        if ending == Ending::Cut {
            let text = draft.raw().trim().to_owned();
            let name = if is_name(&name) { name } else { "…".to_owned() };
            self.done = true;
            self.card.send(name, Arguments::CutOff { text }, self.origin, out);
        } else if whole || !is_name(&name) {
            let _ = self.complete(out);
        } else {
            let (input, form) = draft.input();
            let arguments = input::arguments(&name, input, form, &self.names);
            let problem = "The input is not complete: a bracket is missing.".to_owned();
            let arguments = match arguments {
                Arguments::Parsed { .. } => Arguments::Malformed { text: input.trim().to_owned(), problem },
                malformed => malformed,
            };
            self.done = true;
            self.card.send(name, arguments, self.origin, out);
        }
    }

    /// What is wrong with a reply that neither called nor completed.
    fn off_format(&self) -> Option<String> {
        if let Some(problem) = self.problem {
            return Some(problem.to_owned());
        }
        if self.fenced && (self.place.in_fence() || !self.place.has_prose()) {
            return Some("The action stands in a code block.".to_owned());
        }
        (!self.voice.has_answered()).then(|| NEITHER.to_owned())
    }
}

/// What was decided about the beginning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decided {
    /// Nothing yet.
    Not,
    /// It was taken; what follows on the line is text.
    Text,
    /// It was a marker.
    Marked,
    /// The whole line was taken, its end too.
    Silent,
}

/// Whether this may be a tool's name.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 128 && !name.contains(char::is_whitespace)
}

impl Reader for ReactReader {
    const KIND: DialectKind = DialectKind::React;

    fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        self.take(text, out)
    }

    fn finish(&mut self, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) -> Option<String> {
        let ending = Ending::of(reason);
        if self.action.is_none() && matches!(self.line, Line::Begun(_)) {
            if ending == Ending::Cut {
                // What could have become a marker is not shown.
                self.line = Line::Within;
            } else if self.decide(Rest::Gone, out).is_break() {
                return None;
            }
            if let Fence::Held(_) = self.fence {
                self.release_fence(out);
            }
        }
        if self.action.is_some() {
            self.finish_action(ending, out);
        }
        if self.done || ending == Ending::Cut {
            return None;
        }
        if self.part == Part::Answer && self.voice.has_answered() {
            out.push(ModelEvent::Completion { command: None });
            return None;
        }
        self.off_format()
    }

    fn card(&mut self) -> &mut Card {
        &mut self.card
    }

    fn work(&self) -> u64 {
        self.work + self.action.as_ref().map_or(0, Draft::work)
    }
}
