//! HTTP with SSE, the transport of 2024-11-05: one stream for everything that comes, which names the address for everything that goes.
//!
//! Owns: that address. A cut stream is the end of the session: there is no way to take it up again.

use super::courier::{Body, Reply, Verb};
use super::events::Events;
use super::failure::Failure;
use super::sse::Event;
use super::streamable::TRIES;
use super::{Remote, What};
use crate::mcp::backoff::Tries;
use crate::mcp::transport::Fault;
use bytes::Bytes;
use reqwest::header::HeaderMap;
use rmcp::model::RequestId;
use std::sync::{Arc, OnceLock};
use url::Url;

/// Where messages go; `None` before the stream has named it, and where the other transport is spoken.
#[derive(Debug, Default)]
pub(super) struct Endpoint(OnceLock<Url>);

impl Endpoint {
    pub(super) fn get(&self) -> Option<&Url> {
        self.0.get()
    }
}

/// Opens the stream and waits for the address; tried again as often as told where there is no connection.
pub(super) async fn open(remote: &Arc<Remote>, tries: u32) -> Result<(), Failure> {
    let mut tries = Tries::new(tries);
    loop {
        match attempt(remote).await {
            Err(failure) if failure.passes() => {
                let Some(pause) = tries.next(failure.wait()) else { return Err(failure) };
                remote.waver(&failure);
                tokio::time::sleep(pause).await;
            }
            other => {
                remote.link.waver(None);
                return other;
            }
        }
    }
}

async fn attempt(remote: &Arc<Remote>) -> Result<(), Failure> {
    let reply = remote.courier.send(Verb::Get(None), HeaderMap::new()).await?;
    let Body::Events(mut events) = reply.body else {
        return Err(Failure::Kind { place: crate::web::place(&remote.courier.url()), kind: "application/json".into() });
    };
    remote.link.talking.cancel();
    let address = loop {
        match events.next().await {
            Ok(Some(Event::Message { name, data })) if name == "endpoint" => break data,
            Ok(Some(_)) => {}
            Ok(None) => return Err(cut(&events, None)),
            Err(why) => return Err(cut(&events, Some(why))),
        }
    };
    let base = remote.courier.url();
    let address = String::from_utf8_lossy(&address).trim().to_owned();
    match base.join(&address) {
        Ok(url) if url.origin() == base.origin() => {
            let _ = remote.endpoint.0.set(url);
        }
        Ok(mut url) => {
            url.set_query(None);
            return Err(Failure::Foreign { to: url.into() });
        }
        Err(_) => return Err(Failure::Foreign { to: address }),
    }
    let reader = Arc::clone(remote);
    remote.spawn(async move { read(&reader, *events).await });
    Ok(())
}

fn cut(events: &Events, why: Option<String>) -> Failure {
    Failure::Cut { place: events.place.clone(), why: why.unwrap_or_else(|| "the stream ended".to_owned()) }
}

async fn read(remote: &Arc<Remote>, mut events: Events) {
    let why = loop {
        match events.next().await {
            Ok(Some(Event::Message { name, data })) if name.is_empty() || name == "message" => {
                remote.deliver(&data, None).await;
            }
            Ok(Some(Event::Message { .. })) => {}
            // Nobody can tell whose answer it was.
            Ok(Some(Event::TooLarge)) => return remote.link.end(Fault::Lost(super::failure::too_large())),
            Ok(None) => break None,
            Err(why) => break Some(why),
        }
    };
    let trouble = remote.lost(&cut(&events, why)).trouble;
    remote.link.end(Fault::Lost(trouble));
}

/// Hands a request over. Its answer comes with the stream.
pub(super) async fn request(remote: &Arc<Remote>, id: &RequestId, what: What, body: Bytes) -> Result<(), Failure> {
    let reply = post(remote, what, body).await?;
    if let Body::Json(body) = reply.body {
        // Some say more than "accepted". Only an answer counts.
        let answers = serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|body| body.get("id").is_some());
        if answers {
            remote.deliver(&body, Some(id)).await;
        }
    }
    Ok(())
}

/// Hands a message over; again only where it certainly did not arrive.
pub(super) async fn post(remote: &Arc<Remote>, what: What, body: Bytes) -> Result<Reply, Failure> {
    let Some(endpoint) = remote.endpoint.get() else {
        return Err(Failure::Cut { place: crate::web::place(&remote.courier.url()), why: "no stream".to_owned() });
    };
    let mut tries = Tries::new(TRIES);
    loop {
        let sent = remote.courier.send_to(endpoint.clone(), Verb::Post(body.clone()), HeaderMap::new()).await;
        let failure = match sent {
            Ok(reply) => return Ok(reply),
            Err(failure) => failure,
        };
        let pause = if failure.never_sent() && what != What::Handshake { tries.next(None) } else { None };
        let Some(pause) = pause else { return Err(failure) };
        tokio::time::sleep(pause).await;
    }
}
