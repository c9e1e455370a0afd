//! Streamed text on its way out as thoughts and answers.
//!
//! Owns the white space around it: blank lines before and after a run of text are dropped, without looking ahead further than
//! the next character that is not white. **Invariant:** what is sent, joined, does not depend on how the text was cut.

use crate::domain::model::ModelEvent;

/// Where text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// To the thinking pane.
    Thinking,
    /// To the answer pane.
    Answer,
}

/// Sends text, run by run.
#[derive(Debug, Default)]
pub struct Voice {
    /// White space that is sent if more text follows in this run.
    held: String,
    /// Something of this run was sent.
    begun: bool,
    /// Where text was sent last.
    last: Option<Kind>,
    answered: bool,
}

impl Voice {
    /// Adds text to the current run.
    pub fn say(&mut self, kind: Kind, text: &str, out: &mut Vec<ModelEvent>) {
        let body = text.trim_end();
        if body.is_empty() {
            self.held.push_str(text);
            return;
        }
        if self.begun {
            self.send(kind, body, out);
        } else {
            self.held.push_str(&body[..body.len() - body.trim_start().len()]);
            // Indentation of the first line stays, blank lines before it go.
            let indent = self.held.rfind('\n').map_or(0, |at| at + 1);
            self.held.drain(..indent);
            if self.last == Some(kind) {
                self.held.insert_str(0, "\n\n");
            }
            self.begun = true;
            self.send(kind, body.trim_start(), out);
        }
        self.held.push_str(&text[body.len()..]);
    }

    /// Ends the run: white space at its end is dropped.
    pub fn pause(&mut self) {
        self.begun = false;
        self.held.clear();
    }

    /// Whether anything was said to the user in this reply.
    pub fn has_answered(&self) -> bool {
        self.answered
    }

    fn send(&mut self, kind: Kind, body: &str, out: &mut Vec<ModelEvent>) {
        self.last = Some(kind);
        self.answered |= kind == Kind::Answer;
        let held = std::mem::take(&mut self.held);
        // Neighbouring pieces are joined so that one chunk of the stream makes one event.
        match (kind, out.last_mut()) {
            (Kind::Thinking, Some(ModelEvent::Thinking { text }))
            | (Kind::Answer, Some(ModelEvent::Answer { text })) => {
                text.push_str(&held);
                text.push_str(body);
            }
            (Kind::Thinking, _) => out.push(ModelEvent::Thinking { text: held + body }),
            (Kind::Answer, _) => out.push(ModelEvent::Answer { text: held + body }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(runs: &[(Kind, &[&str])]) -> Vec<(Kind, String)> {
        let mut voice = Voice::default();
        let mut out = Vec::new();
        for (kind, pieces) in runs {
            pieces.iter().for_each(|piece| voice.say(*kind, piece, &mut out));
            voice.pause();
        }
        out.into_iter()
            .map(|event| match event {
                ModelEvent::Thinking { text } => (Kind::Thinking, text),
                ModelEvent::Answer { text } => (Kind::Answer, text),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn blank_lines_around_go_and_those_inside_stay() {
        let pieces: &[&str] = &["\n", " \n  a ", " b\n", "\n", "c", " \n\n"];
        assert_eq!(said(&[(Kind::Answer, pieces)]), [(Kind::Answer, "  a  b\n\nc".to_owned())]);
        assert_eq!(said(&[(Kind::Thinking, &[" \n"])]), []);
    }

    #[test]
    fn two_runs_of_one_kind_are_two_paragraphs() {
        let runs: &[(Kind, &[&str])] =
            &[(Kind::Thinking, &["t\n"]), (Kind::Answer, &["a\n"]), (Kind::Answer, &["\nb"]), (Kind::Thinking, &["u"])];
        assert_eq!(
            said(runs),
            [(Kind::Thinking, "t".to_owned()), (Kind::Answer, "a\n\nb".to_owned()), (Kind::Thinking, "u".to_owned())]
        );
    }
}
