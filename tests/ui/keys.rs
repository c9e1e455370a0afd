//! What keys do, on the whole screen.

use crate::script;
use mcpane::contract::event::TextKind;
use mcpane::contract::{Event, Op, SessionEvent, SessionOp};
use mcpane::domain::server::{ServerAction, ServerState};
use mcpane::domain::{Conversation, UserInput};
use mcpane::tui::draft::DELAY;
use mcpane::tui::focus::{Focus, PaneId};
use mcpane::tui::harness::Harness;
use mcpane::tui::layer::welcome::Welcome;
use mcpane::tui::layout::Mode;
use mcpane::tui::msg::{Found, FoundKey, Msg};
use mcpane::tui::outcome::{Effect, Remember};
use mcpane::tui::prompt::STANDS;
use std::time::Duration;

fn screen(events: Vec<Event>) -> Harness {
    let mut screen = Harness::new(120, 40);
    for event in events {
        screen.feed(event);
    }
    screen.draw();
    screen.effects();
    screen
}

fn running() -> Harness {
    let mut events = script::quiet();
    events.push(script::started(1, "go"));
    events.push(script::step(1, 10, 1));
    screen(events)
}

#[test]
fn escape_closes_the_innermost_thing_first() {
    let mut screen = screen(script::waiting());
    screen.press("Tab").press("/").type_text("x").press("Ctrl-P");
    assert_eq!(screen.ui.layers.top(), Some("palette"));
    screen.press("Esc");
    assert_eq!(screen.ui.layers.top(), None);
    assert!(screen.ui.panes.get(PaneId::Answer).is_searching());
    screen.press("Esc").press("Esc");
    assert_eq!(screen.ui.focus, Focus::Composer);
    screen.press("Ctrl-O");
    assert!(screen.ui.scene.prompts.is_open());
    screen.press("Esc");
    assert!(!screen.ui.scene.prompts.is_open());
    assert_eq!(screen.ops(), []);
    screen.press("Esc");
    assert_eq!(screen.ops(), [Op::Interrupt]);
}

#[test]
fn ctrl_c_interrupts_then_clears_then_leaves() {
    let mut screen = running();
    screen.type_text("draft").press("Ctrl-C");
    assert_eq!(screen.ops(), [Op::Interrupt]);
    screen.feed(script::ended(1)).press("Ctrl-C");
    assert!(screen.ui.composer.is_empty());
    screen.press("Up");
    assert_eq!(screen.ui.composer.draft(), "draft", "it went to the history");
    screen.press("Ctrl-C").press("Ctrl-C");
    assert!(!screen.effects().contains(&Effect::Quit));
    screen.advance(Duration::from_secs(3)).press("Ctrl-C");
    assert!(!screen.effects().contains(&Effect::Quit), "the first was too long ago");
    screen.press("Ctrl-C");
    assert!(screen.effects().contains(&Effect::Quit));
}

#[test]
fn an_agent_that_does_not_stop_can_be_left() {
    let mut screen = running();
    screen.press("Ctrl-C").press("Ctrl-C").press("Ctrl-C");
    assert!(screen.effects().contains(&Effect::Quit));
}

#[test]
fn messages_queue_and_come_back() {
    let mut screen = running();
    screen.type_text("next").press("Enter");
    let input = UserInput::text("next");
    assert_eq!(screen.ops(), [Op::Submit { input: input.clone() }]);
    screen.feed(Event::Session(SessionEvent::Queued { input: input.clone(), waiting: 1 }));
    assert!(screen.text().contains("1 queued"));
    screen.type_text("more").press("Up");
    assert_eq!(screen.ops(), [Op::Unqueue]);
    screen.feed(Event::Session(SessionEvent::Unqueued { input, waiting: 0 }));
    assert_eq!(screen.ui.composer.draft(), "next\nmore");
    assert!(!screen.text().contains("queued"));
}

#[test]
fn the_draft_is_told_within_a_second_and_found_again() {
    let draft = |screen: &mut Harness| {
        let effects = screen.effects();
        let drafts = effects.into_iter().filter_map(|effect| match effect {
            Effect::Op(Op::Session(SessionOp::Draft { text })) => Some(text),
            _ => None,
        });
        drafts.collect::<Vec<_>>()
    };
    let mut screen = screen(script::quiet());
    assert_eq!(screen.ui.due(), None, "no timer while nothing is written");
    screen.type_text("ab");
    assert_eq!(draft(&mut screen), Vec::<String>::new());
    screen.advance(DELAY);
    assert_eq!(draft(&mut screen), ["ab"]);
    assert_eq!(screen.ui.due(), None);
    screen.type_text("c").press("Enter");
    assert_eq!(draft(&mut screen), [""], "what was sent is no draft any more");
    let opened = |draft: &str| {
        let conversation = Conversation::default();
        Event::Session(SessionEvent::Opened { id: "s".into(), cwd: String::new(), conversation, draft: draft.into() })
    };
    screen.feed(opened("found"));
    assert_eq!(screen.ui.composer.draft(), "found");
    screen.feed(opened("another"));
    assert_eq!(screen.ui.composer.draft(), "found", "what is being written is not touched");
    screen.press("Up");
    assert_eq!(screen.ui.composer.draft(), "another", "but it can be had");
}

