//! What is left on the normal screen when the program has gone: the transcript where it was asked for, and how to go on.

use crate::tui::transcript::plain;
use crate::tui::ui::{Dump, Ui};
use std::io::{self, Write};

/// Says it on standard output. The terminal must have been given back.
pub fn say(ui: &Ui) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let strings = &ui.dress.strings;
    if ui.dump == Dump::On {
        for line in plain(&ui.scene.store, strings) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    if ui.scene.facts.playback.is_none() && ui.scene.facts.session.is_some() && !ui.scene.store.is_empty() {
        writeln!(out, "{}", strings.fill("app.resume", &[("command", "mcpane --continue")]))?;
    }
    out.flush()
}
