//! Function calls as they arrive in pieces.
//!
//! Owns: gathering the pieces by slot, and when a call is whole. A call is sent on when the next one begins and its text is
//! JSON by then (some servers mix the pieces of several calls), else at the end; the order is the order of their beginnings.
//! **Invariant:** no call is parsed unless its JSON is whole. The last call of a reply that ran into its limit of tokens counts as whole only when it
//! is a JSON object as it stands: nothing could have followed its last brace. Of a reply that ended in another irregular way it never counts.

use super::json;
use crate::domain::model::{Arguments, FinishReason, ModelEvent, ProposedCall};
use crate::domain::tool::Origin;

#[derive(Debug)]
struct Gathered {
    slot: u32,
    id: Option<String>,
    name: String,
    text: String,
}

/// The calls of one reply.
#[derive(Debug, Default)]
pub struct Calls {
    gathered: Vec<Gathered>,
    /// How many of them were sent on.
    sent: usize,
}

impl Calls {
    /// A call begins.
    pub fn start(&mut self, slot: u32, id: Option<String>, name: String, out: &mut Vec<ModelEvent>) {
        while let Some(call) = self.gathered.get(self.sent) {
            match json::arguments(&call.text) {
                Ok(value) if !call.text.trim().is_empty() => self.send(Arguments::Parsed { value }, out),
                _ => break,
            }
        }
        out.push(ModelEvent::CallStarted { slot, name: name.clone() });
        self.gathered.push(Gathered { slot, id, name, text: String::new() });
    }

    /// More of a call's arguments. A slot that never began is passed over: there is no name to run.
    pub fn grow(&mut self, slot: u32, text: &str, out: &mut Vec<ModelEvent>) {
        if let Some(call) = self.gathered[self.sent..].iter_mut().rev().find(|call| call.slot == slot) {
            call.text.push_str(text);
            out.push(ModelEvent::CallGrew { slot, bytes: call.text.len() });
        }
    }

    /// The reply is over: sends what is left.
    pub fn finish(&mut self, reason: Option<&FinishReason>, out: &mut Vec<ModelEvent>) {
        let whole = matches!(reason, Some(FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Other(_)));
        let limited = reason == Some(&FinishReason::Length);
        while let Some(call) = self.gathered.get(self.sent) {
            let is_last = self.sent + 1 == self.gathered.len();
            let text = call.text.clone();
            let arguments = match json::arguments(&text) {
                Ok(value) if whole || !(is_last || text.trim().is_empty()) => Arguments::Parsed { value },
                Ok(value) if limited && is_object(&text) => Arguments::Parsed { value },
                Err(problem) if whole => Arguments::Malformed { text, problem },
                _ => Arguments::CutOff { text },
            };
            self.send(arguments, out);
        }
    }

    /// Whether any call began.
    pub fn any(&self) -> bool {
        !self.gathered.is_empty()
    }

    /// Whether a call was sent on.
    pub fn any_sent(&self) -> bool {
        self.sent > 0
    }

    fn send(&mut self, arguments: Arguments, out: &mut Vec<ModelEvent>) {
        let Some(call) = self.gathered.get_mut(self.sent) else { return };
        self.sent += 1;
        out.push(ModelEvent::Call(ProposedCall {
            slot: call.slot,
            provider_id: call.id.take(),
            name: call.name.clone(),
            arguments,
            origin: Origin::Native,
        }));
    }
}

/// Whether a text is a JSON object, to the letter.
fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}
