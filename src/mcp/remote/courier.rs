//! One HTTP exchange: what goes out, and what kind of answer came back.
//!
//! Owns: the client, the entry's own headers, and where the endpoint is. Follows redirects that stay at the same origin, and only those: neither headers nor
//! bodies go anywhere else. Does not know sessions, retries or JSON-RPC.
//!
//! **Invariant:** a header's value is never printed. **Invariant:** no body is read beyond its limit.

use super::events::Events;
use super::failure::{Failure, Refusal};
use crate::mcp::transport::LINE_LIMIT;
use crate::web::{Clients, is_certificate, is_page, place, retry_after, root};
use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// The clients of the MCP thread: its runtime owns their connections.
static CLIENTS: Clients = Clients::new();

/// Most redirects of one request.
const REDIRECTS: usize = 5;
/// Largest body of a refusal that is read, and how long it may take.
const REFUSAL: usize = 64 * 1024;
const REFUSAL_TIME: Duration = Duration::from_secs(5);

/// Headers that the transport sets. An entry's own are left out.
const RESERVED: [&str; 10] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
];

/// What to do at an address.
#[derive(Debug, Clone)]
pub(super) enum Verb {
    /// Hand a message over.
    Post(Bytes),
    /// Open a stream, after this event where there was one before.
    Get(Option<HeaderValue>),
    /// End the session.
    Delete,
}

/// An answer with a status of success.
#[derive(Debug)]
pub(super) struct Reply {
    /// Its status.
    pub(super) status: StatusCode,
    /// Its headers.
    pub(super) headers: HeaderMap,
    /// What it holds.
    pub(super) body: Body,
}

/// What an answer holds.
#[derive(Debug)]
pub(super) enum Body {
    /// Nothing.
    Empty,
    /// One JSON text, whole.
    Json(Bytes),
    /// A stream of events.
    Events(Box<Events>),
}

/// Sends requests of one server.
#[derive(Debug)]
pub(super) struct Courier {
    headers: HeaderMap,
    url: Mutex<Url>,
}

impl Courier {
    /// A courier to `url` that always carries `headers`. The error is the name of a header that cannot be sent.
    pub(super) fn new(url: Url, headers: &[(String, String)]) -> Result<Self, String> {
        let mut map = HeaderMap::with_capacity(headers.len());
        for (name, value) in headers {
            if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
                tracing::warn!(%name, "a header of the entry is set by the transport itself and left out");
                continue;
            }
            let (Ok(key), Ok(mut value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value.trim()))
            else {
                return Err(name.clone());
            };
            value.set_sensitive(true);
            map.append(key, value);
        }
        Ok(Self { headers: map, url: Mutex::new(url) })
    }

    /// The endpoint, where the last redirect left it.
    pub(super) fn url(&self) -> Url {
        self.url.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Exchanges at the endpoint; where it moved within its origin, it is remembered there.
    pub(super) async fn send(&self, verb: Verb, headers: HeaderMap) -> Result<Reply, Failure> {
        let from = self.url();
        let (reply, at) = self.exchange(from.clone(), verb, headers).await?;
        if at != from {
            *self.url.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }
        Ok(reply)
    }

    /// Exchanges at another address of the same origin.
    pub(super) async fn send_to(&self, url: Url, verb: Verb, headers: HeaderMap) -> Result<Reply, Failure> {
        self.exchange(url, verb, headers).await.map(|(reply, _)| reply)
    }

    async fn exchange(&self, mut url: Url, verb: Verb, headers: HeaderMap) -> Result<(Reply, Url), Failure> {
        for _ in 0..=REDIRECTS {
            let response = self.request(&url, &verb, &headers).await?;
            let status = response.status();
            if !status.is_redirection() {
                return Ok((read(response, &url, &verb).await?, url));
            }
            let target = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let Some(mut target) = target.and_then(|to| url.join(to).ok()) else {
                return Err(refused(response).await);
            };
            // "See other" is an invitation to read something else: the message would not arrive.
            if target.origin() != url.origin() || (status == StatusCode::SEE_OTHER && !matches!(verb, Verb::Get(_))) {
                target.set_query(None);
                target.set_fragment(None);
                let _ = target.set_username("");
                let _ = target.set_password(None);
                return Err(Failure::Redirected { to: target.into() });
            }
            url = target;
        }
        Err(Failure::Redirected { to: place(&url) })
    }

    async fn request(&self, url: &Url, verb: &Verb, headers: &HeaderMap) -> Result<Response, Failure> {
        let client = CLIENTS.of(url).map_err(|why| Failure::Certificate { place: place(url), why })?;
        let (method, accept) = match verb {
            Verb::Post(_) => (Method::POST, "application/json, text/event-stream"),
            Verb::Get(_) => (Method::GET, "text/event-stream"),
            Verb::Delete => (Method::DELETE, "*/*"),
        };
        let mut all = self.headers.clone();
        all.extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        all.insert(ACCEPT, HeaderValue::from_static(accept));
        let mut request = client.request(method, url.clone());
        match verb {
            Verb::Post(body) => {
                all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                request = request.body(body.clone());
            }
            Verb::Get(Some(last)) => drop(all.insert("last-event-id", last.clone())),
            Verb::Get(None) | Verb::Delete => {}
        }
        request.headers(all).send().await.map_err(|error| broken(url, &error))
    }
}

fn broken(url: &Url, error: &reqwest::Error) -> Failure {
    let (place, why) = (place(url), root(error));
    if is_certificate(error) {
        Failure::Certificate { place, why }
    } else if error.is_connect() || error.is_builder() {
        Failure::Unreachable { place, why }
    } else {
        Failure::Broken { place, why }
    }
}

async fn read(mut response: Response, url: &Url, verb: &Verb) -> Result<Reply, Failure> {
    let status = response.status();
    if !status.is_success() {
        return Err(refused(response).await);
    }
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let headers = response.headers().clone();
    let reply = |body| Ok(Reply { status, headers, body });
    if kind == "text/event-stream" {
        let last = match verb {
            Verb::Get(Some(last)) => last.to_str().ok().map(str::to_owned),
            _ => None,
        };
        return reply(Body::Events(Box::new(Events::new(response, place(url), last))));
    }
    if matches!(verb, Verb::Delete) || matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return reply(Body::Empty);
    }
    if is_page(response.headers()) {
        return Err(Failure::Page { place: place(url) });
    }
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| broken(url, &error))? {
        if body.len() + piece.len() > LINE_LIMIT {
            return Err(Failure::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    match body.trim_ascii() {
        [] => reply(Body::Empty),
        // Whatever it is called.
        [b'{' | b'[', ..] => reply(Body::Json(body.into())),
        _ if kind.ends_with("json") => reply(Body::Json(body.into())),
        _ => Err(Failure::Kind { place: place(url), kind }),
    }
}

/// A refusal, with what its body says. A body that does not come says nothing that the status does not.
async fn refused(mut response: Response) -> Failure {
    let status = response.status();
    let wait = retry_after(response.headers(), jiff::Timestamp::now()).map(Duration::from_millis);
    let challenged = response.headers().contains_key(WWW_AUTHENTICATE);
    let page = is_page(response.headers());
    let mut body = Vec::new();
    let reading = async {
        while let Ok(Some(piece)) = response.chunk().await {
            body.extend_from_slice(&piece);
            if body.len() >= REFUSAL {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(REFUSAL_TIME, reading).await;
    Failure::Refused(Box::new(Refusal::new(status.as_u16(), if page { b"" } else { &body }, wait, challenged)))
}
