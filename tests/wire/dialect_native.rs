//! The native dialect: what a reply means.

use crate::dialect_support::*;
use mcpane::domain::model::{Arguments, FinishReason, ModelEvent, StreamEvent};
use mcpane::domain::{Origin, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

fn start(slot: u32, id: &str, name: &str) -> StreamEvent {
    StreamEvent::CallStart { slot, id: Some(id.to_owned()).filter(|id| !id.is_empty()), name: name.into() }
}

fn more(slot: u32, text: &str) -> StreamEvent {
    StreamEvent::CallArguments { slot, text: text.into() }
}

fn finish(reason: FinishReason) -> StreamEvent {
    StreamEvent::Finish { reason }
}

fn text(pieces: &[&str]) -> Vec<ModelEvent> {
    native(chunks(pieces.iter().copied(), FinishReason::Stop))
}

fn parsed(value: Value) -> Arguments {
    Arguments::Parsed { value }
}

#[test]
fn text_and_reasoning() {
    let events = native(vec![
        StreamEvent::Alive,
        StreamEvent::Reasoning { text: "Hm".into() },
        StreamEvent::Opaque { value: json!({"signature": "x"}) },
        StreamEvent::Text { text: "Hel".into() },
        StreamEvent::Text { text: "lo\n".into() },
        StreamEvent::Usage { usage: Usage::default() },
        finish(FinishReason::Stop),
    ]);
    assert_eq!(
        events,
        [
            ModelEvent::Alive,
            ModelEvent::Thinking { text: "Hm".into() },
            ModelEvent::Opaque { value: json!({"signature": "x"}) },
            ModelEvent::Answer { text: "Hello\n".into() },
            ModelEvent::Usage { usage: Usage::default() },
            ModelEvent::Finished { reason: FinishReason::Stop },
        ]
    );
}

#[test]
fn thoughts_at_the_very_beginning_of_the_text() {
    for (reply, thought, said) in [
        ("<think>\nA < b </b>\n</think>\n\n Hi <think>x</think>", "A < b </b>", "Hi <think>x</think>"),
        ("\n <thinking>a</thinking>b", "a", "b"),
        ("<think></think>\n\nb", "", "b"),
        ("<think>never closed </thi", "never closed </thi", ""),
        ("Hi <think>x</think>", "", "Hi <think>x</think>"),
        ("<thin", "", "<thin"),
        ("<b>x</b>", "", "<b>x</b>"),
        ("  \n", "", ""),
    ] {
        let whole = text(&[reply]);
        assert_eq!((thoughts(&whole), answers(&whole)), (thought.to_owned(), said.to_owned()), "{reply}");
        let letters: Vec<String> = reply.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(text(&letters), whole, "{reply}");
    }
}

#[test]
fn a_partial_tag_is_never_shown() {
    let reply = "<think>\nHm.\n</think>\nHi.";
    for at in 0..reply.len() {
        let mut parser = mcpane::dialect::dialect(mcpane::domain::model::DialectKind::Native).unwrap().parser(names());
        let mut out = Vec::new();
        for c in reply[..at].chars() {
            parser.feed(StreamEvent::Text { text: c.into() }, &mut out);
        }
        assert!(!thoughts(&out).contains('<') && !answers(&out).contains('<'), "{out:?}");
    }
}

#[test]
fn calls_come_when_the_next_one_begins_or_at_the_end() {
    let events = native(vec![
        start(0, "a", "weather__get_forecast"),
        more(0, "{\"latitude\""),
        more(0, ": 1}"),
        start(1, "", "read_file"),
        finish(FinishReason::ToolCalls),
    ]);
    let kinds: Vec<String> =
        events.iter().map(|event| format!("{event:?}").split([' ', '(']).next().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["CallStarted", "CallGrew", "Call", "CallStarted", "Call", "Finished"]);
    assert_eq!(events[1], ModelEvent::CallGrew { slot: 0, bytes: 15 });
    let calls = calls(&events);
    assert_eq!(
        (calls[0].name.as_str(), calls[0].provider_id.as_deref(), calls[0].origin),
        ("weather__get_forecast", Some("a"), Origin::Native)
    );
    assert_eq!(calls[0].arguments, parsed(json!({"latitude": 1})));
    assert_eq!((calls[1].slot, calls[1].provider_id.as_deref(), &calls[1].arguments), (1, None, &parsed(json!({}))));
}

#[test]
fn pieces_of_several_calls_may_be_mixed() {
    let events = native(vec![
        start(0, "a", "x"),
        start(1, "b", "y"),
        more(0, "{\"n\":"),
        more(1, "{\"m\":2}"),
        start(2, "c", "z"),
        more(0, "1}"),
        more(7, "lost"),
        finish(FinishReason::ToolCalls),
    ]);
    let found: Vec<_> = calls(&events).into_iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
    assert_eq!(found, [("x", parsed(json!({"n": 1}))), ("y", parsed(json!({"m": 2}))), ("z", parsed(json!({})))]);
}

#[test]
fn malformed_arguments_say_where() {
    for (arguments, problem) in [
        ("{\"path\": \"a\" \"b\"}", "The arguments are not valid JSON: expected `,` or `}` at line 1 column 14."),
        ("{\"path\": \"a", "The arguments are not valid JSON: EOF while parsing a string at line 1 column 11."),
        ("[1]", "The arguments must be one JSON object, not a list."),
    ] {
        let events = native(vec![start(0, "a", "x"), more(0, arguments), finish(FinishReason::Stop)]);
        let expected = Arguments::Malformed { text: arguments.into(), problem: problem.into() };
        assert_eq!(calls(&events)[0].arguments, expected);
    }
    let events = native(vec![start(0, "a", "x"), more(0, "```json\n{\"a\": [1,],}\n```"), finish(FinishReason::Stop)]);
    assert_eq!(calls(&events)[0].arguments, parsed(json!({"a": [1]})));
}

#[test]
fn the_last_call_of_a_reply_that_was_cut_is_cut_off() {
    for reason in [Some(FinishReason::Length), Some(FinishReason::Filtered), Some(FinishReason::Closed), None] {
        for last in ["", "{\"a\": ", "{\"a\": 1}"] {
            let mut events = vec![start(0, "a", "x"), more(0, "{\"n\": 1}"), start(1, "b", "y"), more(1, last)];
            events.extend(reason.clone().map(finish));
            let events = native(events);
            let calls = calls(&events);
            assert_eq!(calls[0].arguments, parsed(json!({"n": 1})));
            // Nothing could have followed the last brace, so the limit of tokens cut nothing off.
            let whole = reason == Some(FinishReason::Length) && last.ends_with('}');
            let expected = if whole { parsed(json!({"a": 1})) } else { Arguments::CutOff { text: last.into() } };
            assert_eq!(calls[1].arguments, expected, "{reason:?}");
        }
        let mut events = vec![start(0, "a", "x"), more(0, "{\"n\": "), start(1, "b", "y"), more(1, "{")];
        events.extend(reason.map(finish));
        let events = native(events);
        assert!(calls(&events).iter().all(|call| matches!(call.arguments, Arguments::CutOff { .. })), "{events:?}");
    }
}

proptest! {
    #[test]
    fn a_cut_reply_never_gives_a_runnable_last_call(cut in 0usize..60) {
        let whole = "{\"path\": \"notes/a.txt\", \"lines\": [1, 2], \"deep\": {\"x\": null}}";
        let events = native(vec![start(0, "a", "x"), more(0, &whole[..cut.min(whole.len() - 1)]), finish(FinishReason::Length)]);
        let cut_off = matches!(calls(&events)[0].arguments, Arguments::CutOff { .. });
        prop_assert!(cut_off, "{:?}", events);
        let events = native(vec![start(0, "a", "x"), more(0, &whole[..cut.min(whole.len() - 1)]), finish(FinishReason::Stop)]);
        prop_assert_eq!(matches!(calls(&events)[0].arguments, Arguments::Parsed { .. }), cut == 0);
    }

    #[test]
    fn any_chunking_gives_the_same_events(reply in "(<think>|</think>|<|/|t|\n| |é){0,12}") {
        let letters: Vec<String> = reply.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        prop_assert_eq!(text(&letters), text(&[&reply]));
    }
}
