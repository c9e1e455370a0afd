//! Syntax colours of code, as roles.
//!
//! Owns a cache of coloured code and one worker thread, started by the first request: a frame never waits. [`Highlighter::colours`] answers what is
//! known and asks the worker for the rest; when that is ready the number of [`Highlighter::revision`] rises and the waker is called. Code above a
//! size, and lines above a length, stay plain. **Invariant:** the tints of a code cover it exactly, byte by byte.

use crate::tui::theme::Role;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// A stretch of code in one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tint {
    /// Bytes.
    pub len: u32,
    /// What it is; [`Role::CodeBlock`] for ordinary code.
    pub role: Role,
}

/// The tints of a code.
pub type Tints = Arc<[Tint]>;

/// Code above this size stays plain, in bytes.
pub const SIZE_LIMIT: usize = 64 * 1024;
/// A line above this length stays plain, in bytes.
const LINE_LIMIT: usize = 2000;
/// The cache forgets the oldest above this many tints.
const CACHE_TINTS: usize = 256 * 1024;

/// Where colours are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// In a thread of its own.
    #[default]
    Background,
    /// At once, in the caller (tests, dumps).
    Inline,
    /// Nowhere.
    Off,
}

/// What is told when colours became ready. It is called on the worker's thread.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

struct Job {
    key: u64,
    language: String,
    code: String,
}

#[derive(Default)]
struct Cache {
    /// `None` while the worker is at it.
    entries: HashMap<u64, Option<Tints>>,
    order: VecDeque<u64>,
    tints: usize,
    waker: Option<Waker>,
}

impl Cache {
    fn put(&mut self, key: u64, tints: Tints) {
        self.tints += tints.len();
        self.entries.insert(key, Some(tints));
        self.order.push_back(key);
        while self.tints > CACHE_TINTS && self.order.len() > 1 {
            if let Some(oldest) = self.order.pop_front()
                && let Some(Some(gone)) = self.entries.remove(&oldest)
            {
                self.tints -= gone.len();
            }
        }
    }
}

#[derive(Default)]
struct Shared {
    cache: Mutex<Cache>,
    revision: AtomicU64,
}

impl Shared {
    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Colours code.
#[derive(Default)]
pub struct Highlighter {
    mode: Mode,
    shared: Arc<Shared>,
    worker: Mutex<Option<Sender<Job>>>,
}

impl std::fmt::Debug for Highlighter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Highlighter").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl Highlighter {
    /// One that works in this way.
    pub fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Says what to call when colours became ready.
    pub fn set_waker(&self, waker: Waker) {
        self.shared.cache().waker = Some(waker);
    }

    /// Rises whenever colours became ready.
    pub fn revision(&self) -> u64 {
        self.shared.revision.load(Ordering::Acquire)
    }

    /// The colours of a finished piece of code, as far as they are known.
    pub fn colours(&self, language: &str, code: &str) -> Colours {
        if self.mode == Mode::Off || language.is_empty() || code.is_empty() || code.len() > SIZE_LIMIT {
            return Colours::Plain;
        }
        let key = key(language, code);
        let mut cache = self.shared.cache();
        match cache.entries.get(&key) {
            Some(Some(tints)) if tints.is_empty() => return Colours::Plain,
            Some(Some(tints)) => return Colours::Ready(Arc::clone(tints)),
            Some(None) => return Colours::Making,
            None => {}
        }
        if self.mode == Mode::Inline {
            let tints: Tints = tint(language, code).into();
            cache.put(key, Arc::clone(&tints));
            return if tints.is_empty() { Colours::Plain } else { Colours::Ready(tints) };
        }
        cache.entries.insert(key, None);
        drop(cache);
        self.ask(Job { key, language: language.to_owned(), code: code.to_owned() });
        Colours::Making
    }

    fn ask(&self, job: Job) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = worker.get_or_insert_with(|| {
            let (sender, jobs) = channel::<Job>();
            let shared = Arc::clone(&self.shared);
            // Without a thread there are no colours; the code is plain, which is what it is until then anyway.
            let _ = std::thread::Builder::new().name("highlight".into()).spawn(move || {
                for job in jobs {
                    let tints = tint(&job.language, &job.code);
                    shared.cache().put(job.key, tints.into());
                    shared.revision.fetch_add(1, Ordering::Release);
                    let waker = shared.cache().waker.clone();
                    if let Some(waker) = waker {
                        waker();
                    }
                }
            });
            sender
        });
        let _ = sender.send(job);
    }
}

