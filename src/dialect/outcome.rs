//! What a model is told about the end of a call.
//!
//! Owns the wording, the same in every dialect. **Invariant:** done, failed, rejected, written by hand, called off before it
//! ran and interrupted while it ran read differently, and each says whether something may have happened.

use crate::domain::content::Content;
use crate::domain::{ToolCall, ToolOutcome};

/// The first line of a result that the tool itself calls an error.
pub const TOOL_ERROR: &str = "The tool reported an error:";
/// A result without any content.
pub const NOTHING: &str = "(The tool returned nothing.)";
const CANCELLED: &str = "This call was cancelled before it ran; nothing was done.";
const INTERRUPTED: &str =
    "This call was interrupted and may have had effects. Find out what it did before you repeat it.";
const REJECTED: &str = "The user rejected this call; it did not run.";
const BY_HAND: &str = "The user did not run the tool and wrote this result by hand:";

/// The blocks that the model reads as the result of `call`. Never empty; pictures and sounds are described by a text among them. `None` is a call whose end is not known: it is told as
/// interrupted.
pub fn blocks(call: &ToolCall, outcome: Option<&ToolOutcome>) -> Vec<Content> {
    match outcome {
        Some(ToolOutcome::Done { content, is_error, for_model, .. }) => done(content, *is_error, for_model.as_deref()),
        other => vec![Content::text(sentence(call, other))],
    }
}

/// The same as text, for dialects that have nothing else.
pub fn text(call: &ToolCall, outcome: Option<&ToolOutcome>) -> String {
    crate::domain::content::beside_media(&blocks(call, outcome))
}

fn done(content: &[Content], is_error: bool, for_model: Option<&str>) -> Vec<Content> {
    let mut blocks: Vec<Content> = match for_model {
        // The text describes pictures and sounds, but only eyes and ears can tell what is in them.
        Some(text) => {
            let media = content.iter().filter(|block| block.is_media()).cloned();
            std::iter::once(Content::text(text)).chain(media).collect()
        }
        None => content.iter().flat_map(described).collect(),
    };
    let silent = blocks.iter().all(|block| matches!(block, Content::Text { text } if text.trim().is_empty()));
    if silent {
        blocks = vec![Content::text(NOTHING)];
    }
    if is_error {
        blocks.insert(0, Content::text(TOOL_ERROR));
    }
    blocks
}

/// The block, after a text that says what it is where it is none itself.
fn described(block: &Content) -> impl Iterator<Item = Content> {
    let text = block.is_media().then(|| Content::text(block.to_plain()));
    text.into_iter().chain(std::iter::once(block.clone()))
}

fn sentence(call: &ToolCall, outcome: Option<&ToolOutcome>) -> String {
    match outcome {
        Some(ToolOutcome::Failed { message, may_have_run: false }) => {
            format!("The call failed and had no effect: {message}")
        }
        Some(ToolOutcome::Failed { message, may_have_run: true }) => {
            format!("The call failed and may have had effects. Find out what it did before you repeat it. {message}")
        }
        Some(ToolOutcome::Rejected { reason: Some(reason) }) if !reason.trim().is_empty() => {
            format!("{REJECTED} Reason: {reason}")
        }
        Some(ToolOutcome::Rejected { .. }) => REJECTED.to_owned(),
        Some(ToolOutcome::ByHand { text }) => format!("{BY_HAND}\n{text}"),
        Some(ToolOutcome::Cancelled) => CANCELLED.to_owned(),
        Some(ToolOutcome::SameAs { .. }) => {
            format!(
                "The same call of {} stands in this message already; its result is the result of that one.",
                call.shown_name()
            )
        }
        Some(ToolOutcome::Done { .. } | ToolOutcome::Interrupted) | None => INTERRUPTED.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, Origin, ToolId};
    use serde_json::json;

    fn told(outcome: Option<ToolOutcome>) -> String {
        let call = ToolCall {
            id: CallId(1),
            provider_id: None,
            asked: "x".into(),
            tool: Some(ToolId::on(&"s".into(), "t")),
            arguments: json!({}),
            origin: Origin::Native,
        };
        text(&call, outcome.as_ref())
    }

    #[test]
    fn every_outcome_has_its_own_words() {
        let outcomes = [
            (Some(ToolOutcome::text("fine")), "fine"),
            (Some(ToolOutcome::text(" \n")), "(The tool returned nothing.)"),
            (Some(ToolOutcome::failed("no tool `x`")), "The call failed and had no effect: no tool `x`"),
            (
                Some(ToolOutcome::Failed { message: "Timed out.".into(), may_have_run: true }),
                "The call failed and may have had effects. Find out what it did before you repeat it. Timed out.",
            ),
            (Some(ToolOutcome::Rejected { reason: None }), "The user rejected this call; it did not run."),
            (
                Some(ToolOutcome::Rejected { reason: Some("Use Oslo.".into()) }),
                "The user rejected this call; it did not run. Reason: Use Oslo.",
            ),
            (
                Some(ToolOutcome::ByHand { text: "24".into() }),
                "The user did not run the tool and wrote this result by hand:\n24",
            ),
            (Some(ToolOutcome::Cancelled), "This call was cancelled before it ran; nothing was done."),
            (
                Some(ToolOutcome::Interrupted),
                "This call was interrupted and may have had effects. Find out what it did before you repeat it.",
            ),
            (
                Some(ToolOutcome::SameAs { call: CallId(1) }),
                "The same call of s:t stands in this message already; its result is the result of that one.",
            ),
        ];
        for (outcome, words) in outcomes {
            assert_eq!(told(outcome), words);
        }
        assert_eq!(told(None), told(Some(ToolOutcome::Interrupted)));
    }

    #[test]
    fn a_tools_own_error_says_so_and_cut_text_replaces_the_content() {
        let outcome = ToolOutcome::Done {
            content: vec![Content::text("long")],
            is_error: true,
            for_model: Some("lo… (cut)".into()),
            spilled: None,
            millis: 1,
        };
        assert_eq!(told(Some(outcome)), "The tool reported an error:\nlo… (cut)");
        let empty = ToolOutcome::Done { content: vec![], is_error: true, for_model: None, spilled: None, millis: 1 };
        assert_eq!(told(Some(empty)), "The tool reported an error:\n(The tool returned nothing.)");
    }
}
