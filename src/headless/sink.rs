//! A stream that is written by a thread of its own, so that a reader who is slow, or does not read at all, holds up nothing but the writing.
//!
//! Owns the stream. **Invariant:** what is written after a failure is dropped; the failure is told once, at the end or by a [`Sink::put`] that says no.

use std::io::{self, Write};
use tokio::sync::{mpsc, oneshot};

/// Pieces that may wait to be written.
const WAITING: usize = 256;

/// See the module.
#[derive(Debug)]
pub struct Sink {
    pieces: mpsc::Sender<Vec<u8>>,
    end: oneshot::Receiver<io::Result<()>>,
}

impl Sink {
    /// Writes to this stream.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        let (pieces, waiting) = mpsc::channel(WAITING);
        let (told, end) = oneshot::channel();
        std::thread::spawn(move || drop(told.send(write(out, waiting))));
        Self { pieces, end }
    }

    /// Hands a piece over. `false`: the stream takes no more. Safe to drop while it waits; the piece is not written then.
    pub async fn put(&self, piece: Vec<u8>) -> bool {
        self.pieces.send(piece).await.is_ok()
    }

    /// Waits until all is written; what went wrong.
    pub async fn close(self) -> io::Result<()> {
        drop(self.pieces);
        self.end.await.unwrap_or(Ok(()))
    }
}

fn write(mut out: impl Write, mut waiting: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(piece) = waiting.blocking_recv() {
        out.write_all(&piece)?;
        if waiting.is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Torn;

    impl Write for Torn {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn everything_is_written_in_order() {
        let paper = Paper::default();
        let sink = Sink::new(paper.clone());
        for n in 0..1000 {
            assert!(sink.put(format!("{n}\n").into_bytes()).await);
        }
        sink.close().await.unwrap();
        let wanted: String = (0..1000).map(|n| format!("{n}\n")).collect();
        assert_eq!(String::from_utf8(paper.0.lock().unwrap().clone()).unwrap(), wanted);
    }

    #[tokio::test]
    async fn a_broken_pipe_is_told() {
        let sink = Sink::new(Torn);
        while sink.put(b"x".to_vec()).await {
            tokio::task::yield_now().await;
        }
        assert_eq!(sink.close().await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
