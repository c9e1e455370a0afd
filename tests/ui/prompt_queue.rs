//! What waits: order, opening, expiry, and that nothing answers twice or by accident.

use crate::prompt_kit::{Bench, approval, form};
use mcpane::contract::PromptEvent;
use mcpane::domain::form::FieldError;
use mcpane::domain::prompt::{Answer, Closed, PromptKind, Question, Scope};
use mcpane::domain::{CallId, Phrase, PromptId};
use mcpane::tui::outcome::{Effect, Outcome};
use serde_json::json;
use std::time::Duration;

fn text_form() -> PromptKind {
    form(json!({"x": {"type": "string"}}), &["x"])
}

fn once() -> Answer {
    Answer::Approve { scope: Scope::Once, version: Some(0) }
}

#[test]
fn nothing_opens_by_itself() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).waits(2, text_form());
    assert_eq!((bench.prompts.waiting(), bench.prompts.is_open()), (2, false));
    assert_eq!(bench.press("y"), Outcome::Ignored);
    assert_eq!(bench.prompts.paste("y"), Outcome::Ignored);
    assert_eq!(bench.effects(), []);
    let text = bench.text();
    assert!(
        text.contains("weather:get_forecast waits") && text.contains("2 wait") && text.contains("Ctrl-O opens it"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn enter_opens_only_what_has_stood_for_a_while() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).advance(399);
    assert!(!bench.prompts.may_open_by_enter(bench.now));
    bench.advance(1);
    assert!(bench.prompts.may_open_by_enter(bench.now));
    // What comes to the front has to stand there anew.
    bench.waits(2, approval(2)).advance(5_000).closed(1, Closed::Expired);
    assert!(!bench.prompts.may_open_by_enter(bench.now));
    bench.advance(400);
    assert!(bench.prompts.may_open_by_enter(bench.now));
}

#[test]
fn a_call_finds_its_prompt() {
    let mut bench = Bench::new();
    bench.waits(1, text_form()).waits(2, approval(7)).advance(1_000);
    assert_eq!(bench.prompts.for_call(CallId(7)), Some(PromptId(2)));
    assert_eq!(bench.prompts.for_call(CallId(8)), None);
    assert!(bench.prompts.open(PromptId(2), bench.now));
    bench.press("y");
    assert_eq!(bench.answers(), [(2, once())]);
    assert_eq!(bench.prompts.opened(), Some(PromptId(1)), "the next one that waits");
}

#[test]
fn typing_ahead_does_not_answer_the_next() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).waits(2, approval(2)).waits(3, approval(3)).open();
    assert!(matches!(bench.press("y"), Outcome::Emit(_)));
    bench.advance(80).press("y");
    bench.advance(80).press("y");
    assert_eq!(bench.answers(), [(1, once())]);
    assert!(bench.text().contains("Too quick"));
    bench.advance(1_000).press("y");
    assert_eq!(bench.answers(), [(2, once())]);
    bench.advance(320).press("n");
    assert_eq!(bench.answers(), [(3, Answer::Reject { reason: None })]);
    assert!(!bench.prompts.is_open());
}

#[test]
fn a_held_key_answers_one_prompt_only() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).waits(2, approval(2)).open().press("y");
    bench.advance(600);
    for _ in 0..100 {
        bench.advance(30).press("y");
    }
    bench.repeat("y");
    assert_eq!(bench.answers(), [(1, once())]);
    bench.advance(5_000).repeat("y");
    assert_eq!(bench.answers(), [], "a reported repeat never answers");
}

#[test]
fn the_enter_that_opened_it_does_not_answer_it() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open_now();
    for wait in [0, 250, 250] {
        bench.advance(wait).press("Enter");
    }
    assert_eq!(bench.answers(), []);
    bench.advance(800).press("Enter");
    assert_eq!(bench.answers(), [(1, once())]);
}

