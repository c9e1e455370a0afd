//! The terminal: its modes, the frames written to it, and getting it back into the state it was found in.
//!
//! **Invariants:** a frame is one write; what was switched on is switched off in reverse order, exactly once, whether the program quits, is told to end,
//! panics or is suspended. The standard hook for panics is wrapped here, because a panic's message must be written to the restored screen.

use crate::tui::encode::{Frame, encode};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{self, OptionalActions, Termios};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::ThreadId;

/// Alternate screen, bracketed paste, reports of the focus, a steady bar as cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?2004h\x1b[?1004h\x1b[6 q\x1b[2J";
/// The same backwards. First the end of a frame that was cut off, its colours, and the cursor in sight.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[0m\x1b[?25h\x1b[0 q";
const LEAVE_MODES: &[u8] = b"\x1b[?1004l\x1b[?2004l\x1b[?1049l";
/// The kitty keyboard protocol, only to tell keys apart that else look the same.
const KEYBOARD_ON: &[u8] = b"\x1b[>1u";
const KEYBOARD_OFF: &[u8] = b"\x1b[<1u";
/// Background colour, keyboard protocol, whether frames are shown at once and clusters joined, and last what every terminal answers.
const QUERIES: &[u8] = b"\x1b]11;?\x1b\\\x1b[?u\x1b[?2026$p\x1b[?2027$p\x1b[c";

/// The largest screen that is drawn on: a terminal that claims more would cost gigabytes.
const LARGEST: Size = Size::new(2_000, 1_000);

/// What has to be undone.
struct Restore {
    out: Arc<OwnedFd>,
    tty: Arc<OwnedFd>,
    termios: Termios,
    keyboard: bool,
    /// Whether answers to our queries are still under way.
    answers: Answers,
    thread: ThreadId,
}

/// Answers to our queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    /// Some are still under way.
    Due,
    /// None is.
    Here,
}

fn note(answers: Answers) {
    if let Some(restore) = RESTORE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        restore.answers = answers;
    }
}

/// There is one terminal in a process, and the panic hook must reach it.
static RESTORE: Mutex<Option<Restore>> = Mutex::new(None);

fn restore() -> bool {
    let taken = RESTORE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(restore) = taken else { return false };
    let mut bytes = LEAVE.to_vec();
    if restore.keyboard {
        bytes.extend_from_slice(KEYBOARD_OFF);
    }
    bytes.extend_from_slice(LEAVE_MODES);
    // A terminal that is gone cannot be restored, and nobody is there to be told.
    let _ = write_all(&restore.out, &bytes);
    // Answers that are still under way must not be typed into the shell.
    let how = if restore.answers == Answers::Due { OptionalActions::Flush } else { OptionalActions::Now };
    let _ = termios::tcsetattr(&restore.tty, how, &restore.termios);
    true
}

/// On the thread that draws, a panic restores the screen before its message is printed. On any other it must not paint over the screen: it goes to the
/// log, and whoever owns that task says what it means.
fn watch_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A lock that is held here is held by this very thread in the middle of restoring.
            let drawing = RESTORE.try_lock().ok().and_then(|guard| guard.as_ref().map(|r| r.thread));
            match drawing {
                Some(thread) if thread != std::thread::current().id() => tracing::error!("panic: {info}"),
                Some(_) => {
                    restore();
                    previous(info);
                }
                None => previous(info),
            }
        }));
    });
}

