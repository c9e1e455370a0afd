//! Where the built-in tools work.
//!
//! Owns: the working directories, the limits, the shell and its environment, and what the tools need from elsewhere, as traits. Given once at
//! construction; a tool reads no environment variable and no configuration.
//!
//! **Invariant:** a tool touches only a path that [`Scene::look`] saw and that [`Scene::again`] finds leading to the same place.

use super::place::{self, Resolved};
use super::process::Strays;
use super::seen::{Memory, Seen};
use super::spill::Spill;
use crate::domain::policy::Facts;
use crate::domain::{Phrase, ServerName, ToolOutcome};
use crate::guard::Guard;
use crate::redact::Redactor;
use crate::tools::{Invocation, Tool};
use futures::future::BoxFuture;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Is told which process groups to end should this process die.
pub trait Watch: Send + Sync {
    /// A group is about to be started. May block for a moment.
    fn ready(&self) {}
    /// A group was started.
    fn watch(&self, group: u32);
    /// It has ended.
    fn unwatch(&self, group: u32);
}

impl Watch for Guard {
    fn ready(&self) {
        Self::ready(self);
    }
    fn watch(&self, group: u32) {
        Self::watch(self, group);
    }
    fn unwatch(&self, group: u32) {
        Self::unwatch(self, group);
    }
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn watch(&self, _group: u32) {}
    fn unwatch(&self, _group: u32) {}
}

/// Reads resources of MCP servers.
pub trait ReadResource: Send + Sync {
    /// Reads one. The outcome's content is not cut yet.
    fn read(&self, server: ServerName, uri: String, invocation: Invocation) -> BoxFuture<'static, ToolOutcome>;
}

/// Time limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Without any output.
    pub idle: Duration,
    /// Altogether; also the most that a call may ask for.
    pub total: Duration,
}

impl Default for Limits {
    /// The same as for a call to a server.
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), total: Duration::from_secs(3600) }
    }
}

/// What a scene is made from.
#[derive(Clone)]
pub struct Setting {
    /// Where paths start from. Must exist.
    pub cwd: PathBuf,
    /// Further directories that count as *inside*.
    pub also: Vec<PathBuf>,
    /// What `~` means.
    pub home: Option<PathBuf>,
    /// Where huge results go.
    pub spill: PathBuf,
    /// The secrets that are masked in what is spilled.
    pub redactor: Redactor,
    /// Most bytes of a result that a model is given. Bytes, not characters: text of two or three bytes a character costs as many more tokens.
    pub budget: usize,
    /// The shell that runs commands, as `SHELL -c COMMAND`.
    pub shell: PathBuf,
    /// Variables added to (or replacing) ours for commands.
    pub environment: Vec<(String, String)>,
    /// Time limits of commands.
    pub limits: Limits,
    /// Who ends the commands if we die.
    pub watch: Arc<dyn Watch>,
    /// Who reads resources; without it `access_mcp_resource` is not offered.
    pub resources: Option<Arc<dyn ReadResource>>,
    /// Tools beside the built-in ones, for programs that bring their own. A built-in keeps its name.
    pub tools: Vec<Arc<dyn Tool>>,
}

impl Setting {
    /// Defaults: `sh`, 24,000 bytes, nothing watched, nothing masked.
    pub fn new(cwd: impl Into<PathBuf>, spill: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            also: Vec::new(),
            home: None,
            spill: spill.into(),
            redactor: Redactor::default(),
            budget: 24_000,
            shell: PathBuf::from("/bin/sh"),
            environment: Vec::new(),
            limits: Limits::default(),
            watch: Arc::new(Unwatched),
            resources: None,
            tools: Vec::new(),
        }
    }
}

/// What is going to be done at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Read it. Spilled results count as inside.
    Read,
    /// Write it, or run something there.
    Change,
}

/// A path that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As the model wrote it.
    pub asked: String,
    /// Where it leads.
    pub path: PathBuf,
    /// Whether that is inside the working directories.
    pub inside: bool,
    /// What the user should know about it.
    pub warnings: Vec<Phrase>,
}

impl Place {
    /// For the policy.
    pub fn facts(&self) -> Facts {
        Facts { paths: vec![self.path.to_string_lossy().into_owned()], inside: self.inside, command: None }
    }
}

/// Why a call may not go ahead when it is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not what was inspected; another inspection may help.
    Stale(String),
    /// It cannot be done, inspected or not.
    Impossible(String),
}

/// The scene.
pub struct Scene {
    directories: Vec<PathBuf>,
    home: Option<PathBuf>,
    spill: Spill,
    setting: Setting,
    memory: Memory,
    strays: Arc<Strays>,
}