#[test]
fn what_came_a_moment_ago_must_be_seen_first() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).advance(50);
    assert!(bench.prompts.open_next(bench.now));
    bench.press("y");
    assert_eq!(bench.answers(), []);
    bench.advance(400).press("y");
    assert_eq!(bench.answers(), [(1, once())]);
}

#[test]
fn letters_typed_ahead_do_not_fall_into_the_next_form() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).waits(2, text_form()).open().press("y");
    bench.advance(50).type_text("yyy");
    bench.advance(1_000).keys(&["=v", "Enter"]);
    let answers = bench.answers();
    assert_eq!(answers[1], (2, Answer::Submit { values: json!({"x": "v"}).as_object().unwrap().clone() }));
}

#[test]
fn back_means_still_waiting() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    assert_eq!(bench.press("Esc"), Outcome::Close(Vec::new()));
    assert_eq!((bench.prompts.waiting(), bench.prompts.is_open()), (1, false));
    // The key that opens it puts a form back too, with what was typed.
    let mut bench = Bench::new();
    bench.waits(1, text_form()).open().press("=abc");
    assert_eq!(bench.press("Ctrl-O"), Outcome::Close(Vec::new()));
    bench.open().keys(&["=d", "Enter"]);
    assert_eq!(bench.sent(), Some(json!({"x": "abcd"})));
}

#[test]
fn each_is_answered_once() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().press("y");
    assert_eq!(bench.answers().len(), 1);
    assert!(!bench.prompts.open(PromptId(1), bench.now) && !bench.prompts.open_next(bench.now));
    assert_eq!((bench.prompts.waiting(), bench.prompts.for_call(CallId(1))), (0, None));
    bench.closed(1, Closed::Answered { answer: once() }).closed(1, Closed::Expired);
    assert_eq!(bench.effects(), []);
}

#[test]
fn a_refused_answer_waits_again_with_what_is_wrong() {
    let mut bench = Bench::new();
    bench.waits(1, text_form()).waits(2, approval(2)).open().keys(&["=abc", "Enter"]);
    assert_eq!(bench.answers().len(), 1);
    bench.advance(1_000).press("Esc");
    let problems = vec![
        ("x".to_owned(), FieldError::TooShort { min: 4 }),
        (String::new(), FieldError::Schema { problem: "x and y exclude each other".into() }),
    ];
    bench.feed(PromptEvent::Refused { prompt: PromptId(1), problems });
    assert!(matches!(bench.effects().as_slice(), [Effect::Notice(_)]));
    assert_eq!((bench.prompts.waiting(), bench.prompts.is_open()), (2, false));
    bench.open();
    assert_eq!(bench.prompts.opened(), Some(PromptId(1)), "at its old place");
    let text = bench.text();
    assert!(text.contains("at least 4 characters") && text.contains("exclude each other"), "{text}");
    bench.keys(&["=d", "Enter"]);
    assert_eq!(bench.sent(), Some(json!({"x": "abcd"})));
}

#[test]
fn an_expired_form_keeps_its_text_for_a_new_try() {
    let mut bench = Bench::new();
    bench.waits_for(1, text_form(), Some(300_000)).open().press("=abc");
    bench.press("Ctrl-O");
    bench.closed(1, Closed::Expired);
    assert!(
        matches!(bench.effects().as_slice(), [Effect::Notice(notice)] if notice.text.key == "prompt.ended.expired_form")
    );
    // Another server's or another form does not get it.
    bench.waits(2, form(json!({"x": {"type": "integer"}}), &["x"])).open();
    assert!(!bench.text().contains("abc"));
    bench.press("Esc");
    bench.waits(3, text_form()).open().keys(&["=d", "Enter"]);
    bench.effects().retain(|effect| !matches!(effect, Effect::Notice(_)));
    assert!(!bench.prompts.is_open());
}

