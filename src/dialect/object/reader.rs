//! The grammar of a reply: one object at the beginning of a line, perhaps in a fenced block, perhaps with text around it.
//!
//! Text before the object is an answer, as a reply without an object is. What follows the object is never kept. An object in a fenced block behind
//! other text could be an example: its call is *recovered* and always asks. **Invariants:** no JSON of ours is ever shown; a call that was cut off
//! is never run.

use super::meaning::Meaning;
use super::scan::{Object, Progress, Told};
use crate::dialect::balance::Balance;
use crate::dialect::place::{Place, is_fence, may_be_fence};
use crate::dialect::reply::{Card, Ending, Reader};
use crate::dialect::voice::{Kind, Voice};
use crate::dialect::{json, naming, prompt};
use crate::domain::model::{Arguments, DialectKind, FinishReason, ModelEvent};
use crate::domain::names::Names;
use crate::domain::tool::Origin;
use std::ops::ControlFlow;
use std::sync::Arc;

const NEITHER: &str = "The message holds neither a tool call nor an answer.";
/// Longest beginning of a line that is held back, in bytes.
const LONGEST: usize = 64;

#[derive(Debug)]
enum Part {
    /// At the beginning of a line: white space and perhaps a fence.
    Begun(String),
    /// Behind it.
    Within,
    /// Inside JSON that is not ours.
    Foreign(Balance),
    /// Inside an object; what was held back before it.
    Object(Box<Object>, String),
    /// A call or an answer was sent.
    Done,
}

/// Reads the text of one reply.
#[derive(Debug)]
pub struct ObjectReader {
    names: Arc<Names>,
    voice: Voice,
    part: Part,
    place: Place,
    said: bool,
    card: Card,
    work: u64,
}

impl ObjectReader {
    /// A reader for a reply in which these names are offered.
    pub fn new(names: Arc<Names>) -> Self {
        Self {
            names,
            voice: Voice::default(),
            part: Part::Begun(String::new()),
            place: Place::default(),
            said: false,
            card: Card::default(),
            work: 0,
        }
    }

