//! Whatever is pressed: nothing invalid leaves a form, nothing is answered twice, nothing hangs over an edge.

use crate::prompt_kit::{Bench, approval, forecast, form_of};
use mcpane::contract::{Op, PromptEvent};
use mcpane::domain::PromptId;
use mcpane::domain::form::check::check_form;
use mcpane::domain::form::{FieldKind, Form};
use mcpane::domain::prompt::{Answer, Closed, Decision, PromptKind, Question};
use mcpane::schema::{self, Validator};
use mcpane::strings::Language;
use mcpane::tui::outcome::Effect;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Fields of every kind, with and without limits and defaults.
fn field() -> impl Strategy<Value = Value> {
    let choices = json!({"type": "string", "enum": ["red", "green", "blue"]});
    let titled = json!({"oneOf": [
        {"const": "a", "title": "The first of two rather long titles, so that they do not fit"},
        {"const": "b", "title": "第二个标题也很长，所以它们放不进同一行里面去，只好一行一个地排列"}]});
    prop::sample::select(vec![
        json!({"type": "string"}),
        json!({"type": "string", "minLength": 2, "maxLength": 4, "title": "Short 短", "description": "Two to four."}),
        json!({"type": "string", "pattern": "^[a-c]+$", "default": "abc"}),
        json!({"type": "string", "format": "email"}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "format": "date"}),
        json!({"type": "string", "format": "date-time"}),
        json!({"type": "string", "default": "two\nlines"}),
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!({"type": "integer", "default": 3}),
        json!({"type": "number", "minimum": -0.5, "maximum": 0.5}),
        json!({"type": "boolean"}),
        json!({"type": "boolean", "default": true}),
        choices.clone(),
        json!({"type": "string", "enum": ["x", "y"], "default": "y"}),
        titled,
        json!({"type": "array", "items": choices.clone(), "minItems": 1, "maxItems": 2}),
        json!({"type": "array", "items": choices, "default": ["blue", "red"]}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}}),
        json!({"type": "array", "items": {"type": "integer"}}),
        json!({"type": ["string", "null"]}),
    ])
}

fn schema() -> impl Strategy<Value = Value> {
    prop::collection::vec((field(), any::<bool>()), 0..6).prop_map(|fields| {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for (index, (field, needed)) in fields.into_iter().enumerate() {
            let name = format!("f{index}");
            if needed {
                required.push(name.clone());
            }
            properties.insert(name, field);
        }
        json!({"type": "object", "properties": properties, "required": required})
    })
}

