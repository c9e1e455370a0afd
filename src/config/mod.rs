//! Configuration: layered settings, the files of MCP servers, trust, and the places they are kept in.
//!
//! Owns: reading every configuration file into one [`Config`] and a list of [`Servers`], with warnings that name file, line and a guess; the user's
//! directories; the environment; which project files are trusted; writing the user's choices back; changing files of servers; noticing changes. Does not: start servers, understand
//! rules (`policy::rule`) or providers (`provider::catalog`), or show anything.
//!
//! **Invariant:** loaders return a value and notices, whatever they read. A mistake costs a notice, never the start.

pub mod edit;
pub mod env;
pub mod import;
pub mod load;
pub mod paths;
pub mod report;
pub mod secrets;
pub mod servers;
pub mod settings;
pub mod trust;
pub mod ui;
pub mod watch;
pub mod write;

pub use env::Env;
pub use load::{Config, Flags, Inputs, Loaded, load, load_servers};
pub use paths::Dirs;
pub use servers::Servers;
pub use trust::Trust;
pub use watch::Watch;