#[test]
fn slash_commands_reach_the_agent() {
    let mut screen = screen(script::quiet());
    screen.type_text("/model ollama:mistral").press("Enter");
    assert_eq!(screen.ops(), [Op::UseModel { model: "ollama:mistral".into() }]);
    screen.type_text("/dialect auto").press("Enter");
    assert_eq!(screen.ops(), [Op::UseDialect { dialect: None }]);
    screen.type_text("/new").press("Enter").type_text("/reload").press("Enter");
    assert_eq!(screen.ops(), [Op::Session(SessionOp::New), Op::Reload]);
    screen.type_text("/layout timeline").press("Enter");
    assert_eq!(screen.ui.panes.mode, Mode::Timeline);
    screen.type_text("/nonsense").press("Enter");
    assert!(screen.text().contains("no command /nonsense"));
    assert_eq!(screen.ui.composer.draft(), "/nonsense");
    screen.press("Ctrl-C").type_text("/model").press("Enter");
    assert_eq!(screen.ui.layers.top(), Some("details"));
    assert!(screen.text().contains("ollama:qwen3"));
}

#[test]
fn every_command_of_the_palette_has_a_name_and_runs() {
    use mcpane::tui::command::Command;
    for command in Command::ALL {
        let mut screen = screen(script::answered());
        let title = screen.ui.dress.strings.get(&format!("command.{}", command.name())).to_owned();
        assert!(!title.starts_with("command."), "{command:?} has no title");
        screen.press("Ctrl-P").type_text(&title).press("Enter");
        screen.draw();
    }
}

#[test]
fn panes_by_number_zoom_search_and_copy() {
    let mut screen = screen(script::answered());
    screen.press("Tab").press("2");
    assert_eq!(screen.ui.focus, Focus::Pane(PaneId::Thinking));
    screen.press("z");
    assert!(!screen.text().contains("Hourly"));
    assert!(screen.text().contains("2 Thinking") && !screen.text().contains("├"));
    screen.press("z").press("1").press("/").type_text("umbrella");
    assert!(screen.text().contains("1 of 1"), "{}", screen.text());
    screen.press("Enter").press("c");
    let copied = screen.effects().into_iter().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text),
        _ => None,
    });
    assert!(copied.is_some_and(|text| text.contains("**24 ℃**")), "the source is copied");
    screen.press("o");
    assert_eq!(screen.ui.layers.top(), Some("details"));
}

#[test]
fn servers_are_started_stopped_and_explained() {
    let mut screen = screen(script::quiet());
    screen.press("F2");
    assert!(screen.text().contains("It ended with exit code 1."), "{}", screen.text());
    screen.press("r");
    let restart = Op::Server { server: "sqlite".into(), action: ServerAction::Restart };
    assert_eq!(screen.ops(), [restart]);
    // A change of state does not move what is chosen.
    screen.feed(script::server("another", ServerState::Ready)).feed(script::server("sqlite", ServerState::Starting));
    screen.draw();
    screen.press("x");
    assert_eq!(screen.ops(), [Op::Server { server: "sqlite".into(), action: ServerAction::Stop }]);
    screen.press("F2");
    assert_eq!(screen.ui.layers.top(), None, "the key that opens it closes it");
}

#[test]
fn tools_are_filtered_and_grants_revoked() {
    let mut screen = screen(script::quiet());
    screen.press("F3").press("x");
    let ops = screen.ops();
    assert!(matches!(ops.as_slice(), [Op::Revoke { tool }] if tool.to_string() == "weather:get_forecast"), "{ops:?}");
    screen.press("/").type_text("write").press("Enter");
    let text = screen.text();
    assert!(text.contains("write_to_file") && !text.contains("read_file"), "{text}");
    screen.press("d");
    assert_eq!(screen.ui.layers.top(), Some("details"));
    assert!(screen.text().contains("\"latitude\""), "{}", screen.text());
}

#[test]
fn a_tool_is_run_by_hand() {
    let mut screen = screen(script::quiet());
    screen.press("F3").press("Enter");
    screen.draw();
    screen.press("Ctrl-S");
    let ops = screen.ops();
    assert!(
        matches!(ops.as_slice(), [Op::RunTool { tool, .. }] if tool.to_string() == "weather:get_forecast"),
        "{ops:?}"
    );
    assert_eq!(screen.ui.layers.top(), None);
}

