//! May this call run? Allow, ask or deny, and why.
//!
//! Owns: the user's rules ([`rule`]), what the user granted ([`grant`], [`store`]), and the decision over them with the defaults of the interface
//! ([`decide`]). Does not: run, inspect or draw a call, or read the configuration.
//!
//! **Invariants:** a rule that denies wins over everything. A grant holds for its tool, its project and its definition only; when the definition
//! changed it is void, and the user is told so. What cannot be decided is asked.

pub mod decide;
mod glob;
pub mod grant;
pub mod rule;
pub mod store;

pub use decide::Judgement;
pub use rule::{Effect, Place, Rules};
pub use store::Store;

use crate::domain::policy::{Check, DiffLine, Facts, Grant, Preview, Verdict};
use crate::domain::prompt::Scope;
use crate::domain::tool::{Origin, ToolId, ToolSpec};
use crate::domain::{Notice, Phrase};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A call to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The tool's definition.
    pub spec: &'a ToolSpec,
    /// The arguments it would run with.
    pub arguments: &'a Value,
    /// How it was written.
    pub origin: Origin,
    /// What the tool found out about it.
    pub facts: &'a Facts,
    /// The user's configuration believes the server's `readOnlyHint`.
    pub trusted_read_only: bool,
}

/// Rules, grants and the place they hold in.
#[derive(Debug)]
pub struct Policy {
    rules: Rules,
    leave: Rules,
    place: Place,
    store: Mutex<Store>,
}

impl Policy {
    /// A policy for one project.
    pub fn new(rules: Rules, place: Place, store: Store) -> Self {
        Self { rules, leave: Rules::default(), place, store: Mutex::new(store) }
    }

    /// The same, where what would ask runs if one of these rules allows it: the user's word for one run (`--allow`). What is denied stays denied, and a call
    /// that was recovered from text asks as always.
    #[must_use]
    pub fn with_leave(self, leave: Rules) -> Self {
        Self { leave, ..self }
    }

    /// Judges a call. Grants that another mcpane stored or revoked meanwhile count; a file of grants that cannot be read counts as none.
    pub fn decide(&self, subject: &Subject<'_>) -> Judgement {
        let mut store = self.store();
        let unreadable = store.refresh();
        let mut judgement = decide::decide(&self.rules, &self.place, &store, subject);
        judgement.warnings.extend(unreadable.into_iter().map(|notice| notice.text));
        if matches!(judgement.verdict, Verdict::Ask { .. })
            && subject.origin != Origin::Recovered
            && let Some(rule) = self.leave.judge(subject)
        {
            judgement.verdict = Verdict::Allow { why: Phrase::new("policy.allowed").with("rule", rule.text()) };
        }
        judgement
    }

    /// Keeps a grant: until the end for [`Scope::Session`], on disk for [`Scope::Always`]. The error says why it holds for this session only.
    pub fn remember(&self, scope: Scope, grant: Grant, spec: &ToolSpec) -> Result<(), Notice> {
        self.store().remember(scope, grant, spec)
    }

    /// Forgets everything granted to a tool in this project. How many grants that were.
    pub fn revoke(&self, tool: &ToolId) -> Result<usize, Notice> {
        self.store().revoke(tool, &self.place.project)
    }

    /// What is granted to a tool in this project, void grants included.
    pub fn grants(&self, tool: &ToolId) -> Vec<Grant> {
        self.store().of(tool, &self.place.project)
    }

    /// What changed in a tool's definition since it was granted last, as lines of readable JSON; empty if nothing did or nothing was granted.
    pub fn definition_changes(&self, spec: &ToolSpec) -> Vec<DiffLine> {
        self.store().changes(spec, &self.place.project)
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Judgement {
    /// The judgement as what the user sees, with what the call would do.
    pub fn into_check(self, preview: Preview, mut warnings: Vec<Phrase>) -> Check {
        warnings.extend(self.warnings);
        Check { verdict: self.verdict, warnings, preview, grant: self.grant }
    }
}

#[cfg(test)]
mod tests;
