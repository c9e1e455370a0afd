//! From flags to everything that an agent is made of, whatever stands before it: a screen, or a script.
//!
//! Owns the order in which things are read. Nothing is started here.

use super::live::Live;
use super::models::Models;
use super::{fit, kept};
use crate::agent::machine::Limits;
use crate::agent::speaking::{Manner, Speaking};
use crate::agent::{Kit, journal};
use crate::cli::{Lang, Layout, Options};
use crate::config::env::Env;
use crate::config::load::{self, Config, Flags, Inputs, Loaded};
use crate::config::paths::Dirs;
use crate::config::servers::Strict;
use crate::config::settings::DialectChoice;
use crate::config::trust::Trust;
use crate::config::ui;
use crate::disk;
use crate::domain::prompt::TrustRequest;
use crate::domain::{Level, Notice, Phrase, ServerName};
use crate::guard::Guard;
use crate::headless::record::Recorder;
use crate::policy::{Effect, Place, Policy, Rules, Store};
use crate::provider::Provider;
use crate::redact::Redactor;
use crate::strings::{Language, Strings};
use crate::tools::scene::Setting;
use crate::tui::theme::Library;
use crate::{mcp, telemetry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands before the agent.
#[derive(Debug, Clone, Copy)]
pub enum Front<'a> {
    /// A screen with somebody before it: what is wrong in files is shown there, and files are trusted there.
    Screen,
    /// Nobody: what is wrong ends the program, and what is not trusted is left out.
    Alone {
        /// Steps of a turn.
        max_steps: Option<u32>,
        /// Rules for calls that may run though they would ask.
        allow: &'a [String],
    },
}

/// Everything that was read before anything is started.
pub struct Prepared {
    /// Variables.
    pub env: Arc<Env>,
    /// The user's directories.
    pub dirs: Dirs,
    /// The configuration as far as it changes.
    pub live: Live,
    /// Models that can be opened.
    pub models: Arc<Models>,
    /// The model that is named.
    pub model: Option<Arc<dyn Provider>>,
    /// Who may do what.
    pub policy: Policy,
    /// Texts.
    pub strings: Strings,
    /// What the user should read first.
    pub notices: Vec<Notice>,
    /// A session to go on with.
    pub resumed: Option<journal::Resumed>,
    /// Directory of this project's journals.
    pub sessions: PathBuf,
    /// Files whose changes should be noticed.
    pub watched: Vec<PathBuf>,
    /// Where everything that passes is written.
    pub recorder: Option<Recorder>,
}

