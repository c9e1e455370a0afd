//! Every kind of field: at its default, invalid, corrected, omitted; what leaves the form is what the server gets.

use crate::prompt_kit::{Bench, empty_form, fill, form, form_of};
use mcpane::domain::prompt::Answer;
use mcpane::strings::Language;
use mcpane::tui::outcome::{Effect, Outcome};
use serde_json::{Value, json};

fn sends(schema: Value, required: bool, keys: &[&str], expected: Value) {
    assert_eq!(fill(schema.clone(), required, keys), Some(expected), "{schema} {keys:?}");
}

fn keeps(schema: Value, required: bool, keys: &[&str]) {
    assert_eq!(fill(schema.clone(), required, keys), None, "{schema} {keys:?}");
}

#[test]
fn text() {
    let short = json!({"type": "string", "minLength": 2, "maxLength": 4});
    sends(json!({"type": "string", "default": "abc"}), true, &["Ctrl-S"], json!({"x": "abc"}));
    sends(short.clone(), false, &["Ctrl-S"], json!({}));
    keeps(short.clone(), true, &["Ctrl-S"]);
    keeps(short.clone(), true, &["=a", "Ctrl-S"]);
    keeps(short.clone(), true, &["=abcde", "Enter"]);
    sends(short.clone(), true, &["=abcde", "Enter", "Backspace", "Enter"], json!({"x": "abcd"}));
    // Characters, not bytes or columns.
    sends(short.clone(), true, &["=纽约明天", "Enter"], json!({"x": "纽约明天"}));
    // An optional one that is emptied again is left out.
    sends(json!({"type": "string", "default": "a"}), false, &["Backspace", "Ctrl-S"], json!({}));
    sends(json!({"type": "string"}), false, &["=?nyq 1", "Enter"], json!({"x": "?nyq 1"}));
}

#[test]
fn text_with_pattern_and_formats() {
    let pattern = json!({"type": "string", "pattern": "^[a-z]+$"});
    keeps(pattern.clone(), true, &["=Ab", "Enter"]);
    sends(pattern, true, &["=Ab", "Enter", "Ctrl-U", "=ab", "Enter"], json!({"x": "ab"}));
    for (format, bad, good) in [
        ("email", "octo@", "octo@cat.example"),
        ("uri", "cat.example", "https://cat.example/x"),
        ("date", "2026-02-30", "2026-02-28"),
        ("date-time", "2026-02-28 09:00", "2026-02-28T09:00:00+08:00"),
    ] {
        let schema = json!({"type": "string", "format": format});
        let (bad, good_keys) = (format!("={bad}"), format!("={good}"));
        keeps(schema.clone(), true, &[&bad, "Enter"]);
        sends(schema.clone(), true, &[&bad, "Enter", "Ctrl-U", &good_keys, "Enter"], json!({"x": good}));
        sends(schema, false, &["Enter"], json!({}));
    }
}

#[test]
fn text_of_several_lines() {
    let mut bench = Bench::new();
    let properties = json!({"content": {"type": "string", "default": "one\ntwo"}, "y": {"type": "string"}});
    bench.waits(1, form(properties, &[])).open();
    bench.keys(&["Enter", "=three", "Up", "Up", "Up", "=!", "Tab", "=z", "Enter"]);
    assert_eq!(bench.sent(), Some(json!({"content": "one!\ntwo\nthree", "y": "z"})));
}

#[test]
fn pasted_text() {
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": {"type": "string"}, "n": {"type": "integer"}}), &["x"])).open();
    bench.prompts.paste("two\nlines\n");
    bench.press("Tab");
    bench.prompts.paste(" 42 \n");
    bench.press("Enter");
    assert_eq!(bench.sent(), Some(json!({"x": "two lines", "n": 42})));
}

