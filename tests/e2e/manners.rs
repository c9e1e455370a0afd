//! Terminal manners: taking it, giving it back, stopping, pasting, keeping quiet.

use crate::rig::{Model, Place, Program, Reply, Terminal, ms, procs};
use rustix::process::Signal;
use serde_json::json;

const ENTER: &str = "\x1b[?1049h\x1b[?2004h\x1b[?1004h";
const LEAVE: &str = "\x1b[?1004l\x1b[?2004l\x1b[?1049l";

/// The terminal was taken and given back so many times, in reverse order, and nothing was drawn behind that.
#[track_caller]
fn assert_restored(program: &Program, times: usize) {
    let all = program.written();
    assert_eq!(all.matches(ENTER).count(), times, "{all:?}");
    assert_eq!(all.matches(LEAVE).count(), times, "{all:?}");
    let after = &all[all.rfind(LEAVE).unwrap()..];
    assert!(!after.contains("\x1b[?2026h"), "drawn after leaving: {after:?}");
    let before = &all[..all.rfind(LEAVE).unwrap()];
    assert!(before.ends_with("\x1b[?25h\x1b[0 q"), "cursor and colours first: {:?}", &before[before.len() - 60..]);
    assert!(!program.look(|screen| screen.alternate_screen() || screen.bracketed_paste() || screen.hide_cursor()));
}

/// A session with a running tool, and a server whose grandchild ignores what it is told.
fn busy(place: &Place) -> (Model, Program) {
    place.settings("[rules]\nallow = [\"s:slow\"]\n");
    let model = Model::replies([Reply::tool("s__slow", json!({ "steps": 1000, "ms": 50 }))]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("Work");
    program.wait_for("step 2");
    (model, program)
}

#[test]
fn signals_end_it_restore_the_terminal_and_leave_nothing() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let place = Place::with_fixtures(&[("s", &["--grandchild", "--linger"])]);
        let (_model, mut program) = busy(&place);
        assert!(place.processes().len() >= 4, "program, guard, server, grandchild: {:#?}", place.processes());
        program.signal(signal);
        program.assert_exit(code);
        assert_restored(&program, 1);
        place.assert_nothing_left();
    }
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_restores_the_terminal_before_its_message_and_leaves_nothing() {
    let place = Place::with_fixtures(&[("s", &["--grandchild", "--linger"])]);
    let mut program = place.launch(&["-m", "demo"]).env("MCPANE_FAULT", "redraw").start();
    program.wait_for("2 ready").key("c-l");
    let status = program.wait_exit();
    assert_ne!(status.exit_code(), 0);
    assert_restored(&program, 1);
    let all = program.written();
    let message = all.find("broken on purpose").expect("its message is printed");
    assert!(message > all.find(LEAVE).unwrap());
    place.assert_nothing_left();
}

#[test]
fn quitting_while_a_tool_runs_leaves_nothing_and_says_how_to_go_on() {
    let place = Place::with_fixtures(&[("s", &["--grandchild", "--linger"])]);
    let (_model, mut program) = busy(&place);
    program.type_text("/quit").wait_for("/quit").key("enter");
    program.assert_exit(0);
    assert_restored(&program, 1);
    assert!(program.shows("mcpane --continue"), "{}", program.screen());
    place.assert_nothing_left();
}

