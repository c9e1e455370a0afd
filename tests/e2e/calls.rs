//! Calls that wait for the user, and what server and model are told of the answer.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::{Value, json};

/// The program with one fixture server `s` and a scripted model.
fn start(place: &Place, model: &Model) -> Program {
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    // Where its tools are known from last time, the server starts with the first call.
    program.wait("1 ready or 1 idle", |screen| screen.contains("1 ready") || screen.contains("1 idle"));
    program
}

fn place() -> Place {
    Place::with_fixtures(&[("s", &[])])
}

/// The arguments of the calls that the server has received.
fn ran(place: &Place) -> Vec<Value> {
    let calls = place.received("s").into_iter().filter(|message| message["method"] == "tools/call");
    calls.map(|call| call["params"]["arguments"].clone()).collect()
}

fn echo(text: &str) -> Reply {
    Reply::tool("s__echo", json!({ "text": text }))
}

#[test]
fn an_answer_streams_in_with_its_thoughts() {
    let place = place();
    let reply = Reply::new().think("Let me count. ").gate("answer").say("One, two, ").gate("end").say("three.");
    let model = Model::replies([reply]);
    let mut program = start(&place, &model);
    program.submit("Count");
    program.wait_for("Let me count.");
    assert!(!program.shows("One, two,"));
    model.open("answer");
    program.wait_for("One, two,");
    assert!(!program.shows("three."), "{}", program.screen());
    model.open("end");
    program.wait_for("One, two, three.");
    let request = model.request(0);
    assert_eq!(request.body["model"], "test-model");
    assert!(request.last_text().contains("Count"));
    program.quit();
    place.assert_nothing_left();
}

#[test]
fn a_call_that_is_approved_runs_once() {
    let place = place();
    let model = Model::replies([echo("hello there"), Reply::text("It said hello.")]);
    let program = start(&place, &model);
    program.submit("Say hello");
    program.open("s:echo waits", "y once").wait_for("hello there");
    assert_eq!(ran(&place), Vec::<Value>::new(), "it ran before the answer");
    program.answer("y", "It said hello.");
    assert_eq!(ran(&place), [json!({ "text": "hello there" })]);
    assert_eq!(model.request(1).last_text(), "hello there");
}

#[test]
fn a_call_that_is_rejected_does_not_run() {
    let place = place();
    let model = Model::replies([echo("no"), Reply::text("As you wish.")]);
    let program = start(&place, &model);
    program.submit("Say no");
    program.open("s:echo waits", "n reject").answer("n", "As you wish.").wait_for("rejected");
    assert_eq!(ran(&place), Vec::<Value>::new());
    let told = model.request(1).last_text();
    assert!(told.contains("reject") && told.contains("not"), "{told}");
}

#[test]
fn a_reason_reaches_the_model() {
    let place = place();
    let model = Model::replies([echo("loud"), Reply::text("Quietly, then.")]);
    let program = start(&place, &model);
    program.submit("Shout");
    program.open("s:echo waits", "r with reason").answer("r", "Why not?");
    // Letters are text here, not choices.
    program.type_text("yes, but say it quietly").wait_for("say it quietly");
    program.answer("enter", "Quietly, then.");
    assert_eq!(ran(&place), Vec::<Value>::new());
    let told = model.request(1).last_text();
    assert!(told.contains("yes, but say it quietly"), "{told}");
}

#[test]
fn edited_arguments_are_what_runs() {
    let place = place();
    let model = Model::replies([Reply::tool("s__add", json!({ "a": 1, "b": 2 })), Reply::text("Done.")]);
    let program = start(&place, &model);
    program.submit("Add");
    program.open("s:add waits", "e edit").answer("e", "⟨Apply⟩");
    // The first field is `a`; what is typed goes behind its value.
    program.wait_quiet(ms(200)).keys(&["end", "bspace"]).type_text("40").wait_for("40");
    program.key("c-s").wait_for("edited by you").wait_for("y once");
    program.next("y once").answer("y", "Done.");
    assert_eq!(ran(&place), [json!({ "a": 40, "b": 2 })]);
    // The model learns what really ran.
    let messages = model.request(1).body["messages"].to_string();
    assert!(messages.contains("42") && messages.contains("40"), "{messages}");
}

#[test]
fn arguments_that_break_the_schema_do_not_leave_the_form() {
    let place = place();
    let model = Model::replies([Reply::tool("s__add", json!({ "a": 1, "b": 2 })), Reply::text("Done.")]);
    let program = start(&place, &model);
    program.submit("Add");
    program.open("s:add waits", "e edit").answer("e", "⟨Apply⟩");
    program.wait_quiet(ms(200)).keys(&["end", "bspace"]).type_text("x").key("c-s");
    program.wait_for("✗ not a number");
    program.key("bspace").type_text("7").key("c-s").wait_for("edited by you");
    program.next("y once").answer("y", "Done.");
    assert_eq!(ran(&place), [json!({ "a": 7, "b": 2 })]);
}

#[test]
fn an_answer_by_hand_is_marked_as_one() {
    let place = place();
    let model = Model::replies([echo("x"), Reply::text("Thanks.")]);
    let program = start(&place, &model);
    program.submit("Echo");
    program.open("s:echo waits", "m by hand").answer("m", "written by you");
    program.type_text("the echo is broken").wait_for("the echo is broken");
    program.answer("enter", "Thanks.").wait_for("by hand");
    assert_eq!(ran(&place), Vec::<Value>::new());
    let told = model.request(1).last_text();
    assert!(told.contains("the echo is broken") && told.contains("user"), "{told}");
}

