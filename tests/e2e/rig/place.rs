//! A home, a working directory and servers of its own for each test.

use super::procs::{self, Proc};
use super::{Launch, PATIENCE, ms};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The program.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_mcpane")
}

/// The fixture server's program, which `cargo test` builds; `cargo test --test e2e` does not.
pub fn fixture() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().and_then(Path::parent).unwrap().join("examples/fixture_server");
    assert!(path.exists(), "{} is missing: cargo build --example fixture_server", path.display());
    path
}

/// See the module.
pub struct Place {
    dir: tempfile::TempDir,
    mark: String,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// An empty home and an empty working directory.
    pub fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let dir = tempfile::Builder::new().prefix("mcpane-e2e-").tempdir().unwrap();
        for name in ["home", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let mark = format!("{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::SeqCst));
        Self { dir, mark }
    }

    /// The same with fixture servers, each by its name and options.
    pub fn with_fixtures(servers: &[(&str, &[&str])]) -> Self {
        let place = Self::new();
        let entries = servers.iter().map(|(name, args)| ((*name).to_owned(), place.fixture_entry(name, args)));
        place.servers(Value::Object(entries.collect()));
        place
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A path of this place: `home/…`, `work/…`, or anything else.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, with the directories it needs.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Reads a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Waits for a file that holds a text; its content.
    #[track_caller]
    pub fn file_with(&self, name: &str, what: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
            if text.contains(what) {
                return text;
            }
            assert!(Instant::now() < until, "no {what:?} in {name}: {text}");
            std::thread::sleep(ms(20));
        }
    }

    /// Writes the user's settings.
    pub fn settings(&self, toml: &str) {
        self.write("home/.config/mcpane/config.toml", toml);
    }

    /// Writes the user's servers, which need no trust.
    pub fn servers(&self, servers: Value) {
        self.write("home/.mcp.json", json!({ "mcpServers": servers }).to_string());
    }

    /// An entry for the fixture server. It writes what it receives, and its pids, to files here.
    pub fn fixture_entry(&self, name: &str, args: &[&str]) -> Value {
        json!({ "command": fixture(), "args": args, "env": self.fixture_env(name) })
    }

    /// The variables that tell a fixture server where to write.
    pub fn fixture_env(&self, name: &str) -> Value {
        json!({ "FIXTURE_PIDS": self.path(&format!("{name}.pids")), "FIXTURE_RECORD": self.path(&format!("{name}.record")) })
    }

    /// What a fixture server has received, in order.
    pub fn received(&self, server: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("{server}.record"))).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits until a fixture server has received a message that fits; that message.
    #[track_caller]
    pub fn receives(&self, server: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let all = self.received(server);
            if let Some(found) = all.iter().find(|message| fits(message)) {
                return found.clone();
            }
            assert!(Instant::now() < until, "it never came; {server} received {all:#?}");
            std::thread::sleep(ms(20));
        }
    }

    /// The answers to what a fixture server asked, in order: its `result`s that have an action.
    pub fn answers(&self, server: &str) -> Vec<Value> {
        let answers = self.received(server).into_iter().map(|message| message["result"].clone());
        answers.filter(|result| result.get("action").is_some()).collect()
    }

    /// Waits for the answer with this number, from 0, to what a fixture server asked.
    #[track_caller]
    pub fn answer(&self, server: &str, number: usize) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.answers(server).into_iter().nth(number) {
                return answer;
            }
            assert!(Instant::now() < until, "no answer {number}; {server} received {:#?}", self.received(server));
            std::thread::sleep(ms(20));
        }
    }

    /// What the processes of this place are known by, in the variable [`procs::MARK`].
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The program with these arguments, ready to start here.
    pub fn launch(&self, args: &[&str]) -> Launch {
        let mut launch = Launch::new(program(), args);
        launch.cwd(&self.work()).env(procs::MARK, self.mark());
        launch.env("HOME", self.home().to_str().unwrap());
        launch
    }

    /// Journals of this place, the newest last; each as its lines. A line that was cut off is left out.
    pub fn journals(&self) -> Vec<Vec<Value>> {
        let mut files = Vec::new();
        for project in std::fs::read_dir(self.path("home/.local/share/mcpane/sessions")).into_iter().flatten().flatten()
        {
            for file in std::fs::read_dir(project.path()).into_iter().flatten().flatten() {
                if file.path().extension().is_some_and(|extension| extension == "jsonl") {
                    files.push(file.path());
                }
            }
        }
        files.sort();
        let lines = |path: &PathBuf| {
            let text = std::fs::read_to_string(path).unwrap();
            let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        files.iter().map(lines).collect()
    }

    /// Processes that belong to this place.
    pub fn processes(&self) -> Vec<Proc> {
        procs::marked(&self.mark)
    }

    /// Waits for a process whose command line holds this.
    #[track_caller]
    pub fn process(&self, command: &str) -> Proc {
        let until = Instant::now() + PATIENCE;
        loop {
            let all = self.processes();
            if let Some(found) = all.iter().find(|process| process.command.contains(command)) {
                return found.clone();
            }
            assert!(Instant::now() < until, "no {command:?} among {all:#?}");
            std::thread::sleep(ms(20));
        }
    }

    /// Waits for the program itself, which may run below a shell; its process.
    #[track_caller]
    pub fn host(&self) -> Proc {
        let until = Instant::now() + PATIENCE;
        let is_host = |process: &&Proc| {
            let rest = process.command.strip_prefix(program());
            rest.is_some_and(|rest| rest.trim() != "guard" && rest.trim() != "demo-server")
        };
        loop {
            if let Some(found) = self.processes().iter().find(is_host) {
                return found.clone();
            }
            assert!(Instant::now() < until, "the program does not run: {:#?}", self.processes());
            std::thread::sleep(ms(20));
        }
    }

    /// Waits until no process of this place is left.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let until = Instant::now() + Duration::from_secs(15);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < until, "left behind: {left:#?}");
            std::thread::sleep(ms(30));
        }
    }
}

impl Drop for Place {
    /// What a failing test leaves is ended, so that it cannot spoil others.
    fn drop(&mut self) {
        for process in self.processes() {
            procs::signal(process.pid, rustix::process::Signal::KILL);
        }
    }
}
