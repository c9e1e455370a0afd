//! What a model is told, part by part, for people.
//!
//! Made from the very request that would be sent. **Invariant:** nothing is left out that is sent, and nothing is shown that is not.

use super::Prompting;
use super::prompt;
use crate::domain::content::{beside_media, plain};
use crate::domain::model::{DialectKind, Message, PromptPart, PromptPlace, Request};
use serde_json::json;

/// The parts of a request in the order in which they are sent.
pub fn parts(dialect: DialectKind, prompting: &Prompting<'_>, request: &Request) -> Vec<PromptPart> {
    let pieces = prompt::pieces(dialect, prompting).into_iter();
    let mut out: Vec<PromptPart> =
        pieces.map(|(name, text)| part(PromptPlace::System, name.to_owned(), text)).collect();
    for tool in &request.tools {
        let declared = json!({"name": tool.name, "description": tool.description, "parameters": *tool.schema});
        out.push(part(PromptPlace::Tool, tool.name.clone(), format!("{declared:#}")));
    }
    out.extend(request.messages.iter().map(message));
    out
}

fn message(message: &Message) -> PromptPart {
    match message {
        Message::User { content } => {
            let text = if content.len() == 1 { plain(content) } else { beside_media(content) };
            part(PromptPlace::Message, "user".to_owned(), text)
        }
        Message::Assistant { text, reasoning, calls, .. } => {
            let mut whole: Vec<String> = reasoning.iter().cloned().collect();
            whole.extend((!text.is_empty()).then(|| text.clone()));
            whole.extend(calls.iter().map(|call| format!("{} {}", call.name, call.arguments)));
            part(PromptPlace::Message, "assistant".to_owned(), whole.join("\n\n"))
        }
        Message::Tool { name, content, .. } => {
            part(PromptPlace::Message, format!("tool {name}"), beside_media(content))
        }
    }
}

fn part(place: PromptPlace, name: String, text: String) -> PromptPart {
    PromptPart { place, name, tokens: tokens(&text), text }
}

/// About how many tokens a text is: four letters, or one Chinese character, make one.
pub fn tokens(text: &str) -> usize {
    let (ascii, other) = text
        .chars()
        .fold((0usize, 0usize), |(ascii, other), c| if c.is_ascii() { (ascii + 1, other) } else { (ascii, other + 1) });
    ascii.div_ceil(4) + other
}
