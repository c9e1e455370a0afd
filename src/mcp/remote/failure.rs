//! What a failed exchange means: for the request, for the session, and in words.
//!
//! Owns no state. A condition is recognised by status, header and error code, never by the text of a message.

use crate::domain::Phrase;
use crate::domain::server::ServerState;
use crate::mcp::convert;
use crate::mcp::lost::{Effect, Lost};
use crate::mcp::reason::Trouble;
use crate::mcp::transport::LINE_LIMIT;
use crate::mcp::wire;
use rmcp::model::ErrorData;
use serde_json::Value;
use std::time::Duration;

/// Longest quotation of what a server says, bytes.
const SAID: usize = 1_000;

/// Why an exchange gave no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// There was no connection: not a byte of the request was sent.
    Unreachable {
        /// Host and port.
        place: String,
        /// The system's reason.
        why: String,
    },
    /// TLS does not trust it, or there is nothing to trust with.
    Certificate {
        /// Host and port.
        place: String,
        /// The reason.
        why: String,
    },
    /// The connection broke after the request was on its way.
    Broken {
        /// Host and port.
        place: String,
        /// The system's reason.
        why: String,
    },
    /// It answered with an error.
    Refused(Box<Refusal>),
    /// It has forgotten the session, and there is no new one.
    NoSession,
    /// It points to another place.
    Redirected {
        /// Where to.
        to: String,
    },
    /// Its stream names an address at another place for messages.
    Foreign {
        /// That address.
        to: String,
    },
    /// It answered with a web page.
    Page {
        /// Host and port.
        place: String,
    },
    /// It answered with something that is neither JSON nor a stream of events.
    Kind {
        /// Host and port.
        place: String,
        /// The content type.
        kind: String,
    },
    /// Its answer is larger than can be kept.
    TooLarge,
    /// It accepted a request and answered nothing.
    Unanswered {
        /// The status it accepted it with.
        status: u16,
    },
    /// The stream of events ended before the answer, and could not be taken up again.
    Cut {
        /// Host and port.
        place: String,
        /// How it ended.
        why: String,
    },
}

/// A status of failure.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The status.
    pub(super) status: u16,
    /// The error of JSON-RPC in its body.
    error: Option<ErrorData>,
    /// What its body says otherwise.
    said: Option<String>,
    /// The pause it asks for.
    wait: Option<Duration>,
    /// It says how to log in.
    challenged: bool,
}

impl Refusal {
    /// A refusal with this status and body.
    pub(super) fn new(status: u16, body: &[u8], wait: Option<Duration>, challenged: bool) -> Self {
        let error = wire::error_in(body);
        let said = match &error {
            Some(error) => Some(format!("{} (error {})", convert::clip(&error.message, SAID), error.code.0)),
            None => said(body),
        };
        Self { status, error, said, wait, challenged }
    }

    fn wants_login(&self) -> bool {
        self.status == 401 || (self.status == 403 && self.challenged)
    }
}

/// What the body of a refusal says, in the shapes that are in use.
fn said(body: &[u8]) -> Option<String> {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => {
            let error = value.get("error").unwrap_or(&value);
            let places = ["error_description", "message", "detail", "error"];
            let inner = places.iter().find_map(|key| value.get(key).or_else(|| error.get(key))?.as_str());
            inner.or_else(|| error.as_str()).map(str::to_owned)
        }
        Err(_) => std::str::from_utf8(body).ok().filter(|text| !text.trim_start().starts_with('<')).map(str::to_owned),
    }?;
    let text = text.trim();
    (!text.is_empty()).then(|| convert::clip(text, SAID))
}

