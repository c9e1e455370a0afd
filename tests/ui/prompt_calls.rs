//! Approvals and the smaller cards: every choice, by key, by arrows and by digit.

use crate::prompt_kit::{Bench, approval, approval_of, forecast, spec};
use mcpane::contract::{Op, PromptEvent};
use mcpane::domain::form::FieldError;
use mcpane::domain::model::{ModelError, ModelErrorKind};
use mcpane::domain::policy::{DiffLine, FileDiff, Preview};
use mcpane::domain::prompt::{Answer, Approval, Choose, Decision, LinkRequest, PromptKind, Scope, TrustRequest};
use mcpane::domain::tool::Risk;
use mcpane::domain::{Phrase, PromptId, ToolId};
use mcpane::strings::Language;
use mcpane::tui::command::Command;
use mcpane::tui::outcome::{Effect, Outcome};
use serde_json::{Value, json};

fn kind(approval: Approval) -> PromptKind {
    PromptKind::Approval(Box::new(approval))
}

fn answer_of(kind: PromptKind, keys: &[&str]) -> Vec<Answer> {
    let mut bench = Bench::new();
    bench.waits(1, kind).open().keys(keys);
    bench.answers().into_iter().map(|(_, answer)| answer).collect()
}

fn approve(scope: Scope) -> Answer {
    Answer::Approve { scope, version: Some(0) }
}

fn reject(reason: Option<&str>) -> Answer {
    Answer::Reject { reason: reason.map(str::to_owned) }
}

#[test]
fn every_choice_has_a_key() {
    for (keys, expected) in [
        (vec!["y"], vec![approve(Scope::Once)]),
        (vec!["s"], vec![approve(Scope::Session)]),
        (vec!["a"], vec![]),
        (vec!["a", "y", "s", "n"], vec![]),
        (vec!["a", "Enter"], vec![approve(Scope::Always)]),
        (vec!["a", "Esc", "y"], vec![approve(Scope::Once)]),
        (vec!["n"], vec![reject(None)]),
        (vec!["r", "=not now", "Enter"], vec![reject(Some("not now"))]),
        (vec!["r", "Enter"], vec![reject(None)]),
        (vec!["r", "=yes", "Esc", "r", "Enter"], vec![reject(Some("yes"))]),
        (vec!["m", "Enter"], vec![]),
        (vec!["m", "=24 C", "Alt-Enter", "=clear", "Enter"], vec![Answer::ByHand { text: "24 C\nclear".into() }]),
        (vec!["q", "x", "Space", "?"], vec![]),
    ] {
        assert_eq!(answer_of(approval(1), &keys), expected, "{keys:?}");
    }
}

#[test]
fn the_same_choices_by_arrows_and_digits() {
    for (keys, expected) in [
        (vec!["Down", "Enter"], approve(Scope::Session)),
        (vec!["Right", "Right", "Left", "Enter"], approve(Scope::Session)),
        (vec!["4", "Enter"], reject(None)),
        (vec!["Down", "Down", "Down", "Up", "Enter", "Esc", "1", "Enter"], approve(Scope::Once)),
    ] {
        assert_eq!(answer_of(approval(1), &keys), [expected], "{keys:?}");
    }
    // A digit alone answers nothing.
    assert_eq!(answer_of(approval(1), &["1"]), []);
}

#[test]
fn a_held_enter_does_not_confirm_the_rule() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().keys(&["Down", "Down", "Enter"]);
    for _ in 0..40 {
        bench.advance(30).press("Enter");
    }
    assert_eq!(bench.answers(), []);
    bench.advance(1_000).press("Enter");
    assert_eq!(bench.answers(), [(1, approve(Scope::Always))]);
}

#[test]
fn always_shows_the_exact_rule() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().press("a");
    let text = bench.text();
    assert!(text.contains("weather:get_forecast, files inside /home/me/proj"), "{text}");
    assert!(text.contains("Only in the project /home/me/proj"), "{text}");
}

#[test]
fn without_a_grant_only_once_is_offered() {
    let mut plain = forecast(1);
    plain.check.grant = None;
    let mut bench = Bench::new();
    bench.waits(1, kind(plain)).open();
    let text = bench.text();
    assert!(!text.contains("session") && !text.contains("always"), "{text}");
    bench.keys(&["s", "a", "Enter"]);
    // `Enter` took the highlighted choice, which is still the first.
    assert_eq!(bench.answers(), [(1, approve(Scope::Once))]);
}

