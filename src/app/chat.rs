//! The full-screen session: from flags to the last line on the normal screen.

use super::host::Desk;
use super::learned::Learned;
use super::live::Live;
use super::models::Models;
use super::{USAGE, fail, fit, welcome};
use crate::agent::machine::Limits;
use crate::agent::speaking::{Manner, Speaking};
use crate::agent::{self, Agent, Kit, journal};
use crate::cli::{Chat, Lang, Layout};
use crate::config::env::Env;
use crate::config::load::{self, Config, Flags, Inputs, Loaded};
use crate::config::paths::Dirs;
use crate::config::servers::Strict;
use crate::config::settings::DialectChoice;
use crate::config::trust::Trust;
use crate::config::ui::{self, AmbiguousWidth};
use crate::config::watch::Watch;
use crate::contract::{Event, ModelInfo, Op};
use crate::domain::{Notice, Phrase};
use crate::guard::Guard;
use crate::policy::{Effect, Place, Policy, Rules, Store};
use crate::provider::Provider;
use crate::redact::Redactor;
use crate::strings::{Language, Strings};
use crate::tools::scene::Setting;
use crate::tui::clipboard::Through;
use crate::tui::keymap::Keymap;
use crate::tui::layout::Mode;
use crate::tui::msg::Found;
use crate::tui::settings::{Fault, Settings};
use crate::tui::setup::{Exit, Setup};
use crate::tui::theme::{Depth, Library};
use crate::tui::wardrobe::Wardrobe;
use crate::tui::{self};
use crate::{mcp, telemetry};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the agent may take to end everything.
const ENDING: Duration = Duration::from_secs(12);

/// Runs a session; the exit status.
pub fn run(chat: Chat, env: Env, strings: &Strings) -> ExitCode {
    let prepared = match fit::terminal(&env).and_then(|()| prepare(chat, env)) {
        Ok(prepared) => prepared,
        Err(problem) => return fail(&strings.render(&problem), USAGE),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let status = runtime.block_on(session(prepared));
    // Tasks that block (a file system that hangs) must not keep the program from ending.
    runtime.shutdown_timeout(Duration::from_millis(200));
    status
}

/// Everything that was read before the first frame.
struct Prepared {
    env: Arc<Env>,
    dirs: Dirs,
    live: Live,
    models: Arc<Models>,
    model: Option<Arc<dyn Provider>>,
    policy: Policy,
    strings: Strings,
    notices: Vec<Notice>,
    resumed: Option<journal::Resumed>,
    sessions: PathBuf,
    prompt: Option<String>,
    watched: Vec<PathBuf>,
}

fn prepare(chat: Chat, env: Env) -> Result<Prepared, Phrase> {
    let env = Arc::new(env);
    let dirs = Dirs::of(&env).ok_or_else(|| Phrase::new("app.no_home"))?;
    if let Some(name) = &chat.theme {
        fit::theme(name, &Library::new(Some(&dirs.themes())))?;
    }
    let project = project(chat.cwd.as_deref())?;
    let redactor = Redactor::default();
    let mut notices = Vec::new();
    notices.extend(telemetry::start(&dirs.state.join("log"), env.filled("MCPANE_LOG"), &redactor));
    let (mut trust, problems) = Trust::load(&dirs.trust());
    notices.extend(problems);
    let flags = flags(&chat);
    let inputs = Inputs { env: &env, dirs: &dirs, project: &project, flags: &flags };
    let Loaded { config, servers, notices: problems, pending } = load::load(&inputs, &mut trust);
    let watched = load::watched(&inputs);
    notices.extend(problems);
    let config = Arc::new(config);
    let (models, problems) = Models::new(Arc::clone(&config), Arc::clone(&env), redactor.clone());
    notices.extend(problems);
    let named = chat.model.is_some() || env.filled("MCPANE_MODEL").is_some();
    let model = open(&config, &models, if named { Named::ByHand } else { Named::InFile }, &mut notices)?;
    let sessions = dirs.sessions().join(project_key(&project));
    let resumed = if chat.resume { resume(&sessions, &redactor, &mut notices)? } else { None };
    let live = Live {
        env: Arc::clone(&env),
        dirs: dirs.clone(),
        project: project.clone(),
        flags,
        trust,
        entries: servers.entries,
        pending,
        exe: std::env::current_exe().map_err(|error| Phrase::literal(error.to_string()))?,
        tour: model.as_ref().is_some_and(|model| model.is_scripted()),
        key_variables: models.key_variables(),
        redactor,
        config: Arc::clone(&config),
    };
    live.register_secrets();
    Ok(Prepared {
        strings: Strings::new(config.ui.lang),
        policy: policy(&config, &dirs, &mut notices),
        models: Arc::new(models),
        prompt: Some(chat.prompt.join(" ")).filter(|prompt| !prompt.trim().is_empty()),
        env,
        dirs,
        live,
        model,
        notices,
        resumed,
        sessions,
        watched,
    })
}

/// Where the model is named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// On the command line or in the environment.
    ByHand,
    /// In a file.
    InFile,
}

