//! Signals that ask for the end.
//!
//! Owns how often the end was asked for. The first time is polite, the second is not.

use std::io;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// How often the end was asked for.
#[derive(Debug, Clone)]
pub struct Stop {
    times: watch::Receiver<u32>,
}

impl Stop {
    /// Listens to INT, TERM and HUP from now on.
    pub fn listen() -> io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let (count, times) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hang_up.recv() => {}
                }
                count.send_modify(|count| *count += 1);
            }
        });
        Ok(Self { times })
    }

    /// Waits until it is asked for once more; how often that makes.
    pub async fn next(&mut self) -> u32 {
        if self.times.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        *self.times.borrow_and_update()
    }

    /// Waits until it was asked for twice.
    pub async fn twice(&self) {
        let mut times = self.times.clone();
        if times.wait_for(|count| *count > 1).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
