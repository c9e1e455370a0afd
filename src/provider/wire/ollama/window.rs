//! How large a context a prompt needs.
//!
//! Owns: guessing tokens from text without a tokenizer, and the size that is asked for. Sizes double, so that a growing conversation seldom makes
//! Ollama load the model anew.

use crate::provider::wire::Facts;
use serde_json::{Map, Value};

/// The least that is asked for; what Ollama has by itself.
pub const LEAST: u64 = 4096;
/// Room for the reply where no limit is set.
const REPLY: u64 = 2048;
/// The most that is asked for where nobody named a limit: memory for a context is taken before the first word.
const UNKNOWN: u64 = 32_768;

/// Tokens of a text, from below and from above. Western text has about four bytes a token, code three; runs of blanks and signs have more, Chinese
/// one or two tokens a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Guess {
    /// Surely not fewer.
    pub least: u64,
    /// Hardly more.
    pub most: u64,
}

impl Guess {
    /// Counts a text.
    pub fn add(&mut self, text: &str) {
        let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
        let other = text.chars().filter(|c| !c.is_ascii()).count() as u64;
        self.least += ascii / 8 + other / 3;
        self.most += ascii / 3 + other * 3 / 2 + 1;
    }
}

/// What a body's prompt takes. Pictures are not counted from below, and roughly from above.
pub fn guess(body: &Value) -> Guess {
    body.as_object().map(of).unwrap_or_default()
}

fn of(body: &Map<String, Value>) -> Guess {
    let mut guess = Guess::default();
    for message in body.get("messages").and_then(Value::as_array).into_iter().flatten() {
        // Roles and the marks around them.
        guess.most += 8;
        for field in ["content", "thinking"] {
            guess.add(message.get(field).and_then(Value::as_str).unwrap_or_default());
        }
        if let Some(calls) = message.get("tool_calls") {
            guess.most += calls.to_string().len() as u64 / 2;
        }
        guess.most += 1500 * message.get("images").and_then(Value::as_array).map_or(0, Vec::len) as u64;
    }
    if let Some(tools) = body.get("tools") {
        guess.most += tools.to_string().len() as u64 / 3;
    }
    guess
}

/// The context to ask for: enough for prompt and reply, a power of two, not more than the model has nor less than its file says.
pub(super) fn size(body: &Map<String, Value>, facts: &Facts) -> u64 {
    let limit = body.get("options").and_then(|options| options.get("num_predict")).and_then(Value::as_u64);
    let needed = of(body).most.saturating_add(limit.unwrap_or(REPLY));
    let least = facts.window.unwrap_or(0).max(LEAST);
    let sized = needed.max(least).checked_next_power_of_two().unwrap_or(u64::MAX);
    // A file that says 5,000 is not asked for 8,192 before that is needed.
    let sized = if needed <= least { least } else { sized };
    sized.min(facts.context.unwrap_or(UNKNOWN.max(least)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sized(chars: usize, facts: Facts) -> u64 {
        let body = json!({ "messages": [{ "role": "user", "content": "word ".repeat(chars / 5) }] });
        size(body.as_object().unwrap(), &facts)
    }

    #[test]
    fn a_context_fits_its_prompt_within_limits() {
        let model = Facts { context: Some(131_072), ..Facts::default() };
        assert_eq!(sized(100, model), 4096);
        assert_eq!(sized(20_000, model), 16_384);
        assert_eq!(sized(2_000_000, model), 131_072);
        assert_eq!(sized(2_000_000, Facts::default()), 32_768);
        assert_eq!(sized(100, Facts { context: Some(2048), ..model }), 2048);
        assert_eq!(sized(100, Facts { window: Some(5000), ..model }), 5000);
        assert_eq!(sized(20_000, Facts { window: Some(5000), ..model }), 16_384);
        assert_eq!(sized(100, Facts { window: Some(40_000), ..Facts::default() }), 40_000);
        let limited = json!({ "messages": [], "options": { "num_predict": 6000 } });
        assert_eq!(size(limited.as_object().unwrap(), &model), 8192);
    }

    #[test]
    fn guesses_hold_for_what_is_known() {
        // Counted with the tokenizers of Qwen 2.5 and Llama 3: 9 or 10, and 12 tokens.
        for (text, tokens) in
            [("The quick brown fox jumps over the lazy dog.", 10), ("京都の天気は明日晴れでしょう。", 12)]
        {
            let mut guess = Guess::default();
            guess.add(text);
            assert!(guess.least <= tokens && tokens <= guess.most, "{text}: {guess:?}");
        }
    }
}