impl Failure {
    /// Nothing of the request reached the server: sending it again is no repetition.
    pub(super) fn never_sent(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    /// It may go away by itself, so that what harms nobody may be asked again.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Broken { .. } | Self::Cut { .. } => true,
            Self::Refused(refusal) => matches!(refusal.status, 408 | 425 | 429 | 500 | 502..=504),
            _ => false,
        }
    }

    /// The pause that the server asks for.
    pub(super) fn wait(&self) -> Option<Duration> {
        if let Self::Refused(refusal) = self { refusal.wait } else { None }
    }

    /// The session is not known any more. Source: MCP 2025-11-25, "Session Management" (404). Servers in use answer 400 with an error of
    /// their own kind instead.
    pub(super) fn is_stale(&self) -> bool {
        match self {
            Self::Refused(refusal) => refusal.status == 404 || self.is_stale_by_error(),
            _ => false,
        }
    }

    /// The same, said with 400 and an error: a guess.
    pub(super) fn is_stale_by_error(&self) -> bool {
        let Self::Refused(refusal) = self else { return false };
        let code = refusal.error.as_ref().map(|error| error.code.0);
        refusal.status == 400 && matches!(code, Some(-32000 | -32001 | -32600))
    }

    /// It may be a server of the older transport. Source: MCP 2025-11-25, "Backwards Compatibility" (400, 404, 405 and the like).
    pub(super) fn suggests_sse(&self) -> bool {
        match self {
            Self::Refused(refusal) => {
                (400..500).contains(&refusal.status) && !matches!(refusal.status, 401 | 403 | 407 | 408 | 425 | 429)
            }
            _ => false,
        }
    }

    /// It wants a login.
    pub(super) fn wants_login(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.wants_login())
    }

    /// What it means for the request. `server` and `file` name the entry.
    pub(super) fn lost(&self, server: &str, file: &str) -> Lost {
        let effect = match self {
            Self::Unreachable { .. }
            | Self::Certificate { .. }
            | Self::NoSession
            | Self::Redirected { .. }
            | Self::Foreign { .. } => Effect::None,
            Self::Refused(refusal) if (400..500).contains(&refusal.status) && refusal.status != 408 => Effect::None,
            _ => Effect::Possible,
        };
        let state = self.wants_login().then_some(ServerState::NeedsAuth);
        Lost { trouble: self.trouble(server, file), effect, state, passes: self.passes() }
    }

    fn trouble(&self, server: &str, file: &str) -> Trouble {
        let fix = |key: &'static str| Phrase::new(key).with("server", server).with("file", file);
        match self {
            Self::Unreachable { place, why } => Trouble::new(
                Phrase::new("server.unreachable").with("place", place).with("error", why),
                fix("server.fix_reach"),
            ),
            Self::Certificate { place, why } => Trouble::new(
                Phrase::new("server.certificate").with("place", place).with("error", why),
                Phrase::new("server.fix_certificate"),
            ),
            Self::Broken { place, why } | Self::Cut { place, why } => Trouble::new(
                Phrase::new("server.cut").with("place", place).with("error", why),
                Phrase::new("server.fix_restart"),
            ),
            Self::Refused(refusal) => refusal.trouble(&fix),
            Self::NoSession => Trouble::new(Phrase::new("server.no_session"), Phrase::new("server.fix_restart")),
            Self::Redirected { to } => {
                Trouble::new(Phrase::new("server.redirected").with("to", to), fix("server.fix_redirect"))
            }
            Self::Foreign { to } => Trouble::new(
                Phrase::new("server.foreign").with("to", convert::clip(to, SAID)),
                Phrase::new("server.fix_report"),
            ),
            Self::Page { place } => {
                Trouble::new(Phrase::new("server.page").with("place", place), fix("server.fix_url"))
            }
            Self::Kind { place, kind } => Trouble::new(
                Phrase::new("server.kind").with("place", place).with("kind", convert::clip(kind, 80)),
                fix("server.fix_url"),
            ),
            Self::TooLarge => too_large(),
            Self::Unanswered { status } => {
                Trouble::new(Phrase::new("server.unanswered").with("status", status), Phrase::new("server.fix_report"))
            }
        }
    }
}

impl Refusal {
    fn trouble(&self, fix: &impl Fn(&'static str) -> Phrase) -> Trouble {
        let status = self.status;
        let reason = match &self.said {
            Some(said) => Phrase::new("server.http_saying").with("status", status).with("said", said),
            None => Phrase::new("server.http").with("status", status),
        };
        let fix = match status {
            _ if self.wants_login() => fix("server.fix_auth"),
            403 => fix("server.fix_forbidden"),
            404 | 405 | 410 => fix("server.fix_url"),
            429 | 503 => fix("server.fix_wait"),
            500.. => Phrase::new("server.fix_restart"),
            _ => Phrase::new("server.fix_protocol"),
        };
        Trouble::new(reason, fix)
    }
}

/// An answer that is larger than can be kept.
pub(super) fn too_large() -> Trouble {
    let reason = Phrase::new("server.answer_too_large").with("limit", LINE_LIMIT / (1024 * 1024));
    Trouble::new(reason, Phrase::new("server.fix_report"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, body: &str, challenged: bool) -> Failure {
        Failure::Refused(Box::new(Refusal::new(status, body.as_bytes(), None, challenged)))
    }

    #[test]
    fn statuses_and_what_follows_from_them() {
        let lost = |failure: &Failure| failure.lost("s", "f");
        let fix = |failure: &Failure| lost(failure).trouble.fix.unwrap().key;
        for (status, challenged, effect, state, key) in [
            (401, false, Effect::None, Some(ServerState::NeedsAuth), "server.fix_auth"),
            (403, false, Effect::None, None, "server.fix_forbidden"),
            (403, true, Effect::None, Some(ServerState::NeedsAuth), "server.fix_auth"),
            (404, false, Effect::None, None, "server.fix_url"),
            (408, false, Effect::Possible, None, "server.fix_protocol"),
            (429, false, Effect::None, None, "server.fix_wait"),
            (500, false, Effect::Possible, None, "server.fix_restart"),
            (503, false, Effect::Possible, None, "server.fix_wait"),
        ] {
            let failure = refused(status, "", challenged);
            assert_eq!(
                (lost(&failure).effect, lost(&failure).state, &*fix(&failure)),
                (effect, state, key),
                "{status}"
            );
        }
        assert!([400, 404, 405, 415].iter().all(|status| refused(*status, "", false).suggests_sse()));
        assert!(![401, 403, 429, 500].iter().any(|status| refused(*status, "", false).suggests_sse()));
        assert!(refused(404, "", false).is_stale() && !refused(400, "no", false).is_stale());
        let stale = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session ID"},"id":null}"#;
        assert!(refused(400, stale, false).is_stale());
        assert!(!refused(501, "", false).passes() && refused(503, "", false).passes());
    }

    #[test]
    fn what_a_body_says() {
        for (body, says) in [
            (
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request"},"id":null}"#,
                "Bad Request (error -32000)",
            ),
            (r#"{"error":"invalid_token","error_description":"expired"}"#, "expired"),
            (r#"{"error":{"message":"slow down"}}"#, "slow down"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            ("  plain  ", "plain"),
        ] {
            assert_eq!(Refusal::new(400, body.as_bytes(), None, false).said.as_deref(), Some(says), "{body}");
        }
        for body in ["", "<html>no</html>", "{}", "\u{0}\u{1}\u{0}".trim()] {
            let said = Refusal::new(400, body.as_bytes(), None, false).said;
            assert!(said.is_none() || body.starts_with('\0'), "{body}: {said:?}");
        }
    }
}
