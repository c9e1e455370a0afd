//! A program with pipes: what goes in, what comes out, how it ends.

use super::{PATIENCE, ms};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// What to start, and in what surroundings.
pub struct Launch {
    program: String,
    args: Vec<String>,
    env: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
    stdin: Option<String>,
}

impl Launch {
    /// A program with its arguments and an environment of the least that there is. Standard input is empty.
    pub fn new(program: &str, args: &[&str]) -> Self {
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
        Self {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: vec![("PATH".into(), path.into()), ("LANG".into(), "en_US.UTF-8".into())],
            cwd: None,
            stdin: None,
        }
    }

    pub fn env(&mut self, name: &str, value: &str) -> &mut Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn cwd(&mut self, path: &Path) -> &mut Self {
        self.cwd = Some(path.to_owned());
        self
    }

    /// Pipes a text in.
    pub fn stdin(&mut self, text: &str) -> &mut Self {
        self.stdin = Some(text.to_owned());
        self
    }

    /// Starts it.
    pub fn start(&self) -> Running {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().cloned());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().unwrap();
        if let Some(text) = &self.stdin {
            // It may not want it.
            let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        }
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = stderr.read_to_string(&mut text);
            text
        });
        let stdout = child.stdout.take().map(BufReader::new);
        Running { child, stdout, errors: Some(errors), read: String::new() }
    }

    /// Starts it and waits for its end.
    #[track_caller]
    pub fn run(&self) -> Ran {
        self.start().end()
    }
}

/// A running program.
pub struct Running {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    errors: Option<std::thread::JoinHandle<String>>,
    read: String,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        super::procs::signal(self.pid(), signal);
    }

    /// Reads the next line of its output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().unwrap().read_line(&mut line).unwrap();
        self.read.push_str(&line);
        line
    }

    /// Reads lines until one holds this.
    #[track_caller]
    pub fn line_with(&mut self, what: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "no line with {what:?}: {}", self.read);
            if line.contains(what) {
                return line;
            }
        }
    }

    /// Nobody reads its output any more.
    pub fn close(&mut self) {
        self.stdout = None;
    }

    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Ran {
        let stdout = self.stdout.take().map(|mut stdout| {
            std::thread::spawn(move || {
                let mut text = String::new();
                let _ = stdout.read_to_string(&mut text);
                text
            })
        });
        let until = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > until {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("it does not end: {:?}", self.errors.take().unwrap().join());
            }
            std::thread::sleep(ms(5));
        };
        let rest = stdout.map(|stdout| stdout.join().unwrap()).unwrap_or_default();
        Ran {
            status: status.code().unwrap_or_else(|| 1000 + status.signal().unwrap_or_default()),
            out: std::mem::take(&mut self.read) + &rest,
            err: self.errors.take().unwrap().join().unwrap(),
        }
    }
}

/// What a program left.
#[derive(Debug)]
pub struct Ran {
    /// The exit status; a signal is 1000 and its number.
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// It ended with this status.
    #[track_caller]
    pub fn with(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// It said this on standard error.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in {self:#?}");
        self
    }

    /// Its output as JSON, one value a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.out.lines().map(parse).collect()
    }
}
