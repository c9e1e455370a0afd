//! `mcpane sessions`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Sessions that were kept.
#[derive(Debug, Clone, Args)]
#[command(disable_help_subcommand = true)]
pub struct Sessions {
    /// What to do with them.
    #[command(subcommand)]
    pub what: What,
    /// Sessions of this folder.
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub enum What {
    /// Lists them, the newest first.
    List {
        /// Those of every folder.
        #[arg(long)]
        all: bool,
        /// As JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Prints one to read.
    Show {
        /// Which.
        id: String,
    },
    /// Prints one whole.
    Export {
        /// Which.
        id: String,
        /// In which form.
        #[arg(id = "export_output", long = "output", value_name = "FORMAT", default_value = "md")]
        output: Export,
    },
    /// Removes some.
    Rm {
        /// Which.
        #[arg(required = true)]
        id: Vec<String>,
    },
}

/// Forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Export {
    // One object.
    Json,
    // Markdown.
    Md,
}
