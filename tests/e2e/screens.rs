//! Everything else on the screen: layers, commands, search and copying, colours, wide characters.

use crate::rig::{Model, Place, Program, Reply, Terminal, ms, screen};
use base64::Engine;
use serde_json::json;

fn start(place: &Place, model: &Model) -> Program {
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("Write a task");
    program
}

#[test]
fn a_tool_is_run_by_hand_through_its_form() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model = Model::replies([]);
    let program = start(&place, &model);
    program.wait_for("1 ready").key("f3").wait_for("s:add").key("/").type_text("add").wait_for("› s:add").key("enter");
    program.wait_for("Adds two numbers.").key("enter").wait_for("Run s:add").wait_quiet(ms(200));
    program.type_text("19").key("tab").type_text("x").key("c-s").wait_for("✗ not a number");
    program.key("bspace").type_text("23").wait_for("23").key("c-s").wait_gone("Run s:add").wait_for("42");
    place.receives("s", |message| {
        message["method"] == "tools/call" && message["params"]["arguments"] == json!({ "a": 19, "b": 23 })
    });
    assert_eq!(model.requests().len(), 0, "no model is needed");
}

#[test]
fn servers_are_stopped_started_and_restarted() {
    let place = Place::with_fixtures(&[("s", &["--stderr", "hello from the error output"])]);
    let model = Model::replies([]);
    let program = start(&place, &model);
    program.wait_for("1 ready").key("f2").wait_for("hello from the error output").wait_for("fixture 1.0");
    let first = place.process("fixture_server").pid;
    program.key("x").wait_for("stopped");
    let gone = || place.processes().iter().all(|process| process.pid != first);
    while !gone() {
        std::thread::sleep(ms(20));
    }
    program.key("s").wait_for("✓ s");
    let second = place.process("fixture_server").pid;
    assert_ne!(first, second);
    program.key("r");
    while place.processes().iter().any(|process| process.pid == second) {
        std::thread::sleep(ms(20));
    }
    program.wait_for("✓ s").key("esc").wait_for("Write a task").wait_for("1 ready");
}

#[test]
fn the_palette_the_help_and_the_commands_lead_everywhere() {
    let place = Place::new();
    let model = Model::replies([]);
    let program = start(&place, &model);
    program.key("c-p").wait_for("Commands").type_text("serv").wait_for("Servers").key("enter");
    program.wait_for("No MCP servers are configured").key("esc").wait_for("Write a task");
    program.key("f1").wait_for("Keys and commands").wait_for("Ctrl-O").key("esc").wait_for("Write a task");
    program.type_text("/layo").wait_for("/layout").key("tab").wait_for("timeline").type_text("timeline");
    program.key("enter").wait_for("Timeline");
    program.type_text("/nonsense").key("enter").wait_for("There is no command /nonsense");
    program
        .key("c-c")
        .wait_for("Write a task")
        .type_text("/model")
        .wait_for("/model")
        .key("enter")
        .wait_for("test-model");
    program.key("esc").wait_for("Write a task").type_text("/dialect xml").key("enter").wait_for("· xml ·");
}

/// A conversation with something to find.
fn talk(place: &Place) -> (Model, Program) {
    let filler: Vec<String> = (1..=80).map(|n| format!("Paragraph {n} of the answer.\n\n")).collect();
    let text = format!("The needle is here.\n\n{}A second needle stands here.", filler.concat());
    let model = Model::replies([Reply::new().say_at_once(&text)]);
    let program = start(place, &model);
    program.submit("Find it").wait_for("A second needle").wait_idle();
    (model, program)
}

#[test]
fn search_finds_what_is_out_of_sight() {
    let place = Place::new();
    let (_model, program) = talk(&place);
    assert!(!program.shows("The needle is here."));
    program.keys(&["tab"]).wait_for("Esc").key("/").type_text("needle").wait_for("of 2").key("enter");
    program.key("N").wait_for("The needle is here.").key("n").wait_for("A second needle stands here.");
    program.key("/").type_text("nowhere at all").wait_for("no match").key("esc");
    program.key("g").wait_for("› Find it").key("G").wait_for("A second needle").key("i").wait_for("Enter send");
}

/// What was last sent to the terminal's clipboard.
fn clipboard(program: &Program) -> String {
    let all = program.written();
    let (_, last) = all.rsplit_once("\x1b]52;c;").unwrap_or_else(|| panic!("nothing was copied"));
    let encoded = last.split(['\x07', '\x1b']).next().unwrap();
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(encoded).unwrap()).unwrap()
}

