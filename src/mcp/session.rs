//! One open session with a server, whatever carries it.
//!
//! Owns: rmcp's running service. Requests here always have a time limit: rmcp's own methods set none, and a server that never answers would
//! hang them for ever. Results are raw JSON; `convert` reads them.

use super::calls::Calls;
use super::convert;
use super::handler::Handler;
use super::reason::Trouble;
use super::transport::Link;
use crate::domain::Phrase;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest, ErrorData, ListToolsRequest,
    PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams, RequestId, ServerPeerInfo, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Most pages of a list.
const PAGES: usize = 200;
/// Most tools of a server.
const TOOLS: usize = 5_000;
/// How long a notification may take to be written.
const NOTIFY: Duration = Duration::from_millis(500);
/// How long the calls that are called off may take to tell the server so, all together.
const CALL_OFF: Duration = Duration::from_millis(600);

/// An open session.
pub(super) struct Session {
    service: RunningService<RoleClient, Handler>,
    /// The calls in flight, shared with the handler.
    pub(super) calls: Arc<Calls>,
    /// What the carrier tells beside messages.
    pub(super) link: Arc<Link>,
    /// Set when the session is about to be ended: its calls are called off.
    pub(super) stop: CancellationToken,
    /// Its calls, until the server was told that they are called off.
    pub(super) running: TaskTracker,
    ended: watch::Receiver<Option<Trouble>>,
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum RequestError {
    /// The server answered with an error.
    Refused(ErrorData),
    /// The carrier could not carry it.
    Lost(Trouble),
    /// It did not answer in time.
    TimedOut(Duration),
    /// The session is over.
    Ended(Trouble),
}

/// A list of definitions as received.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// All of them.
    pub(super) tools: Vec<Value>,
    /// Why there may be more.
    pub(super) cut: Option<String>,
}

impl Session {
    pub(super) fn new(
        service: RunningService<RoleClient, Handler>,
        calls: Arc<Calls>,
        link: Arc<Link>,
        ended: watch::Receiver<Option<Trouble>>,
    ) -> Self {
        Self { service, calls, link, stop: CancellationToken::new(), running: TaskTracker::new(), ended }
    }

    /// Where requests go.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// What the server said of itself in the handshake.
    pub(super) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.service.peer_info()
    }

    /// Waits until the session is over; why.
    pub(super) async fn end(&self) -> Trouble {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(trouble) => trouble.clone(),
            Err(_) => None,
        }
        .unwrap_or_else(|| Trouble::from(Phrase::new("server.closed")))
    }

    /// Calls off its calls, gives them the time to tell the server so, and ends the protocol. The carrier is ended by whoever owns it.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        self.running.close();
        let _ = tokio::time::timeout(CALL_OFF, self.running.wait()).await;
        self.service.cancellation_token().cancel();
    }

    /// Tells the server that an answer is no longer wanted. It goes on running.
    pub(super) async fn cancel(&self, id: RequestId, why: &str) {
        // It may just have failed: nobody will ask why.
        drop(self.link.take_lost(&id));
        let params = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
        let note = ClientNotification::CancelledNotification(CancelledNotification::new(params));
        // A server that does not read its input keeps the pipe full.
        let _ = tokio::time::timeout(NOTIFY, self.peer().send_notification(note)).await;
    }

    /// Sends a request and waits for its result, no longer than `limit`.
    pub(super) async fn request(&self, request: ClientRequest, limit: Duration) -> Result<Value, RequestError> {
        let sent = self.peer().send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let Ok(mut handle) = sent else { return Err(RequestError::Ended(self.end().await)) };
        tokio::select! {
            biased;
            answer = &mut handle.rx => match answer {
                Ok(Ok(result)) => Ok(raw(result)),
                Ok(Err(ServiceError::McpError(error))) => Err(match self.link.take_lost(&handle.id) {
                    Some(lost) => RequestError::Lost(lost.trouble),
                    None => RequestError::Refused(error),
                }),
                _ => Err(RequestError::Ended(self.end().await)),
            },
            trouble = self.end() => Err(RequestError::Ended(trouble)),
            () = tokio::time::sleep(limit) => {
                self.cancel(handle.id, "timed out").await;
                Err(RequestError::TimedOut(limit))
            }
        }
    }

    /// All tools, page by page; `limit` is for each page. Cursor loops and endless lists are cut.
    pub(super) async fn list_tools(&self, limit: Duration) -> Result<Listing, RequestError> {
        let mut listing = Listing::default();
        if self.info().is_none_or(|info| info.capabilities.tools.is_none()) {
            return Ok(listing);
        }
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        for _ in 0..PAGES {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let request = ListToolsRequest { params, ..ListToolsRequest::default() };
            let mut page = self.request(ClientRequest::ListToolsRequest(request), limit).await?;
            let Some(Value::Array(tools)) = page.get_mut("tools").map(Value::take) else {
                listing.cut = Some("a page of the list has no tools in it".to_owned());
                return Ok(listing);
            };
            listing.tools.extend(tools);
            let Some(next) = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()) else {
                return Ok(listing);
            };
            if listing.tools.len() > TOOLS {
                listing.tools.truncate(TOOLS);
                listing.cut = Some(format!("the list has more than {TOOLS} tools; the rest is left out"));
                return Ok(listing);
            }
            if !seen.insert(next.to_owned()) {
                listing.cut = Some("the list's cursor comes again and again".to_owned());
                return Ok(listing);
            }
            cursor = Some(next.to_owned());
        }
        listing.cut = Some(format!("the list has more than {PAGES} pages; the rest is left out"));
        Ok(listing)
    }

    /// The contents of a resource.
    pub(super) async fn read_resource(&self, uri: &str, limit: Duration) -> Result<Value, RequestError> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        self.request(ClientRequest::ReadResourceRequest(request), limit).await
    }
}

impl RequestError {
    /// For the model and the user.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Refused(error) => error_text(error),
            Self::TimedOut(limit) => format!("the server did not answer within {} s", limit.as_secs_f32()),
            Self::Lost(trouble) | Self::Ended(trouble) => trouble.text(),
        }
    }
}

/// A server's error in words: what it says, its code, and its data where that is short.
pub(super) fn error_text(error: &ErrorData) -> String {
    const DATA: usize = 2_000;
    const MESSAGE: usize = 16 * 1024;
    let data = error.data.as_ref().map(Value::to_string).filter(|data| data.len() <= DATA);
    let data = data.map(|data| format!(" {data}")).unwrap_or_default();
    format!("{} (error {}){data}", convert::clip(&error.message, MESSAGE), error.code.0)
}

/// A result as raw JSON.
pub(super) fn raw(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(result) => result.0,
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}
