//! All layers of settings, resolved into one [`Config`].
//!
//! Owns: the order of the layers — defaults < the user's `config.toml` < the project's (once trusted) < `MCPANE_MODEL` < flags — and the
//! resolved values. Reads files; asks nothing, starts nothing, writes nothing.
//!
//! **Invariants:** loading never fails; whatever is wrong is a notice. Of a project's file nothing counts, and nothing reaches a model, before the user
//! trusted it with exactly this content; a model in it must be one that the user has configured.

use super::env::Env;
use super::paths::{Dirs, project_settings};
use super::report;
use super::servers::{self, Servers, Strict};
use super::settings::{self, DialectChoice, Layer, ModelSettings, Owner, Placed, ProviderTable, RuleTexts};
use super::trust::{Standing, Trust};
use super::ui::{AmbiguousWidth, Layout, Notices, Surroundings, Ui};
use crate::domain::model::DialectKind;
use crate::domain::prompt::TrustRequest;
use crate::domain::{Notice, Phrase};
use crate::strings::Language;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the command line says. `None` and empty lists say nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flags {
    /// `-m`.
    pub model: Option<String>,
    /// `--base-url`.
    pub base_url: Option<String>,
    /// `--api-key-env`.
    pub api_key_env: Option<String>,
    /// `--temperature`.
    pub temperature: Option<f64>,
    /// `--max-tokens`.
    pub max_tokens: Option<u32>,
    /// `--dialect`.
    pub dialect: Option<DialectChoice>,
    /// `--config`: instead of the user's file.
    pub config: Option<PathBuf>,
    /// `--theme`.
    pub theme: Option<String>,
    /// `--layout`.
    pub layout: Option<Layout>,
    /// `--accessible`.
    pub accessible: Option<bool>,
    /// `--mouse`.
    pub mouse: Option<bool>,
    /// `--lang`.
    pub lang: Option<Language>,
    /// `--max-steps`.
    pub max_steps: Option<u32>,
    /// `--mcp-config`.
    pub mcp_config: Vec<PathBuf>,
    /// `--strict-mcp-config`.
    pub strict_mcp_config: Strict,
}

/// What everything is loaded from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// Variables.
    pub env: &'a Env,
    /// The user's directories.
    pub dirs: &'a Dirs,
    /// The working directory of the session: absolute, symlinks resolved.
    pub project: &'a Path,
    /// The command line.
    pub flags: &'a Flags,
}

/// The settings that hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// `provider:name`; `None` when nothing is configured.
    pub model: Option<String>,
    /// Instead of the provider's.
    pub base_url: Option<String>,
    /// Instead of the provider's.
    pub api_key_env: Option<String>,
    /// What the command line or the file says for every model; see [`Config::model_settings`].
    pub general: ModelSettings,
    /// What the command line says for every model: it goes before `models`.
    pub forced: ModelSettings,
    /// By `provider:name`.
    pub models: BTreeMap<String, ModelSettings>,
    /// Tables to lay over the catalogue.
    pub providers: Vec<ProviderTable>,
    /// `None`: by what the model can do.
    pub dialect: Option<DialectKind>,
    /// What the model should answer in.
    pub language: Option<String>,
    /// The user's instructions for the model, then the project's.
    pub instructions: Option<String>,
    /// Steps of a turn; `None`: the loop's own limit.
    pub max_steps: Option<u32>,
    /// The project, then the further working directories that exist: absolute, symlinks resolved.
    pub working_dirs: Vec<PathBuf>,
    /// Rules, as they stand.
    pub rules: RuleTexts,
    /// Servers trusted read-only, by name.
    pub read_only_servers: Vec<Placed>,
    /// The screen.
    pub ui: Ui,
    /// The terminal and the programs beside it.
    pub surroundings: Surroundings,
    /// The user's file, where settings are written back.
    pub file: PathBuf,
}

impl Config {
    /// What holds for a model: the command line, then the model's own table, then the file's general values.
    pub fn model_settings(&self, model: &str) -> ModelSettings {
        let own = self.models.get(model).copied().unwrap_or_default();
        ModelSettings {
            temperature: self.forced.temperature.or(own.temperature).or(self.general.temperature),
            max_tokens: self.forced.max_tokens.or(own.max_tokens).or(self.general.max_tokens),
        }
    }

    /// Every model that the user has named.
    pub fn configured_models(&self) -> Vec<&str> {
        let mut out: Vec<&str> = self.model.iter().chain(self.models.keys()).map(String::as_str).collect();
        out.dedup();
        out
    }
}

