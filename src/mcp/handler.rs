//! What a server sends on its own: changed lists, questions to the user, a wish for the roots. (Progress is taken out before: see `ordered`.)
//!
//! Owns nothing but the handling. rmcp runs each of these in a task of its own: their order is not kept. **Invariant:** only a question to the user
//! waits, and it holds nothing up.
//! Everything arrives as raw JSON (`wire` sees to that): a form must keep the server's order of fields, and schemas that rmcp cannot type are legal.

use super::World;
use super::asks::AskAnswer;
use super::calls::{Calls, News};
use super::convert;
use super::remote::Origin;
use super::transport::Link;
use crate::domain::ServerName;
use crate::domain::server::{ServerAsk, ServerSignal};
use rmcp::ClientHandler;
use rmcp::model::{ClientConfig, CustomNotification, CustomRequest, CustomResult, ErrorCode, ErrorData};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most questions of one server that may be open.
const OPEN_ASKS: usize = 16;
/// Longest message of a question, bytes.
const MESSAGE: usize = 16 * 1024;
/// Largest schema of a form, as JSON text.
const SCHEMA: usize = 512 * 1024;
/// Longest URL, bytes: what browsers and servers agree on is less.
const URL: usize = 16 * 1024;
/// Longest name of an unknown method that is said back, bytes.
const METHOD: usize = 200;

/// The client as rmcp sees it: one per session.
pub(super) struct Handler {
    pub(super) server: ServerName,
    pub(super) world: Arc<World>,
    pub(super) calls: Arc<Calls>,
    pub(super) link: Arc<Link>,
    /// What we say of ourselves.
    pub(super) config: ClientConfig,
    /// How long a question may wait, milliseconds.
    pub(super) elicit_ms: u64,
    /// Told when the list of tools changed.
    pub(super) tools_changed: Arc<dyn Fn() + Send + Sync>,
    pub(super) asking: AtomicUsize,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_custom_notification(&self, note: CustomNotification, _: NotificationContext<RoleClient>) {
        if note.method == "notifications/tools/list_changed" {
            (self.tools_changed)();
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        match request.method.as_str() {
            "elicitation/create" => self.elicit(&params, context).await.map(CustomResult),
            "roots/list" => Ok(CustomResult(self.roots())),
            other => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, convert::clip(other, METHOD), None)),
        }
    }
}

impl Handler {
    /// The working directories as `file:` URIs.
    fn roots(&self) -> Value {
        let root = |path: &std::path::PathBuf| {
            let uri = url::Url::from_file_path(path).ok()?;
            let name =
                path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            Some(json!({ "uri": uri.as_str(), "name": name }))
        };
        json!({ "roots": self.world.options.roots.iter().filter_map(root).collect::<Vec<_>>() })
    }

    /// Puts a question to the user and waits for the answer, as long as the server, the connection and the call it belongs to are there.
    async fn elicit(&self, params: &Value, context: RequestContext<RoleClient>) -> Result<Value, ErrorData> {
        let what = question(params)?;
        let _slot = Slot::take(&self.asking)
            .ok_or_else(|| ErrorData::internal_error("too many questions are waiting for the user", None))?;
        let (ask, answer) = self.world.asks.open();
        // A question that came with the answer of a call is that call's.
        let call = match context.extensions.get::<Origin>() {
            Some(Origin(request)) => self.calls.of(request),
            None => self.calls.only(),
        };
        self.world.emit(ServerSignal::Asks {
            ask,
            server: self.server.clone(),
            call: call.as_ref().map(|open| open.call),
            what,
            expires_ms: self.elicit_ms,
        });
        if let Some(call) = &call {
            call.tell(News::Suspended);
        }
        let call_over = async {
            match &call {
                Some(call) => call.over.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            biased;
            answer = answer => answer.ok(),
            () = context.ct.cancelled() => None,
            () = self.link.ended.cancelled() => None,
            () = call_over => None,
        };
        if self.world.asks.close(ask) {
            self.world.emit(ServerSignal::AskWithdrawn { ask });
        }
        if let Some(call) = &call {
            call.tell(News::Resumed);
        }
        Ok(answer.unwrap_or(AskAnswer::Cancel).into_result())
    }
}

/// What is asked. Source: MCP 2025-11-25, `ElicitRequestFormParams` and `ElicitRequestURLParams`.
fn question(params: &Value) -> Result<ServerAsk, ErrorData> {
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let message = convert::clip(text("message").unwrap_or_default(), MESSAGE);
    match text("mode") {
        None | Some("form") => {
            let schema = params.get("requestedSchema").cloned();
            let schema = schema.unwrap_or_else(|| json!({ "type": "object", "properties": {} }));
            if schema.to_string().len() > SCHEMA {
                return Err(ErrorData::invalid_params(format!("requestedSchema has more than {SCHEMA} bytes"), None));
            }
            Ok(ServerAsk::Form { message, schema: Arc::new(schema) })
        }
        Some("url") => {
            let url = text("url").ok_or_else(|| ErrorData::invalid_params("url is missing", None))?;
            if url.len() > URL {
                return Err(ErrorData::invalid_params(format!("url has more than {URL} bytes"), None));
            }
            Ok(ServerAsk::Link { message, url: url.to_owned() })
        }
        Some(other) => Err(ErrorData::invalid_params(format!("mode {other} is not supported"), None)),
    }
}

/// One of the [`OPEN_ASKS`] places, given back when the question is closed.
struct Slot<'a>(&'a AtomicUsize);

impl<'a> Slot<'a> {
    fn take(open: &'a AtomicUsize) -> Option<Self> {
        let taken = |count| (count < OPEN_ASKS).then_some(count + 1);
        open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok().map(|_| Self(open))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
