//! Text from models, servers and file names is data: the terminal gets none of the sequences in it.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::json;

/// Everything that must not get through: titles, the clipboard, printing, reset, mouse, device strings, C1, bidi, zero width, backspace, bells.
const EVIL: &str = "[\x1b]0;pwned\x07|\x1b]52;c;ZXZpbA==\x1b\\|\x1b[5i|\x1bc|\x1b[?1000h|\x1bPq#evil\x1b\\|\x1b_evil\x1b\\|\u{9b}31m|\u{9d}0;pwned\u{9c}|\u{202e}gnp.exe\u{2066}|\u{200b}\u{feff}\u{200f}|\x08\x08|\x7f|\x07|\x0b]";

/// Nothing of it was written.
#[track_caller]
fn assert_clean(program: &Program) {
    let raw = program.raw();
    let forbidden: &[&[u8]] = &[
        b"\x1b]0;",
        b"\x1b]2;",
        b"\x1b]52;",
        b"\x1b[5i",
        b"\x1bc",
        b"\x1b[?1000h",
        b"\x1bP",
        b"\x1b_",
        b"\x1bq",
        b"\x07",
        b"\x08",
        b"\x7f",
        b"\x0b",
        "\u{202e}".as_bytes(),
        "\u{2066}".as_bytes(),
        "\u{200b}".as_bytes(),
        "\u{feff}".as_bytes(),
        "\u{200f}".as_bytes(),
    ];
    for bytes in forbidden {
        let at = raw.windows(bytes.len()).position(|window| window == *bytes);
        let around =
            at.map(|at| String::from_utf8_lossy(&raw[at.saturating_sub(60)..(at + 60).min(raw.len())]).into_owned());
        assert_eq!(around, None, "{:?} was written", String::from_utf8_lossy(bytes));
    }
    let text = program.written();
    let c1 = text.chars().find(|letter| ('\u{80}'..='\u{9f}').contains(letter));
    assert_eq!(c1, None, "a C1 control was written");
    // Every escape sequence is one of ours: a CSI, or the question for the background.
    for (at, _) in text.match_indices('\x1b') {
        let rest = &text[at + 1..];
        let ours = rest.starts_with('[') || rest.starts_with("]11;?\x1b\\") || rest.starts_with('\\');
        assert!(ours, "an escape sequence that is not ours: {:?}", &rest[..rest.len().min(40)]);
    }
    assert!(!program.look(|screen| screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None));
}

#[test]
fn what_a_model_says_is_only_text() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let say = format!(
        "Begin {EVIL} end.\n\n```sh\n{EVIL}\n```\n\n| {EVIL} | b |\n|---|---|\n| [link](javascript:{EVIL}) | x |\n\nReady."
    );
    let model = Model::replies([
        Reply::new()
            .think(&format!("Hm {EVIL} thought."))
            .say_at_once(&say)
            .call("s__echo", json!({ "text": EVIL, EVIL: EVIL })),
        Reply::new().call(&format!("no{EVIL}such"), json!({})),
        Reply::new().call("execute_command", json!({ "command": format!("echo {EVIL}") })),
        Reply::text("All done."),
    ]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("Attack");
    program.wait_for("Ready.").wait_for("thought.").open("s:echo waits", "y once").key("d").wait_quiet(ms(300));
    program.key("esc").wait_for("y once").answer("y", "execute_command waits");
    program.open("execute_command waits", "y once").wait_for("characters that cannot be seen");
    program.answer("n", "All done.").wait_idle();
    // Every pane, every detail of it.
    program.keys(&["tab", "tab", "tab", "space"]).wait_quiet(ms(200)).key("o").wait_quiet(ms(300));
    assert_clean(&program);
}

#[test]
fn what_a_server_says_is_only_text() {
    let place = Place::with_fixtures(&[("s", &["--stderr", EVIL, "--list", "hostile"]), ("t", &[])]);
    place.settings("[rules]\nallow = [\"t:elicit\", \"t:echo\", \"t:link\"]\n");
    let form = json!({
        "message": format!("Please {EVIL}"),
        "schema": { "type": "object", "properties": {
            "a": { "type": "string", "title": EVIL, "description": EVIL, "default": EVIL },
            "b": { "type": "string", "oneOf": [{ "const": "x", "title": EVIL }, { "const": "y", "title": "Why" }] }
        } }
    });
    let model = Model::replies([
        Reply::new().call("t__echo", json!({ "text": EVIL })),
        Reply::new().call("t__elicit", form),
        Reply::new().call("t__link", json!({ "url": format!("https://example.org/{EVIL}") })),
        Reply::text("All done."),
    ]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("2 ready").submit("Attack");
    program.open("t asks", "⟨Cancel⟩").wait_quiet(ms(200)).key("tab").wait_quiet(ms(200));
    program.key("c-s").open("t asks", "example.org").wait_quiet(ms(200)).key("esc").wait_quiet(ms(200));
    if program.shows("Esc again") {
        program.key("esc");
    }
    program.wait_for("All done.").wait_idle();
    program.key("f2").wait_for("Error output").wait_quiet(ms(200)).key("enter").wait_quiet(ms(200)).keys(&["esc"]);
    program.wait_quiet(ms(200)).keys(&["esc"]).wait_for("Write a task").key("f3").wait_for("s:");
    for _ in 0..20 {
        program.key("down");
    }
    program.wait_quiet(ms(300));
    assert_clean(&program);
}

#[test]
fn errors_and_file_names_are_only_text() {
    let place = Place::new();
    let folder = "evil\x1b]0;pwned\x07\u{202e}";
    std::fs::create_dir(place.work().join(folder)).unwrap();
    let model = Model::replies([Reply::error(401, EVIL), Reply::error(503, EVIL), Reply::text("All done.")]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url(), "-C", folder]).start();
    program.wait_for("Write a task").submit("One");
    program.wait_for("refused the key").wait_idle().submit("Two");
    program.wait_for("All done.");
    // What is pasted is shown as marks too.
    program.paste(EVIL).wait_quiet(ms(200)).type_text("/nothing").wait_quiet(ms(200));
    assert_clean(&program);
}

#[test]
fn a_line_of_a_megabyte_is_no_problem() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\nallow = [\"s:big\"]\n");
    let line = "0123456789abcdef".repeat(65_536);
    let model = Model::replies([
        Reply::new().say_at_once(&line).call("s__big", json!({ "bytes": 1_000_000 })),
        Reply::text("All done."),
    ]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("A long one");
    program.wait_for("All done.").wait_idle();
    program.type_text("still quick").wait_for("still quick");
    program.key("c-c").wait_for("Write a task").resize(80, 24).wait_for("All done.");
    // The model gets the ends and where the whole of it is.
    let told = model.request(1).last_text();
    assert!(told.len() < 200_000, "{} bytes", told.len());
    assert_clean(&program);
}
