//! One call of a tool, from its request to its outcome.
//!
//! Owns: the calls in flight of one session ([`Calls`]), and each call's clock. A call's news are emitted by its own task, in the order in which they
//! came: they are put into the call's queue as they are read, and the queue is emptied before the answer counts.
//!
//! **Invariant:** a call that was not sent is *cancelled*, one that was is *interrupted*; the two are never mixed up.
//! **Invariant:** the idle clock stands still while the user is asked, starts anew with progress, and is not charged for time in which the whole
//! program did not run (Ctrl-Z).

use super::lost::{Effect, Lost};
use super::session::{self, Session};
use super::{Run, convert};
use crate::domain::tool::Progress;
use crate::domain::{CallId, ToolId, ToolOutcome, ToolSignal};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ErrorData, ProgressToken, RequestId,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A timer that fires this much too late tells that the program was stopped in between.
const OVERSLEPT: Duration = Duration::from_secs(2);

/// A call to be made.
pub(super) struct CallRequest {
    /// Which tool.
    pub(super) tool: ToolId,
    /// With what.
    pub(super) arguments: Map<String, Value>,
    /// How it is told about and called off.
    pub(super) run: Run,
    /// Where its outcome goes. Nobody waiting for it any more calls it off, too.
    pub(super) reply: oneshot::Sender<ToolOutcome>,
}

/// Time limits of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Without news.
    pub(super) idle: Duration,
    /// Altogether.
    pub(super) max: Duration,
}

/// Where a call's session comes from.
pub(super) enum Source {
    /// It is open.
    Open(Arc<Session>),
    /// The server is being started; a text says why it could not be.
    Awaited(oneshot::Receiver<Result<Arc<Session>, String>>),
}

/// News for a call's task.
#[derive(Debug)]
pub(super) enum News {
    /// The server reported progress.
    Progress(Progress),
    /// A question to the user was opened.
    Suspended,
    /// One was answered or withdrawn.
    Resumed,
}

/// The calls in flight of one session.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<ProgressToken, Open>>,
}

/// A call in flight, as the handler sees it.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// Which.
    pub(super) call: CallId,
    /// Its request.
    id: RequestId,
    /// Set when it has its outcome.
    pub(super) over: CancellationToken,
    news: mpsc::UnboundedSender<News>,
}

impl Open {
    /// Tells the call's task.
    pub(super) fn tell(&self, news: News) {
        let _ = self.news.send(news);
    }
}

impl Calls {
    /// Progress of the call with this token; one that is over is passed over.
    pub(super) fn progress(&self, token: &ProgressToken, progress: Progress) {
        if let Some(open) = self.lock().get(token) {
            open.tell(News::Progress(progress));
        }
    }

    /// The call in flight whose request this is.
    pub(super) fn of(&self, id: &RequestId) -> Option<Open> {
        self.lock().values().find(|open| open.id == *id).cloned()
    }

    /// The call in flight, if there is exactly one.
    pub(super) fn only(&self) -> Option<Open> {
        let open = self.lock();
        let mut all = open.values();
        match (all.next(), all.next()) {
            (Some(one), None) => Some(one.clone()),
            _ => None,
        }
    }

    fn register(
        self: &Arc<Self>,
        token: ProgressToken,
        id: RequestId,
        call: CallId,
    ) -> (Entry, mpsc::UnboundedReceiver<News>) {
        let (news, queue) = mpsc::unbounded_channel();
        let over = CancellationToken::new();
        self.lock().insert(token.clone(), Open { call, id, over: over.clone(), news });
        (Entry { calls: Arc::clone(self), token, over }, queue)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call's place among the calls in flight; leaving it ends the questions that were asked on its behalf.
struct Entry {
    calls: Arc<Calls>,
    token: ProgressToken,
    over: CancellationToken,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.token);
        self.over.cancel();
    }
}

