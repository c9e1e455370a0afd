//! How it starts with nothing, with something wrong, and when it refuses to.

use crate::rig::{Model, Place, Program, Reply, Terminal, ms};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Programs that look for model servers see those of other tests; so only one of these runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static LOOKING: Mutex<()> = Mutex::new(());
    LOOKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The frame that was written first: up to the end of the first synchronized update.
fn first_frame(program: &Program) -> String {
    program.wait_written("\x1b[?2026l");
    let all = program.raw();
    let end = all.windows(8).position(|bytes| bytes == b"\x1b[?2026l").unwrap();
    let mut parser = vt100::Parser::new(40, 120, 0);
    parser.process(&all[..end]);
    crate::rig::screen::text(parser.screen())
}

#[test]
fn with_nothing_configured_the_first_frame_welcomes_and_the_tour_is_one_key_away() {
    let _alone = alone();
    let place = Place::new();
    let mut program = place.launch(&[]).start();
    let first = first_frame(&program);
    assert!(first.contains("Welcome") && first.contains("› Tour") && first.contains("looking"), "{first}");
    assert!(first.contains("Write a task"), "the composer stays in sight: {first}");
    // What answers the terminal's questions comes later.
    let all = program.written();
    assert!(all.find("\x1b[?2026l").unwrap() < all.find("\x1b]11;?").unwrap_or(usize::MAX));
    program.wait_gone("looking").wait_quiet(ms(450));
    program.key("enter").wait_for("demo:tour").wait_for("1 ready").wait_gone("Welcome");
    assert!(!place.path("home/.config/mcpane/config.toml").exists(), "written without being told to");
    program.quit();
    place.assert_nothing_left();
}

#[test]
fn a_key_that_comes_before_the_welcome_was_seen_chooses_nothing() {
    let _alone = alone();
    let place = Place::new();
    let program = place.launch(&[]).start();
    first_frame(&program);
    program.send("\r");
    program.wait_for("Welcome").wait_gone("looking").wait_quiet(ms(300));
    assert!(program.shows("no model chosen"), "{}", program.screen());
    // Text goes to the composer, not to the welcome.
    program.type_text("hello").wait_for("› hello");
    assert!(program.shows("no model chosen"), "{}", program.screen());
}

#[test]
fn a_local_model_server_and_keys_are_found_and_the_choice_is_kept_only_when_told() {
    let _alone = alone();
    let ports = [(8080, "llamacpp"), (1234, "lmstudio")];
    let free = ports
        .into_iter()
        .find_map(|(port, name)| Some((Model::on(port, |_| Reply::text("Hello from here.")).ok()?, name)));
    let Some((model, name)) = free else {
        eprintln!("SKIPPED: the ports 8080 and 1234 are taken on this machine");
        return;
    };
    let place = Place::new();
    let mut launch = place.launch(&[]);
    let mut program = launch.env("DEEPSEEK_API_KEY", "sk-do-not-show-me").start();
    let choice = format!("{name}:test-model");
    program.wait_for(&choice).wait_for("DEEPSEEK_API_KEY").wait_quiet(ms(450));
    assert!(!program.written().contains("sk-do-not-show-me"));
    program.keys(&["down"]).wait_for(&format!("› {choice}")).key("enter");
    program.wait_for(&format!("Use {choice} next time too?")).wait_quiet(ms(450));
    program.key("esc").wait_gone("next time too?").submit("Hello");
    program.wait_for("Hello from here.");
    assert_eq!(model.requests().len(), 1);
    assert!(!place.path("home/.config/mcpane/config.toml").exists(), "written without being told to");
    program.quit();
    // The same again, with a yes.
    let mut program = place.launch(&[]).start();
    program.wait_for(&choice).wait_quiet(ms(450)).keys(&["down"]).wait_for(&format!("› {choice}")).key("enter");
    program.wait_for("next time too?").wait_quiet(ms(450)).key("y");
    place.file_with("home/.config/mcpane/config.toml", &choice);
    program.wait_gone("next time too?");
    program.quit();
    let mut program = place.launch(&[]).start();
    program.wait_for(&choice).wait_for("Write a task");
    assert!(!program.shows("Welcome"), "{}", program.screen());
    program.quit();
}

#[test]
fn a_prompt_on_the_command_line_is_sent_at_once() {
    let place = Place::new();
    let model = Model::replies([Reply::text("At your service.")]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url(), "do", "this now"]).start();
    program.wait_for("At your service.");
    assert!(model.request(0).last_text().contains("do this now"));
}

/// What it says when it does not start, on a screen that it has not taken.
#[track_caller]
fn refuses(place: &Place, args: &[&str], says: &str) {
    let mut program = place.launch(args).start();
    program.assert_exit(2);
    assert!(program.shows(says), "no {says:?}:\n{}", program.screen());
    assert!(!program.written().contains("\x1b[?1049h"), "it took the screen");
    place.assert_nothing_left();
}

