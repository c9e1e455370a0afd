//! Forms that a server opens. What counts is the JSON that the server has received in the end.

use crate::rig::{Model, Place, Program, Reply, ms};
use serde_json::{Value, json};

/// A server `s` whose `elicit` shows the forms of the script, one a turn, without asking for approval each time.
struct Forms {
    place: Place,
    model: Model,
    program: Program,
    asked: std::cell::Cell<usize>,
}

impl Forms {
    fn new(forms: &[Value]) -> Self {
        Self::with(&Place::new, forms, &[])
    }

    fn with(place: &dyn Fn() -> Place, forms: &[Value], args: &[&str]) -> Self {
        let place = place();
        if !place.path("home/.mcp.json").exists() {
            place.servers(json!({ "s": place.fixture_entry("s", &[]) }));
        }
        place.settings("[rules]\nallow = [\"s:elicit\"]\n");
        let mut forms: std::collections::VecDeque<Value> = forms.iter().cloned().collect();
        let model = Model::answering(move |request| match request.messages().last() {
            Some(last) if last["role"] == "tool" => Reply::text("The form is over."),
            _ => forms.pop_front().map_or_else(|| Reply::text("No more."), |ask| Reply::tool("s__elicit", ask)),
        });
        let url = model.url();
        let args: Vec<&str> = ["-m", "test-model", "--base-url", &url].iter().chain(args).copied().collect();
        let program = place.launch(&args).start();
        program.wait_for("1 ready");
        Self { place, model, program, asked: std::cell::Cell::new(0) }
    }

    /// Starts the next turn and opens its form.
    #[track_caller]
    fn open(&self) -> &Program {
        self.program.wait_idle();
        self.asked.set(self.asked.get() + 1);
        self.program.submit(&format!("Form number {}", self.asked.get()));
        self.program.open("s asks", "⟨Cancel⟩").wait_quiet(ms(100))
    }

    /// What the server was answered last.
    #[track_caller]
    fn answer(&self) -> Value {
        self.place.answer("s", self.asked.get() - 1)
    }

    /// The content of the last answer, which accepts.
    #[track_caller]
    fn accepted(&self) -> Value {
        let answer = self.answer();
        assert_eq!(answer["action"], "accept", "{answer}");
        answer["content"].clone()
    }
}

fn ask(properties: Value, required: &[&str]) -> Value {
    json!({ "message": "Please", "schema": { "type": "object", "properties": properties, "required": required } })
}

/// A field of every kind that elicitation knows.
fn every_kind() -> Value {
    json!({
        "text": { "type": "string", "title": "Text", "minLength": 2, "maxLength": 9, "default": "hello" },
        "mail": { "type": "string", "format": "email", "default": "a@b.org" },
        "site": { "type": "string", "format": "uri", "default": "https://example.org/" },
        "day": { "type": "string", "format": "date", "default": "2026-01-31" },
        "moment": { "type": "string", "format": "date-time", "default": "2026-01-31T09:30:00Z" },
        "whole": { "type": "integer", "minimum": 1, "maximum": 10, "default": 7 },
        "real": { "type": "number", "default": 2.5 },
        "yes": { "type": "boolean", "default": true },
        "one": { "type": "string", "enum": ["a", "b", "c"], "default": "b" },
        "titled": { "type": "string", "oneOf": [{ "const": "x", "title": "Ex" }, { "const": "y", "title": "Why" }], "default": "y" },
        "legacy": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"], "default": "m" },
        "many": { "type": "array", "items": { "type": "string", "enum": ["p", "q", "r"] }, "default": ["p", "r"] },
        "several": { "type": "array", "items": { "anyOf": [{ "const": "1", "title": "First" }, { "const": "2", "title": "Second" }] }, "default": ["2"] }
    })
}

