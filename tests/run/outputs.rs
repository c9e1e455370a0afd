//! What stands on standard output, and what beside it.

use crate::rig::{Model, Place, Reply, task};
use mcpane::contract::{Event, ItemEvent, SessionEvent, ToolEvent, TurnEvent};
use mcpane::domain::TurnEnd;
use serde_json::json;

#[test]
fn a_text_is_the_last_word_and_nothing_else() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model = Model::replies([
        Reply::new().think("I should ask").say("Let me see.").call("s__echo", json!({ "text": "42" })),
        Reply::text("It is **42**.\n\n  kept as it is\n"),
    ]);
    let ran = place.launch(&task(&model.url(), &["--allow", "s:*"], "what is it?")).run().with(0);
    assert_eq!(ran.out, "It is **42**.\n\n  kept as it is\n");
    let ran = ran.says("runs s:echo {\"text\":\"42\"}").says("done s:echo");
    assert!(!ran.err.contains("I should ask") && ran.err.lines().all(|line| line.starts_with("mcpane: ")), "{ran:#?}");
    place.assert_nothing_left();
    // It is a session like any other.
    let journals = place.journals();
    assert_eq!(journals.len(), 1);
    assert!(journals[0].iter().any(|line| line["entry"] == "turn_end" && line["end"]["end"] == "done"));
}

#[test]
fn the_tour_runs_from_end_to_end() {
    let place = Place::new();
    let words = "What is the weather in New York tomorrow? Write it to result.md";
    let ran = place.launch(&["run", "-m", "demo", "--approve", "all", words]).run().with(0);
    assert!(ran.out.contains("24 °C"), "{ran:#?}");
    assert!(place.read("work/result.md").contains("Tomorrow: 24 °C"));
    place.assert_nothing_left();
    let place = Place::new();
    let words = "纽约明天的天气怎么样？把结果写入 result.md";
    let ran = place.launch(&["run", "-m", "demo", "--dialect", "xml", "--approve", "all", "--lang", "zh", words]).run();
    let ran = ran.with(0).says("完成 demo:get_forecast");
    assert!(ran.out.contains("24 °C") && place.read("work/result.md").contains("24 °C"), "{ran:#?}");
}

#[test]
fn the_task_comes_from_words_and_pipes() {
    let place = Place::new();
    let model = Model::answering(|_| Reply::text("ok"));
    let asked = |number: usize| model.request(number).last_text();
    let (url, say) = (model.url(), "sum it up");
    place.launch(&task(&url, &[], say)).stdin("one\ntwo\n").run().with(0);
    assert!(asked(0).contains(say) && asked(0).contains("stdin") && asked(0).contains("one\ntwo"), "{}", asked(0));
    place.launch(&["run", "-m", "test-model", "--base-url", &url, "several", "words"]).run().with(0);
    assert!(asked(1).contains("several words") && !asked(1).contains("stdin"), "{}", asked(1));
    place.launch(&task(&url, &["-"], "")).stdin("from the pipe\n").run().with(0);
    assert!(asked(2).contains("from the pipe"), "{}", asked(2));
    place.launch(&task(&url, &[], "")).stdin("without a dash").run().with(0);
    assert!(asked(3).contains("without a dash"), "{}", asked(3));
}

#[test]
fn one_object_says_it_all() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model = Model::replies([
        Reply::new().call("s__echo", json!({ "text": "a" })).call("s__add", json!({ "a": 1, "b": 2 })),
        Reply::text("done"),
    ]);
    let more = ["--output", "json", "--allow", "s:echo"];
    let ran = place.launch(&task(&model.url(), &more, "go")).run().with(3);
    let [result] = ran.lines().try_into().unwrap();
    assert!(ran.out.starts_with("{\"type\":\"result\",\"status\":\"refused\",\"exit\":3,"), "{}", ran.out);
    assert_eq!((&result["answer"], &result["steps"]), (&json!("done"), &json!(2)));
    assert_eq!(result["calls"][0]["tool"], "s:echo");
    assert_eq!((&result["calls"][0]["outcome"], &result["calls"][0]["result"]), (&json!("done"), &json!("a")));
    assert_eq!((&result["calls"][1]["tool"], &result["calls"][1]["outcome"]), (&json!("s:add"), &json!("refused")));
    assert_eq!(result["usage"]["input"], 200, "two requests of a hundred");
    assert_eq!(result["model"], "openai:test-model");
    assert!(result["session"].as_str().is_some_and(|id| !id.is_empty()));
    // The progress of a text is not told beside an object.
    assert!(!ran.err.contains("s:echo"), "{ran:#?}");
}

