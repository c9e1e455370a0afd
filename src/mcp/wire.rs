//! From a line to messages that rmcp can route: tolerant where servers are sloppy, so that no call hangs.
//!
//! Owns: which requests are open, and the normalisation of what comes in. Pure: no IO, no clock.
//! rmcp routes by types; whatever does not fit is dropped by it, or answered with an error that no server understands, and its call hangs. So every
//! result but the handshake's is handed on as raw JSON, and so is every request and notification of the server but the two that rmcp itself acts on.
//!
//! **Invariant:** a response to an open request always becomes a message for that request, however malformed it is.
//! **Invariant:** a response is never guessed to belong to a request, except where only one is open, or where the carrier knows which one it answers:
//! then that one fails with what was received.

use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, CustomNotification, CustomRequest, CustomResult,
    ErrorCode, ErrorData, Extensions, InitializeResult, JsonRpcMessage, PingRequest, RequestId, ServerJsonRpcMessage,
    ServerNotification, ServerRequest, ServerResult,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Most values in one message. Each takes up to a hundred bytes of memory, however short it is written.
const VALUES: usize = 500_000;
/// A line that is shorter cannot hold too many.
const SMALL: usize = 2 * VALUES;

/// What one JSON value on the line was.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message for rmcp.
    Message(Box<ServerJsonRpcMessage>),
    /// Not JSON-RPC: a banner, a log line.
    Noise,
    /// JSON-RPC that fits nothing that is open: what it was.
    Stray(String),
    /// An answer to something that is no longer open. Legal: it crossed our cancellation, or came twice.
    Late,
}

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub(super) struct Pending {
    open: HashMap<RequestId, Method>,
    /// The next number that has not been used for a request.
    unused: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Initialize,
    Other,
}

impl Pending {
    /// Notes what is about to be sent.
    pub(super) fn sent(&mut self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                let method = if request.request.method() == "initialize" { Method::Initialize } else { Method::Other };
                if let RequestId::Number(number) = request.id {
                    self.unused = self.unused.max(number + 1);
                }
                self.open.insert(request.id.clone(), method);
            }
            JsonRpcMessage::Notification(note) => {
                if let ClientNotification::CancelledNotification(cancelled) = &note.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    /// Whether a request waits for its answer.
    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.open.contains_key(id)
    }

    /// Ends a request that cannot be answered; `None` if it is not open.
    pub(super) fn fail(&mut self, id: &RequestId, why: impl Into<String>) -> Option<ServerJsonRpcMessage> {
        self.open.remove(id)?;
        Some(JsonRpcMessage::error(broken(why), Some(id.clone())))
    }

    /// What a line holds: one message, several (a batch of 2025-03-26), or noise.
    pub(super) fn read(&mut self, line: &[u8]) -> Vec<Incoming> {
        self.read_of(line, None)
    }

