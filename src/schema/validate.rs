//! Arguments against a schema.
//!
//! Owns: compiling a schema once ([`Validator`]), the bounded cache of compiled ones ([`Validators`]), and running them within limits. Does not:
//! fetch a reference, assert `format` (JSON Schema 2020-12 makes it an annotation; forms check theirs in `domain::form::check`), or lower
//! schemas for providers.
//!
//! **Invariant:** compiling never fails and validating never hangs. What cannot be checked counts as true and is listed in
//! [`Validator::unchecked`]. Work is counted by a keyword that `prepare` plants in every subschema; when it runs out, the validation is
//! unwound (quietly: no panic hook runs) and its result is *no problems known*, with [`Reason::Work`] as the note.

use super::prepare::{self, FUEL};
pub use super::prepare::{Reason, Unchecked};
use super::problem;
pub use super::problem::Problem;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError};
use serde_json::Value;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Subschemas visited in one validation.
const WORK: u32 = 100_000;
/// Problems reported for one value.
const PROBLEMS: usize = 20;
/// Invalid keywords taken out of one schema before it is given up.
const REPAIRS: usize = 16;
/// Compiled schemas kept.
const CACHE: usize = 256;
/// Levels of a value that is checked; what JSON parsers let through is less.
const VALUE_DEPTH: usize = 200;

/// A compiled schema.
pub struct Validator {
    schema: Value,
    /// `None`: nothing of the schema could be compiled.
    compiled: Option<jsonschema::Validator>,
    unchecked: Vec<Unchecked>,
}

impl Validator {
    /// Compiles a schema; `$schema` names the draft, 2020-12 if it is absent.
    pub fn new(schema: &Value) -> Self {
        let mut prepared = prepare::prepare(schema);
        let mut compiled = None;
        for _ in 0..=REPAIRS {
            match build(&prepared.schema, prepared.draft) {
                Ok(validator) => {
                    compiled = Some(validator);
                    break;
                }
                Err(Some((at, what))) if remove(&mut prepared.schema, &at) => {
                    prepared.unchecked.push(Unchecked { at, reason: Reason::Invalid(what) });
                }
                Err(fault) => {
                    let (at, what) = fault.unwrap_or_default();
                    prepared.unchecked.push(Unchecked { at, reason: Reason::Invalid(what) });
                    break;
                }
            }
        }
        Self { schema: prepared.schema, compiled, unchecked: prepared.unchecked }
    }

    /// The parts of the schema that are not checked.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// What is wrong with a value, in the order of the schema; empty if nothing is known to be. Written for the model that has to correct it.
    pub fn validate(&self, value: &Value) -> Vec<Problem> {
        self.check(value).unwrap_or_default()
    }

    /// Like [`Self::validate`]; an error where the check had to be given up.
    pub fn check(&self, value: &Value) -> Result<Vec<Problem>, Reason> {
        if is_deeper(value, VALUE_DEPTH) {
            let message = format!("is nested deeper than {VALUE_DEPTH} levels");
            return Ok(vec![Problem { path: String::new(), message }]);
        }
        let Some(compiled) = &self.compiled else { return Ok(Vec::new()) };
        if within_limits(|| compiled.is_valid(value)).ok_or(Reason::Work)? {
            return Ok(Vec::new());
        }
        // That it is wrong is certain now, even where finding out all that is wrong takes too long.
        let problems = within_limits(|| self.collect(compiled, value));
        let vague = || vec![Problem { path: String::new(), message: "does not match the schema".to_owned() }];
        Ok(problems.unwrap_or_else(vague))
    }