#[test]
fn numbers() {
    let integer = json!({"type": "integer", "minimum": 1, "maximum": 10, "default": 3});
    sends(integer.clone(), true, &["Enter"], json!({"x": 3}));
    sends(integer.clone(), true, &["+", "+", "-", "Enter"], json!({"x": 4}));
    sends(integer.clone(), false, &["Backspace", "Enter"], json!({}));
    keeps(integer.clone(), true, &["Backspace", "Enter"]);
    keeps(integer.clone(), true, &["=0", "Enter"]);
    sends(integer.clone(), true, &["=0", "Enter", "Backspace", "Backspace", "=10", "Enter"], json!({"x": 10}));
    keeps(integer.clone(), true, &["=.5", "Enter"]);
    keeps(integer.clone(), true, &["=x", "Enter"]);
    sends(integer, true, &["Backspace", "=７", "Enter"], json!({"x": 7}));
    let number = json!({"type": "number"});
    sends(number.clone(), true, &["=-1.5e3", "Enter"], json!({"x": -1500}));
    sends(number.clone(), true, &["=0.1", "Enter"], json!({"x": 0.1}));
    keeps(number.clone(), true, &["=NaN", "Enter"]);
    // From nothing a step goes to zero, or to the nearest limit.
    sends(number, true, &["+", "+", "Enter"], json!({"x": 1}));
    sends(json!({"type": "integer", "minimum": 5}), true, &["+", "+", "Enter"], json!({"x": 6}));
    sends(json!({"type": "integer", "minimum": 5}), true, &["+", "-", "Enter"], json!({"x": 5}));
}

#[test]
fn integers_stay_integers() {
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": {"type": "integer"}}), &["x"])).open().keys(&["=12345678901234567", "Enter"]);
    let sent = bench.sent().unwrap();
    assert_eq!(sent.to_string(), r#"{"x":12345678901234567}"#);
}

#[test]
fn yes_or_no() {
    let boolean = json!({"type": "boolean"});
    sends(json!({"type": "boolean", "default": true}), true, &["Enter"], json!({"x": true}));
    sends(json!({"type": "boolean", "default": true}), true, &["Space", "Enter"], json!({"x": false}));
    sends(boolean.clone(), false, &["Enter"], json!({}));
    keeps(boolean.clone(), true, &["Enter"]);
    sends(boolean.clone(), true, &["Enter", "Right", "Enter"], json!({"x": false}));
    sends(boolean.clone(), true, &["y", "Enter"], json!({"x": true}));
    sends(boolean.clone(), true, &["Space", "n", "Enter"], json!({"x": false}));
    sends(boolean, false, &["y", "Backspace", "Enter"], json!({}));
}

#[test]
fn one_of_several() {
    let plain = json!({"type": "string", "enum": ["staging", "production", "development"]});
    // The highlighted one is the value: an answer that is needed has one from the start.
    sends(plain.clone(), true, &["Enter"], json!({"x": "staging"}));
    sends(plain.clone(), true, &["Right", "Enter"], json!({"x": "production"}));
    sends(plain.clone(), true, &["Right", "Right", "Right", "Left", "Enter"], json!({"x": "production"}));
    sends(plain.clone(), true, &["3", "Enter"], json!({"x": "development"}));
    sends(plain.clone(), true, &["p", "Enter"], json!({"x": "production"}));
    sends(plain.clone(), false, &["Enter"], json!({}));
    sends(plain.clone(), false, &["Right", "Enter"], json!({"x": "staging"}));
    sends(plain.clone(), false, &["Right", "Left", "Enter"], json!({}));
    sends(plain, false, &["2", "Del", "Enter"], json!({}));
    let titled = json!({"oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}], "default": "l"});
    sends(titled.clone(), false, &["Enter"], json!({"x": "l"}));
    sends(titled, false, &["s", "Enter"], json!({"x": "s"}));
    let legacy = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]});
    sends(legacy, true, &["s", "Enter"], json!({"x": "b"}));
}

#[test]
fn long_choices_stand_in_a_column() {
    let titles: Vec<Value> =
        (1..=4).map(|i| json!({"const": i, "title": format!("A title {i} that is as long as a sentence")})).collect();
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": {"oneOf": titles}, "y": {"type": "string"}}), &["x"])).open();
    let text = bench.text();
    assert!((1..=4).all(|i| text.contains(&format!("A title {i} that is as long as a sentence"))), "{text}");
    // Down chooses; behind the last it goes on to the next field.
    bench.keys(&["Down", "Down", "Down", "Down", "=q", "Enter"]);
    assert_eq!(bench.sent(), Some(json!({"x": 4, "y": "q"})));
}

#[test]
fn some_of_several() {
    let items = json!({"type": "string", "enum": ["eu", "us", "ap"]});
    let regions = json!({"type": "array", "items": items, "minItems": 1, "maxItems": 2});
    keeps(regions.clone(), true, &["Enter"]);
    sends(regions.clone(), true, &["Enter", "Space", "Enter"], json!({"x": ["eu"]}));
    // In the server's order, whatever the order of the keys.
    sends(regions.clone(), true, &["3", "1", "Enter"], json!({"x": ["eu", "ap"]}));
    keeps(regions.clone(), true, &["1", "2", "3", "Enter"]);
    sends(regions.clone(), true, &["1", "2", "3", "Enter", "Space", "Enter"], json!({"x": ["eu", "us"]}));
    sends(regions.clone(), false, &["Enter"], json!({}));
    sends(regions, false, &["Space", "Space", "Enter"], json!({}));
    let titled =
        json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}});
    sends(titled.clone(), false, &["Right", "Space", "Enter"], json!({"x": ["b"]}));
    let mut with_default = titled;
    with_default["default"] = json!(["b", "a"]);
    // Not touched: as it was given.
    sends(with_default, false, &["Enter"], json!({"x": ["b", "a"]}));
}

