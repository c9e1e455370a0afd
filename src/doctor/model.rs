//! The model: which is configured, whether its key is there, whether its endpoint answers.
//!
//! The key itself is never looked at here: only the name of its variable, and whether that is set.

use super::Finding;
use crate::domain::model::ModelErrorKind;
use crate::domain::{Level, Phrase};
use crate::provider::transport;
use crate::redact::Redactor;
use crate::strings::Strings;
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long the endpoint may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The variable that holds the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Key {
    /// Its name.
    pub variable: String,
    /// Whether it is set.
    pub present: bool,
    /// Whether the endpoint refuses requests without one.
    pub needed: bool,
}

/// What is configured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// `provider:name`; `None` when nothing is configured.
    pub name: Option<String>,
    /// Why it cannot be opened.
    pub problem: Option<Phrase>,
    /// Where it is reached; `None` for one that needs no network.
    pub url: Option<String>,
    /// Its key.
    pub key: Option<Key>,
}

/// The model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Model {
    /// `provider:name`; nothing when none is configured.
    pub name: Option<String>,
    /// Where it is reached.
    pub url: Option<String>,
    /// Its key.
    pub key: Option<Key>,
    /// Whether the endpoint answers at all, whatever it says.
    pub reachable: Option<bool>,
    /// How long that took, milliseconds.
    pub millis: Option<u64>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// Looks at the model. Sends one request without a key.
pub async fn look(plan: Plan, strings: &Strings, redactor: &Redactor) -> Model {
    let mut findings = Vec::new();
    let mut say = |level, phrase: Phrase| findings.push(Finding::new(level, &phrase, strings));
    if plan.name.is_none() {
        say(Level::Info, Phrase::new("doctor.no_model"));
    }
    if let Some(problem) = plan.problem {
        say(Level::Error, problem);
    }
    if let Some(key) = plan.key.as_ref().filter(|key| key.needed && !key.present) {
        say(Level::Error, Phrase::new("doctor.no_key").with("variable", &key.variable));
    }
    let (mut reachable, mut millis) = (None, None);
    if let Some(url) = &plan.url {
        let began = Instant::now();
        let list = format!("{}/models", url.trim_end_matches('/'));
        let answered = match transport::get_json(&list, &[], PATIENCE, redactor).await {
            Ok(_) => Ok(()),
            Err(error) => match error.kind {
                ModelErrorKind::Network | ModelErrorKind::Certificate | ModelErrorKind::Timeout => Err(error.message),
                // It refused us, so it is there.
                _ if error.status.is_some() || error.kind == ModelErrorKind::Protocol => Ok(()),
                _ => Err(error.message),
            },
        };
        reachable = Some(answered.is_ok());
        match answered {
            Ok(()) => millis = u64::try_from(began.elapsed().as_millis()).ok(),
            Err(problem) => {
                say(Level::Error, Phrase::new("doctor.unreachable").with("url", url).with("problem", problem));
            }
        }
    }
    Model { name: plan.name, url: plan.url, key: plan.key, reachable, millis, findings }
}
