//! Ends that come from outside: signals, a reader that goes away. Nothing is left behind.

use crate::rig::{Model, PATIENCE, Place, Reply, ms, task};
use rustix::process::Signal;
use serde_json::json;
use std::time::Instant;

#[test]
fn a_signal_ends_the_turn_and_every_process() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::with_fixtures(&[("s", &["--grandchild"])]);
        let slow = json!({ "steps": 1_000, "ms": 100 });
        let model = Model::replies([Reply::tool("s__slow", slow)]);
        let running = place.launch(&task(&model.url(), &["--approve", "all"], "go")).start();
        place.receives("s", |message| message["method"] == "tools/call");
        running.signal(signal);
        let ran = running.end().with(130).says("Interrupted");
        assert_eq!(ran.out, "");
        // The server was told, and the journal knows.
        place.receives("s", |message| message["method"] == "notifications/cancelled");
        let journal = &place.journals()[0];
        assert!(journal.iter().any(|line| line["entry"] == "turn_end" && line["end"]["end"] == "interrupted"));
        place.assert_nothing_left();
    }
}

#[test]
fn a_signal_while_the_model_speaks_ends_it_too() {
    let place = Place::new();
    let model = Model::replies([Reply::new().say_at_once("half an answer").hang()]);
    let mut running = place.launch(&task(&model.url(), &["--output", "stream-json"], "go")).start();
    running.line_with("half an answer");
    running.signal(Signal::INT);
    let ran = running.end().with(130);
    assert!(ran.out.contains("\"end\":{\"end\":\"interrupted\"}") && ran.out.ends_with("\"closed\"}\n"), "{ran:#?}");
    model.was_left(1);
}

#[test]
fn who_asks_twice_does_not_wait() {
    let place = Place::with_fixtures(&[("s", &["--grandchild", "--linger"])]);
    let slow = json!({ "steps": 1_000, "ms": 100, "deaf": true });
    let model = Model::replies([Reply::tool("s__slow", slow)]);
    let running = place.launch(&task(&model.url(), &["--approve", "all"], "go")).start();
    place.receives("s", |message| message["method"] == "tools/call");
    running.signal(Signal::INT);
    std::thread::sleep(ms(200));
    let asked = Instant::now();
    running.signal(Signal::INT);
    running.end().with(130);
    assert!(asked.elapsed() < ms(3_000), "{:?}", asked.elapsed());
    // The guard ends what is left.
    place.assert_nothing_left();
}

#[test]
fn a_reader_that_goes_away_ends_it_without_a_word() {
    let place = Place::with_fixtures(&[("s", &["--grandchild"])]);
    let slow = json!({ "steps": 1_000, "ms": 20 });
    let model = Model::replies([Reply::tool("s__slow", slow)]);
    let more = ["--output", "stream-json", "--approve", "all"];
    let mut running = place.launch(&task(&model.url(), &more, "go")).start();
    running.line_with("\"progress\"");
    running.close();
    let began = Instant::now();
    let ran = running.end().with(141);
    assert_eq!(ran.err, "");
    assert!(began.elapsed() < PATIENCE / 2);
    place.assert_nothing_left();
    let model = Model::replies([Reply::text("an answer that nobody reads")]);
    let mut running = place.launch(&task(&model.url(), &[], "go")).start();
    running.close();
    let ran = running.end().with(141);
    assert_eq!(ran.err, "");
}

#[test]
fn a_full_disk_is_told() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let place = Place::new();
    let program = crate::rig::place::program();
    let args = ["-c", "exec \"$@\" > /dev/full", "sh", program, "run", "-m", "demo", "hello"];
    let mut launch = crate::rig::Launch::new("/bin/sh", &args);
    launch.cwd(&place.work()).env("HOME", place.home().to_str().unwrap());
    launch.run().with(1).says("Standard output cannot be written");
}
