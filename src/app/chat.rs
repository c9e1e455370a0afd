//! The full-screen session: from flags to the last line on the normal screen.

use super::host::Desk;
use super::models::Models;
use super::prepare::{Front, Prepared, prepare};
use super::{USAGE, fail, fit, welcome};
use crate::agent::{self, Agent};
use crate::cli::Chat;
use crate::config::env::Env;
use crate::config::load::Config;
use crate::config::paths::Dirs;
use crate::config::ui::AmbiguousWidth;
use crate::config::watch::Watch;
use crate::contract::{Event, ModelInfo, Op};
use crate::disk;
use crate::domain::{Notice, Phrase};
use crate::provider::Provider;
use crate::strings::Strings;
use crate::tui::clipboard::Through;
use crate::tui::keymap::Keymap;
use crate::tui::layout::Mode;
use crate::tui::msg::Found;
use crate::tui::settings::{Fault, Settings};
use crate::tui::setup::{Exit, Setup};
use crate::tui::theme::{Depth, Library};
use crate::tui::wardrobe::Wardrobe;
use crate::tui::{self};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the agent may take to end everything.
const ENDING: Duration = Duration::from_secs(12);

/// Runs a session; the exit status.
pub fn run(chat: Chat, env: Env, strings: &Strings) -> ExitCode {
    if chat.options.session == Some(None) {
        return super::sessions::choose(&chat.options, &env, strings);
    }
    let prompt = Some(chat.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty());
    let prepared = fit::terminal(&env).and_then(|()| prepare(&chat.options, Front::Screen, env));
    let prepared = match prepared {
        Ok(prepared) => prepared,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let status = runtime.block_on(session(prepared, prompt));
    // Tasks that block (a file system that hangs) must not keep the program from ending.
    runtime.shutdown_timeout(Duration::from_millis(200));
    status
}

async fn session(mut prepared: Prepared, prompt: Option<String>) -> ExitCode {
    let (env, dirs, models) = (Arc::clone(&prepared.env), prepared.dirs.clone(), Arc::clone(&prepared.models));
    let (config, cwd) = (Arc::clone(&prepared.live.config), prepared.live.project.clone());
    let info = prepared.model.as_ref().map(|model| info(model.as_ref(), &config));
    let (strings, recorder) = (prepared.strings.clone(), prepared.recorder.take());
    let (notices, watched) = (std::mem::take(&mut prepared.notices), std::mem::take(&mut prepared.watched));
    let Agent { ops, notices: voice, events, mut task } = match agent::spawn(prepared.kit()) {
        Ok(agent) => agent,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let (ops, events, recording) = super::recording(recorder, ops, events, voice.clone());
    let found = info.is_none().then(|| search(&models, &env));
    let watch = watch(watched, voice);
    let screen = Screen { ops, events, strings, notices, prompt, found, info };
    let exit = tui::run::run(setup(screen, &config, &env, &dirs, &cwd)).await;
    drop(watch);
    // The terminal is the user's again; what still runs is ended within its bounds.
    if tokio::time::timeout(ENDING, &mut task).await.is_err() {
        task.abort();
    } else if let Some(recording) = recording {
        recording.ended().await;
    }
    match exit {
        Ok(Exit::Quit) => ExitCode::SUCCESS,
        Ok(Exit::Hangup) => ExitCode::from(129),
        Ok(Exit::Signal(number)) => ExitCode::from(u8::try_from(128 + number).unwrap_or(1)),
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn info(model: &dyn Provider, config: &Config) -> ModelInfo {
    let name = model.name().to_owned();
    ModelInfo { name, dialect: config.dialect, context: model.abilities().context, scripted: model.is_scripted() }
}

/// What the screen gets that is not in the settings.
pub struct Screen {
    /// To the agent, or what stands in its place.
    pub ops: mpsc::Sender<Op>,
    /// From it.
    pub events: mpsc::Receiver<Event>,
    /// Texts.
    pub strings: Strings,
    /// What the user should read first.
    pub notices: Vec<Notice>,
    /// A task to send at once.
    pub prompt: Option<String>,
    /// What was found for someone who has configured nothing.
    pub found: Option<mpsc::Receiver<Found>>,
    /// The model, before the agent speaks.
    pub info: Option<ModelInfo>,
}

/// Everything the screen needs.
pub fn setup(screen: Screen, config: &Config, env: &Env, dirs: &Dirs, cwd: &Path) -> Setup {
    let Screen { ops, events, strings, mut notices, prompt, found, info } = screen;
    let mut keymap = Keymap::built_in();
    notices.extend(user_keys(dirs, &mut keymap));
    let around = &config.surroundings;
    Setup {
        ops,
        events,
        settings: Settings {
            layout: Mode::from_name(config.ui.layout.name()).unwrap_or_default(),
            theme: config.ui.theme.clone(),
            ambiguous_wide: config.ui.ambiguous_width == AmbiguousWidth::Two,
            escape: Duration::from_millis(config.ui.esc_hold_ms),
            cwd: cwd.to_string_lossy().into_owned(),
            home: dirs.home.to_string_lossy().into_owned(),
            model: info.unwrap_or_default(),
            fault: fault(env),
            ..Settings::default()
        },
        strings,
        keymap,
        wardrobe: Wardrobe::new(Library::new(Some(&dirs.themes())), depth(env)),
        notices,
        prompt,
        history: Some(dirs.state.join("history")),
        copies: Some(dirs.state.join("copied.txt")),
        through: Through::of(&around.term, env.filled("TMUX"), env.filled("STY")),
        host: Arc::new(Desk {
            editor: around.editor.clone(),
            browser: around.browser.clone(),
            file: config.file.clone(),
        }),
        found,
    }
}

fn search(models: &Arc<Models>, env: &Arc<Env>) -> mpsc::Receiver<Found> {
    let (sender, found) = mpsc::channel(8);
    let (models, env) = (Arc::clone(models), Arc::clone(env));
    tokio::spawn(async move { welcome::search(&models, &env, sender).await });
    found
}

/// Notices changes of the configuration's files. Started off the first frame's way; a system without a watcher does without.
fn watch(files: Vec<PathBuf>, voice: agent::Notices) -> tokio::task::JoinHandle<Option<Watch>> {
    tokio::task::spawn_blocking(move || {
        let tell = move |changed: Vec<PathBuf>| {
            let names = changed.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
            voice.send(Notice::info(Phrase::new("app.file_changed").with("files", names)));
        };
        Watch::start(files, tell).map_err(|error| tracing::warn!(%error, "files are not watched")).ok()
    })
}

fn user_keys(dirs: &Dirs, keymap: &mut Keymap) -> Vec<Notice> {
    let path = dirs.keymap();
    match disk::read(&path) {
        Ok(Some(text)) => {
            let place = |problem| Phrase::new("app.bad_key").with("file", path.display()).with("problem", problem);
            keymap.merge(&text).into_iter().map(|problem| Notice::warning(place(problem))).collect()
        }
        Ok(None) => Vec::new(),
        Err(error) => {
            let text = Phrase::new("app.bad_key").with("file", path.display()).with("problem", error);
            vec![Notice::warning(text)]
        }
    }
}

fn depth(env: &Env) -> Depth {
    let get = |name| env.get(name).unwrap_or_default();
    tui::wardrobe::depth(get("TERM"), get("COLORTERM"), env.get("NO_COLOR"))
}

/// Debug builds only, for tests: with `MCPANE_FAULT=redraw` Ctrl-L panics, as a mistake in the drawing would.
fn fault(env: &Env) -> Fault {
    if cfg!(debug_assertions) && env.get("MCPANE_FAULT") == Some("redraw") { Fault::Redraw } else { Fault::None }
}
