//! HTTP: the only user of reqwest among the providers.
//!
//! Owns: the sending of a request, and what a refused one or a broken connection means.
//! Does not: build clients (`web`: proxies, certificates), retry, follow redirects (a key would travel with them), or read events (`reply`).

use super::EventStream;
use super::problem;
use super::reply::{self, Limits};
use super::wire::Decode;
use crate::domain::model::{ModelError, ModelErrorKind};
use crate::redact::Redactor;
use crate::web::{Clients, is_certificate, is_page, place, retry_after, root};
use bytes::Bytes;
use futures::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Largest error body that is read.
const ERROR_BODY: usize = 64 << 10;
/// Largest answer to [`get_json`].
const JSON_BODY: usize = 4 << 20;

/// Sees the raw bytes of requests and replies, before any parser. The wire view and the relay will hang here.
pub trait Tap: Send + Sync {
    /// The body of a request, as it goes out.
    fn sent(&self, body: &[u8]);
    /// A piece of a reply's body, as it came in.
    fn received(&self, bytes: &[u8]);
}

/// A request, ready to go.
pub struct Outgoing {
    /// Where to.
    pub url: String,
    /// Headers beside the content type. Values are sensitive: they are never printed.
    pub headers: Vec<(String, String)>,
    /// The body, JSON.
    pub body: Vec<u8>,
    /// Reads the reply.
    pub decoder: Box<dyn Decode>,
    /// How long to wait.
    pub limits: Limits,
    /// Masks what errors say.
    pub redactor: Redactor,
    /// Sees the bytes.
    pub tap: Option<Arc<dyn Tap>>,
}

/// Sends a request. Resolves when the reply begins or is refused; dropping the future or the stream cancels it.
pub async fn send(outgoing: Outgoing) -> Result<EventStream, ModelError> {
    let redactor = outgoing.redactor.clone();
    let mask = move |mut error: ModelError| {
        error.message = redactor.mask_text(&error.message).into_owned();
        error
    };
    let stream = exchange(outgoing).await.map_err(&mask)?;
    Ok(Box::pin(stream.map(move |item| item.map_err(&mask))))
}

async fn exchange(outgoing: Outgoing) -> Result<EventStream, ModelError> {
    let Outgoing { url, headers, body, decoder, limits, redactor: _, tap } = outgoing;
    let url = parse(&url)?;
    let client = client(&url)?;
    if let Some(tap) = &tap {
        tap.sent(&body);
    }
    let request = client.post(url.clone()).headers(header_map(&headers)?).body(body).send();
    let response = timeout(limits.idle, request)
        .await
        .map_err(|_| {
            problem::error(ModelErrorKind::Timeout, format!("nothing came for {} s", limits.idle.as_secs_f64()))
        })?
        .map_err(|error| broken(&url, &error))?;
    if !response.status().is_success() {
        return Err(refused(response, tap.as_deref()).await);
    }
    if is_page(response.headers()) {
        let text = format!("{} answered with a web page; is the base URL right?", place(&url));
        return Err(problem::error(ModelErrorKind::Protocol, text));
    }
    let body = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(|error| broken(&url, &error))?;
        if let Some(tap) = &tap {
            tap.received(&piece);
        }
        Ok(piece)
    });
    Ok(reply::events(body, decoder, limits))
}

/// Reads a JSON document, within a time for everything.
pub async fn get_json(
    url: &str,
    headers: &[(String, String)],
    within: Duration,
    redactor: &Redactor,
) -> Result<Value, ModelError> {
    json(Method::GET, url, headers, None, within, redactor).await
}

/// Asks with a JSON document for another, within a time for everything.
pub async fn post_json(
    url: &str,
    headers: &[(String, String)],
    question: &Value,
    within: Duration,
    redactor: &Redactor,
) -> Result<Value, ModelError> {
    json(Method::POST, url, headers, Some(question), within, redactor).await
}

async fn json(
    method: Method,
    url: &str,
    headers: &[(String, String)],
    question: Option<&Value>,
    within: Duration,
    redactor: &Redactor,
) -> Result<Value, ModelError> {
    let reading = async {
        let url = parse(url)?;
        let body = question.map(Value::to_string).unwrap_or_default();
        let request = client(&url)?.request(method, url.clone()).headers(header_map(headers)?).body(body).send();
        let response = request.await.map_err(|error| broken(&url, &error))?;
        if !response.status().is_success() {
            return Err(refused(response, None).await);
        }
        let body = body_of(response, JSON_BODY).await.map_err(|error| broken(&url, &error))?;
        serde_json::from_slice(&body).map_err(|error| problem::error(ModelErrorKind::Protocol, error.to_string()))
    };
    let late = || Err(problem::error(ModelErrorKind::Timeout, format!("no answer in {} s", within.as_secs_f64())));
    timeout(within, reading).await.unwrap_or_else(|_| late()).map_err(|mut error| {
        error.message = redactor.mask_text(&error.message).into_owned();
        error
    })
}

fn parse(url: &str) -> Result<Url, ModelError> {
    let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    parsed.ok_or_else(|| {
        problem::error(ModelErrorKind::BadRequest, format!("the base URL is not an http or https address: {url}"))
    })
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, ModelError> {
    let mut map = HeaderMap::with_capacity(headers.len() + 2);
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    map.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    for (name, value) in headers {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) else {
            let text = format!("the value for the header {name} holds a character that a header cannot carry");
            return Err(problem::error(ModelErrorKind::Auth, text));
        };
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}

/// The client for an address.
fn client(url: &Url) -> Result<&'static Client, ModelError> {
    static CLIENTS: Clients = Clients::new();
    CLIENTS
        .of(url)
        .map_err(|why| problem::error(ModelErrorKind::Certificate, format!("no secure connection is possible: {why}")))
}

async fn refused(response: Response, tap: Option<&dyn Tap>) -> ModelError {
    let status = response.status();
    let wait = retry_after(response.headers(), jiff::Timestamp::now());
    let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    // A body that does not come says nothing that the status does not.
    let body = match timeout(Duration::from_secs(10), body_of(response, ERROR_BODY)).await {
        Ok(Ok(body)) => body,
        _ => Bytes::new(),
    };
    if let Some(tap) = tap {
        tap.received(&body);
    }
    let mut error = problem::of_status(
        status.as_u16(),
        status.canonical_reason().unwrap_or_default(),
        &String::from_utf8_lossy(&body),
    );
    if let (true, Some(target)) = (status.is_redirection(), target) {
        error.message = problem::bounded(&format!("the server points to {target}; set this as the base URL"));
    }
    // The header says it better than a field of the body.
    error.retry_after_ms = wait.or(error.retry_after_ms);
    error
}

async fn body_of(response: Response, largest: usize) -> Result<Bytes, reqwest::Error> {
    let mut stream = response.bytes_stream();
    let mut body = Vec::new();
    while let Some(piece) = stream.next().await {
        body.extend_from_slice(&piece?);
        if body.len() >= largest {
            body.truncate(largest);
            break;
        }
    }
    Ok(body.into())
}

/// What a connection that failed means. The message names the host and the innermost reason; the URL itself may carry a key.
fn broken(url: &Url, error: &reqwest::Error) -> ModelError {
    let kind = if error.is_builder() {
        ModelErrorKind::BadRequest
    } else if is_certificate(error) {
        ModelErrorKind::Certificate
    } else {
        ModelErrorKind::Network
    };
    problem::error(kind, format!("{}: {}", place(url), root(error)))
}
