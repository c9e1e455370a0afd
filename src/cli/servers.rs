//! The commands that need no screen and no model: `mcp …`, `doctor`, `call`.
//!
//! Owns their flags. Runs nothing.

use super::{Lang, Options};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Which configuration counts, as for the full-screen program.
#[derive(Debug, Clone, Default, Args)]
pub struct Place {
    /// Work in this folder.
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// Further files of MCP servers.
    #[arg(long, value_name = "FILE", global = true)]
    pub mcp_config: Vec<PathBuf>,
    /// Only the servers of `--mcp-config`.
    #[arg(long, global = true)]
    pub strict_mcp_config: bool,
    /// Instead of the user's settings.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Language of what is printed.
    #[arg(long, global = true)]
    pub lang: Option<Lang>,
}

impl Place {
    /// The same as flags of a session.
    pub fn options(&self) -> Options {
        Options {
            cwd: self.cwd.clone(),
            mcp_config: self.mcp_config.clone(),
            strict_mcp_config: self.strict_mcp_config,
            config: self.config.clone(),
            lang: self.lang,
            ..Options::default()
        }
    }
}

/// Whose file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Whose {
    // `<config dir>/mcp.json`.
    User,
    // `./.mcp.json`.
    Project,
}

/// A program whose servers can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Program {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Gemini,
    Mcphost,
    Opencode,
}

/// A new server.
#[derive(Debug, Clone, Args)]
pub struct Add {
    /// Its name.
    #[arg(value_name = "NAME")]
    pub server: String,
    /// Variables of its environment.
    #[arg(short, long, value_name = "K=V")]
    pub env: Vec<String>,
    /// Its address.
    #[arg(long, value_name = "URL", conflicts_with_all = ["line", "env"])]
    pub url: Option<String>,
    /// Headers of its requests.
    #[arg(long, value_name = "K=V", requires = "url")]
    pub header: Vec<String>,
    /// Whose file.
    #[arg(long, default_value = "user")]
    pub scope: Whose,
    /// Replace one that is there.
    #[arg(long)]
    pub replace: bool,
    /// Command and arguments.
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "url")]
    pub line: Vec<String>,
}

/// `mcpane mcp …`.
#[derive(Debug, Clone, Args)]
pub struct Servers {
    /// What to do.
    #[command(subcommand)]
    pub action: Mcp,
    /// Which configuration counts.
    #[command(flatten)]
    pub place: Place,
}

/// What to do with servers.
#[derive(Debug, Clone, Subcommand)]
pub enum Mcp {
    /// All servers.
    List {
        /// As JSON.
        #[arg(long = "json", id = "as_json")]
        json: bool,
    },
    /// One server's entry.
    Get {
        /// Which.
        #[arg(value_name = "NAME")]
        server: String,
        /// As JSON.
        #[arg(long = "json", id = "as_json")]
        json: bool,
    },
    /// Start a server and say how it went.
    Test {
        /// Which.
        #[arg(value_name = "NAME")]
        server: String,
    },
    /// The tools of servers.
    Tools {
        /// Which; all where absent.
        #[arg(value_name = "NAME")]
        server: Option<String>,
        /// As JSON.
        #[arg(long = "json", id = "as_json")]
        json: bool,
    },
    /// Add a server.
    Add(Add),
    /// Add a server by its entry.
    AddJson {
        /// Its name.
        #[arg(value_name = "NAME")]
        server: String,
        /// Its entry.
        #[arg(value_name = "JSON")]
        entry: String,
        /// Whose file.
        #[arg(long, default_value = "user")]
        scope: Whose,
        /// Replace one that is there.
        #[arg(long)]
        replace: bool,
    },
    /// Remove a server.
    Remove {
        /// Which.
        #[arg(value_name = "NAME")]
        server: String,
        /// Whose file; where absent, the one that counts.
        #[arg(long = "scope", id = "removed_scope", value_name = "SCOPE")]
        scope: Option<Whose>,
    },
    /// Take over another program's servers.
    Import {
        /// Which program's.
        #[arg(value_name = "SOURCE")]
        source: Program,
        /// Its file, if it is not the usual one.
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Whose file they go into.
        #[arg(long, default_value = "user")]
        scope: Whose,
        /// Replace those that are there.
        #[arg(long)]
        replace: bool,
    },
    /// Look at the project's files and trust them.
    Trust,
}

/// `--output` of `call`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Output {
    // What the tool answered, as text.
    Text,
    // One JSON object.
    Json,
}

/// `mcpane call`.
#[derive(Debug, Clone, Args)]
pub struct Call {
    /// `server:tool`.
    #[arg(value_name = "SERVER:TOOL")]
    pub tool: String,
    /// Its arguments.
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// How the result is printed.
    #[arg(long = "output", id = "call_output", default_value = "text", value_name = "FORMAT")]
    pub output: Output,
    /// Which configuration counts.
    #[command(flatten)]
    pub place: Place,
}

/// `mcpane doctor`.
#[derive(Debug, Clone, Args)]
pub struct Doctor {
    /// As JSON.
    #[arg(long = "json", id = "as_json")]
    pub json: bool,
    /// Which configuration counts.
    #[command(flatten)]
    pub place: Place,
}