/// What is known of a code's colours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Colours {
    /// It has none: unknown language, too large.
    Plain,
    /// They are being made; ask again when the revision has risen.
    Making,
    /// Here they are.
    Ready(Tints),
}

fn key(language: &str, code: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    language.hash(&mut hasher);
    code.hash(&mut hasher);
    hasher.finish()
}

fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: std::sync::OnceLock<SyntaxSet> = std::sync::OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

fn syntax(language: &str) -> Option<&'static SyntaxReference> {
    let token = match language.to_ascii_lowercase().as_str() {
        "shell" | "console" | "shellsession" | "zsh" => "bash".to_owned(),
        "jsonc" | "json5" | "jsonl" => "json".to_owned(),
        "text" | "txt" | "plain" | "plaintext" | "output" => return None,
        other => other.to_owned(),
    };
    syntaxes().find_syntax_by_token(&token)
}

/// Colours a code; nothing for a language that is not known.
fn tint(language: &str, code: &str) -> Vec<Tint> {
    let Some(syntax) = syntax(language) else { return Vec::new() };
    let mut roles = Roles::default();
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut out = Vec::new();
    for line in code.split_inclusive('\n') {
        let ops = if line.len() > LINE_LIMIT { None } else { state.parse_line(line, syntaxes()).ok() };
        let mut at = 0;
        for (offset, op) in ops.unwrap_or_default() {
            push(&mut out, offset - at, roles.of(&stack));
            at = offset;
            // A stack that cannot be followed leaves the rest of the line as it is.
            if stack.apply(&op).is_err() {
                break;
            }
        }
        push(&mut out, line.len() - at, roles.of(&stack));
    }
    out
}

fn push(out: &mut Vec<Tint>, len: usize, role: Role) {
    match out.last_mut() {
        _ if len == 0 => {}
        Some(last) if last.role == role => last.len += len as u32,
        _ => out.push(Tint { len: len as u32, role }),
    }
}

/// From TextMate scopes to roles; the first that fits, from the innermost scope outwards.
const SCOPES: &[(&str, Role)] = &[
    ("punctuation.definition.comment", Role::SynComment),
    ("comment", Role::SynComment),
    ("punctuation.definition.string", Role::SynString),
    ("constant.character.escape", Role::SynNumber),
    ("constant.other.placeholder", Role::SynNumber),
    ("string", Role::SynString),
    ("constant", Role::SynNumber),
    ("keyword.operator", Role::SynPunctuation),
    ("keyword", Role::SynKeyword),
    ("storage.type.function", Role::SynKeyword),
    ("storage", Role::SynKeyword),
    ("entity.name.function", Role::SynFunction),
    ("support.function", Role::SynFunction),
    ("variable.function", Role::SynFunction),
    ("support.macro", Role::SynFunction),
    ("entity.name.tag", Role::SynKeyword),
    ("entity.other.attribute-name", Role::SynVariable),
    ("entity.name.class", Role::SynType),
    ("entity.name.type", Role::SynType),
    ("entity.name.struct", Role::SynType),
    ("entity.name.enum", Role::SynType),
    ("entity.name.trait", Role::SynType),
    ("entity.name.interface", Role::SynType),
    ("entity.name.impl", Role::SynType),
    ("entity.name.module", Role::SynType),
    ("entity.name.section", Role::SynFunction),
    ("entity.name.key", Role::SynVariable),
    ("entity.other.inherited-class", Role::SynType),
    ("support.type.property-name", Role::SynVariable),
    ("support.type", Role::SynType),
    ("support.class", Role::SynType),
    ("variable.language", Role::SynKeyword),
    ("variable.parameter", Role::SynVariable),
    ("variable.other.constant", Role::SynNumber),
    ("markup.inserted", Role::Added),
    ("markup.deleted", Role::Removed),
    ("markup.heading", Role::SynKeyword),
    ("meta.diff.range", Role::SynFunction),
    ("punctuation.section", Role::SynPunctuation),
    ("punctuation.separator", Role::SynPunctuation),
    ("punctuation.terminator", Role::SynPunctuation),
    ("punctuation.accessor", Role::SynPunctuation),
];

