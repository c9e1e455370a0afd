//! A thread that reads the terminal and nothing else.
//!
//! It waits in `poll` without a time limit, so it costs nothing while nobody types; the terminal is never made non-blocking, because the shell shares
//! its open file. What was read carries the time at which it came: while the screen is busy, keys pile up, and what was typed slowly must not look
//! like one sequence or one paste. Dropping the reader ends the thread before it takes another byte: the editor or the stopped shell gets all keys then.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc;

/// Bytes, and when they came.
pub type Read = (Vec<u8>, Instant);

/// The reader.
#[derive(Debug)]
pub struct Reader {
    bytes: mpsc::UnboundedReceiver<Read>,
    /// Closing it ends the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts to read. An error of the system to start a thread or make a pipe.
    pub fn start(tty: Arc<OwnedFd>) -> io::Result<Self> {
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let (send, bytes) = mpsc::unbounded_channel();
        let thread = std::thread::Builder::new()
            .name("terminal".into())
            .stack_size(128 * 1024)
            .spawn(move || read(&tty, &stopped, &send))?;
        Ok(Self { bytes, stop: Some(stop), thread: Some(thread) })
    }

    /// The next bytes; `None` when the terminal is gone. Safe to drop while it waits.
    pub async fn next(&mut self) -> Option<Read> {
        self.bytes.recv().await
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has ended too.
            let _ = thread.join();
        }
    }
}

fn read(tty: &OwnedFd, stopped: &OwnedFd, send: &mpsc::UnboundedSender<Read>) {
    let mut buffer = vec![0; 8192];
    loop {
        let mut fds = [PollFd::new(tty, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) if !fds[1].revents().is_empty() => return,
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(_) => return,
        }
        match rustix::io::read(tty, buffer.as_mut_slice()) {
            Ok(n) if n > 0 => {
                if send.send((buffer[..n].to_vec(), Instant::now())).is_err() {
                    return;
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => return,
        }
    }
}