#[test]
fn a_flag_that_is_wrong_ends_with_2_and_says_what_is_right() {
    let place = Place::new();
    refuses(&place, &["--no-such-flag"], "--no-such-flag");
    refuses(&place, &["--lang", "xx"], "zh");
    refuses(&place, &["--layout", "circle"], "timeline");
    refuses(&place, &["-m", "olama:x"], "ollama");
    refuses(&place, &["-m", "nothing-like-it:x"], "llamacpp");
    refuses(&place, &["-m", "openai:"], "openai:MODEL");
    refuses(&place, &["--theme", "drak"], "There is no theme drak");
    refuses(&place, &["-C", "not-there"], "not-there");
    refuses(&place, &["--lang", "zh", "--theme", "drak"], "没有名为 drak 的主题");
    refuses(&place, &["--temperature", "warm"], "warm");
}

#[test]
fn mistakes_in_files_cost_a_notice_and_never_the_start() {
    let _alone = alone();
    let place = Place::new();
    place.settings("theme = \"drak\"\nmodell = \"demo\"\nmodel = \"olama:x\"\n[rules]\nallow = 7\nthis is no toml\n");
    place.write("home/.config/mcpane/keymap.toml", "[pane]\nzoom = [\"NoSuchKey\"]\n");
    place.write("home/.mcp.json", "{ \"mcpServers\": { \"a\": { \"comand\": \"x\" }, \"b\": 7 } ");
    let mut program = place.launch(&[]).start();
    program.wait_for("Welcome").wait_for("/notices").type_text("/notices").wait_for("/notices").key("enter");
    program.wait_for("Notices");
    for said in ["config.toml:", "keymap.toml", ".mcp.json"] {
        program.wait_for(said);
    }
    program.keys(&["esc"]).wait_gone("Notices").wait_for("Welcome");
    program.keys(&["esc"]).wait_gone("Welcome");
    program.quit();
}

#[test]
fn a_typo_in_the_settings_is_guessed_at() {
    let place = Place::new();
    place.settings("langauge = \"German\"\n");
    let program = place.launch(&["-m", "demo"]).start();
    program.wait_for("Did you mean language?");
}

#[test]
fn the_language_comes_from_flag_settings_or_locale() {
    let place = Place::new();
    let start = |lang: &str, args: &[&str]| place.launch(&[&["-m", "demo"], args].concat()).env("LANG", lang).start();
    start("zh_CN.UTF-8", &[]).wait_for("回答").wait_for("思考");
    start("zh_CN.UTF-8", &["--lang", "en"]).wait_for("Thinking");
    start("de_DE.UTF-8", &[]).wait_for("Thinking");
    start("C.UTF-8", &["--lang", "zh"]).wait_for("思考");
    place.settings("lang = \"zh\"\n");
    start("en_US.UTF-8", &[]).wait_for("思考");
}

/// Run without a terminal at one end.
fn without_terminal(place: &Place, stdin: Stdio, stdout: Stdio) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpane"));
    command.args(["-m", "demo"]).env_clear().env("HOME", place.home()).env("TERM", "xterm").current_dir(place.work());
    let output =
        command.stdin(stdin).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn without_a_terminal_it_says_so() {
    let place = Place::new();
    let (code, out, said) = without_terminal(&place, Stdio::null(), Stdio::piped());
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert_eq!(said, "mcpane: Standard input is not a terminal, and the full-screen program needs one.\n");
    // Keys from a terminal, output into a pipe.
    let mut program = place.launch(&["-m", "demo"]).in_shell("\"$@\" | cat; echo \"ended ${PIPESTATUS[0]}\"").start();
    program.wait_for("ended 2").wait_for("Standard output is not a terminal");
    program.assert_exit(0);
    assert!(!program.written().contains('\x1b'), "{:?}", program.written());
    let mut program = place.launch(&["-m", "demo"]).env("TERM", "dumb").start();
    program.assert_exit(2);
    assert!(program.shows("TERM is dumb") && !program.written().contains('\x1b'), "{:?}", program.written());
}

#[test]
fn a_silent_terminal_gets_the_same_screen() {
    let place = Place::new();
    let mut launch = place.launch(&["-m", "demo"]);
    let mut program = launch.terminal(Terminal::SILENT).start();
    program.wait_for("1 ready").type_text("works").wait_for("works");
    program.key("c-c").wait_for("Write a task");
    program.quit();
}

#[test]
fn help_and_version_are_printed_in_the_users_language() {
    let place = Place::new();
    let mut program = place.launch(&["--help"]).start();
    program.assert_exit(0);
    assert!(program.shows("--strict-mcp-config"), "{}", program.screen());
    let mut program = place.launch(&["--help"]).env("LANG", "zh_CN.UTF-8").start();
    program.assert_exit(0);
    assert!(program.shows("界面语言") || program.shows("界面"), "{}", program.screen());
    let mut program = place.launch(&["--version"]).start();
    program.assert_exit(0);
    assert!(program.shows(env!("CARGO_PKG_VERSION")));
}
