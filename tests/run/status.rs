//! The exit status says how it ended.

use crate::rig::{Model, Place, Reply, task};
use serde_json::json;

#[test]
fn a_model_that_fails_is_one() {
    let place = Place::new();
    let model = Model::replies([Reply::error(401, "no such key")]);
    let ran = place.launch(&task(&model.url(), &[], "go")).run().with(1);
    assert_eq!(ran.out, "");
    let ran = ran.says("The task failed").says("no such key");
    assert_eq!(ran.err.matches("no such key").count(), 1, "said once: {ran:#?}");
    let model = Model::replies([Reply::error(401, "no such key")]);
    let ran = place.launch(&task(&model.url(), &["--output", "json"], "go")).run().with(1);
    assert!(ran.lines()[0]["problem"].as_str().unwrap().contains("no such key"), "{ran:#?}");
    // The same call over and over is not waited out.
    let model = Model::answering(|_| Reply::tool("list_files", json!({ "path": "." })));
    place.launch(&task(&model.url(), &[], "go")).run().with(1).says("list_files came 3 times in a row");
    // Nor are replies without a word.
    let model = Model::answering(|_| Reply::new());
    place.launch(&task(&model.url(), &[], "go")).run().with(1).says("do not follow the format");
}

#[test]
fn a_request_that_fails_for_once_is_tried_again() {
    let place = Place::new();
    let model = Model::replies([
        Reply::error_with(503, "busy", &[("retry-after", "0")]),
        Reply::text("half an ans").cut(),
        Reply::text("the whole answer"),
    ]);
    let ran = place.launch(&task(&model.url(), &[], "go")).run().with(0);
    assert_eq!(ran.out, "the whole answer\n");
    ran.says("busy").says("Try 1 of 5").says("the reply broke off");
}

#[test]
fn a_mistake_of_usage_or_configuration_is_two() {
    let place = Place::new();
    let model = Model::answering(|_| Reply::text("ok"));
    let url = model.url();
    let run = |args: &[&str]| place.launch(args).run().with(2);
    run(&["run"]).says("There is no task");
    run(&["run", "go"]).says("No model is named");
    run(&["run", "-m", "nobody:x", "go"]).says("nobody");
    run(&["run", "--no-such-flag", "go"]).says("--no-such-flag");
    run(&["run", "-m", "demo", "--approve", "some", "go"]).says("some");
    run(&task(&url, &["--max-steps", "0"], "go")).says("0");
    run(&task(&url, &["--allow", "s:tool(x"], "go")).says("--allow: The rule s:tool(x lacks its closing parenthesis");
    run(&task(&url, &["--config", "missing.toml"], "go")).says("missing.toml");
    run(&task(&url, &["--mcp-config", "missing.json"], "go")).says("missing.json");
    run(&task(&url, &["-r", "20200101"], "go")).says("There is no session 20200101");
    place.launch(&task(&url, &["-"], "")).stdin("  \n").run().with(2).says("There is no task");
    assert_eq!(model.requests().len(), 0, "nothing was begun");
    // A mistake in the user's settings costs a notice, not the task.
    place.settings("no_such_key = 1\n");
    place.launch(&task(&url, &[], "go")).run().with(0).says("no_such_key");
}

#[test]
fn too_many_steps_are_four() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let mut n = 0;
    let model = Model::answering(move |_| {
        n += 1;
        Reply::tool("s__echo", json!({ "text": n.to_string() }))
    });
    let more = ["--max-steps", "2", "--approve", "all"];
    let ran = place.launch(&task(&model.url(), &more, "go")).run().with(4).says("limit of 2 steps");
    assert_eq!((ran.out.as_str(), model.requests().len()), ("", 2));
}

#[test]
fn a_session_is_gone_on_with() {
    let place = Place::new();
    let model = Model::answering(|_| Reply::text("ok"));
    let url = model.url();
    place.launch(&task(&url, &[], "the first task")).run().with(0);
    place.launch(&task(&url, &["--continue"], "the second")).run().with(0);
    assert!(model.request(1).body.to_string().contains("the first task"));
    let id = place.journals()[0][0]["id"].as_str().unwrap().to_owned();
    place.launch(&task(&url, &["--resume", &id[id.len() - 4..]], "the third")).run().with(0);
    let body = model.request(2).body.to_string();
    assert!(body.contains("the first task") && body.contains("the second") && body.contains("the third"));
    assert_eq!(place.journals().len(), 1);
}

#[test]
fn a_server_that_fails_is_told_once_and_costs_nothing_else() {
    let place = Place::with_fixtures(&[("bad", &["--init", "die"]), ("s", &[])]);
    let model = Model::replies([Reply::tool("s__echo", json!({ "text": "x" })), Reply::text("ok")]);
    let ran = place.launch(&task(&model.url(), &["--approve", "all", "--output", "json"], "go")).run().with(0);
    assert_eq!(ran.err.matches("server bad cannot be used").count(), 1, "{ran:#?}");
    assert!(ran.err.contains("cannot import name"), "{ran:#?}");
}
