//! What the model says here: pieces of 16 characters, each with its number, so that the screen says how far it is.

use crate::sse_model::{Reply, Times};
use serde_json::json;
use std::time::Duration;

const WORDS: &str =
    "the quick brown fox jumps over a lazy dog while some other words go by and none of them means very much ";
/// A paragraph has so many pieces.
const PARAGRAPH: usize = 40;

/// A piece of prose with its number, 16 characters. Paragraphs, now and then a list or a piece of code.
pub fn piece(number: usize) -> String {
    let at = number * 7 % (WORDS.len() - 8);
    let (place, paragraph) = (number % PARAGRAPH, number / PARAGRAPH);
    let token = format!("k{number:06}");
    let (from, last) = (place == 0, place == PARAGRAPH - 1);
    let shape = match paragraph % 12 {
        // A fenced block: a line is two pieces.
        5 if from => format!("```rust\n{token}\n"),
        5 if last => format!("{token};;\n```\n\n\n"),
        5 if place % 2 == 1 => format!("{token}; // xyz\n"),
        5 => format!("let x = {token}-"),
        // A list: an item is four pieces.
        8 if last => format!("{token}{}\n\n", &WORDS[at..at + 7]),
        8 if place % 4 == 0 => format!("- {token}{}", &WORDS[at..at + 7]),
        8 if place % 4 == 3 => format!("{token}{}\n", &WORDS[at..at + 8]),
        3 if place % 10 == 4 => format!("**{token}** `{}` ", &WORDS[at..=at]),
        _ if last => format!("{token}{}\n\n", &WORDS[at..at + 7]),
        _ => format!("{token} {}", &WORDS[at..at + 8]),
    };
    assert_eq!(shape.chars().count(), 16, "{shape:?}");
    shape
}

/// An event of the stream, as servers write it.
fn event(text: &str) -> Vec<u8> {
    let value = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
        "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }],
    });
    format!("data: {value}\n\n").into_bytes()
}

/// A stretch of a reply.
#[derive(Clone, Copy)]
pub struct Stretch {
    pub pieces: usize,
    /// Before the first one.
    pub pause: Duration,
    /// Between two.
    pub every: Duration,
}

impl Stretch {
    pub fn paced(pieces: usize, per_second: u32) -> Self {
        Self { pieces, pause: Duration::from_secs(1), every: Duration::from_secs(1) / per_second }
    }

    pub fn burst(pieces: usize) -> Self {
        Self { pieces, pause: Duration::ZERO, every: Duration::ZERO }
    }
}

/// A reply; the times of its pieces are noted, in their order.
pub fn reply(stretches: &[Stretch], times: &Times) -> Reply {
    let mut pieces = Vec::new();
    let mut number = 0;
    for stretch in stretches {
        for i in 0..stretch.pieces {
            let delay = if i == 0 { stretch.pause } else { stretch.every };
            pieces.push((delay, event(&piece(number))));
            number += 1;
        }
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    pieces.push((Duration::ZERO, format!("data: {end}\n\ndata: [DONE]\n\n").into_bytes()));
    Reply::chunks(pieces).noting(times)
}

/// The highest number on the screen.
pub fn newest(screen: &str) -> Option<usize> {
    let bytes = screen.as_bytes();
    let numbers = bytes.windows(7).filter(|word| word[0] == b'k' && word[1..].iter().all(u8::is_ascii_digit));
    numbers.filter_map(|word| std::str::from_utf8(&word[1..]).ok()?.parse().ok()).max()
}