    /// The same for a carrier that knows which request it answers: what names no request is about that one.
    pub(super) fn read_of(&mut self, line: &[u8], request: Option<&RequestId>) -> Vec<Incoming> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if line.len() > SMALL && values(line) > VALUES {
            return vec![self.unreadable(line, &format!("has more than {VALUES} values"), request)];
        }
        match serde_json::from_slice::<Value>(line) {
            Err(error) if line.trim_ascii_start().starts_with(b"{") => {
                vec![self.unreadable(line, &format!("cannot be read ({error})"), request)]
            }
            Ok(Value::Object(map)) => vec![self.message(map, request)],
            Ok(Value::Array(batch)) if !batch.is_empty() => batch
                .into_iter()
                .map(|one| if let Value::Object(map) = one { self.message(map, request) } else { Incoming::Noise })
                .collect(),
            _ => vec![Incoming::Noise],
        }
    }

    /// A message whose contents cannot be read (nested too deep, too much) fails its request, if it says which that is.
    fn unreadable(&mut self, line: &[u8], why: &str, request: Option<&RequestId>) -> Incoming {
        #[derive(Deserialize)]
        struct Head {
            id: Value,
            method: Option<Value>,
        }
        // What is not in the head is passed over without being kept, however deep it is.
        let Ok(Head { id, method: None }) = serde_json::from_slice::<Head>(line) else { return Incoming::Noise };
        let error = json!({ "code": ErrorCode::INTERNAL_ERROR.0, "message": format!("The server's answer {why}.") });
        self.response(Map::from_iter([("id".to_owned(), id), ("error".to_owned(), error)]), request)
    }

    fn message(&mut self, mut map: Map<String, Value>, request: Option<&RequestId>) -> Incoming {
        let answers = map.contains_key("result") || map.contains_key("error");
        match map.remove("method") {
            Some(Value::String(method)) if !answers => from_server(method, map),
            None if map.contains_key("id") => self.response(map, request),
            _ if answers => self.response(map, request),
            _ => Incoming::Noise,
        }
    }

    fn response(&mut self, mut map: Map<String, Value>, request: Option<&RequestId>) -> Incoming {
        let error = map.remove("error").filter(|error| !error.is_null());
        let outcome = match (error, map.remove("result")) {
            (Some(error), _) => Err(error_data(error)),
            (None, Some(result)) => Ok(result),
            (None, None) => Err(broken("The server answered with neither a result nor an error.")),
        };
        let named = map.remove("id").unwrap_or(Value::Null);
        let id = request_id(&named);
        if let Some((id, method)) = id.as_ref().and_then(|id| self.open.remove_entry(id)) {
            return answer(id, method, outcome);
        }
        if let Some(RequestId::Number(number)) = id
            && (0..self.unused).contains(&number)
        {
            return Incoming::Late;
        }
        // It names nothing we ever asked.
        let problem = match outcome {
            Err(error) if named.is_null() => error,
            Err(error) => {
                broken(format!("The server answered a request that was never made ({named}): {}", error.message))
            }
            Ok(_) if named.is_null() => broken("The server answered without saying which request."),
            Ok(_) => broken(format!("The server answered a request that was never made ({named}).")),
        };
        let only = match request {
            Some(request) => self.open.remove_entry(request),
            None if self.open.len() == 1 => self.open.drain().next(),
            None => None,
        };
        match only {
            Some((id, method)) => answer(id, method, Err(problem)),
            None => Incoming::Stray(problem.message.into_owned()),
        }
    }
}

/// The error of JSON-RPC that a body holds, whichever request it names.
pub(super) fn error_in(body: &[u8]) -> Option<ErrorData> {
    let Ok(Value::Object(mut map)) = serde_json::from_slice::<Value>(body) else { return None };
    let ours = map.contains_key("jsonrpc") || map.contains_key("id");
    let error = map.remove("error").filter(|error| ours && error.is_object())?;
    Some(error_data(error))
}

/// How many values a JSON text holds, roughly: one for each comma and each bracket outside of texts.
fn values(line: &[u8]) -> usize {
    let (mut count, mut in_text, mut escaped) = (0, false, false);
    for byte in line {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b',' | b'[' | b'{') => count += 1,
            _ => {}
        }
    }
    count
}

/// The id of a message: an integer (also written as `7.0` or `"7"`) or a text.
fn request_id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => {
            Some(text.parse().map_or_else(|_| RequestId::String(text.as_str().into()), RequestId::Number))
        }
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)).map(RequestId::Number),
        _ => None,
    }
}

/// A float that stands for an integer, within what a float can say exactly.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
}

fn answer(id: RequestId, method: Method, outcome: Result<Value, ErrorData>) -> Incoming {
    let outcome = outcome.and_then(|value| match method {
        Method::Initialize => initialize_result(value).map(ServerResult::InitializeResult).map_err(broken),
        Method::Other => Ok(ServerResult::CustomResult(CustomResult(value))),
    });
    Incoming::Message(Box::new(match outcome {
        Ok(result) => JsonRpcMessage::response(result, id),
        Err(error) => JsonRpcMessage::error(error, Some(id)),
    }))
}