/// The model that is named. Asked for by hand it must be one; in a file it must not keep the program from starting: the welcome offers others.
fn open(
    config: &Config,
    models: &Models,
    named: Named,
    notices: &mut Vec<Notice>,
) -> Result<Option<Arc<dyn Provider>>, Phrase> {
    match config.model.as_deref().map(|name| models.open(name)).transpose() {
        Err(problem) if named == Named::InFile => {
            notices.push(Notice::error(problem));
            Ok(None)
        }
        opened => opened,
    }
}

fn project(cwd: Option<&Path>) -> Result<PathBuf, Phrase> {
    let failed = |path: &Path, error: std::io::Error| {
        Phrase::new("app.bad_cwd").with("path", path.display()).with("error", error)
    };
    let path = cwd.unwrap_or(Path::new("."));
    let project = path.canonicalize().map_err(|error| failed(path, error))?;
    std::env::set_current_dir(&project).map_err(|error| failed(&project, error))?;
    Ok(project)
}

fn flags(chat: &Chat) -> Flags {
    // Files are named from where the program was started, not from the folder that it works in.
    let started = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    Flags {
        model: chat.model.clone(),
        base_url: chat.base_url.clone(),
        api_key_env: chat.api_key_env.clone(),
        temperature: chat.temperature,
        max_tokens: chat.max_tokens,
        dialect: chat.dialect.map(|dialect| dialect.kind().map_or(DialectChoice::Auto, DialectChoice::Kind)),
        config: chat.config.as_ref().map(started),
        theme: chat.theme.clone(),
        layout: chat.layout.map(|layout| match layout {
            Layout::Auto => ui::Layout::Auto,
            Layout::Split => ui::Layout::Split,
            Layout::Stack => ui::Layout::Stack,
            Layout::Timeline => ui::Layout::Timeline,
        }),
        lang: chat.lang.map(|lang| match lang {
            Lang::En => Language::En,
            Lang::Zh => Language::Zh,
        }),
        mcp_config: chat.mcp_config.iter().map(started).collect(),
        strict_mcp_config: if chat.strict_mcp_config { Strict::Yes } else { Strict::No },
        ..Flags::default()
    }
}

/// A name for the project's folder of sessions: readable, and told apart by a hash.
fn project_key(project: &Path) -> String {
    let text = project.to_string_lossy();
    let digest = Sha256::digest(text.as_bytes());
    let hash: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let name = project.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let name: String = name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    format!("{}-{hash}", name.chars().take(40).collect::<String>())
}

fn resume(sessions: &Path, redactor: &Redactor, notices: &mut Vec<Notice>) -> Result<Option<journal::Resumed>, Phrase> {
    let found = journal::Journal::newest(sessions, redactor);
    let found = found.map_err(|error| Phrase::new("app.resume_failed").with("error", error))?;
    match &found {
        None => notices.push(Notice::info(Phrase::new("app.nothing_to_resume"))),
        Some(resumed) if !resumed.damaged.is_empty() => {
            let file = resumed.journal.path().display();
            let lines = resumed.damaged.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            notices.push(Notice::warning(Phrase::new("app.damaged").with("file", file).with("lines", lines)));
        }
        Some(_) => {}
    }
    Ok(found)
}

