//! HTTP clients, for models and for MCP servers alike.
//!
//! Owns: how a client is built, which one an address needs, and what a connection that failed means.
//! Does not: send anything, retry, or follow redirects (keys and tokens would travel with them).
//!
//! Clients are built when first needed: for this machine, for plain HTTP, for TLS. Proxies come from the environment (`HTTPS_PROXY`, `NO_PROXY` …),
//! except for plain HTTP to this machine, where a proxy never makes sense. Certificates are the system's, or those of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`. Neither is looked at before the first request that needs it.
//!
//! A pool of connections belongs to the runtime that made them, so whoever has a runtime of its own keeps [`Clients`] of its own.

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, ClientBuilder};
use std::error::Error;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;
use url::{Host, Url};

const CONNECT: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// Longest `Retry-After` that is believed.
const LONGEST_WAIT_MS: f64 = 24.0 * 3600.0 * 1000.0;

/// The clients of one runtime.
#[derive(Debug)]
pub struct Clients {
    near: OnceLock<Client>,
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Clients {
    /// None is built yet.
    pub const fn new() -> Self {
        Self { near: OnceLock::new(), plain: OnceLock::new(), secure: OnceLock::new() }
    }

    /// The client for an address. What is on this machine needs neither proxies nor certificates, and certificates take a while to load. The error says
    /// why no secure connection is possible.
    pub fn of(&self, url: &Url) -> Result<&Client, String> {
        let client = match (url.scheme(), is_loopback(url)) {
            ("http", true) => kept(&self.near, |builder| builder.no_proxy().tls_certs_only([]).build()),
            // Certificates are only for the rare proxy that speaks TLS: a machine that has none reaches its neighbours all the same.
            ("http", false) => kept(&self.plain, ClientBuilder::build)
                .or_else(|_| kept(&self.plain, |builder| builder.tls_certs_only([]).build())),
            _ => kept(&self.secure, ClientBuilder::build),
        };
        // The one thing that can fail here is the loading of certificates.
        client.map_err(|error| root(&error))
    }
}

impl Default for Clients {
    fn default() -> Self {
        Self::new()
    }
}

fn kept(
    cell: &OnceLock<Client>,
    build: impl FnOnce(ClientBuilder) -> Result<Client, reqwest::Error>,
) -> Result<&Client, reqwest::Error> {
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

/// Whether an address is on this computer.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// A web page is the answer of another kind of server, or of a login in between.
pub fn is_page(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).is_some_and(|kind| kind.starts_with("text/html"))
}

/// `Retry-After` (RFC 9110, 10.2.3: seconds or a date), or the finer `retry-after-ms` that OpenAI and Azure send. Milliseconds from now.
pub fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<u64> {
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

/// Host and port of an address; the address itself may carry a key.
pub fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether TLS refused a certificate, ours or theirs. Errors of rustls travel inside `io::Error`, which hides them from `source`.
pub fn is_certificate(error: &reqwest::Error) -> bool {
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
pub fn root(error: &reqwest::Error) -> String {
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
    use reqwest::header::HeaderName;

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