/// Reads everything.
pub fn prepare(options: &Options, front: Front<'_>, env: Env) -> Result<Prepared, Phrase> {
    let env = Arc::new(env);
    let dirs = Dirs::of(&env).ok_or_else(|| Phrase::new("app.no_home"))?;
    if let (Some(name), Front::Screen) = (&options.theme, front) {
        fit::theme(name, &Library::new(Some(&dirs.themes())))?;
    }
    // Files are named from where the program was started, not from the folder that it works in.
    let flags = flags(options, front);
    let record = options.record.as_ref().map(started);
    let project = project(options.cwd.as_deref())?;
    let redactor = Redactor::default();
    let mut notices = Vec::new();
    notices.extend(telemetry::start(&dirs.state.join("log"), env.filled("MCPANE_LOG"), &redactor));
    let (mut trust, problems) = Trust::load(&dirs.trust());
    notices.extend(problems);
    let inputs = Inputs { env: &env, dirs: &dirs, project: &project, flags: &flags };
    let Loaded { config, servers, notices: problems, mut pending } = load::load(&inputs, &mut trust);
    let watched = load::watched(&inputs);
    notices.extend(problems);
    let config = Arc::new(config);
    let (models, problems) = Models::new(Arc::clone(&config), Arc::clone(&env), redactor.clone());
    notices.extend(problems);
    if let Front::Alone { .. } = front {
        notices.extend(std::mem::take(&mut pending).iter().map(left_out));
        unbroken(&notices)?;
    }
    let named = options.model.is_some() || env.filled("MCPANE_MODEL").is_some();
    let by_hand = named || matches!(front, Front::Alone { .. });
    let model = open(&config, &models, if by_hand { Named::ByHand } else { Named::InFile }, &mut notices)?;
    if model.is_none() && matches!(front, Front::Alone { .. }) {
        return Err(Phrase::new("run.no_model"));
    }
    let policy = policy(&config, &dirs, front, &mut notices)?;
    let sessions = dirs.sessions().join(kept::project_key(&project));
    let resumed = kept::resume(options, &dirs.sessions(), &sessions, &redactor, &mut notices)?;
    let live = Live {
        env: Arc::clone(&env),
        dirs: dirs.clone(),
        project,
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
    let recorder = record.map(|path| recorder(&path, &live.redactor)).transpose()?;
    let (strings, models) = (Strings::new(config.ui.lang), Arc::new(models));
    Ok(Prepared { env, dirs, live, models, model, policy, strings, notices, resumed, sessions, watched, recorder })
}

impl Prepared {
    /// What an agent is made from.
    pub fn kit(self) -> Kit {
        let Self { dirs, live, models, model, policy, resumed, sessions, .. } = self;
        let config = Arc::clone(&live.config);
        let cwd = live.project.clone();
        Kit {
            speaking: speaking(model, models, &config, &dirs, &cwd),
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
            cwd,
        }
    }
}

/// What is wrong must not go unread where nobody looks.
fn unbroken(notices: &[Notice]) -> Result<(), Phrase> {
    match notices.iter().find(|notice| notice.level == Level::Error) {
        Some(notice) => Err(notice.text.clone()),
        None => Ok(()),
    }
}

/// A project's file that nobody has trusted.
fn left_out(request: &TrustRequest) -> Notice {
    let text = if request.servers.is_empty() {
        Phrase::new("run.untrusted").with("file", &request.file)
    } else {
        let names: Vec<&str> = request.servers.iter().map(|(name, _)| ServerName::as_str(name)).collect();
        Phrase::new("run.untrusted_servers").with("file", &request.file).with("servers", names.join(", "))
    };
    Notice::warning(text)
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

/// The folder to work in, and works there.
pub fn project(cwd: Option<&Path>) -> Result<PathBuf, Phrase> {
    let failed = |path: &Path, error: std::io::Error| {
        Phrase::new("app.bad_cwd").with("path", path.display()).with("error", error)
    };
    let path = cwd.unwrap_or(Path::new("."));
    let project = path.canonicalize().map_err(|error| failed(path, error))?;
    std::env::set_current_dir(&project).map_err(|error| failed(&project, error))?;
    Ok(project)
}

/// A file as it was named from where the program was started.
pub fn started(path: &PathBuf) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.clone())
}

/// The language that a flag asks for.
pub fn language(lang: Lang) -> Language {
    match lang {
        Lang::En => Language::En,
        Lang::Zh => Language::Zh,
    }
}

/// The layout that a flag asks for.
pub fn layout(layout: Layout) -> ui::Layout {
    match layout {
        Layout::Auto => ui::Layout::Auto,
        Layout::Split => ui::Layout::Split,
        Layout::Stack => ui::Layout::Stack,
        Layout::Timeline => ui::Layout::Timeline,
    }
}

fn flags(options: &Options, front: Front<'_>) -> Flags {
    Flags {
        model: options.model.clone(),
        base_url: options.base_url.clone(),
        api_key_env: options.api_key_env.clone(),
        temperature: options.temperature,
        max_tokens: options.max_tokens,
        dialect: options.dialect.map(|dialect| dialect.kind().map_or(DialectChoice::Auto, DialectChoice::Kind)),
        config: options.config.as_ref().map(started),
        theme: options.theme.clone(),
        layout: options.layout.map(layout),
        lang: options.lang.map(language),
        max_steps: match front {
            Front::Screen => None,
            Front::Alone { max_steps, .. } => max_steps,
        },
        mcp_config: options.mcp_config.iter().map(started).collect(),
        strict_mcp_config: if options.strict_mcp_config { Strict::Yes } else { Strict::No },
        ..Flags::default()
    }
}

fn policy(config: &Config, dirs: &Dirs, front: Front<'_>, notices: &mut Vec<Notice>) -> Result<Policy, Phrase> {
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
    let mut leave = Rules::default();
    if let Front::Alone { allow, .. } = front {
        for text in allow {
            leave.add(Effect::Allow, text, "--allow", &place)?;
        }
    }
    let (store, problems) = Store::load(&dirs.grants());
    notices.extend(problems);
    Ok(Policy::new(rules, place, store).with_leave(leave))
}

fn recorder(path: &Path, redactor: &Redactor) -> Result<Recorder, Phrase> {
    let failed = |error| Phrase::new("app.record_failed").with("file", path.display()).with("error", error);
    Recorder::create(path, redactor.clone()).map_err(failed)
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
}

/// The user's own pieces of the system prompt, by name.
fn prompt_pieces(directory: &Path) -> Vec<(String, String)> {
    let mut pieces = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        if let (Some(name), true) = (name, path.extension().is_some_and(|ending| ending == "md"))
            && let Ok(Some(text)) = disk::read(&path)
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
