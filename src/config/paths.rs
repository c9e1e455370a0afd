//! Where mcpane keeps its files.
//!
//! Owns: the directories of the user and the names of the files in them. The XDG variables count on every system (absolute ones only, as the XDG Base
//! Directory Specification says); without them, XDG's defaults on Linux and Apple's directories on macOS. Makes nothing.

use super::env::Env;
use std::path::{Path, PathBuf};

/// The directories. Tests make one below a temporary directory with [`Dirs::below`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// The user's home.
    pub home: PathBuf,
    /// Settings that the user writes.
    pub config: PathBuf,
    /// Sessions.
    pub data: PathBuf,
    /// Logs, trust, grants.
    pub state: PathBuf,
    /// What can be made anew.
    pub cache: PathBuf,
}

const NAME: &str = "mcpane";

impl Dirs {
    /// The directories of an environment; `None` when there is no home directory.
    pub fn of(env: &Env) -> Option<Self> {
        let home = env.home()?;
        let pick = |variable: &str, linux: &str, apple: &str| {
            let named = env.filled(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            named.unwrap_or_else(|| home.join(if cfg!(target_os = "macos") { apple } else { linux })).join(NAME)
        };
        let support = "Library/Application Support";
        Some(Self {
            config: pick("XDG_CONFIG_HOME", ".config", support),
            data: pick("XDG_DATA_HOME", ".local/share", support),
            state: pick("XDG_STATE_HOME", ".local/state", support),
            cache: pick("XDG_CACHE_HOME", ".cache", "Library/Caches"),
            home,
        })
    }

    /// All directories below one, the home directory `home` among them.
    pub fn below(root: &Path) -> Self {
        let at = |name: &str| root.join(name);
        Self { home: at("home"), config: at("config"), data: at("data"), state: at("state"), cache: at("cache") }
    }

    /// The user's settings.
    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The user's keys.
    pub fn keymap(&self) -> PathBuf {
        self.config.join("keymap.toml")
    }

    /// The user's themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// The user's pieces of the system prompt.
    pub fn prompts(&self) -> PathBuf {
        self.config.join("prompts")
    }

    /// The user's own files of servers, in the order they are read.
    pub fn servers(&self) -> [PathBuf; 2] {
        [self.home.join(".mcp.json"), self.config.join("mcp.json")]
    }

    /// Sessions of all projects.
    pub fn sessions(&self) -> PathBuf {
        self.data.join("sessions")
    }

    /// Stored grants.
    pub fn grants(&self) -> PathBuf {
        self.state.join("grants.json")
    }

    /// Trusted project files.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    /// What was learned about the dialects of models.
    pub fn dialects(&self) -> PathBuf {
        self.state.join("dialects.json")
    }
}

/// A project's settings.
pub fn project_settings(project: &Path) -> PathBuf {
    project.join(".mcpane/config.toml")
}

/// A project's files of servers, in the order they are read.
pub fn project_servers(project: &Path) -> [PathBuf; 2] {
    [project.join(".mcp.json"), project.join(".mcpane/mcp.json")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xdg_variables_count_when_they_are_absolute() {
        let env = Env::of([
            ("HOME", "/home/u"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_STATE_HOME", "relative"),
            ("XDG_DATA_HOME", ""),
        ]);
        let dirs = Dirs::of(&env).unwrap();
        assert_eq!(dirs.settings(), Path::new("/c/mcpane/config.toml"));
        assert_eq!(dirs.servers()[0], Path::new("/home/u/.mcp.json"));
        if cfg!(target_os = "linux") {
            assert_eq!(dirs.state, Path::new("/home/u/.local/state/mcpane"));
            assert_eq!(dirs.data, Path::new("/home/u/.local/share/mcpane"));
            assert_eq!(dirs.cache, Path::new("/home/u/.cache/mcpane"));
        }
    }
}