/// Settings and servers, with what is to be said about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Settings.
    pub config: Config,
    /// Servers, with their own notices and files.
    pub servers: Servers,
    /// Warnings about settings and servers.
    pub notices: Vec<Notice>,
    /// Files of the project that wait for trust.
    pub pending: Vec<TrustRequest>,
}

/// Loads everything.
pub fn load(inputs: &Inputs<'_>, trust: &mut Trust) -> Loaded {
    let (config, mut notices, mut pending) = load_settings(inputs, trust);
    let servers = load_servers(inputs, &config, trust);
    notices.extend(servers.notices.iter().cloned());
    pending.extend(servers.pending.iter().cloned());
    Loaded { config, servers, notices, pending }
}

/// Loads the servers anew, for `/reload`.
pub fn load_servers(inputs: &Inputs<'_>, config: &Config, trust: &mut Trust) -> Servers {
    servers::load(&server_inputs(inputs, &config.read_only_servers), trust)
}

/// Every file that a change of should be noticed, whether it exists or not.
pub fn watched(inputs: &Inputs<'_>) -> Vec<PathBuf> {
    let mut out = vec![settings_file(inputs), project_settings(inputs.project)];
    out.extend(servers::files(&server_inputs(inputs, &[])).into_iter().map(|(path, _)| path));
    out
}

fn server_inputs<'a>(inputs: &Inputs<'a>, read_only: &'a [Placed]) -> servers::Inputs<'a> {
    servers::Inputs {
        env: inputs.env,
        dirs: inputs.dirs,
        project: inputs.project,
        named: &inputs.flags.mcp_config,
        strict: inputs.flags.strict_mcp_config,
        read_only,
    }
}

fn settings_file(inputs: &Inputs<'_>) -> PathBuf {
    inputs.flags.config.as_ref().map_or_else(|| inputs.dirs.settings(), |file| inputs.project.join(file))
}

/// Loads the settings alone.
pub fn load_settings(inputs: &Inputs<'_>, trust: &mut Trust) -> (Config, Vec<Notice>, Vec<TrustRequest>) {
    let mut notices = Vec::new();
    let mut pending = Vec::new();
    let file = settings_file(inputs);
    let user = match report::read(&file) {
        Ok(Some(text)) => take(settings::parse(&text, &file, Owner::User), &mut notices),
        Ok(None) => {
            if inputs.flags.config.is_some() {
                notices.push(Notice::error(Phrase::new("config.missing_file").with("file", file.display())));
            }
            Layer::default()
        }
        Err(phrase) => {
            notices.push(Notice::warning(phrase));
            Layer::default()
        }
    };
    let project = project_layer(inputs, &file, trust, &mut notices, &mut pending);
    let config = resolve(inputs, file, user, project, &mut notices);
    (config, notices, pending)
}

fn take((layer, warnings): (Layer, Vec<Notice>), notices: &mut Vec<Notice>) -> Layer {
    notices.extend(warnings);
    layer
}

/// The project's settings, if the user trusts them. In the config directory itself there are none beside the user's.
fn project_layer(
    inputs: &Inputs<'_>,
    user: &Path,
    trust: &mut Trust,
    notices: &mut Vec<Notice>,
    pending: &mut Vec<TrustRequest>,
) -> Layer {
    let path = project_settings(inputs.project);
    if path == user {
        return Layer::default();
    }
    let text = match report::read(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return Layer::default(),
        Err(phrase) => {
            notices.push(Notice::warning(phrase));
            return Layer::default();
        }
    };
    match trust.standing(&path, &text) {
        Standing::Trusted => take(settings::parse(&text, &path, Owner::Project), notices),
        Standing::Refused => Layer::default(),
        Standing::Unknown => {
            // Warnings now: the user should know them before saying yes.
            let says = take(settings::parse(&text, &path, Owner::Project), notices);
            if says != Layer::default() {
                pending.push(trust.request(&path, &text, Vec::new()));
            }
            Layer::default()
        }
    }
}

