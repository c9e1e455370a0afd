//! `mcp trust`: the project's files that wait for trust, shown and asked about one by one.
//!
//! **Invariants:** only somebody at a terminal can say yes; what is trusted is the content that was shown.

use super::{mention, refuse};
use crate::app::USAGE;
use crate::app::ground::Ground;
use crate::app::manage::list::short;
use crate::cli::paper::{Ink, Paper, plain};
use crate::domain::Phrase;
use crate::domain::prompt::TrustRequest;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Asks about every file that waits. 0 where none waits any more.
pub(super) fn trust(ground: &mut Ground) -> ExitCode {
    mention(ground, &ground.trust_notices);
    let waiting = std::mem::take(&mut ground.loaded.pending);
    if waiting.is_empty() {
        let mut paper = ground.paper();
        paper.line(0, &[plain(ground.say(&Phrase::new("cli.trust.nothing")))]);
        return Ground::print(&paper, 0);
    }
    let mut refused = 0;
    for request in &waiting {
        let mut paper = ground.paper();
        show(&mut paper, ground, request);
        if paper.write(&mut io::stdout().lock()).is_err() {
            return ExitCode::FAILURE;
        }
        if !io::stdin().is_terminal() {
            return refuse(ground, &Phrase::new("cli.trust.no_terminal"), USAGE);
        }
        let yes = ask(ground);
        refused += u8::from(!yes);
        let stored = ground.trust.answer(&request.file, yes);
        let key = if yes { "cli.trust.done" } else { "cli.trust.left" };
        let said = ground.strings.fill(key, &[("file", &short(ground, &request.file))]);
        let mut paper = ground.paper();
        paper.line(0, &[plain(said)]);
        let _ = paper.write(&mut io::stdout().lock());
        if let Err(notice) = stored {
            return refuse(ground, &notice.text, 1);
        }
    }
    if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// What the file would start, and what changed in it, or all of it.
fn show(paper: &mut Paper, ground: &Ground, request: &TrustRequest) {
    let file = short(ground, &request.file);
    paper.line(0, &[(Ink::Strong, file)]);
    if !request.servers.is_empty() {
        paper.block(2, Ink::Dim, ground.strings.get("prompt.trust.explain"));
    }
    let rows: Vec<_> =
        request.servers.iter().map(|(name, line)| vec![(Ink::Strong, name.to_string()), plain(line.clone())]).collect();
    paper.table(2, &rows);
    paper.gap();
    if request.changes.is_empty() {
        // The first time all of it is shown, as it was read for the question.
        let text = ground.trust.shown(&request.file).unwrap_or_default();
        paper.block(4, Ink::Plain, text);
    } else {
        paper.block(2, Ink::Dim, ground.strings.get("cli.trust.changes"));
        for line in &request.changes {
            let ink = match line.sign {
                '+' => Ink::Good,
                '-' => Ink::Bad,
                _ => Ink::Dim,
            };
            paper.line(4, &[(ink, format!("{} {}", line.sign, line.text))]);
        }
    }
    paper.gap();
}

/// Yes, said by `y` and Enter. Anything else is no.
fn ask(ground: &Ground) -> bool {
    let mut err = io::stderr().lock();
    let _ = write!(err, "{} ", ground.strings.get("cli.trust.ask")).and_then(|()| err.flush());
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    matches!(read, Ok(length) if length > 0) && ["y", "yes", "是"].contains(&answer.trim().to_lowercase().as_str())
}