    fn collect(&self, compiled: &jsonschema::Validator, value: &Value) -> Vec<Problem> {
        let errors = compiled.iter_errors(value).filter(|error| !is_unfinished(error.kind()));
        let mut problems: Vec<Problem> = Vec::new();
        for problem in errors.take(PROBLEMS).flat_map(|error| problem::problems(&error, &self.schema)) {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        problems.truncate(PROBLEMS);
        problems
    }
}

/// A match that the engine gave up says nothing about the value.
fn is_unfinished(kind: &ValidationErrorKind) -> bool {
    matches!(kind, ValidationErrorKind::BacktrackLimitExceeded { .. } | ValidationErrorKind::RegexEngineFailure { .. })
}

/// Compiled validators by definition hash. The oldest leaves when there are too many.
#[derive(Default)]
pub struct Validators {
    kept: Mutex<VecDeque<(Arc<str>, Arc<Validator>)>>,
}

impl Validators {
    /// The validator of a schema, compiled when it is asked for the first time. The hash must be one over the schema.
    pub fn get(&self, hash: &Arc<str>, schema: &Value) -> Arc<Validator> {
        if let Some((_, known)) = self.lock().iter().find(|(known, _)| known == hash) {
            return known.clone();
        }
        // Compiled outside the lock: a hostile schema delays its own tool only.
        let fresh = Arc::new(Validator::new(schema));
        let mut kept = self.lock();
        if kept.len() >= CACHE {
            kept.pop_front();
        }
        kept.push_back((hash.clone(), fresh.clone()));
        fresh
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<(Arc<str>, Arc<Validator>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// --- the limits

thread_local! {
    static LEFT: Cell<u32> = const { Cell::new(0) };
}

/// What is thrown when the work is used up.
struct OutOfWork;

fn burn() {
    let left = LEFT.get();
    if left == 0 {
        resume_unwind(Box::new(OutOfWork));
    }
    LEFT.set(left - 1);
}

/// `None` when the work ran out, or the compiler or the engine panicked.
fn within_limits<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = LEFT.replace(WORK);
    let result = catch_unwind(AssertUnwindSafe(run));
    LEFT.set(before);
    result.ok()
}

struct Meter;

impl Keyword<'_> for Meter {
    fn validate(&self, _: &Value) -> Result<(), ValidationError<'static>> {
        burn();
        Ok(())
    }

    fn is_valid(&self, _: &Value) -> bool {
        burn();
        true
    }
}

/// Where in the schema the compiler stumbled, and what it said.
type Fault = Option<(String, String)>;

fn build(schema: &Value, draft: jsonschema::Draft) -> Result<jsonschema::Validator, Fault> {
    let options = jsonschema::options()
        .with_draft(draft)
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(prepare::pattern_options())
        .with_keyword(FUEL, |_, _, _| {
            burn();
            Ok(Box::new(Meter))
        });
    match within_limits(|| options.build(schema)) {
        Some(Ok(validator)) => Ok(validator),
        Some(Err(error)) => Err(Some((error.instance_path().as_str().to_owned(), error.to_string()))),
        None => Err(None),
    }
}

/// Takes the keyword at a pointer out of the schema. `false` if there is none: then no further attempt makes sense.
fn remove(schema: &mut Value, at: &str) -> bool {
    let Some((parent, step)) = at.rsplit_once('/') else { return false };
    let step = step.replace("~1", "/").replace("~0", "~");
    match schema.pointer_mut(parent) {
        Some(Value::Object(map)) => map.shift_remove(&step).is_some(),
        Some(Value::Array(members)) => {
            // A bad schema among others counts as true; any other list with a bad member is meaningless as a whole.
            let list = parent.rsplit('/').next().unwrap_or_default();
            let of_schemas = ["allOf", "anyOf", "oneOf", "prefixItems", "items"].contains(&list);
            match step.parse::<usize>().ok().and_then(|at| members.get_mut(at)) {
                Some(member) if of_schemas && *member != Value::Bool(true) => *member = Value::Bool(true),
                _ => return remove(schema, parent),
            }
            true
        }
        _ => false,
    }
}

fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut todo = vec![(value, 0)];
    while let Some((value, depth)) = todo.pop() {
        if depth > limit {
            return true;
        }
        match value {
            Value::Object(map) => todo.extend(map.values().map(|v| (v, depth + 1))),
            Value::Array(items) => todo.extend(items.iter().map(|v| (v, depth + 1))),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