#[test]
fn what_is_allowed_for_the_session_does_not_ask_again() {
    let place = place();
    let model = Model::replies([echo("one"), echo("two"), Reply::text("Both said.")]);
    let program = start(&place, &model);
    program.submit("Twice");
    program.open("s:echo waits", "s session").answer("s", "Both said.");
    assert_eq!(ran(&place), [json!({ "text": "one" }), json!({ "text": "two" })]);
}

#[test]
fn always_shows_its_rule_first_and_holds_over_restarts() {
    let place = place();
    let model = Model::answering(|request| match request.messages().last() {
        Some(last) if last["role"] == "tool" => Reply::text("Said."),
        _ => echo("always"),
    });
    let mut program = start(&place, &model);
    program.submit("Echo");
    program.open("s:echo waits", "a always").answer("a", "From now on, without asking:");
    assert_eq!(ran(&place).len(), 0);
    program.wait_quiet(ms(800)).answer("enter", "Said.");
    program.quit();
    let program = start(&place, &model);
    program.submit("Echo");
    program.wait_for("Said.");
    assert_eq!(ran(&place).len(), 2);
    // Revoked by hand, it asks again.
    program.key("f3").wait_for("s:echo").key("/").type_text("echo").wait_for("1/").key("enter");
    program.wait_for("granted").key("x").wait_gone("granted");
    // The first Escape ends the filter, the second the list.
    program.key("esc").wait_for("s:fault").key("esc").wait_for("Write a task");
    program.submit("Echo");
    program.wait_for("s:echo waits");
}

#[test]
fn several_wait_and_each_gets_its_own_answer() {
    let place = place();
    let calls = Reply::new().call("s__echo", json!({ "text": "first" })).call("s__echo", json!({ "text": "second" }));
    let model = Model::replies([calls, Reply::text("All answered.")]);
    let program = start(&place, &model);
    program.submit("Both");
    program.wait_for("2 waits").open("s:echo waits", "y once").wait_for("1 of 2 waiting");
    program.wait_for("\n text  first").key("n");
    program.next("\n text  second").answer("y", "All answered.");
    assert_eq!(ran(&place), [json!({ "text": "second" })]);
    let request = model.request(1);
    let results: Vec<&Value> = request.messages().iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), 2);
    assert!(results[0]["content"].to_string().contains("reject"), "{results:?}");
    assert!(results[1]["content"].to_string().contains("second"), "{results:?}");
}

#[test]
fn what_appears_while_typing_takes_no_key() {
    let place = place();
    let model =
        Model::replies([Reply::new().gate("call").call("s__echo", json!({ "text": "x" })), Reply::text("End.")]);
    let program = start(&place, &model);
    program.submit("Echo");
    program.type_text("yes y").wait_for("yes y");
    model.open("call");
    program.wait_for("s:echo waits").type_text("y n s").wait_for("yes yy n s");
    std::thread::sleep(ms(500));
    // The composer is not empty, so Enter queues; it opens nothing.
    program.key("enter").wait_for("1 queued");
    assert_eq!(ran(&place), Vec::<Value>::new());
    assert!(!program.shows("y once"), "{}", program.screen());
    // Empty now: Enter opens it.
    program.key("enter").wait_for("y once");
    program.next("y once").key("esc").wait_for("Ctrl-O opens it");
    assert_eq!(ran(&place), Vec::<Value>::new());
}

#[test]
fn an_interrupt_stops_a_running_tool_and_says_that_it_may_have_run() {
    let place = place();
    let slow = Reply::tool("s__slow", json!({ "steps": 1000, "ms": 50 }));
    let model = Model::replies([slow, Reply::text("Never asked for.")]);
    let mut program = start(&place, &model);
    program.submit("Work");
    program.open("s:slow waits", "y once").answer("y", "step 2");
    program.key("esc").wait_for("interrupted, may have run");
    place.receives("s", |message| message["method"] == "notifications/cancelled");
    program.wait_idle();
    assert_eq!(model.requests().len(), 1, "the turn went on");
    // The server lives, and the conversation goes on with an outcome for the call.
    program.wait_for("1 ready").submit("Go on");
    let messages = model.request(1).body["messages"].to_string();
    assert!(messages.contains("may have run") || messages.contains("may have had"), "{messages}");
    program.wait_for("Never asked for.");
    program.quit();
    place.assert_nothing_left();
}

#[test]
fn an_interrupt_of_the_stream_leaves_it() {
    let place = place();
    let model = Model::replies([Reply::new().say("It begins ").hang()]);
    let program = start(&place, &model);
    program.submit("Talk");
    program.wait_for("It begins").key("esc").wait_for("interrupted").wait_idle();
    model.was_left(1);
}

#[test]
fn writing_a_file_shows_its_diff_and_a_command_its_whole_line() {
    let place = place();
    place.write("work/notes.txt", "one\ntwo\nthree\n");
    let replace = json!({ "path": "notes.txt", "diff": "<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE" });
    let model = Model::replies([
        Reply::tool("replace_in_file", replace),
        Reply::tool("execute_command", json!({ "command": "printf 'a b' > made.txt; echo ok" })),
        Reply::text("Changed."),
    ]);
    let program = start(&place, &model);
    program.submit("Change it");
    program.open("replace_in_file waits", "y once").wait_for("- two").wait_for("+ 2").answer("y", "execute_command");
    assert_eq!(place.read("work/notes.txt"), "one\n2\nthree\n");
    program.open("execute_command waits", "printf 'a b' > made.txt; echo ok").answer("y", "Changed.");
    assert_eq!(place.read("work/made.txt"), "a b");
}