/// Makes a call and replies with its outcome.
pub(super) async fn perform(request: CallRequest, source: Source, limits: Limits) {
    let CallRequest { tool, arguments, run, mut reply } = request;
    let mut off = Box::pin(called_off(&run.cancel, &mut reply));
    let session = match session(source, off.as_mut()).await {
        Ok(session) => session,
        Err(outcome) => {
            drop(off);
            let _ = reply.send(outcome);
            return;
        }
    };
    let _running = session.running.token();
    let (outcome, abandoned) = execute(&session, &tool, arguments, &run, limits, off.as_mut()).await;
    drop(off);
    let _ = reply.send(outcome);
    if let Some((id, why)) = abandoned {
        session.cancel(id, why).await;
    }
}

async fn called_off(cancel: &CancellationToken, reply: &mut oneshot::Sender<ToolOutcome>) {
    tokio::select! {
        () = cancel.cancelled() => {}
        () = reply.closed() => {}
    }
}

/// The session, as soon as there is one.
async fn session(source: Source, off: Pin<&mut impl Future<Output = ()>>) -> Result<Arc<Session>, ToolOutcome> {
    let awaited = match source {
        Source::Open(session) => return Ok(session),
        Source::Awaited(awaited) => awaited,
    };
    tokio::select! {
        biased;
        () = off => Err(ToolOutcome::Cancelled),
        found = awaited => match found {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(why)) => Err(ToolOutcome::failed(why)),
            Err(_) => Err(ToolOutcome::failed("The server was stopped before it was ready.")),
        }
    }
}