#[test]
fn groups() {
    let group = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "integer"}, "b": {"type": "string", "default": "q"}}});
    // Nothing was put in: it is left out, and what it would need is not asked for.
    sends(group.clone(), false, &["Ctrl-S"], json!({}));
    keeps(group.clone(), true, &["Ctrl-S"]);
    keeps(group.clone(), false, &["Down", "=z", "Ctrl-S"]);
    sends(group, false, &["=5", "Ctrl-S"], json!({"x": {"a": 5, "b": "q"}}));
}

#[test]
fn anything_else_is_json() {
    let any = json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "object"}]});
    sends(any.clone(), false, &["Ctrl-S"], json!({}));
    keeps(any.clone(), true, &["Ctrl-S"]);
    keeps(any.clone(), true, &["=[1,", "Ctrl-S"]);
    sends(any.clone(), true, &["=[1,", "Ctrl-S", "Enter", "=2]", "Ctrl-S"], json!({"x": [1, 2]}));
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": any}), &["x"])).open().keys(&["=[1,", "Ctrl-S"]);
    let text = bench.text();
    assert!(text.contains("not JSON") && text.contains("line 1"), "{text}");
}

#[test]
fn errors_come_when_a_field_is_left_and_go_while_it_is_corrected() {
    let mut bench = Bench::new();
    let properties = json!({"mail": {"type": "string", "format": "email"}, "n": {"type": "integer"}});
    bench.waits(1, form(properties, &["mail", "n"])).open();
    let complains = |bench: &mut Bench| bench.text().contains("not an e-mail address");
    bench.press("=octo@");
    assert!(!complains(&mut bench), "not while it is typed");
    bench.press("Tab");
    assert!(complains(&mut bench));
    bench.press("Shift-Tab");
    assert!(complains(&mut bench));
    bench.press("=c");
    assert!(!complains(&mut bench));
    bench.press("Ctrl-S");
    let text = bench.text();
    assert!(
        complains(&mut bench) && text.contains("needs an answer") && text.contains("2 fields need attention"),
        "{text}"
    );
    // The first bad field has the focus.
    bench.keys(&["=at.example", "Ctrl-S"]);
    let text = bench.text();
    assert!(text.contains("1 field needs attention"), "{text}");
    bench.keys(&["=1", "Ctrl-S"]);
    assert_eq!(bench.sent(), Some(json!({"mail": "octo@cat.example", "n": 1})));
}

#[test]
fn a_field_that_was_passed_by_does_not_complain() {
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"a": {"type": "string"}, "b": {"type": "string"}}), &["a", "b"])).open();
    bench.keys(&["Tab", "Tab", "Tab"]);
    assert!(!bench.text().contains("needs an answer"));
}

#[test]
fn three_answers() {
    let kind = || form(json!({"x": {"type": "string"}}), &["x"]);
    let mut bench = Bench::new();
    bench.waits(1, kind()).open();
    assert!(matches!(bench.press("Alt-D"), Outcome::Close(_)));
    assert_eq!(bench.answers(), [(1, Answer::Decline)]);
    bench.waits(2, kind()).open();
    assert!(matches!(bench.press("Esc"), Outcome::Close(_)), "nothing was typed");
    assert_eq!(bench.answers(), [(2, Answer::Cancel)]);
    bench.waits(3, kind()).open().press("=abc");
    assert_eq!(bench.press("Esc"), Outcome::Consumed);
    assert!(bench.text().contains("Esc again"));
    bench.press("=d");
    assert_eq!(bench.press("Esc"), Outcome::Consumed, "another key in between");
    assert!(matches!(bench.press("Esc"), Outcome::Close(_)));
    assert_eq!(bench.answers(), [(3, Answer::Cancel)]);
    // What was typed is kept for a new try of the same form.
    bench.waits(4, kind()).open().press("Enter");
    assert_eq!(bench.sent(), Some(json!({"x": "abcd"})));
}

