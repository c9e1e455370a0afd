//! Timers of the machine. They can be held: while the program is suspended, waiting prompts do not run out.

use crate::domain::TimerId;
use std::time::Duration;
use tokio::time::Instant;

/// Armed timers. A handful at most, so a list does.
#[derive(Debug, Default)]
pub struct Timers {
    armed: Vec<(TimerId, Instant)>,
    held: Option<Instant>,
}

impl Timers {
    /// Arms a timer.
    pub fn arm(&mut self, timer: TimerId, after: Duration) {
        let from = self.held.unwrap_or_else(Instant::now);
        self.armed.push((timer, from + after));
    }

    /// Disarms a timer.
    pub fn disarm(&mut self, timer: TimerId) {
        self.armed.retain(|(id, _)| *id != timer);
    }

    /// Lets time stand still.
    pub fn hold(&mut self) {
        self.held.get_or_insert_with(Instant::now);
    }

    /// Lets time go on.
    pub fn go(&mut self) {
        if let Some(since) = self.held.take() {
            let passed = since.elapsed();
            for (_, at) in &mut self.armed {
                *at += passed;
            }
        }
    }

    /// Waits for the next timer; for ever when none is armed or time stands still.
    pub async fn next(&mut self) -> TimerId {
        let next = self.armed.iter().min_by_key(|(_, at)| *at).copied().filter(|_| self.held.is_none());
        let Some((timer, at)) = next else { return std::future::pending().await };
        tokio::time::sleep_until(at).await;
        self.disarm(timer);
        timer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn held_time_does_not_count() {
        let mut timers = Timers::default();
        timers.arm(TimerId(1), Duration::from_secs(10));
        timers.arm(TimerId(2), Duration::from_secs(5));
        tokio::time::advance(Duration::from_secs(4)).await;
        timers.hold();
        tokio::time::advance(Duration::from_secs(600)).await;
        let waited = tokio::time::timeout(Duration::from_secs(1), timers.next()).await;
        assert!(waited.is_err(), "time stands still");
        timers.go();
        let start = Instant::now();
        assert_eq!(timers.next().await, TimerId(2));
        assert_eq!(start.elapsed().as_secs(), 1);
        assert_eq!(timers.next().await, TimerId(1));
    }
}