#[test]
fn the_welcome_is_a_guest() {
    let mut screen = Harness::new(120, 40);
    let facts = screen.ui.scene.facts.clone();
    screen.ui.layers.push(Box::new(Welcome::new()), &facts);
    screen.draw();
    screen.press("Enter").type_text("hello");
    assert_eq!(screen.ui.composer.draft(), "hello", "it takes no key that types");
    screen.advance(STANDS).press("Enter");
    assert!(matches!(screen.ops().as_slice(), [Op::Submit { .. }]), "nor Enter while something is written");
    let key = FoundKey { variable: "OPENAI_API_KEY".into(), model: "openai:gpt-5-mini".into() };
    screen.send(Msg::Found(Found::Key(key)));
    screen.draw();
    screen.press("Down").press("Enter");
    let model = "openai:gpt-5-mini".to_owned();
    assert_eq!(screen.ops(), [Op::UseModel { model: model.clone() }]);
    assert_eq!(screen.ui.layers.top(), Some("confirm"), "to keep it is another question");
    screen.press("Enter");
    assert_eq!(screen.effects(), [], "and Enter alone does not mean yes");
    let facts = screen.ui.scene.facts.clone();
    screen.ui.layers.push(Box::new(Welcome::new()), &facts);
    screen.draw();
    screen.advance(STANDS).press("Down").press("Enter").press("y");
    assert!(screen.effects().contains(&Effect::Remember(Remember::Model(model))));
}

#[test]
fn selecting_a_step_shows_it_in_the_other_panes() {
    let mut events = script::quiet();
    events.push(script::started(1, "go"));
    for n in 1..30 {
        events.push(script::step(1, n * 10, n as u32));
        let thought = format!("thought number {n} ").repeat(12);
        events.extend(script::text(n * 10 + 1, n * 10, TextKind::Thinking, &[&thought]));
        let answer = format!("answer number {n} ").repeat(12);
        events.extend(script::text(n * 10 + 2, n * 10, TextKind::Answer, &[&answer]));
    }
    let mut screen = screen(events);
    screen.press("Tab");
    for _ in 0..9 {
        screen.press("[");
        screen.draw();
    }
    let text = screen.text();
    assert!(text.contains("step 20 of 29"), "{text}");
    assert!(text.contains("thought number 20"), "{text}");
    screen.press("End");
    screen.draw();
    assert!(screen.text().contains("step 29 of 29"));
}

#[test]
fn the_editor_gives_the_text_back_to_who_asked() {
    let mut screen = screen(script::quiet());
    screen.type_text("draft").press("Ctrl-G");
    assert!(screen.effects().contains(&Effect::Edit { text: "draft".into(), extension: "md" }));
    screen.send(Msg::Edited(Some("edited\n".into())));
    assert_eq!(screen.ui.composer.draft(), "edited");
    screen.press("Ctrl-G").send(Msg::Edited(None));
    assert_eq!(screen.ui.composer.draft(), "edited", "a failed editor changes nothing");
}

#[test]
fn a_delta_costs_no_layout() {
    let mut screen = running();
    screen.feed(Event::Item(mcpane::contract::ItemEvent::Started {
        item: mcpane::domain::ItemId(11),
        step: mcpane::domain::StepId(10),
        kind: TextKind::Answer,
    }));
    screen.draw();
    let before = screen.ui.panes.get(PaneId::Answer).view().work();
    for _ in 0..1000 {
        let item = mcpane::domain::ItemId(11);
        screen.feed(Event::Item(mcpane::contract::ItemEvent::Delta { item, text: "some words ".into() }));
    }
    assert_eq!(
        screen.ui.panes.get(PaneId::Answer).view().work(),
        before,
        "nothing is laid out before a frame is drawn"
    );
}

#[test]
fn enter_is_named_by_what_it_would_do() {
    let mut waiting = screen(script::waiting());
    assert!(waiting.text().contains("Enter opens it"));
    assert!(waiting.type_text("next").text().contains("Enter queue"));
    assert!(running().text().contains("Enter queue"));
    let mut quiet = screen(script::quiet());
    assert!(quiet.text().contains("Enter send"));
    let facts = mcpane::tui::facts::Facts::default();
    quiet.ui.layers.push(Box::new(Welcome::new()), &facts);
    let text = quiet.text();
    assert!(text.contains("Enter use it") && !text.contains("Enter send"), "{text}");
    assert!(quiet.type_text("/model a:b").press("Esc").text().contains("Enter send"));
}

#[test]
fn a_narrow_screen_still_says_that_a_message_is_queued() {
    let mut screen = running();
    screen.feed(Event::Session(SessionEvent::Queued { input: UserInput::text("next"), waiting: 1 }));
    for columns in [120, 80, 40] {
        screen.resize(columns, 12);
        assert!(screen.text().contains("1 queued"), "{columns}: {}", screen.text());
    }
}
