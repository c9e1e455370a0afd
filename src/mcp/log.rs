//! What a server writes beside the protocol: its standard error, and lines that are none of the protocol's where
//! only those should stand.
//!
//! Owns: the last lines, for reasons; the lines that are to be announced; the count of noise. Bounded: [`KEEP`] lines of at most [`LINE`] bytes.
//! Announcing is batched: at most one signal every [`PAUSE`], and nothing is armed while nothing is written.

use crate::redact::Redactor;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Lines kept, and lines announced at once.
const KEEP: usize = 1_000;
/// Longest line in bytes; longer ones are cut.
pub(super) const LINE: usize = 4 * 1024;
/// Shortest time between two announcements.
const PAUSE: Duration = Duration::from_millis(50);

/// The lines of one server, over all its starts.
#[derive(Debug, Default)]
pub(super) struct Log {
    redactor: Redactor,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Standard error since the last start.
    errors: VecDeque<String>,
    /// Not announced yet.
    fresh: VecDeque<String>,
    /// Lines of noise since the last start.
    noise: u64,
    /// The newest of them.
    last_noise: Option<String>,
}

impl Log {
    /// An empty log whose lines are masked.
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, ..Self::default() }
    }

    fn text(&self, line: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(&line[..line.len().min(LINE)]).into_owned();
        if line.len() > LINE {
            text.push('…');
        }
        match self.redactor.mask_text(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }

    /// A new process begins: reasons and counts are about it alone.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        state.errors.clear();
        state.noise = 0;
        state.last_noise = None;
    }

    /// A line of standard error.
    pub(super) fn error(&self, line: &[u8]) {
        let line = self.text(line);
        let mut state = self.lock();
        push(&mut state.errors, line.clone());
        push(&mut state.fresh, line);
        drop(state);
        self.wake.notify_one();
    }

    /// A line that came where only messages of the protocol should; `at` names the place.
    pub(super) fn noise(&self, at: &str, line: &[u8]) {
        let line = self.text(line);
        let mut state = self.lock();
        state.noise += 1;
        push(&mut state.fresh, format!("[{at}] {line}"));
        state.last_noise = Some(line);
        drop(state);
        self.wake.notify_one();
    }

    /// Number of lines of noise since the last start.
    pub(super) fn noise_count(&self) -> u64 {
        self.lock().noise
    }

    /// The last lines worth reading in a reason: standard error, or else the newest noise.
    pub(super) fn tail(&self, lines: usize) -> Option<String> {
        let state = self.lock();
        let said: Vec<&str> = state.errors.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect();
        let last = said[said.len().saturating_sub(lines)..].join("\n");
        if last.is_empty() { state.last_noise.clone().filter(|line| !line.is_empty()) } else { Some(last) }
    }

    /// What has not been announced yet.
    pub(super) fn take_fresh(&self) -> Vec<String> {
        self.lock().fresh.drain(..).collect()
    }

    /// Hands batches of new lines to `announce` for ever.
    pub(super) async fn publish(&self, mut announce: impl FnMut(Vec<String>)) {
        loop {
            self.wake.notified().await;
            let lines = self.take_fresh();
            if !lines.is_empty() {
                announce(lines);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push(lines: &mut VecDeque<String>, line: String) {
    if lines.len() == KEEP {
        lines.pop_front();
    }
    lines.push_back(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_and_cut() {
        let log = Log::default();
        for n in 0..3_000 {
            log.error(format!("line {n}").as_bytes());
        }
        log.error(&vec![b'x'; LINE + 1]);
        let fresh = log.take_fresh();
        assert_eq!((fresh.len(), fresh[0].as_str()), (KEEP, "line 2001"));
        assert_eq!(fresh[KEEP - 1].chars().count(), LINE + 1);
        assert!(log.take_fresh().is_empty());
    }

    #[test]
    fn known_secrets_are_masked() {
        let redactor = Redactor::default();
        redactor.register("hunter2hunter2");
        let log = Log::new(redactor);
        log.error(b"bad token hunter2hunter2!");
        log.noise("stdout", b"hunter2hunter2");
        assert_eq!(log.take_fresh(), ["bad token •••!", "[stdout] •••"]);
    }

    #[test]
    fn a_reason_tells_errors_first_and_only_of_this_start() {
        let log = Log::default();
        log.noise("stdout", b"Usage: server [options]");
        assert_eq!(log.tail(2).as_deref(), Some("Usage: server [options]"));
        log.error(b"one");
        log.error(b"two  ");
        log.error(b"");
        log.error(b"three");
        assert_eq!(log.tail(2).as_deref(), Some("two\nthree"));
        assert_eq!(log.noise_count(), 1);
        log.begin();
        assert_eq!((log.tail(2), log.noise_count()), (None, 0));
    }
}
