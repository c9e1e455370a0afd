//! Reading a child's output line by line, with a limit.
//!
//! Owns: the bytes of the line that is being read. **Invariant:** never holds more than the limit and one buffer, whatever the child writes.
//! Reading is cancel safe: a dropped [`LineReader::next`] loses nothing.

use std::io;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Size of the buffer between the pipe and the line.
const BUFFER: usize = 16 * 1024;
/// A line buffer that grew beyond this is given back after its line.
const KEEP: usize = 256 * 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// Its beginning: the line is longer than the limit. The rest is passed over by the next read.
    Cut(&'a [u8]),
}

/// Lines of a stream.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// The line in `line` was handed out; the next read begins a new one.
    handed_out: bool,
    /// Everything up to the next line end belongs to a line that was cut.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of `input`, cut at `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER, input),
            limit,
            line: Vec::new(),
            handed_out: false,
            skipping: false,
        }
    }

    /// The next line; `None` at the end of the stream. A last line without an end counts.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.handed_out {
            self.handed_out = false;
            self.line.clear();
            self.line.shrink_to(KEEP);
        }
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                if self.line.is_empty() {
                    return Ok(None);
                }
                break;
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            let used = piece.len() + usize::from(end.is_some());
            if self.skipping {
                self.skipping = end.is_none();
                self.input.consume(used);
                continue;
            }
            let room = self.limit - self.line.len();
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            let cut = piece.len() > room;
            self.input.consume(used);
            if cut {
                self.skipping = end.is_none();
                self.handed_out = true;
                return Ok(Some(Line::Cut(&self.line)));
            }
            if end.is_some() {
                break;
            }
        }
        self.handed_out = true;
        Ok(Some(Line::Whole(self.line.strip_suffix(b"\r").unwrap_or(&self.line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    async fn all(input: &[u8], limit: usize) -> Vec<String> {
        let mut reader = LineReader::new(input, limit);
        let mut out = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            out.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::Cut(line) => format!("{}…", String::from_utf8_lossy(line)),
            });
        }
        out
    }

    #[tokio::test]
    async fn both_line_ends_empty_lines_and_a_last_one_without() {
        assert_eq!(all(b"a\r\n\nb\nlast", 100).await, ["a", "", "b", "last"]);
    }

    #[tokio::test]
    async fn a_long_line_is_cut_once_and_the_next_is_whole() {
        assert_eq!(all(b"12345678\nab\n", 4).await, ["1234…", "ab"]);
        assert_eq!(all(b"1234\nab\n", 4).await, ["1234", "ab"]);
        let long = [vec![b'x'; 100_000], b"\nend\n".to_vec()].concat();
        let lines = all(&long, 50_000).await;
        assert_eq!((lines.len(), lines[1].as_str()), (2, "end"));
    }

    #[tokio::test]
    async fn a_dropped_read_loses_nothing() {
        let (mut tx, rx) = tokio::io::duplex(64);
        let mut reader = LineReader::new(rx, 100);
        tx.write_all(b"half").await.unwrap();
        for _ in 0..3 {
            let read = tokio::time::timeout(std::time::Duration::from_millis(2), reader.next());
            assert!(read.await.is_err());
        }
        tx.write_all(b" a line\n").await.unwrap();
        assert_eq!(reader.next().await.unwrap(), Some(Line::Whole(b"half a line")));
    }
}
