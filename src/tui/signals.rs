//! The signals that concern the screen, as one stream.

use std::io;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

/// What a signal means here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// The screen's size changed.
    Resize,
    /// The program goes on after a stop.
    Continue,
    /// The program shall end: the signal's number.
    End(i32),
    /// The same, from the interrupt key of a terminal that is not in raw mode.
    Interrupt(i32),
    /// The terminal is gone.
    Hangup,
}

/// The stream.
#[derive(Debug)]
pub struct Signals {
    resize: Stream,
    proceed: Stream,
    terminate: Stream,
    quit: Stream,
    interrupt: Stream,
    hangup: Stream,
}

impl Signals {
    /// Takes over the signals. An error of the system.
    pub fn new() -> io::Result<Self> {
        let proceed = SignalKind::from_raw(rustix::process::Signal::CONT.as_raw());
        Ok(Self {
            resize: signal(SignalKind::window_change())?,
            proceed: signal(proceed)?,
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next one. Safe to drop while it waits.
    pub async fn next(&mut self) -> Signal {
        let number = SignalKind::as_raw_value;
        tokio::select! {
            biased;
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.terminate.recv() => Signal::End(number(&SignalKind::terminate())),
            _ = self.quit.recv() => Signal::End(number(&SignalKind::quit())),
            _ = self.interrupt.recv() => Signal::Interrupt(number(&SignalKind::interrupt())),
            _ = self.proceed.recv() => Signal::Continue,
            _ = self.resize.recv() => Signal::Resize,
        }
    }

    /// The next one that is not about the size, which is looked at anyway when the screen is back.
    pub async fn next_but_resize(&mut self) -> Signal {
        loop {
            match self.next().await {
                Signal::Resize => {}
                other => return other,
            }
        }
    }
}
