//! `kill -9` at any moment: what was finished is there again, what was running says that it may have run, and no process is left.
#![cfg(target_os = "linux")]

use crate::rig::{Model, Place, Program, Reply, ms, place};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Moments that are tried.
const MOMENTS: u64 = 20;
/// How many are tried at once.
const AT_ONCE: u64 = 4;
/// When the last of them is: a little after everything is over.
const LATEST: Duration = ms(3_000);
/// The draft on disk is at most a second old; writing it takes a moment too.
const DRAFT_AGE: Duration = ms(1_600);

/// Ways in which servers are started in the wild: by themselves, by a shell that waits for them, by a launcher that starts them in a group of their own.
fn server(place: &Place, way: u64) -> Value {
    let fixture = place::fixture().display().to_string();
    let (command, args) = match way % 3 {
        0 => (fixture, vec!["--grandchild".to_owned()]),
        1 => ("sh".into(), vec!["-c".into(), format!("exec 3<&0; '{fixture}' --grandchild --linger <&3 & wait")]),
        _ => {
            let launcher = format!("#!/bin/bash\nset -m\nexec 3<&0\n'{fixture}' \"$@\" <&3 &\nwait\n");
            let path = place.write("bin/launcher", launcher);
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            (path.display().to_string(), vec!["--linger".into(), "--grandchild".into()])
        }
    };
    json!({ "command": command, "args": args, "env": place.fixture_env("s") })
}

/// Two quick calls, a slow one, and an answer that takes its time.
fn model() -> Model {
    let words: Vec<String> = (1..=25).map(|n| format!("word{n}")).collect();
    Model::answering(move |request| {
        let results = request.messages().iter().filter(|message| message["role"] == "tool").count();
        match (request.last_text().contains("Go on"), results) {
            (true, _) => Reply::text("It goes on."),
            (_, 0) => Reply::new()
                .think("First thought. ")
                .call("s__echo", json!({ "text": "alpha" }))
                .call("s__echo", json!({ "text": "beta" })),
            (_, 2) => Reply::new().think("Second thought. ").call("s__slow", json!({ "steps": 12, "ms": 50 })),
            _ => Reply::new().say_slowly(&words.join(" "), ms(30)).say(" omega."),
        }
    })
}

/// Types until it is time; what had been typed when.
fn type_until(program: &Program, end: Instant) -> Vec<(char, Instant)> {
    let mut typed = Vec::new();
    for letter in "the draft that was being written when it happened".chars().cycle().take(100) {
        if Instant::now() + ms(45) > end {
            break;
        }
        program.send(letter.to_string());
        typed.push((letter, Instant::now()));
        std::thread::sleep(ms(45));
    }
    std::thread::sleep(end.saturating_duration_since(Instant::now()));
    typed
}

/// The texts of items in a journal.
fn written(journal: &[Value]) -> String {
    journal.iter().filter(|entry| entry.get("item").is_some()).map(ToString::to_string).collect()
}