#[test]
fn pasting_answers_nothing() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    bench.prompts.paste("y\n");
    assert_eq!(bench.answers(), []);
    bench.press("r");
    bench.prompts.paste("two\nlines");
    bench.press("Enter");
    assert_eq!(bench.answers(), [(1, reject(Some("two lines")))]);
}

#[test]
fn server_and_annotations_are_always_shown() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    let text = bench.text();
    for words in
        ["(server weather)", "read-only, reaches the outside world", "latitude", "41.5", "Tools of servers ask."]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn amended(mut approval: Approval, arguments: Value) -> PromptEvent {
    approval.call.arguments = arguments;
    PromptEvent::Amended { prompt: PromptId(1), approval: Box::new(approval) }
}

#[test]
fn edited_arguments_are_checked_before_anything_runs() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().keys(&["e", "Backspace", "=9", "Tab"]);
    // The default of an argument that was not given is only shown.
    assert!(bench.text().contains("default 3"));
    bench.press("Ctrl-S");
    let arguments = json!({"latitude": 41.9, "units": "metric"});
    assert_eq!(bench.ops(), [Op::Amend { prompt: PromptId(1), arguments: arguments.clone() }]);
    assert!(bench.text().contains("checking the edited arguments"));
    bench.advance(1_000).press("y");
    assert_eq!(bench.answers(), [], "what is shown is not what would run");
    bench.feed(amended(forecast(1), arguments));
    assert!(bench.text().contains("edited by you") && bench.text().contains("41.9"));
    bench.advance(100).press("y");
    assert_eq!(bench.answers(), [], "nobody can have read it");
    bench.advance(500).press("y");
    assert_eq!(bench.answers(), [(1, approve(Scope::Once))]);
}

#[test]
fn an_optional_argument_that_is_emptied_is_left_out() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().keys(&["e", "Tab", "=7", "Tab", "Backspace", "Ctrl-S"]);
    assert_eq!(bench.ops(), [Op::Amend { prompt: PromptId(1), arguments: json!({"latitude": 41.5, "days": 7}) }]);
}

#[test]
fn bad_arguments_never_leave_the_form() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().keys(&["e", "Ctrl-U", "=999", "Ctrl-S"]);
    assert_eq!(bench.ops(), []);
    assert!(bench.text().contains("at most 90"));
    // The first Esc asks, the second goes back without the changes.
    bench.keys(&["Esc", "Esc", "y"]);
    assert_eq!(bench.answers(), [(1, approve(Scope::Once))]);
}

#[test]
fn arguments_that_were_not_touched_are_sent_as_they_were() {
    let original =
        json!({"latitude": 41.50, "big": 1e300, "text": "a\r\nb\tc ", "nested": {"q": [1, 2.0]}, "other": null});
    let schema = json!({"type": "object", "properties": {
        "latitude": {"type": "number"}, "text": {"type": "string"}, "flag": {"type": "boolean"},
        "nested": {"type": "object", "properties": {"p": {"type": "string"}}}}});
    let spec = spec(ToolId::on(&"s".into(), "t"), Risk::External, schema);
    let approval = approval_of(1, spec, original.clone(), Preview::Arguments);
    let mut bench = Bench::new();
    bench.waits(1, kind(approval.clone())).open().keys(&["e", "Ctrl-S"]);
    assert_eq!(bench.ops(), [], "nothing changed, nothing to check");
    bench.keys(&["e", "Tab", "Tab", "y", "Ctrl-S"]);
    let ops = bench.ops();
    let [Op::Amend { arguments, .. }] = ops.as_slice() else { panic!("{ops:?}") };
    let mut expected = original;
    expected["flag"] = json!(true);
    assert_eq!(arguments, &expected);
    assert_eq!(arguments["nested"].to_string(), expected["nested"].to_string());
}

#[test]
fn arguments_that_are_no_object_are_edited_whole() {
    let spec =
        spec(ToolId::on(&"s".into(), "t"), Risk::External, json!({"type": "array", "items": {"type": "integer"}}));
    let approval = approval_of(1, spec, json!([1, 2]), Preview::Arguments);
    let mut bench = Bench::new();
    bench.waits(1, kind(approval)).open().keys(&["e", "Ctrl-S"]);
    assert_eq!(bench.ops(), []);
    bench.press("e");
    bench.prompts.edited("[3]".into());
    bench.press("Ctrl-S");
    assert_eq!(bench.ops(), [Op::Amend { prompt: PromptId(1), arguments: json!([3]) }]);
}