fn policy(config: &Config, dirs: &Dirs, notices: &mut Vec<Notice>) -> Policy {
    let project = config.working_dirs.first().map_or_else(String::new, |path| path.to_string_lossy().into_owned());
    let place = Place { project, home: Some(dirs.home.to_string_lossy().into_owned()) };
    let mut rules = Rules::default();
    let texts = &config.rules;
    for (effect, list) in [(Effect::Allow, &texts.allow), (Effect::Ask, &texts.ask), (Effect::Deny, &texts.deny)] {
        for rule in list {
            let from = format!("{}:{}", rule.file, rule.line);
            notices.extend(rules.add(effect, &rule.text, &from, &place).err().map(Notice::warning));
        }
    }
    let (store, problems) = Store::load(&dirs.grants());
    notices.extend(problems);
    Policy::new(rules, place, store)
}

async fn session(prepared: Prepared) -> ExitCode {
    let Prepared { env, dirs, live, models, model, policy, strings, notices, resumed, sessions, prompt, watched } =
        prepared;
    let config = Arc::clone(&live.config);
    let cwd = live.project.clone();
    let info = model.as_ref().map(|model| info(model.as_ref(), &config));
    let kit = Kit {
        speaking: speaking(model, Arc::clone(&models), &config, &dirs, &cwd),
        setting: setting(&config, &dirs, &cwd),
        mcp: mcp::Options {
            state_dir: dirs.state.clone(),
            roots: config.working_dirs.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            guard: Guard::start(&live.exe),
            redactor: live.redactor.clone(),
            tap: None,
        },
        policy: Arc::new(policy),
        settings: Box::new(live),
        sessions,
        resumed,
        limits: config.max_steps.map_or_else(Limits::default, |steps| Limits { steps, ..Limits::default() }),
        seed: fastrand::u64(..),
        cwd: cwd.clone(),
    };
    let Agent { ops, notices: voice, events, mut task } = match agent::spawn(kit) {
        Ok(agent) => agent,
        Err(error) => return fail(&error.to_string(), 1),
    };
    let found = info.is_none().then(|| search(&models, &env));
    let watch = watch(watched, voice);
    let screen = Screen { ops, events, strings, notices, prompt, found, info };
    let exit = tui::run::run(setup(screen, &config, &env, &dirs, &cwd)).await;
    drop(watch);
    // The terminal is the user's again; what still runs is ended within its bounds.
    if tokio::time::timeout(ENDING, &mut task).await.is_err() {
        task.abort();
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
struct Screen {
    ops: mpsc::Sender<Op>,
    events: mpsc::Receiver<Event>,
    strings: Strings,
    notices: Vec<Notice>,
    prompt: Option<String>,
    found: Option<mpsc::Receiver<Found>>,
    info: Option<ModelInfo>,
}

fn setup(screen: Screen, config: &Config, env: &Env, dirs: &Dirs, cwd: &Path) -> Setup {
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

fn speaking(
    model: Option<Arc<dyn Provider>>,
    models: Arc<Models>,
    config: &Config,
    dirs: &Dirs,
    cwd: &Path,
) -> Speaking {
    let manner = Manner {
        dialect: config.dialect,
        overrides: prompt_pieces(&dirs.prompts()),
        language: config.language.clone(),
        instructions: config.instructions.clone(),
        system: format!("{}, /bin/sh", std::env::consts::OS),
        cwd: cwd.to_string_lossy().into_owned(),
    };
    Speaking::new(model, Box::new(move |name| models.open(name)), manner)
        .remembering(Box::new(Learned::load(dirs.dialects())))
}

/// The user's own pieces of the system prompt, by name.
fn prompt_pieces(directory: &Path) -> Vec<(String, String)> {
    let mut pieces = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        if let (Some(name), true) = (name, path.extension().is_some_and(|ending| ending == "md"))
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            pieces.push((name, text));
        }
    }
    pieces.sort();
    pieces
}

fn setting(config: &Config, dirs: &Dirs, cwd: &Path) -> Setting {
    // Calls are numbered anew in every session, so each run has a folder of its own.
    let spill = dirs.state.join("spill").join(format!("{}-{:08x}", std::process::id(), fastrand::u32(..)));
    let mut setting = Setting::new(cwd, spill);
    setting.also = config.working_dirs.iter().skip(1).cloned().collect();
    setting.home = Some(dirs.home.clone());
    setting
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
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let place = |problem| Phrase::new("app.bad_key").with("file", path.display()).with("problem", problem);
            keymap.merge(&text).into_iter().map(|problem| Notice::warning(place(problem))).collect()
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
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
