//! Flags of every session, with a screen or without.

use super::{Dialect, Lang, Layout};
use clap::Args;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, Clone, Default, Args)]
pub struct Options {
    /// `provider:name`.
    #[arg(short, long, value_name = "PROVIDER:NAME")]
    pub model: Option<String>,
    /// Instead of the provider's address.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Variable that holds the key.
    #[arg(long, value_name = "VAR")]
    pub api_key_env: Option<String>,
    /// Sampling temperature.
    #[arg(long, value_name = "T")]
    pub temperature: Option<f64>,
    /// Limit of tokens in a reply.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
    /// How calls are written.
    #[arg(long)]
    pub dialect: Option<Dialect>,
    /// Further files of MCP servers.
    #[arg(long, value_name = "FILE")]
    pub mcp_config: Vec<PathBuf>,
    /// Only the servers of `--mcp-config`.
    #[arg(long)]
    pub strict_mcp_config: bool,
    /// Instead of the user's settings.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Work in this folder.
    #[arg(short = 'C', long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A theme by name, or `auto`.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// How the panes are laid out.
    #[arg(long)]
    pub layout: Option<Layout>,
    /// Language of the interface.
    #[arg(long)]
    pub lang: Option<Lang>,
    /// Go on with the newest session of this folder.
    #[arg(short = 'c', long = "continue")]
    pub resume: bool,
    /// Go on with this session of this folder; without an id they are listed.
    #[arg(short = 'r', long = "resume", value_name = "ID", num_args = 0..=1, conflicts_with = "resume")]
    pub session: Option<Option<String>>,
    /// Write every intent and every fact to this file.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}