#[test]
fn a_form_that_ends_while_it_is_open_still_takes_what_is_typed() {
    let mut bench = Bench::new();
    bench.waits(1, text_form()).waits(2, approval(2)).open().press("=abc");
    bench.closed(1, Closed::Expired);
    assert!(bench.prompts.is_open(), "keys that were meant for it go nowhere else");
    assert_eq!((bench.prompts.opened(), bench.prompts.waiting()), (None, 1));
    assert!(bench.text().contains("has run out and answered cancel"));
    bench.press("=d");
    assert_eq!(bench.press("Enter"), Outcome::Close(Vec::new()));
    assert_eq!(bench.answers(), [], "it answered already");
    bench.waits(3, text_form());
    assert!(bench.prompts.open(PromptId(3), bench.now));
    bench.advance(1_000).press("Ctrl-S");
    assert_eq!(bench.sent(), Some(json!({"x": "abcd"})));
}

#[test]
fn an_approval_that_ends_while_it_is_open_says_so() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    bench.closed(1, Closed::Withdrawn { why: Phrase::new("agent.interrupted") });
    assert!(bench.text().contains("interrupted"));
    assert_eq!(bench.press("y"), Outcome::Consumed);
    assert_eq!(bench.press("Esc"), Outcome::Close(Vec::new()));
    assert_eq!(bench.answers(), []);
}

#[test]
fn time_stands_still_while_the_program_is_suspended() {
    let mut bench = Bench::new();
    bench.waits_for(1, text_form(), Some(60_000));
    bench.advance(10_000);
    bench.prompts.hold(bench.now);
    bench.advance(600_000);
    assert!(bench.text().contains("0:50"));
    bench.prompts.go(bench.now);
    assert!(bench.text().contains("0:50"));
    bench.advance(20_000);
    assert!(bench.text().contains("0:30"));
}

#[test]
fn it_is_drawn_anew_once_a_second_while_it_counts_down_and_else_never() {
    let mut bench = Bench::new();
    assert_eq!(bench.prompts.next_deadline(bench.now), None);
    bench.waits(1, approval(1));
    assert_eq!(bench.prompts.next_deadline(bench.now), None);
    let mut bench = Bench::new();
    bench.waits_for(1, text_form(), Some(3_500));
    let mut deadlines = Vec::new();
    let start = bench.now;
    while let Some(at) = bench.prompts.next_deadline(bench.now) {
        assert!(at > bench.now && at - bench.now <= Duration::from_secs(1));
        bench.now = at;
        deadlines.push((at - start).as_millis());
    }
    assert_eq!(deadlines, [500, 1_500, 2_500, 3_500]);
}

#[test]
fn another_session_begins_with_nothing() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    bench.prompts.clear();
    assert_eq!((bench.prompts.waiting(), bench.prompts.is_open()), (0, false));
    assert_eq!(bench.draw().0.area.height, 0);
}

#[test]
fn a_question_takes_a_proposed_or_any_other_answer() {
    let question = || {
        let options = vec!["result.md".to_owned(), "docs/result.md".to_owned()];
        PromptKind::Question(Question { text: "Which file?".into(), options })
    };
    for (keys, expected) in [
        (vec!["Down", "Enter"], Some("docs/result.md")),
        (vec!["2", "Enter"], Some("docs/result.md")),
        (vec!["=neither", "Enter"], Some("neither")),
        (vec!["Down", "Down", "Enter"], None),
        (vec!["=x", "Up", "Up", "Enter"], Some("result.md")),
        (vec!["=a", "Alt-Enter", "=b", "Enter"], Some("a\nb")),
        (vec!["9", "Enter"], Some("9")),
    ] {
        let mut bench = Bench::new();
        bench.waits(1, question()).open().keys(&keys);
        let expected: Vec<_> = expected.iter().map(|text| (1, Answer::Text { text: (*text).to_owned() })).collect();
        assert_eq!(bench.answers(), expected, "{keys:?}");
    }
    let mut bench = Bench::new();
    bench.waits(1, PromptKind::Question(Question { text: "Why?".into(), options: Vec::new() })).open();
    bench.keys(&["=because", "Esc"]);
    bench.open().keys(&["=!", "Enter"]);
    assert_eq!(bench.answers(), [(1, Answer::Text { text: "because!".into() })]);
}
