//! `<think>…</think>` at the very beginning of a reply's text.
//!
//! Many local servers leave the reasoning in the text. **Invariant:** no part of the tags is ever sent on; without the tag at
//! the very beginning all text is an answer, and costs one move a chunk.

use crate::dialect::voice::{Kind, Voice};
use crate::domain::model::ModelEvent;

const OPENING: [&str; 2] = ["<think>", "<thinking>"];
const CLOSING: [&str; 2] = ["</think>", "</thinking>"];

#[derive(Debug, Default)]
enum State {
    /// Nothing but white space, which is dropped, and perhaps a part of the tag.
    #[default]
    Start,
    /// In the thought.
    Thought,
    /// After it: white space is dropped.
    After,
    /// In the answer.
    Answer,
}

/// Tells thoughts from answers.
#[derive(Debug, Default)]
pub struct Think {
    state: State,
    /// What could still become a tag.
    held: String,
    voice: Voice,
}

impl Think {
    /// Takes the next piece of text.
    pub fn take(&mut self, text: String, out: &mut Vec<ModelEvent>) {
        match self.state {
            State::Answer => answer(text, out),
            State::After => self.after(&text, out),
            State::Start => {
                self.held.push_str(&text);
                self.start(out);
            }
            State::Thought => {
                self.held.push_str(&text);
                self.thought(out);
            }
        }
    }

    /// The text is over: what was held back is what it was.
    pub fn finish(&mut self, out: &mut Vec<ModelEvent>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Start => answer(held, out),
            State::Thought => self.voice.say(Kind::Thinking, &held, out),
            _ => {}
        }
    }

    fn start(&mut self, out: &mut Vec<ModelEvent>) {
        let blank = self.held.len() - self.held.trim_start().len();
        self.held.drain(..blank);
        let text = self.held.as_str();
        if let Some(rest) = OPENING.iter().find_map(|tag| text.strip_prefix(tag)) {
            self.held = rest.to_owned();
            self.state = State::Thought;
            self.thought(out);
        } else if !OPENING.iter().any(|tag| tag.starts_with(text)) {
            self.state = State::Answer;
            answer(std::mem::take(&mut self.held), out);
        }
    }

    fn thought(&mut self, out: &mut Vec<ModelEvent>) {
        let mut said = 0;
        while let Some(at) = self.held[said..].find('<').map(|at| said + at) {
            let text = &self.held[at..];
            if let Some(tag) = CLOSING.iter().find(|tag| text.starts_with(**tag)) {
                let rest = self.held.split_off(at + tag.len());
                self.voice.say(Kind::Thinking, &self.held[said..at], out);
                self.held.clear();
                self.state = State::After;
                self.after(&rest, out);
                return;
            }
            if CLOSING.iter().any(|tag| tag.starts_with(text)) {
                self.voice.say(Kind::Thinking, &self.held[said..at], out);
                self.held.drain(..at);
                return;
            }
            self.voice.say(Kind::Thinking, &self.held[said..=at], out);
            said = at + 1;
        }
        self.voice.say(Kind::Thinking, &self.held[said..], out);
        self.held.clear();
    }

    fn after(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        let text = text.trim_start();
        if !text.is_empty() {
            self.state = State::Answer;
            answer(text.to_owned(), out);
        }
    }
}

fn answer(text: String, out: &mut Vec<ModelEvent>) {
    if !text.is_empty() {
        out.push(ModelEvent::Answer { text });
    }
}
