//! `mcpane call`.

use crate::rig::{Place, ms};
use crate::stage::Stage as _;
use serde_json::{Value, json};
use std::process::Stdio;

fn place() -> Place {
    Place::with_fixtures(&[("good", &[])])
}

#[test]
fn an_answer_is_printed_and_nothing_else() {
    let place = place();
    let ran = place.run(&["call", "good:echo", r#"{"text": "hi\u001b[2J"}"#]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "hi\u{1b}[2J\n", ""));
    let ran = place.run(&["call", "good:add", r#"{"a": 1, "b": 2}"#, "--output", "json"]);
    let json = ran.json();
    assert_eq!(
        (&json["tool"], &json["outcome"], &json["is_error"]),
        (&json!("good:add"), &json!("done"), &json!(false))
    );
    assert_eq!(json["content"][1], json!({ "type": "json", "value": { "sum": 3.0 } }));
    assert_eq!(place.run(&["call", "good:change"]).out, "changed\n", "nothing is needed");

    let mut command = place.command(&["call", "good:echo", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"text\": \"piped\"}").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"piped\n");
    assert_eq!(place.processes(), [], "nothing is left running");
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let place = place();
    place.settings("version = 1\n[rules]\ndeny = [\"good:big\"]\n");
    place
        .write("work/.mcp.json", json!({ "mcpServers": { "theirs": place.fixture_entry("theirs", &[]) } }).to_string());
    insta::assert_snapshot!("missing", place.run(&["call", "good:echo"]).all());
    insta::assert_snapshot!("wrong", place.run(&["call", "good:add", r#"{"a": "x", "c": 1}"#]).all());
    for (args, code, says) in [
        (&["echo"][..], 2, "names no tool"),
        (&["god:echo"], 2, "Did you mean good?"),
        (&["good:ecoh"], 2, "Did you mean echo?"),
        (&["good:echo", "{"], 2, "not JSON"),
        (&["good:echo", "[]"], 2, "one JSON object"),
        (&["good:big", "{\"bytes\": 1}"], 3, "good:big"),
        (&["theirs:echo", "{\"text\": \"x\"}"], 3, "mcpane mcp trust"),
    ] {
        let ran = place.run(&[&["call"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
    }
    let calls = place.received("good").iter().filter(|message| message["method"] == "tools/call").count();
    assert_eq!(calls, 0);
    assert!(!place.path("theirs.pids").exists(), "it was never started");
}

#[test]
fn failures_are_the_exit_status() {
    let place = Place::with_fixtures(&[("good", &[]), ("dead", &["--init", "die", "--stderr", "no database"])]);
    let fault = |kind: &str| place.run(&["call", "good:fault", &json!({ "kind": kind }).to_string()]);
    let error = fault("tool_error");
    assert_eq!((error.code, error.out.as_str()), (1, "no such city\n"));
    let died = fault("die");
    assert_eq!((died.code, died.out.as_str()), (1, ""));
    assert!(died.err.contains("cannot go on") && died.err.contains("It may have run."), "{}", died.err);
    let refused = fault("error");
    assert!(refused.err.contains("it broke"), "{}", refused.err);
    let dead = place.run(&["call", "dead:echo", "{\"text\": \"x\"}"]);
    assert_eq!(dead.code, 1);
    assert!(dead.err.contains("no database") && dead.err.contains("nothing was called"), "{}", dead.err);
}

#[test]
fn progress_and_questions_without_a_terminal() {
    let place = place();
    let ran = place.run(&["call", "good:slow", r#"{"steps": 3, "ms": 10}"#]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "slept\n"));
    assert_eq!(ran.err, "1/3 step 1\n2/3 step 2\n3/3 step 3\n");
    let asked = place.run(&["call", "good:elicit", r#"{"message": "Who?", "times": 2}"#]);
    assert_eq!(asked.code, 0);
    assert_eq!(place.answers("good"), [json!({ "action": "cancel" }), json!({ "action": "cancel" })]);
    assert!(asked.err.contains("good asks something") && asked.err.contains("Who? 2"), "{}", asked.err);
}

#[test]
fn ctrl_c_cancels_and_says_so() {
    let place = place();
    let args = ["call", "good:slow", r#"{"steps": 1000, "ms": 50}"#];
    let child = place.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.receives("good", |message| message["method"] == "tools/call");
    std::thread::sleep(ms(100));
    crate::rig::procs::signal(child.id(), rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Interrupted; good:slow may have run."));
    place.receives("good", |message| message["method"] == "notifications/cancelled");
    assert_eq!(place.processes(), [], "nothing is left running");
}

#[test]
fn a_form_asks_for_what_is_missing() {
    let place = place();
    let mut program = place.launch(&["call", "good:add", r#"{"a": 40}"#]).start();
    program.wait_for("good:add").wait_for("40");
    // The first field is filled in already.
    program.key("tab").type_text("2").wait_for("2");
    program.key("enter");
    program.assert_exit(0);
    assert!(program.screen().contains("42"), "{}", program.screen());
    let call = place.receives("good", |message| message["method"] == "tools/call");
    assert_eq!(call["params"]["arguments"], json!({ "a": 40, "b": 2 }));

    let mut program = place.launch(&["call", "good:echo"]).start();
    program.wait_for("good:echo");
    program.key("esc");
    program.assert_exit(130);
    assert!(program.screen().contains("was not called"), "{}", program.screen());
}

#[test]
fn what_a_server_asks_is_a_form() {
    let place = place();
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let arguments = json!({ "message": "Who are you?", "schema": schema }).to_string();
    let mut program = place.launch(&["call", "good:elicit", &arguments]).start();
    program.wait_for("Who are you?");
    std::thread::sleep(ms(900));
    program.type_text("Ada").wait_for("Ada");
    program.key("enter");
    program.assert_exit(0);
    let accepted: Value = json!({ "action": "accept", "content": { "name": "Ada" } });
    assert_eq!(place.answers("good"), [accepted]);

    let mut program = place.launch(&["call", "good:link", r#"{"url": "https://example.org/a"}"#]).start();
    program.wait_for("example.org");
    std::thread::sleep(ms(900));
    program.key("esc");
    program.assert_exit(0);
    assert_eq!(place.answers("good")[1], json!({ "action": "cancel" }));

    // One that is taken back goes away by itself.
    let mut program = place.launch(&["call", "good:take_back"]).start();
    program.assert_exit(0);
    assert!(program.screen().contains("taken back"), "{}", program.screen());
}

#[test]
fn ctrl_c_in_a_form_stops_the_call() {
    let place = place();
    let mut program = place.launch(&["call", "good:elicit", r#"{"message": "Who are you?"}"#]).start();
    program.wait_for("Who are you?");
    std::thread::sleep(ms(900));
    program.key("c-c");
    program.assert_exit(130);
    place.receives("good", |message| message["method"] == "notifications/cancelled");
    assert_eq!(place.processes(), [], "nothing is left running");
}