#[test]
fn arguments_found_wrong_cannot_be_approved() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open();
    let mut wrong = forecast(1);
    wrong.problems = vec![("latitude".into(), FieldError::Schema { problem: "must be even".into() })];
    bench.feed(amended(wrong, json!({"latitude": 7})));
    bench.advance(1_000);
    let text = bench.text();
    assert!(text.contains("latitude: must be even") && !text.contains("y once"), "{text}");
    bench.keys(&["y", "s"]);
    assert_eq!(bench.answers(), []);
    // The form shows it beside the field.
    bench.press("e");
    assert!(bench.text().contains("✗ must be even"));
}

#[test]
fn what_was_amended_elsewhere_does_not_take_an_answer_for_the_old() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().press("a");
    bench.feed(amended(forecast(1), json!({"latitude": -1})));
    bench.press("Enter");
    bench.advance(100).press("Enter");
    assert_eq!(bench.answers(), []);
}

#[test]
fn details_and_help_open_a_layer_and_answer_nothing() {
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).open().press("d");
    let effects = bench.effects();
    let [Effect::Details(details)] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(details.title, "weather:get_forecast");
    let headings: Vec<&str> = details.sections.iter().map(|(heading, _)| heading.as_str()).collect();
    assert_eq!(headings, ["Arguments", "", "Description", "Schema"]);
    bench.press("?");
    assert_eq!(bench.effects(), [Effect::Command(Command::Help)]);
    assert!(bench.prompts.is_open());
    assert_eq!(bench.press("Ctrl-C"), Outcome::Ignored);
}

#[test]
fn a_command_is_shown_whole_whatever_the_size() {
    let command = (0..60).map(|i| format!("step{i:02} --flag")).collect::<Vec<_>>().join(" && ");
    let spec = spec(ToolId::builtin("execute_command"), Risk::Command, json!({"type": "object"}));
    let preview = Preview::Command { command: command.clone(), cwd: "/tmp".into() };
    let approval = approval_of(1, spec, json!({"command": command}), preview);
    let mut bench = Bench::sized(40, 12, Language::En);
    bench.waits(1, kind(approval)).open();
    let mut seen = String::new();
    for _ in 0..60 {
        seen.push_str(&bench.text().replace(['\n', ' ', '┃', '↓', '↑'], ""));
        bench.press("PgDn");
    }
    for i in 0..60 {
        assert!(seen.contains(&format!("step{i:02}")), "step{i:02} was never in sight");
    }
    assert!(bench.text().contains("reject") || bench.text().contains(" n "), "the choices are in sight");
}

#[test]
fn a_diff_scrolls_and_wide_lines_are_not_cut() {
    let line = |n: u32| DiffLine { sign: '+', old: None, new: Some(n), text: format!("行{n} {}", "宽".repeat(70)) };
    let diff = FileDiff {
        path: "大文件.md".into(),
        exists: false,
        added: 50,
        removed: 0,
        hunks: vec![(1..=50).map(line).collect()],
        omitted: 0,
    };
    let spec = spec(ToolId::builtin("write_to_file"), Risk::Write, json!({"type": "object"}));
    let mut bench = Bench::sized(61, 16, Language::Zh);
    bench.waits(1, kind(approval_of(1, spec, json!({}), Preview::Diff(diff)))).open();
    assert!(bench.text().contains("行1 "));
    bench.press("End");
    assert!(bench.text().contains("行50") || bench.text().contains('宽'));
    bench.press("Home");
    assert!(bench.text().contains("大文件.md"));
    bench.press("y");
    assert_eq!(bench.answers(), [(1, approve(Scope::Once))]);
}

fn error() -> ModelError {
    ModelError { kind: ModelErrorKind::Overloaded, message: "busy".into(), status: Some(503), retry_after_ms: None }
}