fn resolve(inputs: &Inputs<'_>, file: PathBuf, user: Layer, project: Layer, notices: &mut Vec<Notice>) -> Config {
    let (flags, env) = (inputs.flags, inputs.env);
    let named = |layer: &Layer| layer.model.as_ref().map(|model| model.text.clone());
    let environment = env.filled("MCPANE_MODEL").map(str::to_owned);
    let model = flags.model.clone().or(environment.clone()).or_else(|| {
        let wanted = project.model.as_ref()?;
        let own = named(&user).is_some_and(|model| model == wanted.text) || user.models.contains_key(&wanted.text);
        if !own {
            let text = settings::at(wanted, "config.model_not_yours").with("model", &wanted.text);
            notices.push(Notice::warning(text));
        }
        own.then(|| wanted.text.clone())
    });
    let dialect = flags.dialect.or(project.dialect).or(user.dialect).unwrap_or(DialectChoice::Auto);
    let instructions: Vec<String> = [user.instructions.clone(), project.instructions]
        .into_iter()
        .flatten()
        .filter(|text| !text.trim().is_empty())
        .collect();
    let working_dirs = working_dirs(inputs, &user.working_dirs, notices);
    let ui = ui(inputs, &user, project.layout);
    Config {
        model: model.or_else(|| named(&user)),
        base_url: flags.base_url.clone().or(user.base_url),
        api_key_env: flags.api_key_env.clone().or(user.api_key_env),
        general: ModelSettings { temperature: user.temperature, max_tokens: user.max_tokens },
        forced: ModelSettings { temperature: flags.temperature, max_tokens: flags.max_tokens },
        models: user.models,
        providers: user.providers,
        dialect: match dialect {
            DialectChoice::Auto => None,
            DialectChoice::Kind(kind) => Some(kind),
        },
        language: project.language.or(user.language),
        instructions: (!instructions.is_empty()).then(|| instructions.join("\n\n")),
        max_steps: flags.max_steps.or(user.max_steps),
        working_dirs,
        rules: user.rules,
        read_only_servers: user.read_only_servers,
        ui,
        surroundings: surroundings(env),
        file,
    }
}

fn working_dirs(inputs: &Inputs<'_>, further: &[Placed], notices: &mut Vec<Notice>) -> Vec<PathBuf> {
    let mut out = vec![inputs.project.to_path_buf()];
    for placed in further {
        let path = match placed.text.strip_prefix("~/") {
            Some(rest) => inputs.dirs.home.join(rest),
            None if placed.text == "~" => inputs.dirs.home.clone(),
            None => inputs.project.join(&placed.text),
        };
        match path.canonicalize() {
            Ok(real) if real.is_dir() => {
                if !out.contains(&real) {
                    out.push(real);
                }
            }
            Ok(_) | Err(_) => {
                let text = settings::at(placed, "config.no_directory").with("directory", path.display());
                notices.push(Notice::warning(text));
            }
        }
    }
    out
}

fn ui(inputs: &Inputs<'_>, user: &Layer, project_layout: Option<Layout>) -> Ui {
    let (flags, defaults) = (inputs.flags, Ui::default());
    let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(|name| inputs.env.filled(name));
    let shown = Notices::default();
    Ui {
        lang: flags.lang.or(user.lang).unwrap_or_else(|| Language::from_locale(locale.unwrap_or_default())),
        theme: flags.theme.clone().or_else(|| user.theme.clone()).unwrap_or(defaults.theme),
        layout: flags.layout.or(project_layout).or(user.layout).unwrap_or(defaults.layout),
        ambiguous_width: user.ambiguous_width.unwrap_or(AmbiguousWidth::Auto),
        mouse: flags.mouse.or(user.mouse).unwrap_or(defaults.mouse),
        esc_hold_ms: user.esc_hold_ms.unwrap_or(defaults.esc_hold_ms).min(2_000),
        accessible: flags.accessible.or(user.accessible).unwrap_or(defaults.accessible),
        notices: Notices {
            welcome: user.notice_welcome.unwrap_or(shown.welcome),
            file_changes: user.notice_file_changes.unwrap_or(shown.file_changes),
            tool_changes: user.notice_tool_changes.unwrap_or(shown.tool_changes),
        },
    }
}

fn surroundings(env: &Env) -> Surroundings {
    let owned = |name: &str| env.filled(name).map(str::to_owned);
    let term = owned("TERM").unwrap_or_default();
    Surroundings {
        dumb: term == "dumb",
        term,
        no_color: env.filled("NO_COLOR").is_some(),
        truecolor: env.get("COLORTERM").is_some_and(|value| matches!(value, "truecolor" | "24bit")),
        tmux: env.filled("TMUX").is_some(),
        ssh: env.filled("SSH_CONNECTION").is_some() || env.filled("SSH_TTY").is_some(),
        editor: owned("VISUAL").or_else(|| owned("EDITOR")),
        browser: owned("BROWSER"),
    }
}

#[cfg(test)]
mod tests;
