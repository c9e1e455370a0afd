//! Running a command to its end, and making its output comparable.

use crate::rig::Place;
use crate::rig::place::program;
use crate::rig::procs::MARK;
use std::process::{Command, Stdio};

/// What a command came to.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Adds running to the end to a place.
pub trait Stage {
    /// The program with these arguments, without a terminal, ready to run here.
    fn command(&self, args: &[&str]) -> Command;
    /// Runs it to the end. Paths of this place, times and the like are replaced, so that the output can be compared.
    fn run(&self, args: &[&str]) -> Ran;
    /// The same for a text of any origin.
    fn comparable(&self, text: &str) -> String;
}

impl Stage for Place {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(args).current_dir(self.work()).env_clear();
        command.env("HOME", self.home()).env("PATH", std::env::var_os("PATH").unwrap()).env("LANG", "en_US.UTF-8");
        command.env(MARK, self.mark()).stdin(Stdio::null());
        command
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        let text = |bytes: &[u8]| self.comparable(std::str::from_utf8(bytes).unwrap());
        Ran { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    fn comparable(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in [
            (crate::rig::place::fixture(), "<FIXTURE>"),
            (self.work(), "<WORK>"),
            (self.home(), "<HOME>"),
            (self.path(""), "<PLACE>/"),
        ] {
            for path in [path.canonicalize().unwrap_or(path.clone()), path] {
                text = text.replace(path.to_str().unwrap(), name);
            }
        }
        let times = regex::Regex::new(r"\b\d+ ms\b").unwrap();
        let text = times.replace_all(&text, "N ms");
        regex::Regex::new(r#""millis": \d+"#).unwrap().replace_all(&text, "\"millis\": 0").into_owned()
    }
}

impl Ran {
    /// Everything, for a snapshot.
    pub fn all(&self) -> String {
        format!("exit {}\n--- out\n{}--- err\n{}", self.code, self.out, self.err)
    }

    /// Its output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}