#[test]
fn what_is_copied_reaches_the_terminal_and_a_file() {
    let place = Place::new();
    let model = Model::replies([Reply::new().say_at_once("# Title\n\nA **bold** word, 纽约.\n\n- one\n- two")]);
    let program = start(&place, &model);
    program.submit("Write").wait_for("two").wait_idle();
    program.keys(&["tab", "G"]).wait_quiet(ms(100)).key("c").wait_for("Copied");
    program.wait_written("\x1b]52;c;");
    // The source, not what the screen makes of it.
    assert_eq!(clipboard(&program), "# Title\n\nA **bold** word, 纽约.\n\n- one\n- two");
    assert_eq!(place.read("home/.local/state/mcpane/copied.txt"), clipboard(&program));
    // Through tmux it is wrapped; a console without a clipboard gets only the file.
    let model = Model::answering(|_| Reply::text("plain words"));
    let copy = |name: &str, value: &str| {
        let mut launch = place.launch(&["-m", "test-model", "--base-url", &model.url()]);
        let program = launch.env(name, value).start();
        program.wait_for("Write a task").submit("Write").wait_for("plain words").wait_idle();
        program.keys(&["tab", "G"]).wait_quiet(ms(100)).key("c").wait_for("Copied").wait_quiet(ms(100));
        program.written()
    };
    assert!(copy("TMUX", "/tmp/tmux-0/default,1,0").contains("\x1bPtmux;\x1b\x1b]52;c;"));
    assert!(!copy("TERM", "linux").contains("]52;"));
    assert_eq!(place.read("home/.local/state/mcpane/copied.txt"), "plain words");
}

/// The colours of all cells, as SGR bytes would name them.
fn colours(program: &Program) -> Vec<vt100::Color> {
    program.look(|screen| {
        let (rows, columns) = screen.size();
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let mut found = Vec::new();
        for (row, column) in cells {
            let cell = screen.cell(row, column).unwrap();
            for colour in [cell.fgcolor(), cell.bgcolor()] {
                if !found.contains(&colour) {
                    found.push(colour);
                }
            }
        }
        found
    })
}

/// The Tour in the middle of a question, so that most colours are on the screen.
fn colourful(place: &Place, surroundings: &[(&str, &str)]) -> Program {
    let mut launch = place.launch(&["-m", "demo"]);
    for (name, value) in surroundings {
        launch.env(name, value);
    }
    let program = launch.start();
    program.wait_for("servers 1").submit("What is the weather in New York tomorrow? Write it to result.md");
    program.open("get_forecast waits", "y once").answer("y", "write_to_file waits");
    program.open("write_to_file waits", "y once").wait_quiet(ms(200));
    program
}

#[test]
fn no_color_means_no_colour_at_all() {
    let place = Place::new();
    let program = colourful(&place, &[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]);
    assert_eq!(colours(&program), [vt100::Color::Default]);
    // Not even one that is taken back at once: no SGR parameter from 30 to 49, 90 to 107.
    let written = program.written();
    for (at, _) in written.match_indices("\x1b[") {
        let rest = &written[at + 2..];
        let Some(end) = rest.find(|c: char| !(c.is_ascii_digit() || c == ';' || c == ':')) else { continue };
        if rest[end..].starts_with('m') {
            for parameter in rest[..end].split([';', ':']).filter_map(|number| number.parse::<u16>().ok()) {
                let is_colour = matches!(parameter, 30..=38 | 40..=48 | 58 | 90..=107);
                assert!(!is_colour, "a colour: {:?}", &rest[..=end]);
            }
        }
    }
    // What is chosen is still marked.
    assert!(program.shows("›y once"), "{}", program.screen());
}

#[test]
fn colours_fit_the_terminal() {
    let place = Place::new();
    let is_rgb = |colour: &vt100::Color| matches!(colour, vt100::Color::Rgb(..));
    let over_16 = |colour: &vt100::Color| matches!(colour, vt100::Color::Idx(16..));
    let truecolor = colours(&colourful(&place, &[("COLORTERM", "truecolor")]));
    assert!(truecolor.iter().any(is_rgb), "{truecolor:?}");
    std::fs::remove_file(place.path("work/result.md")).ok();
    let indexed = colours(&colourful(&place, &[("TERM", "xterm-256color")]));
    assert!(!indexed.iter().any(is_rgb) && indexed.iter().any(over_16), "{indexed:?}");
    let ansi = colours(&colourful(&place, &[("TERM", "xterm")]));
    assert!(!ansi.iter().any(is_rgb) && !ansi.iter().any(over_16), "{ansi:?}");
    assert!(ansi.len() > 3, "{ansi:?}");
}

#[test]
fn the_theme_follows_the_background_and_can_be_chosen() {
    let place = Place::new();
    let on = |background: (u8, u8, u8), args: &[&str]| {
        let args: Vec<&str> = ["-m", "demo"].iter().chain(args).copied().collect();
        let mut launch = place.launch(&args);
        let terminal = Terminal { background: Some(background), ..Terminal::default() };
        let program = launch.env("COLORTERM", "truecolor").terminal(terminal).start();
        program.wait_for("servers 1").wait_quiet(ms(400));
        colours(&program)
    };
    let (black, white) = ((0, 0, 0), (255, 255, 255));
    let (dark, light) = (on(black, &[]), on(white, &[]));
    assert_ne!(dark, light);
    assert_eq!(on(white, &["--theme", "light"]), light);
    assert_ne!(on(white, &["--theme", "dark"]), light);
    place.write("home/.config/mcpane/themes/mine.toml", "inherits = \"dark\"\n[roles]\ntitle = { fg = \"#123456\" }\n");
    assert!(on(black, &["--theme", "mine"]).contains(&vt100::Color::Rgb(0x12, 0x34, 0x56)));
    // While it runs, too.
    let program = place.launch(&["-m", "demo"]).env("COLORTERM", "truecolor").start();
    program.wait_for("servers 1").wait_quiet(ms(300));
    let before = colours(&program);
    program
        .type_text("/theme light")
        .wait_for("/theme light")
        .key("enter")
        .wait_for("Write a task")
        .wait_quiet(ms(300));
    assert_ne!(colours(&program), before);
}