/// A request or a notification of the server.
fn from_server(method: String, mut map: Map<String, Value>) -> Incoming {
    let params = map.remove("params").filter(|params| !params.is_null());
    let id = map.remove("id").filter(|id| !id.is_null());
    let Some(id) = id else {
        return Incoming::Message(Box::new(JsonRpcMessage::notification(notification(method, params))));
    };
    // Answered with the id as it was written: a text stays a text.
    let id = match &id {
        Value::String(text) => RequestId::String(text.as_str().into()),
        other => match request_id(other) {
            Some(id) => id,
            None => return Incoming::Stray(format!("The server sent a request with an unusable id ({other}).")),
        },
    };
    let request = if method == "ping" {
        ServerRequest::PingRequest(PingRequest {
            method: rmcp::model::PingRequestMethod,
            extensions: Extensions::default(),
        })
    } else {
        ServerRequest::CustomRequest(CustomRequest::new(method, params))
    };
    Incoming::Message(Box::new(JsonRpcMessage::request(request, id)))
}

fn notification(method: String, params: Option<Value>) -> ServerNotification {
    // rmcp itself acts on this one: it calls off the handler of the server's request.
    if method == "notifications/cancelled"
        && let Some(Ok(params)) = params.clone().map(serde_json::from_value)
    {
        return ServerNotification::CancelledNotification(CancelledNotification::new(params));
    }
    ServerNotification::CustomNotification(CustomNotification::new(method, params))
}

/// An error object, made whole. JSON-RPC wants an integer code and a message; what a server put there instead is kept in the message.
fn error_data(error: Value) -> ErrorData {
    let Value::Object(mut map) = error else {
        let text = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
        return broken(text);
    };
    let code = map.remove("code").unwrap_or(Value::Null);
    let number = code.as_i64().or_else(|| whole(code.as_f64()?)).and_then(|number| i32::try_from(number).ok());
    let message = match (map.remove("message"), map.get("data")) {
        (Some(Value::String(message)), _) if !message.is_empty() => message,
        (Some(other), _) if !other.is_null() && other != json!("") => other.to_string(),
        (_, Some(Value::String(data))) => data.clone(),
        (_, Some(data)) => data.to_string(),
        _ => "The server gave no message.".to_owned(),
    };
    match number {
        Some(number) => ErrorData::new(ErrorCode(number), message, map.remove("data")),
        None if code.is_null() => ErrorData::new(ErrorCode::INTERNAL_ERROR, message, map.remove("data")),
        None => ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("{message} (code {code})"), map.remove("data")),
    }
}

fn broken(message: impl Into<String>) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, message.into(), None)
}

/// The handshake's result, with what is missing or of a wrong type replaced by nothing. Only the protocol version must be there.
fn initialize_result(value: Value) -> Result<InitializeResult, String> {
    let version = value.get("protocolVersion").and_then(Value::as_str);
    let version = version.ok_or("The server's answer to initialize has no protocolVersion.")?;
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let identity = value.get("serverInfo").cloned().unwrap_or_default();
    let mut clean = json!({
        "protocolVersion": version,
        "capabilities": capabilities(value.get("capabilities")),
        "serverInfo": { "name": text(&identity, "name"), "version": text(&identity, "version") },
    });
    if let Some(Value::String(instructions)) = value.get("instructions") {
        clean["instructions"] = json!(instructions);
    }
    serde_json::from_value(clean).map_err(|error| format!("The server's answer to initialize is unusable: {error}"))
}

/// Capabilities, each as it is where rmcp can read it, else as an empty object: it is there.
fn capabilities(value: Option<&Value>) -> Value {
    let mut out = Map::new();
    for (name, settings) in value.and_then(Value::as_object).into_iter().flatten() {
        let there = !matches!(settings, Value::Null | Value::Bool(false));
        let one = json!({ name.as_str(): settings });
        let legible = settings.is_object() && serde_json::from_value::<rmcp::model::ServerCapabilities>(one).is_ok();
        if there {
            out.insert(name.clone(), if legible { settings.clone() } else { json!({}) });
        }
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests;
