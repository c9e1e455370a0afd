//! A long session, read back from its journal.

use super::program::{Place, Program};
use crate::sse_model::{Chat, ModelServer};
use mcpane::agent::journal::Journal;
use mcpane::agent::machine::Entry;
use mcpane::domain::conversation::{Item, ItemBody, StepEnd, TurnEnd, TurnKind};
use mcpane::domain::model::FinishReason;
use mcpane::domain::{ItemId, StepId, TurnId, Usage, UserInput};
use mcpane::redact::Redactor;
use std::fmt::Write;

/// Lines of an answer.
const LINES: usize = 40;

/// An answer of [`LINES`] lines; lines are numbered through the session.
fn answer(number: usize) -> String {
    let mut text = String::new();
    for line in 0..LINES {
        let at = number * LINES + line;
        let words = "words that are there to be read, or scrolled past";
        let _ = match line {
            0 => writeln!(text, "## L{at:06} Answer {number}"),
            1..=19 if line % 2 == 1 => writeln!(text),
            2..=18 => writeln!(text, "L{at:06} A paragraph of **{words}**, with `code` in it."),
            20 | 32 => writeln!(text, "```"),
            21..=31 => writeln!(text, "let l{at:06} = \"{words}\";"),
            33 => writeln!(text),
            _ => writeln!(text, "- L{at:06} An item with {words}"),
        };
    }
    text
}

/// A place with a session of at least so many lines.
pub fn place(lines: usize) -> Place {
    let place = Place::new();
    // The program itself says where its journals go.
    let server = ModelServer::start(vec![Chat::new().text("Nothing yet.").finish("stop").done()]);
    let mut program = Program::start(&place, &["-m", "openai:test-model", "--base-url", &server.base_url()]);
    program.until("F1 help");
    program.send(b"hello\r");
    program.until("Nothing yet.");
    program.pump(std::time::Duration::from_millis(500));
    program.quit();
    let journals = place.journals();
    let [path] = &journals[..] else { panic!("one journal, not {journals:?}") };
    let mut journal = Journal::resume(path, Redactor::default()).expect("a journal").journal;
    let mut entries = Vec::new();
    for number in 0..lines.div_ceil(LINES) {
        let id = 1000 + 10 * number as u64;
        let (turn, step) = (TurnId(id), StepId(id + 1));
        let item = Item { id: ItemId(id + 2), body: ItemBody::Answer { text: answer(number) } };
        let input = UserInput::text(format!("Question {number}"));
        entries.extend([
            Entry::Turn { turn, kind: TurnKind::Task, input },
            Entry::Step { turn, step },
            Entry::Item { step, item },
            Entry::Reply { step, reason: FinishReason::Stop, usage: Usage::default(), completed: false },
            Entry::StepEnd { step, end: StepEnd::Complete, reminder: None },
            Entry::TurnEnd { turn, end: TurnEnd::Done },
        ]);
    }
    journal.write(&entries).expect("the journal is written");
    place
}

/// The last line's number in a session of so many lines.
pub fn last_line(lines: usize) -> usize {
    lines.div_ceil(LINES) * LINES - 1
}