#[test]
fn defaults_arrive_with_their_types_and_what_is_optional_and_empty_does_not_arrive() {
    let with_defaults = every_kind();
    let mut without = with_defaults.clone();
    for field in without.as_object_mut().unwrap().values_mut() {
        field.as_object_mut().unwrap().remove("default");
    }
    let forms = Forms::new(&[ask(with_defaults, &[]), ask(without, &[])]);
    forms.open().wait_for("hello").wait_for("Please").key("c-s").wait_for("The form is over.");
    let expected = json!({
        "text": "hello", "mail": "a@b.org", "site": "https://example.org/", "day": "2026-01-31", "moment": "2026-01-31T09:30:00Z",
        "whole": 7, "real": 2.5, "yes": true, "one": "b", "titled": "y", "legacy": "m", "many": ["p", "r"], "several": ["2"]
    });
    assert_eq!(forms.accepted(), expected);
    // The server's order is kept.
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&forms.accepted()), keys(&expected));
    forms.open().key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({}));
    assert!(forms.model.requests().len() >= 3);
}

/// A field, what is wrong with what is typed first, what is typed then, and what the server gets.
struct Kind {
    field: Value,
    wrong: &'static [&'static str],
    says: &'static str,
    right: &'static [&'static str],
    sent: Value,
}

fn kind(
    field: Value,
    wrong: &'static [&'static str],
    says: &'static str,
    right: &'static [&'static str],
    sent: Value,
) -> Kind {
    Kind { field, wrong, says, right, sent }
}

/// Text is typed; what stands in angle brackets is a key.
fn act(program: &Program, acts: &[&str]) {
    for act in acts {
        match act.strip_prefix('<').and_then(|key| key.strip_suffix('>')) {
            Some(key) => program.key(key),
            None => program.type_text(act),
        };
        std::thread::sleep(ms(5));
    }
}

fn run(kinds: Vec<Kind>) {
    let asks: Vec<Value> = kinds.iter().map(|kind| ask(json!({ "field": kind.field }), &["field"])).collect();
    let forms = Forms::new(&asks);
    for (number, kind) in kinds.into_iter().enumerate() {
        let program = forms.open();
        act(program, kind.wrong);
        program.key("c-s").wait_for(&format!("✗ {}", kind.says));
        // It stays, and nothing was sent.
        assert_eq!(forms.place.answers("s").len(), number, "{} left the form", kind.field);
        act(program, kind.right);
        program.wait_quiet(ms(60)).key("c-s").wait_gone("⟨Cancel⟩");
        assert_eq!(forms.accepted(), json!({ "field": kind.sent }), "{}", kind.field);
    }
}

#[test]
fn texts_that_are_wrong_stay_until_they_are_right() {
    run(vec![
        kind(json!({ "type": "string" }), &[], "needs an answer", &["纽约 ✓"], json!("纽约 ✓")),
        kind(json!({ "type": "string", "minLength": 3 }), &["ab"], "at least 3 characters", &["c"], json!("abc")),
        kind(
            json!({ "type": "string", "maxLength": 3 }),
            &["abcd"],
            "at most 3 characters",
            &["<bspace>"],
            json!("abc"),
        ),
        kind(
            json!({ "type": "string", "pattern": "^[a-z]+$" }),
            &["a1"],
            "does not match",
            &["<bspace>", "b"],
            json!("ab"),
        ),
        kind(
            json!({ "type": "string", "format": "email" }),
            &["x@"],
            "not an e-mail address",
            &["y.org"],
            json!("x@y.org"),
        ),
        kind(
            json!({ "type": "string", "format": "uri" }),
            &["example"],
            "not a URI",
            &["<home>", "urn:"],
            json!("urn:example"),
        ),
        kind(
            json!({ "type": "string", "format": "date" }),
            &["2026-02-30"],
            "not a date",
            &["<bspace>", "<bspace>", "28"],
            json!("2026-02-28"),
        ),
        kind(
            json!({ "type": "string", "format": "date-time" }),
            &["2026-01-31"],
            "not a date with time",
            &["T09:30:00+02:00"],
            json!("2026-01-31T09:30:00+02:00"),
        ),
    ]);
}

