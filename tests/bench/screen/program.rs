//! The real program in a pseudo terminal that answers as today's terminals do.

use super::process;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const EXE: &str = env!("CARGO_BIN_EXE_mcpane");
/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Columns and rows.
pub const SIZE: (u16, u16) = (120, 40);
/// A dark background, no kitty keyboard, frames shown at once (mode 2026), what every terminal answers.
const ANSWERS: &[u8] = b"\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?2026;2$y\x1b[?2027;0$y\x1b[?62;22c";

/// A home and a working directory of their own.
pub struct Place {
    dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in ["home", "work"] {
            std::fs::create_dir(dir.path().join(name)).expect("a directory");
        }
        Self { dir }
    }

    /// The journals in it.
    pub fn journals(&self) -> Vec<PathBuf> {
        let sessions = self.dir.path().join("home/.local/share/mcpane/sessions");
        let projects = std::fs::read_dir(sessions).into_iter().flatten().flatten();
        let files = projects.flat_map(|project| std::fs::read_dir(project.path()).into_iter().flatten().flatten());
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Whether the terminal answers queries.
#[derive(Clone, Copy, PartialEq)]
pub enum Terminal {
    Answers,
    Silent,
}

/// A running program.
pub struct Program {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    pieces: Receiver<(Instant, Vec<u8>)>,
    pub screen: vt100::Parser,
    /// Bytes that it wrote.
    pub bytes: u64,
    /// Just before it was started.
    pub started: Instant,
    answered: bool,
}

impl Program {
    pub fn start(place: &Place, arguments: &[&str]) -> Self {
        Self::start_in(Terminal::Answers, place, arguments, b"")
    }

    /// Starts it; `ahead` is typed at once.
    pub fn start_in(terminal: Terminal, place: &Place, arguments: &[&str], ahead: &[u8]) -> Self {
        let (cols, rows) = SIZE;
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo terminal");
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let mut writer = pair.master.take_writer().expect("a writer");
        let (send, pieces) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 || send.send((Instant::now(), buffer[..n].to_vec())).is_err() {
                    break;
                }
            }
        });
        let command = command(&place.path("home"), &place.path("work"), arguments);
        let started = Instant::now();
        let child = pair.slave.spawn_command(command).expect("the program starts");
        writer.write_all(ahead).expect("the terminal takes keys");
        drop(pair.slave);
        let screen = vt100::Parser::new(rows, cols, 0);
        let answered = terminal == Terminal::Silent;
        Self { master: pair.master, child, writer, pieces, screen, bytes: 0, started, answered }
    }

    pub fn pid(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    /// Takes in what it writes until `done` says so of the screen; when the piece came that made it so. `None` when the time is up.
    pub fn wait(&mut self, within: Duration, mut done: impl FnMut(&vt100::Screen, Instant) -> bool) -> Option<Instant> {
        let end = Instant::now() + within;
        while let Ok((at, piece)) = self.pieces.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.take(&piece);
            if done(self.screen.screen(), at) {
                return Some(at);
            }
        }
        None
    }

    fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.screen.process(piece);
        if !self.answered && piece.windows(3).any(|bytes| bytes == b"\x1b[c") {
            self.answered = true;
            self.send(ANSWERS);
        }
    }

    /// Until a text is on the screen.
    pub fn until(&mut self, what: &str) -> Instant {
        if self.text().contains(what) {
            return Instant::now();
        }
        let found = self.wait(PATIENCE, |screen, _| screen.contents().contains(what));
        found.unwrap_or_else(|| panic!("no {what:?} in\n{}", self.text()))
    }

    /// Takes in what it writes for a while. When the last piece came.
    pub fn pump(&mut self, time: Duration) -> Option<Instant> {
        let mut last = None;
        self.wait(time, |_, at| {
            last = Some(at);
            false
        });
        last
    }

    /// Until it has written nothing for a while.
    pub fn settle(&mut self, quiet: Duration) {
        while self.pump(quiet).is_some() {}
    }

    pub fn text(&self) -> String {
        self.screen.screen().contents()
    }

    pub fn send(&mut self, keys: &[u8]) {
        self.writer.write_all(keys).and_then(|()| self.writer.flush()).expect("the terminal takes keys");
    }

    pub fn resize(&mut self, cols: u16, rows: u16) -> Instant {
        self.screen.screen_mut().set_size(rows, cols);
        let at = Instant::now();
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.resize(size).expect("the terminal can be resized");
        at
    }

    /// Seconds that it has run on a processor.
    pub fn cpu(&self) -> f64 {
        process::cpu(self.pid())
    }

    /// Leaves as a user does.
    pub fn quit(mut self) {
        self.send(b"\x04");
        let end = Instant::now() + Duration::from_secs(20);
        while self.child.try_wait().expect("its status").is_none() {
            assert!(Instant::now() < end, "it does not leave:\n{}", self.text());
            self.pump(Duration::from_millis(20));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(home: &Path, work: &Path, arguments: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(EXE);
    command.args(arguments);
    command.env_clear();
    for (name, value) in [
        ("HOME", home.to_str().expect("a plain path")),
        ("PATH", "/usr/bin:/bin"),
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("LANG", "C.UTF-8"),
    ] {
        command.env(name, value);
    }
    command.cwd(work);
    command
}