#[test]
fn decisions() {
    let retry = || PromptKind::Decision(Decision::Retry { attempt: 2, of: 5, error: error() });
    let cut = || PromptKind::Decision(Decision::StreamCut { error: error() });
    let limit = || PromptKind::Decision(Decision::StepLimit { limit: 40 });
    let repeated = || PromptKind::Decision(Decision::Repeated { tool: "a:b".into(), times: 4 });
    let choose = Answer::Choose;
    for (kind, keys, expected) in [
        (retry(), vec!["r"], choose(Choose::Continue)),
        (retry(), vec!["s"], choose(Choose::Stop)),
        (cut(), vec!["r"], choose(Choose::Continue)),
        (limit(), vec!["c"], choose(Choose::Continue)),
        (limit(), vec!["Down", "Enter"], choose(Choose::Stop)),
        (repeated(), vec!["c"], choose(Choose::Continue)),
        (repeated(), vec!["h", "=use 41.7", "Enter"], choose(Choose::Hint { text: "use 41.7".into() })),
        (repeated(), vec!["h", "Enter", "Esc", "s"], choose(Choose::Stop)),
        (PromptKind::Decision(Decision::OffFormat), vec!["c"], choose(Choose::Continue)),
        (PromptKind::Decision(Decision::GaveUp { error: error() }), vec!["r"], choose(Choose::Continue)),
    ] {
        assert_eq!(answer_of(kind, &keys), [expected], "{keys:?}");
    }
    let mut bench = Bench::new();
    bench.waits_for(1, retry(), Some(4_000));
    assert!(bench.text().contains("Try 2 of 5 in 4 s"), "{}", bench.text());
    bench.open();
    let text = bench.text();
    assert!(text.contains("Try 2 of 5 in 2 s") && text.contains("HTTP 503"), "{text}");
    bench.advance(2_500);
    assert!(bench.text().contains("Try 2 of 5 begins"));
}

#[test]
fn a_link_is_opened_only_by_a_key_that_says_so() {
    let url = "https://mcp.example/login?state=abc";
    let link = || {
        let request = LinkRequest { server: "github".into(), message: "Sign in.".into(), url: url.into() };
        PromptKind::Link(request)
    };
    let mut bench = Bench::new();
    bench.waits(1, link()).open();
    assert!(bench.text().contains(url));
    bench.advance(1_000).press("o");
    assert_eq!(bench.effects(), [Effect::OpenUrl(url.into())]);
    assert!(bench.prompts.is_open(), "it waits until the user says done");
    bench.press("c");
    assert_eq!(bench.effects(), [Effect::Copy(url.into())]);
    bench.press("Enter");
    assert_eq!(bench.sent(), Some(json!({})));
    assert_eq!(answer_of(link(), &["Alt-D"]), [Answer::Decline]);
    assert_eq!(answer_of(link(), &["Esc"]), [Answer::Cancel]);
    // Typed ahead it opens nothing.
    let mut bench = Bench::new();
    bench.waits(1, approval(1)).waits(2, link()).open().press("y");
    bench.advance(100).press("o");
    assert_eq!(bench.ops().len(), 1);
    // What is no web address is not opened at all.
    let mut bench = Bench::new();
    let request = LinkRequest { server: "x".into(), message: String::new(), url: "file:///etc/passwd".into() };
    bench.waits(1, PromptKind::Link(request)).open().press("o");
    assert_eq!(bench.effects(), []);
    assert!(bench.text().contains("not opened from here"));
}

#[test]
fn trust_shows_every_command_line() {
    let trust = || {
        let servers = vec![("db".into(), "uvx mcp-server-sqlite --db-path /var/data/db.sqlite".into())];
        let changes = vec![DiffLine { sign: '+', old: None, new: Some(4), text: "\"--all\"".into() }];
        PromptKind::Trust(TrustRequest { file: "./.mcp.json".into(), servers, changes })
    };
    assert_eq!(answer_of(trust(), &["y"]), [Answer::Trust { yes: true }]);
    assert_eq!(answer_of(trust(), &["n"]), [Answer::Trust { yes: false }]);
    assert_eq!(answer_of(trust(), &["Down", "Enter"]), [Answer::Trust { yes: false }]);
    assert_eq!(answer_of(trust(), &["Esc"]), []);
    let mut bench = Bench::new();
    bench.waits(1, trust()).open();
    let text = bench.text();
    for words in ["./.mcp.json", "uvx mcp-server-sqlite --db-path /var/data/db.sqlite", "changed", "+ \"--all\""] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn warnings_and_impossible_writes_stand_out() {
    let mut approval = forecast(1);
    approval.check.warnings = vec![Phrase::literal("Outside the working directories.")];
    approval.check.preview = Preview::Impossible { why: "The search text is not in the file.".into() };
    let mut bench = Bench::new();
    bench.waits(1, kind(approval)).open();
    let text = bench.text();
    assert!(text.contains("▲ Outside the working directories."), "{text}");
    assert!(text.contains("✗ The search text is not in the file."), "{text}");
}
