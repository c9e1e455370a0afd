//! `mcpane replay`: a recording, or a session's journal, through the same panes.

use super::prepare::{language, layout};
use super::{USAGE, chat, fail, fit};
use crate::agent::journal;
use crate::cli::replay::Replay;
use crate::config::env::Env;
use crate::config::load::{self, Flags, Inputs};
use crate::config::paths::Dirs;
use crate::config::trust::Trust;
use crate::domain::{Notice, Phrase};
use crate::headless::playback::{self, Beat};
use crate::headless::record;
use crate::strings::Strings;
use crate::tui;
use crate::tui::setup::Exit;
use crate::tui::theme::Library;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Shows a recording; the exit status.
pub fn run(wish: &Replay, env: Env, strings: &Strings) -> ExitCode {
    let read = || {
        fit::terminal(&env)?;
        let dirs = Dirs::of(&env).ok_or_else(|| Phrase::new("app.no_home"))?;
        if let Some(name) = &wish.theme {
            fit::theme(name, &Library::new(Some(&dirs.themes())))?;
        }
        let (beats, notices) = read(&wish.file)?;
        Ok((dirs, beats, notices))
    };
    let (dirs, beats, notices) = match read() {
        Ok(read) => read,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let exit = runtime.block_on(show(wish, beats, notices, &env, &dirs));
    runtime.shutdown_timeout(Duration::from_millis(200));
    match exit {
        Ok(Exit::Quit) => ExitCode::SUCCESS,
        Ok(Exit::Hangup) => ExitCode::from(129),
        Ok(Exit::Signal(number)) => ExitCode::from(u8::try_from(128 + number).unwrap_or(1)),
        Err(error) => fail(&error.to_string(), 1),
    }
}

async fn show(
    wish: &Replay,
    beats: Vec<Beat>,
    mut notices: Vec<Notice>,
    env: &Env,
    dirs: &Dirs,
) -> std::io::Result<Exit> {
    let flags = Flags {
        theme: wish.theme.clone(),
        layout: wish.layout.map(layout),
        lang: wish.lang.map(language),
        ..Flags::default()
    };
    let cwd = std::env::current_dir()?;
    let inputs = Inputs { env, dirs, project: &cwd, flags: &flags };
    // What a project wants to be trusted for does not concern what is only looked at.
    let (mut trust, _) = Trust::load(&dirs.trust());
    let (config, problems, _) = load::load_settings(&inputs, &mut trust);
    notices.extend(problems);
    let (ops, events) = playback::play(beats, wish.speed);
    let strings = Strings::new(config.ui.lang);
    let screen = chat::Screen { ops, events, strings, notices, prompt: None, found: None, info: None };
    let mut setup = chat::setup(screen, &config, env, dirs, &cwd);
    setup.history = None;
    tui::run::run(setup).await
}

/// The beats of a file, and what is to be said about it.
fn read(file: &Path) -> Result<(Vec<Beat>, Vec<Notice>), Phrase> {
    let failed =
        |error: std::io::Error| Phrase::new("app.replay_failed").with("file", file.display()).with("error", error);
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let first = text.lines().next().unwrap_or_default();
    let (beats, damaged, said) = if let Some(head) = record::head(first) {
        let (lines, damaged) = record::lines(&text);
        let said = Phrase::new("app.replay_recording").with("started", head.started);
        (playback::of_recording(lines), damaged, said)
    } else {
        let kept = journal::look(file).map_err(|_| Phrase::new("app.replay_unknown").with("file", file.display()))?;
        let beats = playback::of_conversation(&kept.header.id, &kept.header.cwd, &kept.conversation);
        (beats, kept.damaged, Phrase::new("app.replay_journal").with("started", kept.header.created))
    };
    let mut notices = vec![Notice::info(said)];
    if !damaged.is_empty() {
        let lines = damaged.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        notices.push(Notice::warning(Phrase::new("app.damaged").with("file", file.display()).with("lines", lines)));
    }
    Ok((beats, notices))
}
