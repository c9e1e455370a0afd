//! The decision: rules, then grants, then the defaults of the interface ("What asks, and what does not").
//!
//! Pure but for one question to the file system: whether what is read outside the working directories is a directory, to offer the right
//! grant. Order: a rule that denies · the user's own hand · questions to the user · a call recovered from text always asks · a rule that asks · a rule
//! that allows · a grant · the default.

use super::Subject;
use super::grant::{self, Standing};
use super::rule::{Effect, Place, Rules};
use super::store::Store;
use crate::domain::Phrase;
use crate::domain::policy::{ArgumentRule, Grant, Verdict};
use crate::domain::tool::{Origin, Risk};
use std::path::Path;

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// Whether it runs.
    pub verdict: Verdict,
    /// What the user should know before saying yes.
    pub warnings: Vec<Phrase>,
    /// What *session* and *always* would allow; `None` where only *once* is offered.
    pub grant: Option<Grant>,
}

pub(super) fn decide(rules: &Rules, place: &Place, store: &Store, subject: &Subject<'_>) -> Judgement {
    let rule = rules.judge(subject);
    let by_rule = |key: &'static str| Phrase::new(key).with("rule", rule.map_or("", |rule| rule.text()));
    let effect = rule.map(super::rule::Rule::effect);
    if effect == Some(Effect::Deny) {
        return Judgement {
            verdict: Verdict::Deny { why: by_rule("policy.denied") },
            warnings: Vec::new(),
            grant: None,
        };
    }
    let allow = |why: Phrase, warnings| Judgement { verdict: Verdict::Allow { why }, warnings, grant: None };
    let ask = |why: Phrase, warnings, grant| Judgement { verdict: Verdict::Ask { why }, warnings, grant };
    if subject.origin == Origin::Hand {
        return allow(Phrase::new("policy.by_hand"), warnings(subject));
    }
    if subject.spec.risk == Risk::Question {
        return allow(Phrase::new("policy.question"), Vec::new());
    }
    let mut warnings = warnings(subject);
    if subject.origin == Origin::Recovered {
        return ask(Phrase::new("policy.recovered"), warnings, None);
    }
    match effect {
        Some(Effect::Ask) => return ask(by_rule("policy.asked"), warnings, None),
        Some(Effect::Allow) => return allow(by_rule("policy.allowed"), warnings),
        Some(Effect::Deny) | None => {}
    }
    match store.standing(subject, &place.project) {
        Standing::Session => return allow(Phrase::new("policy.granted_session"), warnings),
        Standing::Always => return allow(Phrase::new("policy.granted_always"), warnings),
        Standing::Void { changed } => warnings.push(Phrase::new("policy.changed").with("parts", changed)),
        Standing::None => {}
    }
    match default(subject) {
        Verdict::Allow { why } => allow(why, warnings),
        Verdict::Ask { why } | Verdict::Deny { why } => ask(why, warnings, offer(place, subject)),
    }
}

/// The table of the interface.
fn default(subject: &Subject<'_>) -> Verdict {
    let ask = |key| Verdict::Ask { why: Phrase::new(key) };
    let allow = |key| Verdict::Allow { why: Phrase::new(key) };
    match subject.spec.risk {
        Risk::Read if subject.facts.inside => allow("policy.reads_inside"),
        Risk::Read => ask("policy.reads_outside"),
        Risk::Write => ask("policy.writes"),
        Risk::Command => ask("policy.command"),
        Risk::External if subject.trusted_read_only && subject.spec.annotations.read_only == Some(true) => {
            allow("policy.read_only")
        }
        Risk::External => ask("policy.external"),
        Risk::Question => allow("policy.question"),
    }
}

fn warnings(subject: &Subject<'_>) -> Vec<Phrase> {
    let mut out = Vec::new();
    if subject.spec.risk == Risk::Command && !subject.facts.inside && !subject.facts.paths.is_empty() {
        out.push(Phrase::new("policy.runs_outside"));
    }
    if subject.spec.risk == Risk::Write {
        if !subject.facts.inside {
            out.push(Phrase::new("policy.writes_outside"));
        }
        if let Some(path) = subject.facts.paths.iter().find(|path| grant::is_protected(path)) {
            out.push(Phrase::new("policy.writes_protected").with("path", path));
        }
    }
    out
}

/// What *session* and *always* would allow.
fn offer(place: &Place, subject: &Subject<'_>) -> Option<Grant> {
    let facts = subject.facts;
    let arguments = match subject.spec.risk {
        Risk::Command => ArgumentRule::Exactly { arguments: subject.arguments.clone() },
        Risk::External => ArgumentRule::Any,
        Risk::Write if facts.inside && !facts.paths.iter().any(|path| grant::is_protected(path)) => {
            let in_project = facts.paths.iter().all(|path| grant::is_inside(path, &place.project));
            let directory = if in_project { place.project.clone() } else { common_directory(&facts.paths)? };
            ArgumentRule::Inside { directory }
        }
        Risk::Read if !facts.inside => ArgumentRule::Inside { directory: common_directory(&facts.paths)? },
        Risk::Write | Risk::Read | Risk::Question => return None,
    };
    Some(Grant {
        tool: subject.spec.id.clone(),
        arguments,
        project: place.project.clone(),
        definition: subject.spec.hash.clone(),
    })
}

/// The one directory that all paths lie in or are. Never the root of the file system.
fn common_directory(paths: &[String]) -> Option<String> {
    let directory = |path: &String| {
        let path = Path::new(path);
        let directory = if path.is_dir() { Some(path) } else { path.parent() };
        directory
            .filter(|directory| directory.is_absolute() && directory.parent().is_some())
            .map(|d| d.to_string_lossy().into_owned())
    };
    let first = directory(paths.first()?)?;
    paths.iter().all(|path| directory(path).as_ref() == Some(&first)).then_some(first)
}