fn write_all(out: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(out, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(Errno::INTR) => {}
            // Somebody who shares the terminal made it non-blocking.
            Err(Errno::AGAIN) => {
                let _ = poll(&mut [PollFd::new(out, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The terminal in use.
pub struct Terminal {
    tty: Arc<OwnedFd>,
    out: Arc<OwnedFd>,
    /// What is on the screen, and what will be.
    shown: Buffer,
    next: Buffer,
    caret: Option<Position>,
    /// The screen's content is unknown: everything is drawn.
    unknown: bool,
    keyboard: bool,
    synchronized: bool,
    bytes: Vec<u8>,
    written: u64,
}

impl Terminal {
    /// Takes the terminal over. Standard input and output where they are one, else the controlling terminal. An error when there is none.
    pub fn enter() -> io::Result<Self> {
        let own = || rustix::fs::open("/dev/tty", OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        let (stdin, stdout) = (io::stdin(), io::stdout());
        let tty = if termios::isatty(&stdin) { stdin.as_fd().try_clone_to_owned()? } else { own()? };
        let out = if termios::isatty(&stdout) { stdout.as_fd().try_clone_to_owned()? } else { own()? };
        let mut terminal = Self {
            tty: Arc::new(tty),
            out: Arc::new(out),
            shown: Buffer::empty(Rect::ZERO),
            next: Buffer::empty(Rect::ZERO),
            caret: None,
            unknown: true,
            keyboard: false,
            synchronized: false,
            bytes: Vec::with_capacity(16 * 1024),
            written: 0,
        };
        watch_panics();
        terminal.resume()?;
        Ok(terminal)
    }

    /// Where the keys come from.
    pub fn tty(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.tty)
    }

    /// Switches everything on, again after [`Self::leave`]. The next frame draws everything.
    pub fn resume(&mut self) -> io::Result<()> {
        let termios = termios::tcgetattr(&self.tty)?;
        let mut guard = RESTORE.lock().unwrap_or_else(PoisonError::into_inner);
        // After SIGCONT without a stop of our own the modes are still ours to undo; only the state to go back to stays the first one.
        if guard.is_none() {
            *guard = Some(Restore {
                out: Arc::clone(&self.out),
                tty: Arc::clone(&self.tty),
                termios: termios.clone(),
                keyboard: self.keyboard,
                answers: Answers::Here,
                thread: std::thread::current().id(),
            });
        }
        drop(guard);
        let mut raw = termios;
        raw.make_raw();
        termios::tcsetattr(&self.tty, OptionalActions::Now, &raw)?;
        let mut bytes = ENTER.to_vec();
        if self.keyboard {
            bytes.extend_from_slice(KEYBOARD_ON);
        }
        self.unknown = true;
        self.caret = None;
        self.write(&bytes)
    }

    /// Gives the terminal back as it was found. Whether there was something to undo.
    /// Takes the owner, so that nobody else does it.
    #[allow(clippy::unused_self)]
    pub fn leave(&mut self) -> bool {
        restore()
    }

    /// Whether the terminal is ours: false after [`Self::leave`], and after a panic on this thread that something survived.
    pub fn is_ours(&self) -> bool {
        RESTORE.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Asks the terminal what it is. The answers come among the keys, or never.
    pub fn ask(&mut self) -> io::Result<()> {
        note(Answers::Due);
        self.write(QUERIES)
    }

    /// The last of the answers came.
    pub fn answered(&mut self) {
        note(Answers::Here);
    }

    /// The terminal answered that it speaks the kitty keyboard protocol: use it. It is popped when leaving.
    pub fn use_keyboard(&mut self) -> io::Result<()> {
        if self.keyboard {
            return Ok(());
        }
        self.keyboard = true;
        if let Some(restore) = RESTORE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            restore.keyboard = true;
        }
        self.write(KEYBOARD_ON)
    }

    /// Whether it reports keys by the kitty protocol.
    pub fn has_keyboard(&self) -> bool {
        self.keyboard
    }

    /// The size of the screen; 80×24 where it does not say. What lies beyond [`LARGEST`] is left alone.
    pub fn size(&self) -> Size {
        match termios::tcgetwinsize(&self.out) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Size::new(size.ws_col.min(LARGEST.width), size.ws_row.min(LARGEST.height))
            }
            _ => Size::new(80, 24),
        }
    }

    /// Forgets what is on the screen: the next frame draws everything.
    pub fn forget(&mut self) {
        self.unknown = true;
    }

    /// Draws a frame: what `paint` leaves in the buffer, the cursor where it says; it also names the insides of the panes, whose rows may have moved up
    /// together. One write, or none when nothing changed.
    pub fn draw(
        &mut self,
        size: Size,
        paint: impl FnOnce(&mut Buffer) -> (Option<Position>, Vec<Rect>),
    ) -> io::Result<()> {
        let area = Rect::new(0, 0, size.width, size.height);
        if self.next.area != area {
            self.next.resize(area);
            self.shown.resize(area);
            self.unknown = true;
        }
        self.next.reset();
        if self.unknown {
            self.shown.reset();
        }
        let (caret, panes) = paint(&mut self.next);
        let frame = Frame { unknown: self.unknown, was: self.caret, caret, synchronized: self.synchronized, panes };
        self.bytes.clear();
        encode(&mut self.bytes, &mut self.shown, &self.next, &frame)?;
        std::mem::swap(&mut self.shown, &mut self.next);
        self.caret = caret;
        self.unknown = false;
        if self.bytes.is_empty() {
            return Ok(());
        }
        self.written += self.bytes.len() as u64;
        write_all(&self.out, &self.bytes)
    }

    /// The terminal answered that it shows frames at once.
    pub fn synchronizes(&mut self) {
        self.synchronized = true;
    }

    /// Bytes written since the start.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Writes a sequence that draws nothing (the clipboard's, say).
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        write_all(&self.out, bytes)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.leave();
    }
}