#[test]
fn wide_characters_never_break_a_border() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\nallow = [\"s:echo\"]\n");
    let wide = "纽约明天的天气怎么样？👩‍👩‍👧‍👦 家庭 é e\u{301} 🇨🇳 ✈️ ℃ ① ｶﾞ ﷽ ﾊﾝｶｸ 한국어 ไทย हिन्दी";
    let table = "| 城市 | 温度 |\n|---|---|\n| 纽约 🗽 | 24 ℃ |\n| 東京 | 𝟚𝟘 |";
    let answer = format!(
        "## {wide}\n\n{wide} {wide} {wide}\n\n{table}\n\n- {wide}\n\n> {wide}\n\n```\n{wide}{wide}\n```\n\n完毕"
    );
    let model = Model::replies([
        Reply::new().think(&format!("{wide} {wide}")).call("s__echo", json!({ "text": format!("{wide} {wide}") })),
        Reply::new().say_at_once(&answer),
    ]);
    let program = start(&place, &model);
    program.wait_for("1 ready").type_text(wide).wait_quiet(ms(200)).key("enter");
    program.wait_for("完毕").wait_idle();
    for (columns, rows) in [(120, 40), (101, 30), (133, 50), (100, 24), (119, 40)] {
        program.resize(columns, rows).wait_quiet(ms(300));
        program.look(|screen| {
            screen::assert_divider(screen);
            // From edge to edge: above the panes, and above the composer.
            assert!(screen::rules(screen).len() >= 2, "{}", screen::text(screen));
        });
        program.keys(&["tab", "g"]).wait_quiet(ms(100)).look(screen::assert_divider);
        program.keys(&["2", "g"]).wait_quiet(ms(100)).look(screen::assert_divider);
        program.keys(&["3", "g", "i"]).wait_quiet(ms(100)).look(screen::assert_divider);
    }
    program.type_text(wide).wait_quiet(ms(200)).look(screen::assert_divider);
}

#[test]
fn the_caret_stands_where_is_typed() {
    let place = Place::new();
    let program = start(&place, &Model::replies([]));
    program.type_text("纽约ab").wait_for("纽约ab").wait_quiet(ms(100));
    let (row, column) = program.look(vt100::Screen::cursor_position);
    assert_eq!(program.look(|screen| screen::cell(screen, row, column - 1)), "b");
    assert!(!program.look(vt100::Screen::hide_cursor));
    program.keys(&["left", "left"]).wait_quiet(ms(100));
    let (row, column) = program.look(vt100::Screen::cursor_position);
    assert_eq!(program.look(|screen| screen::cell(screen, row, column)), "a");
}

#[test]
fn the_transcript_is_left_on_the_normal_screen_when_asked() {
    let place = Place::new();
    let model = Model::replies([Reply::text("Remember me.")]);
    let mut program = start(&place, &model);
    program.submit("Say something").wait_for("Remember me.").wait_idle();
    program.type_text("/dump").wait_for("/dump").key("enter").wait_for("will be written to the normal screen");
    program.quit();
    assert!(program.shows("Say something") && program.shows("Remember me."), "{}", program.screen());
}

#[test]
fn the_draft_goes_through_the_editor() {
    let place = Place::new();
    let editor = place.write("editor.sh", "#!/bin/sh\nprintf ' and more\\n' >> \"$1\"\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).unwrap();
    let model = Model::replies([Reply::text("Read.")]);
    let mut launch = place.launch(&["-m", "test-model", "--base-url", &model.url()]);
    let program = launch.env("EDITOR", editor.to_str().unwrap()).start();
    program.wait_for("Write a task").type_text("a draft").wait_for("a draft").key("c-g").wait_for("and more");
    program.wait_quiet(ms(300)).key("enter").wait_for("Read.");
    let sent = model.request(0).last_text();
    assert!(sent.contains("a draft") && sent.contains("and more"), "{sent}");
}

#[test]
fn what_is_written_while_a_turn_runs_is_queued_and_can_be_taken_back() {
    let place = Place::new();
    let model = Model::replies([Reply::new().say("Wait ").gate("go").say("done."), Reply::text("Second answer.")]);
    let program = start(&place, &model);
    program.submit("First").wait_for("Wait").submit("Second").wait_for("1 queued");
    program.key("up").wait_gone("1 queued").wait_for("› Second").key("enter").wait_for("1 queued");
    assert_eq!(model.requests().len(), 1);
    model.open("go");
    program.wait_for("Second answer.");
    assert!(model.request(1).last_text().contains("Second"));
}
