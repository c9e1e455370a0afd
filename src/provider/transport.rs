//! HTTP: the only user of reqwest among the providers.
//!
//! Owns: the clients (built when first needed: for this machine, for plain HTTP, for TLS), the sending of a request, and what a refused one or
//! a broken connection means.
//! Does not: retry, follow redirects (a key would travel with them), or read events (`reply`).
//!
//! Proxies come from the environment (`HTTPS_PROXY`, `NO_PROXY` …), except for loopback, where a proxy never makes sense. Certificates are the
//! system's, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR`. Neither is looked at before the first request to
//! another machine.

use super::EventStream;
use super::problem;
use super::reply::{self, Limits};
use super::wire::Decode;
use crate::domain::model::{ModelError, ModelErrorKind};
use crate::redact::Redactor;
use bytes::Bytes;
use futures::StreamExt;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, ClientBuilder, Method, Response};
use serde_json::Value;
use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;
use url::{Host, Url};

const CONNECT: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// Largest error body that is read.
const ERROR_BODY: usize = 64 << 10;
/// Largest answer to [`get_json`].
const JSON_BODY: usize = 4 << 20;
/// Longest `Retry-After` that is believed.
const LONGEST_WAIT_MS: f64 = 24.0 * 3600.0 * 1000.0;

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

/// The client for an address. Models on this machine need neither proxies nor certificates, and certificates take a while to load.
fn client(url: &Url) -> Result<&'static Client, ModelError> {
    static NEAR: OnceLock<Client> = OnceLock::new();
    static PLAIN: OnceLock<Client> = OnceLock::new();
    static SECURE: OnceLock<Client> = OnceLock::new();
    let client = match (url.scheme(), is_loopback(url)) {
        ("http", true) => kept(&NEAR, |builder| builder.no_proxy().tls_certs_only([]).build()),
        // Certificates are only for the rare proxy that speaks TLS: a machine that has none reaches its neighbours all the same.
        ("http", false) => {
            kept(&PLAIN, ClientBuilder::build).or_else(|_| kept(&PLAIN, |builder| builder.tls_certs_only([]).build()))
        }
        _ => kept(&SECURE, ClientBuilder::build),
    };
    client.map_err(|error| {
        // The one thing that can fail here is the loading of certificates.
        problem::error(ModelErrorKind::Certificate, format!("no secure connection is possible: {}", root(&error)))
    })
}

fn kept(
    cell: &'static OnceLock<Client>,
    build: impl FnOnce(ClientBuilder) -> Result<Client, reqwest::Error>,
) -> Result<&'static Client, reqwest::Error> {
    if let Some(client) = cell.get() {
        return Ok(client);
    }
    let builder = Client::builder()
        .user_agent(concat!("mcpane/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEEP_ALIVE)
        .redirect(reqwest::redirect::Policy::none());
    let client = build(builder)?;
    Ok(cell.get_or_init(|| client))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A web page is the answer of another kind of server, or of a login in between.
fn is_page(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|kind| kind.starts_with("text/html"))
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

/// `Retry-After` (RFC 9110, 10.2.3: seconds or a date), or the finer `retry-after-ms` that OpenAI and Azure send. Milliseconds from now.
fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<u64> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    let wait = millis.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        if let Ok(seconds) = text.parse::<f64>() {
            return Some(seconds * 1000.0);
        }
        let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
        Some((then.as_millisecond() - now.as_millisecond()) as f64)
    })?;
    wait.is_finite().then(|| wait.clamp(0.0, LONGEST_WAIT_MS) as u64)
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

fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether TLS refused a certificate, ours or theirs. Errors of rustls travel inside `io::Error`, which hides them from `source`.
fn is_certificate(error: &reqwest::Error) -> bool {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return matches!(
                tls,
                rustls::Error::InvalidCertificate(_)
                    | rustls::Error::NoCertificatesPresented
                    | rustls::Error::InvalidCertRevocationList(_)
            ) || is_alert(tls);
        }
        next = inner(error);
    }
    false
}

fn is_alert(error: &rustls::Error) -> bool {
    use rustls::AlertDescription as Alert;
    matches!(
        error,
        rustls::Error::AlertReceived(
            Alert::BadCertificate
                | Alert::UnsupportedCertificate
                | Alert::CertificateRevoked
                | Alert::CertificateExpired
                | Alert::CertificateUnknown
                | Alert::UnknownCA
                | Alert::CertificateRequired
        )
    )
}

fn inner<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(inside) => Some(inside),
        None => error.source(),
    }
}

/// The innermost reason: the outer ones say only "error sending request".
fn root(error: &reqwest::Error) -> String {
    let mut last: &(dyn Error + 'static) = error;
    while let Some(next) = inner(last) {
        last = next;
    }
    // An error of reqwest itself would print its URL.
    if last.is::<reqwest::Error>() { "the request failed".to_owned() } else { last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_in_all_its_forms() {
        let now: jiff::Timestamp = "1994-11-06T08:49:07Z".parse().unwrap();
        let read = |pairs: &[(&'static str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
            retry_after(&headers.collect(), now)
        };
        assert_eq!(read(&[("retry-after", "7")]), Some(7000));
        assert_eq!(read(&[("retry-after", " 0.5 ")]), Some(500));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]), Some(30_000));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(0));
        assert_eq!(read(&[("retry-after-ms", "120"), ("retry-after", "7")]), Some(120));
        assert_eq!(read(&[("retry-after", "soon")]), None);
        assert_eq!(read(&[("retry-after", "inf")]), None);
        assert_eq!(read(&[("retry-after", "-3")]), Some(0));
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn only_this_machine_is_near() {
        let near = |url| is_loopback(&Url::parse(url).unwrap());
        assert!(near("http://localhost:1/") && near("http://127.0.0.2/") && near("http://[::1]:8/"));
        assert!(!near("http://example.com/") && !near("http://127.0.0.1.example.com/") && !near("http://10.0.0.1/"));
    }
}