#[test]
fn the_buttons_do_what_they_say() {
    let kind = || form(json!({"x": {"type": "string", "default": "v"}}), &[]);
    for (keys, answer) in [
        (vec!["Tab", "Enter"], None),
        (vec!["Down", "Enter"], None),
        (vec!["Tab", "Tab", "Enter"], Some(Answer::Decline)),
        (vec!["Tab", "Right", "Right", "Space"], Some(Answer::Cancel)),
        (vec!["Shift-Tab", "Enter"], Some(Answer::Cancel)),
        (vec!["Tab", "Right", "Left", "Enter"], None),
        (vec!["Tab", "Up", "Enter"], None),
    ] {
        let mut bench = Bench::new();
        bench.waits(1, kind()).open().keys(&keys);
        match answer {
            None => assert_eq!(bench.sent(), Some(json!({"x": "v"})), "{keys:?}"),
            Some(answer) => assert_eq!(bench.answers(), [(1, answer)], "{keys:?}"),
        }
    }
}

#[test]
fn a_form_without_fields_is_a_confirmation() {
    let mut bench = Bench::new();
    bench.waits(1, empty_form()).open_now();
    assert!(bench.text().contains("⟨Confirm⟩"));
    bench.press("Enter");
    assert_eq!(bench.answers(), [], "this Enter may be the one that opened it");
    bench.advance(1_000).press("Enter");
    assert_eq!(bench.sent(), Some(json!({})));
}

#[test]
fn the_focused_field_and_the_buttons_are_in_sight_at_every_height() {
    let mut properties = serde_json::Map::new();
    for i in 0..15 {
        let kind = if i % 4 == 3 { json!({"type": "string", "enum": ["a", "b"]}) } else { json!({"type": "string"}) };
        properties.insert(format!("field{i:02}"), kind);
    }
    for (columns, rows) in [(100, 20), (80, 9), (40, 7), (40, 6)] {
        let mut bench = Bench::sized(columns, rows, Language::En);
        bench.waits(1, form(Value::Object(properties.clone()), &[])).open();
        for i in 0..15 {
            let text = bench.text();
            assert!(text.contains("Submit") && text.contains("Decline") && text.contains("Cancel"), "{text}");
            if i > 0 {
                assert!(text.contains(&format!("field{i:02}")), "{i} at {columns}x{rows}\n{text}");
            }
            assert!(i == 0 || bench.draw().1.is_some(), "the caret is in sight");
            bench.press("Tab");
        }
    }
}

#[test]
fn a_long_message_is_read_from_its_start() {
    let mut bench = Bench::sized(60, 10, Language::En);
    let message = (0..30).map(|i| format!("line {i}")).collect::<Vec<_>>().join("\n");
    let schema = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    bench.waits(1, form_of("github", &message, schema)).open();
    assert!(bench.text().contains("line 0") && bench.text().contains('↓'));
    bench.press("PgDn");
    assert!(!bench.text().contains("line 0"));
    bench.press("=v");
    assert!(bench.text().contains("x  "), "typing brings the field back");
    bench.press("Enter");
    assert_eq!(bench.sent(), Some(json!({"x": "v"})));
}

#[test]
fn nullable_and_required_is_null_when_left_empty() {
    sends(json!({"type": ["string", "null"]}), true, &["Ctrl-S"], json!({"x": null}));
    sends(json!({"type": ["string", "null"]}), true, &["=a", "Ctrl-S"], json!({"x": "a"}));
    sends(json!({"type": ["boolean", "null"]}), true, &["Right", "Right", "Ctrl-S"], json!({"x": null}));
}

#[test]
fn the_external_editor_gets_the_text_and_gives_it_back() {
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": {"type": "string", "default": "draft"}}), &[])).open().press("Ctrl-G");
    assert_eq!(bench.effects(), [Effect::Edit { text: "draft".into(), extension: "txt" }]);
    bench.prompts.edited("better\n".into());
    bench.press("Ctrl-S");
    assert_eq!(bench.sent(), Some(json!({"x": "better"})));
}

#[test]
fn keys_that_work_anywhere_are_left_alone() {
    let mut bench = Bench::new();
    bench.waits(1, form(json!({"x": {"type": "string"}}), &[])).open();
    for key in ["Ctrl-C", "Ctrl-P", "F1", "Ctrl-Z", "Ctrl-L"] {
        assert_eq!(bench.press(key), Outcome::Ignored, "{key}");
    }
    assert_eq!(bench.press("?"), Outcome::Consumed);
}