#[test]
fn ctrl_z_stops_and_fg_brings_it_back_with_time_stood_still() {
    let place = Place::new();
    let mut entry = place.fixture_entry("s", &[]);
    entry["timeout"] = json!({ "elicit": 6 });
    place.servers(json!({ "s": entry }));
    place.settings("[rules]\nallow = [\"s:elicit\"]\n");
    let form =
        json!({ "message": "Please", "schema": { "type": "object", "properties": { "name": { "type": "string" } } } });
    let model = Model::replies([Reply::tool("s__elicit", form), Reply::text("The form is over.")]);
    let script = "set -m; \"$@\"; echo ST''OPPED; stty -a; read -r _; fg; echo OV''ER";
    let mut program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).in_shell(script).start();
    program.wait_for("1 ready").submit("Ask me");
    program.open("s asks", "⟨Cancel⟩").type_text("half").wait_for("half");
    // The last word that `stty` says.
    program.key("c-z").wait_for("STOPPED").wait_for("extproc");
    let pid = place.host().pid;
    assert!(procs::is_stopped(pid));
    // The shell's own modes: echo and lines, and the normal screen.
    let screen = program.screen();
    assert!(screen.contains(" icanon") && screen.contains(" echo "), "{screen}");
    assert!(!program.look(|screen| screen.alternate_screen() || screen.bracketed_paste()));
    assert_eq!(program.written().matches(LEAVE).count(), 1);
    let written = program.count();
    // Longer than the form had left.
    std::thread::sleep(ms(6500));
    assert_eq!(program.count(), written, "it wrote while it was stopped");
    program.send("\n").wait("the form is back", |screen| {
        screen.contains("⟨Cancel⟩") && screen.contains("half") && screen.contains(" left")
    });
    assert!(program.look(|screen| screen.alternate_screen() && screen.bracketed_paste()));
    program.type_text(" a name").wait_for("half a name").key("c-s").wait_for("The form is over.");
    assert_eq!(place.answer("s", 0), json!({ "action": "accept", "content": { "name": "half a name" } }));
    program.wait_idle().keys(&["c-c"]).wait_for("Once more").key("c-c").wait_for("OVER");
    assert_restored(&program, 2);
    program.assert_exit(0);
    place.assert_nothing_left();
}

#[test]
fn stopped_from_outside_it_draws_itself_anew() {
    let place = Place::new();
    let script = "set -m; \"$@\"; read -r _; fg";
    let program = place.launch(&["-m", "demo"]).in_shell(script).start();
    program.wait_for("1 ready").type_text("kept").wait_for("kept");
    let pid = place.host().pid;
    procs::signal(pid, Signal::STOP);
    let until = std::time::Instant::now() + crate::rig::PATIENCE;
    while !procs::is_stopped(pid) {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(ms(10));
    }
    std::thread::sleep(ms(200));
    let before = program.count();
    program.send("\n");
    let until = std::time::Instant::now() + crate::rig::PATIENCE;
    while program.count() < before + 1000 {
        assert!(std::time::Instant::now() < until, "it was not drawn anew");
        std::thread::sleep(ms(10));
    }
    program.type_text(" on").wait_for("kept on");
}

