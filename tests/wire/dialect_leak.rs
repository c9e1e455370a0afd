//! Calls that a native model writes as text: which are recovered, and which stay text.

use crate::dialect_support::*;
use mcpane::domain::Origin;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use serde_json::{Value, json};

fn said(text: &str, size: usize, reason: FinishReason) -> Vec<ModelEvent> {
    native(chunks(pieces(text, size), reason))
}

fn place() -> Value {
    json!({"latitude": 1, "longitude": 2})
}

fn leaks() -> Vec<String> {
    let call = json!({"name": "weather__get_forecast", "arguments": place()});
    vec![
        call.to_string(),
        format!("```json\n{}\n```", serde_json::to_string_pretty(&call).unwrap()),
        format!("\n\n```\n{call}\n```\n\n\n"),
        format!("<tool_call>\n{call}\n</tool_call>"),
        format!("<|python_tag|>{}", json!({"name": "get_forecast", "parameters": place()})),
        format!("[TOOL_CALLS][{call}]"),
        format!("[{call}]"),
        json!({"type": "function", "function": {"name": "get_forecast", "arguments": place().to_string()}}).to_string(),
        json!({"tool": "weather:get_forecast", "arguments": place()}).to_string(),
        format!(
            "<use_mcp_tool>\n<server_name>weather</server_name>\n<tool_name>get_forecast</tool_name>\n<arguments>\n{}\n</arguments>\n</use_mcp_tool>",
            place()
        ),
        format!("```xml\n<weather__get_forecast>{}</weather__get_forecast>\n```", place()),
        format!("Action: get_forecast\nAction Input: {}", place()),
        format!("Thought: I look.\nAction: get_forecast({})", place()),
    ]
}

#[test]
fn a_reply_that_is_a_call_is_recovered() {
    for text in leaks() {
        for size in [1, 7, text.len()] {
            for reason in [FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls] {
                let events = said(&text, size, reason.clone());
                let calls = calls(&events);
                assert_eq!(calls.len(), 1, "{text}: {events:?}");
                assert_eq!(calls[0].arguments, Arguments::Parsed { value: place() }, "{text}");
                assert_eq!(calls[0].origin, Origin::Recovered);
                assert!(calls[0].name.ends_with("get_forecast"));
                assert_eq!(answers(&events), "", "{text}");
                assert_eq!(events.last(), Some(&ModelEvent::Finished { reason }));
            }
        }
    }
    let two = format!("{}\n{}", leaks()[0], json!({"name": "read_file", "arguments": {"path": "a"}}));
    assert_eq!(calls(&said(&two, 3, FinishReason::Stop)).len(), 2, "calls are never merged");
}

#[test]
fn in_the_reasoning_too_when_nothing_is_answered() {
    for text in leaks() {
        let reasoning = |answer: &str| {
            let mut events: Vec<StreamEvent> =
                pieces(&text, 5).iter().map(|text| StreamEvent::Reasoning { text: (*text).to_owned() }).collect();
            events.push(StreamEvent::Text { text: answer.to_owned() });
            events.push(StreamEvent::Finish { reason: FinishReason::Stop });
            native(events)
        };
        let events = reasoning("\n");
        assert_eq!((calls(&events).len(), calls(&events)[0].origin), (1, Origin::Recovered), "{text}");
        let events = reasoning("It is sunny.");
        assert!(calls(&events).is_empty(), "{text}");
        assert_eq!((thoughts(&events), answers(&events).as_str()), (text.clone(), "It is sunny."));
    }
}

#[test]
fn what_is_quoted_repeated_or_not_offered_stays_text() {
    let call = json!({"name": "weather__get_forecast", "arguments": place()});
    let xml = "<read_file>\n<path>a</path>\n</read_file>";
    for text in [
        // Prose around it, on either side; a second fence.
        format!("I would call:\n```json\n{call}\n```"),
        format!("```json\n{call}\n```\nThat is how a call looks."),
        format!("```json\n{call}\n```\n```\n```"),
        format!("{call} is a call."),
        format!("Use {xml} to read a file."),
        format!("{xml}\nThat reads a file."),
        format!("`{call}`"),
        format!("> {call}"),
        "Thought: I could use\nAction: read_file(\"a\")\nbut I will not.\nFinal Answer: no".to_owned(),
        "Action: read_file\nAction Input: {\"path\": \"a\"}\nObservation: x".to_owned(),
        // A call with its result.
        json!({"name": "weather__get_forecast", "arguments": place(), "response": {"sky": "snow"}}).to_string(),
        // Not offered; no arguments; data.
        json!({"name": "greetings__say_hello", "arguments": {"language": "French"}}).to_string(),
        json!({"name": "weather__get_forecast"}).to_string(),
        json!({"name": "Bob", "age": 3}).to_string(),
        json!({"city": "Oslo", "name": "read_file", "arguments": {}}).to_string(),
        "<table><tr><td>x</td></tr></table>".to_owned(),
        "<read_file>\n<path>a".to_owned(),
        call.to_string()[..40].to_owned(),
        "```\nlet x = 1;\n```".to_owned(),
        "Thoughts are free.".to_owned(),
        "[1, 2]".to_owned(),
        "{".to_owned(),
        "<".to_owned(),
        "```".to_owned(),
    ] {
        for size in [1, 6, text.len()] {
            let events = said(&text, size, FinishReason::Stop);
            assert!(calls(&events).is_empty(), "{text}: {events:?}");
            assert_eq!(answers(&events), text);
        }
    }
}

#[test]
fn a_call_that_is_not_whole_stays_text() {
    for text in leaks() {
        let whole = text.trim();
        let end = whole.trim_end_matches(['`', '\n', ' ']).len();
        for at in (1..end).filter(|at| whole.is_char_boundary(*at)) {
            for reason in [FinishReason::Length, FinishReason::Stop] {
                let events = said(&whole[..at], 9, reason);
                let runnable =
                    calls(&events).iter().filter(|call| call.arguments == Arguments::Parsed { value: place() }).count();
                // The model's own closing tag may be missing; the object inside is whole then.
                let inside = whole.starts_with("<tool_call>") && at + "\n</tool_call>".len() >= whole.len();
                assert!(runnable == 0 || inside, "{:?}", &whole[..at]);
            }
        }
        let events = native(vec![StreamEvent::Text { text: text.clone() }]);
        assert!(calls(&events).is_empty(), "the stream broke: {text}");
    }
}

#[test]
fn only_a_text_that_begins_like_a_call_is_held_back() {
    for text in ["Hello", "  {\"city\":", "```rust\nfn", "<p>", "**Bold**", "[link](x)", "The", "1."] {
        let events: Vec<StreamEvent> = text.chars().map(|c| StreamEvent::Text { text: c.to_string() }).collect();
        let mut parser = mcpane::dialect::dialect(mcpane::domain::model::DialectKind::Native).unwrap().parser(names());
        let mut out = Vec::new();
        for event in events {
            parser.feed(event, &mut out);
        }
        assert_eq!(answers(&out), text.trim_start(), "it is shown before the reply ends");
    }
}

#[test]
fn native_calls_beside_it_leave_text_alone() {
    let text = leaks()[0].clone();
    let events = native(vec![
        StreamEvent::Text { text: text.clone() },
        StreamEvent::CallStart { slot: 0, id: Some("a".into()), name: "read_file".into() },
        StreamEvent::CallArguments { slot: 0, text: "{\"path\": \"a\"}".into() },
        StreamEvent::Finish { reason: FinishReason::ToolCalls },
    ]);
    assert_eq!((answers(&events), calls(&events).len(), calls(&events)[0].origin), (text, 1, Origin::Native));
}
