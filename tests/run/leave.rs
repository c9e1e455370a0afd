//! What may run: nothing that was not allowed, and what was.

use crate::rig::{Model, Place, Ran, Reply, task};
use serde_json::{Value, json};

/// A model that calls these in one reply, then says so.
fn calling(calls: &[(&str, Value)]) -> Model {
    let calls = calls.iter().fold(Reply::new(), |reply, (name, arguments)| reply.call(name, arguments.clone()));
    Model::replies([calls, Reply::text("that was it")])
}

/// The tools that ran.
fn done(ran: &Ran) -> Vec<String> {
    let [result] = ran.lines().try_into().unwrap();
    let calls = result["calls"].as_array().unwrap().iter();
    calls.filter(|call| call["outcome"] == "done").map(|call| call["tool"].as_str().unwrap().to_owned()).collect()
}

fn run(place: &Place, model: &Model, more: &[&str]) -> Ran {
    let mut args = vec!["--output", "json"];
    args.extend(more);
    place.launch(&task(&model.url(), &args, "go")).run()
}

fn four() -> [(&'static str, Value); 4] {
    [
        ("s__echo", json!({ "text": "reads" })),
        ("s__add", json!({ "a": 1, "b": 2 })),
        ("read_file", json!({ "path": "/etc/hostname" })),
        ("execute_command", json!({ "command": "touch ran" })),
    ]
}

#[test]
fn each_mode_approves_what_it_says() {
    std::fs::metadata("/etc/hostname").expect("a file outside to read");
    for (mode, runs, status) in [
        (&[][..], &[][..], 3),
        (&["--approve", "none"], &[], 3),
        (&["--approve", "read-only"], &["s:echo", "read_file"], 3),
        (&["--approve", "all"], &["s:echo", "s:add", "read_file", "execute_command"], 0),
    ] {
        let place = Place::with_fixtures(&[("s", &[])]);
        let model = calling(&four());
        let ran = run(&place, &model, mode).with(status);
        assert_eq!(done(&ran), runs, "{mode:?}: {ran:#?}");
        assert_eq!(place.path("work/ran").exists(), status == 0, "{mode:?}");
        // The model is told why, and can go on.
        let told = model.request(1).body.to_string();
        assert_eq!(told.contains("runs unattended"), status == 3, "{told}");
    }
}

#[test]
fn rules_allow_exactly_what_they_say() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let calls = [
        ("s__add", json!({ "a": 1, "b": 2 })),
        ("s__add", json!({ "a": 2, "b": 2 })),
        ("execute_command", json!({ "command": "touch one" })),
        ("execute_command", json!({ "command": "touch two; touch three" })),
    ];
    let model = calling(&calls);
    let more = ["--allow", "s:add(a=1)", "--allow", "execute_command(command=touch *)"];
    let ran = run(&place, &model, &more).with(3);
    assert_eq!(done(&ran), ["s:add", "execute_command"], "{ran:#?}");
    assert!(place.path("work/one").exists() && !place.path("work/three").exists());
}

#[test]
fn what_is_denied_stays_denied_and_what_asks_can_be_allowed() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\ndeny = [\"s:add\"]\nask = [\"s:echo\"]\n");
    let calls = [("s__echo", json!({ "text": "x" })), ("s__add", json!({ "a": 1, "b": 2 }))];
    let ran = run(&place, &calling(&calls), &["--approve", "all", "--allow", "*"]).with(3);
    assert_eq!(done(&ran), ["s:echo"]);
    let ran = run(&place, &calling(&calls), &["--allow", "s:*"]).with(3);
    assert_eq!(done(&ran), ["s:echo"]);
    let ran = run(&place, &calling(&calls), &[]).with(3);
    assert_eq!(done(&ran), Vec::<String>::new());
}

#[test]
fn a_task_that_finds_another_way_is_done() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model = Model::replies([
        Reply::tool("s__add", json!({ "a": 1, "b": 2 })),
        Reply::tool("s__echo", json!({ "text": "3" })),
        Reply::text("three"),
    ]);
    let ran = place.launch(&task(&model.url(), &["--allow", "s:echo"], "go")).run().with(0);
    assert_eq!(ran.out, "three\n");
    ran.says("refused s:add {\"a\":1,\"b\":2}: It runs on an MCP server.");
}

#[test]
fn servers_of_a_project_that_nobody_trusts_are_left_out() {
    let place = Place::new();
    let servers = json!({ "mcpServers": { "sly": place.fixture_entry("sly", &[]) } });
    place.write("work/.mcp.json", servers.to_string());
    place.write("work/.mcpane/config.toml", "instructions = \"obey\"\n");
    let model = Model::replies([Reply::tool("sly__echo", json!({ "text": "x" })), Reply::text("no such tool")]);
    let ran = place.launch(&task(&model.url(), &["--approve", "all"], "go")).run();
    let ran = ran.with(0).says("its servers were left out: sly").says("config.toml is not trusted yet");
    assert!(place.received("sly").is_empty(), "it was started: {ran:#?}");
    assert!(!model.request(0).body.to_string().contains("obey"));
    place.assert_nothing_left();
}
