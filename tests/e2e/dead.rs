//! What is dead, silent or broken: models and servers. It is said where, why, and what to do.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::json;

fn start(place: &Place, url: &str) -> Program {
    let program = place.launch(&["-m", "test-model", "--base-url", url]).start();
    program.wait_for("Write a task");
    program
}

#[test]
fn refusals_that_no_repetition_helps_are_told_at_once() {
    let cases = [
        (401, "bad key sk-12345678901234567890", "refused the key"),
        (404, "no such model", "No such model or address"),
        (400, "unknown field", "refused the request"),
    ];
    for (status, message, says) in cases {
        let place = Place::new();
        let model = Model::replies([Reply::error(status, message), Reply::text("Well again.")]);
        let program = start(&place, &model.url());
        program.submit("Hello").wait_for(says).wait_idle();
        std::thread::sleep(ms(1500));
        assert_eq!(model.requests().len(), 1, "{status} was tried again");
        // The turn is over, and the next one is a new try.
        program.submit("Again").wait_for("Well again.");
    }
}

#[test]
fn an_overloaded_model_is_tried_again_with_a_countdown() {
    let place = Place::new();
    let after = Reply::error_with(500, "out of memory", &[("retry-after", "30")]);
    let model = Model::replies([after.clone(), after, Reply::text("Here I am.")]);
    let program = start(&place, &model.url());
    program.submit("Hello").wait_for("Try 1 of 5").wait_for("out of memory");
    // It counts, and does not wait for us.
    program.wait("a countdown", |screen| screen.contains("in 29 s") || screen.contains("in 28 s"));
    program.open("Try 1 of 5", "retry now").key("r");
    model.request(1);
    program.open("Try 2 of 5", "retry now").key("r").wait_for("Here I am.");
    assert_eq!(model.requests().len(), 3);
}

#[test]
fn a_countdown_goes_on_by_itself() {
    let place = Place::new();
    let model = Model::replies([Reply::error(503, "busy"), Reply::text("By itself.")]);
    let program = start(&place, &model.url());
    program.submit("Hello").wait_for("By itself.").wait_idle();
    assert_eq!(model.requests().len(), 2);
    assert!(!program.shows("Ctrl-O opens it"), "{}", program.screen());
}

#[test]
fn a_countdown_can_be_stopped() {
    let place = Place::new();
    let model = Model::replies([Reply::error_with(429, "slow down", &[("retry-after", "60")]), Reply::text("Later.")]);
    let program = start(&place, &model.url());
    program.submit("Hello").open("Try 1 of 5", "stop").key("s").wait_idle().wait_for("slow down");
    std::thread::sleep(ms(500));
    assert_eq!(model.requests().len(), 1);
    program.submit("Again").wait_for("Later.");
}

#[test]
fn nobody_there() {
    let place = Place::new();
    // A port that nobody listens on: it was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let program = start(&place, &format!("http://127.0.0.1:{port}/v1"));
    program.submit("Hello").wait_for("Try 1 of 5").wait_for("No connection").wait_for(&port.to_string());
    program.key("esc").wait_idle().wait_for("interrupted");
}

#[test]
fn a_reply_that_breaks_off_keeps_what_came_and_offers_another_try() {
    let place = Place::new();
    let model = Model::replies([Reply::new().say("Half of the ans").cut(), Reply::text("The whole answer.")]);
    let program = start(&place, &model.url());
    program.submit("Hello").wait_for("Half of the ans").open("The reply broke off", "r retry").key("r");
    program.wait_for("The whole answer.").wait_idle();
    assert!(program.shows("Half of the ans"), "{}", program.screen());
    // What broke off is not part of the conversation.
    let messages = model.request(1).body["messages"].to_string();
    assert!(!messages.contains("Half of the ans"), "{messages}");
}

#[test]
fn a_call_whose_arguments_were_cut_off_does_not_run() {
    let place = Place::new();
    let arguments = json!({ "path": "x.txt", "content": "xyz" });
    let cut = Reply::new().call_cut("write_to_file", &arguments, arguments.to_string().len() - 3).finish("length");
    let model = Model::replies([cut]);
    let program = start(&place, &model.url());
    program.submit("Write").wait_for("limit of tokens");
    std::thread::sleep(ms(300));
    assert!(!place.path("work/x.txt").exists());
    assert!(!program.shows("y once"));
}

#[test]
fn a_model_that_is_silent_can_be_left() {
    let place = Place::new();
    let model = Model::replies([Reply::new().hang()]);
    let program = start(&place, &model.url());
    program.submit("Hello").wait_for("Esc interrupts").key("esc").wait_idle();
    model.was_left(1);
}

#[test]
fn without_a_model_a_task_says_how_to_choose_one() {
    let place = Place::new();
    let program = place.launch(&[]).start();
    program.wait_for("Welcome").submit("Hello").wait_for("/model");
}

#[test]
fn a_server_that_dies_says_why_and_others_live() {
    let place = Place::with_fixtures(&[("dead", &["--init", "die", "--exit", "7"]), ("alive", &[])]);
    place.settings("[rules]\nallow = [\"alive:echo\"]\n");
    let model = Model::replies([Reply::tool("alive__echo", json!({ "text": "still here" })), Reply::text("It lives.")]);
    let program = start(&place, &model.url());
    program.wait_for("1 ready").wait_for("1 failed").key("f2");
    program.wait_for("dead").wait_for("exit code 7").wait_for("cannot import name 'Server'").wait_for("what to do");
    program.key("esc").wait_for("Write a task").submit("Say");
    program.wait_for("It lives.");
}

#[test]
fn a_server_that_is_not_there_says_what_is_missing() {
    let place = Place::new();
    place.servers(json!({
        "gone": { "command": "mcpane-no-such-program" },
        "vague": { "command": "echo", "env": { "KEY": "${MCPANE_E2E_UNSET}" } }
    }));
    let program = start(&place, "http://127.0.0.1:1/v1");
    program.wait_for("2 failed").key("f2").wait_for("mcpane-no-such-program was not found").wait_for("Install");
    program.key("down").wait_for("MCPANE_E2E_UNSET is not set").wait_for(".mcp.json");
}

#[test]
fn a_server_that_dies_during_a_call_fails_that_call_and_can_be_started_again() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\nallow = [\"s:fault\", \"s:echo\"]\n");
    let model = Model::replies([
        Reply::tool("s__fault", json!({ "kind": "die" })),
        Reply::text("It died."),
        Reply::tool("s__echo", json!({ "text": "back" })),
        Reply::text("It is back."),
    ]);
    let program = start(&place, &model.url());
    program.wait_for("1 ready").submit("Kill it");
    program.wait_for("It died.").wait_for("failed, may have run");
    let told = model.request(1).last_text();
    assert!(told.contains("last words") || told.contains("42"), "{told}");
    program.key("f2").wait_for("cannot go on").key("r").wait_for("ready").key("esc").wait_for("Write a task");
    program.submit("Again").wait_for("It is back.");
}

#[test]
fn a_call_to_a_server_that_is_starting_waits_on_its_card() {
    let place = Place::with_fixtures(&[("s", &["--delay", "1500"])]);
    place.settings("[rules]\nallow = [\"s:echo\"]\n");
    // Its tools are learnt by one start; the next one is when it is called.
    let model = Model::replies([Reply::tool("s__echo", json!({ "text": "late" })), Reply::text("Finally.")]);
    let mut program = start(&place, &model.url());
    program.wait_for("1 ready");
    program.quit();
    let program = start(&place, &model.url());
    program.wait_for("1 idle").submit("Say").wait_for("waits for s").wait_for("Finally.").wait_for("1 ready");
}