#[test]
fn pastes_stay_whole() {
    let place = Place::new();
    let model = Model::replies([Reply::text("Read."), Reply::text("Read."), Reply::text("Read.")]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("Write a task");
    // Small: it stands there, and its line ends send nothing.
    program.paste("one\ntwo\nthree").wait_for("three");
    assert_eq!(model.requests().len(), 0);
    program.key("enter").wait_for("Read.").wait_idle();
    assert!(model.request(0).last_text().contains("one\ntwo\nthree"));
    // Large: a chip stands for it.
    let large: String = (1..=200).map(|n| format!("line {n}\n")).collect();
    program.paste(&large).wait_for("200 lines]");
    assert!(!program.shows("line 100"), "{}", program.screen());
    program.type_text(" explain").wait_for("explain").key("enter");
    let sent = model.request(1).last_text();
    assert!(sent.contains(large.trim_end()) && sent.contains("explain"), "{sent}");
    program.wait_idle();
    // A paste of control bytes types no keys.
    program.paste("a\x03b\x1b[2Jc").wait_gone("Write a task").wait_quiet(ms(200));
    assert!(!program.shows("Once more to quit"), "{}", program.screen());
    assert!(program.shows("› a"), "{}", program.screen());
}

#[test]
fn a_paste_without_brackets_is_one_too() {
    let place = Place::new();
    let model = Model::replies([Reply::text("Read.")]);
    let mut launch = place.launch(&["-m", "test-model", "--base-url", &model.url()]);
    let program = launch.terminal(Terminal::SILENT).start();
    program.wait_for("Write a task");
    program.send("first line of it\rsecond line of it\rthird").wait_for("third").wait_quiet(ms(300));
    assert_eq!(model.requests().len(), 0, "it was sent line by line");
    assert!(program.shows("first line of it") && program.shows("second line of it"), "{}", program.screen());
    program.key("enter");
    assert!(model.request(0).last_text().contains("first line of it\nsecond line of it\nthird"));
}

#[test]
fn answers_of_the_terminal_type_nothing_and_kitty_keys_are_keys() {
    let place = Place::new();
    let mut launch = place.launch(&["-m", "demo"]);
    let mut program = launch.terminal(Terminal { kitty: true, ..Terminal::default() }).start();
    program.wait_for("Write a task").wait_written("\x1b[>1u");
    program.wait_for("Shift-Enter").wait_quiet(ms(300));
    assert!(program.shows("› Write a task"), "{}", program.screen());
    program.type_text("one").send("\x1b[13;2u").type_text("two").wait_for("two");
    assert!(program.shows("› one\n   two"), "{}", program.screen());
    program.send("\x1b[99;5u").wait_for("Write a task").send("\x1b[99;5u").wait_for("Once more").send("\x1b[99;5u");
    program.assert_exit(0);
    let all = program.written();
    assert!(all.find("\x1b[<1u").unwrap() < all.find(LEAVE).unwrap(), "popped in reverse order");
}

#[test]
fn idle_writes_nothing() {
    let place = Place::new();
    let program = place.launch(&["-m", "demo"]).start();
    program.wait_for("1 ready").type_text("a draft").wait_for("a draft");
    // The draft is written down a second after the last key.
    std::thread::sleep(ms(1500));
    program.wait_quiet(ms(500));
    let written = program.count();
    std::thread::sleep(ms(2000));
    assert_eq!(program.count(), written, "{:?}", &program.written()[written..]);
}

#[test]
fn what_waits_without_a_countdown_is_idle_too() {
    let place = Place::new();
    let program = place.launch(&["-m", "demo"]).start();
    program.wait_for("1 ready").submit("Are there weather alerts?");
    program.wait_for("demo:get_alerts waits").wait_quiet(ms(700));
    let written = program.count();
    std::thread::sleep(ms(2000));
    assert_eq!(program.count(), written, "{:?}", &program.written()[written..]);
}

#[test]
fn resizes_while_an_answer_streams_lose_nothing() {
    let place = Place::new();
    let words: Vec<String> = (1..=400).map(|n| format!("w{n}")).collect();
    let model = Model::replies([Reply::new().say_slowly(&words.join(" "), ms(4))]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("Write a task").submit("Talk");
    program.wait_for("w9");
    for (columns, rows) in [(80, 24), (40, 12), (150, 50), (100, 24), (61, 13), (120, 40), (41, 12), (119, 39)] {
        program.resize(columns, rows);
        std::thread::sleep(ms(60));
    }
    for columns in (60..120).chain([120]) {
        program.resize(columns, 40);
    }
    program.wait_for("w400").wait_idle().wait_quiet(ms(300));
    // Every word is there once, in order, in the answer's pane.
    let column = program.look(crate::rig::screen::assert_divider);
    let answer = program.look(|screen| {
        let rows = screen.rows(0, column).map(|row| row.trim().to_owned());
        rows.collect::<Vec<_>>().join(" ")
    });
    let found: Vec<&str> = answer.split_whitespace().filter(|word| words.iter().any(|w| w == word)).collect();
    assert_eq!(found, words.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn the_smallest_screen_does_the_whole_job() {
    let place = Place::new();
    let mut program = place.launch(&["-m", "demo"]).size(40, 12).start();
    program.wait_for("demo").submit("What is the weather in New York tomorrow? Write it to result.md");
    program.open("get_forecast", "once");
    program.answer("y", "write_to_file");
    program.open("write_to_file", "once").answer("y", "result.md");
    place.file_with("work/result.md", "24 °C");
    program.wait_idle().type_text("deploy").key("enter");
    program.open("deploy", "once").key("y");
    program.open("demo asks", "Submit").key("esc").wait_gone("Submit");
    program.wait_idle().resize(39, 11).wait_for("Too small").resize(40, 12).wait_gone("Too small");
    program.quit();
}
