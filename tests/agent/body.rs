//! Bodies of requests, as the model's server received them.

use crate::sse_model::{ModelServer, Recorded};
use serde_json::Value;
use std::collections::BTreeSet;

/// A body: its bytes, and what they say.
#[derive(Debug, Clone)]
pub struct Body {
    pub raw: String,
    pub json: Value,
}

/// The bodies of all requests so far. Each is a legal one.
pub fn bodies(server: &ModelServer) -> Vec<Body> {
    server.requests_now().iter().map(Body::new).inspect(Body::check).collect()
}

/// Waits for that many requests; the last of them.
pub async fn body(server: &ModelServer, count: usize) -> Body {
    server.wait_requests(count).await;
    bodies(server).swap_remove(count - 1)
}

impl Body {
    pub fn new(request: &Recorded) -> Self {
        let raw = String::from_utf8(request.body.clone()).unwrap();
        let json = serde_json::from_str(&raw).unwrap();
        Self { raw, json }
    }

    pub fn messages(&self) -> &[Value] {
        self.json["messages"].as_array().unwrap()
    }

    /// The messages after the system prompt.
    pub fn history(&self) -> &[Value] {
        &self.messages()[1..]
    }

    pub fn system(&self) -> &str {
        self.messages()[0]["content"].as_str().unwrap()
    }

    pub fn last(&self) -> &Value {
        self.messages().last().unwrap()
    }

    /// The text of the last message.
    pub fn told(&self) -> String {
        text_of(self.last())
    }

    /// The roles after the system prompt, in a line.
    pub fn roles(&self) -> String {
        self.history().iter().map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    /// The result of a call.
    #[track_caller]
    pub fn result(&self, id: &str) -> String {
        let found = self.history().iter().find(|message| message["tool_call_id"] == id);
        text_of(found.unwrap_or_else(|| panic!("no result for {id} in {:#}", self.json["messages"])))
    }

    /// The arguments of a call.
    #[track_caller]
    pub fn arguments(&self, id: &str) -> Value {
        let mut calls = self.history().iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        let call = calls.find(|call| call["id"] == id).unwrap_or_else(|| panic!("no call {id}"));
        serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap()
    }

    /// The definitions of tools, byte for byte.
    pub fn tools(&self) -> &str {
        let from = self.raw.find(",\"tools\":").map(|at| at + 1);
        let end = self.raw.rfind(",\"stream\":").unwrap();
        from.map_or("", |from| &self.raw[from..end])
    }

    /// The names of the tools.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.json["tools"].as_array().into_iter().flatten();
        tools.map(|tool| tool["function"]["name"].as_str().unwrap()).collect()
    }

    /// The messages, byte for byte, without the end of the list and of the last message.
    fn open_messages(&self) -> &str {
        let end = ["\"}],\"tools\":", "\"}],\"stop\":", "\"}],\"stream\":"].iter().find_map(|end| self.raw.find(end));
        let from = self.raw.find("\"messages\":").unwrap();
        &self.raw[from..end.unwrap_or_else(|| panic!("{}", self.raw))]
    }

    /// This body holds what an earlier one held, byte for byte, and more after it; the tools are the same bytes.
    #[track_caller]
    pub fn assert_continues(&self, earlier: &Self) {
        let (mine, theirs) = (self.open_messages(), earlier.open_messages());
        assert!(mine.starts_with(theirs), "the history is not what it was:\n{theirs}\n{mine}");
        assert_eq!(self.tools(), earlier.tools());
    }

    /// The history for a snapshot: the very JSON, a field a line, without what differs from run to run.
    pub fn shown(&self) -> String {
        let mut history = self.history().to_vec();
        for message in &mut history {
            if let Value::String(text) = &mut message["content"]
                && let Some(from) = text.find("<environment_details>")
                && let Some(end) = text.find("</environment_details>")
            {
                assert!(text[from..end].contains("Working directory: /"), "{text}");
                text.replace_range(from + "<environment_details>".len()..end, "…");
            }
        }
        serde_json::to_string_pretty(&history).unwrap()
    }

    /// What every request must be: legal roles, no empty message, every call with exactly one result right after it, in order, ids distinct.
    #[track_caller]
    pub fn check(&self) {
        let messages = self.messages();
        let role = |at: usize| messages.get(at).map_or("", |message| message["role"].as_str().unwrap());
        let whole = || format!("{:#}", self.json["messages"]);
        assert_eq!(role(0), "system", "{}", whole());
        assert_eq!(role(1), "user", "{}", whole());
        assert!(matches!(role(messages.len() - 1), "user" | "tool"), "nothing to answer: {}", whole());
        let mut ids = BTreeSet::new();
        let mut at = 1;
        while at < messages.len() {
            let message = &messages[at];
            match role(at) {
                "user" => {
                    assert_ne!(role(at + 1), "user", "two of the user's: {}", whole());
                    assert!(!text_of(message).trim().is_empty(), "an empty message: {}", whole());
                }
                "assistant" => {
                    assert_ne!(role(at + 1), "assistant", "two of the model's: {}", whole());
                    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
                    assert!(!text_of(message).trim().is_empty() || !calls.is_empty(), "an empty reply: {}", whole());
                    for call in calls {
                        at += 1;
                        let id = call["id"].as_str().unwrap();
                        assert!(ids.insert(id.to_owned()), "the id {id} twice: {}", whole());
                        assert_eq!(
                            (role(at), messages[at]["tool_call_id"].as_str()),
                            ("tool", Some(id)),
                            "{}",
                            whole()
                        );
                        assert!(!text_of(&messages[at]).trim().is_empty(), "an empty result: {}", whole());
                        let arguments = call["function"]["arguments"].as_str().unwrap();
                        assert!(serde_json::from_str::<Value>(arguments).unwrap().is_object(), "{arguments}");
                    }
                    assert_ne!(role(at + 1), "tool", "a result without a call: {}", whole());
                }
                other => panic!("a message of {other:?}: {}", whole()),
            }
            at += 1;
        }
    }
}

/// The texts of a message, joined.
pub fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