#[test]
fn a_stream_is_every_event_a_line() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model =
        Model::replies([Reply::new().think("hm").call("s__echo", json!({ "text": "a" })), Reply::text("all is done")]);
    let more = ["--output", "stream-json", "--approve", "all"];
    let ran = place.launch(&task(&model.url(), &more, "go")).run().with(0);
    for line in ran.out.lines() {
        assert!(line.starts_with("{\"type\":\""), "{line}");
    }
    let events: Vec<Event> = ran.lines().into_iter().map(|line| serde_json::from_value(line).unwrap()).collect();
    assert!(matches!(events.first(), Some(Event::Session(SessionEvent::Opened { .. }))));
    assert!(matches!(events.last(), Some(Event::Session(SessionEvent::Closed))));
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            Event::Item(ItemEvent::Delta { text, .. }) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "hmall is done");
    assert!(events.iter().any(|event| matches!(event, Event::Tool(ToolEvent::Finished { .. }))));
    assert!(events.iter().any(|event| matches!(event, Event::Server(_))));
    assert!(
        events.iter().any(|event| matches!(event, Event::Turn(TurnEvent::Ended { end: TurnEnd::Done, .. }))),
        "{}",
        ran.out
    );
    assert_eq!(ran.err, "");
}

#[test]
fn what_would_steer_a_terminal_is_marked_and_secrets_are_masked() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let model = Model::answering(|request| {
        if request.messages().iter().any(|message| message["role"] == "tool") {
            Reply::new().say_at_once("\u{1b}[2Jred\u{202e} sk-very-secret-key\n")
        } else {
            Reply::tool("s__echo", json!({ "text": "\u{1b}]0;x\u{7} sk-very-secret-key" }))
        }
    });
    let url = model.url();
    for output in ["text", "json", "stream-json"] {
        let more = ["--api-key-env", "MY_KEY", "--allow", "s:echo", "--output", output];
        let ran = place.launch(&task(&url, &more, "go")).env("MY_KEY", "sk-very-secret-key").run().with(0);
        assert!(!ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'), "{ran:#?}");
        assert!(!ran.out.contains("very-secret") && !ran.err.contains("very-secret"), "{ran:#?}");
        if output == "text" {
            assert_eq!(ran.out, "␛[2Jred\u{fffd} •••\n");
        }
    }
}

#[test]
fn a_model_without_function_calling_does_the_same() {
    let place = Place::with_fixtures(&[("s", &[])]);
    let call = "<thinking>I echo</thinking>\n<use_mcp_tool>\n<server_name>s</server_name>\n<tool_name>echo</tool_name>\n<arguments>\n{\"text\": \"a < b\"}\n</arguments>\n</use_mcp_tool>";
    let done = "<attempt_completion>\n<result>\nThe echo says a < b\n</result>\n</attempt_completion>";
    let model = Model::replies([Reply::text(call), Reply::text(done)]);
    let more = ["--dialect", "xml", "--allow", "s:echo(text=a*)"];
    let ran = place.launch(&task(&model.url(), &more, "go")).run().with(0);
    assert_eq!(ran.out, "The echo says a < b\n");
    assert!(model.request(1).last_text().contains("a < b"));
}

#[test]
fn a_recording_holds_what_was_wanted_and_what_happened() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let model = Model::replies([Reply::text("sk-very-secret-key is it")]);
    let path = place.path("work/r.jsonl");
    let more = ["--record", "r.jsonl", "--api-key-env", "MY_KEY"];
    place.launch(&task(&model.url(), &more, "go")).env("MY_KEY", "sk-very-secret-key").run().with(0);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = place.read("work/r.jsonl");
    assert!(!text.contains("very-secret"), "{text}");
    let first = text.lines().next().unwrap();
    assert!(mcpane::headless::record::head(first).is_some(), "{first}");
    let (lines, damaged) = mcpane::headless::record::lines(&text);
    assert_eq!(damaged, Vec::<usize>::new());
    assert!(lines.iter().any(|line| matches!(line.op, Some(mcpane::contract::Op::Submit { .. }))));
    assert!(matches!(lines.last().unwrap().event, Some(Event::Session(SessionEvent::Closed))), "{text}");
    place.launch(&task(&model.url(), &["--record", "no/where/r.jsonl"], "go")).run().with(2).says("no/where/r.jsonl");
}
