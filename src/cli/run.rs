//! `mcpane run`.

use super::Options;
use crate::headless;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// One task without a screen.
#[derive(Debug, Clone, Args)]
pub struct Run {
    /// The task; `-` reads it from standard input.
    pub task: Vec<String>,
    /// Flags of every session.
    #[command(flatten)]
    pub options: Options,
    /// What is printed.
    #[arg(id = "run_output", long = "output", value_name = "FORMAT", default_value = "text")]
    pub output: Output,
    /// Which calls that would ask are approved.
    #[arg(long, value_name = "WHICH", default_value = "none")]
    pub approve: Approve,
    /// Rules for calls that may run.
    #[arg(long, value_name = "PATTERN", num_args = 1)]
    pub allow: Vec<String>,
    /// Steps of the task at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_steps: Option<u32>,
    /// Answers to what servers ask.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// What a question gets that has no answer.
    #[arg(long, value_name = "ANSWER", default_value = "cancel")]
    pub elicit: Elicit,
}

/// `--output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Output {
    // The answer.
    Text,
    // One object at the end.
    Json,
    // Every event.
    StreamJson,
}

impl From<Output> for headless::Output {
    fn from(output: Output) -> Self {
        match output {
            Output::Text => Self::Text,
            Output::Json => Self::Json,
            Output::StreamJson => Self::Stream,
        }
    }
}

/// `--approve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Approve {
    // None.
    None,
    // Those that only read.
    ReadOnly,
    // All.
    All,
}

impl From<Approve> for headless::Approve {
    fn from(approve: Approve) -> Self {
        match approve {
            Approve::None => Self::None,
            Approve::ReadOnly => Self::ReadOnly,
            Approve::All => Self::All,
        }
    }
}

/// `--elicit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "clap would print the docs of variants, in English, as help")]
pub enum Elicit {
    // No.
    Decline,
    // Neither yes nor no.
    Cancel,
}

impl From<Elicit> for headless::Elicit {
    fn from(elicit: Elicit) -> Self {
        match elicit {
            Elicit::Decline => Self::Decline,
            Elicit::Cancel => Self::Cancel,
        }
    }
}
