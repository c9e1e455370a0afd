//! Opening models by name: catalogue, settings and keys brought together.

use crate::config::env::Env;
use crate::config::load::Config;
use crate::domain::{Notice, Phrase};
use crate::provider::Provider;
use crate::provider::catalog::{Catalog, OpenOptions, split};
use crate::redact::{Redactor, Secret};
use std::sync::Arc;

/// Models that can be opened.
pub struct Models {
    catalog: Catalog,
    config: Arc<Config>,
    env: Arc<Env>,
    redactor: Redactor,
}

impl Models {
    /// The catalogue with the user's tables laid over it; what is wrong with them.
    pub fn new(config: Arc<Config>, env: Arc<Env>, redactor: Redactor) -> (Self, Vec<Notice>) {
        let mut catalog = Catalog::built_in();
        let mut notices = Vec::new();
        for table in &config.providers {
            let at = |notice: Notice| {
                let text = notice.text.with("file", &table.file).with("line", table.line);
                Notice { level: notice.level, text }
            };
            notices.extend(catalog.overlay(&table.name, &table.table).into_iter().map(at));
        }
        (Self { catalog, config, env, redactor }, notices)
    }

    /// The endpoints there are.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Names of the variables that keys are read from.
    pub fn key_variables(&self) -> Vec<String> {
        let named = self.config.api_key_env.iter().cloned();
        named.chain(self.catalog.iter().filter_map(|entry| entry.key_env.clone())).collect()
    }

    /// Opens `provider:model`. A model without a provider is one of the endpoint at `--base-url`.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Provider>, Phrase> {
        let full = if name.contains(':') || name == "demo" || self.config.base_url.is_none() {
            name.to_owned()
        } else {
            format!("openai:{name}")
        };
        let (provider, _) = split(&full);
        let settings = self.config.model_settings(&full);
        // Address and key variable were meant for the provider that they were given with.
        let chosen = self.config.model.as_deref().map(split).map(|(provider, _)| provider);
        let own =
            chosen.is_none_or(|chosen| chosen == provider || !chosen.contains(':') && full.starts_with("openai:"));
        let base_url = self.config.base_url.clone().filter(|_| own);
        let named_key = self.config.api_key_env.clone().filter(|_| own);
        let entry_key = self.catalog.find(provider).ok().and_then(|entry| entry.key_env.clone());
        let key = named_key.as_ref().or(entry_key.as_ref()).and_then(|variable| self.env.filled(variable));
        let options = OpenOptions {
            base_url,
            api_key: key.map(Secret::new),
            key_env: named_key,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
            redactor: self.redactor.clone(),
            ..OpenOptions::default()
        };
        self.catalog.open(&full, &options).map_err(|error| error.phrase())
    }
}
