//! What the main states look like: text, roles, caret.

use crate::script;
use mcpane::contract::Event;
use mcpane::strings::Language;
use mcpane::tui::harness::Harness;
use mcpane::tui::layer::welcome::Welcome;
use mcpane::tui::layout::Mode;
use mcpane::tui::msg::{Found, FoundKey, LocalServer, Msg};
use mcpane::tui::settings::Settings;
use std::time::Duration;

const SIZES: [(u16, u16); 3] = [(120, 40), (80, 24), (40, 12)];

fn settings() -> Settings {
    Settings { home: "/home/ada".into(), cwd: "/home/ada/proj".into(), ..Settings::default() }
}

fn screen((columns, rows): (u16, u16), events: Vec<Event>) -> Harness {
    played(Harness::with(columns, rows, settings(), Language::En), events)
}

fn played(mut screen: Harness, events: Vec<Event>) -> Harness {
    for event in events {
        screen.feed(event);
    }
    // The notice about the server that failed has been read.
    screen.draw();
    screen.advance(Duration::from_secs(5)).press("Left");
    screen.draw();
    screen
}

fn each_size(name: &str, events: fn() -> Vec<Event>, keys: &[&str]) {
    for size in SIZES {
        let mut screen = screen(size, events());
        for key in keys {
            screen.press(key);
            screen.draw();
            screen.advance(Duration::from_secs(1));
        }
        insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), screen.screen());
    }
}

#[test]
fn quiet() {
    each_size("quiet", script::quiet, &[]);
}

#[test]
fn one_pane_at_a_time() {
    let mut settings = settings();
    settings.layout = Mode::Stack;
    let mut screen = played(Harness::with(80, 24, settings, Language::En), script::answered());
    insta::assert_snapshot!("stack_answer_80x24", screen.screen());
    screen.press("Tab").press("3");
    screen.draw();
    insta::assert_snapshot!("stack_tools_80x24", screen.screen());
}

#[test]
fn a_call_waits() {
    each_size("waiting", script::waiting, &[]);
}

#[test]
fn a_waiting_call_is_opened() {
    each_size("opened", script::waiting, &["Ctrl-O"]);
}

#[test]
fn answered_and_looked_at() {
    each_size("answered", script::answered, &["Tab", "Up"]);
}

#[test]
fn layers() {
    for (name, key) in [("palette", "Ctrl-P"), ("help", "F1"), ("servers", "F2"), ("tools", "F3")] {
        for size in [(120, 40), (40, 12)] {
            let mut screen = screen(size, script::quiet());
            screen.press(key);
            insta::assert_snapshot!(format!("{name}_{}x{}", size.0, size.1), screen.screen());
        }
    }
}

#[test]
fn welcome() {
    for size in SIZES {
        let mut screen = Harness::with(size.0, size.1, settings(), Language::En);
        let facts = screen.ui.scene.facts.clone();
        screen.ui.layers.push(Box::new(Welcome::new()), &facts);
        screen.feed(script::opened());
        let models = vec!["ollama:qwen3".to_owned(), "ollama:mistral-small".to_owned()];
        let server = LocalServer { name: "Ollama".into(), url: "127.0.0.1:11434".into(), models };
        screen.send(Msg::Found(Found::Server(server)));
        let key = FoundKey { variable: "OPENAI_API_KEY".into(), model: "openai:gpt-5-mini".into() };
        screen.send(Msg::Found(Found::Key(key)));
        insta::assert_snapshot!(format!("welcome_{}x{}", size.0, size.1), screen.screen());
    }
}

#[test]
fn writing() {
    let mut screen = screen((80, 24), script::quiet());
    screen.type_text("看看 this:").press("Alt-Enter").paste(&"a line of a log\n".repeat(30)).type_text(" 👩‍💻");
    insta::assert_snapshot!("writing_80x24", screen.screen());
    screen.press("Ctrl-C").type_text("/m");
    insta::assert_snapshot!("completing_80x24", screen.screen());
}

#[test]
fn other_dresses() {
    let timeline = Settings { layout: Mode::Timeline, ..settings() };
    let mut screen = played(Harness::with(100, 30, timeline, Language::Zh), script::answered());
    screen.press("Tab");
    insta::assert_snapshot!("timeline_zh_100x30", screen.screen());
    let ascii = Settings { ascii: true, ..settings() };
    let mut screen = played(Harness::with(100, 30, ascii, Language::En), script::waiting());
    insta::assert_snapshot!("ascii_100x30", screen.screen());
    screen.press("Ctrl-O");
    let text = screen.text();
    let odd: String =
        text.chars().filter(|c| !c.is_ascii() && !"纽约明天的气怎么样？把结果写入℃，晴°".contains(*c)).collect();
    assert_eq!(odd, "", "only what others wrote is not ASCII");
}

#[test]
fn what_cannot_be_seen_takes_no_key_and_gives_it_to_nobody_else() {
    let mut screen = screen((120, 40), script::waiting());
    screen.advance(Duration::from_secs(1)).press("Ctrl-O");
    assert!(screen.ui.scene.prompts.is_open());
    screen.ops();
    screen.resize(39, 11);
    for key in ["y", "s", "a", "Enter", "1", "Enter", "n", "Tab", "Space", "Enter"] {
        screen.advance(Duration::from_secs(1)).press(key);
    }
    assert_eq!(screen.ops(), []);
    assert_eq!(screen.ui.composer.draft(), "");
    screen.resize(120, 40);
    assert!(screen.ui.scene.prompts.is_open(), "it waits as before");
}

#[test]
fn too_small_says_so_and_loses_nothing() {
    let mut screen = screen((39, 11), script::waiting());
    screen.type_text("kept").press("Ctrl-O").press("Tab").type_text("!");
    assert!(screen.text().contains("40x12"), "{}", screen.text());
    screen.resize(120, 40);
    assert_eq!(screen.ui.composer.draft(), "kept!");
    assert!(!screen.ui.scene.prompts.is_open(), "nothing is opened unseen");
}
