//! Servers of a project's file: nothing of them starts before the user has seen what it would start and has said yes.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::{Value, json};

fn file(place: &Place, servers: &Value) {
    place.write("work/.mcp.json", serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap());
}

fn start(place: &Place) -> Program {
    place.launch(&["-m", "test-model", "--base-url", "http://127.0.0.1:1/v1"]).start()
}

/// The fixture's processes among this place's.
fn servers(place: &Place) -> usize {
    place.processes().iter().filter(|process| process.command.contains("fixture_server")).count()
}

#[test]
fn a_projects_servers_ask_once_and_start_nothing_before() {
    let place = Place::new();
    file(&place, &json!({ "s": place.fixture_entry("s", &["--stderr", "harmless looking"]) }));
    let mut program = start(&place);
    program.wait_for("wants to start a server").wait_quiet(ms(700));
    assert_eq!(servers(&place), 0, "started before the answer");
    // The command is shown whole.
    program.open("wants to start a server", "fixture_server").wait_for("harmless looking").wait_for("trust them");
    program.key("n").wait_gone("trust them").wait_quiet(ms(500));
    assert_eq!(servers(&place), 0);
    // Whoever reads the files again is asked again.
    program.type_text("/reload").wait_for("/reload").key("enter");
    program.open("wants to start a server", "trust them").key("esc").wait_for("Ctrl-O");
    program.key("f2").wait_for("not trusted yet").key("esc").wait_for("Write a task");
    assert_eq!(servers(&place), 0);
    program.keys(&["c-c"]).wait_for("Once more").key("c-c");
    program.assert_exit(0);
    // "Not now" asks again the next time.
    let mut program = start(&place);
    program.open("wants to start a server", "trust them").key("y").wait_gone("trust them").wait_for("1 ready");
    assert_eq!(servers(&place), 1);
    program.quit();
    place.assert_nothing_left();
    // And a yes holds.
    let program = start(&place);
    program.wait("known", |screen| screen.contains("1 idle") || screen.contains("1 ready")).wait_quiet(ms(500));
    assert!(!program.shows("wants to start"), "{}", program.screen());
}

#[test]
fn a_changed_file_asks_again_and_shows_what_changed() {
    let place = Place::new();
    file(&place, &json!({ "s": place.fixture_entry("s", &[]) }));
    let mut program = start(&place);
    program.open("wants to start a server", "trust them").key("y").wait_gone("trust them").wait_for("1 ready");
    program.quit();
    file(&place, &json!({ "s": place.fixture_entry("s", &["--stderr", "evil"]) }));
    let program = start(&place);
    program.open("wants to start a server", "The file has changed").wait_for("+").wait_for("\"evil\"");
    assert_eq!(servers(&place), 0);
    program.key("y").wait_gone("trust them").wait("known", |s| s.contains("1 idle") || s.contains("1 ready"));
}

#[test]
fn a_file_that_changes_while_it_runs_is_noticed_and_taken_in_when_told() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let program = start(&place);
    program.wait_for("1 ready").wait_quiet(ms(300));
    let first = place.process("fixture_server").pid;
    place.servers(json!({ "s": place.fixture_entry("s", &[]), "t": place.fixture_entry("t", &[]) }));
    program.wait_for("Changed: ~/.mcp.json").wait_for("/reload");
    std::thread::sleep(ms(300));
    assert_eq!(servers(&place), 1, "taken in by itself");
    program.type_text("/reload").wait_for("/reload").key("enter").wait_for("Servers added: t").wait_for("2 ready");
    // What did not change was not restarted.
    assert!(place.processes().iter().any(|process| process.pid == first));
    place.servers(json!({ "t": place.fixture_entry("t", &[]) }));
    program.wait_for("Changed: ~/.mcp.json").type_text("/reload").wait_for("› /reload").key("enter");
    program.wait_for("Servers removed: s").wait_for("1 ready");
}

#[test]
fn a_projects_file_that_appears_while_it_runs_asks_too() {
    let place = Place::new();
    let program = start(&place);
    program.wait_for("Write a task").wait_quiet(ms(500));
    file(&place, &json!({ "s": place.fixture_entry("s", &[]) }));
    program.wait_for("Changed:").wait_for(".mcp.json");
    program.type_text("/reload").wait_for("/reload").key("enter").wait_for("wants to start a server");
    assert_eq!(servers(&place), 0);
    program.open("wants to start a server", "trust them").key("y").wait_for("1 ready");
}

#[test]
fn strict_reads_only_the_files_of_the_command_line() {
    let place = Place::with_fixtures(&[("home", &[])]);
    file(&place, &json!({ "project": place.fixture_entry("project", &[]) }));
    let own = json!({ "mcpServers": { "own": place.fixture_entry("own", &[]) } });
    let own = place.write("own.json", own.to_string());
    let args = ["-m", "demo", "--strict-mcp-config", "--mcp-config", own.to_str().unwrap()];
    let program = place.launch(&args).start();
    // Its own and the Tour's.
    program.wait_for("2 ready").key("f2").wait_for("own").wait_for("demo");
    assert!(!program.shows("project ") && !program.shows("home "), "{}", program.screen());
}

#[test]
fn a_projects_settings_are_shown_before_they_count() {
    let place = Place::new();
    place.write("work/.mcpane/config.toml", "language = \"German\"\ninstructions = \"Always answer in rhyme.\"\n");
    let model = Model::answering(|_| Reply::text("Gut."));
    let args = ["-m", "test-model", "--base-url", &model.url()];
    let mut program = place.launch(&args).start();
    program.wait_for("config.toml").submit("Hello");
    program.wait_for("Gut.").wait_idle();
    assert!(!model.request(0).body.to_string().contains("in rhyme"), "it counted before anybody saw it");
    let program_screen = program.screen();
    assert!(program_screen.contains("Ctrl-O"), "{program_screen}");
    program.key("c-o").wait_for("Always answer in rhyme.");
    std::thread::sleep(ms(800));
    program.key("y").wait_gone("Always answer in rhyme.").wait_quiet(ms(300));
    program.quit();
    let program = place.launch(&args).start();
    program.wait_for("Write a task").submit("Hello");
    assert!(model.request(1).body.to_string().contains("in rhyme"));
}