/// A request whose answer is no longer wanted, and why.
type Abandoned = Option<(RequestId, &'static str)>;

async fn execute(
    session: &Arc<Session>,
    tool: &ToolId,
    arguments: Map<String, Value>,
    run: &Run,
    limits: Limits,
    mut off: Pin<&mut impl Future<Output = ()>>,
) -> (ToolOutcome, Abandoned) {
    let began = Instant::now();
    let params = CallToolRequestParams::new(tool.name.to_string()).with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let sent = session.peer().send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let Ok(mut handle) = sent else {
        return (ToolOutcome::failed(session.end().await.text()), None);
    };
    let (_entry, mut news) = session.calls.register(handle.progress_token.clone(), handle.id.clone(), run.call);
    (run.signals)(ToolSignal::Started);
    let mut clock = Clock::new(began, limits);
    loop {
        tokio::select! {
            biased;
            Some(news) = news.recv() => if let Some(signal) = clock.hear(news, Instant::now()) {
                (run.signals)(signal);
            },
            answer = &mut handle.rx => {
                // Progress that came before it, however late this task got to run.
                while let Ok(news) = news.try_recv() {
                    if let Some(signal) = clock.hear(news, Instant::now()) {
                        (run.signals)(signal);
                    }
                }
                let outcome = match answer {
                    Ok(Ok(result)) => done(session::raw(result), began.elapsed()),
                    Ok(Err(ServiceError::McpError(error))) => match session.link.take_lost(&handle.id) {
                        Some(lost) => missing(&lost),
                        None => refused(&error),
                    },
                    // Not a byte of it reached the server, or the server is gone.
                    Ok(Err(ServiceError::TransportSend(_))) => ToolOutcome::failed(session.end().await.text()),
                    _ => broken(session.end().await.text()),
                };
                return (outcome, None);
            }
            () = &mut off => return (ToolOutcome::Interrupted, Some((handle.id, "the user called it off"))),
            () = session.stop.cancelled() => return (ToolOutcome::Interrupted, Some((handle.id, "the server is being stopped"))),
            trouble = session.end() => return (broken(trouble.text()), None),
            () = tokio::time::sleep_until(clock.next()) => if let Some(limit) = clock.ring(Instant::now()) {
                let stray = session.link.stray().map(|stray| format!(" It sent something that fits no request: {stray}"));
                let message = format!("The server did not answer {limit}, so the call was given up.{}", stray.unwrap_or_default());
                return (broken(message), Some((handle.id, "timed out")));
            },
        }
    }
}

fn done(result: Value, took: Duration) -> ToolOutcome {
    let (content, is_error) = convert::call_result(result);
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    ToolOutcome::Done { content, is_error, for_model: None, spilled: None, millis }
}

/// The server answered with an error. These four say that the request was not understood: nothing ran.
fn refused(error: &ErrorData) -> ToolOutcome {
    let understood = !matches!(
        error.code,
        ErrorCode::PARSE_ERROR | ErrorCode::INVALID_REQUEST | ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_PARAMS
    );
    ToolOutcome::Failed { message: session::error_text(error), may_have_run: understood }
}

/// The carrier could not carry it.
fn missing(lost: &Lost) -> ToolOutcome {
    ToolOutcome::Failed { message: lost.trouble.text(), may_have_run: lost.effect == Effect::Possible }
}

fn broken(message: String) -> ToolOutcome {
    ToolOutcome::Failed { message, may_have_run: true }
}

/// A call's clock.
#[derive(Debug)]
struct Clock {
    limits: Limits,
    idle: Instant,
    hard: Instant,
    /// Questions to the user that are open.
    questions: u32,
}

impl Clock {
    fn new(now: Instant, limits: Limits) -> Self {
        Self { limits, idle: now + limits.idle, hard: now + limits.max, questions: 0 }
    }

    /// When to look again.
    fn next(&self) -> Instant {
        if self.questions > 0 { self.hard } else { self.hard.min(self.idle) }
    }

    /// Takes news in; what to tell about them.
    fn hear(&mut self, news: News, now: Instant) -> Option<ToolSignal> {
        self.idle = now + self.limits.idle;
        match news {
            News::Progress(progress) => Some(ToolSignal::Progress(progress)),
            News::Suspended => {
                self.questions += 1;
                (self.questions == 1).then_some(ToolSignal::Suspended)
            }
            News::Resumed => {
                self.questions = self.questions.saturating_sub(1);
                (self.questions == 0).then_some(ToolSignal::Resumed)
            }
        }
    }

    /// The time is up: which limit was reached, in words; `None` if the program was stopped meanwhile and the server gets another chance.
    fn ring(&mut self, now: Instant) -> Option<String> {
        let due = self.next();
        if now.saturating_duration_since(due) > OVERSLEPT {
            self.idle = now + self.limits.idle;
            self.hard += now - due;
            return None;
        }
        let limit = if due == self.hard { self.limits.max } else { self.limits.idle };
        Some(format!("within {} s", limit.as_secs_f32()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(idle: u64, max: u64) -> Limits {
        Limits { idle: Duration::from_secs(idle), max: Duration::from_secs(max) }
    }

    #[test]
    fn progress_starts_the_idle_clock_anew_but_not_the_hard_one() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut clock = Clock::new(now, seconds(10, 25));
        assert_eq!(clock.next(), after(10));
        clock.hear(News::Progress(Progress::default()), after(8));
        assert_eq!(clock.next(), after(18));
        clock.hear(News::Progress(Progress::default()), after(17));
        assert_eq!(clock.next(), after(25));
        assert_eq!(clock.ring(after(25)).as_deref(), Some("within 25 s"));
    }

    #[test]
    fn while_the_user_is_asked_only_the_hard_clock_runs() {
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut clock = Clock::new(now, seconds(10, 100));
        assert_eq!(clock.hear(News::Suspended, now), Some(ToolSignal::Suspended));
        assert_eq!(clock.hear(News::Suspended, now), None);
        assert_eq!(clock.next(), after(100));
        assert_eq!(clock.hear(News::Resumed, after(60)), None);
        assert_eq!(clock.next(), after(100));
        assert_eq!(clock.hear(News::Resumed, after(60)), Some(ToolSignal::Resumed));
        assert_eq!(clock.next(), after(70));
        assert_eq!(clock.ring(after(70)).as_deref(), Some("within 10 s"));
    }

    #[test]
    fn time_in_which_the_program_was_stopped_is_not_charged() {
        let now = Instant::now();
        let mut clock = Clock::new(now, seconds(10, 100));
        let back = now + Duration::from_secs(5_000);
        assert_eq!(clock.ring(back), None);
        assert_eq!(clock.next(), back + Duration::from_secs(10));
    }
}
