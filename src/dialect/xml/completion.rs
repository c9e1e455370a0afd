//! `<attempt_completion>`: the answer, sent on while it arrives.
//!
//! Its end follows the rule of [`super::draft`]: `</result>` counts only where `<command>`, `</attempt_completion>` or the end
//! of the reply follows, so what may be the end is held back until the next tag or word; an example of the tag at the start of
//! a line inside the result does not end it. Two things that small models do are accepted: no `<result>` around the text, and a
//! missing `</result>`.

use super::draft::{Progress, Rest};
use super::token::Token;
use crate::dialect::place::Place;
use crate::dialect::reply::Ending;
use crate::dialect::voice::{Kind, Voice};
use crate::domain::model::ModelEvent;

/// The tag.
pub const TAG: &str = "attempt_completion";

#[derive(Debug)]
enum Phase {
    /// After the tag.
    Begun,
    /// In text directly inside the tag.
    Bare,
    /// In the result.
    Result,
    /// After `</result>`; holds it and the white space since.
    MayBeClosed(String),
    /// In the command: its text, and where it may have ended.
    Command(String, Option<usize>),
}

/// The completion so far.
#[derive(Debug)]
pub struct Completion {
    phase: Phase,
    /// As long as it may be a mention: what came.
    raw: String,
    at_line_start: bool,
    /// Where the result's text stands, to find the start of its lines.
    place: Place,
    nested: usize,
    command: Option<String>,
}

impl Completion {
    /// Starts with the tag; `before` is the place where it stands.
    pub fn new(before: &Place) -> Self {
        Self {
            phase: Phase::Begun,
            raw: format!("<{TAG}>"),
            at_line_start: before.at_line_start(),
            place: Place::default(),
            nested: 0,
            command: None,
        }
    }

    /// What was held back while it was not certain that this is more than a mention.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The command that shows the result.
    pub fn into_command(self) -> Option<String> {
        self.command.filter(|command| !command.is_empty())
    }

    /// Goes on with the next token; [`Progress::NotACall`] as in [`super::draft::Draft::take`].
    pub fn take(&mut self, token: Token<'_>, voice: &mut Voice, out: &mut Vec<ModelEvent>) -> Progress {
        match &mut self.phase {
            Phase::Begun => return self.begin(token, voice, out),
            Phase::Bare | Phase::Result => return self.in_result(token, voice, out),
            Phase::MayBeClosed(held) => match token {
                Token::Text(text) if text.trim().is_empty() => held.push_str(text),
                Token::Close(TAG) if self.nested == 0 => return Progress::Complete,
                Token::Open("command") if self.nested == 0 => self.phase = Phase::Command(String::new(), None),
                _ => {
                    let held = std::mem::take(held);
                    self.phase = Phase::Result;
                    self.say(&held, voice, out);
                    return self.in_result(token, voice, out);
                }
            },
            Phase::Command(text, end) => match (token, *end) {
                (Token::Close(TAG), _) => {
                    self.command = end.map(|end| text[..end].trim().to_owned());
                    return Progress::Complete;
                }
                (Token::Open("result"), Some(end)) => {
                    self.command = Some(text[..end].trim().to_owned());
                    self.phase = Phase::Result;
                }
                (Token::Close("command"), _) => {
                    *end = Some(text.len());
                    text.push_str("</command>");
                }
                (Token::Text(more), _) => {
                    *end = end.filter(|_| more.trim().is_empty());
                    text.push_str(more);
                }
                (other, _) => {
                    *end = None;
                    text.push_str(&written(other));
                }
            },
        }
        Progress::More
    }

    /// The reply is over: [`Rest::Complete`] where the task was declared done. `held` as in [`super::draft::Draft::finish`].
    pub fn finish(&mut self, held: &str, ending: Ending, voice: &mut Voice, out: &mut Vec<ModelEvent>) -> Rest {
        if matches!(self.phase, Phase::Begun) {
            return Rest::Mention;
        }
        let closing = ["</attempt_completion>", "</result>"].iter().any(|tag| tag.starts_with(held));
        if !held.is_empty() && !closing {
            self.take(Token::Text(held), voice, out);
        }
        if ending == Ending::Cut {
            return Rest::Unclosed(TAG.to_owned());
        }
        if let Phase::Command(text, Some(end)) = &self.phase {
            self.command = Some(text[..*end].trim().to_owned());
        }
        Rest::Complete
    }

    fn begin(&mut self, token: Token<'_>, voice: &mut Voice, out: &mut Vec<ModelEvent>) -> Progress {
        match token {
            Token::Text(text) if text.trim().is_empty() => self.raw.push_str(text),
            Token::Open("result") => self.become_certain(Phase::Result, voice),
            Token::Open("command") => self.become_certain(Phase::Command(String::new(), None), voice),
            Token::Close(TAG) => return Progress::Complete,
            _ if self.at_line_start => {
                self.become_certain(Phase::Bare, voice);
                // White space may have come in a chunk of its own.
                let before = self.raw.split_off(TAG.len() + 2);
                self.say(&before, voice, out);
                return self.in_result(token, voice, out);
            }
            _ => return Progress::NotACall,
        }
        Progress::More
    }

    /// It is no mention: the result starts a paragraph of its own.
    fn become_certain(&mut self, phase: Phase, voice: &mut Voice) {
        voice.pause();
        self.phase = phase;
    }

    fn in_result(&mut self, token: Token<'_>, voice: &mut Voice, out: &mut Vec<ModelEvent>) -> Progress {
        match token {
            Token::Close("result") if matches!(self.phase, Phase::Result) => {
                self.phase = Phase::MayBeClosed(written(token));
                return Progress::More;
            }
            Token::Close(TAG) if self.nested == 0 => return Progress::Complete,
            Token::Close(TAG) => self.nested -= 1,
            Token::Open(TAG) if self.place.at_line_start() => self.nested += 1,
            _ => {}
        }
        match token {
            Token::Text(text) => self.say(text, voice, out),
            other => self.say(&written(other), voice, out),
        }
        Progress::More
    }

    fn say(&mut self, text: &str, voice: &mut Voice, out: &mut Vec<ModelEvent>) {
        self.place.pass(text);
        voice.say(Kind::Answer, text, out);
    }
}

/// A token as it was written.
pub fn written(token: Token<'_>) -> String {
    match token {
        Token::Text(text) => text.to_owned(),
        Token::Open(name) => format!("<{name}>"),
        Token::Close(name) => format!("</{name}>"),
    }
}
