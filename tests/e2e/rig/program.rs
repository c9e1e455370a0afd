//! A program in a pseudo terminal: keys in, bytes out, a screen made of them.

use super::{PATIENCE, Terminal, keys, ms, screen};
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time between two keys. Those that come at once look like a paste on a terminal that does not bracket its pastes.
const BETWEEN: Duration = ms(8);

/// What to start, and in what surroundings.
pub struct Launch {
    command: CommandBuilder,
    size: (u16, u16),
    terminal: Terminal,
}

impl Launch {
    /// A program with its arguments and an environment of the least that there is.
    pub fn new(program: &str, args: &[&str]) -> Self {
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
        for (name, value) in [("PATH", path.as_str()), ("TERM", "xterm-256color"), ("LANG", "en_US.UTF-8")] {
            command.env(name, value);
        }
        Self { command, size: (120, 40), terminal: Terminal::default() }
    }

    pub fn env(&mut self, name: &str, value: &str) -> &mut Self {
        self.command.env(name, value);
        self
    }

    pub fn cwd(&mut self, path: &Path) -> &mut Self {
        self.command.cwd(path);
        self
    }

    pub fn size(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.size = (columns, rows);
        self
    }

    pub fn terminal(&mut self, terminal: Terminal) -> &mut Self {
        self.terminal = terminal;
        self
    }

    /// A shell with job control runs this script instead, and has program and arguments as `"$@"`.
    pub fn in_shell(&mut self, script: &str) -> &mut Self {
        let argv = self.command.get_argv_mut();
        let shell = ["bash", "--norc", "--noprofile", "-c", script, "bash"];
        argv.splice(0..0, shell.into_iter().map(Into::into));
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn start(&self) -> Program {
        let (columns, rows) = self.size;
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        let child = pair.slave.spawn_command(self.command.clone()).unwrap();
        drop(pair.slave);
        let reader = pair.master.try_clone_reader().unwrap();
        let writer: Keyboard = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let shared = Arc::new(Shared {
            seen: Mutex::new(Seen {
                parser: vt100::Parser::new(rows, columns, 0),
                raw: Vec::new(),
                last: Instant::now(),
                ended: false,
            }),
            changed: Condvar::new(),
        });
        let (sink, keyboard, terminal) = (Arc::clone(&shared), Arc::clone(&writer), self.terminal);
        std::thread::spawn(move || watch(reader, &sink, &keyboard, terminal));
        Program { child, master: pair.master, writer, shared, exit: None }
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

type Keyboard = Arc<Mutex<Box<dyn Write + Send>>>;

struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
    last: Instant,
    /// Nobody has the terminal open any more.
    ended: bool,
}

struct Shared {
    seen: Mutex<Seen>,
    changed: Condvar,
}

/// Reads what is written to the terminal, and answers what it is asked.
fn watch(mut reader: Box<dyn Read + Send>, shared: &Shared, keyboard: &Keyboard, terminal: Terminal) {
    let mut buffer = vec![0; 65536];
    let mut asked = Vec::new();
    loop {
        let read = reader.read(&mut buffer).unwrap_or(0);
        let mut seen = shared.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if read == 0 {
            seen.ended = true;
            shared.changed.notify_all();
            return;
        }
        let bytes = &buffer[..read];
        seen.parser.process(bytes);
        seen.raw.extend_from_slice(bytes);
        seen.last = Instant::now();
        shared.changed.notify_all();
        drop(seen);
        asked.extend_from_slice(bytes);
        let answers = terminal.answers(&asked);
        // A question may be cut by the read; none is longer than this.
        let keep = if answers.is_empty() { asked.len().min(16) } else { 0 };
        asked.drain(..asked.len() - keep);
        if !answers.is_empty() {
            let _ = keyboard.lock().unwrap().write_all(&answers);
        }
    }
}

/// A running program and its terminal.
pub struct Program {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    writer: Keyboard,
    shared: Arc<Shared>,
    exit: Option<ExitStatus>,
}

impl Program {
    pub fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    // --- what goes in

    /// Sends bytes at once.
    pub fn send(&self, bytes: impl AsRef<[u8]>) -> &Self {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have ended.
        let _ = writer.write_all(bytes.as_ref()).and_then(|()| writer.flush());
        self
    }

    /// Types as a person would: key by key.
    pub fn type_text(&self, text: &str) -> &Self {
        for letter in text.chars() {
            self.send(letter.to_string());
            std::thread::sleep(BETWEEN);
        }
        self
    }

    /// Presses a key.
    pub fn key(&self, name: &str) -> &Self {
        self.send(keys::bytes(name));
        if name == "esc" {
            // What follows at once belongs to it: Alt and a key. Nobody types that fast.
            std::thread::sleep(ms(70));
        }
        self
    }

    /// Presses keys, one after the other.
    pub fn keys(&self, names: &[&str]) -> &Self {
        for name in names {
            self.key(name);
            std::thread::sleep(BETWEEN);
        }
        self
    }

    /// A bracketed paste.
    pub fn paste(&self, text: &str) -> &Self {
        self.send(format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r")))
    }

    /// Types a line into the composer, sees it there, and sends it.
    #[track_caller]
    pub fn submit(&self, text: &str) -> &Self {
        self.type_text(text);
        let tail: String = text.chars().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect();
        self.wait_for(&tail);
        self.key("enter")
    }

    pub fn resize(&self, columns: u16, rows: u16) -> &Self {
        self.seen().parser.screen_mut().set_size(rows, columns);
        self.master.resize(size(columns, rows)).unwrap();
        self
    }

    pub fn signal(&self, signal: rustix::process::Signal) -> &Self {
        super::procs::signal(self.pid(), signal);
        self
    }

    // --- what is seen

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The screen as text.
    pub fn screen(&self) -> String {
        screen::text(self.seen().parser.screen())
    }

    /// Looks at the screen with its colours and modes.
    pub fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.seen().parser.screen())
    }

    /// Everything that was ever written to the terminal.
    pub fn raw(&self) -> Vec<u8> {
        self.seen().raw.clone()
    }

    /// The same, as text.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.raw()).into_owned()
    }

