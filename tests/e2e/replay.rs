//! Recordings on the screen, and sessions by their names.

use crate::rig::{Model, Place, Reply, ms};
use serde_json::json;

/// A session on the screen that is recorded: a thought, a call that is approved, an answer.
fn recorded(place: &Place) {
    place.write("work/notes.txt", "the note\n");
    let call = Reply::new().think("I must look").call("execute_command", json!({ "command": "cat notes.txt" }));
    let model = Model::replies([call, Reply::text("It says so.")]);
    let url = model.url();
    let args = ["-m", "test-model", "--base-url", &url, "--record", "r.jsonl"];
    let mut program = place.launch(&args).start();
    program.wait_for("Write a task").submit("what do the notes say?");
    program.open("execute_command", "cat notes.txt").answer("y", "It says so.").wait_idle();
    program.quit();
}

#[test]
fn a_recording_is_seen_step_by_step() {
    let place = Place::new();
    recorded(&place);
    let mut program = place.launch(&["replay", "r.jsonl"]).start();
    program.wait_for("what do the notes say?").wait_for("recording:").wait_quiet(ms(300));
    assert!(!program.shows("I must look"), "{}", program.screen());
    program.key("space").wait_for("I must look").wait_quiet(ms(300));
    assert!(!program.shows("It says so."), "{}", program.screen());
    // What waited then waits here; nothing can be typed.
    program.key("space").wait_for("cat notes.txt").type_text("zzz").wait_quiet(ms(200));
    assert!(!program.shows("zzz"), "{}", program.screen());
    for _ in 0..12 {
        program.key("space");
        std::thread::sleep(ms(60));
    }
    program.wait_for("It says so.").wait_for("the end");
    program.key("q");
    program.assert_exit(0);
    assert!(!program.written().contains("--continue"), "there is nothing to go on with");
    place.assert_nothing_left();
}

#[test]
fn a_recording_plays_in_its_own_time() {
    let place = Place::new();
    recorded(&place);
    let mut program = place.launch(&["replay", "r.jsonl", "--speed", "8"]).start();
    program.wait_for("8 times as fast").wait_for("It says so.").wait_for("the end");
    program.key("c-c");
    program.assert_exit(0);
}

#[test]
fn a_journal_is_played_too() {
    let place = Place::new();
    recorded(&place);
    let sessions = place.path("home/.local/share/mcpane/sessions");
    let project = std::fs::read_dir(sessions).unwrap().flatten().next().unwrap().path();
    let journals = std::fs::read_dir(project).unwrap().flatten().map(|entry| entry.path());
    let journal = journals.into_iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap();
    let mut program = place.launch(&["replay", journal.to_str().unwrap(), "--speed", "20"]).start();
    program.wait_for("what do the notes say?").wait_for("I must look").wait_for("It says so.").wait_for("the end");
    program.key("q");
    program.assert_exit(0);
    place.write("work/none.txt", "nothing\n");
    let mut program = place.launch(&["replay", "none.txt"]).start();
    program.assert_exit(2);
    assert!(program.written().contains("neither a recording"), "{}", program.written());
}

#[test]
fn a_session_is_opened_by_its_id_and_listed_without_one() {
    let place = Place::new();
    recorded(&place);
    let id = place.journals()[0][0]["id"].as_str().unwrap().to_owned();
    let mut program = place.launch(&["--resume"]).start();
    program.assert_exit(2);
    let written = program.written();
    assert!(written.contains(&id) && written.contains("mcpane --resume ID"), "{written}");
    let mut program = place.launch(&["-m", "demo", "--resume", &id]).start();
    program.wait_for("what do the notes say?").wait_for("It says so.");
    program.quit();
    let mut program = place.launch(&["-m", "demo", "--resume", "no-such"]).start();
    program.assert_exit(2);
    assert!(program.written().contains("There is no session no-such"), "{}", program.written());
}