#[derive(Default)]
struct Roles {
    known: HashMap<Scope, Option<Role>>,
}

impl Roles {
    fn of(&mut self, stack: &ScopeStack) -> Role {
        let found =
            stack.scopes.iter().rev().find_map(|&scope| *self.known.entry(scope).or_insert_with(|| look_up(scope)));
        // JSON's keys are strings inside a scope of their own.
        if found == Some(Role::SynString) && stack.scopes.iter().any(|scope| is_key(*scope)) {
            return Role::SynVariable;
        }
        found.unwrap_or(Role::CodeBlock)
    }
}

fn look_up(scope: Scope) -> Option<Role> {
    SCOPES
        .iter()
        .find(|(prefix, _)| Scope::new(prefix).is_ok_and(|prefix| prefix.is_prefix_of(scope)))
        .map(|(_, role)| *role)
}

fn is_key(scope: Scope) -> bool {
    static KEYS: std::sync::OnceLock<[Option<Scope>; 2]> = std::sync::OnceLock::new();
    let keys =
        KEYS.get_or_init(|| ["meta.mapping.key", "meta.structure.dictionary.key"].map(|name| Scope::new(name).ok()));
    keys.iter().flatten().any(|key| key.is_prefix_of(scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(language: &str, code: &str) -> Vec<(String, Role)> {
        let Colours::Ready(tints) = Highlighter::new(Mode::Inline).colours(language, code) else { return Vec::new() };
        let mut at = 0;
        tints
            .iter()
            .map(|tint| {
                let end = at + tint.len as usize;
                let text = code[at..end].to_owned();
                at = end;
                (text, tint.role)
            })
            .collect()
    }

    fn has(language: &str, code: &str, text: &str, role: Role) {
        let all = roles(language, code);
        assert!(all.iter().any(|(t, r)| t.contains(text) && *r == role), "{text} as {role:?} in {all:?}");
    }

    #[test]
    fn tints_cover_the_code() {
        for code in ["fn main() {}\n", "let x = \"天气\"; // hi", "{", "\n\n"] {
            let all: String = roles("rust", code).into_iter().map(|(text, _)| text).collect();
            assert_eq!(all, code);
        }
    }

    #[test]
    fn roles_of_common_languages() {
        has("rust", "fn main() { let x = 1; } // c\n", "fn", Role::SynKeyword);
        has("rust", "fn main() { let x = 1; } // c\n", "main", Role::SynFunction);
        has("rust", "fn main() { let x = 1; } // c\n", "// c", Role::SynComment);
        has("python", "def f(a):\n    return 'x'\n", "x", Role::SynString);
        has("json", "{\"a\": [1, \"b\"]}", "a", Role::SynVariable);
        has("json", "{\"a\": [1, \"b\"]}", "b", Role::SynString);
        has("ts", "const a: string = `x`;", "const", Role::SynKeyword);
        has("sh", "echo \"hi\" # no\n", "# no", Role::SynComment);
        has("toml", "a = 1\n", "1", Role::SynNumber);
        assert!(roles("no-such-language", "x").is_empty());
        assert!(roles("text", "x").is_empty());
    }

    #[test]
    fn large_code_stays_plain_and_the_worker_wakes() {
        let plain = "x = 1\n".repeat(SIZE_LIMIT / 6 + 1);
        let highlighter = Highlighter::new(Mode::Background);
        assert_eq!(highlighter.colours("python", &plain), Colours::Plain);
        let (sender, woken) = channel();
        highlighter.set_waker(Arc::new(move || sender.send(()).unwrap_or_default()));
        assert_eq!(highlighter.colours("python", "x = 1"), Colours::Making);
        assert!(woken.recv_timeout(std::time::Duration::from_secs(60)).is_ok());
        assert_eq!(highlighter.revision(), 1);
        assert!(matches!(highlighter.colours("python", "x = 1"), Colours::Ready(_)));
    }
}
