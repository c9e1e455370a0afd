//! What others send may be as long, as deep and as odd as they like: the program goes on, and answers keys.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// It shows a key that is typed, and takes it back.
#[track_caller]
fn assert_lively(program: &Program) {
    program.type_text("lively?").wait_for("› lively?");
    program.key("c-u").wait_gone("lively?");
}

#[test]
fn text_without_end() {
    let place = Place::new();
    let texts = [
        ">".repeat(60_000),
        "> - ".repeat(15_000),
        "👩\u{200d}".repeat(20_000),
        format!("e{}", "\u{301}".repeat(50_000)),
        format!("```\n{}x\n```", " ".repeat(70_000)),
        format!("a{}b", " ".repeat(70_000)),
        "[".repeat(30_000),
        "汉".repeat(70_000),
    ];
    let replies: Vec<Reply> =
        texts.iter().enumerate().map(|(n, text)| Reply::new().say_at_once(&format!("{text}\n\nTHE-END-{n}"))).collect();
    let model = Model::replies(replies);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    for n in 0..texts.len() {
        program.wait_for("Enter send").submit(&format!("go {n}")).wait_for(&format!("THE-END-{n}"));
        assert_lively(&program);
    }
}

/// Forms that a server may ask to be filled in, though nobody would.
fn forms() -> Vec<Value> {
    let object = |properties: Value| json!({ "type": "object", "properties": properties });
    let mut nested = json!({ "type": "string" });
    for _ in 0..60 {
        nested = object(json!({ "x": nested }));
    }
    let patterns: serde_json::Map<String, Value> = (0..300)
        .map(|n| (format!("f{n}"), json!({ "type": "string", "pattern": format!("^((a?b){{1,200}}){{1,50}}x{n}$") })))
        .collect();
    let many: serde_json::Map<String, Value> =
        (0..3_000).map(|n| (format!("field_{n}"), json!({ "type": "string", "title": "T".repeat(100) }))).collect();
    vec![
        object(json!({ "a": { "type": "string", "title": "t".repeat(200_000), "description": "d".repeat(200_000) } })),
        object(json!({ "a": { "type": "string", "enum": ["x".repeat(70_000), "y".repeat(70_000)] } })),
        object(
            json!({ "a": { "type": "string", "title": format!("e{}", "\u{301}".repeat(5_000)), "description": "👩\u{200d}".repeat(2_000) } }),
        ),
        object(
            json!({ "a": { "type": "string", "pattern": "^(a+)+$" }, "b": { "type": "string", "pattern": "(?=(a+)+b)(x+x+)+y" } }),
        ),
        object(Value::Object(patterns)),
        object(Value::Object(many)),
        nested,
        json!({ "$defs": { "n": object(json!({ "next": { "$ref": "#/$defs/n" } })) }, "type": "object", "properties": { "n": { "$ref": "#/$defs/n" } } }),
        object(
            json!({ "r": { "$ref": "http://127.0.0.1:9/evil.json" }, "": {}, "n": null, "a.b": { "type": "frobnicate" } }),
        ),
    ]
}

#[test]
fn forms_without_end() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\nallow = [\"s:elicit\"]\n");
    let count = forms().len();
    let ask =
        |n: usize, schema: Value| Reply::tool("s__elicit", json!({ "message": format!("Form {n}"), "schema": schema }));
    let mut replies: Vec<Reply> = forms().into_iter().enumerate().map(|(n, schema)| ask(n, schema)).collect();
    replies.push(Reply::text("All asked."));
    let model = Model::replies(replies);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("go");
    for n in 0..count {
        program.open(&format!("Form {n}"), "Submit").type_text("ab").keys(&["tab", "down", "s-tab"]);
        program.key("c-s").wait_quiet(ms(150));
        // What is valid is sent, though it may take a while: an Esc behind it would end the turn.
        for _ in 0..100 {
            if place.answers("s").len() > n {
                break;
            }
            std::thread::sleep(ms(50));
        }
        // Put away, whatever was typed into it.
        let mut tries = 0;
        while place.answers("s").len() <= n {
            assert!(tries < 100, "form {n} cannot be put away:\n{}", program.screen());
            // Only while it is there: behind it, the key would end the turn.
            let before = program.screen();
            if before.contains("Submit") {
                program.key("esc").wait("another screen", |screen| screen != before).wait_quiet(ms(150));
            }
            std::thread::sleep(ms(100));
            tries += 1;
        }
    }
    program.wait_for("All asked.").wait_idle();
    assert_lively(&program);
}

#[test]
fn an_approval_can_be_read_to_its_last_line() {
    let place = Place::new();
    let mut command = String::new();
    for n in 0..70_000 {
        let _ = writeln!(command, "echo {n}");
    }
    command.push_str("touch the-last-line");
    let model = Model::replies([Reply::tool("execute_command", json!({ "command": command })), Reply::text("Done.")]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program
        .wait_for("Enter send")
        .submit("go")
        .open("execute_command waits", "y once")
        .key("end")
        .wait_for("touch the-last-line");
    program.answer("n", "Done.");
    assert!(!place.path("work/the-last-line").exists());
}