#[test]
fn numbers_and_choices_that_are_wrong_stay_until_they_are_right() {
    let items = json!({ "type": "string", "enum": ["p", "q", "r"] });
    run(vec![
        kind(json!({ "type": "integer" }), &["1.5"], "not a whole number", &["<bspace>", "<bspace>", "2"], json!(12)),
        kind(json!({ "type": "integer", "minimum": 1, "maximum": 10 }), &["11"], "at most 10", &["<bspace>"], json!(1)),
        kind(json!({ "type": "number", "minimum": 0.5 }), &["0.1"], "at least 0.5", &["<bspace>", "75"], json!(0.75)),
        kind(json!({ "type": "number" }), &["x"], "not a number", &["<bspace>", "-1e3"], json!(-1000)),
        kind(
            json!({ "type": "array", "items": items, "minItems": 1 }),
            &[],
            "choose at least 1",
            &["<right>", "<space>"],
            json!(["q"]),
        ),
        kind(
            json!({ "type": "array", "items": items, "maxItems": 2 }),
            &["<space>", "<right>", "<space>", "<right>", "<space>"],
            "choose at most 2",
            &["<left>", "<space>"],
            json!(["p", "r"]),
        ),
    ]);
}

#[test]
fn the_highlighted_choice_is_the_value() {
    let fields = json!({
        "one": { "type": "string", "enum": ["a", "b", "c"] },
        "titled": { "type": "string", "oneOf": [{ "const": "x", "title": "Ex" }, { "const": "y", "title": "Why" }] },
        "legacy": { "type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Medium"] },
        "flag": { "type": "boolean", "default": false }
    });
    let required = ["one", "titled", "legacy", "flag"];
    let forms = Forms::new(&[ask(fields.clone(), &required), ask(fields, &required)]);
    let program = forms.open();
    program.wait_for("› a").wait_for("› Ex").wait_for("› Small").key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "one": "a", "titled": "x", "legacy": "s", "flag": false }));
    let program = forms.open();
    program.keys(&["right", "right", "tab", "right", "tab", "right", "tab", "space"]);
    program.wait_for("› c").wait_for("› Why").wait_for("› Medium").wait_for("(•) yes").key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "one": "c", "titled": "y", "legacy": "m", "flag": true }));
}

#[test]
fn enter_goes_through_the_fields_and_submits_on_the_last() {
    let fields = json!({ "name": { "type": "string" }, "age": { "type": "integer" } });
    let forms = Forms::new(&[ask(fields, &["name", "age"])]);
    let program = forms.open();
    program.type_text("Ada").key("enter").type_text("36").wait_for("36");
    assert_eq!(forms.place.answers("s").len(), 0);
    program.key("enter").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "name": "Ada", "age": 36 }));
}

#[test]
fn decline_and_cancel_are_two_answers_and_a_form_without_fields_is_a_confirmation() {
    let text = || ask(json!({ "name": { "type": "string" } }), &["name"]);
    let empty = || json!({ "message": "Really go on?", "schema": { "type": "object", "properties": {} } });
    let forms = Forms::new(&[text(), text(), text(), empty(), empty(), text()]);
    forms.open().key("a-d").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.answer(), json!({ "action": "decline" }));
    forms.open().key("esc").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.answer(), json!({ "action": "cancel" }));
    // With something typed, Escape asks once more. The text is kept for a new try.
    forms.open().type_text("Grace").wait_for("Grace").key("esc").wait_for("Esc again cancels");
    assert_eq!(forms.place.answers("s").len(), 2);
    forms.program.key("esc").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.answer(), json!({ "action": "cancel" }));
    forms.open().wait_for("Really go on?").wait_for("⟨Confirm⟩").wait_quiet(ms(800)).key("enter").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.answer(), json!({ "action": "accept", "content": {} }));
    forms.open().key("a-d").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.answer(), json!({ "action": "decline" }));
    forms.open().wait_for("Grace").key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "name": "Grace" }));
}

