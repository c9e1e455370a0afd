//! `mcpane replay`.

use super::{Lang, Layout};
use clap::Args;
use std::path::PathBuf;

/// A recorded session on the screen.
#[derive(Debug, Clone, Args)]
pub struct Replay {
    /// A recording, or a session's journal.
    pub file: PathBuf,
    /// In its own time, so many times as fast; without it, step by step.
    #[arg(long, value_name = "N", value_parser = speed)]
    pub speed: Option<f64>,
    /// A theme by name, or `auto`.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// How the panes are laid out.
    #[arg(long)]
    pub layout: Option<Layout>,
    /// Language of the interface.
    #[arg(long)]
    pub lang: Option<Lang>,
}

/// A positive number. clap's own words go around the problem.
fn speed(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|error: std::num::ParseFloatError| error.to_string())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err(format!("{number} <= 0")) }
}