impl Scene {
    /// Resolves the directories. Fails where the working directory is none.
    pub fn new(setting: Setting) -> io::Result<Arc<Self>> {
        let cwd = setting.cwd.canonicalize()?;
        let mut directories = vec![cwd.clone()];
        for also in &setting.also {
            directories.push(place::resolve(&cwd, also)?.path);
        }
        let spill = Spill::new(place::resolve(&cwd, &setting.spill)?.path, setting.redactor.clone());
        let strays = Arc::new(Strays::new(Arc::clone(&setting.watch)));
        Ok(Arc::new(Self {
            directories,
            home: setting.home.clone(),
            spill,
            setting,
            memory: Memory::default(),
            strays,
        }))
    }

    /// The working directory.
    pub fn cwd(&self) -> &Path {
        &self.directories[0]
    }

    /// Where huge results go.
    pub fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Most bytes of a result for a model.
    pub fn budget(&self) -> usize {
        self.setting.budget
    }

    /// What it was made from.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Groups of commands that outlived their shell.
    pub fn strays(&self) -> &Arc<Strays> {
        &self.strays
    }

    /// Where a path leads, for inspection.
    pub fn look(&self, asked: &str, purpose: Use) -> Result<Place, String> {
        if asked.is_empty() {
            return Err("The path is empty.".to_owned());
        }
        if asked.contains('\0') {
            return Err("The path holds a NUL byte.".to_owned());
        }
        let Resolved { path, linked } = place::resolve(self.cwd(), &place::expand(asked, self.home.as_deref()))
            .map_err(|error| format!("The path {asked:?} cannot be looked at: {error}"))?;
        let spilled = purpose == Use::Read && path.starts_with(self.spill.directory());
        let inside = spilled || place::inside(&path, &self.directories);
        let mut warnings = Vec::new();
        if linked && !spilled {
            warnings.push(Phrase::new("tool.linked").with("path", asked).with("target", path.display()));
        }
        Ok(Place { asked: asked.to_owned(), path, inside, warnings })
    }

    /// Keeps what an inspection saw.
    pub fn keep(&self, tool: &str, arguments: &Value, seen: Seen) {
        self.memory.keep(tool, arguments, seen);
    }

    /// Looks again when the call runs: the path must lead where it led when the call was inspected.
    pub fn again(&self, tool: &str, arguments: &Value, asked: &str, purpose: Use) -> Result<(Place, Seen), Refusal> {
        let place = self.look(asked, purpose).map_err(Refusal::Impossible)?;
        let Some(seen) = self.memory.recall(tool, arguments) else {
            let why = "The call was not checked before it was to run, so it did not run. Call again.";
            return Err(Refusal::Stale(why.to_owned()));
        };
        if seen.path != place.path {
            return Err(Refusal::Stale(format!(
                "{asked} led to {} when the call was checked, and leads to {} now. It did not run. Look at it and call again.",
                seen.path.display(),
                place.path.display()
            )));
        }
        Ok((place, seen))
    }

    /// A path as short as it can be written: relative to the working directory where it lies in it.
    pub fn shown(&self, path: &Path) -> String {
        match path.strip_prefix(self.cwd()) {
            Ok(rest) if rest.as_os_str().is_empty() => ".".to_owned(),
            Ok(rest) => rest.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::symlink;

    #[test]
    fn spilled_results_are_inside_only_for_reading() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        let scene = Scene::new(Setting::new(root.join("work"), root.join("state/spill"))).unwrap();
        let spilled = root.join("state/spill/7.txt");
        let spilled = spilled.to_str().unwrap();
        assert!(scene.look(spilled, Use::Read).unwrap().inside);
        assert!(!scene.look(spilled, Use::Change).unwrap().inside);
        assert!(!scene.look(&format!("{}/../other", root.join("state/spill").display()), Use::Read).unwrap().inside);
        let outside = scene.look("../x", Use::Change).unwrap();
        assert!(!outside.inside && outside.warnings.is_empty(), "what it means is the policy's to say");
        assert!(scene.look("", Use::Read).is_err() && scene.look("a\0b", Use::Read).is_err());
    }

    #[test]
    fn a_link_that_was_turned_after_the_inspection_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let work = root.join("work");
        std::fs::create_dir_all(work.join("a")).unwrap();
        symlink("a", work.join("link")).unwrap();
        let scene = Scene::new(Setting::new(&work, root.join("spill"))).unwrap();
        let arguments = json!({"path": "link/f"});
        let refused = |says: &str| match scene.again("t", &arguments, "link/f", Use::Read) {
            Err(Refusal::Stale(why)) => assert!(why.contains(says), "{why}"),
            other => panic!("{other:?}"),
        };
        refused("not checked");
        let place = scene.look("link/f", Use::Read).unwrap();
        assert!(place.inside && place.warnings[0].key == "tool.linked");
        scene.keep("t", &arguments, Seen { path: place.path, print: None });
        assert!(scene.again("t", &arguments, "link/f", Use::Read).is_ok());
        std::fs::remove_file(work.join("link")).unwrap();
        symlink("/etc", work.join("link")).unwrap();
        refused("leads to /etc/f now");
    }
}
