//! Frames without a terminal: what drawing costs, whatever stands above.
//!
//! `cargo bench --bench frame` prints rows of the README's table on standard output.

// A benchmark that cannot be set up should end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../meter.rs"]
mod meter;

use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, ItemEvent, TurnEvent};
use mcpane::domain::conversation::TurnKind;
use mcpane::domain::{ItemId, StepId, TurnEnd, TurnId, UserInput};
use mcpane::tui::harness::Harness;
use meter::{Limit, median, row};
use std::time::{Duration, Instant};

/// About 1.2 KiB.
fn answer(number: u64) -> String {
    let prose =
        "A sentence of ordinary words, some `code`, and a **strong** one; then a few more words to fill the row. ";
    let code = "fn main() {\n    let answer = 42;\n    println!(\"{answer}\");\n}";
    format!(
        "## Answer {number}\n\n{}\n\n- one\n- two\n- three\n\n```rust\n{code}\n```\n\n{}\n",
        prose.repeat(5),
        prose.repeat(5)
    )
}

fn turn(harness: &mut Harness, number: u64) -> (TurnId, StepId, ItemId) {
    let id = 10 * number;
    let (turn, step, item) = (TurnId(id), StepId(id + 1), ItemId(id + 2));
    let input = UserInput::text(format!("Question {number}"));
    harness.feed(Event::Turn(TurnEvent::Started { turn, kind: TurnKind::Task, input }));
    harness.feed(Event::Turn(TurnEvent::StepStarted { turn, step, number: 1 }));
    harness.feed(Event::Item(ItemEvent::Started { item, step, kind: TextKind::Answer }));
    (turn, step, item)
}

/// A screen with so many answers, the last one whole.
fn with_answers(count: u64) -> Harness {
    let mut harness = Harness::new(120, 40);
    for number in 1..=count {
        let (turn, _, item) = turn(&mut harness, number);
        harness.feed(Event::Item(ItemEvent::Delta { item, text: answer(number) }));
        harness.feed(Event::Item(ItemEvent::Finished { item }));
        harness.feed(Event::Turn(TurnEvent::Ended { turn, end: TurnEnd::Done }));
    }
    harness
}

/// The median time of a frame, in milliseconds. `before` happens before each and is not counted.
fn frames(harness: &mut Harness, before: impl FnMut(&mut Harness)) -> f64 {
    sum(harness, before, |harness| drop(harness.draw()))
}

fn sum(harness: &mut Harness, mut before: impl FnMut(&mut Harness), mut what: impl FnMut(&mut Harness)) -> f64 {
    harness.draw();
    let mut times = Vec::new();
    let end = Instant::now() + Duration::from_secs(2);
    while Instant::now() < end || times.len() < 100 {
        before(harness);
        let start = Instant::now();
        what(harness);
        times.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    median(&times)
}

/// A screen on which an answer of that size grows.
fn growing(size: usize) -> (Harness, ItemId) {
    let mut harness = Harness::new(120, 40);
    let (_, _, item) = turn(&mut harness, 1);
    let mut text = String::new();
    while text.len() < size {
        text.push_str(&answer(text.len() as u64));
    }
    harness.feed(Event::Item(ItemEvent::Delta { item, text }));
    (harness, item)
}

/// Pieces of a text, over and over.
fn pieces() -> impl Iterator<Item = String> {
    let words = "some words of **prose** that go on and on, with a `bit` of code and, after a while, an end.\n\n";
    let all: Vec<String> =
        words.as_bytes().chunks(16).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
    all.into_iter().cycle()
}

fn main() {
    if !meter::is_bench() {
        return;
    }
    let few = frames(&mut with_answers(50), |_| {});
    let mut long = with_answers(1000);
    let many = frames(&mut long, |_| {});
    row("A frame with 1,000 answers", many, "ms", Limit::Most(0.5), "");
    row("… times one with 50", many / few, "×", Limit::Most(1.5), "");
    long.press("Tab");
    let page = frames(&mut long, |harness| {
        harness.press("PgUp");
    });
    row("… a page up, rows never seen before", page, "ms", Limit::Most(0.5), "");
    let width = std::cell::Cell::new(120);
    let resized = frames(&mut long, |harness| {
        width.set(if width.get() == 120 { 100 } else { 120 });
        harness.resize(width.get(), 40);
    });
    row("… another width", resized, "ms", Limit::None, "");
    let (mut harness, item) = growing(128 * 1024);
    let still = frames(&mut harness, |_| {});
    let mut next = pieces();
    let whole = sum(
        &mut harness,
        |_| {},
        |harness| {
            let text = next.next().expect("endless");
            harness.feed(Event::Item(ItemEvent::Delta { item, text }));
            harness.draw();
        },
    );
    row("A delta to a 128 KiB answer, and the layout of what it changes", whole - still, "ms", Limit::Most(0.1), "");
    row("… with its frame", whole, "ms", Limit::Most(0.5), "");
}
