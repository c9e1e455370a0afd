//! Which calls of a reply run: not the unreadable, not the same one twice, not more than a few.

use crate::domain::{CallId, Conversation, ToolOutcome};
use serde_json::Value;

/// Sorts the calls of a reply. A call with an outcome does not run; `calls` come with what is wrong with them, if anything.
pub(super) fn sort(
    calls: &[(CallId, Option<String>)],
    conversation: &Conversation,
    most: usize,
) -> Vec<(CallId, Option<ToolOutcome>)> {
    let mut seen: Vec<(CallId, String, &Value)> = Vec::new();
    let mut sorted = Vec::new();
    for (id, problem) in calls {
        let Some((call, _)) = conversation.call(*id) else { continue };
        let name = call.shown_name();
        let outcome = if let Some(problem) = problem {
            Some(ToolOutcome::failed(format!("The call could not be read: {problem}")))
        } else if let Some((first, ..)) = seen.iter().find(|(_, n, a)| *n == name && **a == call.arguments) {
            Some(ToolOutcome::SameAs { call: *first })
        } else if seen.len() >= most {
            Some(ToolOutcome::failed(format!(
                "Not run: a reply may hold {most} calls at most. Read these results first, then ask again if it is still needed."
            )))
        } else {
            seen.push((*id, name, &call.arguments));
            None
        };
        sorted.push((*id, outcome));
    }
    sorted
}
