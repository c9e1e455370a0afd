//! Calls that write: what was approved is what is written.

use crate::body::body;
use crate::calls::{amended, calling, said};
use crate::rig::{Plan, Rig, result_text, served};
use crate::sse_model::ModelServer;
use mcpane::contract::{Event, PromptEvent};
use mcpane::domain::ToolOutcome;
use mcpane::domain::conversation::TurnEnd;
use mcpane::domain::policy::{FileDiff, Preview};
use mcpane::domain::prompt::{Answer, Approval, Closed, Scope};
use mcpane::policy::Effect;
use serde_json::{Value, json};

fn replace<'a>(id: &'a str, search: &str, with: &str) -> (&'a str, &'static str, Value) {
    (id, "replace_in_file", json!({ "path": "a.txt", "search": search, "replace": with }))
}

fn lines(approval: &Approval) -> Vec<String> {
    let Preview::Diff(FileDiff { hunks, .. }) = &approval.check.preview else { panic!("{:?}", approval.check.preview) };
    hunks.iter().flatten().map(|line| format!("{}{}", line.sign, line.text)).collect()
}

/// A file with three lines, and a model that makes these calls on it.
async fn begin(calls: &[(&str, &str, Value)], plan: Plan) -> (ModelServer, Rig) {
    let server = ModelServer::start(vec![calling(calls), said("Done.")]);
    let rig = Rig::new(served(&server), plan);
    std::fs::write(rig.work().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    rig.submit("Edit").await;
    (server, rig)
}

fn file(rig: &Rig) -> String {
    std::fs::read_to_string(rig.work().join("a.txt")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_edit_of_a_file_is_shown_anew_after_the_first() {
    let (server, mut rig) = begin(&[replace("c1", "one", "1"), replace("c2", "two", "2")], Plan::default()).await;
    let (one, _) = rig.asked().await;
    let (two, shown) = rig.asked().await;
    assert_eq!(lines(&shown), [" one", "-two", "+2", " three"]);
    rig.approve(one).await;
    let shown = amended(&mut rig, two).await;
    assert_eq!(lines(&shown), [" 1", "-two", "+2", " three"]);
    assert_eq!(file(&rig), "1\ntwo\nthree\n");
    rig.approve(two).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(file(&rig), "1\n2\nthree\n");
    assert!(body(&server, 2).await.result("c2").contains("Changed 1 place"));
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_approved_at_once_are_asked_again_rather_than_written_unseen() {
    let (_server, mut rig) = begin(&[replace("c1", "one", "1"), replace("c2", "two", "2")], Plan::default()).await;
    let (one, _) = rig.asked().await;
    let (two, _) = rig.asked().await;
    rig.approve(one).await;
    rig.approve(two).await;
    // Whichever way they raced, the second is written only as it was shown last.
    let (again, shown) = rig.asked().await;
    assert_ne!(again, two);
    assert_eq!(lines(&shown), [" 1", "-two", "+2", " three"]);
    assert_eq!(file(&rig), "1\ntwo\nthree\n");
    rig.approve(again).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(file(&rig), "1\n2\nthree\n");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_whose_place_is_gone_fails_and_no_longer_waits() {
    let calls = [replace("c1", "two", "2"), replace("c2", "two\nthree", "rest")];
    let (server, mut rig) = begin(&calls, Plan::default()).await;
    let (one, _) = rig.asked().await;
    let (two, _) = rig.asked().await;
    rig.approve(one).await;
    let Closed::Withdrawn { why } = rig.closed(two).await else { panic!("{}", rig.story()) };
    assert_eq!(why.key, "agent.no_longer", "nobody interrupted anything");
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(file(&rig), "one\n2\nthree\n");
    let told = body(&server, 2).await.result("c2");
    assert!(told.starts_with("The call failed and had no effect:"), "{told}");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_somebody_else_changed_is_shown_again() {
    let (_server, mut rig) = begin(&[replace("c1", "two", "2")], Plan::default()).await;
    let (prompt, _) = rig.asked().await;
    std::fs::write(rig.work().join("a.txt"), "zero\ntwo\n").unwrap();
    rig.approve(prompt).await;
    let (again, shown) = rig.asked().await;
    assert_eq!(lines(&shown), [" zero", "-two", "+2"]);
    assert_eq!(file(&rig), "zero\ntwo\n");
    rig.answer(again, Answer::Reject { reason: None }).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(file(&rig), "zero\ntwo\n");
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn allowed_edits_of_one_file_run_one_after_another() {
    let calls = [replace("c1", "one", "1"), replace("c2", "two", "2"), replace("c3", "three", "3")];
    let (server, mut rig) = begin(&calls, Plan::default().rule(Effect::Allow, "replace_in_file")).await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert_eq!(file(&rig), "1\n2\n3\n");
    let next = body(&server, 2).await;
    for id in ["c1", "c2", "c3"] {
        assert!(next.result(id).contains("Changed 1 place"), "{}", next.result(id));
    }
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_for_writing_covers_the_directory_and_not_what_may_run_later() {
    let write = |id: &'static str, path: &str| (id, "write_to_file", json!({ "path": path, "content": "x\n" }));
    let calls =
        [write("c1", "b.txt"), write("c2", "c/d.txt"), write("c3", ".git/hooks/pre-commit"), write("c4", "../out.txt")];
    let (_server, mut rig) = begin(&calls, Plan::default()).await;
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(rig.asked().await);
    }
    let warned = |n: usize, key: &str| waiting[n].1.check.warnings.iter().any(|warning| warning.key == key);
    assert!(
        warned(2, "policy.writes_protected")
            && warned(3, "policy.writes_outside")
            && !warned(0, "policy.writes_outside")
    );
    rig.answer(waiting[0].0, Answer::Approve { scope: Scope::Session, version: None }).await;
    assert!(matches!(rig.closed(waiting[1].0).await, Closed::Withdrawn { .. }));
    rig.outcome(waiting[1].1.call.id).await;
    assert!(rig.work().join("c/d.txt").exists());
    for (prompt, _) in &waiting[2..] {
        let closed =
            |event: &Event| matches!(event, Event::Prompt(PromptEvent::Closed { prompt: id, .. }) if id == prompt);
        assert!(!rig.seen.iter().any(closed), "it still asks");
        rig.answer(*prompt, Answer::Reject { reason: None }).await;
    }
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(!rig.home.path().join("out.txt").exists());
    rig.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_read_and_written_is_told_with_the_next_task() {
    let server = ModelServer::start(vec![
        calling(&[
            ("c1", "read_file", json!({ "path": "a.txt" })),
            ("c2", "write_to_file", json!({ "path": "b.txt", "content": "b\n" })),
        ]),
        said("Done."),
        said("Yes."),
    ]);
    let mut rig = Rig::new(served(&server), Plan::default().allow_all());
    std::fs::write(rig.work().join("a.txt"), "alpha\n").unwrap();
    rig.submit("Read and write").await;
    assert_eq!(rig.ended_unasked().await, TurnEnd::Done);
    assert!(result_text(&rig.outcomes()[0].1).contains("alpha"));
    assert!(matches!(rig.outcomes()[1].1, ToolOutcome::Done { .. }));
    rig.submit("And?").await;
    rig.ended().await;
    let told = body(&server, 3).await.told();
    assert!(
        told.contains("Read in this session: a.txt\n") && told.contains("Written in this session: b.txt\n"),
        "{told}"
    );
    assert!(told.contains("Files here:\na.txt\nb.txt\n"), "{told}");
    rig.shut_down().await;
}
