//! One JSON object a reply: what it means.

use crate::dialect_support::{json as reply, *};
use mcpane::dialect::object::{Json, ObjectParser};
use mcpane::dialect::{Flow, Parser};
use mcpane::domain::Origin;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use serde_json::{Value, json};

fn place() -> Value {
    json!({"latitude": 41.7128, "longitude": -74.006})
}

fn calling(thought: &str) -> String {
    format!(
        "{{\"thought\": {}, \"tool\": \"weather__get_forecast\", \"arguments\": {}}}",
        Value::from(thought),
        place()
    )
}

#[test]
fn the_examples_in_both_languages() {
    for (thought, said) in [("I need the weather.", "It will be 24 °C."), ("需要查询天气。", "明天 24 ℃。\n\n\"晴\"")]
    {
        let events = reply(&calling(thought));
        assert_eq!(thoughts(&events), thought);
        assert_eq!(call(&events), ("weather__get_forecast".to_owned(), place()));
        assert_eq!(calls(&events)[0].origin, Origin::Json);
        assert_eq!(events.last(), Some(&ModelEvent::Finished { reason: FinishReason::Closed }));
        let events = reply(&json!({"answer": said}).to_string());
        assert_eq!(
            (thoughts(&events), answers(&events), completion(&events)),
            (String::new(), said.into(), Some(None))
        );
        let events = reply(&json!({"thought": thought, "answer": said}).to_string());
        assert_eq!((thoughts(&events).as_str(), answers(&events).as_str()), (thought, said));
    }
    let written = json!({"path": "result.md", "content": "# 纽约\n\n24 °C\n"});
    let events = reply(&json!({"thought": "还要写文件。", "tool": "write_to_file", "arguments": written}).to_string());
    assert_eq!(call(&events), ("write_to_file".to_owned(), written));
}

#[test]
fn thought_and_answer_appear_while_they_arrive() {
    let text = "{\"thought\": \"a\\n\\u00e9\\uD83D\\uDE00 \\\"q\\\" c\\\\d\", \"answer\": \"中 1\"}";
    let mut parser = ObjectParser::new(names());
    let mut out = Vec::new();
    let mut grown = Vec::new();
    for c in text.chars() {
        parser.feed(StreamEvent::Text { text: c.to_string() }, &mut out);
        grown.push((thoughts(&out), answers(&out)));
    }
    assert_eq!(grown.last().unwrap(), &("a\né😀 \"q\" c\\d".to_owned(), "中 1".to_owned()));
    let whole = &grown.last().unwrap().clone();
    assert!(
        grown
            .iter()
            .all(|(thought, answer)| whole.0.starts_with(thought.as_str()) && whole.1.starts_with(answer.as_str()))
    );
    let distinct: std::collections::BTreeSet<_> = grown.iter().collect();
    assert!(distinct.len() >= 12, "it came in pieces: {distinct:?}");
}

#[test]
fn with_fences_and_text_around_it() {
    let call_text = calling("t");
    for text in [
        format!("```json\n{call_text}\n```"),
        format!("\n\n```\n{call_text}\n```\nObservation: 99"),
        format!("```json\n\n  {call_text}"),
        format!("{call_text}\n\nI called the tool. {{\"answer\": \"99\"}}"),
        format!("  {call_text}{call_text}"),
    ] {
        for size in [1, 4, text.len()] {
            let (events, flow) = read(&Json, chunks(pieces(&text, size), FinishReason::Stop));
            assert_eq!((thoughts(&events).as_str(), answers(&events).as_str(), flow), ("t", "", Flow::Stop), "{text}");
            assert_eq!((call(&events).1, calls(&events)[0].origin), (place(), Origin::Json), "{text}");
        }
    }
    let events = reply(&format!("Let me look.\n{call_text}"));
    assert_eq!((answers(&events).as_str(), calls(&events)[0].origin), ("Let me look.", Origin::Json));
    let events = reply(&format!("Like this:\n```json\n{call_text}\n```"));
    assert_eq!(
        (answers(&events).as_str(), calls(&events)[0].origin),
        ("Like this:", Origin::Recovered),
        "it could be an example"
    );
}

