//! What servers ask, answered beforehand or not.

use crate::rig::{Model, Place, Ran, Reply, task};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({ "type": "object", "required": ["name", "age"], "properties": {
        "name": { "type": "string", "minLength": 2 },
        "age": { "type": "integer", "minimum": 18 },
        "plan": { "type": "string", "enum": ["free", "pro"], "default": "free" },
    } })
}

/// A task whose server asks for this, so many times.
fn ask(place: &Place, schema: &Value, times: u64, more: &[&str]) -> Ran {
    let arguments = json!({ "message": "Who are you?", "schema": schema, "times": times });
    let model = Model::replies([Reply::tool("s__elicit", arguments), Reply::text("I know now")]);
    let mut args = vec!["--allow", "s:*"];
    args.extend(more);
    place.launch(&task(&model.url(), &args, "go")).run()
}

#[test]
fn a_valid_answer_reaches_the_server_with_the_defaults() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let file = json!({ "s": { "elicit": { "name": "Ada", "elsewhere": 1 } }, "*": { "*": { "age": 36 } } });
    place.write("work/a.json", file.to_string());
    let ran = ask(&place, &schema(), 1, &["--answers", "a.json"]).with(0);
    assert_eq!(ran.out, "I know now\n");
    assert_eq!(
        place.answer("s", 0),
        json!({ "action": "accept", "content": { "name": "Ada", "age": 36, "plan": "free" } })
    );
    ran.says("s asks: Who are you? Answered from the file");
}

#[test]
fn an_answer_against_the_schema_is_named_and_not_sent() {
    for (elicit, action, age) in [("cancel", "cancel", json!(17)), ("decline", "decline", json!("old"))] {
        let place = Place::with_fixtures(&[("s", &[])]);
        place.write("work/a.json", json!({ "s": { "elicit": { "name": "Ada", "age": age } } }).to_string());
        let ran = ask(&place, &schema(), 1, &["--answers", "a.json", "--elicit", elicit]).with(3);
        assert_eq!(place.answer("s", 0), json!({ "action": action }));
        ran.says("the answer to age is not accepted");
    }
}

#[test]
fn without_an_answer_the_server_gets_what_the_user_chose() {
    let place = Place::with_fixtures(&[("s", &[])]);
    ask(&place, &schema(), 1, &[]).with(0).says("there is no answer for s.elicit");
    assert_eq!(place.answer("s", 0), json!({ "action": "cancel" }));
    ask(&place, &schema(), 1, &["--elicit", "decline"]).with(0);
    assert_eq!(place.answer("s", 1), json!({ "action": "decline" }));
    // A page is never said to have been visited.
    let model = Model::replies([Reply::tool("s__link", json!({ "url": "https://example.org/x" })), Reply::text("ok")]);
    let ran = place.launch(&task(&model.url(), &["--approve", "all"], "go")).run().with(0);
    ran.says("https://example.org/x");
    assert_eq!(place.answer("s", 2), json!({ "action": "cancel" }));
}

#[test]
fn a_list_answers_one_question_after_the_other() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let confirm = json!({ "type": "object", "properties": {} });
    let file = json!({ "s": { "elicit": [{}, "decline"] } });
    place.write("work/a.json", file.to_string());
    ask(&place, &confirm, 3, &["--answers", "a.json"]).with(0);
    let mut actions: Vec<String> =
        place.answers("s").iter().map(|answer| answer["action"].as_str().unwrap().to_owned()).collect();
    actions.sort_unstable();
    assert_eq!(actions, ["accept", "cancel", "decline"]);
}

#[test]
fn the_models_own_questions_are_answered_too() {
    let place = Place::new();
    let question = || Reply::tool("ask_followup_question", json!({ "question": "Which one?", "options": ["a", "b"] }));
    place.write("work/a.json", json!({ "ask_followup_question": "the second" }).to_string());
    let model = Model::replies([question(), Reply::text("b it is")]);
    let ran = place.launch(&task(&model.url(), &["--answers", "a.json"], "go")).run().with(0);
    assert_eq!(ran.out, "b it is\n");
    assert!(model.request(1).body.to_string().contains("the second"));
    let model = Model::replies([question(), Reply::text("I cannot know")]);
    let ran = place.launch(&task(&model.url(), &[], "go")).run().with(3);
    ran.says("nobody is here to answer: Which one?");
    assert!(model.request(1).body.to_string().contains("Nobody is here to answer"));
}

#[test]
fn a_file_that_is_none_is_a_mistake_of_usage() {
    let place = Place::new();
    let model = Model::answering(|_| Reply::text("ok"));
    let run = |file: &str| place.launch(&task(&model.url(), &["--answers", file], "go")).run().with(2);
    run("missing.json").says("missing.json");
    place.write("work/broken.json", "{\"s\": ");
    run("broken.json").says("broken.json");
    place.write("work/odd.json", "{\"s\": {\"t\": 5}}");
    run("odd.json").says("s.t is no answer");
    assert_eq!(model.requests().len(), 0, "nothing was begun");
}