    /// How many bytes that is.
    pub fn count(&self) -> usize {
        self.seen().raw.len()
    }

    /// Whether this is on the screen now.
    pub fn shows(&self, text: &str) -> bool {
        self.screen().contains(text)
    }

    /// Waits until something holds of the screen.
    #[track_caller]
    pub fn wait(&self, what: &str, holds: impl Fn(&str) -> bool) -> &Self {
        let until = Instant::now() + PATIENCE;
        let mut seen = self.seen();
        loop {
            let text = screen::text(seen.parser.screen());
            if holds(&text) {
                return self;
            }
            assert!(!seen.ended, "it ended; never {what}; the screen:\n{text}\n{}", tail(&seen.raw));
            assert!(Instant::now() < until, "never {what}; the screen:\n{text}");
            seen = self.shared.changed.wait_timeout(seen, ms(100)).unwrap().0;
        }
    }

    /// Waits for a text on the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) -> &Self {
        self.wait(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Waits until a text is no longer on the screen.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) -> &Self {
        self.wait(&format!("gone: {text:?}"), |screen| !screen.contains(text))
    }

    /// Waits until these bytes were written.
    #[track_caller]
    pub fn wait_written(&self, text: &str) -> &Self {
        let until = Instant::now() + PATIENCE;
        while !self.written().contains(text) {
            let seen = self.seen();
            assert!(!seen.ended && Instant::now() < until, "never wrote {text:?}: {}", tail(&seen.raw));
            drop(self.shared.changed.wait_timeout(seen, ms(100)).unwrap());
        }
        self
    }

    /// Waits until nothing was written for so long.
    #[track_caller]
    pub fn wait_quiet(&self, time: Duration) -> &Self {
        let now = Instant::now();
        let mut seen = self.seen();
        // What a key has just asked for may not have been begun.
        while seen.last.max(now).elapsed() < time && !seen.ended {
            let text = screen::text(seen.parser.screen());
            assert!(now.elapsed() < PATIENCE, "it never stops writing; the screen:\n{text}");
            let left = time.saturating_sub(seen.last.max(now).elapsed()).max(ms(1));
            seen = self.shared.changed.wait_timeout(seen, left).unwrap().0;
        }
        self
    }

    /// Presses a key that answers what is open; then this is on the screen.
    #[track_caller]
    pub fn answer(&self, key: &str, then: &str) -> &Self {
        self.key(key).wait_for(then)
    }

    /// Opens what waits once this is announced and has stood long enough to be read (400 ms), so that it takes keys at once. Then this is on the screen.
    #[track_caller]
    pub fn open(&self, announced: &str, then: &str) -> &Self {
        self.wait(&format!("{announced:?} waiting"), |screen| screen.contains(announced) && screen.contains("Ctrl-O"));
        std::thread::sleep(ms(450));
        self.key("c-o").wait_for(then)
    }

    /// The next prompt opened by itself because the one before was answered: it takes no key before it can have been read, and not the key that
    /// answered for longer still (700 ms).
    #[track_caller]
    pub fn next(&self, shows: &str) -> &Self {
        self.wait_for(shows);
        std::thread::sleep(ms(800));
        self
    }

    /// Waits until no turn runs.
    #[track_caller]
    pub fn wait_idle(&self) -> &Self {
        let works = ["Esc interrupts", "Waits for you", "Enter queue"];
        self.wait("idle", |screen| !works.iter().any(|word| screen.contains(word)))
    }

    // --- how it ends

    /// Waits for the end; what was reported.
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        while self.exit.is_none() {
            self.exit = self.child.try_wait().unwrap();
            if self.exit.is_none() {
                assert!(Instant::now() < until, "it does not end; the screen:\n{}", self.screen());
                std::thread::sleep(ms(5));
            }
        }
        // What it wrote last is still on its way.
        let drained = Instant::now() + ms(2_000);
        let mut seen = self.seen();
        while !seen.ended && Instant::now() < drained {
            seen = self.shared.changed.wait_timeout(seen, ms(20)).unwrap().0;
        }
        drop(seen);
        self.exit.clone().unwrap()
    }

    /// Waits for the end, which comes with this exit code.
    #[track_caller]
    pub fn assert_exit(&mut self, code: u32) {
        let status = self.wait_exit();
        assert_eq!(status.exit_code(), code, "{status:?}; {}", tail(&self.raw()));
    }

    /// Quits by the keyboard, from the composer.
    #[track_caller]
    pub fn quit(&mut self) {
        self.wait_idle();
        self.key("c-c");
        self.wait_for("Once more to quit");
        self.key("c-c");
        self.assert_exit(0);
    }
}

/// The last bytes, readable.
fn tail(raw: &[u8]) -> String {
    let from = raw.len().saturating_sub(1500);
    format!("{:?}", String::from_utf8_lossy(&raw[from..]))
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.signal(rustix::process::Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
