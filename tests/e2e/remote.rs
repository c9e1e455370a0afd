//! Servers at a URL, through the whole program: the entry with its header, a call, a form, what F2 says, and that the token stands nowhere.

use crate::rig::place::fixture;
use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const TOKEN: &str = "sesame-sesame-0815";

/// A fixture server that speaks HTTP and wants the token; its address.
struct Remote(Child, String);

impl Remote {
    fn start(place: &Place, options: &[&str]) -> Self {
        let mut command = Command::new(fixture());
        command.args(["--http", "0", "--token", &format!("Bearer {TOKEN}")]).args(options);
        for (name, value) in place.fixture_env("r").as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self(child, line.trim().to_owned())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(place: &Place, model: &Model) -> Program {
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).env("R_TOKEN", TOKEN).start();
    program.wait_for("Write a task");
    program
}

#[test]
fn a_call_and_a_form_over_both_transports() {
    for (kind, path, options) in [("http", "mcp", &["--reply", "sse"][..]), ("sse", "sse", &[])] {
        let place = Place::new();
        let remote = Remote::start(&place, options);
        let url = format!("{}/{path}", remote.1);
        let headers = json!({ "Authorization": "Bearer ${R_TOKEN}" });
        place.servers(json!({ "r": { "type": kind, "url": url, "headers": headers } }));
        let form = json!({ "message": "Who are you?", "schema": { "type": "object", "properties": { "name": { "type": "string" } } } });
        let model = Model::replies([
            Reply::tool("r__echo", json!({ "text": "from afar" })),
            Reply::tool("r__elicit", form),
            Reply::text("Both came through."),
        ]);
        place.settings("[rules]\nallow = [\"r:elicit\"]\n");
        let mut program = start(&place, &model);
        program.wait_for("1 ready").submit("Go");
        program.open("r:echo waits", "y once").answer("y", "Who are you?");
        program.open("r asks", "⟨Cancel⟩").wait_quiet(ms(100)).type_text("Ada").key("c-s");
        program
            .wait_for("Both came through.")
            .key("f2")
            .wait_for(&format!("{kind} http://127.0.0.1"))
            .wait_for("fixture 1.0");
        assert_eq!(place.answer("r", 0), json!({ "action": "accept", "content": { "name": "Ada" } }));
        program.key("esc").wait_for("Write a task");
        program.quit();
        assert!(!program.written().contains(TOKEN), "the token is on the screen");
        assert!(!format!("{:?}", place.journals()).contains(TOKEN), "the token is in the journal");
        place.assert_nothing_left();
    }
}

#[test]
fn a_wrong_token_is_told_with_what_to_do() {
    let place = Place::new();
    let remote = Remote::start(&place, &[]);
    let url = format!("{}/mcp", remote.1);
    place.servers(json!({ "r": { "url": url, "headers": { "Authorization": "Bearer wrong-wrong-wrong" } } }));
    let model = Model::replies([]);
    let program = start(&place, &model);
    program
        .wait_for("1 failed")
        .key("f2")
        .wait_for("needs a login")
        .wait_for("HTTP 401")
        .wait_for("Authorization: Bearer");
    assert!(!program.written().contains("wrong-wrong-wrong"), "{}", program.screen());
}
