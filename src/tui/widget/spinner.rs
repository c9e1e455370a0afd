//! The sign that something runs.

use crate::tui::frame::SPIN;
use crate::tui::look::Look;
use std::time::Instant;

/// The symbol of this moment, for something that began then. Still where nothing may move.
pub fn symbol(since: Instant, look: &Look<'_>) -> &'static str {
    let glyphs = look.glyphs();
    let frames = glyphs.spinner;
    if !look.animate {
        return glyphs.open;
    }
    let step = look.now.saturating_duration_since(since).as_millis() / SPIN.as_millis();
    frames[step as usize % frames.len()]
}

/// An elapsed time in whole seconds: `7 s`, `2:05`.
pub fn elapsed(since: Instant, look: &Look<'_>) -> String {
    let seconds = look.now.saturating_duration_since(since).as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{}:{:02}", seconds / 60, seconds % 60) }
}