fn one_moment(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    // Most happens at the beginning, so most moments are there.
    let (way, after) = (random.u64(..), LATEST.mul_f64(random.f64().powi(2)));
    let about = format!("seed {seed}: launcher {}, killed {after:?} after the task was sent", way % 3);
    let place = Place::new();
    place.servers(json!({ "s": server(&place, way) }));
    place.settings("[rules]\nallow = [\"s:*\"]\n");
    let model = model();
    let url = model.url();
    let mut program = place.launch(&["-m", "test-model", "--base-url", &url]).start();
    program.wait_for("1 ready").submit("Do the job");
    let end = Instant::now() + after;
    let typed = type_until(&program, end);
    program.signal(Signal::KILL);
    let killed = Instant::now();
    program.wait_exit();
    let seen = program.screen();
    place.assert_nothing_left();

    // The journal holds what was finished on the screen.
    let journal = place.journals().pop().unwrap_or_default();
    let items = written(&journal);
    let outcomes = journal.iter().filter(|entry| entry.get("outcome").is_some()).count();
    assert!(
        outcomes >= seen.matches("✓ s:").count(),
        "{about}: a finished call is not in the journal\n{seen}\n{journal:#?}"
    );
    let was_over = seen.contains("omega.") && !seen.contains("Answering");
    assert!(!was_over || items.contains("omega."), "{about}: the finished answer is not in the journal\n{seen}");

    // And it is on the screen again.
    let mut program = place.launch(&["-m", "test-model", "--base-url", &url, "--continue"]).start();
    program.wait("a session", |screen| screen.contains("Do the job") || screen.contains("no session to go on with"));
    program.wait_quiet(ms(300));
    let back = program.screen();
    let context = format!("{about}\n--- before ---\n{seen}\n--- after ---\n{back}\n{journal:#?}");
    if journal.is_empty() {
        assert!(!seen.contains("Do the job"), "what was sent is lost; {context}");
        return;
    }
    for text in ["First thought.", "Second thought.", "omega."] {
        assert_eq!(back.contains(text), items.contains(text), "{text}: {context}");
    }
    assert!(back.matches("✓ s:").count() >= seen.matches("✓ s:").count(), "{context}");
    let started = journal.iter().filter(|entry| entry["entry"] == "started").count();
    let unfinished = started.saturating_sub(outcomes);
    assert_eq!(back.matches("interrupted, may have run").count(), unfinished, "{context}");
    assert!(!back.contains("y once") && !back.contains("opens it"), "something waits: {context}");
    draft(&typed, killed, &back, &context);
    eprintln!("{about}: {started} started, {outcomes} ended, {unfinished} may have run, {} letters typed", typed.len());

    // The conversation goes on, and every call in it has its one result.
    let asked = model.requests().len();
    if !program.shows("Write a task") {
        program.key("c-c").wait_for("Write a task");
    }
    program.submit("Go on").wait_for("It goes on.");
    let request = model.request(asked);
    let calls: Vec<&Value> = request.messages().iter().filter_map(|m| m["tool_calls"].as_array()).flatten().collect();
    for call in &calls {
        let results = request.messages().iter().filter(|m| m["tool_call_id"] == call["id"]).count();
        assert_eq!(results, 1, "{}: {context}", call["id"]);
    }
    program.quit();
    place.assert_nothing_left();
}

/// The draft is a beginning of what was typed, and misses at most its last second.
fn draft(typed: &[(char, Instant)], killed: Instant, back: &str, context: &str) {
    let all: String = typed.iter().map(|(letter, _)| letter).collect();
    let old: String = typed.iter().take_while(|(_, at)| *at + DRAFT_AGE < killed).map(|(letter, _)| letter).collect();
    let line = back.lines().rev().find_map(|line| line.strip_prefix(" › ")).unwrap_or_default().trim_end();
    let line = if line.starts_with("Write a task") { "" } else { line };
    assert!(all.starts_with(line), "the draft {line:?} is not the beginning of {all:?}: {context}");
    assert!(line.len() >= old.trim_end().len(), "the draft {line:?} is older than {old:?}: {context}");
}

#[test]
fn killed_at_any_moment_nothing_finished_is_lost_and_nothing_is_left() {
    let seed = std::env::var("MCPANE_E2E_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..u64::from(u32::MAX)));
    eprintln!("MCPANE_E2E_SEED={seed} repeats these moments");
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            scope.spawn(move || {
                for number in (worker..MOMENTS).step_by(usize::try_from(AT_ONCE).unwrap()) {
                    one_moment(seed + number);
                }
            });
        }
    });
}

#[test]
fn two_sessions_in_one_folder_do_not_take_each_others() {
    let place = Place::new();
    let model = Model::answering(|request| Reply::text(&format!("Heard {}.", request.messages().len())));
    let url = model.url();
    let args = ["-m", "test-model", "--base-url", &url];
    let first = place.launch(&args).start();
    first.wait_for("Write a task").submit("I am the first").wait_for("Heard").wait_idle();
    let mut second = place.launch(&args).start();
    second.wait_for("Write a task").submit("I am the second").wait_for("Heard").wait_idle();
    second.quit();
    // The first lives, so it is the second that goes on.
    let again = place.launch(&[&args[..], &["--continue"]].concat()).start();
    again.wait_for("I am the second");
    let third = place.launch(&[&args[..], &["--continue"]].concat()).start();
    third.wait_for("no session to go on with");
    let kept = place.journals().iter().filter(|journal| !journal.is_empty()).count();
    assert_eq!(kept, 2);
}
