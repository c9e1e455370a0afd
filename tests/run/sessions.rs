//! Sessions that were kept.

use crate::rig::{Model, Place, Reply, ms, task};
use serde_json::{Value, json};

fn two(place: &Place) -> [String; 2] {
    place.write("work/notes.txt", "the note\n");
    let model = Model::replies([
        Reply::text("hello \u{1b}[31mthere"),
        Reply::new().think("I read").call("read_file", json!({ "path": "notes.txt" })),
        Reply::text("It says: the note"),
    ]);
    place.launch(&task(&model.url(), &[], "the older\ntask")).run().with(0);
    std::thread::sleep(ms(1_100));
    place.launch(&task(&model.url(), &[], "the newer task")).run().with(0);
    let journals = place.journals();
    [0, 1].map(|n| journals[n][0]["id"].as_str().unwrap().to_owned())
}

#[test]
fn they_are_listed_shown_exported_and_removed() {
    let place = Place::new();
    let run = |args: &[&str]| place.launch(&[&["sessions"], args].concat()).run();
    let ran = run(&["list"]).with(0);
    assert!(ran.out.contains("no sessions"), "{ran:#?}");
    let [older, newer] = two(&place);

    let ran = run(&["list"]).with(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with(&newer) && lines[0].ends_with("the newer task"), "{ran:#?}");
    assert!(lines[1].starts_with(&older) && lines[1].ends_with("the older task"), "{ran:#?}");
    let listed = run(&["list", "--json"]).with(0).lines();
    assert_eq!((&listed[1]["id"], &listed[1]["turns"]), (&json!(older), &json!(1)));
    // From another folder only with --all.
    std::fs::create_dir(place.path("work/sub")).unwrap();
    assert!(run(&["list", "-C", "sub"]).with(0).out.contains("no sessions"));
    assert_eq!(run(&["list", "-C", "sub", "--all"]).with(0).out.lines().count(), 2);

    let shown = run(&["show", &older]).with(0).out;
    assert!(shown.contains("the older\ntask") && shown.contains("hello ␛[31mthere"), "{shown}");
    let md = run(&["export", &newer]).with(0).out;
    for part in ["the newer task", "> I read", "read_file", "the note", "It says: the note"] {
        assert!(md.contains(part), "{part:?} in {md}");
    }
    let exported: Value = serde_json::from_str(&run(&["export", &newer, "--output", "json"]).with(0).out).unwrap();
    assert_eq!(exported["conversation"]["turns"][0]["input"]["text"], "the newer task");
    assert_eq!(exported["id"], newer);

    run(&["show", "2"]).with(1).says("Several sessions are called 2");
    run(&["show", "nonsense"]).with(1).says("There is no session nonsense");
    run(&["rm", &older, "nonsense"]).with(1).says("nonsense");
    let left = run(&["list"]).with(0).out;
    assert!(left.starts_with(&newer) && left.lines().count() == 1, "{left}");
}

#[test]
fn one_that_runs_is_not_removed() {
    let place = Place::new();
    let model = Model::replies([Reply::new().say_at_once("half").hang()]);
    let mut running = place.launch(&task(&model.url(), &["--output", "stream-json"], "busy")).start();
    running.line_with("half");
    let id = place.journals()[0][0]["id"].as_str().unwrap().to_owned();
    let list = place.launch(&["sessions", "list"]).run().with(0);
    assert!(list.out.contains("open"), "{list:#?}");
    place.launch(&["sessions", "rm", &id]).run().with(1).says("is open in another mcpane");
    place.launch(&task(&model.url(), &["-r", &id], "me too")).run().with(2).says("is open in another mcpane");
    running.signal(rustix::process::Signal::INT);
    running.end().with(130);
    place.launch(&["sessions", "rm", &id]).run().with(0);
    assert_eq!(place.journals().len(), 0);
}
