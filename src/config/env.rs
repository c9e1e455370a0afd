//! The environment, read once.
//!
//! Owns: the only reading of `std::env` below `main`. Everything else gets an [`Env`], so that tests bring their own.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A snapshot of the environment's variables. Those that are not UTF-8 are left out: they cannot stand in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
}

impl Env {
    /// The variables of this process.
    pub fn system() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { variables: std::env::vars_os().filter_map(utf8).collect() }
    }

    /// These variables.
    pub fn of<N: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        Self { variables: variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }

    /// A variable; an empty one is there.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A variable that is not empty.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// All of them, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The home directory: `HOME`, else what the system says.
    pub fn home(&self) -> Option<PathBuf> {
        let named = self.filled("HOME").map(PathBuf::from);
        named.or_else(|| directories::BaseDirs::new().map(|base| base.home_dir().to_path_buf()))
    }
}
