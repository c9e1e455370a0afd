//! Composition root: configuration → agent → front end. The only room that knows every layer.
//!
//! Owns the order in which things are made and ended, and the exit status: 0 done, 1 failed, 2 usage or configuration, 128 + n signal n;
//! of a task without a screen also 3, 4 and 130 (see [`crate::headless::End`]).

mod chat;
mod fit;
mod host;
mod kept;
mod live;
mod models;
mod prepare;
mod replay;
mod run;
mod sessions;
mod welcome;

use crate::agent::Notices;
use crate::cli::{self, Command};
use crate::config::env::Env;
use crate::contract::{Event, Op};
use crate::domain::{Notice, Phrase};
use crate::headless::record::{Recorder, Recording};
use crate::strings::{Language, Strings};
use crate::{demo_server, guard};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// Usage or configuration.
const USAGE: u8 = 2;

/// The program.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    // These two are started by ourselves, and one of them must outlive everything: nothing else is made before them.
    match arguments.get(1).and_then(|argument| argument.to_str()) {
        Some("guard") if arguments.len() == 2 => return guard::run(),
        Some("demo-server") if arguments.len() == 2 => return demo_server::run(),
        _ => {}
    }
    let env = Env::system();
    let locale = cli::language_flag(&arguments).or_else(|| locale(&env));
    let strings = Strings::new(locale.map_or(Language::En, |locale| Language::from_locale(&locale)));
    match cli::parse(arguments, &strings) {
        Ok(cli) => match cli.command {
            Some(Command::DemoServer) => demo_server::run(),
            Some(Command::Guard) => guard::run(),
            Some(Command::Completions { shell }) => {
                let mut command = cli::command(&strings);
                clap_complete::generate(shell, &mut command, "mcpane", &mut std::io::stdout());
                ExitCode::SUCCESS
            }
            Some(Command::Man) => man(&strings),
            Some(Command::Run(task)) => run::run(*task, env, &strings),
            Some(Command::Sessions(wish)) => sessions::run(&wish, &env, &strings),
            Some(Command::Replay(wish)) => replay::run(&wish, env, &strings),
            None => chat::run(cli.chat, env, &strings),
        },
        Err(error) => {
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
        }
    }
}

/// The locale for messages, in POSIX's order.
fn locale(env: &Env) -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(|name| env.filled(name)).map(str::to_owned)
}

fn man(strings: &Strings) -> ExitCode {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(cli::command(strings)).render(&mut page);
    match written.and_then(|()| std::io::stdout().write_all(&page)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Puts the recorder, if there is one, between the agent and whoever stands before it.
fn recording(
    recorder: Option<Recorder>,
    ops: mpsc::Sender<Op>,
    events: mpsc::Receiver<Event>,
    voice: Notices,
) -> (mpsc::Sender<Op>, mpsc::Receiver<Event>, Option<Recording>) {
    let Some(recorder) = recorder else { return (ops, events, None) };
    let failed = move |error: std::io::Error| {
        voice.send(Notice::error(Phrase::new("app.record_broken").with("error", error)));
    };
    let (ops, events, recording) = recorder.between(ops, events, failed);
    (ops, events, Some(recording))
}

/// Says why nothing is done, on standard error.
fn fail(text: &str, status: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "mcpane: {text}");
    ExitCode::from(status)
}
