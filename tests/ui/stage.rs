//! The real loop in a real terminal, played by a script instead of an agent: what the terminal tests run as a child, and something to look at:
//!
//!     cargo test --test ui --no-run
//!     MCPANE_STAGE=waiting drive.py … -- target/debug/deps/ui-… --exact pty::quits_and_restores --nocapture

use crate::script;
use mcpane::contract::{Event, Op, SessionEvent, TurnEvent};
use mcpane::domain::{Phrase, TurnEnd, TurnId};
use mcpane::strings::{Language, Strings};
use mcpane::tui::clipboard::Through;
use mcpane::tui::host::Host;
use mcpane::tui::keymap::Keymap;
use mcpane::tui::layout::Mode;
use mcpane::tui::msg::{Found, FoundKey, LocalServer};
use mcpane::tui::outcome::Remember;
use mcpane::tui::run::{Exit, Setup, run};
use mcpane::tui::settings::Settings;
use mcpane::tui::theme::Library;
use mcpane::tui::wardrobe::{Wardrobe, depth};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

struct Props;

impl Host for Props {
    fn edit(&self, text: &str, _extension: &str) -> Result<String, Phrase> {
        Ok(format!("{text} (edited)"))
    }

    fn open_url(&self, _url: &str) -> Result<(), Phrase> {
        Ok(())
    }

    fn remember(&self, what: &Remember) -> Result<Phrase, Phrase> {
        Ok(Phrase::literal(format!("{what:?}")))
    }
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// What the child of the terminal tests plays, if this process is one.
pub fn scene() -> Option<String> {
    std::env::var("MCPANE_STAGE").ok()
}

/// Plays it until it is left.
pub fn play() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(stage());
}

async fn stage() {
    let scene = scene().unwrap_or_default();
    let (ops, mut asked) = mpsc::channel(64);
    let (events, from_agent) = mpsc::channel(1024);
    let (send_found, found) = mpsc::channel(8);
    let welcome = scene == "welcome";
    tokio::spawn(async move {
        if welcome {
            let _ = events.send(script::opened()).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            let models = vec!["ollama:qwen3".to_owned(), "ollama:mistral-small".to_owned()];
            let server = LocalServer { name: "Ollama".into(), url: "127.0.0.1:11434".into(), models };
            let _ = send_found.send(Found::Server(server)).await;
            let key = FoundKey { variable: "OPENAI_API_KEY".into(), model: "openai:gpt-5-mini".into() };
            let _ = send_found.send(Found::Key(key)).await;
        }
        drop(send_found);
        let script = match scene.as_str() {
            "quiet" | "stream" => script::quiet(),
            "waiting" => script::waiting(),
            "answered" => script::answered(),
            _ => Vec::new(),
        };
        for event in script {
            let _ = events.send(event).await;
        }
        if scene == "stream" {
            stream(&events).await;
        }
        while let Some(op) = asked.recv().await {
            assert!(scene != "panic" || !matches!(op, Op::Submit { .. }), "the script fell over");
            answer(op, &events).await;
        }
    });
    let setup = Setup {
        ops,
        events: from_agent,
        settings: Settings {
            layout: Mode::from_name(&env("MCPANE_LAYOUT")).unwrap_or_default(),
            home: "/home/ada".into(),
            cwd: "/home/ada/proj".into(),
            theme: Some(env("MCPANE_THEME")).filter(|t| !t.is_empty()).unwrap_or("auto".into()),
            ..Settings::default()
        },
        strings: Strings::new(Language::from_locale(&env("MCPANE_LANG"))),
        keymap: Keymap::built_in(),
        wardrobe: Wardrobe::new(Library::default(), depth(&env("TERM"), &env("COLORTERM"), None)),
        notices: Vec::new(),
        prompt: None,
        history: None,
        copies: None,
        through: Through::Direct,
        host: Arc::new(Props),
        found: welcome.then_some(found),
    };
    let exit = Box::pin(run(setup)).await.unwrap();
    assert!(matches!(exit, Exit::Quit | Exit::Signal(_) | Exit::Hangup));
}

async fn stream(events: &mpsc::Sender<Event>) {
    let _ = events.send(script::started(1, "Tell me something long.")).await;
    let _ = events.send(script::step(1, 10, 1)).await;
    let words = "A sentence of ordinary words, some `code`, and a **strong** one. ".repeat(60);
    let pieces: Vec<String> = words.as_bytes().chunks(16).map(|c| String::from_utf8_lossy(c).into_owned()).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    for event in script::text(11, 10, mcpane::contract::event::TextKind::Answer, &pieces) {
        let _ = events.send(event).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let _ = events.send(script::ended(1)).await;
}

async fn answer(op: Op, events: &mpsc::Sender<Event>) {
    let event = match op {
        Op::Submit { input } => script::started(9, &input.text),
        Op::Interrupt => Event::Turn(TurnEvent::Ended { turn: TurnId(9), end: TurnEnd::Interrupted }),
        Op::Clock(mcpane::contract::ClockOp::Hold) => Event::Session(SessionEvent::Held),
        Op::UseModel { .. } => script::model(),
        _ => return,
    };
    let _ = events.send(event).await;
}
