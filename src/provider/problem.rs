//! What went wrong, read off a provider's own error object. Pure.
//!
//! A condition is recognised by HTTP status, error `code` and error `type`, never by the text of a message.
//! The message is the provider's own, at most [`LONGEST`] characters; masking is the transport's work.

use crate::domain::model::{ModelError, ModelErrorKind};
use serde_json::Value;

/// Longest message that is kept, in characters.
pub const LONGEST: usize = 500;

/// An error of ours, without a status.
pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
    ModelError { kind, message: bounded(&message.into()), status: None, retry_after_ms: None }
}

/// The error object inside a reply that began well, if it is one: `{"error": {…}}`, `{"error": "…"}`, `{"object": "error", …}`.
/// Providers send it inside a 200 when the model fails after the headers went out.
pub fn in_reply(frame: &Value) -> Option<ModelError> {
    let flat = frame.get("object").and_then(Value::as_str) == Some("error");
    let object = match frame.get("error") {
        Some(Value::Null | Value::Bool(false)) | None if flat => frame,
        Some(Value::Null | Value::Bool(false)) | None => return None,
        Some(object) => object,
    };
    let status = object.get("code").and_then(number).filter(|code| (400..600).contains(code));
    let kind = by_name(object).or_else(|| status.map(by_status)).unwrap_or(ModelErrorKind::Server);
    let message = message(frame).unwrap_or_else(|| "the provider reported an error without a message".to_owned());
    Some(ModelError { kind, message, status, retry_after_ms: retry_delay(object) })
}

/// The error of a reply with a status other than 2xx. `body` is what came with it, as text.
pub fn of_status(status: u16, reason: &str, body: &str) -> ModelError {
    let parsed = serde_json::from_str::<Value>(body).ok();
    // The Gemini endpoints wrap their error in a list.
    let parsed = parsed.as_ref().and_then(|value| value.get(0).or(Some(value)));
    let object = parsed.map(|value| value.get("error").filter(|inner| inner.is_object()).unwrap_or(value));
    let named = object.and_then(by_name).filter(|kind| {
        // Beside the status only these say more than it.
        matches!(kind, ModelErrorKind::ContextOverflow | ModelErrorKind::Overloaded)
            || (*kind == ModelErrorKind::Auth && status == 400)
    });
    let kind = named.unwrap_or_else(|| by_status(status));
    let message = parsed.and_then(message).or_else(|| plain(body)).unwrap_or_else(|| {
        if reason.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status} {reason}") }
    });
    ModelError { kind, message, status: Some(status), retry_after_ms: object.and_then(retry_delay) }
}

/// The details that Google's APIs add to an error (`google.rpc.ErrorInfo`, `google.rpc.RetryInfo`).
fn details(object: &Value) -> impl Iterator<Item = &Value> {
    object.get("details").and_then(Value::as_array).into_iter().flatten()
}

/// When to come back, milliseconds: `"retryDelay": "26.4s"`.
fn retry_delay(object: &Value) -> Option<u64> {
    let text = details(object).find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    (0.0..=86_400.0).contains(&seconds).then_some((seconds * 1000.0) as u64)
}

fn by_status(status: u16) -> ModelErrorKind {
    match status {
        401 | 403 => ModelErrorKind::Auth,
        404 => ModelErrorKind::NotFound,
        429 => ModelErrorKind::RateLimited,
        529 => ModelErrorKind::Overloaded,
        408 | 409 | 500..=599 => ModelErrorKind::Server,
        _ => ModelErrorKind::BadRequest,
    }
}

/// By the names that providers give in `code`, `type` and `status` (OpenAI, Anthropic, Gemini, OpenRouter, Groq, vLLM, llama.cpp).
fn by_name(object: &Value) -> Option<ModelErrorKind> {
    // Google answers a bad key with 400 and says so in the details only.
    if details(object).any(|detail| detail.get("reason").is_some_and(|reason| reason == "API_KEY_INVALID")) {
        return Some(ModelErrorKind::Auth);
    }
    ["code", "type", "status"].iter().filter_map(|field| object.get(*field)?.as_str()).find_map(|name| {
        Some(match name.to_ascii_lowercase().as_str() {
            "context_length_exceeded" | "exceed_context_size_error" | "context_window_exceeded" => {
                ModelErrorKind::ContextOverflow
            }
            "overloaded_error" | "overloaded" | "server_overloaded" | "engine_overloaded" | "model_overloaded"
            | "unavailable" => ModelErrorKind::Overloaded,
            "rate_limit_error" | "rate_limit_exceeded" | "too_many_requests" | "resource_exhausted" => {
                ModelErrorKind::RateLimited
            }
            "authentication_error"
            | "invalid_api_key"
            | "permission_error"
            | "unauthorized"
            | "unauthenticated"
            | "permission_denied" => ModelErrorKind::Auth,
            "not_found_error" | "model_not_found" | "not_found" => ModelErrorKind::NotFound,
            "invalid_request_error"
            | "badrequesterror"
            | "invalid_prompt"
            | "invalid_argument"
            | "failed_precondition"
            | "request_too_large"
            | "billing_error"
            | "insufficient_quota" => ModelErrorKind::BadRequest,
            "api_error" | "timeout_error" | "server_error" | "internal" | "deadline_exceeded" => ModelErrorKind::Server,
            _ => return None,
        })
    })
}