    fn take<'a>(&mut self, text: &'a str, out: &mut Vec<ModelEvent>) -> ControlFlow<(), &'a str> {
        match &mut self.part {
            Part::Begun(_) => ControlFlow::Continue(self.begun(text, out)),
            Part::Within => {
                let end = text.find('\n').map(|end| end + 1);
                let (this, rest) = text.split_at(end.unwrap_or(text.len()));
                self.say(this, out);
                if end.is_some() {
                    self.part = Part::Begun(String::new());
                }
                ControlFlow::Continue(rest)
            }
            Part::Foreign(balance) => {
                let end = balance.pass(text).map(|end| end + 1);
                let (this, rest) = text.split_at(end.unwrap_or(text.len()));
                if end.is_some() {
                    self.part = Part::Within;
                }
                self.say(this, out);
                ControlFlow::Continue(rest)
            }
            Part::Object(..) => self.in_object(text, out),
            Part::Done => ControlFlow::Break(()),
        }
    }

    fn begun<'a>(&mut self, text: &'a str, out: &mut Vec<ModelEvent>) -> &'a str {
        let Part::Begun(held) = &mut self.part else { return text };
        let (mut taken, mut decided) = (text.len(), None);
        // The held text is fences that were passed over, and the line so far.
        for (at, c) in text.char_indices() {
            let line = held.rfind('\n').map_or(0, |end| end + 1);
            let this = &held[line..];
            let in_code = self.place.in_fence();
            let fenced = held[..line].contains('`');
            if c == '{' && this.trim().is_empty() && !in_code {
                (taken, decided) = (at + 1, Some(true));
                break;
            }
            let passes = match c {
                '\n' => this.trim().is_empty() || is_fence(this),
                _ if held.len() >= LONGEST => false,
                _ if this.trim().is_empty() => c.is_whitespace() || c == '`',
                _ => may_be_fence(this) && (c == '`' || c.is_alphanumeric() || matches!(c, '_' | ' ' | '\r')),
            };
            if in_code || !passes || (c == '\n' && fenced && is_fence(this)) {
                (taken, decided) = (at, Some(false));
                break;
            }
            held.push(c);
        }
        self.work += 2 * taken as u64;
        let held = std::mem::take(held);
        match decided {
            None => self.part = Part::Begun(held),
            Some(true) => self.part = Part::Object(Box::new(Object::new()), held),
            Some(false) => {
                self.part = Part::Within;
                self.say(&held, out);
            }
        }
        &text[taken..]
    }

    fn in_object<'a>(&mut self, text: &'a str, out: &mut Vec<ModelEvent>) -> ControlFlow<(), &'a str> {
        let Self { part: Part::Object(object, _), voice, card, names, .. } = self else {
            return ControlFlow::Continue(text);
        };
        let progress = object.push(text, &mut |told| match told {
            Told::Begin(at) => {
                card.grow(at, out);
                voice.pause();
            }
            Told::Text(kind, text) => voice.say(kind, text, out),
            Told::Tool(name) if naming::is_finish(name, names) => {}
            Told::Tool(name) => card.announce(&naming::meant(name, names), out),
        });
        match progress {
            Progress::More => {
                if !object.is_speaking() {
                    card.grow(object.size(), out);
                }
                ControlFlow::Continue("")
            }
            Progress::Complete => self.complete(out),
            Progress::Foreign => self.as_text(out),
        }
    }

    /// What was held back is text after all.
    fn as_text<'a>(&mut self, out: &mut Vec<ModelEvent>) -> ControlFlow<(), &'a str> {
        let Part::Object(object, before) = std::mem::replace(&mut self.part, Part::Within) else {
            return ControlFlow::Continue("");
        };
        let mut balance = Balance::default();
        let end = balance.pass(object.raw()).map_or(object.raw().len(), |end| end + 1);
        let (value, rest) = object.raw().split_at(end);
        self.say(&before, out);
        self.say(value, out);
        if rest.is_empty() && !balance.is_closed() {
            self.part = Part::Foreign(balance);
        }
        self.push(rest, out)?;
        ControlFlow::Continue("")
    }

    fn complete<'a>(&mut self, out: &mut Vec<ModelEvent>) -> ControlFlow<(), &'a str> {
        let Part::Object(object, before) = &self.part else { return ControlFlow::Break(()) };
        let meaning = if object.is_broken() { self.broken(object) } else { object.members().meaning(&self.names) };
        let known = matches!(&meaning, Meaning::Call(name, _) if self.names.resolve(name).is_some());
        let arguments = object.members().arguments.is_some();
        let ours = object.is_sure() || (known && arguments);
        if !ours {
            return self.as_text(out);
        }
        let example = self.said && !before.trim().is_empty();
        self.mean(meaning, if example { Origin::Recovered } else { Origin::Json }, out);
        ControlFlow::Break(())
    }

    /// What an object means that can be no JSON: a call that cannot be read, once it has named its tool, whose card stands already.
    fn broken(&self, object: &Object) -> Meaning {
        // What stands behind it is not its fault, and may or may not have come yet.
        let text = &object.raw()[..object.size()];
        let problem = json::arguments(text).err().unwrap_or_else(|| NEITHER.to_owned());
        let name = object.members().name().filter(|name| !naming::is_finish(name, &self.names));
        match name {
            Some(name) => {
                let text = text.to_owned();
                Meaning::Call(naming::meant(&name, &self.names), Arguments::Malformed { text, problem })
            }
            None => Meaning::Nothing(problem.replace("arguments are", "message is")),
        }
    }

    fn mean(&mut self, meaning: Meaning, origin: Origin, out: &mut Vec<ModelEvent>) {
        let Part::Object(object, _) = std::mem::replace(&mut self.part, Part::Done) else { return };
        self.work += object.work();
        match meaning {
            Meaning::Call(name, arguments) => {
                self.card.announce(&name, out);
                self.card.grow(object.size(), out);
                self.card.send(name, arguments, origin, out);
            }
            Meaning::Answer(text) => {
                if let Some(text) = text {
                    self.voice.pause();
                    self.voice.say(Kind::Answer, &text, out);
                }
                out.push(ModelEvent::Completion { command: None });
            }
            Meaning::Nothing(problem) => {
                // The raw text stays in sight; the model is told what is wrong with it.
                self.voice.pause();
                self.voice.say(Kind::Answer, &object.raw()[..object.size()], out);
                out.push(ModelEvent::OffFormat { reminder: prompt::reminder(DialectKind::Json, &problem) });
            }
        }
    }

    fn finish_object(&mut self, ending: Ending, out: &mut Vec<ModelEvent>) {
        let Part::Object(object, before) = &mut self.part else { return };
        let whole = object.finish();
        if !object.is_sure() {
            if ending == Ending::Cut {
                // What could have become a call is not shown.
                self.part = Part::Done;
            } else {
                let _ = self.as_text(out);
            }
            return;
        }
        let example = self.said && !before.trim().is_empty();
        let name = object.members().name().map(|name| naming::meant(&name, &self.names));
        let name = name.filter(|name| !naming::is_finish(name, &self.names));
        let raw = || object.raw().to_owned();
        let problem = "The JSON object is not complete.".to_owned();
        let meaning = match (ending, name) {
            (Ending::Cut, Some(name)) => Meaning::Call(name, Arguments::CutOff { text: raw() }),
            (Ending::Cut, None) => {
                self.part = Part::Done;
                return;
            }
            (Ending::Stopped, Some(_)) | (_, None) if whole => object.members().meaning(&self.names),
            (_, Some(name)) => Meaning::Call(name, Arguments::Malformed { text: raw(), problem }),
            (_, None) => Meaning::Nothing(problem),
        };
        self.mean(meaning, if example { Origin::Recovered } else { Origin::Json }, out);
    }

    fn say(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        self.work += text.len() as u64;
        self.place.pass(text);
        self.said |= !text.trim().is_empty();
        self.voice.say(Kind::Answer, text, out);
    }
}

impl Reader for ObjectReader {
    const KIND: DialectKind = DialectKind::Json;

    fn push(&mut self, text: &str, out: &mut Vec<ModelEvent>) -> ControlFlow<()> {
        let mut rest = text;
        while !rest.is_empty() {
            rest = self.take(rest, out)?;
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) -> Option<String> {
        let ending = Ending::of(reason);
        if let Part::Begun(held) = &mut self.part {
            let held = std::mem::take(held);
            if ending != Ending::Cut {
                self.say(&held, out);
            }
        }
        self.finish_object(ending, out);
        let done = matches!(self.part, Part::Done) || ending == Ending::Cut;
        (!done && !self.voice.has_answered()).then(|| NEITHER.to_owned())
    }

    fn card(&mut self) -> &mut Card {
        &mut self.card
    }

    fn work(&self) -> u64 {
        let open = if let Part::Object(object, _) = &self.part { object.work() } else { 0 };
        self.work + open
    }
}