/// Keys that do something in a form or a card, and texts that are right for some field.
fn keys(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    let keys = vec![
        "Tab",
        "Tab",
        "Tab",
        "Shift-Tab",
        "Up",
        "Down",
        "Left",
        "Right",
        "Space",
        "Enter",
        "Enter",
        "Backspace",
        "Del",
        "Home",
        "End",
        "PgUp",
        "PgDn",
        "Ctrl-U",
        "Ctrl-S",
        "Ctrl-S",
        "+",
        "-",
        "1",
        "2",
        "9",
        "=ab",
        "=abcde",
        "=0.25",
        "=12",
        "=-",
        "=a@b.example",
        "=https://a.example",
        "=2026-02-28",
        "=2026-02-28T09:00:00Z",
        "=[1, 2]",
        "={",
        "=纽约",
        "=e\u{301}",
        "y",
        "n",
        "x",
    ];
    prop::collection::vec(prop::sample::select(keys), 0..most)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn submitted(op: &Op) -> Option<&serde_json::Map<String, Value>> {
    match op {
        Op::Answer { answer: Answer::Submit { values }, .. } => Some(values),
        _ => None,
    }
}

fn is_good(form: &Form, schema: &Value, values: &serde_json::Map<String, Value>) -> Result<(), TestCaseError> {
    prop_assert_eq!(check_form(form, values), vec![]);
    // A raw JSON field takes any JSON; its own schema is the agent's to check, which sends it back as refused.
    if form.fields.iter().any(|field| matches!(field.kind, FieldKind::Json { .. })) {
        return Ok(());
    }
    prop_assert_eq!(Validator::new(schema).validate(&Value::Object(values.clone())), vec![]);
    Ok(())
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn nothing_invalid_leaves_a_form(schema in schema(), keys in keys(50), columns in 20_u16..110, rows in 2_u16..20) {
        let mut bench = Bench::sized(columns, rows, Language::En);
        let form = schema::form(&schema);
        bench.waits(1, form_of("github", "A message.", schema.clone())).open();
        for key in keys {
            bench.press(key);
            bench.advance(200);
        }
        bench.draw();
        let ops = bench.ops();
        prop_assert!(ops.len() <= 1, "{:?}", ops);
        for values in ops.iter().filter_map(submitted) {
            is_good(&form, &schema, values)?;
        }
    }

    #[test]
    fn edited_arguments_satisfy_their_form(keys in keys(40)) {
        let mut bench = Bench::new();
        bench.waits(1, approval(1)).open().press("e");
        let approval = forecast(1);
        for key in keys {
            bench.press(key);
            for op in bench.ops() {
                if let Op::Amend { arguments, .. } = op {
                    is_good(&approval.form, &approval.spec.input_schema, arguments.as_object().unwrap())?;
                    let mut checked = forecast(1);
                    checked.call.arguments = arguments;
                    bench.feed(PromptEvent::Amended { prompt: PromptId(1), approval: Box::new(checked) });
                    bench.advance(1_000);
                }
            }
        }
    }
}

/// Something that happens.
#[derive(Debug, Clone)]
enum Happening {
    Press(&'static str),
    Paste(&'static str),
    Arrives(u8),
    Ends(u8, bool),
    OpenNext,
    Later(u16),
    Suspended(u16),
}

fn happening() -> impl Strategy<Value = Happening> {
    let keys = vec![
        "y", "s", "a", "n", "r", "e", "m", "c", "h", "Enter", "Enter", "Esc", "Esc", "Up", "Down", "Tab", "Ctrl-S",
        "Alt-D", "Ctrl-O", "=abc", "1", "2", "Space", "Right",
    ];
    prop_oneof![
        8 => prop::sample::select(keys).prop_map(Happening::Press),
        1 => prop::sample::select(vec!["y", "\n", "text\nmore"]).prop_map(Happening::Paste),
        2 => (0_u8..6).prop_map(Happening::Arrives),
        1 => (0_u8..12, any::<bool>()).prop_map(|(which, expired)| Happening::Ends(which, expired)),
        3 => Just(Happening::OpenNext),
        3 => (0_u16..1_500).prop_map(Happening::Later),
        1 => (0_u16..5_000).prop_map(Happening::Suspended),
    ]
}

fn kind(which: u8, id: u64) -> PromptKind {
    match which {
        0 | 1 => approval(id),
        2 => {
            form_of("github", "Hm?", json!({"type": "object", "properties": {"x": {"type": "string", "default": "v"}}}))
        }
        3 => PromptKind::Question(Question { text: "Which?".into(), options: vec!["a".into(), "b".into()] }),
        4 => PromptKind::Decision(Decision::Repeated { tool: "t".into(), times: 3 }),
        _ => PromptKind::Decision(Decision::StepLimit { limit: 9 }),
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn only_what_was_opened_is_answered_and_only_once(happenings in prop::collection::vec(happening(), 0..80)) {
        let mut bench = Bench::sized(70, 14, Language::Zh);
        let mut next = 1_u64;
        let mut ended = HashSet::new();
        let mut answered = HashSet::new();
        for happening in happenings {
            let open_before = bench.prompts.opened();
            match happening {
                Happening::Press(key) => drop(bench.press(key)),
                Happening::Paste(text) => drop(bench.prompts.paste(text)),
                Happening::Arrives(which) => {
                    bench.waits_for(next, kind(which, next), (which == 2).then_some(9_000));
                    next += 1;
                }
                Happening::Ends(which, expired) => {
                    let id = u64::from(which);
                    if id < next {
                        ended.insert(id);
                    }
                    let why = if expired { Closed::Expired } else { Closed::Answered { answer: Answer::Decline } };
                    bench.closed(id, why);
                }
                Happening::OpenNext => drop(bench.prompts.open_next(bench.now)),
                Happening::Later(ms) => drop(bench.advance(u64::from(ms))),
                Happening::Suspended(ms) => {
                    bench.prompts.hold(bench.now);
                    bench.advance(u64::from(ms));
                    bench.prompts.go(bench.now);
                }
            }
            bench.draw();
            for effect in bench.effects() {
                if let Effect::Op(Op::Answer { prompt, .. }) = effect {
                    prop_assert_eq!(open_before, Some(prompt), "answered though it was not open");
                    prop_assert!(answered.insert(prompt.0), "answered twice");
                    prop_assert!(!ended.contains(&prompt.0), "answered after it ended");
                }
            }
        }
    }

    /// The bold rule, for what opens after an answer: within the time in which nobody can have read it, no key does anything.
    #[test]
    fn what_opens_after_an_answer_takes_nothing_that_was_typed_ahead(
        which in 0_u8..6, keys in prop::collection::vec(prop::sample::select(vec!["y", "Enter", "s", "n", "=ab", "Esc", "Ctrl-S"]), 1..12),
    ) {
        let mut bench = Bench::new();
        bench.waits(1, approval(1)).waits(2, kind(which, 2)).open().press("y");
        let before = bench.text();
        bench.effects();
        for key in keys {
            bench.advance(20).press(key);
        }
        prop_assert_eq!(bench.effects(), vec![]);
        prop_assert_eq!(bench.prompts.opened(), Some(PromptId(2)));
        let hintless = |text: &str| text.lines().rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(hintless(&bench.text()), hintless(&before));
    }

    /// Text of servers and models is shown with marks, never sent as it is, and stays inside its area.
    #[test]
    fn hostile_text_stays_inside(text in "[\\PC\u{1b}\u{202e}\u{200b}\t\n👩\u{200d}💻宽é]{0,60}", columns in 12_u16..90, rows in 2_u16..16) {
        for ascii in [false, true] {
            for which in 0..3 {
                let mut bench = Bench::sized(columns, rows, Language::En);
                bench.ascii = ascii;
                let schema = json!({"type": "object", "properties": {(text.clone()): {"type": "string", "title": text, "description": text, "default": text}}});
                let kind = match which {
                    0 => form_of(&text, &text, schema),
                    1 => PromptKind::Question(Question { text: text.clone(), options: vec![text.clone(), "b".into()] }),
                    _ => {
                        let mut approval = forecast(1);
                        approval.call.arguments = json!({(text.clone()): text});
                        PromptKind::Approval(Box::new(approval))
                    }
                };
                bench.waits(1, kind);
                for _ in 0..2 {
                    let text = bench.text();
                    let is_bad = |c: char| (c.is_control() && c != '\n') || ['\u{202e}', '\u{200b}'].contains(&c);
                    prop_assert!(!text.contains(is_bad), "{}", text);
                    bench.open();
                }
                bench.keys(&["Down", "PgDn"]);
                bench.draw();
            }
        }
    }
}