/// The message of an error body, in the shapes that are in use.
fn message(body: &Value) -> Option<String> {
    let inner = body.get("error").unwrap_or(body);
    let text = [inner.get("message"), inner.get("detail"), body.get("message"), body.get("detail"), Some(inner)]
        .into_iter()
        .flatten()
        .find_map(said)?;
    Some(bounded(&text))
}

fn said(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Array(items) => {
            // A list of violations, as FastAPI writes it: where, and what.
            let lines: Vec<String> = items.iter().filter_map(violation).collect();
            (!lines.is_empty()).then(|| lines.join("; "))
        }
        Value::Object(fields) => said(fields.get("detail")?),
        _ => None,
    }
}

fn violation(item: &Value) -> Option<String> {
    let what = item.get("msg").or_else(|| item.get("message"))?.as_str()?;
    let place: Vec<String> = item.get("loc").and_then(Value::as_array).into_iter().flatten().map(part).collect();
    Some(if place.is_empty() { what.to_owned() } else { format!("{}: {what}", place.join(".")) })
}

fn part(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A body that is a line of plain text. Pages of HTML say nothing that the status does not.
fn plain(body: &str) -> Option<String> {
    let body = body.trim();
    let usable = !body.is_empty() && !body.starts_with(['<', '{', '[']);
    usable.then(|| bounded(body))
}

fn number(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok()
}

/// At most [`LONGEST`] characters of a text.
pub fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            let kept = text[..end].char_indices().next_back().map_or(0, |(last, _)| last);
            format!("{}…", &text[..kept])
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_by_status_and_name() {
        let cases: [(u16, &str, ModelErrorKind, &str); 13] = [
            (400, r#"{"error":{"message":"m","type":"invalid_request_error"}}"#, ModelErrorKind::BadRequest, "m"),
            (
                400,
                r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#,
                ModelErrorKind::ContextOverflow,
                "m",
            ),
            (400, r#"{"error":{"message":"overloaded","code":400}}"#, ModelErrorKind::BadRequest, "overloaded"),
            (401, r#"{"error":{"message":"m","type":"invalid_request_error"}}"#, ModelErrorKind::Auth, "m"),
            (403, "no", ModelErrorKind::Auth, "no"),
            (404, "", ModelErrorKind::NotFound, "HTTP 404 Why"),
            (408, "", ModelErrorKind::Server, "HTTP 408 Why"),
            (409, "", ModelErrorKind::Server, "HTTP 409 Why"),
            (
                422,
                r#"{"message":{"detail":[{"loc":["body","x"],"msg":"no"}]}}"#,
                ModelErrorKind::BadRequest,
                "body.x: no",
            ),
            (429, r#"{"error":"slow down"}"#, ModelErrorKind::RateLimited, "slow down"),
            (502, "<html>bad gateway</html>", ModelErrorKind::Server, "HTTP 502 Why"),
            (500, r#"{"error":{"type":"overloaded_error","message":"m"}}"#, ModelErrorKind::Overloaded, "m"),
            (529, "{}", ModelErrorKind::Overloaded, "HTTP 529 Why"),
        ];
        for (status, body, kind, message) in cases {
            let error = of_status(status, "Why", body);
            assert_eq!((error.kind, error.message.as_str(), error.status), (kind, message, Some(status)), "{body}");
        }
    }

    #[test]
    fn errors_inside_a_reply() {
        let read = |value: Value| in_reply(&value).map(|error| (error.kind, error.message));
        assert_eq!(read(json!({"error": null, "choices": []})), None);
        assert_eq!(read(json!({"error": "boom"})), Some((ModelErrorKind::Server, "boom".into())));
        assert_eq!(
            read(json!({"error": {"code": 429, "message": "m"}})),
            Some((ModelErrorKind::RateLimited, "m".into()))
        );
        assert_eq!(
            read(json!({"object": "error", "message": "m", "code": 400})),
            Some((ModelErrorKind::BadRequest, "m".into()))
        );
        assert!(read(json!({"error": {}})).is_some());
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(bounded(&"é".repeat(LONGEST)).chars().count(), LONGEST);
        let cut = bounded(&"é".repeat(LONGEST + 1));
        assert_eq!((cut.chars().count(), cut.ends_with('…')), (LONGEST, true));
    }
}