#[test]
fn a_form_runs_out_says_so_and_keeps_its_text() {
    let place = || {
        let place = Place::new();
        let mut entry = place.fixture_entry("s", &[]);
        entry["timeout"] = json!({ "elicit": 4 });
        place.servers(json!({ "s": entry }));
        place
    };
    let text = || ask(json!({ "name": { "type": "string" } }), &["name"]);
    let forms = Forms::with(&place, &[text(), text()], &[]);
    let program = forms.open();
    program.type_text("half an ans").wait_for("0:01 left").wait_for("has run out");
    assert_eq!(forms.answer(), json!({ "action": "cancel" }));
    forms.program.key("esc").wait_gone("has run out");
    forms.open().wait_for("half an ans").type_text("wer").key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "name": "half an answer" }));
}

#[test]
fn two_forms_wait_and_each_is_answered_by_its_own() {
    let mut both = ask(json!({ "name": { "type": "string" } }), &["name"]);
    both["times"] = json!(2);
    let forms = Forms::new(&[both]);
    let program = forms.open();
    program.wait_for("1 of 2").wait_for("Please 1").type_text("first").wait_for("first").key("c-s");
    program.next("Please 2").type_text("second").wait_for("second").key("c-s").wait_for("The form is over.");
    assert_eq!(forms.place.answer("s", 0)["content"], json!({ "name": "first" }));
    assert_eq!(forms.place.answer("s", 1)["content"], json!({ "name": "second" }));
    // Both in the order in which they were asked, as the model sees them.
    let told = forms.model.request(1).last_text();
    assert!(told.find("first").unwrap() < told.find("second").unwrap(), "{told}");
}

#[test]
fn a_form_taller_than_its_dock_scrolls_and_keeps_its_buttons() {
    let fields: Vec<(String, Value)> =
        (1..=30).map(|n| (format!("field{n}"), json!({ "type": "integer", "default": n }))).collect();
    let forms = Forms::new(&[ask(Value::Object(fields.into_iter().collect()), &[])]);
    let program = forms.open();
    program.wait_for("field1 ").resize(80, 24).wait_for("⟨Submit⟩");
    for _ in 0..29 {
        program.key("tab").wait_for("⟨Submit⟩");
    }
    program.wait_for("field30").type_text("5").wait_for("305").key("c-s").wait_gone("⟨Cancel⟩");
    let sent = forms.accepted();
    assert_eq!(sent.as_object().unwrap().len(), 30);
    assert_eq!((&sent["field1"], &sent["field30"]), (&json!(1), &json!(305)));
}

#[test]
fn a_question_that_is_taken_back_goes() {
    let place = Place::with_fixtures(&[("s", &[])]);
    place.settings("[rules]\nallow = [\"s:take_back\"]\n");
    let model = Model::replies([Reply::tool("s__take_back", json!({})), Reply::text("It changed its mind.")]);
    let program = place.launch(&["-m", "test-model", "--base-url", &model.url()]).start();
    program.wait_for("1 ready").submit("Ask");
    program.wait_for("It changed its mind.").wait_gone("asks").wait_gone("opens it");
}

#[test]
fn an_answer_that_breaks_the_whole_schema_comes_back() {
    // Fields can be checked one by one; that one of two must be there cannot.
    let mut either = ask(json!({ "a": { "type": "string" }, "b": { "type": "string" } }), &[]);
    either["schema"]["minProperties"] = json!(1);
    let forms = Forms::new(&[either]);
    let program = forms.open();
    // It has gone to the server's checker, so it waits again as something new: it does not open by itself.
    program.key("c-s").wait_for("An answer was sent back");
    assert_eq!(forms.place.answers("s").len(), 0);
    program.open("s asks", "✗").type_text("x").wait_quiet(ms(100)).key("c-s").wait_gone("⟨Cancel⟩");
    assert_eq!(forms.accepted(), json!({ "a": "x" }));
}
