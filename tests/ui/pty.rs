//! The real loop in a real (pseudo) terminal: modes, signals, suspending, idling.

use crate::stage;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?1004h";
const LEAVE: &str = "\x1b[?1004l\x1b[?2004l\x1b[?1049l";

/// The stage, running in a terminal of 80×24.
struct Stage {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    bytes: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    screen: vt100::Parser,
}

impl Stage {
    fn start(scene: &str) -> Self {
        let exe = std::env::current_exe().unwrap();
        let mut command = CommandBuilder::new(exe);
        command.args(["--exact", "pty::quits_and_restores", "--nocapture"]);
        Self::run(scene, command)
    }

    fn in_shell(scene: &str, script: &str) -> Self {
        let mut command = CommandBuilder::new("bash");
        command.args(["--norc", "-c", script]);
        command.arg(std::env::current_exe().unwrap());
        Self::run(scene, command)
    }

    fn run(scene: &str, mut command: CommandBuilder) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.env("MCPANE_STAGE", scene);
        command.env("TERM", "xterm-256color");
        command.env("RUST_BACKTRACE", "0");
        command.cwd(std::env::current_dir().unwrap());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (send, bytes) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n) = reader.read(&mut buffer) {
                if n == 0 || send.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        let screen = vt100::Parser::new(24, 80, 0);
        Self { master: pair.master, child, writer, bytes, raw: Vec::new(), screen }
    }

    fn pump(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(bytes) = self.bytes.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.screen.process(&bytes);
            self.raw.extend(bytes);
        }
    }

    fn text(&self) -> String {
        let lines: Vec<String> = self.screen.screen().contents().lines().map(|l| l.trim_end().to_owned()).collect();
        lines.join("\n")
    }

    /// Until something is on the screen or was ever written.
    fn until(&mut self, what: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.text().contains(what) && !self.written().contains(what) {
            assert!(Instant::now() < end, "no {what:?} in\n{}\n{:?}", self.text(), self.written());
            self.pump(Duration::from_millis(20));
        }
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    fn send(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap();
        std::process::Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    }

    fn end(&mut self) -> u32 {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.pump(Duration::from_millis(100));
                return status.exit_code();
            }
            assert!(Instant::now() < end, "it is still running:\n{}", self.text());
            self.pump(Duration::from_millis(20));
        }
    }

    /// The terminal was taken once and given back once, everything in reverse order, and before whatever was printed behind it.
    fn assert_restored(&self) {
        let all = self.written();
        assert_eq!(all.matches(ENTER).count(), 1);
        assert_eq!(all.matches(LEAVE).count(), 1, "{all:?}");
        let after = &all[all.find(LEAVE).unwrap()..];
        assert!(!after.contains("\x1b[?2026h"), "drawn after leaving: {after:?}");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn quits_and_restores() {
    // As the child of this and the other tests, it is the program.
    if stage::scene().is_some() {
        return stage::play();
    }
    let mut stage = Stage::start("quiet");
    stage.until("ollama:qwen3");
    stage.send("draft");
    stage.until("draft");
    stage.send("\x03");
    stage.until("Write a task");
    stage.send("\x03");
    stage.until("Once more");
    stage.send("\x03");
    assert_eq!(stage.end(), 0);
    stage.assert_restored();
}

#[test]
fn sigterm_and_sighup_restore() {
    for name in ["TERM", "HUP"] {
        let mut stage = Stage::start("quiet");
        stage.until("ollama:qwen3");
        stage.signal(name);
        stage.end();
        stage.assert_restored();
    }
}

#[test]
fn a_panic_restores_before_its_message() {
    let mut stage = Stage::start("panic");
    stage.until("Write a task");
    stage.send("go\r");
    stage.end();
    stage.assert_restored();
    let all = stage.written();
    let message = all.find("the script fell over").expect("the message is printed");
    assert!(message > all.find(LEAVE).unwrap());
}

#[test]
fn answers_to_queries_type_nothing() {
    let mut stage = Stage::start("quiet");
    stage.until("\x1b[c");
    stage.send("\x1b]11;rgb:1111/1111/1111\x1b\\\x1b[?0u\x1b[?2027;2$y\x1b[?62;22c");
    stage.send("typed");
    stage.until("› typed");
    stage.until("\x1b[>1u");
    assert!(!stage.text().contains("1111"), "{}", stage.text());
    // Shift-Enter is told apart now, and said.
    stage.until("Shift-Enter");
    stage.send("\x1b[13;2umore\x1b[99;5u\x1b[99;5u");
    stage.until("Once more");
    stage.send("\x1b[99;5u");
    stage.end();
    let all = stage.written();
    assert!(all.find("\x1b[<1u").unwrap() < all.find(LEAVE).unwrap(), "popped in reverse order");
}

#[test]
fn pastes_whole_and_splits_escape_sequences() {
    let mut stage = Stage::start("quiet");
    stage.until("Write a task");
    stage.send("\x1b[200~one\rtwo\x1b[201~");
    stage.until("two");
    assert!(stage.text().contains("one"));
    // An Alt-Enter that arrives in two pieces is no Escape.
    stage.send("\x1b");
    stage.send("\rthree");
    stage.until("three");
    assert!(stage.text().contains("two\n   three"), "{}", stage.text());
}

#[test]
fn without_a_shell_it_is_not_stopped_for_ever() {
    let mut stage = Stage::start("quiet");
    stage.until("Write a task");
    stage.send("\x1a");
    stage.pump(Duration::from_millis(600));
    stage.send("still here");
    stage.until("still here");
    assert_eq!(stage.written().matches(ENTER).count(), 2, "left and taken again");
}

#[test]
fn stops_and_comes_back() {
    let script =
        r#"set -m; "$0" --exact pty::quits_and_restores --nocapture; echo ST""OPPED; stty -a; fg; echo OV""ER"#;
    let mut stage = Stage::in_shell("quiet", script);
    stage.until("Write a task");
    stage.send("kept");
    stage.until("› kept");
    stage.send("\x1a");
    stage.until("STOPPED");
    stage.until("-ixany");
    let stopped = stage.written();
    let after = &stopped[stopped.find("STOPPED").unwrap()..];
    assert!(after.contains(" icanon") && after.contains(" echo "), "{after}");
    stage.send(" and more");
    let end = Instant::now() + PATIENCE;
    while !stage.text().contains("kept and more") {
        assert!(Instant::now() < end, "{}", stage.text());
        stage.pump(Duration::from_millis(20));
    }
    stage.send("\x03\x03\x03");
    stage.until("OVER");
}

#[test]
fn a_resize_storm_ends_in_the_right_size() {
    let mut stage = Stage::start("quiet");
    stage.until("Write a task");
    for columns in (40..120).chain([60]) {
        let size = PtySize { rows: 20, cols: columns, pixel_width: 0, pixel_height: 0 };
        stage.master.resize(size).unwrap();
    }
    stage.screen.screen_mut().set_size(20, 60);
    let end = Instant::now() + PATIENCE;
    while stage.text().lines().find(|line| line.contains("Timeline")).is_none_or(|rule| rule.chars().count() != 60) {
        assert!(Instant::now() < end, "{}", stage.text());
        stage.pump(Duration::from_millis(50));
    }
}

/// Times a thread of the process went to sleep by itself, added up: an idle program's do not rise.
#[cfg(target_os = "linux")]
fn wakes(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let status = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok());
    status
        .flat_map(|s| {
            s.lines()
                .filter_map(|l| l.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
                .collect::<Vec<u64>>()
        })
        .sum()
}

#[cfg(target_os = "linux")]
#[test]
fn idle_writes_nothing_and_never_wakes() {
    let mut stage = Stage::start("quiet");
    stage.until("Write a task");
    stage.send("x");
    stage.until("› x");
    // The draft is told a second after the last key; then there is nothing left to do.
    stage.pump(Duration::from_millis(1500));
    let pid = stage.child.process_id().unwrap();
    let (before, written) = (wakes(pid), stage.raw.len());
    stage.pump(Duration::from_secs(2));
    assert_eq!((wakes(pid), stage.raw.len()), (before, written));
}

#[test]
fn leaves_the_transcript_and_the_way_back_on_the_normal_screen() {
    let mut stage = Stage::start("answered");
    stage.until("How to read the file");
    stage.send("/dump\r");
    stage.until("will be written to the normal screen");
    stage.send("\x04");
    assert_eq!(stage.end(), 0);
    stage.assert_restored();
    let all = stage.written();
    let after = &all[all.find(LEAVE).unwrap()..];
    assert!(after.contains("Sample data, so pack an umbrella anyway."), "{after}");
    assert!(after.contains("mcpane --continue"), "{after}");
}
