//! What must be right before the screen is taken: a terminal, and flags that name something that there is.
//!
//! Owns no state. What is wrong here ends the program with a sentence; what is wrong in files never does.

use crate::config::env::Env;
use crate::domain::Phrase;
use crate::tui::theme::Library;
use crate::tui::wardrobe::AUTO;
use std::io::IsTerminal;

/// Whether there is a terminal that a full screen can be drawn on.
pub fn terminal(env: &Env) -> Result<(), Phrase> {
    if !std::io::stdin().is_terminal() {
        return Err(Phrase::new("app.stdin_no_terminal"));
    }
    if !std::io::stdout().is_terminal() {
        return Err(Phrase::new("app.stdout_no_terminal"));
    }
    if env.get("TERM") == Some("dumb") {
        return Err(Phrase::new("app.dumb_terminal"));
    }
    Ok(())
}

/// Whether there is a theme of this name.
pub fn theme(name: &str, library: &Library) -> Result<(), Phrase> {
    let names = library.names();
    if name == AUTO || names.iter().any(|known| known == name) {
        return Ok(());
    }
    Err(Phrase::new("app.bad_theme").with("name", name).with("known", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_must_be_there() {
        let library = Library::new(None);
        assert_eq!(theme("auto", &library), Ok(()));
        assert_eq!(theme("light", &library), Ok(()));
        let problem = theme("lihgt", &library).unwrap_err();
        assert_eq!(problem.key, "app.bad_theme");
    }
}