#[test]
fn other_names_and_shapes() {
    let expected = ("get_forecast", place());
    for text in [
        format!("{{\"tool\": \"get_forecast\", \"arguments\": {}}}", place()),
        format!("{{\"arguments\": {}, \"tool\": \"get_forecast\"}}", place()),
        format!("{{\"name\": \"get_forecast\", \"parameters\": {}}}", place()),
        format!("{{\"thought\": null, \"action\": \"get_forecast\", \"action_input\": {}, \"answer\": null}}", place()),
        format!("{{\"tool\": {{\"name\": \"get_forecast\", \"arguments\": {}}}}}", place()),
        format!("{{\"tool\": \"get_forecast\", \"arguments\": {}}}", Value::from(place().to_string())),
        "{\"tool\": \"get_forecast\", \"latitude\": 41.7128, \"longitude\": -74.006,}".to_owned(),
        format!("{{\"tool\": \"get_forecast\", \"arguments\": {}", place()),
    ] {
        let (name, arguments) = call(&reply(&text));
        assert_eq!((name.as_str(), arguments), expected, "{text}");
    }
    assert_eq!(call(&reply("{\"tool\": \"weather.get_forecast\", \"arguments\": {}}")).0, "weather__get_forecast");
    for text in [
        "{\"tool\": \"final_answer\", \"arguments\": {\"answer\": \"24\"}}",
        "{\"tool\": null, \"answer\": \"24\"}",
        "{\"answer\": 24}",
        "{\"answer\": \"24",
        "{\"final_answer\": \"24\"}",
    ] {
        let events = reply(text);
        assert_eq!((answers(&events).as_str(), completion(&events)), ("24", Some(None)), "{text}");
    }
    assert_eq!(answers(&reply("{\"answer\": \"He said \"hi\" to me\"}")), "He said \"hi\" to me");
    let raw = "{\"tool\": \"write_to_file\", \"arguments\": {\"path\": \"a\", \"content\": \"x\ny\"}}";
    assert_eq!(call(&reply(raw)).1, json!({"path": "a", "content": "x\ny"}));
}

#[test]
fn text_and_data_are_text() {
    for text in [
        "Bonjour !",
        "Use {x} and {\"tool\": \"read_file\"} here.",
        "{\"city\": \"Oslo\", \"tool\": \"hammer\"}",
        "{\n  \"people\": [\n    {\n      \"tool\": \"x\"\n    }\n  ]\n}\nThat is all.",
        "{\"name\": \"Bob\", \"input\": 3}",
        "```js\nlet x = {\n{\"tool\": \"read_file\"}\n```",
        "{",
        "{ not json }",
        "```",
    ] {
        let events = reply(text);
        assert_eq!(answers(&events), text, "{events:?}");
        assert!(calls(&events).is_empty() && reminder(&events).is_none(), "{text}: {events:?}");
    }
}

#[test]
fn replies_against_the_format() {
    for (text, told) in [
        ("", "neither a tool call nor an answer"),
        ("{\"thought\": \"hm\"}", "neither \"tool\" nor \"answer\""),
        ("{\"thought\": \"hm", "not complete"),
        ("{\"tool\" \"read_file\"}", "not valid JSON"),
    ] {
        let told_by = reminder(&reply(text)).unwrap_or_else(|| panic!("{text}"));
        assert!(told_by.contains(told) && told_by.contains("\"answer\": \"your final answer\""), "{text}: {told_by}");
    }
    for text in [
        "{\"tool\": \"read_file\", \"arguments\": {\"path\": \"a\"",
        "{\"tool\": \"read_file\", \"arguments\": {\"path\": }}",
        "{\"tool\": \"read_file\", \"arguments\": [1]}",
    ] {
        let events = reply(text);
        assert!(matches!(calls(&events)[0].arguments, Arguments::Malformed { .. }), "{text}: {events:?}");
    }
}

#[test]
fn no_json_of_ours_is_ever_shown() {
    let text = calling("A.") + "\n";
    for at in 0..text.len() {
        let (events, _) = read(&Json, chunks([&text[..at]], FinishReason::Length));
        assert!(!(thoughts(&events) + &answers(&events)).contains(['{', '"']), "{:?} {events:?}", &text[..at]);
    }
}
